# SPDX-License-Identifier: BSD-3-Clause
"""Loads libambit and declares its functions, as _declarations.py has them.

The library is the one that the package carries; $LIBAMBIT names another one. In a source tree that is not installed,
it is that of build/, and without any of these the one that the system's loader finds.
"""
import ctypes
import os
import pathlib
import sys
from typing import Any, List

from . import _declarations as c

HERE = pathlib.Path(__file__).resolve().parent


def candidates() -> List[str]:
    name = "libambit.dylib" if sys.platform == "darwin" else "libambit.so"
    if os.environ.get("LIBAMBIT"):
        return [os.environ["LIBAMBIT"]]
    places = [HERE / name, HERE.parents[1] / "build" / name]
    return [str(p) for p in places if p.is_file()] + [f"{name}.{c.AMBIT_VERSION_MAJOR}", name]


def load() -> Any:
    faults = []
    for path in candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as e:
            faults.append(str(e))
    raise ImportError("libambit does not load; set LIBAMBIT to its path: " + "; ".join(faults))


def declare(library: Any) -> None:
    for name, (result, params, _) in c.FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{library._name} has no {name}: it is not of the version "
                              f"{c.AMBIT_VERSION_MAJOR}.{c.AMBIT_VERSION_MINOR} that this package is made for") from None
        function.restype = result
        function.argtypes = params


lib: Any = load()
declare(lib)


def text(path: Any) -> bytes:
    """A path or a name, for C."""
    return os.fsencode(path)


def index(numbers: Any) -> Any:
    """Numbers as an array of int64_t; None stays NULL."""
    return None if numbers is None else INDEX[len(numbers)](*numbers)


INDEX = [ctypes.c_int64 * n for n in range(c.AMBIT_MAX_DIMS + 2)]
