# SPDX-License-Identifier: BSD-3-Clause
"""Grids, fields, scalars, kernels and programs against NumPy."""
import copy
import gc
import io
import pickle

import numpy as np
import pytest

import ambit

HEAT = """
void heat(const float *u, float *v, float k, max float *change)
{ *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);  *change = fabsf(*v - *u); }"""
rng = np.random.default_rng(1)


def heat_step(u, k):
    """The kernel above, in its order of operations, with clamped faces."""
    p = np.pad(u, 1, mode="edge")
    k, four = np.float32(k), np.float32(4)
    return u + k * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - four * u)


def test_ten_lines(tmp_path):
    heat = ambit.kernel(HEAT)
    g = ambit.Grid(51, 62)
    u, v = g.field("u", "f4", boundary="clamp"), g.field("v", "f4")
    start = np.random.rand(51, 62).astype("f4")
    u[:] = start
    p = g.program(heat(u, v, 0.2, ambit.scalar("change")), ambit.swap(u, v))
    n = p.run(until="change < 1e-3", most=100000)
    want, change, done = start, 1.0, 0
    while change >= np.float32(1e-3):
        new = heat_step(want, 0.2)
        want, change, done = new, np.abs(new - want).max(), done + 1
    assert p.converged and n == done == p.iterations
    assert np.array_equal(u[...], want)
    u.save(tmp_path / "plate.png")
    assert (tmp_path / "plate.png").read_bytes() == u._repr_png_()
    assert u._repr_png_()[:4] == b"\x89PNG"


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "i2", "i8", "f2", "u2", "u4", "u8", np.float64, "double", "bool"])
def test_fields_of_all_types_keep_values(dtype):
    u = ambit.Grid(5, 7).field("u", dtype)
    a = rng.integers(0, 2 if dtype == "bool" else 100, (5, 7)).astype(u.dtype)
    u[...] = a
    assert u[...].dtype == u.dtype and np.array_equal(u[...], a)


def test_bfloats_round_as_the_library_does():
    from ambit._library import lib
    u = ambit.Grid(1000).field("u", "bfloat16")
    a = (rng.standard_normal(1000) * 10.0 ** rng.integers(-30, 30, 1000)).astype("f4")
    a[:3] = np.nan, np.inf, 0
    u[...] = a
    want = np.array([lib.ambit_bfloat_decode(lib.ambit_bfloat_encode(float(x))) for x in a], "f4")
    assert np.array_equal(u[...], want, equal_nan=True)


KEYS = [np.s_[...], np.s_[3], np.s_[-1], np.s_[2:5], np.s_[:, 3], np.s_[1:4, 2:9], np.s_[::2, ::3], np.s_[::-1],
        np.s_[5:1:-2, 4], np.s_[..., 1], np.s_[2, 3], np.s_[4:4], np.s_[:, -3:], (np.array([0, 2, 2]), 1),
        (slice(None), np.array([1, 5])), None]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("components", [None, 2])
def test_keys_are_those_of_numpy(key, components):
    u = ambit.Grid(6, 11).field("u", "f4", components=components)
    a = rng.random(u.shape, dtype="f4")
    u[...] = a
    assert np.array_equal(u[key], a[key]) and np.shape(u[key]) == np.shape(a[key])
    new = rng.random(np.shape(a[key]), dtype="f4")
    for values in (new, 7):
        u[key] = values
        a[key] = values
        assert np.array_equal(u[...], a)


def test_masks_and_broadcasts_write():
    u = ambit.Grid(6, 11).field("u", "f4")
    a = rng.random((6, 11), dtype="f4")
    u[...] = a
    u[a > 0.5] = -1
    a[a > 0.5] = -1
    u[:, 1:4] = np.arange(3)
    a[:, 1:4] = np.arange(3)
    assert np.array_equal(np.asarray(u), a)
    with pytest.raises(ValueError):
        u[1:3] = np.zeros((5, 5))
    for bad in (6, (0, 0, 0), (0, 11), (Ellipsis, Ellipsis)):
        with pytest.raises(IndexError):
            u[bad]


