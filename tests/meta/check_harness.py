#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Skipped is not passed: tests/support/test.h says so for each case, and run_tests.py counts and names them."""
import collections, os, pathlib, shutil, signal, subprocess, sys, tempfile

import project, run_tests

PROGRAM = """
#include "support/test.h"
static void passes(void) { CHECK(1); }
static void skips(void) { SKIP("there is no %s", "moon"); }
static void fails(void) { CHECK(0); }
static void fails_and_skips(void) { CHECK(0); SKIP("too late"); }
int main(int argc, char **argv)
{
  static const test_case tests[] = {{"passes", passes}, {"skips", skips}, {"fails", fails},
                                    {"fails_and_skips", fails_and_skips}, {NULL, NULL}};
  return test_main(argc, argv, tests);
}
"""
CTEST = """\
test 1
      Start  1: base.one
test 2
      Start  2: net.two
1: Test command: /x/test_one
2: ok 1 - sends # SKIP alone
1: ok 1 - adds
1: ok 2 - rounds # SKIP no comma
1/4 Test  #1: base.one .......................   Passed    0.01 sec
2: ok 1 - sends # SKIP alone
2: ok 2 - waits
2/4 Test  #2: net.two ........................   Passed    0.02 sec
test 3
      Start  3: gpu.three
3: # skipped: there is no GPU
3/4 Test  #3: gpu.three ......................***Skipped   0.00 sec
test 4
      Start  4: base.four
4: ok 1 - first # SKIP no reason
4: not ok 2 - second
4/4 Test  #4: base.four ......................***Failed    0.00 sec
"""


def compile_program(folder):
    cc = os.environ.get("CC", "cc").split()
    if not shutil.which(cc[0]):
        project.skip("there is no C compiler")
    source, program = folder / "a.c", folder / "a"
    source.write_text(PROGRAM)
    subprocess.run([*cc, "-std=c11", "-D_XOPEN_SOURCE=700", "-I", project.ROOT / "tests", source, "-o", program], check=True)
    return program


def check(what, got, want):
    if got == want:
        return True
    print(f"{what}: want {want!r}, got {got!r}")
    return False


def check_program(program):
    def run(*case):
        done = subprocess.run([program, *case], capture_output=True, text=True)
        return done.returncode, [line for line in done.stdout.splitlines() if "ok " in line]

    return [check("one that passes", run("passes"), (0, ["ok 1 - passes"])),
            check("one that skips", run("skips"), (77, ["ok 1 - skips # SKIP there is no moon"])),
            check("one that fails", run("fails"), (1, ["not ok 1 - fails"])),
            check("one that does both", run("fails_and_skips"), (1, ["not ok 1 - fails_and_skips"])),
            check("one that is not there", run("missing")[0], 1)]


def check_reader():
    results, shown = collections.defaultdict(list), []
    reader = run_tests.Reader("dev", results, shown.append)
    for line in CTEST.splitlines(keepends=True):
        reader.take(line)
    return [check("summary", run_tests.summary(results),
                  ["skipped  dev: gpu.three (skipped: there is no GPU)",
                   "cases skipped  dev: base.one: rounds (no comma)", "cases skipped  dev: net.two: sends (alone)",
                   "failed  dev: base.four", "2 passed, 1 failed, 1 skipped, 2 cases skipped"]),
            check("output of the failed one", "".join(shown).count("    not ok 2 - second\n"), 1),
            check("output of the others", "adds" in "".join(shown), False)]


def check_interrupts():
    """Tests that are run in the background see SIGINT."""
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    run_tests.heed_interrupts()
    child = subprocess.run([sys.executable, "-c", "import signal; print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)"],
                           capture_output=True, text=True)
    signal.signal(signal.SIGINT, old)
    return [check("a test may be interrupted", child.stdout, "False\n")]


def main():
    with tempfile.TemporaryDirectory() as name:
        good = check_program(compile_program(pathlib.Path(name))) + check_reader() + check_interrupts()
    print(f"{len(good)} checks, {good.count(False)} failed")
    return not all(good)


sys.exit(main())
