# SPDX-License-Identifier: BSD-3-Clause
"""Kernels as Python functions: the same function on numbers is the oracle."""
import ast
import importlib
import math
import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import ambit

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python"
rng = np.random.default_rng(2)


def run(kernel, *args, n=1):
    grid = next(a.grid for a in args if isinstance(a, ambit.Field))
    grid.program(kernel(*args)).run(n)


def test_heat_of_both_types():
    @ambit.kernel
    def heat(u, v, k, change: "max"):
        """One step."""
        v[0, 0] = u[0, 0] + k * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1] - 4 * u[0, 0])
        change = abs(v[0, 0] - u[0, 0])
    assert heat.c_source is None and heat.__doc__ == "One step."
    for dtype in ("f4", "f8"):
        g = ambit.Grid(20, 30)
        a = rng.random((20, 30)).astype(dtype)
        u, v, change = g.field("u", dtype, boundary="clamp", value=a), g.field("v", dtype), ambit.scalar("change")
        run(heat, u, v, 0.2, change)
        p, k = np.pad(a, 1, mode="edge"), np.dtype(dtype).type(0.2)
        want = a + k * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * a)
        assert np.array_equal(v[...], want) and change.value == np.abs(want - a).max() and change.dtype == np.dtype(dtype)
        assert ("const float *u" if dtype == "f4" else "const double *u") in heat.c_source


def helper(a, b):
    square = a * a
    return square - b


SHIFTS = [(-1, 0, 0.5), (0, 1, 0.25)]
TABLE = np.array([[1, -2], [3, 4]])


def test_loops_helpers_conditions_and_captured_values():
    scale = 3

    @ambit.kernel
    def k(u, v, w):
        s = 0.0
        for dy, dx, weight in SHIFTS:
            s += weight * u[dy, dx]
        h = [0.0] * 4
        for i in range(4):
            h[i] = i * w[i] + scale
        for i in range(3, -1, -1):
            s = s + h[i] * TABLE[i // 2, i % 2]
        near = 1
        t = helper(u[0, near], s) if u[0, 0] > 0.5 else helper(s, 2.0)
        if 0.2 < u[0, 0] <= 0.8 and not u[-1, 0] > 0.9:
            t = min(t, s, 5.0) + max(t, 1.0)
        elif u[0, 0] < 0.1:
            t = math.sqrt(abs(t)) ** 3 + math.pi
        else:
            t -= np.sin(t) / 7
        v[0, 0] = t
    g = ambit.Grid(9, 8)
    a, w = rng.random((9, 8)), [1.0, 2.0, 3.0, 4.0]
    u, v = g.field("u", "f8", boundary="periodic", value=a), g.field("v", "f8")
    run(k, u, v, w)

    class At:  # the function on numbers
        def __init__(self, y, x):
            self.at = y, x

        def __getitem__(self, d):
            return a[(self.at[0] + d[0]) % 9, (self.at[1] + d[1]) % 8]
    want = np.empty((9, 8))
    for y in range(9):
        for x in range(8):
            out = {}

            class Out:
                def __setitem__(self, d, value):
                    out[d] = value
            k.__wrapped__(At(y, x), Out(), w)
            want[y, x] = out[0, 0]
    assert np.allclose(v[...], want, rtol=1e-12)


def test_integers_divide_as_in_python():
    @ambit.kernel
    def k(a, b, q, r, d, s):
        q[0] = a[0] // b[0]
        r[0] = a[0] % b[0]
        d[0] = a[0] / b[0]
        s[0] = (a[0] & 6 | 1) ^ (a[0] << 2) >> 1
    g = ambit.Grid(400)
    a, b = rng.integers(-50, 50, 400), rng.integers(1, 9, 400) * rng.choice([-1, 1], 400)
    fields = [g.field("a", "i4", value=a), g.field("b", "i4", value=b)] + [g.field(n, "i8") for n in "qr"]
    d, s = g.field("d", "f8"), g.field("s", "i4")
    run(k, *fields, d, s)
    assert np.array_equal(fields[2][:], a // b) and np.array_equal(fields[3][:], a % b)
    assert np.array_equal(d[:], a / b) and np.array_equal(s[:], (a & 6 | 1) ^ (a << 2) >> 1)


def test_components_places_and_reductions():
    @ambit.kernel
    def k(f, v, total: "sum", low: "min"):
        v[0, 0] = f[1][0, -1] + f[0, 1, 0] + ambit.index(0) * 10 + ambit.extent(1) + ambit.step()
        if ambit.outside(0, -1):
            v[0, 0] = -1
        total = 1
        low = f[0, 0, 0]
    g = ambit.Grid(5, 6)
    a = rng.random((5, 6, 2))
    f, v = g.field("f", "f8", components=2, boundary="periodic", value=a), g.field("v", "f8")
    total, low = ambit.scalar("total", "i8"), ambit.scalar("low")
    run(k, f, v, total, low)
    want = np.roll(a[..., 1], 1, 1) + np.roll(a[..., 0], -1, 0) + 10 * np.arange(5)[:, None] + 6
    want[:, 0] = -1
    assert np.allclose(v[...], want) and total.value == 30 and low.value == a[..., 0].min()


def test_colours_are_recognised_in_place():
    @ambit.kernel
    def relax(u, colour):
        if (ambit.index(0) + ambit.index(1)) % 2 == colour:
            u[0, 0] = 0.25 * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1])
    g = ambit.Grid(16, 16)
    u = g.field("u", "f8", boundary=1.0)
    g.program(relax(u, 0), relax(u, 1)).run(400)
    assert np.allclose(u[...], 1)


