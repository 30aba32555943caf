#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every source file has its SPDX line at the top, comments in C files fit 100 columns, design notes have two pages, and
estimates have no numbers of their own."""
import re, subprocess, sys

import project

SPDX = "SPDX-License-Identifier: BSD-3-Clause"
COLUMNS = 100
PAGES = 110  # lines of a design note, two pages
C = re.compile(r"\.(c|h|cpp)$")
OTHER = re.compile(r"\.(py|sh|cmake|cmake\.in)$|(^|/)(CMakeLists\.txt|Makefile)$")
# Folders and files that do not follow these rules yet.
TO_COME = re.compile(r"tests/(error|port/(programs|refused))/")
TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


def sources():
    """Path and text of each source. A file without an extension is a source if it has a shebang."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=project.ROOT,
                           capture_output=True, text=True)
    if names.returncode:
        project.skip("this is not a git checkout")
    for name in sorted(set(names.stdout.split("\n"))):
        path = project.ROOT / name
        if not name or TO_COME.match(name) or project.INPUT.match(name) or not path.is_file():
            continue
        script = "." not in path.name and path.open("rb").read(2) == b"#!"
        if C.search(name) or OTHER.search(name) or script:
            yield name, path.read_text()


def comment_lines(text):
    """The numbers of the lines with comments, from 0."""
    for m in TOKEN.finditer(text):
        if m[0][0] == "/":
            first = text.count("\n", 0, m.start())
            yield from range(first, first + m[0].count("\n") + 1)


def faults(name, text):
    lines = text.split("\n")
    if C.search(name):
        want, at = f"/* {SPDX} */", 0
        for n in sorted(set(comment_lines(text))):
            if len(lines[n]) > COLUMNS:
                yield f"{n + 1}: a comment of {len(lines[n])} columns; the limit is {COLUMNS}"
    else:
        want, at = f"# {SPDX}", int(lines[0].startswith("#!"))
    if lines[at:at + 1] != [want]:
        yield f"{at + 1}: this line must be: {want}"


def fitted_numbers(name, text):
    """Factors of estimates stand in plan/fitted.h, those of a machine in plan/machine.c: elsewhere in plan/ decimals are halves."""
    if re.match(r"src/plan/(?!machine\.c)\w+\.c$", name):
        code = TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
        for m in re.finditer(r"\b\d+\.(?![05]\b)\d*", code):
            yield f"{code.count(chr(10), 0, m.start()) + 1}: {m[0]} belongs to plan/fitted.h, with what it was fitted to"


def long_notes():
    """docs/design says what is; measurements and experiments belong to docs/notes."""
    for path in sorted((project.ROOT / "docs/design").glob("*.md")):
        lines = len(path.read_text().splitlines())
        if lines > PAGES:
            yield f"docs/design/{path.name}: {lines} lines; the limit is {PAGES}: move experiments to docs/notes"


count, found = 0, list(long_notes())
for name, text in sources():
    count += 1
    found += [f"{name}:{fault}" for fault in (*faults(name, text), *fitted_numbers(name, text))]
print("\n".join(found))
print(f"{count} files, {len(found)} faults")
sys.exit(len(found) != 0 or not count)
