#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random nests, serial against translated. A failure prints the seed that reproduces it.

    test_random.py ambit-port libambit.so source-folder cc devices first count

AMBIT_PORT_RANDOM=n asks for more programs.
"""
import os, pathlib, re, sys, tempfile

import check, random_nests

FOUND = [9284]  # seeds that found mistakes

def main():
    port, library, source, cc, devices, first, count = sys.argv[1:8]
    tools = check.Tools(port, library, source, cc, [])
    count = int(os.environ.get("AMBIT_PORT_RANDOM", count))
    failed = nests = serial = 0
    for seed in [*FOUND, *range(int(first), int(first) + count)]:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "nests.c"
            path.write_text(random_nests.Program(seed).text())
            try:
                flags = ["-I", str(check.HERE / "programs")]
                notes = check.compare(tools, path, folder, devices=devices.split(","), processes=(), flags=flags, sanitize=False,
                                      strict_parallel=False)
                m = re.search(r"(\d+) nests? in parallel \(\d+ steps?\), (\d+) serial", notes)
                nests, serial = nests + int(m[1]), serial + int(m[2])
            except AssertionError as e:
                failed += 1
                keep = pathlib.Path(os.environ.get("AMBIT_PORT_KEEP", folder)) / f"random_{seed}.c"
                keep.write_text(path.read_text())
                print(f"FAILED seed {seed}: {e}")
    print(f"{count + len(FOUND)} programs, {nests} nests translated, {serial} left serial, {failed} failed")
    return failed != 0 or nests < serial


sys.exit(main())