def test_boundaries():
    copy_left = ambit.kernel("void left(const float *u, float *v) { *v = u[0][-2]; }")
    a = rng.random((4, 9), dtype="f4")
    for kind, mode in {"clamp": "edge", "periodic": "wrap", "reflect": "reflect", "symmetric": "symmetric"}.items():
        g = ambit.Grid(4, 9)
        u, v = g.field("u", boundary=kind, value=a), g.field("v")
        g.program(copy_left(u, v)).run(1)
        assert np.array_equal(v[...], np.pad(a, ((0, 0), (2, 2)), mode=mode)[:, :9]), kind
    g = ambit.Grid(4, 9)
    u, v = g.field("u", boundary={ambit.axis(1): 3.5, ambit.low(0): "clamp"}, value=a), g.field("v")
    g.program(copy_left(u, v)).run(1)
    assert (v[:, :2] == 3.5).all()
    with pytest.raises(ambit.InvalidArgument, match="clamp"):
        u.boundary("clamped")


def test_fill_with_a_function():
    u = ambit.Grid(3, 4).field("u", "f8")
    u.fill(lambda i, j: 10 * i + j)
    assert np.array_equal(u[...], 10 * np.arange(3)[:, None] + np.arange(4))
    w = ambit.Grid(3).field("w", "f8", components=2)
    w.fill(lambda i, c: 10 * i + c)
    assert np.array_equal(w[...], 10 * np.arange(3)[:, None] + np.arange(2))
    with pytest.raises(ZeroDivisionError):
        u.fill(lambda i, j: 1 / 0)
    u[...] = 1
    assert (u[...] == 1).all()


def test_kernel_errors_point_at_the_line_of_this_file():
    with pytest.raises(ambit.KernelError) as e:
        ambit.kernel("""
            void f(const float *u, float *v)
            { *v = *uu; }""")
    lines = str(e.value).splitlines()
    here = test_kernel_errors_point_at_the_line_of_this_file.__code__.co_firstlineno
    assert lines[0].startswith(f"{__file__}:{here + 4}:") and "did you mean 'u'" in lines[0]
    assert lines[1].strip() == "{ *v = *uu; }" and lines[2].strip() == "^~~"
    assert isinstance(e.value, ValueError) and e.value.status == 3
    ambit.kernel("void f(const float *u, float *v) { *v = *u; }")  # the context goes on


def test_errors_have_classes_and_leave_the_context_usable():
    with pytest.raises(ambit.OptionError, match="threads"):
        ambit.open(thread=3)
    with pytest.raises(ambit.InvalidArgument):
        ambit.Grid(0, 4)
    for shape in ((2.5, 3), (2.5,)):  # as NumPy does it
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            ambit.Grid(*shape)
    with pytest.raises(ambit.FileError):
        ambit.Grid(4).field("u").load("/nonexistent/u.npy")
    with pytest.raises(OSError):
        ambit.inspect("/nonexistent/u.npy")
    u = ambit.Grid(4).field("u")
    v = u.grid.field("v")
    shift = ambit.kernel("void shift(const float *u, float *v) { *v = u[1]; }")
    p = u.grid.program(shift(u, v))
    with pytest.raises(ambit.ProgramError):
        p.run(1)
    u.boundary(5)
    p.run(1)
    assert v[3] == 5


def test_kernel_arguments_by_name_tables_and_several_reductions():
    k = ambit.kernel("""void k(const float *u, float *v, table float w[3], float s, sum double *m[2])
        { *v = w[0] * u[-1] + w[1] * *u + w[2] * u[1] + s; *m[0] = *u; *m[1] = *u * *u; }""")
    g = ambit.Grid(20)
    u, v = g.field("u", boundary="periodic"), g.field("v")
    a = rng.integers(0, 9, 20).astype("f4")
    u[:] = a
    one, two = ambit.scalar("one"), ambit.scalar("two")
    g.program(k(u, m=[one, two], s=2, w=[1, 2, 3], v=v)).run(1)
    assert np.array_equal(v[:], np.roll(a, 1) + 2 * a + 3 * np.roll(a, -1) + 2)
    assert one.value == a.sum() and two.value == (a * a).sum() and one.dtype == np.dtype("f8")
    g.program(k(u, v, np.arange(3.0), 0, "one", "two")).run(1)
    with pytest.raises(TypeError, match="lacks"):
        g.program(k(u, v=v))
    with pytest.raises(TypeError, match="no parameter 'x'"):
        g.program(k(u, v, x=3))
    with pytest.raises(ambit.Error):
        g.program(k(u, v))
    p = k.params
    assert [x.kind for x in p] == ["field", "field", "table", "value", "reduction", "reduction"]
    assert p[0].low == (1,) and p[0].offsets == ((0, (-1,)), (0, (0,)), (0, (1,))) and p[4].reduction == "sum"
    assert k.name == "k" and k.ndim == 1 and not k.is_once and k.flops > 0 and k.bytes == 8


