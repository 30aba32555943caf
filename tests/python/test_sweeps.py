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
    """Against the dense solver of NumPy."""
    shape = (12, 15)
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


COLUMNS = """
/* (1 + a + b + s) q - a q(above) - b q(below) - s q(above): mixing with the layers above and below, settling at speed w */
void down(const double *q, const double *k, double dt, double w, double *c, double *r, double *f, double *y)
{
  double a = index(0) > 0 ? *k * dt : 0, b = outside(1, 0, 0) ? 0 : k[1][0][0] * dt, s = w * dt;
  double in = index(0) > 0 ? a + s : 0, out = outside(1, 0, 0) ? 0 : s;
  double m = 1 / (1 + a + b + out - in * *c);

  *c = b * m;
  *r = (*q + in * *r) * m;
  *f = *c;
  *y = *r;
}
void up(const double *f, const double *y, double *nxt, double *q, sum double *mass) { *nxt = *y + *f * *nxt; *q = *nxt; *mass = *q; }
void begin(double *c, double *r, double *nxt) { *c = 0; *r = 0; *nxt = 0; }
"""


def test_column_physics_against_scipy():
    """Dust that is mixed and settles in columns of air, implicitly, with steps far beyond explicit ones."""
    linalg = pytest.importorskip("scipy.linalg", reason="there is no SciPy; scripts/setup check-all installs it")
    n, dt, w, steps = 20, 5.0, 0.3, 6
    dust, mixing = rng.random((n, 3, 4)), 2 * rng.random((n, 3, 4))
    g = ambit.Grid(n, 3, 4)
    q, k = g.field("q", "f8", value=dust), g.field("k", "f8", value=mixing)
    f, y = g.field("f", "f8"), g.field("y", "f8")
    c, r, nxt = (g.field(name, "f8", axes=[1, 2]) for name in ("c", "r", "nxt"))
    mass = ambit.Scalar("mass")
    down, up, begin = (ambit.kernel(COLUMNS, name=name) for name in ("down", "up", "begin"))
    g.program(begin(c, r, nxt), down(q, k, dt, w, c, r, f, y).sweep(ambit.low(0)),
              up(f, y, nxt, q, mass).sweep(ambit.high(0))).run(steps)
    want = dust.copy()
    for i in range(3):
        for j in range(4):
            a = dt * mixing[:, i, j]
            a[0] = 0
            b, s = np.append(a[1:], 0), np.full(n, w * dt)
            band = np.zeros((3, n))
            band[0, 1:] = -b[:-1]
            band[1] = 1 + a + b + np.append(s[:-1], 0)
            band[2, :-1] = -(a + s)[1:]
            for _ in range(steps):
                want[:, i, j] = linalg.solve_banded((1, 1), band, want[:, i, j])
    assert np.allclose(q[...], want, rtol=1e-11, atol=1e-12)
    assert np.isclose(mass.value, dust.sum(), rtol=1e-12)  # nothing is lost


def test_wrong_sweeps_are_refused():
    g = ambit.Grid(4, 5)
    u, c = g.field("u"), g.field("c", axes=[0])
    k = ambit.kernel("void f(float *c, float *u) { *c += 1; *u = *c; }")
    with pytest.raises(ambit.Error, match="axis 0 only"):
        g.program(k(c, u).sweep(ambit.low(0)))
    with pytest.raises(ambit.Error, match="one face"):
        g.program(k(c, u).sweep(ambit.low(0) | ambit.low(1)))
