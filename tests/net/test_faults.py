#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A run of several processes in which one misbehaves ends soon, on all processes, and with its cause in a message.
N processes that cannot find each other report it once.

    test_faults.py FAULTY FAMILY MPIRUN [OTHER_MPIRUN]
"""
import os, signal, subprocess, sys, time

FAULTY, FAMILY, MPIRUN = sys.argv[1:4]
OTHER = sys.argv[4] if len(sys.argv) > 4 else None
SOON = 300  # seconds: much longer than a run takes, on a busy machine too
bad = 0


def run(*words, **more):
    """The exit status, the output and the seconds of a run. MPICH 4.0's mpirun itself dies of SIGPIPE, without a word, if
    its processes end before it has set up their pipes: then once more."""
    for _ in range(8):
        result = run_once(*words, **more)
        if result[0] != -signal.SIGPIPE:
            break
    return result


def run_once(*words, mpirun=MPIRUN, n=3, **variables):
    begin = time.time()
    try:
        r = subprocess.run([mpirun, "-n", str(n), FAULTY, *words], capture_output=True, text=True, timeout=SOON,
                           env={**os.environ, **variables})
        return r.returncode, r.stdout + r.stderr, time.time() - begin
    except subprocess.TimeoutExpired as e:
        return None, f"still running after {SOON} s: {e.stdout} {e.stderr}", SOON


def check(name, result, holds):
    global bad
    code, text, seconds = result
    good = holds(code, text)
    bad += not good
    print(f"{'ok' if good else 'not ok'} - {name} ({seconds:.1f} s)")
    if not good:
        print(f"# exit status {code}\n# " + "\n# ".join(text.splitlines()[:40]))


check("a run without faults ends well", run("fine"),
      lambda code, text: code == 0 and all(f"process {i} of 3 with" in text for i in range(3)))
check("a process that is killed ends the run", run("kill"), lambda code, text: code not in (0, None))
check("a process that aborts ends the run and tells why", run("abort"),
      lambda code, text: code not in (0, None) and "ambit: process 2 of 3: the disk is full" in text)
check("a process that exits early ends the run and tells", run("exit"),
      lambda code, text: code not in (0, None) and "process 2 exits while other processes continue" in text)
check("a process that does not hear that another failed has the run ended", run("sleep"),
      lambda code, text: code not in (0, None) and "ambit: process 0 of 3: the disk is full" in text)
check("processes that all exit with the net open end well", run("leave"), lambda code, text: code == 0)
check("processes that are to be alone are", run("fine", AMBIT_TEST_MPI="off"),
      lambda code, text: code == 0 and text.count("process 0 of 1 with alone") == 3)
missing = run("fine", LD_LIBRARY_PATH="")
if missing[0] == 0:
    print("ok - a library without a module for this MPI says so, once # SKIP an installed Ambit has one")
else:
    check("a library without a module for this MPI says so, once", missing,
          lambda code, text: text.count("this libambit cannot use") == 1 and "scripts/setup mpi && make" in text and "mpi to off" in text)
if OTHER:
    # the launcher of Open MPI now and then loses what a process says that ends at once
    tries = (run("fine", mpirun=OTHER, AMBIT_TEST_MPI=FAMILY) for _ in range(3))
    found = next((t for t in tries if "sees only one" in t[1]), None) or run("fine", mpirun=OTHER, AMBIT_TEST_MPI=FAMILY)
    check("an MPI that does not go with its launcher is noticed, once", found,
          lambda code, text: code not in (0, None) and text.count("sees only one") == 1 and "mpi to off" in text)
else:
    print("ok - an MPI that does not go with its launcher is noticed, once # SKIP there is one MPI only")
sys.exit(bad != 0)