def test_one_text_for_float_and_double():
    k = ambit.kernel("void k(const real *u, real *v) { *v = 0.1 * *u; }")
    for dtype in ("f4", "f8"):
        g = ambit.Grid(10)
        u, v = g.field("u", dtype, value=np.arange(10)), g.field("v", dtype)
        g.program(k(u, v)).run(1)
        assert np.array_equal(v[:], np.dtype(dtype).type(0.1) * np.arange(10, dtype=dtype))


def test_constants_and_several_kernels_in_a_text(context):
    text = "void one(float *u) { *u = N; } void two(float *u) { *u = N + 1; }"
    g = ambit.Grid(3)
    u = g.field("u")
    for n in (4, 6):
        context.define("N", n)
        g.program(ambit.kernel(text)(u)).run(1)
        assert u[0] == n
        g.program(ambit.kernel(text, name="two")(u)).run(1)
        assert u[0] == n + 1
    with pytest.raises(ambit.InvalidArgument, match="three"):
        ambit.kernel(text, name="three")


def test_boxes_faces_copies_every_and_rotations():
    inc = ambit.kernel("void inc(float *u) { *u += 1; }")
    g = ambit.Grid(8, 9)
    u, v, w = (g.field(n) for n in "uvw")
    p = g.program(inc(u).box(np.s_[1:-1, 2:4]), inc(v).faces(ambit.low(0)), inc(w).every(3),
                  ambit.copy(u, v, np.s_[3:5, 2:4], at=(6, 0)))
    p.run(6)
    a, b = np.zeros((8, 9)), np.zeros((8, 9))
    a[1:-1, 2:4] = 6
    b[0] = 6
    b[6:8, 0:2] = 6
    assert np.array_equal(u[...], a) and np.array_equal(v[...], b) and (w[...] == 2).all()
    x, y, z = (g.field(n, value=i) for i, n in enumerate("xyz"))
    g.program(inc(u), ambit.rotate(x, y, z)).run(1)
    assert (x[0, 0], y[0, 0], z[0, 0]) == (1, 2, 0)


def test_run_to_until_still_and_calls():
    half = ambit.kernel("void half_(unsigned char *u) { *u = *u / 2; }")
    g = ambit.Grid(10)
    u = g.field("u", "u1", value=100)
    p = g.program(half(u))
    assert p.run(to=3) == 3 and p.run(to=3) == 0
    p.run(until="still", most=100)
    assert p.converged and (u[:] == 0).all()
    count = ambit.kernel("void count(float *u, max float *m) { *u += 1; *m = *u; }")
    w, m = g.field("w"), ambit.scalar("m", "f4")
    inner = g.program(count(w, m))
    outer = g.program(ambit.call(inner, until=m >= 7, most=50), ambit.call(inner, 2))
    outer.run(1)
    assert w[0] == 9 and m.value == 9 and bool(m > 8) and not (m < 3)
    with pytest.raises(ambit.InvalidArgument, match="it has m"):
        inner.run(until="n < 3", most=1)
    for bad in ({}, {"iterations": 3, "to": 4}, {"until": "m < 3"}, {"until": "m is 3", "most": 1}):
        with pytest.raises(ambit.InvalidArgument):
            inner.run(**bad)


