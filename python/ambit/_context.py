# SPDX-License-Identifier: BSD-3-Clause
"""Contexts: devices, options, and the errors of calls.

Objects are destroyed when Python no longer refers to them, but never in the middle of another call: a finaliser may run in
any thread, and one thread at a time uses a context. It leaves the handle in a list, which the next call that creates or
runs something works off. Views of memory keep their context open.
"""
import atexit
import ctypes
import os
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _declarations as c
from ._errors import Error, OptionError, ViewError, error_of
from ._library import lib, text

_opened: List["Context"] = []  # the last one is the current one


class Context:
    """A context of Ambit; `ambit.open(...)` makes one. Use it as a context manager, or call close()."""

    def __init__(self, argv: Optional[List[str]] = None, communicator: Any = None, **options: Any) -> None:
        self._a: Optional[int] = None
        self._garbage: List[Tuple[int, Callable[[int], None], int]] = []  # rank, function, handle
        self._kernels: Dict[Any, Any] = {}
        self._views: Dict[int, Any] = {}  # of memory, in use: a number for each, and its field
        self._raised: Optional[BaseException] = None
        self._kept: List[Any] = []  # memory that the library refers to until the end
        self._thread = threading.get_ident()
        words = list(argv or ["python"]) + [option_word(k, v) for k, v in options.items()]
        handle, left = open_with(words, communicator)
        if not handle:
            raise MemoryError("ambit_open: out of memory")
        self._a = handle
        lib.ambit_on_error(handle, c.ambit_error_fn(0), None)
        try:
            self._check(lib.ambit_error(handle))
        except Error:
            lib.ambit_close(handle)
            self._a = None
            raise
        if argv is not None:
            argv[:] = left
        _opened.append(self)

    # ---- errors ----

    @property
    def _handle(self) -> int:
        if self._a is None:
            raise Error("the context is closed")
        return self._a

    def _check(self, status: int) -> None:
        """Raises the error of the context, if a call returned one, and makes the context usable again."""
        if status or self._raised:
            self._fail(status)

    def _made(self, handle: Optional[int]) -> int:
        """A new object; raises the error if there is none."""
        if not handle:
            self._fail(lib.ambit_error(self._handle))
            raise Error("the call failed without a message")
        return handle

    def _fail(self, status: int) -> None:
        a = self._handle
        message = lib.ambit_error_text(a).decode(errors="replace")
        first = lib.ambit_error(a)
        lib.ambit_error_clear(a)
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        if status or first:
            raise error_of(first or status, message or lib.ambit_status_text(first or status).decode())

    # ---- lifetime ----

    def _drop(self, rank: int, destroy: Callable[[int], None], handle: int) -> None:
        """Destroys an object at the next safe time."""
        if self._a is not None:
            self._garbage.append((rank, destroy, handle))

    def _sweep(self) -> None:
        """Users first: a grid takes its fields and programs along."""
        garbage, self._garbage = self._garbage, []
        for _, destroy, handle in sorted(garbage, key=lambda g: g[0]):
            destroy(handle)
        if self._a is not None and lib.ambit_error(self._a):
            lib.ambit_error_clear(self._a)  # one that a callback uses, say: it stays until the end

    def _begin(self) -> int:
        """Before a call that creates an object."""
        if self._garbage:
            self._sweep()
        return self._handle

    def _refuse_views(self, doing: str) -> None:
        if self._views:
            names = ", ".join(sorted({f.name for f in self._views.values()}))
            raise ViewError(f"{doing}: views of the memory of {names} are in use; it may move. Delete the arrays that "
                            f"view() or DLPack gave, or copy them")

    def close(self) -> None:
        """Frees all objects of the context. Raises the first error that no call has raised, such as a full disk."""
        if self._a is None:
            return
        self._refuse_views("close")
        if self in _opened:
            _opened.remove(self)
        handle, self._a = self._a, None
        self._garbage.clear()
        self._kernels.clear()
        message = lib.ambit_error_text(handle).decode(errors="replace")
        status = lib.ambit_close(handle)
        if status:
            raise error_of(status, message or lib.ambit_status_text(status).decode())

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self.close()
            return
        try:
            self.close()
        except Error:
            pass  # the exception on its way says more

    def __reduce__(self) -> Any:
        raise TypeError("contexts and their objects cannot be pickled; pickle arrays, u[...], instead")

    def __repr__(self) -> str:
        if self._a is None:
            return "<ambit.Context, closed>"
        return f"<ambit.Context devices={self.option('devices')!r}>"

    # ---- options and processes ----

    def option(self, name: str, value: Any = None) -> str:
        """The value of an option (docs/options.md); with a value, sets it."""
        name = name.replace("_", "-")
        if value is not None:
            self._check(lib.ambit_option_set(self._handle, name.encode(), option_text(value).encode()))
        found = lib.ambit_option_get(self._handle, name.encode())
        if found is None:
            raise OptionError(f"there is no option {name!r}")
        return os.fsdecode(found)

    @property
    def process(self) -> int:
        """The rank of this process, from 0."""
        return int(lib.ambit_process(self._handle))

    @property
    def processes(self) -> int:
        """The number of processes that share the grids."""
        return int(lib.ambit_processes(self._handle))

    def define(self, name: str, value: float, dtype: Any = None) -> None:
        """A constant for the texts of kernels: context.define("RADIUS", 2). Its type is int or double, or `dtype`."""
        from ._types import type_of
        kind = type_of(dtype) if dtype is not None else c.AMBIT_I32 if isinstance(value, int) else c.AMBIT_F64
        self._check(lib.ambit_define(self._handle, name.encode(), kind, float(value)))
        self._kernels.clear()  # of the same texts with other constants

    # ---- checkpoints ----

    def checkpoint(self, path: Any, every: Optional[str] = None) -> None:
        """Saves the state in a file while programs run, so that the same script, started again, continues
        (docs/checkpoints.md). `every`: "1000" iterations, "30s", "10min", "2h"."""
        self._check(lib.ambit_checkpoint(self._handle, text(path), every.encode() if every else None))

    def checkpoint_value(self, name: str, array: Any) -> None:
        """Saves and restores a NumPy array with the state, in place."""
        interface = array.__array_interface__
        if interface["data"][1] or not array.flags.c_contiguous:
            raise ValueError(f"the array of {name!r} must be writable and contiguous: it is restored in place")
        self._kept.append(array)
        self._check(lib.ambit_checkpoint_value(self._handle, name.encode(), interface["data"][0], array.nbytes))

    def resume(self) -> bool:
        """Loads the state now, for scripts that continue by themselves. True if there was a checkpoint."""
        found = lib.ambit_resume(self._handle)
        self._check(lib.ambit_error(self._handle))
        return bool(found)


