# SPDX-License-Identifier: BSD-3-Clause
"""Steps of one's own: Python functions on the arrays of each part (docs/own.md)."""
import ctypes
from typing import Any, Callable, List, NamedTuple, Sequence, Tuple

import numpy as np

from . import _declarations as c
from ._field import Field
from ._kernel import Step
from ._library import lib
from ._types import storage_dtype


class Part(NamedTuple):
    """A part of the grid: the cells lo <= i < hi, of a grid of this extent."""

    lo: Tuple[int, ...]
    hi: Tuple[int, ...]
    extent: Tuple[int, ...]
    step: int
    number: int
    parts: int


class Host(Step):
    """Calls a function with a part and arrays that are the memory of its cells."""

    def __init__(self, function: Callable[..., Any], reads: Sequence[Field], writes: Sequence[Field], around: int) -> None:
        self.function, self.around = function, around
        only = [f for f in reads if f not in writes]
        self.fields = only + list(writes)
        self.modes = [c.AMBIT_READ | around << 8] * len(only) + [c.AMBIT_READ | c.AMBIT_WRITE] * len(writes)

    def _objects(self) -> List[Any]:
        return list(self.fields)

    def _append(self, program: Any) -> None:
        context = program.context

        def call(part: Any, user: Any) -> int:
            try:
                p = part.contents
                n = p.ndims
                arrays = [self.array(p, i, f) for i, f in enumerate(self.fields)]
                self.function(Part(tuple(p.lo[:n]), tuple(p.hi[:n]), tuple(p.extent[:n]), p.step, p.number, p.count), *arrays)
                return 0
            except BaseException as e:  # comes out of run()
                context._raised = e
                return 1
        self.call = c.ambit_host_fn(call)  # kept as long as the program keeps the step
        count = len(self.fields)
        handles = (ctypes.c_void_p * max(count, 1))(*[f._handle for f in self.fields])
        context._check(lib.ambit_apply_host(program._handle, self.call, None, count, handles, (ctypes.c_uint * max(count, 1))(*self.modes)))

    def array(self, p: Any, i: int, f: Field) -> np.ndarray:
        cells, n, dtype = p.fields[i], p.ndims, storage_dtype(f._type)
        r = self.modes[i] >> 8
        shape = tuple(p.hi[d] - p.lo[d] + 2 * r for d in range(n)) + ((cells.components,) if f._vector else ())
        strides = tuple(cells.stride[d] * dtype.itemsize for d in range(n)) + ((cells.component * dtype.itemsize,) if f._vector else ())
        first = cells.values - r * sum(strides[:n])

        class Memory:
            __array_interface__ = {"version": 3, "shape": shape, "typestr": dtype.str, "strides": strides,
                                   "data": (first, not self.modes[i] & c.AMBIT_WRITE)}
        return np.asarray(Memory())

    def __repr__(self) -> str:
        return f"<step: call {getattr(self.function, '__name__', 'a function')}>"


def host(function: Callable[..., Any], reads: Sequence[Field] = (), writes: Sequence[Field] = (), around: int = 0) -> Step:
    """A step that calls function(part, *arrays) for each part of this process: an FFT, particles, a solver. The arrays are the
    memory of the cells, those of `reads` with `around` more cells on each side, then those of `writes`, which may be read,
    too. They are valid during the call only."""
    return Host(function, reads, writes, around)
