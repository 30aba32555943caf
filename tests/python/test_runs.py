# SPDX-License-Identifier: BSD-3-Clause
"""Runs that Ctrl-C ends, streams, checkpoints, processes."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import ambit

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python"
rng = np.random.default_rng(4)
INC = "void inc(float *u, max float *m) { *u += 1; *m = *u; }"


@pytest.fixture(autouse=True)
def as_in_a_terminal():
    """Shells start jobs in the background with SIGINT ignored, and Python leaves it so."""
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, old)


def program():
    g = ambit.Grid(100, 100)
    u = g.field("u", "i8")
    return u, g.program(ambit.kernel("void inc(long *u, max long *m) { *u += 1; *m = *u; }")(u, "m"))


def interrupt(p):
    """Sends SIGINT to this process when the program runs: it has more iterations then."""
    before = p.iterations

    def send():
        while p.iterations == before:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


def interrupted(p, run):
    """Calls run(), which does not end by itself, and interrupts it."""
    thread = interrupt(p)
    with pytest.raises(KeyboardInterrupt):
        run()
    thread.join()


def test_ctrl_c_ends_a_run_and_leaves_it_usable():
    u, p = program()
    for run in (lambda: p.run(10**12), lambda: p.run(until="m < 0", most=10**12), lambda: p.run(10**12, progress=True)):
        before = p.iterations
        interrupted(p, run)
        assert p.iterations > before and (u[...] == p.iterations).all()
    assert p.run(10) == 10 and (u[...] == p.iterations).all()


def test_ctrl_c_reaches_handlers_of_the_program_and_other_descriptors():
    """A handler that raises nothing: the run ends early, and the byte is passed on."""
    u, p = program()
    seen = []
    old = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    r, w = os.pipe()
    os.set_blocking(w, False)
    before = signal.set_wakeup_fd(w)
    try:
        interrupt(p)
        p.run(10**12)
        assert seen == [signal.SIGINT] and signal.set_wakeup_fd(w) == w
        assert os.read(r, 10) == bytes([signal.SIGINT])
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGINT, old)
        os.close(r)
        os.close(w)


def test_runs_in_other_threads_need_no_signals():
    u, p = program()
    t = threading.Thread(target=p.run, args=(100,))
    t.start()
    t.join()
    assert p.iterations == 100


def test_callbacks_are_interrupted_too():
    u, p = program()
    p.every(1, lambda program, i: time.sleep(0.01))
    interrupted(p, lambda: p.run(10**6))


def sharpen():
    g = ambit.Grid(6, 8)
    u, v = g.field("u", boundary="clamp"), g.field("v")
    return u, v, g.program(ambit.kernel("void d(const float *u, float *v) { *v = u[0][1] - *u; }")(u, v))


def test_streams_of_arrays():
    u, v, p = sharpen()
    frames = [rng.integers(0, 255, (6, 8)).astype("u1") for _ in range(20)]
    s = ambit.Stream(p, u, v)
    results = s.map(iter(frames))
    assert len(results) == s.items == 20
    for f, r in zip(frames, results):
        want = np.diff(f.astype("f4"), axis=1, append=f[:, -1:])
        assert np.array_equal(r, want)
    seen = []
    assert s.map(frames, seen.append) == [] and np.array_equal(seen, results)
    with pytest.raises(ambit.InvalidArgument, match="item 1 has the shape"):
        s.map([frames[0], np.zeros((3, 3))])
    with pytest.raises(ZeroDivisionError):
        s.map(frames, lambda r: 1 / 0)
    assert len(s.map(frames)) == 20


def test_streams_until_a_condition_and_of_files(tmp_path):
    g = ambit.Grid(4, 5)
    u, m = g.field("u"), ambit.scalar("m", "f4")
    p = g.program(ambit.kernel(INC)(u, m))
    s = ambit.Stream(p, u, u, until=m >= 10, most=8, in_flight=3)
    results = s.map([np.full((4, 5), x) for x in (0, 5, 9)])
    assert [r[0, 0] for r in results] == [8, 10, 10] and s.unmet == 1
    for i in range(3):
        w = ambit.Grid(4, 5).field("w", "u1", value=10 * i)
        w.draw(tmp_path / f"in{i:02d}.png", lo=0, hi=255)
    assert ambit.Stream(p, u, u, iterations=2).run(tmp_path / "in%02d.png", tmp_path / "out%02d.png") == 3
    assert (tmp_path / "out02.png").is_file()


def test_frames_of_imageio(tmp_path):
    imageio = pytest.importorskip("imageio.v3", reason="there is no imageio; scripts/setup check-all installs it")
    u, v, p = sharpen()
    paths = []
    for i in range(3):
        paths.append(tmp_path / f"{i}.png")
        imageio.imwrite(paths[-1], rng.integers(0, 255, (6, 8)).astype("u1"))
    results = ambit.Stream(p, u, v).map(imageio.imread(x) for x in paths)
    assert len(results) == 3


SCRIPT = """
import sys, numpy as np, ambit
a = ambit.open(devices="cpu", checkpoint=sys.argv[1], checkpoint_every=20)
g = ambit.Grid(8, 9)
u = g.field("u", "f8")
done = np.zeros(1, "i8")
a.checkpoint_value("done", done)
p = g.program(ambit.kernel("void inc(double *u) { *u += 1; }")(u))
def look(p, i):
    done[0] = i
    if i == int(sys.argv[2]): import os; os._exit(3)
p.every(10, look)
p.run(100)
print(u[0, 0], p.iterations, done[0])
"""


def python(*words):
    env = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    return subprocess.run([sys.executable, "-c", SCRIPT, *map(str, words)], capture_output=True, text=True, env=env, timeout=300)


def test_a_killed_script_continues(tmp_path):
    killed = python(tmp_path / "run.state", 50)
    assert killed.returncode == 3, killed.stderr
    again = python(tmp_path / "run.state", 0)
    assert again.stdout.split() == ["100.0", "100", "100"], again.stderr


MPI = """
from mpi4py import MPI
import ambit, numpy as np
with ambit.open(communicator=MPI.COMM_WORLD, devices="cpu") as a:
    assert (a.process, a.processes) == (MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size)
    g = ambit.Grid(16, 16)
    u, v = g.field("u", boundary="periodic"), g.field("v")
    u[...] = np.arange(256).reshape(16, 16)
    k = ambit.kernel("void k(const float *u, float *v) { *v = u[1][1]; }")
    g.program(k(u, v), ambit.swap(u, v)).run(3)
    assert np.array_equal(u[...], np.roll(np.arange(256).reshape(16, 16), (-3, -3), (0, 1)))
    print("fine", flush=True)
"""


def test_communicators_of_mpi4py():
    pytest.importorskip("mpi4py", reason="there is no mpi4py; scripts/setup check-all installs it")
    mpirun = shutil.which("mpirun")
    if not mpirun:
        pytest.skip("there is no mpirun")
    env = {**os.environ, "PYTHONPATH": str(PACKAGE), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    r = subprocess.run([mpirun, "-n", "2", sys.executable, "-c", MPI], capture_output=True, text=True, env=env, timeout=300)
    assert r.stdout.count("fine") == 2, r.stdout + r.stderr
