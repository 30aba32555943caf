# SPDX-License-Identifier: BSD-3-Clause
"""Scalars, and conditions on them."""
import operator
import re
from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from . import _declarations as c
from ._context import Context, Owned, current
from ._errors import Error, InvalidArgument
from ._library import lib
from ._types import DTYPES, WORDS, DTypeLike, type_of

CONDITIONS: Dict[str, Tuple[int, Callable[[float, float], bool]]] = {
    "<": (c.AMBIT_BELOW, operator.lt), ">": (c.AMBIT_ABOVE, operator.gt), "==": (c.AMBIT_EQUAL, operator.eq),
    "<=": (c.AMBIT_AT_MOST, operator.le), ">=": (c.AMBIT_AT_LEAST, operator.ge),
}
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


class Scalar(Owned):
    """One value that lives with the fields: kernels read it, reductions and kernels on scalars write it.

    Without a type it takes that of the first kernel parameter it is given to. `s < 1e-4` is a condition for run(until=...).
    """

    _destroy = lib.ambit_scalar_destroy
    _rank = 4

    def __init__(self, name: str, dtype: Optional[DTypeLike] = None, value: Optional[float] = None,
                 context: Optional[Context] = None) -> None:
        self._name = name
        self._first = value
        self._h = None
        self._context = context or current()
        self._type: Optional[int] = None
        if dtype is not None:
            self._create(type_of(dtype))

    def _create(self, kind: int) -> None:
        context = self._context
        super().__init__(context, context._made(lib.ambit_scalar_create(context._begin(), self._name.encode(), kind)))
        self._type = kind
        if self._first is not None:
            self.value = self._first

    def _for(self, context: Context, kind: int) -> int:
        """The handle, for a parameter of this type."""
        if self._h is None and self._type is None:
            self._context = context
            self._create(kind)
        if context is not self._context:
            raise InvalidArgument(f"the scalar '{self._name}' belongs to another context")
        return self._handle

    @property
    def name(self) -> str:
        """The name, as in messages and conditions."""
        return self._name

    @property
    def dtype(self) -> Optional[np.dtype]:
        """The type; None before a kernel or the first value decides it."""
        return None if self._type is None else DTYPES[self._type]

    @property
    def value(self) -> float:
        """The value. Of a scalar without a type so far, the initial one."""
        if self._type is None:
            return float(self._first or 0)
        value = lib.ambit_scalar_get(self._handle)
        if value != value:  # NaN: a value, or a failure
            self._context._check(lib.ambit_error(self._context._handle))
        return float(value)

    @value.setter
    def value(self, value: float) -> None:
        if self._type is None:
            self._first = value
        else:
            self._context._check(lib.ambit_scalar_set(self._handle, float(value)))

    def __float__(self) -> float:
        return self.value

    def __lt__(self, other: float) -> "Condition":
        return Condition(self, "<", other)

    def __le__(self, other: float) -> "Condition":
        return Condition(self, "<=", other)

    def __gt__(self, other: float) -> "Condition":
        return Condition(self, ">", other)

    def __ge__(self, other: float) -> "Condition":
        return Condition(self, ">=", other)

    def equals(self, other: float) -> "Condition":
        """The condition that the scalar equals a number."""
        return Condition(self, "==", other)

    def __repr__(self) -> str:
        return f"<ambit.Scalar {WORDS[self._type] if self._type is not None else 'without a type'} {self._name}>"


class Condition:
    """A scalar compared with a number; its truth is that of this moment."""

    def __init__(self, scalar: Scalar, sign: str, bound: float) -> None:
        self.scalar, self.sign, self.bound = scalar, sign, float(bound)

    @property
    def code(self) -> int:
        """The number of the comparison in C: AMBIT_BELOW and the like."""
        return CONDITIONS[self.sign][0]

    def __bool__(self) -> bool:
        return CONDITIONS[self.sign][1](self.scalar.value, self.bound)

    def __repr__(self) -> str:
        return f"{self.scalar.name} {self.sign} {self.bound:g}"


def condition_of(until: Any, scalars: Dict[str, Scalar]) -> Condition:
    """A condition from "change < 1e-4", where the name is that of a scalar of the program."""
    if isinstance(until, Condition):
        return until
    m = re.fullmatch(rf"\s*(\w+)\s*(<=|>=|==|<|>)\s*({NUMBER})\s*", until) if isinstance(until, str) else None
    if not m:
        raise InvalidArgument(f"until={until!r} is no condition; write 'name < number', with <, <=, >, >= or ==, or 'still'")
    if m[1] not in scalars:
        known = ", ".join(sorted(scalars)) or "none"
        raise InvalidArgument(f"until={until!r}: the program has no scalar '{m[1]}'; it has {known}")
    return Condition(scalars[m[1]], m[2], float(m[3]))


def scalar(name: str, dtype: Optional[DTypeLike] = None, value: Optional[float] = None,
           context: Optional[Context] = None) -> Scalar:
    """A scalar; see Scalar."""
    return Scalar(name, dtype, value, context)
