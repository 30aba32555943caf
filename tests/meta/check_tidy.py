#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""clang-tidy (see .clang-tidy) and clang's own warnings find nothing in src/ and tools/.

    check_tidy.py BUILD_FOLDER [NODES]

The folder holds compile_commands.json. Only with NODES is clang's analyzer used, which takes a third of the time with 4,000
nodes and most of it with more: it follows the branches of a function for so many (its default is 225,000).

A file without faults is not checked again until it, a header that it includes, its compiler flags or the set-up
of clang-tidy change. Empty files in the user's cache folder remember that. The compiler listed the headers in
the build folder.
"""
import concurrent.futures, functools, hashlib, json, os, pathlib, shlex, subprocess, sys

import project

WORDS = ["-UNDEBUG"]  # with assertions in every build, since the analyzer uses them
CHECKS = []
if len(sys.argv) > 2:
    WORDS += ["-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={sys.argv[2]}"]
else:
    CHECKS = ["--checks=-clang-analyzer-*"]
AT_ONCE = 8  # files per process: starting clang-tidy takes as long as reading a file
EXTRA = [*CHECKS, *(f"--extra-arg={word}" for word in WORDS)]


CLEAN = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ambit-tidy"


@functools.cache
def contents(path):
    return hashlib.sha256(path.read_bytes()).digest()


def stamp_of(version, command):
    """The path that exists if this file was found clean; None if its headers are not known, as it was not compiled."""
    words = [w for w in shlex.split(command["command"]) if w not in ("-c", "ccache")]
    at = words.index("-o")
    folder = pathlib.Path(command["directory"])
    rule = folder / (words[at + 1] + ".d")
    if not rule.exists():
        return None
    flags = words[:at] + words[at + 2:]
    key = hashlib.sha256(version)
    key.update(" ".join([*EXTRA, *flags]).replace(str(project.ROOT), "").encode())
    headers = rule.read_text().replace("\\\n", " ").split()[1:]
    for path in [project.ROOT / ".clang-tidy", *(folder / name for name in headers)]:
        if not path.exists():
            return None
        key.update(contents(path))
    return CLEAN / key.hexdigest()


def main():
    build = pathlib.Path(sys.argv[1])
    tool = project.clang_tool("clang-tidy")
    built = {pathlib.Path(c["directory"], c["file"]): c
             for c in json.loads((build / "compile_commands.json").read_text())}
    sources = [f for f in project.files("src", "tools", ext="c") if f in built]
    CLEAN.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([tool, "--version"], capture_output=True).stdout

    def check(files):
        stamps = {f: stamp_of(version, built[f]) for f in files}
        unknown = [f for f in files if not (stamps[f] and stamps[f].exists())]
        if not unknown:
            return 0, ""
        run = subprocess.run([tool, "--quiet", *EXTRA, "-p", build, *unknown], capture_output=True, text=True)
        if not run.returncode and not run.stdout.strip():
            for stamp in filter(None, map(stamps.get, unknown)):
                stamp.touch()
        return run.returncode, run.stdout

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for code, out in pool.map(check, (sources[i:i + AT_ONCE] for i in range(0, len(sources), AT_ONCE))):
            bad += code != 0
            print(out, end="")
    print(f"{len(sources)} files, faults in {bad} of {-(-len(sources) // AT_ONCE)} groups")
    return bad != 0 or not sources


sys.exit(main())
