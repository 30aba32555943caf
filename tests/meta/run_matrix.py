#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds Ambit without each of its optional parts, with warnings as errors and each file by itself, and runs the tests of each build.

    run_matrix.py [--list] [--jobs N] [--tests REGEX] [--targets "..."] [VARIANT...]

VARIANTS is the one list of builds; the workflow of the forge has a job for each (tests/meta/check_release.py compares
them). Each build is in build/matrix/VARIANT, made with Ninja and ccache where they are installed. Without --tests those tests run
that the part concerns, but none labelled slow, long, meta, install or examples; `--tests none` runs none, `--tests .` all others.
"""
import argparse, os, shutil, subprocess, sys

import project

FILES = r"^(io|tool|view|python)\.|runtime\.(checkpoint|options|points|profiles|sparse_files)"
# options of CMake, and the tests that the part concerns
VARIANTS = {
    "no-mpi": (["-DAMBIT_MPI=OFF"], r"^(net|io|tool|view|skeleton)\.|runtime\.(context|options|threads)"),
    "no-hdf5": (["-DAMBIT_HDF5=OFF"], FILES),
    "no-png": (["-DAMBIT_PNG=OFF"], FILES + r"|^skeleton\.|fuzz\.y4m"),
    "no-tiff": (["-DAMBIT_TIFF=OFF"], r"^(io|tool)\.|fuzz\.raster"),
    "no-port": (["-DAMBIT_LIBCLANG=OFF"], r"^(port|tool)\."),
    "core": ([f"-DAMBIT_{part}=OFF" for part in "STREAMS ELEVATION LIBCLANG".split()], FILES + r"|^(skeleton|port)\."),
    "static": (["-DBUILD_SHARED_LIBS=OFF"], r"^(base|io|net|tool|skeleton)\.|runtime\.(module|register|context)"),
    "none": ([f"-DAMBIT_{part}=OFF" for part in "MPI HDF5 PNG TIFF LIBCLANG STREAMS ELEVATION".split()], "."),
    "clang": (["-DCMAKE_C_COMPILER=clang"], "."),
}


def sh(*command, **options):
    print("$", *command, flush=True)
    return subprocess.run(list(map(str, command)), cwd=project.ROOT, **options).returncode == 0


def build_and_test(variant, args):
    folder = project.ROOT / "build/matrix" / variant
    targets = ["--target", *args.targets.split()] if args.targets else []
    options, concerned = VARIANTS[variant]
    if shutil.which("ninja") and not (folder / "CMakeCache.txt").exists():
        options = [*options, "-G", "Ninja"]
    if shutil.which("ccache"):  # which knows the files of one build again in the next, where only a definition differs
        options = [*options, "-DCMAKE_C_COMPILER_LAUNCHER=ccache"]
        os.environ.update(CCACHE_BASEDIR=str(folder), CCACHE_NOHASHDIR="1")
    if not sh("cmake", "-S", project.ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DAMBIT_WERROR=ON", "-DAMBIT_UNITY=OFF",
              f"-DAMBIT_TEST_CACHE={project.ROOT}/build/cache", *options, stdout=subprocess.DEVNULL):
        return "not configured"
    if not sh("cmake", "--build", folder, "-j", args.jobs, *targets, stdout=subprocess.DEVNULL):
        return "not built"
    if args.tests == "none":
        return "built"
    tests = sh("ctest", "--test-dir", folder, "-j", args.jobs, "-LE", "slow|long|meta|install|examples",
               "-R", args.tests or concerned, "--no-tests=error", "--output-on-failure", "--progress")
    return "passed" if tests else "failed"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--list", action="store_true")
    args.add_argument("--jobs", type=int, default=2)
    args.add_argument("--tests")
    args.add_argument("--targets")
    args.add_argument("variants", nargs="*")
    args = args.parse_args()
    unknown = set(args.variants) - set(VARIANTS)
    if unknown:
        sys.exit(f"no variant {', '.join(sorted(unknown))}; there are {', '.join(VARIANTS)}")
    if args.list:
        print("\n".join(VARIANTS))
        return 0
    results = {v: build_and_test(v, args) for v in args.variants or VARIANTS}
    print("\n".join(f"{result:15} {variant}" for variant, result in results.items()))
    return any(r.startswith(("not", "failed")) for r in results.values())


if __name__ == "__main__":
    sys.exit(main())
