# SPDX-License-Identifier: BSD-3-Clause
"""The memory of fields without a copy: arrays of NumPy, and DLPack.

ambit_field_memory says where the cells are. A view counts as in use until the last array that refers to it is gone; until
then the programs of its context do not run, and the context stays open: a run may move the memory, and swaps exchange it.
"""
import ctypes
import itertools
import weakref
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

from . import _declarations as c
from ._errors import ViewError
from ._library import lib
from ._types import storage_dtype

if TYPE_CHECKING:
    from ._field import Field

CPU, CUDA = 1, 2  # device types of DLPack
FLOAT, SIGNED, UNSIGNED, BFLOAT = 2, 0, 1, 4  # and codes of its types
_numbers = itertools.count()


def memory_of(field: "Field") -> c.ambit_memory:
    m = c.ambit_memory()
    field.context._check(lib.ambit_field_memory(field._handle, ctypes.byref(m)))
    return m


class Memory:
    """Keeps a field and its memory; NumPy finds the cells through __array_interface__."""

    def __init__(self, field: "Field") -> None:
        m = memory_of(field)
        if m.device != c.AMBIT_HOST_MEMORY:
            raise ViewError(f"field '{field.name}' is in the memory of a GPU: use DLPack (torch.from_dlpack), or read it, u[...]")
        self.field = field
        dtype = storage_dtype(field._type)
        strides = tuple(m.stride[:field.grid.ndim]) + ((m.component,) if field._vector else ())
        self.__array_interface__ = {"version": 3, "shape": field.shape, "typestr": dtype.str, "data": (m.data, False),
                                    "strides": strides}
        use(field, self)


def use(field: "Field", owner: Any) -> None:
    """Notes that `owner` refers to the memory of a field, as long as it lives."""
    views, number = field.context._views, next(_numbers)
    views[number] = field
    weakref.finalize(owner, views.pop, number, None).atexit = False


def adopt(context: Any, interface: Dict[str, Any], name: Optional[str], components: bool) -> Tuple[Optional["Field"], str]:
    """The field whose memory an array is, by its __array_interface__ or __cuda_array_interface__; or None, and the reason
    why the values must be copied."""
    for field in list(context._views.values()):
        m = memory_of(field)
        if m.data != interface["data"][0]:
            continue
        dtype = storage_dtype(field._type)
        strides = tuple(m.stride[:field.grid.ndim]) + ((m.component,) if field._vector else ())
        here = (interface["shape"], interface.get("strides") or dense(interface["shape"], dtype.itemsize), interface["typestr"])
        if here != (field.shape, strides, dtype.str) or components != field._vector:
            return None, f"the array shows field '{field.name}' in part, or in another shape or type"
        if name not in (None, field.name):
            return None, f"the array is the memory of field '{field.name}', and '{name}' was asked for"
        return field, ""
    return None, ("the memory is not that of a field: rows of fields are aligned and have ghost cells around them; "
                  "ambit.empty() makes an array with such memory")


def dense(shape: Tuple[int, ...], size: int) -> Tuple[int, ...]:
    """The strides, in bytes, of an array without gaps."""
    strides = [size]
    for n in shape[:0:-1]:
        strides.insert(0, strides[0] * n)
    return tuple(strides)


# ---- DLPack -----------------------------------------------------------------------------------
# The structs of dlpack.h, version 1.0 and the one before.


class DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", DLDevice), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("manager", ctypes.c_void_p), ("deleter", Deleter)]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p), ("deleter", Deleter),
                ("flags", ctypes.c_uint64), ("tensor", DLTensor)]


_live: Dict[int, Any] = {}  # by address of the struct: what it refers to, until its deleter is called


@Deleter
def _delete(address: int) -> None:
    _live.pop(address, None)


_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_IsValid.restype = ctypes.c_int
_api.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _unused(capsule: int) -> None:
    """The destructor of a capsule: one that nobody has taken over still owns its tensor."""
    for name in (PLAIN, VERSIONED):
        if _api.PyCapsule_IsValid(capsule, name):
            _live.pop(_api.PyCapsule_GetPointer(capsule, name), None)


class Tensor:
    """What a DLPack struct refers to."""

    def __init__(self, field: "Field", m: c.ambit_memory) -> None:
        self.field = field
        dims = field.grid.ndim
        size = storage_dtype(field._type).itemsize
        strides = [s // size for s in m.stride[:dims]] + ([m.component // size] if field._vector else [])
        self.shape = (ctypes.c_int64 * len(strides))(*field.shape)
        self.strides = (ctypes.c_int64 * len(strides))(*strides)
        self.struct: Any = None
        use(field, self)


def device(field: "Field") -> Tuple[int, int]:
    m = memory_of(field)
    return (CPU, 0) if m.device == c.AMBIT_HOST_MEMORY else (CUDA, m.ordinal)


def code_of(field: "Field") -> Tuple[int, int]:
    dtype = storage_dtype(field._type)
    if field._type == c.AMBIT_BF16:
        return BFLOAT, 16
    return {"f": FLOAT, "i": SIGNED, "u": UNSIGNED}[dtype.kind], 8 * dtype.itemsize


def capsule(field: "Field", stream: Any, max_version: Any, dl_device: Any, copy: Optional[bool]) -> Any:
    """Field.__dlpack__. Runs wait for their devices, so that no stream needs to wait for the values."""
    if copy:
        raise BufferError("fields offer their own memory only; copy in the library that takes it")
    m = memory_of(field)
    where = (CPU, 0) if m.device == c.AMBIT_HOST_MEMORY else (CUDA, m.ordinal)
    if dl_device is not None and tuple(dl_device) != where:
        raise BufferError(f"field '{field.name}' is on the device {where}, not {tuple(dl_device)}")
    keep = Tensor(field, m)
    code, bits = code_of(field)
    tensor = DLTensor(m.data, DLDevice(*where), len(keep.shape), code, bits, 1, keep.shape, keep.strides, 0)
    versioned = max_version is not None and max_version[0] >= 1
    if versioned:
        keep.struct = DLManagedTensorVersioned(1, 0, None, _delete, 0, tensor)
    else:
        keep.struct = DLManagedTensor(tensor, None, _delete)
    address = ctypes.addressof(keep.struct)
    _live[address] = keep
    return _api.PyCapsule_New(address, VERSIONED if versioned else PLAIN, ctypes.cast(_unused, ctypes.c_void_p))
