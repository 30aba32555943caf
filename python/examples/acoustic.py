# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Data for acoustic inversion
#
# Shots at the surface of a layered medium, recorded by a line of receivers: the data from which an inversion finds the
# velocities. The wave equation, of second order in time and fourth in space, with an absorbing layer.

# %%
import ambit
import numpy as np

NZ, NX, STEPS = 120, 200, 500
DX, DT, PEAK = 10.0, 1e-3, 12.0  # metres, seconds, hertz


@ambit.kernel
def wave(past, now, new, speed, damp, source):
    c = speed[0, 0] * (DT / DX)
    lap = -(now[-2, 0] + now[2, 0] + now[0, -2] + now[0, 2]) / 12 \
        + 4 * (now[-1, 0] + now[1, 0] + now[0, -1] + now[0, 1]) / 3 - 5 * now[0, 0]
    a = damp[0, 0]
    new[0, 0] = ((2 * now[0, 0] - (1 - a) * past[0, 0]) + c * c * lap) / (1 + a)
    if ambit.index(0) == 4 and ambit.index(1) == source:
        t = ambit.step() * DT - 1.2 / PEAK
        s = (3.14159265 * PEAK * t) ** 2
        new[0, 0] += (1 - 2 * s) * np.exp(-s)


def layer(n, width=20, most=0.06):
    """Damping that grows towards both ends of an axis."""
    d = np.minimum(np.arange(n), np.arange(n)[::-1])
    return most * np.clip(1 - d / width, 0, 1) ** 2


# %%
depth = np.arange(NZ)[:, None] + 8 * np.sin(np.arange(NX) / 25)
model = np.where(depth < 45, 1500.0, np.where(depth < 80, 2200.0, 3000.0))


def shoot(model, column):
    """The record of one shot: time by receiver."""
    g = ambit.Grid(NZ, NX)
    past, now, new = (g.field(name, "f4", boundary=0) for name in ("past", "now", "new"))
    speed = g.field("speed", "f4", value=model)
    damp = g.field("damp", "f4", value=np.maximum(layer(NZ)[:, None], layer(NX)))
    p = g.program(wave(past, now, new, speed, damp, column), ambit.rotate(past, now, new))
    record = np.zeros((STEPS, NX), "f4")

    @p.every(1)
    def look(p, i):
        record[i - 1] = now[6, :]
    p.run(STEPS)
    return record, now


# %% [markdown]
# The direct wave arrives at the time that the distance and the velocity of the first layer say. The difference between the
# record and that of a homogeneous medium is what the layers reflect.

# %%
record, now = shoot(model, 60)
plain, _ = shoot(np.full((NZ, NX), 1500.0), 60)
pulse = 1.2 / PEAK
for receiver in (90, 110):
    peak = np.abs(plain[:, receiver]).argmax() * DT
    wanted = pulse + (receiver - 60) * DX / 1500
    print(f"receiver {receiver}: {peak:.3f} s, wanted {wanted:.3f} s")
    assert abs(peak - wanted) < 0.03
reflected = np.abs(record - plain)
assert reflected[:40].max() < 1e-6 < reflected.max()  # nothing comes back at once
now

# %% [markdown]
# The data: one record per shot.

# %%
data = np.stack([shoot(model, column)[0] for column in (40, 100, 160)])
print("data", data.shape, f"{data.nbytes / 1e6:.1f} MB")
ambit.Grid.from_array(record - plain, "record")
