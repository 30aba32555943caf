#!/usr/bin/env python3
"""Runs ctest on one or more test presets, then prints what failed, what was skipped and why, and the
counts over all of them. Fails when a test failed or none passed.

    run_tests.py [--jobs N] PRESET...
"""
import argparse, collections, re, subprocess, sys

import project

LINE = re.compile(r"^\s*\d+/\d+ +Test +#\d+: +(\S+) [. ]*(?:\*{3})?(.*?)\s+\d+\.\d+ sec")
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def verdict(word):
    """ctest's word for a test as one of ours. A test that could not be started has failed."""
    if word == "Passed":
        return PASSED
    return SKIPPED if word in ("Skipped", "Not Run (Disabled)") else FAILED


def run(preset, jobs, results):
    print(f"\n==== ctest --preset {preset}", flush=True)
    seen = 0
    ctest = subprocess.Popen(["ctest", "--preset", preset, "-j", str(jobs)], cwd=project.ROOT, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for line in ctest.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        m = LINE.match(line)
        if m:
            results[verdict(m[2])].append(f"{preset}: {m[1]}")
            seen += 1
    if ctest.wait() and not results[FAILED]:
        results[FAILED].append(f"{preset}: ctest itself")
    if not seen:
        results[FAILED].append(f"{preset}: no test was run")


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--jobs", type=int, default=2)
    args.add_argument("presets", nargs="+")
    args = args.parse_args()
    results = collections.defaultdict(list)
    for preset in args.presets:
        run(preset, args.jobs, results)
    print()
    for kind in (SKIPPED, FAILED):
        for name in results[kind]:
            print(f"{kind}  {name}")
    print(", ".join(f"{len(results[kind])} {kind}" for kind in (PASSED, FAILED, SKIPPED)))
    return bool(results[FAILED]) or not results[PASSED]


sys.exit(main())
