#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The sources contain no unfinished code, and no file is too long."""
import re, sys

import project

WORDS = re.compile(r"\b(TODO|FIXME|XXX|HACK|for now)\b|^\s*#\s*if\s+0\b")
MOST_LINES = 800
LONGER = {"include/ambit.h": 1200}  # one file for users, whatever it is about


def faults(f):
    lines = f.read_text().splitlines()
    for n, line in enumerate(lines, 1):
        m = WORDS.search(line)
        if m:
            yield f"{n}: '{m[0].strip()}' marks something unfinished"
    most = LONGER.get(str(f.relative_to(project.ROOT)), MOST_LINES)
    if len(lines) > most:
        yield f"1: {len(lines)} lines; past {most} there are two subjects in one file"


found = [f"{f.relative_to(project.ROOT)}:{fault}" for f in project.files("include", "src", "tools")
         for fault in faults(f)]
print("\n".join(found))
sys.exit(len(found) != 0)