def test_kernels_on_scalars_and_arguments_by_name():
    @ambit.kernel
    def ratio(a, b, q):
        q = a / b
    a, b, q = (ambit.scalar(n, "f8", value=x) for n, x in (("a", 3), ("b", 4), ("q", 0)))
    g = ambit.Grid(3)
    g.program(ratio(q=q, a=a, b=b)).run(1)
    assert q.value == 0.75


STRENGTH = 2.0


def test_globals_are_captured_when_the_function_is_decorated():
    global STRENGTH
    weights = [1.0, 2.0]

    @ambit.kernel
    def k(u):
        u[0] = STRENGTH * weights[1]
    STRENGTH = 5.0
    weights[1] = 100.0
    try:
        u = ambit.Grid(3).field("u")
        run(k, u)
        assert u[0] == 4.0
    finally:
        STRENGTH = 2.0


@pytest.mark.parametrize("body, words", [
    ("v[0, 0] = w[0, 0]", "unknown name 'w'"),
    ("while True: v[0, 0] = 1", "'while' does not translate"),
    ("v[0, 0] = [x for x in (1, 2)][0]", "only fields, tables and arrays have elements"),
    ("v[0, 0] = u[0]", "'u' needs 2 subscripts"),
    ("v[0, 0] = u", "'u' is a field"),
    ("k = 3", "'k' is a parameter"),
    ("v[0:2, 0] = 1", "slices do not translate"),
    ("v[0, 0] = print(1)", "'print' does not translate"),
    ("v[0, 0] = 'text'", "does not translate"),
    ("return 3", "return is the last statement of a helper"),
    ("for i in range(k): v[0, 0] = i", "constant ends"),
    ("u[0, 0].x = 1", "no place for a value"),
    ("v[0, 0] = lambda: 1", "does not translate"),
    ("a, b = b, a", "has no value here|exchange"),
])
def test_what_does_not_translate_has_a_line_and_a_caret(tmp_path, monkeypatch, body, words):
    name = f"bad_{abs(hash(body))}"
    (tmp_path / f"{name}.py").write_text(f"import ambit\n\n@ambit.kernel\ndef bad(u, v, k):\n    {body}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    g = ambit.Grid(4, 4)
    with pytest.raises(ambit.KernelError, match=words) as e:
        module = importlib.import_module(name)
        g.program(module.bad(g.field("u"), g.field("v"), 1.5))
    lines = str(e.value).splitlines()
    assert lines[0].startswith(f"{tmp_path / name}.py:5:") and lines[1] == f"    {body}" and lines[2].strip().startswith("^")
    assert lines[2].index("^") >= 4


def test_messages_of_the_library_name_the_line_in_python():
    @ambit.kernel
    def k(u, v, n):
        v[0] = u[0]
        v[0] = u[n]
    g = ambit.Grid(4)
    with pytest.raises(ambit.KernelError) as e:
        g.program(k(g.field("u"), g.field("v"), 1))
    assert f"{__file__}:{k.__wrapped__.__code__.co_firstlineno + 3}:" in str(e.value)


def python(*words, **more):
    env = {**os.environ, "PYTHONPATH": str(PACKAGE), "AMBIT_DEVICES": "cpu"}
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, env=env, timeout=300, **more)


