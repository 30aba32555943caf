#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs a build into a folder of its own, moves that folder, and builds the first example against it
the way a user would: with find_package(Ambit) and with pkg-config. Both must run.

    test_install.py BUILD_FOLDER WORK_FOLDER cmake|pkgconfig CMAKE CC
"""
import os, pathlib, re, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/01_heat"
SMALL = ["--size", "64"]
SKIP = 77


def sh(*command, **options):
    print("$", *command, flush=True)
    return subprocess.run(list(map(str, command)), check=True, **options)


def install(build, work, cmake):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    sh(cmake, "--install", build, "--prefix", work / "first", stdout=subprocess.DEVNULL)
    (work / "first").rename(work / "prefix")
    return work / "prefix"


def only(folder, pattern):
    """The one file below the folder whose name matches; says so when there is none or more."""
    found = sorted(p for p in folder.rglob(pattern))
    if len(found) != 1:
        sys.exit(f"want one {pattern} below {folder}, found {len(found)}")
    return found[0]


def with_cmake(prefix, work, cmake, cc):
    sh(cmake, "-S", EXAMPLE, "-B", work / "example", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={cc}",
       "-DCMAKE_BUILD_TYPE=Release")
    cache = (work / "example/CMakeCache.txt").read_text()
    found = re.search(r"^Ambit_DIR:PATH=(.*)$", cache, re.M)
    if not found or not found[1].startswith(str(prefix)):
        sys.exit(f"find_package(Ambit) took {found and found[1]}, not the copy in {prefix}")
    sh(cmake, "--build", work / "example")
    return work / "example/heat"


def with_pkgconfig(prefix, work, cmake, cc):
    if not shutil.which("pkg-config"):
        print("skipped: pkg-config is not installed")
        sys.exit(SKIP)
    env = {**os.environ, "PKG_CONFIG_PATH": str(only(prefix, "ambit.pc").parent)}
    flags = sh("pkg-config", "--cflags", "--libs", "ambit", env=env, capture_output=True, text=True).stdout.split()
    sh(cc, "-O2", *sorted(EXAMPLE.glob("*.c")), "-o", work / "heat", *flags, "-lm")
    return work / "heat"


def main():
    build, work = map(pathlib.Path, sys.argv[1:3])
    way, cmake, cc = sys.argv[3:6]
    prefix = install(build, work, cmake)
    program = {"cmake": with_cmake, "pkgconfig": with_pkgconfig}[way](prefix, work, cmake, cc)
    libraries = {str(p.parent) for p in prefix.rglob("libambit.*")}
    env = {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}
    sh(program, *SMALL, cwd=work, env=env)
    sh(prefix / "bin/ambit", "--help", stdout=subprocess.DEVNULL)


main()
