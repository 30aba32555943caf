#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A layer includes only itself and the layers to its left; a room of runtime/ only itself and the
rooms to its left. A kind of device (ref/, cpu/, ...) does not include another kind: common code
is in device/ itself, and that of GPUs in gpu/. No source file bypasses its includes by
declaring a symbol of another file `extern`."""
import re, sys

import project

LAYERS = "base grid kernel flow codegen nest plan net device runtime skeleton io view".split()
ROOMS = "observe objects program exchange schedule sleep checkpoint explain run".split()
EMBEDDED = ("ambit__prelude_", "ambit__page")  # texts that the build makes from files


def fault(here, there):
    """The reason why a file in folder `here` may not include one in folder `there`; None if it may."""
    if there[0] not in LAYERS:
        return f"'{there[0]}' is no layer"
    if LAYERS.index(there[0]) > LAYERS.index(here[0]):
        return f"layer '{here[0]}' may not include '{there[0]}'"
    if here[0] == there[0] == "device" and here[1:] and there[1:] and there[1] not in (here[1], "gpu"):
        return f"device '{here[1]}' may not include device '{there[1]}'"
    if there[0] == "runtime" and there[1:2] not in [[r] for r in ROOMS]:
        return "the rooms of runtime are " + ", ".join(ROOMS)
    if here[0] == there[0] == "runtime" and ROOMS.index(there[1]) > ROOMS.index(here[1]):
        return f"room '{here[1]}' may not include '{there[1]}'"
    return None


def include_faults(f, here, text):
    for n, line in enumerate(text.splitlines(), 1):
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not m or m[1].startswith("ambit"):
            continue
        there = m[1].split("/")[:-1]
        if not there:
            why = "write the path from src/"
        elif here[0] not in LAYERS:
            why = f"'{here[0]}' is no layer"
        elif here[0] == "runtime" and here[1:2] not in [[r] for r in ROOMS]:
            why = "the rooms of runtime are " + ", ".join(ROOMS)
        else:
            why = fault(here, there)
        if why:
            yield n, f"{m[1]}: {why}"


def extern_faults(f, text):
    """Symbols with our prefix that a source file declares although another one defines them."""
    if f.suffix != ".c":
        return
    for m in re.finditer(r"^extern\s([^;{]*);", text, re.M):
        n = text.count("\n", 0, m.start()) + 1
        for name in re.findall(r"\bambit__\w+(?=\s*(?:\[|,|\(|$))", m[1]):
            own = re.search(rf"^(?!extern)\w.*\b{name}\b.*(=|\{{|\n\{{)", text, re.M)
            if not name.startswith(EMBEDDED) and not own:
                yield n, f"declares {name}, which another file defines: include its header"


def main():
    src, bad = project.ROOT / "src", 0
    sources = project.files("src")
    for f in sources:
        here, text = list(f.relative_to(src).parts[:-1]), f.read_text()
        for n, why in [*include_faults(f, here, text), *extern_faults(f, text)]:
            print(f"{f.relative_to(project.ROOT)}:{n}: {why}")
            bad += 1
    print(f"{len(sources)} files, {bad} faults")
    return bad != 0 or not sources


sys.exit(main())
