#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs a build into a folder of its own, moves that folder, and builds the first example against it
the way a user would: with find_package(Ambit) and with pkg-config, with the shared and with the static library. All
must run, and the components together install the same files as all at once.

    test_install.py BUILD_FOLDER WORK_FOLDER cmake|cmake_static|pkgconfig|pkgconfig_static|components CMAKE CC [MPIRUN]
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


def has_static(prefix):
    if not list(prefix.rglob("libambit.a")):
        print("skipped: this build has no static library (AMBIT_STATIC is OFF)")
        sys.exit(SKIP)


def with_cmake_static(prefix, work, cmake, cc):
    """The example's project, but for the target that it links."""
    has_static(prefix)
    source = work / "source"
    shutil.copytree(EXAMPLE, source)
    text = (source / "CMakeLists.txt").read_text()
    changed = re.sub(r"find_package\(Ambit[^)]*\)", "find_package(Ambit REQUIRED COMPONENTS static)", text)
    changed = changed.replace("Ambit::ambit", "Ambit::ambit_static")
    if changed.count("static") != 3:
        sys.exit(f"the example's CMakeLists.txt has another form:\n{text}")
    (source / "CMakeLists.txt").write_text(changed)
    return with_cmake(prefix, work, cmake, cc, source)


def with_cmake(prefix, work, cmake, cc, source=EXAMPLE):
    sh(cmake, "-S", source, "-B", work / "example", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={cc}",
       "-DCMAKE_BUILD_TYPE=Release")
    cache = (work / "example/CMakeCache.txt").read_text()
    found = re.search(r"^Ambit_DIR:PATH=(.*)$", cache, re.M)
    if not found or not found[1].startswith(str(prefix)):
        sys.exit(f"find_package(Ambit) took {found and found[1]}, not the copy in {prefix}")
    sh(cmake, "--build", work / "example")
    return work / "example/heat"


def with_pkgconfig_static(prefix, work, cmake, cc):
    has_static(prefix)
    return with_pkgconfig(prefix, work, cmake, cc, "--static")


def with_pkgconfig(prefix, work, cmake, cc, *static):
    if not shutil.which("pkg-config"):
        print("skipped: pkg-config is not installed")
        sys.exit(SKIP)
    env = {**os.environ, "PKG_CONFIG_PATH": str(only(prefix, "ambit.pc").parent)}
    flags = sh("pkg-config", *static, "--cflags", "--libs", "ambit", env=env, capture_output=True, text=True).stdout.split()
    if static:  # this library alone: others may have no archive here
        flags = ["-l:libambit.a" if f == "-lambit" else f for f in flags]
    sh(cc, "-O2", *sorted(EXAMPLE.glob("*.c")), "-o", work / "heat", *flags, "-lm")
    return work / "heat"


def names(folder):
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir()}


def check_components(prefix, work, cmake, build):
    """Every file belongs to one component, and each has the files that its users look for."""
    wanted = {"runtime": r"lib.*/libambit\.so\.\d+$", "dev": r"include/ambit\.h$", "tools": r"share/man/man1/ambit-run\.1$",
              "doc": r"examples/01_heat/heat\.c$"}
    seen = {}
    for component, pattern in wanted.items():
        folder = work / component
        sh(cmake, "--install", build, "--prefix", folder, "--component", component, stdout=subprocess.DEVNULL)
        for name in names(folder):
            if name in seen:
                sys.exit(f"{name} is in {seen[name]} and in {component}")
            seen[name] = component
        if not any(re.search(pattern, name) for name in names(folder)):
            sys.exit(f"component {component} has no {pattern}")
    if set(seen) != names(prefix):
        sys.exit(f"in no component: {sorted(names(prefix) - set(seen))}")
    print(f"{len(seen)} files in {len(wanted)} components")


def main():
    build, work = map(pathlib.Path, sys.argv[1:3])
    way, cmake, cc, *mpirun = sys.argv[3:]
    prefix = install(build, work, cmake)
    if way == "components":
        return check_components(prefix, work, cmake, build)
    ways = {"cmake": with_cmake, "cmake_static": with_cmake_static, "pkgconfig": with_pkgconfig,
            "pkgconfig_static": with_pkgconfig_static}
    program = ways[way](prefix, work, cmake, cc)
    libraries = {str(p.parent) for p in prefix.rglob("libambit.so*")}
    if way.endswith("_static"):  # it must do without the shared one
        for library in prefix.rglob("libambit.so*"):
            library.unlink()
    env = {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}
    sh(program, *SMALL, cwd=work, env=env)
    if mpirun and not way.endswith("_static"):  # whose programs find modules at the prefix of the build alone
        for command in ([program, *SMALL], [prefix / "bin/ambit", "run", "2d4", "--size", "64x64"]):
            sh(*mpirun, "-n", "2", *command, "--ambit-mpi=on", cwd=work, env=env)
    sh(prefix / "bin/ambit", "--help", stdout=subprocess.DEVNULL)


main()
