# SPDX-License-Identifier: BSD-3-Clause
"""Ambit and NumPy read each other's files.

    check_npy.py path/to/test_npy

Exit status 77 (skipped) without NumPy.
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("SKIP: this python has no numpy")
    sys.exit(77)

NAMES = {"float": "f4", "double": "f8", "int": "i4", "unsigned char": "u1", "short": "i2", "long": "i8",
         "half": "f2"}
WRITTEN = {
    "f4": [0, -1.5, 3e30, 1e-40, 5, 6],
    "f8": [0, -1.5, 3e300, 1e-310, 5, 6],
    "i4": [0, -1, 2**31 - 1, -(2**31), 5, 6],
    "u1": [0, 1, 2, 128, 255, 6],
    "i2": [0, -1, 2**15 - 1, -(2**15), 5, 6],
    "i8": [0, -1, 2**63 - 1, -(2**63), 5, 6],
    "f2": [0, -1.5, 65504, 2**-24, 5, 6],
}


def check_written(tool, folder):
    subprocess.run([tool, "--write", folder], check=True)
    for name, values in WRITTEN.items():
        got = np.load(os.path.join(folder, name + ".npy"))
        want = np.array(values, dtype=name).reshape(2, 3)
        assert got.dtype == want.dtype and got.shape == want.shape, (name, got.dtype, got.shape)
        assert got.tobytes() == want.tobytes(), (name, got)
    cells = np.load(os.path.join(folder, "list.cells.npy"))
    assert cells["index"].tolist() == [[4, -1], [1, 7]], cells
    assert cells["value"].tolist() == [[1, 2, 3], [4, 5, 6]], cells


def arrays_to_read():
    rng = np.random.default_rng(1)
    for name in WRITTEN:
        for shape in [(), (0,), (7,), (2, 3), (3, 1, 2), (1, 2, 1, 2, 1, 2, 1)]:
            a = (rng.random(shape) * 100).astype(name)
            yield a, a
            yield a.astype(a.dtype.newbyteorder(">")), a
    b = np.array([[True, False], [False, True]])
    yield b, b.astype("u1")


def read_back(tool, paths):
    out = subprocess.run([tool, "--read", *paths], check=True, capture_output=True, text=True)
    return out.stdout.splitlines()


def check_read(tool, folder):
    wants, paths = [], []
    for i, (saved, want) in enumerate(arrays_to_read()):
        paths.append(os.path.join(folder, f"read{i}.npy"))
        np.save(paths[-1], saved)
        wants.append(want)
    lines = read_back(tool, paths)
    assert len(lines) == len(wants)
    for line, want in zip(lines, wants):
        kind, rest = line.split(" (", 1)
        shape, data = rest.split(") ", 1)
        assert kind in NAMES, line
        assert want.dtype == np.dtype(NAMES[kind]), line
        assert tuple(int(n) for n in shape.split(",") if n) == want.shape, line
        assert bytes.fromhex(data) == want.tobytes(), line


def check_refused(tool, folder):
    path = os.path.join(folder, "refused.npy")
    for array, words in [
        (np.asfortranarray(np.ones((2, 3))), "Fortran order"),
        (np.ones(3, dtype="c16"), "'<c16'"),
        (np.ones(3, dtype="c8"), "'<c8'"),
        (np.zeros(3, dtype=[("x", "f4"), ("y", "f4")]), "records"),
        (np.zeros(3, dtype=[("index", "i8", (2,)), ("value", "f4")]), "a list of cells"),
        (np.array(["text"]), "'<U4'"),
        (np.zeros((1,) * 8), "more than 7 dimensions"),
    ]:
        np.save(path, array)
        (line,) = read_back(tool, [path])
        assert line.startswith("refused ") and words in line, (words, line)


def main():
    tool = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        check_written(tool, folder)
        check_read(tool, folder)
        check_refused(tool, folder)
    print("ok - Ambit and NumPy read each other's files")


main()
