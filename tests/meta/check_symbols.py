#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The shared library exports exactly the functions that the headers in include/ declare.

    check_symbols.py LIBRARY
"""
import re, shutil, subprocess, sys

import project


def declared():
    header = "".join(h.read_text() for h in sorted((project.ROOT / "include").glob("*.h")))
    return set(re.findall(r"^AMBIT_API\s[^;(]*?\b(ambit_\w+)\s*\(", header, re.M))


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    return {line.split()[-1].split("@")[0] for line in out.stdout.splitlines()}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    library = sys.argv[1]
    if not library.endswith((".so", ".dylib")) and ".so." not in library:
        project.skip("the library is static, so nothing is hidden")
    if not shutil.which("nm"):
        project.skip("nm is not installed")
    want, got = declared(), exported(library)
    for name in sorted(want - got):
        print(f"{name} is declared in include/, but not in the library")
    for name in sorted(got - want):
        print(f"{name} is exported by the library, but not declared in include/")
    print(f"{len(want)} functions")
    return want != got or not want


sys.exit(main())
