#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages from device memory, with an MPI that accepts it, one that claims to and corrupts it, and one that
does not: the results equal those of one process each time. Needs a CUDA device.

    test_aware.py TOOL MPIRUN SHIM
"""
import os, re, subprocess, sys

import tool

TOOL, MPIRUN, SHIM = sys.argv[1:4]
TAKES, SPOILS = "accepts device memory: messages are sent from GPU memory", "a test message arrived corrupted"


def _run(path, n, shim=None, partition="auto", **environment):
    words = f"run 3d27 --strict --boundary periodic --size 30x20x28 --steps 7 --device cuda --output {path}".split()
    env = {**os.environ, "AMBIT_VERBOSE": "1", "AMBIT_DEPTH": "1", "AMBIT_PARTITION": partition, **environment}
    start = [MPIRUN, "-n", str(n), TOOL]
    if shim:
        env["SHIM_MODE"] = shim
        start = [MPIRUN, "-n", str(n), "env", f"LD_PRELOAD={SHIM}", TOOL]
    r = subprocess.run([*start, *words], capture_output=True, text=True, timeout=tool.SOON, env=env)
    assert r.returncode == 0, r.stderr
    return r.stderr, path.read_bytes()


def messages_from_device_memory_arrive():
    with tool.folder() as folder:
        _, want = _run(folder / "a.npy", 1)
        for partition in ("auto", "1x1x2"):
            said, got = _run(folder / "b.npy", 2, shim="tell", partition=partition)
            carried = [int(x) for x in re.findall(r"shim: (\d+) messages", said)]
            assert said.count(TAKES) == 1 and SPOILS not in said, said
            assert len(carried) == 2 and min(carried) >= 4 + 2 * 7, said  # more than the test alone
            assert got == want


def an_mpi_that_spoils_them_is_found_out():
    with tool.folder() as folder:
        _, want = _run(folder / "a.npy", 1)
        said, got = _run(folder / "b.npy", 2, shim="lie")
        assert said.count(SPOILS) == 1 and TAKES not in said, said
        assert got == want


def it_can_be_forbidden():
    with tool.folder() as folder:
        said, got = _run(folder / "a.npy", 2, shim="lie", AMBIT_GPUAWARE="0")
        assert SPOILS not in said and TAKES not in said, said
        assert got == _run(folder / "b.npy", 1)[1]


if not re.search(r"^ *cuda:0", subprocess.run([TOOL, "devices", "--quick"], capture_output=True, text=True).stdout, re.M):
    sys.exit(77)
tool.main(globals())
