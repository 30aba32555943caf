#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of every form, serial against translated: all arrays and all output, byte for byte.

    test_programs.py ambit-port libambit.so source-folder cc devices processes mpirun... [-- program...]

devices and processes are lists, or none. make check-long runs all programs, and the serial ones under sanitizers, too; make check every
third one, or those that are named.
"""
import os, pathlib, sys, tempfile

import check

# How many nests each program has, and the arguments it runs with. None is left serial. For some, the steps that the nests
# become, or words of the notes.
PROGRAMS = {
    "around": (5, [()], ", 4 serial"),
    "automaton": (1, [()]),
    "back": (19, [()]),
    "blur": (2, [()]),
    "branches": (2, [()]),
    "bytes": (7, [()]),
    "cardiac": (5, [(33, 3, 4, "/dev/stdout")]),
    "cells": (1, [()]),
    "clamps": (3, [()]),
    "colours": (4, [()]),
    "combine": (5, [()]),
    "converge": (3, [()]),
    "depth": (6, [()]),
    "edges_flat": (3, [(), (7, 5)]),
    "elements": (3, [()]),
    "euler": (5, [()]),
    "fdtd": (4, [()]),
    "flags": (7, [()]),
    "flattened": (5, [(), (13,)]),
    "flat_planes": (4, [()], 13),
    "flat": (8, [(), (40,)]),
    "fluxes": (6, [()]),
    "foreign": (2, [()]),
    "history": (3, [()]),
    "forest": (2, [()]),
    "guarded": (4, [()]),
    "halos": (8, [(), (1,)]),
    "hostcode": (2, [()]),
    "ifguard": (1, [()]),
    "inner": (6, [()]),
    "inter": (5, [()]),
    "jacobi_flat": (1, [(), (5, 64)]),
    "lattice": (3, [()]),
    "late": (14, [()]),
    "levels": (5, [()]),
    "live": (6, [()]),
    "lookup": (5, [()]),
    "macros": (11, [()]),
    "median": (3, [()]),
    "more_rows": (3, [()]),
    "multigrid": (3, [()]),
    "neighbours": (5, [(), (5, 31)]),
    "one_colour": (5, [()]),
    "panda": (3, [()]),
    "parts": (3, [()], 3),
    "periodic": (4, [()]),
    "places": (3, [()]),
    "plasma": (4, [()]),
    "planes": (4, [()], 12),
    "points": (3, [(), (3,)]),
    "probes": (6, [(), (3,), (400,)]),
    "receivers": (2, [(), (3,), (200,)]),
    "redblack": (4, [()]),
    "row_members": (7, [()]),
    "rowcopies": (6, [()]),
    "rows": (1, [()]),
    "shallow": (4, [()]),
    "sizes": (3, [()]),
    "stages": (4, [()]),
    "static_arrays": (2, [()]),
    "structs": (3, [()]),
    "sweeps": (7, [()], ", 3 serial"),
    "torus": (2, [(), (10, 8)]),
    "until": (6, [(), (17, 9), (31, 3, 1e-9), (40, 250, 1e-9)]),
    "vla": (1, [()]),
    "whole": (2, [()]),
    "within": (4, [()]),
    "wrapped": (4, [()]),
    "wave3d": (1, [(), (23,)]),
}


def main():
    words = sys.argv[1:]
    only = words[words.index("--") + 1:] if "--" in words else []
    words = words[:words.index("--")] if "--" in words else words
    port, library, source, cc, devices, processes, *mpiruns = words
    devices, processes = ([x for x in text.split(",") if x != "none"] for text in (devices, processes))
    tools = check.Tools(port, library, source, cc, mpiruns)
    failed = 0
    names = only or (list(PROGRAMS) if "AMBIT_TEST_LONG" in os.environ else list(PROGRAMS)[::3])
    for name in names:
        nests, runs, *steps = PROGRAMS[name]
        with tempfile.TemporaryDirectory() as folder:
            try:
                path = check.HERE / "programs" / f"{name}.c"
                if name == "cardiac":
                    path = pathlib.Path(source) / "examples" / "06_cardiac" / "cardiac.c"
                check.compare(tools, path, folder, runs=runs, devices=devices,
                              processes=[int(n) for n in processes], nests=nests, steps=steps, sanitize="AMBIT_TEST_LONG" in os.environ, whole=bool(only))
                print("ok", name)
            except AssertionError as e:
                failed += 1
                print("FAILED", name, e)
    have = {p.stem for p in (check.HERE / "programs").glob("*.c")}
    if have | {"cardiac"} != set(PROGRAMS):
        failed += 1
        print("FAILED: programs and list differ:", have ^ set(PROGRAMS))
    return failed != 0


sys.exit(main())
