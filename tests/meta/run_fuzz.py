#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds a fuzz target with clang's libFuzzer and sanitizers and runs it for a fixed number of inputs over
its corpus. Findings are left in the work folder and listed.

    run_fuzz.py FOLDER NAME WORK RUNS SECONDS SOURCES...

The target is FOLDER/fuzz_NAME.c, its dictionary FOLDER/NAME.dict, its corpus FOLDER/corpus/NAME. Copies the
corpus, so that new inputs do not land in the source tree. To fuzz for longer, run the program in WORK:   WORK/fuzz WORK/corpus
"""
import os, pathlib, shutil, subprocess, sys

import project

FLAGS = "-std=c11 -D_POSIX_C_SOURCE=200809L -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all".split()
SANITIZERS = "-fsanitize=fuzzer,address,undefined"
PROBE = "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n > 99; }\n"


def build(clang, work, sources):
    flags = [*FLAGS, SANITIZERS, "-I", project.ROOT / "include", "-I", project.ROOT / "src"]
    return subprocess.run([clang, *flags, *sources, "-o", work / "fuzz", "-lm", "-ldl", "-lpthread"])


def main():
    folder, name, work = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    runs, seconds, sources = sys.argv[4], sys.argv[5], sys.argv[6:]
    clang = shutil.which("clang")
    if not clang:
        project.skip("clang is not installed; the corpus is still replayed by the test beside this one")
    work.mkdir(parents=True, exist_ok=True)
    probe = subprocess.run([clang, SANITIZERS, "-x", "c", "-", "-o", work / "probe"], input=PROBE, text=True,
                           capture_output=True)
    if probe.returncode:
        project.skip("this clang has no libFuzzer; the corpus is still replayed by the test beside this one")

    if build(clang, work, [folder / f"fuzz_{name}.c", *sources]).returncode:
        return 1
    shutil.rmtree(work / "corpus", ignore_errors=True)
    shutil.copytree(folder / "corpus" / name, work / "corpus")
    return subprocess.run(
        [work / "fuzz", f"-runs={runs}", f"-max_total_time={seconds}", "-seed=1", "-timeout=5", "-rss_limit_mb=2048",
         f"-dict={folder / name}.dict", "-print_final_stats=1", f"-artifact_prefix={work}/", work / "corpus"],
        env={**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1"}).returncode


sys.exit(main())
