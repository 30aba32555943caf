# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Heat in a plate
#
# A plate is hot along its first row and cold along the others. The rule of one cell is a text in the kernel language, or a
# Python function: both are compiled for the processor, or for a GPU.

# %%
import ambit
import numpy as np

rule = ambit.kernel("""
void heat(const double *u, double *v, double k, max double *change)
{ *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);  *change = fabs(*v - *u); }""")


@ambit.kernel
def heat(u, v, k, change: "max"):
    v[0, 0] = u[0, 0] + k * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1] - 4 * u[0, 0])
    change = abs(v[0, 0] - u[0, 0])


# %% [markdown]
# Reads outside the grid give 100 above the first row, and 0 elsewhere. The program runs until no cell changes by more than
# a given number.

# %%
g = ambit.Grid(64, 64)
u = g.field("u", "f8", boundary={ambit.ALL_FACES: 0, ambit.low(0): 100})
v = g.field("v", "f8")
p = g.program(rule(u, v, 0.24, "change"), ambit.swap(u, v))
p.run(until="change < 1e-6", most=100000, progress=True)
print(p.iterations, "iterations")
u

# %% [markdown]
# The result is the discrete harmonic function: the mean of its neighbours in every cell. NumPy solves the same equations
# directly.

# %%
n = 64
second = np.diag(np.full(n, 2.0)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
values, vectors = np.linalg.eigh(second)
right = np.zeros((n, n))
right[0] = 100
exact = vectors @ ((vectors.T @ right @ vectors) / (values[:, None] + values)) @ vectors.T
error = np.abs(u[...] - exact).max()
print(f"largest difference {error:.1e}")
assert error < 1e-2

# %% [markdown]
# The Python function becomes a text like the other one, for the types of the fields. It goes on where that one ended.

# %%
q = g.program(heat(u, v, 0.24, "change"), ambit.swap(u, v))
q.run(100)
print(heat.c_source)
assert np.abs(u[...] - exact).max() < error
print(p.explain())
