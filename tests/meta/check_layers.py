#!/usr/bin/env python3
"""A layer includes only itself and the layers to its left. Within device/, a kind of device (ref/,
cpu/, ...) does not include another kind: what they share stands in device/ itself, and what GPUs share in gpu/."""
import re, sys

import project

LAYERS = "base grid kernel codegen plan net device runtime skeleton io".split()


def fault(here, there):
    """Why a file in folder `here` may not include one in folder `there`; None if it may."""
    if there[0] not in LAYERS:
        return f"'{there[0]}' is no layer"
    if LAYERS.index(there[0]) > LAYERS.index(here[0]):
        return f"layer '{here[0]}' may not include '{there[0]}'"
    if here[0] == there[0] == "device" and here[1:] and there[1:] and there[1] not in (here[1], "gpu"):
        return f"device '{here[1]}' may not include device '{there[1]}'"
    return None


def main():
    src, bad = project.ROOT / "src", 0
    sources = project.files("src")
    for f in sources:
        here = f.relative_to(src).parts[:-1]
        for n, line in enumerate(f.read_text().splitlines(), 1):
            m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not m or m[1] == "ambit.h":
                continue
            there = m[1].split("/")[:-1]
            if not there:
                why = "write the path from src/"
            elif here[0] not in LAYERS:
                why = f"'{here[0]}' is no layer"
            else:
                why = fault(here, there)
            if why:
                print(f"{f.relative_to(project.ROOT)}:{n}: {m[1]}: {why}")
                bad += 1
    print(f"{len(sources)} files, {bad} faults")
    return bad != 0 or not sources


sys.exit(main())
