#!/usr/bin/env python3
"""Every C file is laid out as .clang-format says. With --fix (make format), lays them out."""
import collections, subprocess, sys

import project

tool = project.clang_tool("clang-format")
sources = project.files(*project.CODE)
how = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
run = subprocess.run([tool, "--style=file", *how, *sources], capture_output=True, text=True)

places = collections.Counter(line.split(":")[0] for line in run.stderr.splitlines() if ": error: " in line)
for name, count in places.items():
    print(f"{name}: {count} places")
if run.returncode:
    print("run: make format" if places else run.stderr)
print(f"{len(sources)} files, {len(places)} laid out otherwise")
sys.exit(run.returncode or not sources)
