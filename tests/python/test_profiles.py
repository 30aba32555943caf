# SPDX-License-Identifier: BSD-3-Clause
"""Fields on some axes against NumPy."""
import numpy as np
import pytest

import ambit

rng = np.random.default_rng(7)


def test_sums_and_reads_along_axes(tmp_path):
    values = rng.random((6, 5, 4))
    g = ambit.Grid(6, 5, 4)
    f, h = g.field("f", "f8", value=values), g.field("h", "f8")
    n = g.field("n", "f8", axes=[0], boundary="periodic")
    k = ambit.kernel("void add(const double *f, sum double *n) { *n = *f; }")
    spread = ambit.kernel("void spread(const double *n, double *h) { *h = n[1][0][0]; }")
    g.program(k(f, n), spread(n, h)).run(1)
    want = values.sum((1, 2), keepdims=True)
    assert n.shape == (6, 1, 1) and np.allclose(n[...], want)
    assert np.allclose(h[...], np.broadcast_to(np.roll(want, -1, 0), (6, 5, 4)))
    n.save(tmp_path / "n.npy")
    assert np.load(tmp_path / "n.npy").shape == (6, 1, 1)
    n[2:4] = 1
    assert n[3, 0, 0] == 1 and not n[4, 0, 0] == 1


def test_several_components():
    values = rng.random((6, 5))
    g = ambit.Grid(6, 5)
    f, m = g.field("f", "f8", value=values), g.field("m", "f8", axes=[0], components=2)
    k = ambit.kernel("void moments(const double *f, sum double *m[2], max float *top)"
                     "{ *m[0] = *f; *m[1] = *f * *f; *top = (float)*f; }")
    top = ambit.Scalar("top")
    g.program(k(f, m, top)).run(1)
    assert m.shape == (6, 1, 2)
    assert np.allclose(m[...][:, 0], np.stack([values.sum(1), (values**2).sum(1)], 1))
    assert np.isclose(top.value, values.max())
    with pytest.raises(ambit.InvalidArgument, match="2 components, but field 'm' has 3"):
        g.program(k(f, g.field("m", "f8", axes=[0], components=3), top))
