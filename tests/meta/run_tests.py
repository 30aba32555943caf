#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs ctest on one or more test presets, then prints failures, skipped tests with the reason, and the
counts over all of them. Fails when a test failed or none passed.

    run_tests.py [--jobs N] PRESET...

A test can pass and still have skipped some of its cases: it prints `ok 3 - name # SKIP why` for each.
These are listed and counted separately, once per preset and reason for any number of processes.
"""
import argparse, collections, re, signal, subprocess, sys

import project

START = re.compile(r"^\s*Start +(\d+): +(\S+)")
LINE = re.compile(r"^\s*\d+/\d+ +Test +#(\d+): +(\S+) [. ]*(?:\*{3})?(.*?)\s+\d+\.\d+ sec")
OUTPUT = re.compile(r"^(\d+): ?(.*)$")
SKIPPED_CASE = re.compile(r"^ok\b[ \d]*- (.*?) # SKIP (.*)$")
PASSED, FAILED, SKIPPED, CASES = "passed", "failed", "skipped", "cases skipped"


def verdict(word):
    """Translates the result of ctest for a test. A test that could not be started has failed."""
    if word == "Passed":
        return PASSED
    return SKIPPED if word in ("Skipped", "Not Run (Disabled)") else FAILED


class Reader:
    """Reads the lines of `ctest -V`: shows progress, and the output of failed tests."""

    def __init__(self, preset, results, show=sys.stdout.write):
        self.preset, self.results, self.show = preset, results, show
        self.names, self.said, self.seen = {}, collections.defaultdict(list), 0

    def take(self, line):
        start, end, output = START.match(line), LINE.match(line), OUTPUT.match(line)
        if start:
            self.names[start[1]] = start[2]
        elif end:
            self.show(line)
            self.finish(end)
        elif output and output[1] in self.names:
            self.said[output[1]].append(output[2])

    def finish(self, end):
        number, name, kind = end[1], f"{self.preset}: {end[2]}", verdict(end[3])
        said = self.said.pop(number, [])
        self.seen += 1
        if kind == SKIPPED:
            why = [line for line in said if "skipped" in line.lower()]
            name += f" ({why[-1].lstrip('# ')})" if why else ""
        self.results[kind].append(name)
        if kind == FAILED:
            self.show("".join(f"    {line}\n" for line in said))
        for m in filter(None, map(SKIPPED_CASE.match, said)):
            case = f"{self.preset}: {end[2]}: {m[1]} ({m[2]})"
            if kind == PASSED and case not in self.results[CASES]:
                self.results[CASES].append(case)


def run(preset, jobs, results):
    print(f"\n==== ctest --preset {preset}", flush=True)
    reader = Reader(preset, results)
    ctest = subprocess.Popen(["ctest", "--preset", preset, "-j", str(jobs), "-V"], cwd=project.ROOT, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             errors="replace")
    for line in ctest.stdout:
        reader.take(line)
        sys.stdout.flush()
    if ctest.wait() and not results[FAILED]:
        results[FAILED].append(f"{preset}: ctest itself")
    if not reader.seen:
        results[FAILED].append(f"{preset}: no test was run")


def summary(results):
    """Prints the names of all tests that did not pass, then the counts."""
    lines = [f"{kind}  {name}" for kind in (SKIPPED, CASES, FAILED) for name in results[kind]]
    return lines + [", ".join(f"{len(results[kind])} {kind}" for kind in (PASSED, FAILED, SKIPPED, CASES))]


def heed_interrupts():
    """Shells start jobs in the background with SIGINT ignored, and all tests would inherit that: some send it to programs."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def main():
    heed_interrupts()
    args = argparse.ArgumentParser()
    args.add_argument("--jobs", type=int, default=2)
    args.add_argument("presets", nargs="+")
    args = args.parse_args()
    results = collections.defaultdict(list)
    for preset in args.presets:
        run(preset, args.jobs, results)
    print("\n" + "\n".join(summary(results)))
    return bool(results[FAILED]) or not results[PASSED]


if __name__ == "__main__":
    sys.exit(main())