def option_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else os.fspath(value) if hasattr(value, "__fspath__") else str(value)


def option_word(name: str, value: Any) -> str:
    return f"--ambit-{name.replace('_', '-')}={option_text(value)}"


def open_with(words: List[str], communicator: Any) -> Tuple[Optional[int], List[str]]:
    """ambit_open with a command line: the handle, and the words that are left."""
    array = (ctypes.c_char_p * (len(words) + 1))(*[os.fsencode(w) for w in words], None)
    count, pointer = ctypes.c_int(len(words)), ctypes.cast(array, ctypes.POINTER(ctypes.c_char_p))
    if communicator is None:
        handle = lib.ambit_open(ctypes.byref(count), ctypes.byref(pointer))
    else:
        from mpi4py import MPI  # the communicator is of it
        handle = lib.ambit_open_mpi(ctypes.byref(count), ctypes.byref(pointer), MPI._addressof(communicator))
    return handle, [os.fsdecode(pointer[i] or b"") for i in range(count.value)]


def open(argv: Optional[List[str]] = None, communicator: Any = None, **options: Any) -> Context:
    """Opens a context, which grids, scalars and kernels belong to from now on, until it is closed.

    Options are those of docs/options.md: `ambit.open(devices="cuda", strict=True)`. With `argv`, words such as
    --ambit-threads=4 are taken from that list. `communicator` is one of mpi4py. Without a call of open(), the first object
    opens a context with the options of the environment.
    """
    return Context(argv, communicator, **options)


def current() -> Context:
    """The context of objects that name none: the one opened last, or a new one."""
    return _opened[-1] if _opened else Context()


@atexit.register
def _close_all() -> None:
    while _opened:
        context = _opened[-1]
        if context._views:
            _opened.pop()  # arrays outlive it
            continue
        try:
            context.close()
        except Error as e:
            import sys
            print(f"ambit: {e}", file=sys.stderr)


class Owned:
    """An object of a context: destroyed with the last reference to it."""

    _destroy: Any = None
    _rank = 0  # those of lower rank are destroyed first

    def __init__(self, context: Context, handle: int) -> None:
        self._context = context
        self._h: Optional[int] = handle

    @property
    def context(self) -> Context:
        """The context that the object belongs to."""
        return self._context

    @property
    def _handle(self) -> int:
        if self._h is None or self._context._a is None:
            raise Error(f"the context of this {type(self).__name__.lower()} is closed")
        return self._h

    def __del__(self) -> None:
        handle, self._h = getattr(self, "_h", None), None
        if handle and type(self)._destroy:
            self._context._drop(self._rank, type(self)._destroy, handle)

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__.lower()} cannot be pickled; pickle arrays, u[...], instead")
