#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every C file is formatted according to .clang-format. With --fix (make format), formats them. With --sample, as in make check,
looks at those of the last commit and every ninth one."""
import collections, subprocess, sys

import project

tool = project.clang_tool("clang-format")
sources = project.files(*project.CODE)
if "--sample" in sys.argv[1:]:
    sources = project.sample(sources, 9)
how = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
run = subprocess.run([tool, "--style=file", *how, *sources], capture_output=True, text=True)

places = collections.Counter(line.split(":")[0] for line in run.stderr.splitlines() if ": error: " in line)
for name, count in places.items():
    print(f"{name}: {count} places")
if run.returncode:
    print("run: make format" if places else run.stderr)
print(f"{len(sources)} files, {len(places)} formatted differently")
sys.exit(run.returncode or not sources)
