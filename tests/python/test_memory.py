# SPDX-License-Identifier: BSD-3-Clause
"""Views and DLPack: the memory of a field without a copy."""
import gc

import numpy as np
import pytest

import ambit

rng = np.random.default_rng(3)


def heat_on(shape=(20, 30), dtype="f4"):
    g = ambit.Grid(*shape)
    u, v = g.field("u", dtype, boundary="clamp"), g.field("v", dtype)
    return u, v, g.program(ambit.catalogue("2d4")(u, v), ambit.swap(u, v))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "i2", "i8", "f2", "u2"])
@pytest.mark.parametrize("components, order", [(None, "soa"), (3, "soa"), (3, "aos")])
def test_a_view_is_the_memory(dtype, components, order):
    u = ambit.Grid(5, 7, 6).field("u", dtype, components=components, order=order)
    a = rng.integers(0, 100, u.shape).astype(dtype)
    u[...] = a
    view = u.view()
    assert view.shape == u.shape and view.dtype == u.dtype and np.array_equal(view, a)
    view[1:3, ::2] = 7
    a[1:3, ::2] = 7
    assert np.array_equal(u[...], a)


def test_values_written_to_a_view_are_seen_by_programs():
    """Ghost cells too, which a run before has filled."""
    u, v, p = heat_on()
    u[...] = 1
    p.run(1)
    view = u.view()
    view[...] = rng.random((20, 30))
    start = view.copy()
    del view
    p.run(3)
    w, x, q = heat_on()
    w[...] = start
    q.run(3)
    assert np.array_equal(u[...], w[...])


def test_programs_do_not_run_while_a_view_is_in_use():
    u, v, p = heat_on()
    view = u.view()[3:5]  # a part of it keeps it, too
    with pytest.raises(ambit.ViewError, match="views of the memory of u are in use"):
        p.run(1)
    with pytest.raises(BufferError):
        u.context.close()
    del view
    assert p.run(1) == 1


def test_a_view_keeps_its_field():
    u = ambit.Grid(1000, 1000).field("u", value=3)
    view = u.view()
    del u
    gc.collect()
    g = ambit.Grid(4)  # works off what is to be freed
    assert (view == 3).all()
    del g, view


def test_what_cannot_be_shown_says_why():
    with ambit.open(devices="cpu*2"):
        with pytest.raises(ambit.Unsupported, match="several parts"):
            ambit.Grid(8, 8).field("u").view()
    with pytest.raises(ambit.Unsupported, match="sparse"):
        ambit.Grid(mask=np.eye(5)).field("u").view()
    with pytest.raises(ValueError, match="view"):
        ambit.Grid(4).field("u").__array__(copy=False)


def test_from_array_copies_and_makes_a_grid():
    a = rng.random((4, 5, 3))
    f = ambit.Grid.from_array(a, "f", components=True, boundary="periodic")
    assert f.grid.shape == (4, 5) and f.components == 3 and np.array_equal(f[...], a)
    a[0] = 0
    assert f[0].any()
    assert "ghost cells" in f.copied and ambit.Grid(3).field("x").copied is None
    g = ambit.Grid.from_array(ambit.Grid.from_array(np.arange(6.0)), "g")
    assert g.name == "g" and np.array_equal(g[...], np.arange(6))
    with pytest.raises(BufferError, match="ghost cells around them; ambit.empty"):
        ambit.Grid.from_array(a, components=True, copy=False)


@pytest.mark.parametrize("show", [lambda a: a, np.from_dlpack], ids=["array", "dlpack"])
def test_from_array_takes_over_the_memory_of_a_field(show):
    a = ambit.empty((20, 30), "f8")
    address, start = a.ctypes.data, rng.random((20, 30))
    a[...] = start
    b = show(a)
    u = ambit.Grid.from_array(b, boundary="clamp", copy=False)
    assert u.copied is None and u.view().ctypes.data == address and u.name == "u"
    v = u.grid.field("v", "f8")
    p = u.grid.program(ambit.catalogue("2d4")(u, v), ambit.swap(u, v))
    with pytest.raises(ambit.ViewError):
        p.run(2)
    del a, b
    p.run(2)
    w, x, q = heat_on(dtype="f8")
    w[...] = start
    q.run(2)
    assert np.array_equal(u[...], w[...])


def test_from_array_says_why_it_copies():
    u = ambit.Grid(6, 7).field("u", "f4", components=2, value=rng.random((6, 7, 2)))
    m = u.view()
    assert ambit.Grid.from_array(m, components=True) is u
    for array, options, why in ((m, {}, "another shape"), (m[:3], {"components": True}, "in part"),
                                (m, {"components": True, "copy": True}, "copy=True"),
                                (m.view("i4"), {"components": True}, "another shape or type"),
                                (m, {"components": True, "name": "v"}, "memory of field 'u', and 'v'"),
                                (m[1:], {"components": True}, "not that of a field"),
                                (m.copy(), {"components": True}, "not that of a field")):
        f = ambit.Grid.from_array(array, **options)
        assert f is not u and why in f.copied and np.array_equal(f[...], array), why
    with ambit.open(devices="cpu"):  # another context
        assert "not that of a field" in ambit.Grid.from_array(m, components=True).copied


def test_memory_of_a_gpu_that_does_not_leave_it_says_so():
    class Tensor:
        def __dlpack__(self, **how):
            raise BufferError("no copies")

        def __dlpack_device__(self):
            return 2, 0
    with pytest.raises(BufferError, match="on a GPU, and cannot be copied from there"):
        ambit.Grid.from_array(Tensor())


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "i8", "f2"])
def test_numpy_takes_dlpack(dtype):
    u = ambit.Grid(5, 7).field("u", dtype, components=2)
    a = rng.integers(0, 100, u.shape).astype(dtype)
    u[...] = a
    assert u.__dlpack_device__() == (1, 0)
    x = np.from_dlpack(u)
    assert np.array_equal(x, a) and x.dtype == u.dtype and u.context._views
    del x
    gc.collect()
    assert not u.context._views
    capsule = u.__dlpack__()  # that nobody takes over
    assert u.context._views
    del capsule
    assert not u.context._views
    for bad in ({"copy": True}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            u.__dlpack__(**bad)


def test_jax_takes_and_gives_dlpack():
    jax = pytest.importorskip("jax", reason="there is no JAX; scripts/setup check-all installs it")
    u = ambit.Grid(128).field("u", "f4", value=rng.random(128))  # JAX takes memory without gaps only
    x = jax.dlpack.from_dlpack(u)
    assert np.array_equal(np.asarray(x), u[...])
    f = ambit.Grid.from_array(2 * x)
    assert np.array_equal(f[...], 2 * u[...])


def test_torch_takes_and_gives_dlpack():
    torch = pytest.importorskip("torch", reason="there is no torch; pip install torch in build/python")
    u = ambit.Grid(5, 7).field("u", "f4", value=rng.random((5, 7)))
    t = torch.from_dlpack(u)
    t += 1
    assert np.array_equal(u[...], t.numpy()) and t.shape == (5, 7)
    b = ambit.Grid(4).field("b", "bfloat16", value=[1, 2, 3, 0.1])
    assert torch.from_dlpack(b).dtype == torch.bfloat16 and np.array_equal(torch.from_dlpack(b).float().numpy(), b[...])
    assert ambit.Grid.from_array(t, copy=False) is u
    f = ambit.Grid.from_array(torch.arange(6).reshape(2, 3))
    assert "not that of a field" in f.copied and np.array_equal(f[...], np.arange(6).reshape(2, 3))
    del t
    gc.collect()
    assert not u.context._views
