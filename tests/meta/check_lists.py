#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every source, test and example is named in a CMakeLists.txt: a forgotten file would
be neither built nor run."""
import re, sys

import project


def named(path):
    """The words of a CMakeLists.txt, without comments."""
    text = re.sub(r"#.*", "", (project.ROOT / path).read_text())
    return set(re.split(r"[\s()]+", text))


def missing():
    words = named("CMakeLists.txt")
    for f in project.files("src", "tools", ext="c"):
        name = f.relative_to(project.ROOT).as_posix()
        if name not in words:
            yield name, "CMakeLists.txt"
    words = named("tests/CMakeLists.txt").union(*map(named, (project.ROOT / "tests").rglob("*.cmake")))
    for f in project.files("tests", ext="c"):
        name = f.relative_to(project.ROOT / "tests").as_posix()
        test = re.sub(r"(^|/)test_(\w+)\.c$", r"\1\2", name)  # grid/test_box.c is grid/box there
        if test != name and test not in words:
            yield "tests/" + name, "tests/CMakeLists.txt or a file that it includes"
    words = named("examples/CMakeLists.txt")
    for f in (project.ROOT / "examples").glob("*/CMakeLists.txt"):
        if f.parent.name not in words:
            yield f"examples/{f.parent.name}", "examples/CMakeLists.txt"


found = [f"{name} is not named in {where}" for name, where in missing()]
print("\n".join(found))
sys.exit(len(found) != 0)
