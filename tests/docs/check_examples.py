#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The examples of README.md and docs/ work: in make check, of the documents of the last commit and of every ninth one.

    check_examples.py SHARE/SHARES AMBIT LIBRARY CC CXX [MPIRUN...]     such as 1/2: every second of them, from the first
                                                                  $DOCUMENT: only this one, such as tutorial.md

- A block of C with a main function is compiled and run.
- A block of C with functions that return void has kernels, which `ambit gen` translates.
- A block of a tutorial that begins with a file name, "/* plate.c */" or "# plate.py", becomes that file; the commands after it
  use it. tests/python runs the other blocks of Python.
- A fragment says so in its first line, "/* in a program */" or "/* in a kernel */", and is completed here. Fragments
  with streams are compiled only: they need videos.
- A line "$ ..." is run, on small grids, and so are whole commands between backticks (shell.py). The lines after it must be
  in its output, in this order, where "..." stands for any number of lines. In the output of mpirun numbers and plans are
  those of other machines, and may differ. All commands begin with "$", except those that set up or measure for minutes.
"""
import array, json, math, os, pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "meta"))
import project, shell

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARE, SHARES = map(int, sys.argv[1].split("/"))
AMBIT, LIBRARY, CC, CXX = [pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), *sys.argv[4:6]]
MPIRUN = sys.argv[6:]
ELSEWHERE = {"README.md": "int main(", "gpu-kernels.md": "int main("}  # blocks that other tests run

# heat.c is the first kernel of language.md; the others are not shown.
HEAT = re.search(r"(?s)```c\n(void heat.*?)```", (ROOT / "docs/language.md").read_text())[1]
FILES = {
    "heat.c": HEAT,
    "jacobi.c": HEAT.replace("heat(", "jacobi(").replace(" float k,", "").replace("k * (", "0.2f * ("),
    "life.c": """void life(const unsigned char *u, unsigned char *v, sum int *alive)
{
  int n = u[-1][-1] + u[-1][0] + u[-1][1] + u[0][-1] + u[0][1] + u[1][-1] + u[1][0] + u[1][1];
  v[0][0] = n == 3 || (n == 2 && u[0][0]);
  *alive = v[0][0];
}
""",
}
IN_A_PROGRAM = """#include <ambit_compiled.h>
#include <ambit_stream.h>
#include <math.h>
static const char rule[] = AMBIT_SOURCE(void heat(const float *u, float *v, float k) { *v = *u + k * u[0][1]; });
static double start(const int64_t *i, int c, void *user) { (void)c, (void)user; return (double)i[0]; }
int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){30, 40});
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32), *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  ambit_kernel *heat = ambit_kernel_create(a, rule);
  (void)u, (void)v, (void)p, (void)heat, (void)start;
%s
  return ambit_close(a);
}
"""
STREAMS = """  ambit_program *restore = p, *detect = p;
  ambit_field *noisy = u, *clean = v;
  ambit_scalar *delta = NULL, *change = delta, *count = delta, *last = delta;
  ambit_kernel *settle = heat;
  (void)restore, (void)detect, (void)noisy, (void)clean, (void)change, (void)count, (void)last, (void)settle;
