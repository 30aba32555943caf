# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of `ambit port` share: programs, serial and translated, and what they print.

A program prints all its arrays (as bits, or by a hash of them); its output must be the same, byte for byte, from the serial
program and from the translated one, on every device and number of processes.
"""
import hashlib, os, pathlib, re, shlex, shutil, subprocess, tempfile

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-std=gnu11", "-O2", "-ffp-contract=off", "-w"]
# The declarations of the support code in a translated program, and its definitions, from the end of the names of the C library.
SUPPORT = re.compile(r"(?s)(/\* head\.h - .*?)#define malloc.*(\n#undef malloc\n.*)")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-value", "-fstrict-aliasing"]


class Tools:
    """Where things are: ambit-port, libambit, the header, a compiler, mpiruns."""

    def __init__(self, port, library, source, cc, mpiruns):
        self.port, self.library, self.cc = port, pathlib.Path(library), cc
        self.include = pathlib.Path(source) / "include"
        # It compiles the 4,000 lines of a translated program in 0.4 of the time of gcc.
        self.clang = None if "AMBIT_TEST_LONG" in os.environ else shutil.which("clang")
        self.mpiruns = [shlex.split(m) for m in mpiruns if m]
        self.supports = tempfile.TemporaryDirectory() if self.clang else None  # compiled support code, by its text

    def run(self, *words, **more):
        env = {**os.environ, "AMBIT_STRICT": "1", "AMBIT_VERBOSE": "-1", **more.pop("env", {})}
        return subprocess.run([str(w) for w in words], capture_output=True, text=True, errors="replace", timeout=300,
                              env=env, **more)

    def must(self, *words, **more):
        r = self.run(*words, **more)
        assert r.returncode == 0, f"{' '.join(map(str, words))}: exit {r.returncode}\n{r.stdout[-2000:]}{r.stderr[-4000:]}"
        return r

    def compiler(self, flags):
        """For a program, serial or translated: arguments of a call are evaluated in an order of the compiler. OpenMP needs more than clang."""
        return self.cc if "-fopenmp" in flags or not self.clang else self.clang

    def compile_serial(self, source, to, *flags):
        self.must(self.compiler(flags), *FLAGS, *flags, source, "-o", to, "-lm")
        return to

    def compile_ported(self, source, to, *flags, whole=False):
        """Without optimisation, which changes no bit of host code, and takes a second less; and without warnings. In make check the
        support code, nine tenths of most programs and the same in all, is compiled once, as when several files are translated."""
        cc = [self.compiler(flags), *FLAGS[:-1], "-O0", *WARNINGS, *flags, "-I", self.include, "-I", HERE / "programs"]
        text = source.read_text()
        is_one = self.supports and not whole and "\n#define PORT_" not in text and not any(str(f).endswith(".c") for f in flags)
        support = SUPPORT.search(text) if is_one else None
        if support:
            name = pathlib.Path(self.supports.name, hashlib.sha256(f"{cc} {support[1]} {support[2]}".encode()).hexdigest()[:16])
            if not name.with_suffix(".o").exists():
                name.with_suffix(".c").write_text(support[1] + support[2])
                self.must(*cc, "-DPORT_API=", "-c", name.with_suffix(".c"), "-o", name.with_suffix(".o"))
            program = source.with_name(f"{source.stem}_apart.c")
            program.write_text(text[:support.start(2)])
            cc, source = [*cc, "-DPORT_API=extern", name.with_suffix(".o")], program
        self.must(*cc, source, "-o", to, self.library, f"-Wl,-rpath,{self.library.parent}", "-lm")
        return to

    def translate(self, source, to, *flags, options=()):
        """Translates; returns the notes."""
        r = self.must(self.port, *options, source, "-o", to, "--", *flags)
        return r.stderr


def ways(tools, devices, processes):
    """The ways to start a program: (name, words before it, environment)."""
    for device in devices:
        yield device, [], {"AMBIT_DEVICES": device}
    for mpirun in tools.mpiruns:
        for n in processes:
            yield f"{pathlib.Path(mpirun[0]).name} -n {n}", [*mpirun, "-n", str(n)], {"AMBIT_THREADS": "1"}


def compare(tools, source, folder, runs=((),), devices=("ref", "cpu"), processes=(2,), flags=(), nests=None, steps=(), sanitize=True, strict_parallel=True,
            whole=False):
    """Serial against translated. runs: arguments of the program, one tuple for each run. nests: how many must be translated;
    steps: that they become, or words of the notes. whole: see compile_ported."""
    source, folder = pathlib.Path(source), pathlib.Path(folder)
    name = source.stem
    serial = tools.compile_serial(source, folder / f"{name}_serial", *flags)
    notes = tools.translate(source, folder / f"{name}_ported.c", *flags)
    if nests is not None:
        assert f": {nests} nest" in notes, f"{name}: not {nests} nests\n{notes}"
    for n in steps:
        words = n if isinstance(n, str) else f"({n} steps)"
        assert words in notes, f"{name}: not '{words}'\n{notes}"
    ported = tools.compile_ported(folder / f"{name}_ported.c", folder / f"{name}_ported", *flags, whole=whole)
    clean = None
    if sanitize:
        clean = folder / f"{name}_clean"
        tools.must(tools.cc, "-std=gnu11", "-O0", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *flags, source,
                   "-o", clean, "-lm")
    for words in runs:
        if clean:
            tools.must(clean, *words, env={"ASAN_OPTIONS": "detect_leaks=0"})
        want = tools.must(serial, *words)
        for way, before, env in ways(tools, devices, processes):
            got = tools.run(*before, ported, *words, env=env)
            assert got.returncode == want.returncode, f"{name} {words} on {way}: exit {got.returncode}\n{got.stderr[-3000:]}"
            assert not strict_parallel or "runs serially" not in got.stderr, f"{name} {words} on {way}: {got.stderr[-2000:]}"
            assert got.stdout == want.stdout, (f"{name} {words} on {way}: other output\nserial: {want.stdout[:600]}\nported: "
                                               f"{got.stdout[:600]}\n{got.stderr[-1000:]}")
    return notes
