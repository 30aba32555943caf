# SPDX-License-Identifier: BSD-3-Clause
"""Ambit: iterative stencil computations. Write the rule for one cell, run it on any device.

    import ambit, numpy as np

    heat = ambit.kernel('''
    void heat(const float *u, float *v, float k, max float *change)
    { *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);  *change = fabsf(*v - *u); }''')

    g = ambit.Grid(512, 512)
    u, v = g.field("u", "f4", boundary="clamp"), g.field("v", "f4")
    u[:] = np.random.rand(512, 512)
    p = g.program(heat(u, v, 0.2, ambit.scalar("change")), ambit.swap(u, v))
    p.run(until="change < 1e-4", most=100000)
    u.save("plate.png")

docs/python.md is the guide, docs/language.md the language of kernels.
"""
from . import _declarations as _c
from ._context import Context, current, open
from ._errors import (CompileError, DeviceError, Error, FileError, InvalidArgument, KernelError, NoDevice, OptionError,
                      OutOfMemory, ProcessError, ProgramError, Unsupported, ViewError)
from ._explain import Explanation
from ._field import ALL_FACES, INACTIVE, Field, axis, high, inspect, low, save
from ._grid import Grid, empty
from ._host import Part, host
from ._kernel import (Apply, Kernel, Param, Step, catalogue, kernel, load_kernel, register_cpu, register_source, stencil,
                      weights)
from ._points import Points, Record, coefficients, inject, ricker, sample
from ._program import Program, Stats, call, copy, histogram, measure, resample, rotate, swap
from ._scalar import Condition, Scalar, scalar
from ._stream import Stream
from ._translate import extent, index, normal, outside, step

__version__ = f"{_c.AMBIT_VERSION_MAJOR}.{_c.AMBIT_VERSION_MINOR}.{_c.AMBIT_VERSION_PATCH}"

__all__ = [
    "ALL_FACES", "Apply", "CompileError", "Condition", "Context", "DeviceError", "Error", "Explanation", "Field", "FileError",
    "Grid", "INACTIVE", "InvalidArgument", "Kernel", "KernelError", "NoDevice", "OptionError", "OutOfMemory", "Param", "Part", "Points",
    "ProcessError", "Program", "ProgramError", "Record", "Scalar", "Stats", "Step", "Stream", "Unsupported", "ViewError", "axis", "call",
    "catalogue", "coefficients", "copy", "current", "empty", "extent", "high", "histogram", "host", "index", "inject", "inspect", "kernel", "load_kernel", "low", "measure", "normal", "open", "outside", "register_cpu",
    "register_source", "resample", "ricker", "rotate", "sample", "save", "scalar", "stencil", "step", "swap", "weights",
]