"""
IN_A_KERNEL = "void fragment(const float *u, const int *open, float *v, const float *f[9])\n{\n  *v = *u;\n%s\n}\n"
SERIAL = """#include <stdlib.h>
int main(void)
{
  int nx = 20, ny = 30, steps = 4;
  double *u = calloc(600, sizeof *u), *v = calloc(600, sizeof *v);
%s  return u[0] != v[0];
}
"""
counts = {}


def fail(where, why):
    sys.exit(f"{where}: {why}")


def count(what):
    counts[what] = counts.get(what, 0) + 1


def call(where, words, code=0, **more):
    r = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300, **more)
    if r.returncode != code:
        fail(where, f"{words}: exit {r.returncode}\n{r.stdout}{r.stderr}")
    return r.stdout + r.stderr


def blocks(text):
    """(line, language, text) of fenced blocks; (line, None, text) of indented ones."""
    fence = start = language = None
    lines, plain = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if fence is None:
                fence, language, lines = number, line[3:].strip(), []
            else:
                yield fence, language, "\n".join(lines) + "\n"
                fence = None
        elif fence is not None:
            lines.append(line)
        elif line.startswith("    ") or (plain and not line):
            start = start if plain else number
            plain.append(line[4:])
        elif plain:
            yield start, None, "\n".join(plain) + "\n"
            plain = []
    if plain:
        yield start, None, "\n".join(plain) + "\n"


def run_program(where, text, runs=True):
    pathlib.Path("program.c").write_text(text)
    call(where, [CC, *"-std=c11 -Wall -Wextra -Werror -O1".split(), "-I", ROOT / "include", "program.c", LIBRARY,
                 f"-Wl,-rpath,{LIBRARY.parent}", "-lm", "-o", "program"])
    if runs:
        call(where, ["./program"])
    count("programs" if runs else "programs that are not run")


def complete(where, text):
    if "ambit_stream" not in text:
        run_program(where, IN_A_PROGRAM % (text + ("ambit_run(p, 2);" if "ambit_apply(" in text else "")))
        return
    stream = "" if "ambit_stream *s" in text else "  ambit_stream *s = ambit_stream_create(p, u, v);\n"
    run_program(where, IN_A_PROGRAM % (STREAMS + stream + text), runs=False)


def check_kernel(where, text):
    if re.search(r"[(,]\s*table |(sum|min|max) \w+ \*\w+\[\d\d", text):  # only a program can give it, or a field for all
        run_program(where, IN_A_PROGRAM % f"  ambit_kernel_create(a, {json.dumps(text)});")
        return
    pathlib.Path("kernel.c").write_text(text)
    command = [AMBIT, "gen", "--opencl", "kernel.c", "-o", "kernel.cl"]
    if subprocess.run([*command, "--size", "32x32"], capture_output=True).returncode:  # of another dimension
        call(where, command)
    count("kernels")


def check_declarations(where, text, compiler, suffix):
    pathlib.Path("declaration" + suffix).write_text("#include <ambit_compiled.h>\n#include <ambit_stream.h>\n" + text)
    call(where, [compiler, "-Wall", "-Wno-unused-variable", "-Wno-unused-const-variable", "-I", ROOT / "include",
                 "-fsyntax-only", "declaration" + suffix])
    count("declarations")


def check_serial(where, text):
    pathlib.Path("serial.c").write_text(SERIAL % text)
    r = subprocess.run([AMBIT, "port", "serial.c", "-o", "ported.c"], capture_output=True, text=True)
    if r.returncode and "libclang" not in r.stderr:
        fail(where, r.stderr)
    count("serial programs")


def check_wave(where, text):
    """The wave of points.md is short, and arrives at its receivers when it should."""
    if len(text.splitlines()) > 25:
        fail(where, "the wave with 20 receivers has more than 25 lines")
    raw = pathlib.Path("seen.npy").read_bytes()
    seen = array.array("f", raw[10 + raw[8] + 256 * raw[9]:])
    for i in range(2, 18):  # the others are in the absorbing layer
        peak = max(range(500), key=lambda t: abs(seen[20 * t + i]))
        want = math.hypot(100.25 - 40.5, 149.25 - 16.25 - 14 * i) / math.sqrt(0.1) + 1.2 / 12 / 0.004
        if abs(peak - want) > 2:
            fail(where, f"the wave arrives at receiver {i} in step {peak}, not {want:.1f}")


def check_shot(where, text):
    """The shot of points.md is as short as Devito's, and its direct wave has the speed of the first layer."""
    if len(text.splitlines()) > 30:
        fail(where, "the shot with 101 receivers has more than 30 lines")
    raw = pathlib.Path("shot.npy").read_bytes()
    shot = array.array("f", raw[10 + raw[8] + 256 * raw[9]:])
    peak = [max(range(200), key=lambda t: abs(shot[101 * t + i])) for i in (70, 95)]
    if abs(peak[1] - peak[0] - 250 / 1.5 / 2.8) > 2:
        fail(where, f"the direct wave needs {peak[1] - peak[0]} steps for 250 m")