def test_callbacks_stop_and_raise():
    inc = ambit.kernel("void inc(float *u) { *u += 1; }")
    g = ambit.Grid(10)
    u = g.field("u")
    p = g.program(inc(u))
    seen = []

    @p.every(10)
    def look(program, i):
        seen.append((i, u[0]))
        return i >= 30
    assert p.run(100) == 30 and seen == [(10, 10), (20, 20), (30, 30)]
    p.every(5, lambda program, i: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        p.run(100)
    assert p.iterations == 35
    p.every(0)
    assert p.run(5) == 5 and u[0] == 40


def test_output_while_it_runs(tmp_path):
    inc = ambit.kernel("void inc(float *u) { *u += 1; }")
    g = ambit.Grid(4, 5)
    u = g.field("u")
    p = g.program(inc(u))
    p.output(2, tmp_path / "u%02d.npy", u)
    p.run(4)
    p.end_output()
    assert [np.load(tmp_path / f"u{i:02d}.npy")[0, 0] for i in (0, 2, 4)] == [0, 2, 4]


def test_files(tmp_path):
    g = ambit.Grid(4, 5, origin=(1, 2), spacing=(0.5, 0.25))
    u = g.field("u", "f8", value=rng.random((4, 5)))
    u.save(tmp_path / "u.npy")
    assert np.array_equal(np.load(tmp_path / "u.npy"), u[...])
    np.save(tmp_path / "v.npy", np.arange(20.0).reshape(4, 5))
    u.load(tmp_path / "v.npy")
    assert u[3, 4] == 19
    assert ambit.inspect(tmp_path / "v.npy")["shape"] == (4, 5)
    u.draw(tmp_path / "u.png", lo=0, hi=19, colours="viridis")
    assert ambit.inspect(tmp_path / "u.png")["dtype"] == np.dtype("u1")
    (tmp_path / "h.asc").write_text("ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 10\n1 2\n3 4\n")
    h = ambit.Grid(*ambit.inspect(tmp_path / "h.asc")["shape"]).field("h")
    h.load(tmp_path / "h.asc")
    assert np.array_equal(h[...], [[1, 2], [3, 4]]) and ambit.inspect(tmp_path / "h.asc")["spacing"] == (10, 10)


def test_sparse_grids(tmp_path):
    mask = rng.random((12, 13)) < 0.4
    np.save(tmp_path / "mask.npy", mask.astype("u1"))
    inc = ambit.kernel("void inc(float *u, sum long *n) { *u += 1; *n = 1; }")
    for m in (mask, tmp_path / "mask.npy", lambda i, j: mask[i, j], ambit.Grid(12, 13).field("m", "u1", value=mask)):
        g = ambit.Grid(12, 13, mask=m) if callable(m) else ambit.Grid(mask=m)
        u, n = g.field("u"), ambit.scalar("n")
        g.program(inc(u, n)).run(3)
        assert g.cells == n.value == mask.sum() and np.array_equal(u[...], 3 * mask)
    g.activate(~mask)
    assert g.cells == (~mask).sum()
    with pytest.raises(ambit.InvalidArgument):
        ambit.Grid(3, 4, mask=mask)


def test_nested_grids():
    fine, coarse = ambit.Grid.nested(8, 8, levels=2)
    u, v = fine.field("u", value=rng.random((8, 8))), coarse.field("v")
    take = ambit.kernel("void take(const float *u, float *v) { *v = *u; }")
    coarse.program(take(u.coarse(coarse, (0, 1)), v)).run(1)
    assert coarse.shape == (4, 4) and np.array_equal(v[...], u[::2, 1::2])


def test_weights_catalogue_and_stencil():
    a = rng.random((20, 30)).astype("f4")
    w = np.array([[0, 1, 0], [1, 4, 1], [0, 1, 0]])
    want = a.copy()
    want[1:-1, 1:-1] = (a[:-2, 1:-1] + a[1:-1, :-2] + 4 * a[1:-1, 1:-1] + a[1:-1, 2:] + a[2:, 1:-1]) / np.float32(8)
    assert np.allclose(ambit.stencil(w, a, divisor=8), want, rtol=1e-6)
    assert np.allclose(ambit.stencil(w / 8, a.astype("f8"), 1), want, rtol=1e-6)
    assert np.array_equal(ambit.stencil([1, 0], np.arange(5.0), 2, centre=(1,)), [0, 0, 0, 1, 2])
    assert ambit.stencil("2d4", a, 3).shape == a.shape
    g = ambit.Grid(*a.shape)
    u, v = g.field("u", boundary="fixed", value=a), g.field("v", boundary="fixed", value=a)
    g.program(ambit.stencil(w, divisor=8)(u, v)).run(1)
    assert np.allclose(v[...], want, rtol=1e-6)
    with pytest.raises(ambit.InvalidArgument, match="centre"):
        ambit.weights([1, 2])


def test_objects_are_freed_and_contexts_close():
    with ambit.open(devices="cpu") as a:
        assert ambit.current() is a
        for _ in range(20):
            g = ambit.Grid(1000, 1000)
            u, v = g.field("u", boundary="clamp"), g.field("v")
            p = g.program(ambit.catalogue("2d4")(u, v), ambit.swap(u, v))
            p.run(1)
        u.self = u  # a cycle
        del g, v, p
        assert len(a._garbage) <= 4
        del u
        gc.collect()
        g = ambit.Grid(4)
        assert a._garbage == []
    with pytest.raises(ambit.Error, match="closed"):
        g.cells
    assert ambit.current() is not a


def test_nothing_is_pickled_that_cannot_be(context):
    u = ambit.Grid(4).field("u")
    k = ambit.kernel("void f(float *u) { *u = 1; }")
    for thing in (context, u, u.grid, k, u.grid.program(k(u)), ambit.scalar("s")):
        with pytest.raises(TypeError, match="pickle"):
            pickle.dump(thing, io.BytesIO())
        with pytest.raises(TypeError, match="pickle"):
            copy.deepcopy(thing)


def test_options_and_command_lines():
    words = ["prog", "--size", "3", "--ambit-threads=1", "-v"]
    with ambit.open(argv=words, strict=True, checkpoint_every="3s") as a:
        assert words == ["prog", "--size", "3", "-v"]
        assert a.option("threads") == "1" and a.option("strict") == "1" and a.option("checkpoint_every") == "3s"
        assert a.option("depth", 1) == "1" and a.process == 0 and a.processes == 1
        with pytest.raises(ambit.OptionError):
            a.option("nothing")


def test_report_and_explanation():
    heat = ambit.kernel(HEAT)
    g = ambit.Grid(64, 64)
    u, v = g.field("u", boundary="clamp"), g.field("v")
    p = g.program(heat(u, v, 0.2, "change"), ambit.swap(u, v))
    p.run(10)
    assert "10 iterations" in p.report() and "heat" in p.report()
    text = str(p.explain())
    assert "reads u at 5 offsets (reach -1..+1, -1..+1)" in text and "max into change" in text and "swap u, v" in text
    assert p.explain()._repr_svg_().count("<rect") == 6
    s = p.stats()
    assert s.iterations == 10 and s.cells == 10 * 64 * 64


def test_progress_bars_run_all_iterations(capsys):
    heat = ambit.kernel(HEAT)
    results = []
    for progress in (False, True):
        g = ambit.Grid(64, 64)
        u, v = g.field("u", boundary="clamp", value=np.arange(4096).reshape(64, 64) % 7), g.field("v")
        p = g.program(heat(u, v, 0.2, "change"), ambit.swap(u, v))
        assert p.run(500, progress=progress) == 500
        p.run(until="change < 1e-4", most=5000, check_every=7, progress=progress)
        results.append((p.iterations, u[...]))
    assert results[0][0] == results[1][0] and np.array_equal(results[0][1], results[1][1])
    assert "500 of 500 iterations" in capsys.readouterr().err


def test_faces_have_values_that_change():
    g = ambit.Grid(4)
    u, v, wall = g.field("u", "f8"), g.field("v", "f8"), ambit.scalar("wall", "f8", 3.0)
    left = ambit.kernel("void left(const double *u, double *v) { *v = u[-1] + u[1]; }")
    u[:] = [1, 2, 3, 4]
    u.boundary("dirichlet", ambit.low(0), value=wall)
    u.boundary("neumann", ambit.high(0), value=0.5)
    p = g.program(left(u, v))
    p.run(1)
    assert v[:].tolist() == [2 * 3 - 1 + 2, 4, 6, 3 + 4 + 0.5]
    wall.value = 5
    p.run(1)
    assert v[:].tolist() == [2 * 5 - 1 + 2, 4, 6, 3 + 4 + 0.5]


def test_mirrors_can_exchange_components():
    g = ambit.Grid(3)
    u, v = g.field("u", "f4", components=2), g.field("v", "f4")
    u[:] = [[1, 2], [3, 4], [5, 6]]
    u.boundary("symmetric", permute=[1, 0])
    g.program(ambit.kernel("void k(const float *u[2], float *v) { *v = u[0][-1]; }")(u, v)).run(1)
    assert v[:].tolist() == [2, 1, 3]
    with pytest.raises(ambit.InvalidArgument, match="has 2 components"):
        u.boundary("symmetric", permute=[0])
