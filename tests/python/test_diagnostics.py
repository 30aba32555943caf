# SPDX-License-Identifier: BSD-3-Clause
"""Measures and histograms against NumPy."""
import numpy as np
import pytest

import ambit

rng = np.random.default_rng(3)


def test_measures_and_histograms():
    values = rng.standard_normal((20, 30))
    g = ambit.Grid(20, 30)
    u = g.field("u", "f8", value=values)
    names = {"mean": values.mean(), "norm1": abs(values).sum(), "norm2": np.sqrt((values**2).sum()),
             "normmax": abs(values).max(), "min": values.min(), "max": values.max()}
    scalars = {n: ambit.scalar(n, "f8") for n in names}
    place = ambit.scalar("place", "i8")
    counts = [ambit.scalar(f"n{k}", "i8") for k in range(19)]
    g.program(*(ambit.measure(u, n, s) for n, s in scalars.items() if n != "min"),
              ambit.measure(u, "min", scalars["min"], place), ambit.histogram(u, -2, 2, counts)).run(1)
    for n, want in names.items():
        assert np.isclose(scalars[n].value, want, rtol=1e-13)
    assert place.value == values.argmin()
    assert [s.value for s in counts] == list(np.histogram(values, 19, (-2, 2))[0])
    bins = g.field("bins", "i8", components=19, axes=[])
    rows = g.field("rows", "i8", components=19, axes=[0])
    add = ambit.kernel("void add(const double *u, sum double *w[19]) { *w[(int)floor((*u + 2) * 4.75)] += *u; }")
    weights = g.field("weights", "f8", components=19, axes=[])
    g.program(ambit.histogram(u, -2, 2, bins), ambit.histogram(u, -2, 2, rows), add(u, weights)).run(1)
    assert [s.value for s in counts] == list(bins[...].ravel())
    assert (rows[...].reshape(20, 19).sum(0) == bins[...].ravel()).all()
    assert np.allclose(weights[...].ravel(), np.histogram(values, 19, (-2, 2), weights=values)[0])
    with pytest.raises(ambit.InvalidArgument, match="no measure"):
        ambit.measure(u, "median", scalars["min"])
