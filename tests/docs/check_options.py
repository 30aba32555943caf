#!/usr/bin/env python3
"""docs/options.md has a row for every option of src/runtime/objects/options.c, with its default, and no other."""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW_OF_CODE = re.compile(r'\{\s*"(\w+)",\s*(TEXT|FLAG|COUNT),\s*AT\(\w+\),\s*"([^"]*)",\s*(-?\d+),\s*(-?\d+)\s*\}')
ROW_OF_TEXT = re.compile(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|", re.M)


def code():
    text = (ROOT / "src/runtime/objects/options.c").read_text()
    rows = re.search(r"static const row rows\[\] = \{(.*?)\n\};", text, re.S)
    if not rows:
        sys.exit("src/runtime/objects/options.c has no table called rows")
    table = re.sub(r"#ifdef AMBIT_ACCESS_CHECKS.*?#endif", "", rows[1], flags=re.S)  # of test builds, not for users
    return {name: (kind, initial, least, most) for name, kind, initial, least, most in ROW_OF_CODE.findall(table)}


def faults(options, documented):
    for name in options.keys() - documented.keys():
        yield f"option {name} is not in docs/options.md"
    for name in documented.keys() - options.keys():
        yield f"docs/options.md tells of {name}, which is no option"
    for name in options.keys() & documented.keys():
        kind, initial, least, most = options[name]
        values, default = documented[name]
        if not default.startswith(f"`{initial}`" if initial else "empty"):
            yield f"option {name}: the default is '{initial}', and docs/options.md says {default}"
        if kind == "FLAG" and values != "0 or 1":
            yield f"option {name} is 0 or 1, and docs/options.md says {values}"
        if kind == "COUNT" and values != f"{least} to {most}":
            yield f"option {name} is {least} to {most}, and docs/options.md says {values}"


def main():
    text = (ROOT / "docs/options.md").read_text()
    options, documented = code(), {name: row for name, *row in ROW_OF_TEXT.findall(text)}
    if len(options) < 5:
        sys.exit(f"only {len(options)} options were found in src/runtime/objects/options.c")
    found = sorted(faults(options, documented))
    print("\n".join(found) or f"{len(options)} options, all told of")
    return len(found) != 0


sys.exit(main())
