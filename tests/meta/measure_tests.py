#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the tests and measures what they cover, for docs/testing.md, and the processor time that each takes.

    measure_tests.py counts BUILD            the tests that ctest has in this build, as a table
    measure_tests.py coverage BUILD          lines and branches that ran in a build of the preset coverage
    measure_tests.py check BUILD             the numbers in docs/testing.md are still about right
    measure_tests.py times BUILD [OPTION...] CPU seconds of each test, as it ends; options of ctest choose: -R, -LE

The first two print a table in Markdown. With --write they put it into docs/testing.md, with today's date.
"""
import collections, concurrent.futures, datetime, json, os, pathlib, re, shutil, subprocess, sys

import project, run_tests

PAGE = project.ROOT / "docs/testing.md"
NEAR = 0.25  # by so much may a number of the page be off


def ctest(build, *options):
    out = subprocess.run(["ctest", "--show-only=json-v1", *options], cwd=build, check=True, capture_output=True, text=True)
    return json.loads(out.stdout)["tests"]


def labels(test):
    return next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])


def kind(test):
    """The layer or folder of a test: the label that says nothing about how it runs."""
    return next((label for label in labels(test) if label not in ("mpi", "slow", "spare", "sanitized", "release", "long", "threads")), "other")


def place(words):
    return "long" if "long" in words else "sanitized" if "spare" in words else "release"


def cases(folder):
    """Named cases of test programs: the lines of their tables."""
    return sum(len(re.findall(r'{"(\w+)",\s+\1}', f.read_text())) for f in project.files(f"tests/{folder}", ext="c"))


def lines(*folders, ext):
    return sum(f.read_text().count("\n") for f in project.files(*folders, ext=ext))


def counts(build):
    """By the labels of the release build: what it leaves to the sanitized one, and to make check-long. That has all tests, in both."""
    tests = ctest(build, "-C", "long")
    places = [[t for t in tests if place(labels(t)) == p] for p in ("release", "sanitized", "long")]
    counters = [collections.Counter(map(kind, p)) for p in places]
    rows = [(f"`{k}`", *(c[k] for c in counters), cases(k) or "") for k in sorted(counters[0] | counters[1])]
    rows.append(("all", *map(len, places), sum(r[-1] or 0 for r in rows)))
    yield "| label | tests of `make check` in the release build | in the sanitized build | in `make check-long` alone | named cases in C |"
    yield "|---|--:|--:|--:|--:|"
    yield from ("| " + " | ".join(map(str, row)) + " |" for row in rows)
    yield ""
    yield (f"{sum('mpi' in labels(t) for p in places[:2] for t in p)} of those of `make check` run several processes under MPI. The library has "
           f"{lines('src', 'include', ext='ch'):,} lines of C, its tool {lines('tools', ext='ch'):,}, the tests "
           f"{lines('tests', ext='ch'):,} of C and {lines_of_python():,} of Python, and "
           f"{len(list((project.ROOT / 'tests/error').glob('*.c')))} kernels that must be refused.")


def lines_of_python():
    return sum(f.read_text().count("\n") for f in (project.ROOT / "tests").rglob("*.py"))


def gcovr(build):
    tool = shutil.which("gcovr") or project.skip("gcovr is not installed")
    out = build / "coverage.json"
    subprocess.run([tool, "-r", project.ROOT, "--filter", "src/", "--filter", "tools/", "--gcov-ignore-parse-errors",
                    "--json-summary", out, "--html-details", build / "coverage.html", "-j", "2", build], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(out.read_text())["files"]


def layer(path):
    parts = pathlib.PurePath(path).parts
    return "/".join(parts[:2]) if parts[0] == "src" or parts[1:2] == ("port",) else parts[0]


def coverage(build):
    sums = collections.defaultdict(collections.Counter)
    for f in gcovr(build):
        for name in (layer(f["filename"]), "all"):
            sums[name].update({k: f[k] for k in ("line_total", "line_covered", "branch_total", "branch_covered")})
    yield "| | lines | of them run | branches | of them taken |"
    yield "|---|--:|--:|--:|--:|"
    for name in sorted(sums, key=lambda n: (n == "all", n)):
        s = sums[name]
        yield (f"| `{name}` | {s['line_total']:,} | {100 * s['line_covered'] / s['line_total']:.1f} % | "
               f"{s['branch_total']:,} | {100 * s['branch_covered'] / max(1, s['branch_total']):.1f} % |")


def write(what, table):
    """Replaces the text between <!-- what --> and <!-- end --> of the page."""
    text = PAGE.read_text()
    today = datetime.date.today()
    block = f"<!-- {what} -->\nOn {today.day} {today:%B %Y}, {os.uname().machine}:\n\n{table}\n<!-- end -->"
    changed, n = re.subn(rf"<!-- {what} -->.*?<!-- end -->", lambda _: block, text, flags=re.S)
    if n != 1:
        sys.exit(f"docs/testing.md has {n} blocks <!-- {what} -->; it should have one")
    PAGE.write_text(changed)


def check(build):
    """Every label is on the page, with a count that is not far off. Builds differ in their parts: MPI, libclang."""
    def numbers(text):
        rows = re.findall(r"^\| `?(\w+)`? \| (\d+) \| (\d+) \| \d+ \|", text, re.M)
        return {(name, p): int(n) for name, *both in rows for p, n in zip(("release", "sanitized"), both)}

    told = numbers(PAGE.read_text())
    is_whole = bool(ctest(build, "-R", r"^net\.messages")) and bool(ctest(build, "-R", r"^port\.random"))
    if not is_whole:
        project.skip("a build without MPI or libclang has fewer tests")
    found = numbers("\n".join(counts(build)))
    bad = [f"{' '.join(k)}: the page says {told.get(k, 'nothing')}, ctest has {n}" for k, n in found.items()
           if abs(told.get(k, 0) - n) > max(5, NEAR * n)]
    print("\n".join(bad) or f"{found['all', 'release']} and {found['all', 'sanitized']} tests, as docs/testing.md says")
    if bad:
        print("mend it: python3 tests/meta/measure_tests.py counts --write", build)
    return bool(bad)


def timed(test):
    """Runs a test as ctest does. CPU seconds of it and all processes that it waited for, its exit status and name."""
    has = {p["name"]: p["value"] for p in test.get("properties", [])}
    env = {**os.environ, **dict(e.split("=", 1) for e in has.get("ENVIRONMENT", []))}
    child = subprocess.Popen(test["command"], cwd=has["WORKING_DIRECTORY"], env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, child.returncode, test["name"]


def times(build, options):
    """Two tests at once, the dearest first, as ctest starts them: those that come later find kernels in the cache."""
    run_tests.heed_interrupts()
    tests = ctest(build, *options)
    cost = {t["name"]: next((float(p["value"]) for p in t.get("properties", []) if p["name"] == "COST"), 0) for t in tests}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        total = 0
        for job in concurrent.futures.as_completed([pool.submit(timed, t) for t in sorted(tests, key=lambda t: -cost[t["name"]])]):
            seconds, status, name = job.result()
            total += seconds
            print(f"{seconds:8.2f} s  {name}{f' (exit {status})' if status else ''}", flush=True)
    print(f"{total:8.2f} s  {len(tests)} tests")
    return 0


def main():
    if sys.argv[1:2] == ["times"] and len(sys.argv) > 2:
        return times(pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:])
    words = [w for w in sys.argv[1:] if w != "--write"]
    if len(words) != 2 or words[0] not in ("counts", "coverage", "check"):
        sys.exit(__doc__)
    what, build = words[0], pathlib.Path(words[1]).resolve()
    if what == "check":
        return check(build)
    table = "\n".join({"counts": counts, "coverage": coverage}[what](build))
    print(table)
    if "--write" in sys.argv:
        write(what, table)
    return 0


sys.exit(main())
