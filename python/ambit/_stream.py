# SPDX-License-Identifier: BSD-3-Clause
"""Streams: a program applied to one array, frame or picture after the other."""
import ctypes
from typing import Any, Callable, Iterable, List, Optional

import numpy as np

from . import _declarations as c
from ._context import Owned
from ._errors import InvalidArgument
from ._field import Field
from ._interrupt import interruptible
from ._library import lib, text
from ._program import Program
from ._scalar import condition_of
from ._types import from_storage, storage_dtype, to_storage

PLANES = {"luma": c.AMBIT_LUMA, "all": c.AMBIT_ALL_PLANES}


class Stream(Owned):
    """Stream(program, u, v): for every item, its values are stored in the field u, the program runs, and the values of v are
    the result. Reading, computing and writing overlap, and several devices can share the items (docs/streams.md).

    `iterations` per item, or `until` a condition holds and `most`; `before`, a program that runs once per item, first;
    `in_flight`, the most items in memory; `planes` of videos, "luma" or "all".
    """

    _destroy = lib.ambit_stream_destroy

    def __init__(self, program: Program, source: Field, result: Field, *, iterations: Optional[int] = None,
                 until: Any = None, most: Optional[int] = None, before: Optional[Program] = None,
                 in_flight: Optional[int] = None, planes: Optional[str] = None) -> None:
        context = program.context
        context._begin()
        if (until is None) != (most is None) or (until is not None and iterations is not None):
            raise InvalidArgument("a stream needs iterations=..., or until=... with most=...")
        super().__init__(context, context._made(lib.ambit_stream_create(program._handle, source._handle, result._handle)))
        self._program, self._before, self._source, self._result = program, before, source, result
        if before is not None:
            context._check(lib.ambit_stream_before(self._handle, before._handle))
        if iterations is not None:
            context._check(lib.ambit_stream_repeat(self._handle, iterations))
        if until is not None:
            u = condition_of(until, program._scalars)
            context._check(lib.ambit_stream_repeat_until(self._handle, u.scalar._handle, u.code, u.bound, most))
        if in_flight is not None:
            context._check(lib.ambit_stream_in_flight(self._handle, in_flight))
        if planes is not None:
            if planes not in PLANES:
                raise InvalidArgument(f"the planes are 'luma' or 'all', not {planes!r}")
            context._check(lib.ambit_stream_planes(self._handle, PLANES[planes]))

    def run(self, source: Any, target: Any) -> int:
        """From one file to another: name.y4m, name%04d.png, or "-" for Y4M on standard input or output. Returns the number
        of items."""
        self._context._refuse_views("run")
        with interruptible(self._context, self.stop):
            status = lib.ambit_stream_run(self._handle, text(source), text(target))
        self._context._check(status)
        return self.items

    def map(self, items: Iterable[Any], sink: Optional[Callable[[np.ndarray], Any]] = None) -> List[np.ndarray]:
        """Runs the stream on arrays of any iterable, such as imageio.get_reader(...). The results are given to `sink`, one
        by one and in order, or else returned as a list. Items are taken in one thread, and `sink` is called in another;
        neither may use the context."""
        results: List[np.ndarray] = []
        give = results.append if sink is None else sink
        iterator = iter(items)
        shape = self._source.shape, self._result.shape
        kinds = self._source._type, self._result._type
        context = self._context

        def array(address: int, which: int) -> np.ndarray:
            dtype = storage_dtype(kinds[which])
            size = int(np.prod(shape[which]))
            buffer = (ctypes.c_char * (size * dtype.itemsize)).from_address(address)
            return np.ndarray(shape[which], dtype, buffer)  # type: ignore[arg-type]

        def take(item: int, values: int, user: Any) -> int:
            try:
                x = next(iterator, None)
                if x is None:
                    return 0
                x = np.asarray(x)
                if x.shape != shape[0]:
                    raise InvalidArgument(f"item {item} has the shape {x.shape}, and the field {shape[0]}")
                array(values, 0)[...] = to_storage(x, kinds[0])
                return 1
            except BaseException as e:  # comes out of map()
                context._raised = context._raised or e
                return -1

        def put(item: int, values: int, user: Any) -> int:
            try:
                give(from_storage(array(values, 1).copy(), kinds[1]))
                return 0
            except BaseException as e:
                context._raised = context._raised or e
                return 1

        self._context._refuse_views("map")
        with interruptible(self._context, self.stop):
            status = lib.ambit_stream_run_with(self._handle, c.ambit_source_fn(take), c.ambit_sink_fn(put), None)
        context._check(status)
        return results

    def stop(self) -> None:
        """Ends a run early, from any thread: no more items are taken, those in flight are finished."""
        lib.ambit_stream_stop(self._handle)

    @property
    def items(self) -> int:
        """Items of the last run."""
        return int(lib.ambit_stream_items(self._handle))

    @property
    def unmet(self) -> int:
        """Items of the last run that missed their condition."""
        return int(lib.ambit_stream_unmet(self._handle))
