# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Lattice Boltzmann: vortices that decay
#
# Nine populations per cell (D2Q9) stream to the neighbours and relax towards equilibrium. Two shear layers roll up into
# vortices. Before that, a Taylor-Green vortex checks the viscosity.

# %%
import math

import ambit
import numpy as np

CX = (0, 1, 0, -1, 0, 1, -1, -1, 1)
CY = (0, 0, 1, 0, -1, 1, 1, -1, -1)
W = (4 / 9,) + (1 / 9,) * 4 + (1 / 36,) * 4


def equilibrium(w, rho, cu, uu):
    return w * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu)


@ambit.kernel
def step(f, g, omega):
    h = [0.0] * 9
    rho, ux, uy = 0.0, 0.0, 0.0
    for i in range(9):
        h[i] = f[i, -CY[i], -CX[i]]
        rho += h[i]
        ux += CX[i] * h[i]
        uy += CY[i] * h[i]
    ux = ux / rho
    uy = uy / rho
    for i in range(9):
        e = equilibrium(W[i], rho, CX[i] * ux + CY[i] * uy, ux * ux + uy * uy)
        g[i, 0, 0] = h[i] + omega * (e - h[i])


@ambit.kernel
def velocity(f, u):
    rho = 0.0
    for i in range(9):
        rho += f[i, 0, 0]
    u[0, 0, 0] = (f[1, 0, 0] - f[3, 0, 0] + f[5, 0, 0] - f[6, 0, 0] - f[7, 0, 0] + f[8, 0, 0]) / rho
    u[1, 0, 0] = (f[2, 0, 0] - f[4, 0, 0] + f[5, 0, 0] + f[6, 0, 0] - f[7, 0, 0] - f[8, 0, 0]) / rho


@ambit.kernel
def vorticity(u, w):
    w[0, 0] = (u[1, 0, 1] - u[1, 0, -1] - u[0, 1, 0] + u[0, -1, 0]) / 2


def flow(n, ux, uy):
    """Fields and a program for n x n cells with this velocity at the start."""
    grid = ambit.Grid(n, n)
    f, g = (grid.field(name, "f8", components=9, boundary="periodic") for name in "fg")
    start = np.empty((n, n, 9))
    for i in range(9):
        cu = CX[i] * ux + CY[i] * uy
        start[..., i] = W[i] * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy))
    f[...] = start
    u = grid.field("u", "f8", components=2, boundary="periodic")
    w = grid.field("w", "f8")
    return f, u, w, lambda nu: grid.program(step(f, g, 1 / (3 * nu + 0.5)), ambit.swap(f, g)), grid.program(
        velocity(f, u), vorticity(u, w))


# %% [markdown]
# The energy of a Taylor-Green vortex decays as $e^{-4 \nu k^2 t}$.

# %%
n, nu, steps = 64, 0.05, 300
k = 2 * math.pi / n
y, x = np.mgrid[0:n, 0:n]
f, u, w, program, look = flow(n, 0.01 * np.cos(k * x) * np.sin(k * y), -0.01 * np.sin(k * x) * np.cos(k * y))
look.run(1)
before = (u[...] ** 2).sum()
program(nu).run(steps)
look.run(1)
decay = math.log(before / (u[...] ** 2).sum()) / (4 * k * k * steps)
print(f"viscosity {decay:.5f}, wanted {nu}")
assert abs(decay / nu - 1) < 0.01

# %% [markdown]
# Two shear layers, slightly bent. The picture is the vorticity.

# %%
n = 128
y, x = np.mgrid[0:n, 0:n] / n
f, u, w, program, look = flow(n, 0.1 * np.where(y < 0.5, np.tanh(40 * (y - 0.25)), np.tanh(40 * (0.75 - y))),
                              0.005 * np.sin(2 * np.pi * (x + 0.25)))
p = program(0.002)
p.run(2000, progress=True)
look.run(1)
assert np.isfinite(w[...]).all() and abs(w[...].sum()) < 1e-6
w