SCRIPT = """
import ambit
@ambit.kernel
def k(u):
    u[0] = 3
u = ambit.Grid(4).field("u")
u.grid.program(k(u)).run(1)
print(u[0])
"""


def test_kernels_work_in_command_lines_and_standard_input():
    if sys.version_info >= (3, 10):
        assert python("-c", SCRIPT).stdout.strip() == "3.0"
    r = python("-", input=SCRIPT)
    assert r.stdout.strip() == "3.0" or "source of 'k' is not known" in r.stderr


def test_exec_says_that_there_is_no_source():
    with pytest.raises(ambit.KernelError, match="made by exec"):
        exec(SCRIPT, {"__name__": "made"})


def test_a_file_that_changed_since_import_is_refused_until_reload(tmp_path, monkeypatch):
    path = tmp_path / "stale_kernels.py"
    text = "import ambit\ndef k(u):\n    u[0] = {}\n"
    path.write_text(text.format(1))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = importlib.import_module("stale_kernels")
    path.write_text(text.format(22))
    with pytest.raises(ambit.KernelError, match="changed since 'k' was imported"):
        ambit.kernel(module.k)
    importlib.reload(module)
    u = ambit.Grid(4).field("u")
    run(ambit.kernel(module.k), u)
    assert u[0] == 22


def test_a_notebook_cell_is_a_source(tmp_path):
    """As IPython does it: the text of a cell is in linecache under a made name."""
    import linecache
    name, text = "<ipython-input-1>", "import ambit\n@ambit.kernel\ndef k(u):\n    u[0] = 7 + ambit.index(0)\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"__name__": "__main__"}
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), name, "exec"), space)
    u = ambit.Grid(4).field("u")
    run(space["k"], u)
    assert u[0] == 7


def test_nested_functions_of_one_name_are_told_apart():
    kernels = []
    for n in (1, 2):
        @ambit.kernel
        def k(u):
            u[0] = n
        kernels.append(k)
    u = ambit.Grid(4).field("u")
    for n, k in zip((1, 2), kernels):
        run(k, u)
        assert u[0] == n


def test_helpers_refuse_what_they_cannot():
    def forever(x):
        return forever(x) + 1

    @ambit.kernel
    def k(u):
        u[0] = forever(u[0])
    with pytest.raises(ambit.KernelError, match="calls itself"):
        run(k, ambit.Grid(4).field("u"))
    with pytest.raises(ambit.KernelError, match="without defaults"):
        @ambit.kernel
        def bad(u, n=3):
            u[0] = n
    with pytest.raises(TypeError, match="takes 1 argument"):
        run(k, ambit.Grid(4).field("u"), 3)
    with pytest.raises(TypeError):
        ambit.kernel(print)
    with pytest.raises(TypeError, match="for kernels"):
        ambit.index(0)