def check_c(where, name, text):
    functions = re.split(r"(?m)^(?=void )", text)
    file = re.match(r"/\* (\w+\.c) \*/\n", text)
    if file and name == "tutorial.md":
        pathlib.Path("tutorial", file[1]).write_text(text)
        count("files")
    elif ELSEWHERE.get(name, "\0") in text:
        count("blocks that other tests run")
    elif "int main(" in text:
        run_program(where, text)
        if name == "points.md" and "seen.npy" in text:
            check_wave(where, text)
        elif name == "points.md":
            check_shot(where, text)
    elif "#pragma ambit" in text:
        check_serial(where, text)
    elif text.startswith("/* in a program */"):
        complete(where, text)
    elif text.startswith("/* in a kernel */"):
        check_kernel(where, IN_A_KERNEL % text)
    elif not functions[0].strip() and len(functions) > 1:
        for f in functions[1:]:
            check_kernel(where, f)
    elif re.match(r"static \w+ \w+\(", text) and len(functions) == 2:
        check_kernel(where, text)  # a kernel after the functions that it calls
    elif re.match(r"static \w+ \w+\(", text) and "void " not in text:
        check_kernel(where, text + IN_A_KERNEL % "")
    elif text.startswith("static "):
        check_declarations(where, text, CC, ".c")
    else:
        fail(where, "this block is no program, no kernel, and does not say where it belongs")


def compare(where, command, wanted, out):
    """The lines wanted are in the output, one after the other, except where there is '...'."""
    lines, at = [l.rstrip() for l in out.splitlines()], 0
    skips = True
    for want in wanted:
        if want.strip() == "...":
            skips = True
            continue
        found = next((i for i in range(at, len(lines) if skips else min(at + 1, len(lines)))
                      if lines[i] == want.rstrip()), None)
        if found is None:
            fail(where, f"'{command}' does not print\n{want}\nbut\n{out}")
        at, skips = found + 1, False


def shape(line):
    """A line of a report without the numbers and names of the machine."""
    line = re.sub(r" on [^,]*, \d+ threads?", " on this machine", re.sub(r"\(rows[^)]*\)", "(rows)", line))
    return re.sub(r"\d[\d.]*(e-?\d+)?", "#", line)


def run_command(where, example, wanted):
    """Runs an example where its document has its files, and compares its output with the lines wanted."""
    command, name = sh.small(example), where.split(":")[0]
    missing = sh.missing(command)
    if missing:
        print(f"{where}: not run, since {missing} is not installed: {example}")
        count("commands that are not run")
        return
    status, out = sh.run(command, FOLDERS.get(name, "."))
    if "libclang" in out:
        print(f"{where}: not run, since this build has no ambit port: {example}")
        count("commands that are not run")
        return
    if bool(status) != any(": error: " in line for line in wanted):
        fail(where, f"{command}: exit {status}\n{out}")
    if "mpirun" in command:
        wanted, out = [shape(line) for line in wanted], shape(out)
    compare(where, command, wanted, out)
    count("commands")


def check_commands(where, text):
    lines = text.replace("\\\n", "").splitlines()
    for n, line in enumerate(lines):
        if shell.is_command(line):
            fail(where, f"the command does not begin with $: {line}")
        if not line.startswith("$ "):
            continue
        wanted = []
        for after in lines[n + 1:]:
            if after.startswith("$ ") or not after:
                break
            wanted.append(after)
        run_command(where, re.sub(r"\s+# .*", "", line[2:]), wanted)


