# SPDX-License-Identifier: BSD-3-Clause
"""The shell commands of the documents: made small, and run where their tools are.

Grids and repetitions shrink, `cuda` becomes `cpu` where there is no NVIDIA GPU, and a player becomes `cat`. A command
whose tool is not installed is skipped, and named.
"""
import os, pathlib, re, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 300  # seconds; far more than any command needs, on a busy machine too
SLOW = re.compile(r"ambit: warning: compiling a kernel: .* has not finished .*\n")  # on a busy machine
TOOLS = "ambit cc dot ffmpeg mpirun nvcc pkg-config python3 srun".split()
COMMAND = re.compile(r"(\w+=\S+ )*(mpirun|python3|srun|nvcc|cc|ffmpeg|\./\w+|(build/)?ambit (run|stream|explain|gen|bench|port)) ?")
INLINE = re.compile(r"`((?:\w+=\S+ )?(?:mpirun -n|python3 \w+\.py|cc \w+\.c|\./\w+ -|(?:build/)?ambit \w+ (?:\S+\.c|--?\w+|\w+ -)) ?[^`]*)`")


def is_command(line):
    """Whether a line of a block is an example, and not the synopsis of a command."""
    return bool(COMMAND.match(line)) and not re.search(r"\[|NAME|PROGRAM", line)


def inline(text):
    """(line, command) of the commands between backticks."""
    for found in INLINE.finditer(text):
        if not re.search(r"\.\.\.|\[|\n|COMMAND|^ambit (explain|gen) --\w+$", found[1]):  # no example, but a name
            yield text.count("\n", 0, found.start()) + 1, found[1]


def _small_bench(command):
    command = re.sub(r"\d+x\d+\b", "64x64", re.sub(r"\d+\^(\d)", r"16^\1", command))
    command = re.sub(r"\bt\d+", "t2", re.sub(r"\br\d+", "r1", command))
    return command if re.search(r"bench ('|-)", command) else command.replace("bench", "bench 'star2d1 64x64 t2 r1'")


class Shell:
    def __init__(self, ambit, library, mpirun):
        """`ambit` and `mpirun` are found under these names, and `python3` has the package with this library; mpirun: the words
        of a command, or none."""
        self.library, self.printed = library, {}
        self.tools = pathlib.Path("tools").absolute()
        tools = self.tools
        tools.mkdir()
        (tools / "ambit").symlink_to(ambit)
        if mpirun:
            (tools / "mpirun").write_text("#!/bin/sh\nexec " + " ".join(mpirun) + ' "$@"\n')
            (tools / "mpirun").chmod(0o755)
        python = next((p for p in (sys.executable, "/usr/bin/python3") if shutil.which(p) and not subprocess.run(
            [p, "-c", "import numpy"], capture_output=True).returncode), None)
        (tools / "python3").write_text(f'#!/bin/sh\nPYTHONPATH={ROOT}/python exec {python} -B "$@"\n')
        (tools / "python3").chmod(0o755)
        self.path = f"{tools}:{os.environ['PATH']}:/usr/local/cuda/bin"
        self.absent = {t for t in TOOLS if not shutil.which(t, path=self.path)}
        self.absent |= ({"mpirun"} if not mpirun else set()) | ({"python3"} if not python else set())
        listed = subprocess.run([ambit, "devices", "--quick"], capture_output=True, text=True).stdout
        self.has_cuda = bool(re.search(r"(?m)^\s*cuda", listed))

    def small(self, command):
        """The command as it is run."""
        if "ambit bench" in command:
            command = _small_bench(command)
        elif re.search(r"ambit run|\./", command):
            command = re.sub(r"\b(4096|2048|1024)x\1\b", "256x256", command)
        if not self.has_cuda and "ambit explain" not in command:  # which needs no device
            command = re.sub(r"(--ambit-devices=|[ '])cuda\b(?!:)", r"\1cpu", command)
        command = re.sub(r"\bpython3 (?=\w+\.py)", f"{self.tools}/python3 ", command)  # mpirun may have a PATH of its own
        return command.replace("ffplay -", "cat > played")

    def missing(self, command):
        """The first tool that is not here, or None."""
        used = re.findall(r"(?:^|\$\(|\| *|(?<= )(?=ambit ))((?:\w+=\S+ )*)([\w./-]+)", command)
        scripts = ["python3"] if "/python3 " in command else []
        return next((tool for tool in [t for _, t in used] + scripts if tool in self.absent), None)

    def run(self, command, folder):
        """(status, output). A command that only prints about the machine is run once, however many documents have it, and
        measures no OpenCL, which would compile for seconds."""
        prints = re.match(r"(build/)?ambit (bench|devices)\b[^>|]*$", command)
        if prints and command in self.printed:
            return self.printed[command]
        env = {**os.environ, "PATH": self.path, "LIBAMBIT": str(self.library)}
        if prints and "opencl" not in command:
            env["OCL_ICD_VENDORS"] = os.devnull
        if command.startswith("cc "):  # as if ambit.h were installed
            env["C_INCLUDE_PATH"] = str(ROOT / "include")
        r = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=LIMIT, env=env)
        result = r.returncode, SLOW.sub("", r.stdout + r.stderr)
        if prints:
            self.printed[command] = result
        return result
