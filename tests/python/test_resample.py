# SPDX-License-Identifier: BSD-3-Clause
"""Cells of other grids and types against NumPy."""
import numpy as np
import pytest

import ambit

rng = np.random.default_rng(5)


def test_averages_copies_and_interpolation():
    values = rng.random((12, 18))
    g, h, k = ambit.Grid(12, 18), ambit.Grid(4, 9), ambit.Grid(24, 18)
    u = g.field("u", "f8", value=values)
    v, w = h.field("v", "f8"), k.field("w", "f4")
    h.program(ambit.resample(u, v)).run(1)
    assert np.allclose(v[...], values.reshape(4, 3, 9, 2).mean((1, 3)), rtol=1e-14)
    k.program(ambit.resample(u, w)).run(1)
    at = (np.arange(24) + 0.5) / 2 - 0.5
    want = np.stack([np.interp(at, np.arange(12), values[:, x]) for x in range(18)], 1)
    assert np.allclose(w[...], want, rtol=1e-6)
    i = h.field("i", "i4")
    h.program(ambit.copy(u, i, np.s_[8:12, 2:11], at=(0, 0))).run(1)
    assert np.array_equal(i[...], values[8:12, 2:11].astype("i4"))
    with pytest.raises(ambit.Error, match="divides"):
        h.program(ambit.resample(u, v, np.s_[0:11, 0:18]))
