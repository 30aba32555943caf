# SPDX-License-Identifier: BSD-3-Clause
"""The declarations are those of the headers, and every public function is in Python, or has a reason not to be."""
import ast
import ctypes
import inspect
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

import ambit
from ambit import _calls, _declarations, _errors, _types
from ambit._library import lib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python/ambit"


def test_the_declarations_are_those_of_the_headers():
    run = subprocess.run([sys.executable, ROOT / "python/generate.py", "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_no_prototype_of_the_headers_is_missed():
    names = set()
    for header in (ROOT / "include").rglob("*.h"):
        text = re.sub(r"(?s)/\*.*?\*/", "", header.read_text())
        names |= set(re.findall(r"AMBIT_API[^;(]*?\b(ambit_\w+)\(", text))
    assert names == set(_declarations.FUNCTIONS)


def test_structs_have_the_layout_of_the_compiler(tmp_path):
    lines = ["#include <stddef.h>", "#include <stdio.h>"]
    lines += [f'#include "{h}"' for h in sorted((ROOT / "include").rglob("*.h"))] + ["int main(void) {"]
    want = []
    for s in _declarations.STRUCTS:
        lines.append(f'printf("%zu\\n", sizeof({s.__name__}));')
        want.append(ctypes.sizeof(s))
        for field, _ in s._fields_:
            lines.append(f'printf("%zu\\n", offsetof({s.__name__}, {field}));')
            want.append(getattr(s, field).offset)
    (tmp_path / "sizes.c").write_text("\n".join(lines + ["return 0; }"]))
    cc = os.environ.get("CC", "cc").split()[-1]
    subprocess.run([cc, "-I", ROOT / "include", "-o", tmp_path / "sizes", tmp_path / "sizes.c"], check=True)
    got = subprocess.run([tmp_path / "sizes"], capture_output=True, text=True, check=True).stdout.split()
    assert [int(n) for n in got] == want


def test_every_public_function_has_a_row():
    rows = list(_calls.CALLS) + list(_calls.LEFT_OUT)
    assert len(rows) == len(set(rows))
    missing = set(_declarations.FUNCTIONS) - set(rows)
    assert not missing, f"add rows to python/ambit/_calls.py: {sorted(missing)}"
    assert not set(rows) - set(_declarations.FUNCTIONS)
    assert all(_calls.LEFT_OUT.values())


def test_rows_name_what_is_there_and_uses_them():
    used = set()
    for module in PACKAGE.glob("_*.py"):
        if module.name not in ("_calls.py", "_declarations.py"):
            used |= set(re.findall(r"\blib\.(ambit_\w+)", module.read_text()))
    for name, where in _calls.CALLS.items():
        thing = ambit
        for part in where.split("."):
            thing = getattr(thing, part)
        assert name in used, f"{name}: no module calls it"
    assert used <= set(_calls.CALLS)


def test_everything_public_has_a_docstring_and_works_with_python_3_9():
    for name in ambit.__all__:
        thing = getattr(ambit, name)
        if not callable(thing):
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                assert inspect.getdoc(getattr(thing, member)), f"{name}.{member}"
    for path in PACKAGE.glob("*.py"):
        ast.parse(path.read_text(), path.name, feature_version=(3, 9))


def test_every_status_has_its_exception():
    codes = {v for k, v in vars(_declarations).items() if re.fullmatch(r"AMBIT_E[A-Z]+", k) and k != "AMBIT_EQUAL"}
    assert codes == set(_errors.BY_STATUS)
    assert len(set(_errors.BY_STATUS.values())) == len(codes)


def test_types_are_those_of_the_library():
    for code, word in _types.WORDS.items():
        assert lib.ambit_type_name(code).decode() == word
        assert lib.ambit_type_size(code) == _types.storage_dtype(code).itemsize
    assert lib.ambit_type_size(len(_types.WORDS)) == 0
    assert np.dtype("f4") == _types.DTYPES[_types.type_of("float")]
