#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are killed at random moments and started again, on other devices and numbers of processes, print and
write the same as those that are not: examples, `ambit run`, and a serial program that `ambit port` translates.

    test_checkpoint.py TOOL EXAMPLES CC [MPIRUN]

AMBIT_TEST_LONG: all examples, more often, on all devices.
"""
import os, pathlib, random, re, signal, subprocess, sys, time

import tool

TOOL, EXAMPLES, CC = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
MPIRUN = sys.argv[4:5]
LONG = bool(os.environ.get("AMBIT_TEST_LONG"))
killed = 0
ALONE = ["24_resume/resume", "11_conjugate_gradients/gradients"]
TOGETHER = ["04_poisson/poisson"]
ARGS = {"heat": ["--check"], "cardiac": ["40", "3", "20"], "restore": ["--check"], "porous": ["--size", "16"], "gradients": ["--size", "100"],
        "poisson": ["--size", "32"], "terrain": ["--check", "--size", "300"], "helmholtz": ["--ambit-lanes=cpu,ref"]}
DEVICES = ["cpu", "cpu*2", "opencl"] if LONG else ["cpu", "cpu*2"]
SERIAL = """#include <stdio.h>
#include <stdlib.h>
enum { N = 200 };
static double u[N][N], v[N][N];
int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      u[i][j] = (i * 7 + j * 13) % 11;
#pragma ambit
  for (int t = 0; t < 300; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        u[i][j] = v[i][j];
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += u[i][j] * (1 + i % 3);
  printf("%.17g\\n", sum);
  return 0;
}
"""


def _start(command, folder, devices, processes):
    env = {**os.environ, "AMBIT_STRICT": "1", "AMBIT_DEVICES": devices, "AMBIT_THREADS": "2"}
    mpirun = [*MPIRUN, "-n", str(processes)] if processes > 1 else []
    return subprocess.Popen([*mpirun, *map(str, command)], cwd=folder, env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True)


def _finish(p, seconds=tool.SOON):
    """The output of a process, or None if it is killed after these seconds, with all of its group."""
    try:
        out, err = p.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        global killed
        killed += seconds < tool.SOON
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        return None
    assert p.returncode == 0, f"{p.args}: exit {p.returncode}\n{out}{err}"
    return out


def _result(out, folder):
    """Lines without times, and files."""
    lines = [line for line in out.splitlines() if not line.startswith("iteration ")]  # progress: printed once
    lines = [re.sub(r"[\d.e+-]+ (s|ms|frames/s|Gcells/s)\b", "#", line) for line in lines]
    files = {f.name: f.read_bytes() for f in sorted(folder.iterdir()) if f.suffix in (".npy", ".png")}
    return lines, files


def _same_when_killed(command, processes=(1,), kills=3, every=("500", "0.2s")):
    """The command, killed now and then, has the result of one that is not."""
    dice = random.Random(str(command))
    with tool.folder() as whole, tool.folder() as torn:
        for _ in range(2):  # the first one compiles; the second one's time is that of the run
            start = time.monotonic()
            want = _result(_finish(_start(command, whole, "cpu", 1)), whole)
            took = time.monotonic() - start
        for i in range(kills + 1):
            options = ["--ambit-checkpoint=run.h5", f"--ambit-checkpoint-every={every[i % len(every)]}"]
            p = _start([*command, *options], torn, DEVICES[i % len(DEVICES)], processes[i % len(processes)])
            out = _finish(p, dice.random() * took if i < kills else tool.SOON)
            if out is not None:
                break
        assert _result(out, torn) == want, (out, want[0])


def _programs():
    if not EXAMPLES.is_dir():
        raise tool.Skipped("this build has no examples")
    for folder in sorted(EXAMPLES.iterdir()):
        for f in sorted(folder.iterdir()) if folder.is_dir() and folder.name[0].isdigit() else []:
            if f.is_file() and os.access(f, os.X_OK) and not f.name.endswith("_serial"):
                yield f


def examples_that_are_killed_continue():
    for f in _programs():
        name = f"{f.parent.name}/{f.name}"
        if LONG or name in ALONE:
            print("#", name, flush=True)
            _same_when_killed([f, *ARGS.get(f.name, [])], kills=6 if LONG else 1)


def examples_on_several_processes_continue():
    if not MPIRUN:
        raise tool.Skipped("there is no MPI")
    for f in _programs():
        name = f"{f.parent.name}/{f.name}"
        if name in TOGETHER or (LONG and f.parent.name[:2] not in ("07", "09")):
            print("#", name, flush=True)
            _same_when_killed([f, *ARGS.get(f.name, [])], processes=(2, 1, 3), kills=6 if LONG else 2)


def ambit_run_continues(steps=4000):
    command = [TOOL, "run", "2d8", "--size", "150x130", "--boundary", "periodic", "--steps", steps, "--output", "out.npy"]
    _same_when_killed(command, kills=4)


def a_translated_program_continues():
    with tool.folder(serial_c=SERIAL) as f:
        r = subprocess.run([TOOL, "port", "serial.c", "-o", "ported.c"], cwd=f, capture_output=True, text=True)
        if "libclang" in r.stderr:
            raise tool.Skipped("this build has no ambit port")
        assert r.returncode == 0, r.stderr
        root, library = pathlib.Path(__file__).parents[2], TOOL.parent
        subprocess.run([CC, "-O1", "-I", root / "include", "ported.c", f"-L{library}", "-lambit", "-lm",
                        f"-Wl,-rpath,{library}", "-o", "ported"], cwd=f, check=True)
        _same_when_killed([f / "ported"], kills=3, every=("20", "0.02s"))


def sigterm_saves_and_ends_with_143():
    with tool.folder() as f:
        p = _start([TOOL, "run", "2d8", "--size", "600x600", "--steps", "1000000", "--ambit-checkpoint=run.h5",
                    "--ambit-checkpoint-every=1s", "--output", "out.npy"], f, "cpu", 1)
        tool.wait(lambda: p.poll() is not None or (f / "run.h5").exists())
        p.terminate()
        out, err = p.communicate(timeout=tool.SOON)
        assert p.returncode in (143, -signal.SIGTERM), (p.returncode, out, err)
        assert "SIGTERM: the state is in run.h5" in err, err
        h5 = sorted(x.name for x in f.iterdir())
        assert h5 == ["run.h5", "run.previous.h5"], h5


def h5py_reads_a_checkpoint():
    try:
        import h5py, numpy
    except ImportError:
        raise tool.Skipped("this python has no h5py")
    with tool.folder() as f:
        _finish(_start([TOOL, "run", "2d8", "--size", "30x20", "--steps", "20", "--ambit-checkpoint=run.h5",
                        "--ambit-checkpoint-every=20", "--output", "out.npy"], f, "cpu", 1))
        with h5py.File(f / "run.h5") as h:
            grid = h["grid1"]
            values = [grid[name][...] for name in grid]
            assert all(v.shape == (30, 20) and v.dtype == numpy.float32 for v in values)
            assert any((v == numpy.load(f / "out.npy")).all() for v in values)
            assert b"grid 1 has 30x20 cells" in h["program"][()]


def programs_were_killed():
    """The moments come from the time of a whole run, which may have been slower than the others."""
    for i in range(12):
        if killed <= 3:
            ambit_run_continues(4000 << i)
    assert killed > 3, killed


tool.main(globals())
