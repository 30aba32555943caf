# SPDX-License-Identifier: BSD-3-Clause
"""Points, records and histories against NumPy."""
import numpy as np
import pytest

import ambit

rng = np.random.default_rng(5)
INC = "void inc(double *u, max double *m) { *u += 1; *m = *u; }"


def test_samples_and_injections(tmp_path):
    g = ambit.Grid(8, 9)
    u = g.field("u", "f8")
    at = np.array([[1, 2], [3.5, 4], [6.25, 7.75]])
    values = rng.random((5, 3))
    source, seen = ambit.Record("source", values), ambit.Record("seen")
    points, near = ambit.Points(g, at), ambit.Points(g, at, "nearest")
    p = g.program(ambit.inject(points, source, u), ambit.sample(near, u, seen), ambit.inject(points, 0.5, u).every(5))
    p.run(5)
    total = np.cumsum(values, 0)
    want = np.stack([total[:, 0], 0.5 * total[:, 1], 0.75 * 0.75 * total[:, 2]], 1)
    assert seen.shape == (5, 3) and np.allclose(seen[...], want) and np.allclose(source[...], values)
    assert np.isclose(u[...].sum(), total[-1].sum() + 1.5) and len(points) == 3
    seen.save(tmp_path / "seen.npy")
    assert np.array_equal(np.load(tmp_path / "seen.npy"), np.asarray(seen))
    near.move(at[::-1])
    source.rewind()
    p.run(1)
    assert len(seen) == 6
    with pytest.raises(ambit.InvalidArgument, match="n x 2"):
        ambit.Points(g, [1, 2, 3])
    with pytest.raises(ambit.InvalidArgument):
        near.move([[1, 1]])


def test_weights_of_ones_own():
    g = ambit.Grid(10)
    u, seen = g.field("u", "f8", value=np.arange(10.0)), ambit.Record("seen")
    points = ambit.Points(g, [2, 5], weights=[[1, 2, 0], [0, 0, 3]])
    g.program(ambit.sample(points, u, seen)).run(1)
    assert np.array_equal(seen[0], [2 + 2 * 3, 3 * 7])


def test_histories_wavelets_sponges_and_coefficients():
    g = ambit.Grid(10)
    u = g.field("u", "f8")
    p = g.program(ambit.kernel(INC)(u, "m"))
    h = p.history("m", 2)
    p.run(6)
    assert np.array_equal(h[:, 0], [2, 4, 6]) and h.name == "m" and np.array_equal(h.iterations, [2, 4, 6])
    counts = [ambit.Scalar(f"c{i}") for i in range(2)]
    q = g.program(ambit.kernel(INC)(u, "m"), ambit.histogram(u, 0, 20, counts))
    both = q.history([*counts, "m"], 2)
    q.run(5)
    assert np.array_equal(both[:], [[10, 0, 8], [0, 10, 10]]) and np.array_equal(both.iterations, [2, 4])
    t = np.arange(50) * 0.01 - 1.2 / 12
    s = (np.pi * 12 * t) ** 2
    assert np.allclose(ambit.ricker(12, 0.01, 50, 3)[:, 0], 3 * (1 - 2 * s) * np.exp(-s), atol=1e-6)
    u.sponge(4, 2.0, ambit.low(0))
    assert np.isclose(u[0], 2) and (u[4:] == 0).all() and (np.diff(u[:5]) < 0).all()
    assert np.allclose(ambit.coefficients(2, 4), np.array([-1, 16, -30, 16, -1]) / 12)
    with pytest.raises(ambit.InvalidArgument):
        ambit.coefficients(1, 3)


@pytest.mark.parametrize("devices", ["cpu", "cpu*3"])
def test_steps_of_ones_own(devices):
    with ambit.open(devices=devices):
        g = ambit.Grid(12, 7)
        a = rng.random((12, 7))
        u, v = g.field("u", "f8", boundary="periodic", value=a), g.field("v", "f8", components=2)
        parts = []

        def mean(part, x, y):
            parts.append(part)
            assert x.shape == (part.hi[0] - part.lo[0] + 2, part.hi[1] - part.lo[1] + 2) and not x.flags.writeable
            y[..., 0] = (x[:-2, 1:-1] + x[2:, 1:-1]) / 2
            y[..., 1] += 1
        p = g.program(ambit.host(mean, reads=[u], writes=[v], around=1))
        p.run(2)
        assert np.array_equal(v[..., 0], (np.roll(a, 1, 0) + np.roll(a, -1, 0)) / 2) and (v[..., 1] == 2).all()
        assert len(parts) == 2 * parts[0].parts and parts[-1].step == 1
        q = g.program(ambit.host(lambda part, x: 1 / 0, reads=[u]))
        with pytest.raises(ZeroDivisionError):
            q.run(1)
