#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A run of several processes in which one fails ends soon, on all processes, and with its cause in a message.

    test_faults.py FAULTY MPIRUN
"""
import os, subprocess, sys, time

FAULTY, MPIRUN = sys.argv[1:3]
SOON = 300  # seconds: much longer than a run takes, on a busy machine too
bad = 0


def check(name, way, holds, *words, **variables):
    global bad
    begin = time.time()
    try:
        r = subprocess.run([MPIRUN, "-n", "3", FAULTY, way, *words], capture_output=True, text=True, timeout=SOON,
                           env={**os.environ, **variables})
        code, text = r.returncode, r.stdout + r.stderr
    except subprocess.TimeoutExpired as e:
        code, text = None, f"still running after {SOON} s: {e.stdout} {e.stderr}"
    good = holds(code, text)
    bad += not good
    print(f"{'ok' if good else 'not ok'} - {name} ({time.time() - begin:.1f} s)")
    if not good:
        print(f"# exit status {code}\n# " + "\n# ".join(text.splitlines()[:40]))


def told(who):
    """All processes return from the run with the error; only the process that failed prints it."""
    story = f"device {who} has lost its memory"
    return lambda code, text: (code not in (0, None) and "ABORT" not in text and
                               all(f"process {i} ran: {'' if i == who else f'process {who} of 3: '}{story}\n" in text
                                   for i in range(3)) and text.count(f"ambit: error: process {who} of 3: {story}\n") == 1)


check("a run without faults ends well", "fine", lambda code, text: code == 0 and text.count("ran: \n") == 3)
check("a process that is killed in mid-run ends the run", "kill",
      lambda code, text: code not in (0, None) and "ran: " not in text)
check("a device that fails in mid-run ends the run on all processes, with the cause", "device", told(2))
check("messages that are too large to be sent before they are waited for are no hindrance", "device", told(2), "40000")
check("messages under way on a slow network are no hindrance", "device", told(2), SLOW_NETWORK="2ms,50MB/s")
check("processes that are done already hear of it too", "last", told(2))
check("two that fail at once, or nearly, leave all with an error", "two",
      lambda code, text: code not in (0, None) and all(f"process {i} ran: " in text for i in range(3))
      and text.count("has lost its memory\n") >= 3 and "ran: \n" not in text)
check("a run that failed leaves nothing behind", "again", lambda code, text: code == 0 and text.count("ran again") == 3, "40000")
check("nor on a slow network", "again", lambda code, text: code == 0 and text.count("ran again") == 3, SLOW_NETWORK="1ms")
check("a process that closes its context is not waited for, also after the error was cleared", "leave",
      lambda code, text: code is not None and all(
          f"process {i} stays: process 2 closes its context, but process 0 runs 100 iterations" in text and
          f"process {i} stays: process 2 has closed its context: process {i} runs 100 iterations" in text for i in range(2)))
sys.exit(bad != 0)
