#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""clang-tidy (see .clang-tidy) and clang's own warnings find nothing in src/ and tools/.

    check_tidy.py BUILD_FOLDER     which holds compile_commands.json
"""
import concurrent.futures, json, os, pathlib, subprocess, sys

import project

# With assertions in every build, since the analyzer uses them. With its default bound of 225,000 nodes per
# function, a few functions with many branches take two thirds of the time.
EXTRA = [f"--extra-arg={word}" for word in ("-UNDEBUG", "-Xclang", "-analyzer-config", "-Xclang", "max-nodes=15000")]


def main():
    build = pathlib.Path(sys.argv[1])
    tool = project.clang_tool("clang-tidy")
    built = {pathlib.Path(c["directory"], c["file"])
             for c in json.loads((build / "compile_commands.json").read_text())}
    sources = [f for f in project.files("src", "tools", ext="c") if f in built]

    def check(f):
        run = subprocess.run([tool, "--quiet", *EXTRA, "-p", build, f],
                             capture_output=True, text=True)
        return run.returncode, run.stdout

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for code, out in pool.map(check, sources):
            bad += code != 0
            print(out, end="")
    print(f"{len(sources)} files, {bad} with faults")
    return bad != 0 or not sources


sys.exit(main())
