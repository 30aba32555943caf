#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/options.md has a row for every option of src/runtime/objects/options.c, with its default,
its values and the time until which it can be set, and no other rows. docs/parallel.md, and the test
of them, list the options that all processes must have in common."""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW_OF_CODE = re.compile(r'\{\s*"([\w-]+)",\s*(TEXT|FLAG|COUNT|WORD|CHECKED),\s*(\w+),\s*(\w+),\s*AT\(\w+\),\s*"([^"]*)",'
                         r"\s*(-?\d+),\s*(-?\d+),\s*(\w+),\s*\w+\s*\}")
WORDS = re.compile(r"static const char \*const (\w+)\[\] = \{([^}]*), NULL\};")
TIMES = {"AT_OPEN": "in the environment or on the command line", "BEFORE_DEVICES": "before the first grid or scalar",
         "BEFORE_TRACE": "before the first run", "BEFORE_RUN": "not later than the first run"}
ROW_OF_TEXT = re.compile(r"^\| `([\w-]+)` \| ([^|]*) \| ([^|]*) \|", re.M)


def code():
    text = (ROOT / "src/runtime/objects/options.c").read_text()
    rows = re.search(r"static const row rows\[\] = \{(.*?)\n\};", text, re.S)
    if not rows:
        sys.exit("src/runtime/objects/options.c has no table called rows")
    table = re.sub(r"#ifdef AMBIT_ACCESS_CHECKS.*?#endif", "", rows[1], flags=re.S)  # of test builds, not for users
    words = {name: re.findall(r'"([^"]*)"', listed) for name, listed in WORDS.findall(text)}
    return {name: (kind, time, initial, least, most, words.get(listed, []), scope)
            for name, kind, time, scope, initial, least, most, listed in ROW_OF_CODE.findall(table)}


def time_faults(options, text):
    for time, words in TIMES.items():
        row = re.search(rf"^\| (.*) \| {words}", text, re.M)
        told = set(re.findall(r"`([\w-]+)`", row[1])) if row else set()
        for name in told ^ {name for name, row in options.items() if row[1] == time}:
            yield f"docs/options.md and the table differ in whether {name} is set {words}"


def scope_faults(options):
    shared = {name for name, row in options.items() if row[6] != "OWN"}
    places = {"docs/parallel.md": (r"must have in common: ([^.]*)\.", r"`([\w-]+)`"),
              "tests/runtime/faults/test_compare_processes.c": (r"/\* shared options: \*/(.*)/\* : \*/", r'\{"([\w-]+)"')}
    for path, (part, word) in places.items():
        found = re.search(part, (ROOT / path).read_text(), re.S)
        for name in shared ^ set(re.findall(word, found[1]) if found else []):
            yield f"{path} and the table differ in whether all processes must have {name} in common"


def faults(options, documented):
    for name in options.keys() - documented.keys():
        yield f"option {name} is not in docs/options.md"
    for name in documented.keys() - options.keys():
        yield f"docs/options.md tells of {name}, which is no option"
    for name in options.keys() & documented.keys():
        kind, _, initial, least, most, words, _ = options[name]
        values, default = documented[name]
        if not default.startswith(f"`{initial}`" if initial else "empty"):
            yield f"option {name}: the default is '{initial}', and docs/options.md says {default}"
        if kind == "FLAG" and values != "0 or 1":
            yield f"option {name} is 0 or 1, and docs/options.md says {values}"
        if kind == "COUNT" and values != f"{least} to {most}":
            yield f"option {name} is {least} to {most}, and docs/options.md says {values}"
        if kind == "WORD" and values != ", ".join(f"`{word}`" for word in words):
            yield f"option {name} is one of {words}, and docs/options.md says {values}"


def main():
    text = (ROOT / "docs/options.md").read_text()
    options, documented = code(), {name: row for name, *row in ROW_OF_TEXT.findall(text)}
    if len(options) < 5:
        sys.exit(f"only {len(options)} options were found in src/runtime/objects/options.c")
    found = sorted([*faults(options, documented), *time_faults(options, text), *scope_faults(options)])
    print("\n".join(found) or f"{len(options)} options, all told of")
    return len(found) != 0


sys.exit(main())
