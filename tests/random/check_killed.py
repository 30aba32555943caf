#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs on several processes and on OpenCL, one process of which is killed (kill -9) at random moments: started
again, with another number of processes or on another device, they have the results of `ref`, bit for bit.

    check_killed.py TEST_RANDOM COUNT FIRST_SEED [MPIRUN]
"""
import os, pathlib, random, signal, subprocess, sys, tempfile

PROGRAM, COUNT, FIRST, MPIRUN = sys.argv[1], int(sys.argv[2]), int(sys.argv[3], 0), sys.argv[4:]
SOON = 600  # seconds
STUCK = 15  # the same, of a run that is killed anyway: Open MPI's mpirun waits for a process that died while it joined the others
PLACES = [(n, "cpu") for n in ((1, 2, 3) if MPIRUN else (1,))] + [(1, "cpu*2")]
killed = 0


def run(seed, folder, place, kill=0):
    processes, device = place
    start = [*MPIRUN, "-n", str(processes)] if processes > 1 else []
    words = ["--checkpoint", "--file", folder / "run.h5", "--seed", hex(seed), "--device", device, "--kill", str(kill)]
    r = subprocess.Popen([*start, PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         start_new_session=True, env={**os.environ, "TMPDIR": str(folder)})
    try:
        text = "".join(r.communicate(timeout=STUCK if kill and start else SOON))
    except subprocess.TimeoutExpired:
        os.killpg(r.pid, signal.SIGKILL)
        r.communicate()
        assert kill and start, (hex(seed), place, "no end")
        return -signal.SIGKILL, ""
    return r.returncode, text


def check(seed, dice):
    """A seed that fails is one line for test_random, but the moments of the kills are not to be had again."""
    global killed
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code, text = run(seed, folder, (1, "cpu"))  # fills the cache
        assert code == 0, (hex(seed), text)
        for f in folder.glob("run*.h5"):
            f.unlink()
        story = []
        for _ in range(4):
            place = dice.choice(PLACES)
            code, text = run(seed, folder, place, int(1000 * 200 ** dice.random()))
            story.append((place, code))
            killed += code != 0
            assert "not ok" not in text, (hex(seed), story, text)
        place = dice.choice(PLACES)
        code, text = run(seed, folder, place)
        assert code == 0 and "\nok 1" in "\n" + text, (hex(seed), story, place, code, text)


if subprocess.run([PROGRAM, "--device", "opencl", "--count", "0"], capture_output=True).returncode != 77:
    PLACES.append((1, "opencl"))
dice = random.Random(FIRST)
for i in range(COUNT):
    check(FIRST + i, dice)
print(f"ok - {COUNT} programs continue; {killed} runs were killed, on {PLACES}")
sys.exit(killed < COUNT)