def check_weights(where, text):
    pathlib.Path("five.weights").write_text(text)
    call(where, [AMBIT, "explain", "five.weights", "--size", "20x20"])
    count("weights files")


def check(path):
    text = path.read_text()
    for line, language, block in blocks(text):
        where = f"{path.relative_to(ROOT)}:{line}"
        if language == "c":
            check_c(where, path.name, block)
        elif language == "python":
            file = re.match(r"# (\w+\.py)\n", block)
            if file and path.name == "tutorial.md":
                pathlib.Path("tutorial", file[1]).write_text(block)
                count("files")
        elif language == "cpp":
            check_declarations(where, block, CXX, ".cpp")
        elif language is None and re.search(r"(?m)^dims ", block):
            check_weights(where, block)
        else:
            check_commands(where, block)
    for line, command in shell.inline(text):
        run_command(f"{path.relative_to(ROOT)}:{line}", command, [])


# ---- the files that examples take for granted ----

FOLDERS = {"README.md": "readme", "docs/checkpoints.md": "readme", "docs/debugging.md": "readme", "docs/port.md": "serial",
           "docs/performance.md": "readme", "docs/tutorial.md": "tutorial"}  # of documents whose heat.c is a whole program


def block_of(document, pattern):
    return re.search(rf"(?s)```c\n({pattern}.*?)```", (ROOT / document).read_text())[1]


def make_files():
    program = block_of("README.md", "#include").replace("{300, 400}", "{30, 40}")  # check_readme.py runs it as it is
    serial = SERIAL % block_of("docs/port.md", "#pragma")
    for folder in [".", *FOLDERS.values()]:
        here = pathlib.Path(folder)
        here.mkdir(exist_ok=True)
        for name, text in FILES.items():
            (here / name).write_text(text)
        (here / "sobel.c").write_text((ROOT / "examples/08_sobel/sobel.c").read_text())
        (here / "photo.png").write_bytes((ROOT / "docs/restored.png").read_bytes())
        (here / "prog.c").write_text(serial)
        for path in (ROOT / "tests/port/several").iterdir():
            (here / path.name).write_text(path.read_text())
        (here / "in.y4m").write_bytes(b"YUV4MPEG2 W32 H16 F25:1 C420\n" + 3 * (b"FRAME\n" + bytes(768)))
    pathlib.Path("readme/heat.c").write_text(program)
    pathlib.Path("readme/build").symlink_to(AMBIT.resolve().parent)
    pathlib.Path("serial/heat.c").write_text(serial)
    call("README.md", [CC, "-I", ROOT / "include", "heat.c", LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", "-o", "../heat"],
         cwd="readme")
    pathlib.Path("readme/heat").symlink_to("../heat")
    pathlib.Path("ambit.pc").write_text(
        f"Name: ambit\nDescription: not installed\nVersion: 0\nCflags: -I{ROOT}/include\n"
        f"Libs: -L{LIBRARY.parent} -Wl,-rpath,{LIBRARY.parent} -lambit\n")
    os.environ["PKG_CONFIG_PATH"] = os.getcwd()
    for name in "mp4", "mkv":
        if "ffmpeg" not in sh.absent:
            call("a video", ["ffmpeg", "-loglevel", "error", "-i", "in.y4m", f"in.{name}"])
            pathlib.Path(f"readme/in.{name}").symlink_to(f"../in.{name}")


def main():
    global sh
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        sh = shell.Shell(AMBIT.resolve(), LIBRARY.resolve(), MPIRUN)
        make_files()
        documents = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
        only = [path for path in documents if path.name == os.environ.get("DOCUMENT")]
        for path in (only or project.sample(documents, 9))[SHARE - 1::SHARES]:
            check(path)
        os.chdir("/")
    print(", ".join(f"{n} {what}" for what, n in counts.items()))


main()
