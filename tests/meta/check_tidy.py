#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""clang-tidy (see .clang-tidy) and clang's own warnings find nothing in src/ and tools/: in make check, in the files of the
last commit and every 24th one.

    check_tidy.py BUILD_FOLDER [NODES]

The folder holds compile_commands.json. Only with NODES is clang's analyzer used, which takes a third of the time with 4,000
nodes and most of it with more: it follows the branches of a function for so many (its default is 225,000).

Files that are compiled together (cmake/AmbitUnity.cmake) are checked one by one, as BUILD_FOLDER/tidy/compile_commands.json says.

A file without faults is not checked again until it, a header that it or one that is compiled with it includes, its compiler flags or
the set-up of clang-tidy change. Empty files in the user's cache folder remember that. The compiler listed the headers in
the build folder.
"""
import concurrent.futures, functools, hashlib, json, os, pathlib, re, shlex, subprocess, sys

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


@functools.cache
def rules_of_ninja(build):
    """Ninja keeps in a file of its own what the compiler listed: the files of each object."""
    said = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True).stdout
    return {rule.split(":", 1)[0]: rule.split("\n")[1:] for rule in said.split("\n\n")}


def headers_of(build, target):
    """The headers of an object, from the folder of the build; None if it was not compiled."""
    if (build / "build.ninja").exists():
        names = [line.strip() for line in rules_of_ninja(build).get(target, [])]
    else:
        rule = build / (target + ".d")
        names = rule.read_text().replace("\\\n", " ").split()[1:] if rule.exists() else []
    return [build / name for name in names if name.endswith(".h")] if names else None


def stamp_of(version, command):
    """The path that exists if this file was found clean; None if its headers are not known."""
    words = [w for w in shlex.split(command["command"]) if w not in ("-c", "ccache", command["file"])]
    at = words.index("-o")
    headers = headers_of(pathlib.Path(command["directory"]), words[at + 1])
    if headers is None:
        return None
    flags = words[:at] + words[at + 2:]
    key = hashlib.sha256(version)
    key.update(" ".join([*EXTRA, *flags]).replace(str(project.ROOT), "").encode())
    for path in [project.ROOT / ".clang-tidy", pathlib.Path(command["file"]), *headers]:
        if not path.exists():
            return None
        key.update(contents(path))
    return CLEAN / key.hexdigest()


def one_by_one(commands):
    """The commands, with one for each file of those that are compiled together. -Wno-shadow is for names of the others."""
    for c in commands:
        path = pathlib.Path(c["directory"], c["file"])
        together = re.findall(r'^#include "(.*)"', path.read_text(), re.M) if path.parent.name == "Unity" else []
        for file in together or [str(path)]:
            yield {**c, "file": file, "command": c["command"].replace(c["file"], file).replace(" -Wno-shadow", "")}


def main():
    build = pathlib.Path(sys.argv[1])
    tool = project.clang_tool("clang-tidy")
    commands = list(one_by_one(json.loads((build / "compile_commands.json").read_text())))
    built = {pathlib.Path(c["file"]): c for c in commands}
    (build / "tidy").mkdir(exist_ok=True)
    (build / "tidy/compile_commands.json").write_text(json.dumps(commands))
    sources = project.sample([f for f in project.files("src", "tools", ext="c") if f in built], 24)
    CLEAN.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([tool, "--version"], capture_output=True).stdout

    def check(files):
        stamps = {f: stamp_of(version, built[f]) for f in files}
        unknown = [f for f in files if not (stamps[f] and stamps[f].exists())]
        if not unknown:
            return 0, ""
        run = subprocess.run([tool, "--quiet", *EXTRA, "-p", build / "tidy", *unknown], capture_output=True, text=True)
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
