#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The n-th call of MPI fails in one of two processes while a context is opened or closed: the run ends soon, with
the cause, or with the same status on both.

    test_opening.py STARVED VICTIM STRIDE MPIRUN...
"""
import re, subprocess, sys, time

STARVED, VICTIM, STRIDE, MPIRUN = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
SOON = 300  # seconds: much longer than a run takes, on a busy machine too
bad = runs = aborted = 0


def run(n):
    """(exit status, output); None: it still ran."""
    try:
        r = subprocess.run([*MPIRUN, "-n", "2", STARVED, "opening", VICTIM, str(n)], capture_output=True, text=True,
                           timeout=SOON)
        return r.returncode, r.stdout + r.stderr
    except subprocess.TimeoutExpired as e:
        return None, f"{e.stdout} {e.stderr}"


n, reached = 1, True
while reached and not bad:
    code, text = run(n)
    told = re.findall(r"opened: (\w+), closed: (\w+)", text)
    reached = code != 0 or "a call failed" in text
    alike = len(told) == 2 and told[0][1] == told[1][1] and (code == 0) == (told[0][1] == "OK")
    named = code not in (0, None) and "MPI could not" in text
    runs, aborted = runs + 1, aborted + (reached and not alike)
    if not (alike and (code == 0) != reached or named):
        bad += 1
        print(f"not ok - call {n}: exit status {code}\n# " + "\n# ".join(text.splitlines()[:20]))
    n += STRIDE
print(f"# {runs} runs, {aborted} aborted")
print(f"{'not ' if bad else ''}ok - a context that cannot be opened or closed ends the run, or all processes with an error")
sys.exit(bad != 0)
