#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The binary interface is the one that tests/meta/abi.txt lists: prototypes, the layout of public structures, values of
constants. docs/compatibility.md says what a difference means. The symbols of the Debian package are the same functions.

    check_abi.py [CC]            compares
    check_abi.py --write [CC]    writes the list anew, and the symbols of the Debian package
"""
import pathlib, re, subprocess, sys, tempfile

import project

LIST = project.ROOT / "tests/meta/abi.txt"
SYMBOLS = project.ROOT / "packaging/debian/libambit0.symbols"
HEADER = project.ROOT / "include/ambit.h"
HEADERS = sorted(HEADER.parent.glob("*.h"))
ALL = "".join(f"#include <{h.name}>\n" for h in HEADERS)


def squeeze(text):
    return re.sub(r"\s*([(),*])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()


def preprocessed(cc):
    """The headers as C, without lines of other headers and without attributes."""
    out = subprocess.run([cc, "-E", "-DAMBIT_API=AMBIT_API", "-I", HEADER.parent, "-x", "c", "-"], input=ALL, check=True, capture_output=True,
                         text=True).stdout
    kept, ours = [], False
    for line in out.split("\n"):
        if line.startswith("#"):
            ours = '"' + str(HEADER.parent) in line
        elif ours:
            kept.append(line)
    text = "\n".join(kept)
    return re.sub(r'AMBIT_API|__attribute__\(\(visibility\("default"\)\)\)', " AMBIT_API ", text)


def prototypes(text):
    for m in re.finditer(r"AMBIT_API([^;{]*?)\b(ambit_\w+)\s*\(([^;]*)\)\s*;", text):
        yield m[2], f"{squeeze(m[1])} {m[2]}({squeeze(m[3])})"


def enumerators(text):
    for m in re.finditer(r"enum\s+\w*\s*\{(.*?)\}", text, re.S):
        yield from re.findall(r"(?:^|,)\s*(AMBIT_\w+)", m[1])


def macros(text):
    """Constants of the preprocessor that have a number as their value."""
    return re.findall(r"^#define (AMBIT_(?!VERSION)[A-Z]\w*) +[(~\d]", text, re.M)


def members(body):
    for line in re.sub(r"enum\s*\w*\s*\{[^}]*\}", "int", body).split(";"):
        if line.strip():
            pointer = re.search(r"\(\*\s*(\w+)\)", line)
            for part in [line] if pointer else line.split(","):
                yield pointer[1] if pointer else re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", part.strip())[1]


def structures(text):
    for m in re.finditer(r"typedef struct (\w+)\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*\1\s*;", text, re.S):
        yield m[1], list(members(m[2]))


def numbers(cc, text):
    """Sizes, offsets and constants, as the compiler has them."""
    lines = []
    for name, fields in structures(text):
        lines.append(f'printf("struct {name}: %zu bytes", sizeof({name}));')
        lines += [f'printf("; {f} at %zu", offsetof({name}, {f}));' for f in fields]
        lines.append('puts("");')
    for name in [*macros("".join(h.read_text() for h in HEADERS)), *enumerators(text)]:
        lines.append(f'printf("constant {name} = %lld\\n", (long long){name});')
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "abi.c")
        source.write_text(ALL + "#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n")
        program = source.with_suffix("")
        subprocess.run([cc, "-I", HEADER.parent, source, "-o", program], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def interface(cc):
    text = preprocessed(cc)
    found = [f"function {p}" for _, p in prototypes(text)] + numbers(cc, text)
    return sorted(found)


def functions(lines):
    return sorted(re.search(r"(ambit_\w+)\(", line)[1] for line in lines if line.startswith("function "))


def version():
    numbers = re.findall(r"^#define AMBIT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", HEADER.read_text(), re.M)
    return ".".join(numbers)


def write_symbols(lines):
    """A symbol keeps the version in which it appeared."""
    old = dict(re.findall(r"^ (\w+)@Base (\S+)", SYMBOLS.read_text(), re.M)) if SYMBOLS.exists() else {}
    listed = "".join(f" {f}@Base {old.get(f, version())}\n" for f in functions(lines))
    SYMBOLS.write_text("libambit.so.0 libambit0 #MINVER#\n" + listed)


def main():
    words = [w for w in sys.argv[1:] if w != "--write"]
    got = interface(words[0] if words else "cc")
    if len(functions(got)) < 50 or not any(line.startswith("struct ") for line in got):
        sys.exit(f"only {len(got)} lines were found in include/")
    if "--write" in sys.argv:
        LIST.write_text("\n".join(got) + "\n")
        if SYMBOLS.parent.is_dir():
            write_symbols(got)
        return 0
    want = LIST.read_text().splitlines()
    gone, new = sorted(set(want) - set(got)), sorted(set(got) - set(want))
    for line in gone:
        print(f"gone or changed, so programs linked with the library break: {line}")
    for line in new:
        print(f"new, and not in tests/meta/abi.txt: {line}")
    if gone or new:
        print("docs/compatibility.md says what to do; python3 tests/meta/check_abi.py --write writes the list")
    if SYMBOLS.exists() and re.findall(r"^ (\w+)@", SYMBOLS.read_text(), re.M) != functions(got):
        print("packaging/debian/libambit0.symbols has other functions; check_abi.py --write mends it")
        return 1
    print(f"{len(functions(got))} functions, {len(got)} lines")
    return bool(gone or new)


sys.exit(main())
