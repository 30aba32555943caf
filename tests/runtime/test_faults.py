#!/usr/bin/env python3
"""How a run of several processes ends when one of them fails in mid-run: soon, on all processes, and with its cause told.

    test_faults.py FAULTY MPIRUN
"""
import os, subprocess, sys, time

FAULTY, MPIRUN = sys.argv[1:3]
SOON = 60  # seconds: far more than it takes, far less than for ever
bad = 0


def check(name, way, holds):
    global bad
    begin = time.time()
    try:
        r = subprocess.run([MPIRUN, "-n", "3", FAULTY, way], capture_output=True, text=True, timeout=SOON)
        code, text = r.returncode, r.stdout + r.stderr
    except subprocess.TimeoutExpired as e:
        code, text = None, f"still running after {SOON} s: {e.stdout} {e.stderr}"
    good = holds(code, text)
    bad += not good
    print(f"{'ok' if good else 'not ok'} - {name} ({time.time() - begin:.1f} s)")
    if not good:
        print(f"# exit status {code}\n# " + "\n# ".join(text.splitlines()[:40]))


check("a run without faults ends well", "fine",
      lambda code, text: code == 0 and text.count("did 100 iterations") == 3)
check("a process that is killed in mid-run ends the run", "kill",
      lambda code, text: code not in (0, None) and "iterations" not in text)
check("a device that fails in mid-run ends the run, with the cause", "device",
      lambda code, text: code not in (0, None) and "process 2 of 3: the device has lost its memory" in text)
sys.exit(bad != 0)
