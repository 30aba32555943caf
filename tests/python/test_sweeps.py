# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps along an axis against NumPy."""
import numpy as np
import pytest

import ambit

rng = np.random.default_rng(11)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_prefix_sums(axis):
    values = rng.integers(-9, 9, (5, 6, 7)).astype("f8")
    g = ambit.Grid(5, 6, 7)
    u, v = g.field("u", "f8", value=values), g.field("v", "f8")
    others = [d for d in range(3) if d != axis]
    s = g.field("s", "f8", axes=others)
    add = ambit.kernel("void add(const double *u, double *s, double *v) { *s += *u; *v = *s; }")
    g.program(add(u, s, v).sweep(ambit.low(axis))).run(1)
    assert np.array_equal(v[...], values.cumsum(axis))
    s[...] = 0
    g.program(add(u, s, v).sweep(ambit.high(axis))).run(1)
    assert np.array_equal(v[...], np.flip(np.flip(values, axis).cumsum(axis), axis))
    v[...] = 0
    s[...] = 0
    g.program(add(u, s, v).sweep(ambit.low(axis)).box(np.s_[1:4, 1:4, 1:4])).run(1)
    assert np.array_equal(v[1:4, 1:4, 1:4], values[1:4, 1:4, 1:4].cumsum(axis))
    assert not v[0].any()


@pytest.mark.parametrize("axis", [0, 1])
def test_tridiagonal_systems(axis):
    """Against the dense solver of NumPy, and the banded one of SciPy where there is one."""
    shape, n = (12, 15), (12, 15)[axis]
    lower, main, upper = rng.random(shape), 3 + rng.random(shape), rng.random(shape)
    right = rng.random(shape)
    g = ambit.Grid(*shape)
    l, d, u, b = (g.field(name, "f8", value=x) for name, x in zip("ldub", (lower, main, upper, right)))
    f, x = g.field("f", "f8"), g.field("x", "f8")
    c, r, nxt = (g.field(name, "f8", axes=[1 - axis]) for name in ("c", "r", "nxt"))
    down = ambit.kernel("void down(const double *l, const double *d, const double *u, double *b, double *c, double *r, double *f)\n"
                        "{ double m = 1 / (*d - *l * *c); *c = *u * m; *f = *c; *r = (*b - *l * *r) * m; *b = *r; }")
    up = ambit.kernel("void up(const double *f, const double *b, double *nxt, double *x) { *nxt = *b - *f * *nxt; *x = *nxt; }")
    g.program(down(l, d, u, b, c, r, f).sweep(ambit.low(axis)), up(f, b, nxt, x).sweep(ambit.high(axis))).run(1)
    got = np.moveaxis(x[...], axis, 0)
    lower, main, upper, right = (np.moveaxis(a, axis, 0) for a in (lower, main, upper, right))
    for k in range(got.shape[1]):
        matrix = np.diag(main[:, k]) + np.diag(lower[1:, k], -1) + np.diag(upper[:-1, k], 1)
        assert np.allclose(got[:, k], np.linalg.solve(matrix, right[:, k]), rtol=1e-13, atol=1e-14)
        try:
            from scipy.linalg import solve_banded
        except ImportError:
            continue
        band = np.zeros((3, n))
        band[0, 1:], band[1], band[2, :-1] = upper[:-1, k], main[:, k], lower[1:, k]
        assert np.allclose(got[:, k], solve_banded((1, 1), band, right[:, k]), rtol=1e-13, atol=1e-14)


def test_wrong_sweeps_are_refused():
    g = ambit.Grid(4, 5)
    u, c = g.field("u"), g.field("c", axes=[0])
    k = ambit.kernel("void f(float *c, float *u) { *c += 1; *u = *c; }")
    with pytest.raises(ambit.Error, match="axis 0 only"):
        g.program(k(c, u).sweep(ambit.low(0)))
    with pytest.raises(ambit.Error, match="one face"):
        g.program(k(c, u).sweep(ambit.low(0) | ambit.low(1)))
