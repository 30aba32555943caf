#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names of public functions follow the pattern of docs/compatibility.md: ambit_OBJECT_VERB, with the object that the
function takes first or makes. Verbs of programs, and functions of the context or of numbers, have no object in the name."""
import re, sys

import project

OBJECTS = "grid field scalar kernel program points record stream arg".split()
VERBS = "apply sweep resample swap rotate copy step run call on output view inject sample history measure locate histogram".split()  # that take a program first


def functions():
    for header in sorted((project.ROOT / "include").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for m in re.finditer(r"^AMBIT_API\s+([^;(]*?)\b(ambit_\w+)\s*\(([^;]*)\)\s*;", text, re.M):
            yield m[2], m[1], m[3].split(",")[0]


def object_of(declaration):
    m = re.search(r"\bambit(?:_(\w+))?\b", declaration)
    return m and (m[1] or "")


def fault(name, result, first):
    words = name.split("_")[1:]
    taken, made = object_of(first), object_of(result)
    if words[0] in OBJECTS:
        makes = words[0] == "arg" or words[1] in ("create", "load")
        return None if makes or words[0] in (taken, made) else f"takes {taken or 'no object'} first"
    if taken == "program":
        return None if words[0] in VERBS else f"takes a program, and {words[0]} is no verb of programs"
    if taken in OBJECTS:
        return f"takes a {taken} first, so it is ambit_{taken}_..."
    return f"makes a {made}, so it is ambit_{made}_create..." if made in OBJECTS and "*" in result else None


def main():
    found = list(functions())
    bad = [f"{name}: {why}" for name, result, first in found if (why := fault(name, result, first))]
    print("\n".join([*bad, f"{len(found)} functions"]))
    return bool(bad) or len(found) < 100


sys.exit(main())
