#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The C program in README.md compiles without a warning, runs, and writes its picture; every file and heading that a
document links to exists; and examples/README.md shows every example with its picture.

    check_readme.py LIBRARY WORK_FOLDER CC
"""
import os, pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
FLAGS = "-std=c11 -Wall -Wextra -Werror -O2".split()
SKIP = 77


def program():
    blocks = re.findall(r"^```c\n(.*?)^```$", README, re.M | re.S)
    if len(blocks) != 1:
        sys.exit(f"README.md has {len(blocks)} blocks of C; it should have one")
    return blocks[0]


def documents():
    """Markdown files of the project, not those of builds."""
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"), *ROOT.glob("bench/**/*.md"), *ROOT.glob("packaging/*.md")]


def anchors(text):
    headings = re.findall(r"^#+ (.*)", text, re.M)
    named = re.findall(r'<a name="([^"]+)">', text)
    return {*named, *(re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings)}


def missing_links():
    for document in documents():
        for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
            path, _, anchor = link.partition("#")
            target = document.parent / path if path else document
            if "://" in link:
                continue
            if not target.exists() or anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
                yield f"{document.relative_to(ROOT)}: {link}"


def not_shown():
    gallery = (ROOT / "examples/README.md").read_text()
    for page in sorted((ROOT / "examples").glob("*/README.md")):
        picture, name = re.search(r"\]\(\.\./\.\./(docs/\S+?\.png)\)", page.read_text()), page.parent.name
        if not picture:
            yield f"examples/{name}/README.md shows no picture"
        elif not re.search(rf'<img src="\.\./{re.escape(picture[1])}"[^>]*>\]\({name}\) \| \[{name}\]\({name}\)', gallery):
            yield f"examples/README.md does not show {name} with {picture[1]}"


def build(library, work, cc):
    (work / "readme.c").write_text(program())
    command = [cc, *FLAGS, "-I", ROOT / "include", "readme.c", library, f"-Wl,-rpath,{library.parent}", "-o", "readme"]
    subprocess.run(list(map(str, command)), cwd=work, check=True)


def run(work):
    picture = work / re.search(r'ambit_field_save\(\w+, "([^"]+)"', program())[1]
    picture.unlink(missing_ok=True)
    done = subprocess.run([work / "readme", "--ambit-report"], cwd=work, capture_output=True, text=True)
    print(done.stdout, done.stderr, sep="")
    if "built without libpng" in done.stderr:
        print("skipped: the program saves a picture, and this build has no libpng")
        sys.exit(SKIP)
    if done.returncode:
        sys.exit(f"the program of README.md returned {done.returncode}")
    if not re.search(r"^\d+ iterations in ", done.stderr, re.M):
        sys.exit("the program of README.md did not report its run")
    if picture.read_bytes()[:4] != b"\x89PNG":
        sys.exit(f"{picture.name} is no picture")


def main():
    library, work, cc = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    missing = list(missing_links())
    if missing:
        sys.exit("links to what is not there: " + ", ".join(missing))
    unseen = list(not_shown())
    if unseen:
        sys.exit("\n".join(unseen))
    work.mkdir(parents=True, exist_ok=True)
    os.chdir(work)
    build(library, work, cc)
    run(work)


main()
