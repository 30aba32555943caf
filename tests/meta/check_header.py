#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The headers compile without a warning, alone and in use, in every supported version of C and C++, with each of the
installed compilers."""
import itertools, shutil, subprocess, sys

import project

MODES = [
    ("c", ["cc", "gcc", "clang"], ["c99", "c11", "c17"]),
    ("c++", ["c++", "g++", "clang++"], ["c++11", "c++17"]),
]
FLAGS = "-pedantic -Wall -Wextra -Wshadow -Wconversion -Werror -fsyntax-only".split()
USER = project.ROOT / "tests/meta/header_user.c"


def compile_as(language, compiler, standard, text):
    run = subprocess.run([compiler, f"-std={standard}", *FLAGS, "-x", language, "-I", project.ROOT / "include", "-"],
                         input=text, capture_output=True, text=True)
    return run.stderr if run.returncode else None


def main():
    lines = [f"#include <{h.name}>\n" for h in sorted((project.ROOT / "include").glob("*.h"))]
    texts = {**{f"{line.split()[1]} alone": line for line in lines}, "twice": "".join(lines * 2), "in use": USER.read_text()}
    bad, languages = 0, set()
    for language, compilers, standards in MODES:
        for compiler, standard in itertools.product(filter(shutil.which, compilers), standards):
            languages.add(language)
            for name, text in texts.items():
                fault = compile_as(language, compiler, standard, text)
                print(f"{'not ok' if fault else 'ok'} - {compiler} -std={standard}, {name}")
                print(fault or "", end="")
                bad += fault is not None
    if bad:
        return 1
    if languages != {"c", "c++"}:
        project.skip("only tried as " + " and ".join(sorted(languages)))
    return 0


sys.exit(main())
