# SPDX-License-Identifier: BSD-3-Clause
"""Value types: those of ambit.h, of NumPy, and the words of the kernel language."""
from typing import Any, Dict, Union

import numpy as np

from . import _declarations as c
from ._errors import InvalidArgument

DTypeLike = Union[str, type, np.dtype]

# bfloat has no type in NumPy: arrays of such fields are float32, whose first 16 bits it is.
DTYPES: Dict[int, np.dtype] = {
    c.AMBIT_F32: np.dtype("f4"),
    c.AMBIT_F64: np.dtype("f8"),
    c.AMBIT_I32: np.dtype("i4"),
    c.AMBIT_U8: np.dtype("u1"),
    c.AMBIT_I16: np.dtype("i2"),
    c.AMBIT_I64: np.dtype("i8"),
    c.AMBIT_F16: np.dtype("f2"),
    c.AMBIT_BF16: np.dtype("f4"),
    c.AMBIT_U16: np.dtype("u2"),
    c.AMBIT_U32: np.dtype("u4"),
    c.AMBIT_U64: np.dtype("u8"),
}
WORDS: Dict[int, str] = {
    c.AMBIT_F32: "float",
    c.AMBIT_F64: "double",
    c.AMBIT_I32: "int",
    c.AMBIT_U8: "unsigned char",
    c.AMBIT_I16: "short",
    c.AMBIT_I64: "long",
    c.AMBIT_F16: "half",
    c.AMBIT_BF16: "bfloat",
    c.AMBIT_U16: "unsigned short",
    c.AMBIT_U32: "unsigned",
    c.AMBIT_U64: "unsigned long",
}
TYPES: Dict[np.dtype, int] = {d: t for t, d in DTYPES.items() if t != c.AMBIT_BF16}
TYPES[np.dtype("?")] = c.AMBIT_U8
NAMES: Dict[str, int] = {word: t for t, word in WORDS.items()}
NAMES.update({"bf16": c.AMBIT_BF16, "bfloat16": c.AMBIT_BF16, "char": c.AMBIT_U8})


def type_of(dtype: DTypeLike) -> int:
    """The type of ambit.h for "f4", np.float64, "half", "bfloat16", ..."""
    name = getattr(dtype, "name", dtype)
    if isinstance(name, str) and name in NAMES:
        return NAMES[name]
    try:
        return TYPES[np.dtype(dtype).newbyteorder("=")]
    except (KeyError, TypeError):
        known = ", ".join(sorted({d.name for d in DTYPES.values()} | {"bfloat16"}))
        raise InvalidArgument(f"fields and scalars of type {dtype!r} are not supported; the types are {known}") from None


def to_storage(values: Any, kind: int) -> np.ndarray:
    """An array of the field's type in memory, row-major: bits for bfloat."""
    if kind != c.AMBIT_BF16:
        return np.ascontiguousarray(values, dtype=DTYPES[kind])
    bits = np.ascontiguousarray(values, dtype="f4").view("u4")
    rounded = ((bits + (0x7FFF + (bits >> 16 & 1)).astype("u4")) >> 16).astype("u2")
    return np.where(np.isnan(bits.view("f4")), ((bits >> 16) | 64).astype("u2"), rounded)


def from_storage(values: np.ndarray, kind: int) -> np.ndarray:
    if kind != c.AMBIT_BF16:
        return values
    return (values.astype("u4") << 16).view("f4")


def storage_dtype(kind: int) -> np.dtype:
    return np.dtype("u2") if kind == c.AMBIT_BF16 else DTYPES[kind]
