# SPDX-License-Identifier: BSD-3-Clause
"""Grids: dense, sparse and nested."""
import ctypes
import operator
import os
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _declarations as c
from . import _memory
from ._context import Context, Owned, current
from ._errors import InvalidArgument
from ._field import Boundary, Field
from ._library import index, lib, text
from ._program import Program
from ._types import DTypeLike

Mask = Union[np.ndarray, str, "os.PathLike[str]", Field, Callable[..., Any]]


class Grid(Owned):
    """An index space of 1 to 6 dimensions: Grid(512, 512). The last axis is contiguous.

    `mask` makes it sparse (docs/sparse.md): only the cells that are not 0 in it are stored and updated. It is an array, a
    field, a function of the index, or the path of a .npy or .png file; the extents may then be left out, except for a
    function. `origin` and `spacing` are the place of the grid in .vtkhdf and .h5 files.
    """

    _destroy = lib.ambit_grid_destroy
    _rank = 5

    def __init__(self, *shape: int, mask: Optional[Mask] = None, origin: Optional[Sequence[float]] = None,
                 spacing: Optional[Sequence[float]] = None, context: Optional[Context] = None) -> None:
        if len(shape) == 1 and hasattr(shape[0], "__iter__"):
            shape = tuple(shape[0])
        if isinstance(mask, Field):
            context = mask.context
        context = context or current()
        extents = [operator.index(n) for n in shape]
        handle = create(context, extents, mask)
        super().__init__(context, context._made(handle))
        self._shape = shape_of(self._handle)
        if shape and self._shape != tuple(extents):
            raise InvalidArgument(f"the mask has the shape {self._shape}, and the grid was to have {tuple(extents)}")
        if origin is not None or spacing is not None:
            self.geometry(origin, spacing)

    @classmethod
    def _adopt(cls, context: Context, handle: int) -> "Grid":
        g = cls.__new__(cls)
        Owned.__init__(g, context, handle)
        g._shape = shape_of(handle)
        return g

    @classmethod
    def nested(cls, *shape: int, levels: int, context: Optional[Context] = None) -> List["Grid"]:
        """Grids for multigrid methods: each has half the extents of the one before it."""
        context = context or current()
        extents = [operator.index(n) for n in (tuple(shape[0]) if len(shape) == 1 and hasattr(shape[0], "__iter__") else shape)]
        grids = (ctypes.c_void_p * levels)()
        a = context._begin()
        context._check(lib.ambit_grid_create_nested(a, len(extents), index(extents), levels, grids))
        return [cls._adopt(context, int(g or 0)) for g in grids]

    @classmethod
    def from_array(cls, array: Any, name: Optional[str] = None, boundary: Boundary = None, components: bool = False,
                   context: Optional[Context] = None, copy: Optional[bool] = None) -> Field:
        """A grid of the shape of an array, and a field on it, "u", with its values: the field is the result.

        `array` is anything that NumPy or DLPack understands. With `components`, its last axis holds the components of a
        cell. The memory is taken over if it is that of a field: an array of ambit.empty(), Field.view(), or a tensor that
        another library made of a field through DLPack; delete the array before the next run. Other memory is copied,
        because rows of fields are aligned and have ghost cells around them; Field.copied says why. copy=False makes this
        an error, copy=True always copies.
        """
        context = context or current()
        interface = getattr(array, "__cuda_array_interface__", None) or as_array(array).__array_interface__
        field, why = _memory.adopt(context, interface, name, components)
        if copy:
            field, why = None, "copy=True"
        if field is None:
            if copy is False:
                raise BufferError(f"from_array: {why}")
            a = as_array(array)
            shape = a.shape[:-1] if components else a.shape
            field = cls(*shape, context=context).field(name or "u", a.dtype, components=a.shape[-1] if components else None)
            field[...] = a
            field.copied = why
        if boundary is not None:
            field.boundary(boundary)
        return field

    @property
    def shape(self) -> Tuple[int, ...]:
        """The extents."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def cells(self) -> int:
        """The number of cells; of a sparse grid, of active ones."""
        return int(lib.ambit_grid_cells(self._handle))

    def geometry(self, origin: Optional[Sequence[float]] = None, spacing: Optional[Sequence[float]] = None) -> None:
        """The low corner of the first cell, and the lengths of a cell, for .vtkhdf and .h5 files."""
        def numbers(x: Optional[Sequence[float]]) -> Any:
            if x is not None and len(x) != self.ndim:
                raise InvalidArgument(f"{len(x)} numbers for {self.ndim} axes")
            return None if x is None else (ctypes.c_double * self.ndim)(*x)
        self._context._check(lib.ambit_grid_geometry(self._handle, numbers(origin), numbers(spacing)))

    def activate(self, mask: Union[np.ndarray, Callable[..., Any]]) -> None:
        """Changes the active cells of a sparse grid. Fields keep their values; new cells are 0."""
        self._context._refuse_views("activate")
        if not callable(mask):
            values = np.asarray(mask)
            if values.shape != self.shape:
                raise InvalidArgument(f"the mask has the shape {values.shape}, and the grid {self.shape}")
        self._context._check(lib.ambit_grid_activate(self._handle, active_function(mask, self.ndim), None))

    def field(self, name: str, dtype: DTypeLike = "f4", components: Optional[int] = None, boundary: Boundary = None,
              order: str = "soa", value: Any = None, axes: Optional[Sequence[int]] = None) -> Field:
        """A field: values on the grid, named in messages. `components` values per cell, `order` "soa" or "aos".
        With `axes`, one on these axes only, with one cell along the others (docs/profiles.md).

        `boundary` is that of all faces, "clamp", "periodic", "fixed", ..., or a number, the value outside; or a dictionary
        from faces to these: {ambit.low(0): 100, ambit.axis(1): "periodic"}. `value`: initial values, else 0.
        """
        f = Field(self, name, dtype, components, order, axes)
        if boundary is not None:
            f.boundary(boundary)
        if value is not None:
            f[...] = value
        return f

    def program(self, *steps: Any) -> Program:
        """A program of these steps, run in this order in every iteration."""
        return Program(self, *steps)

    def __repr__(self) -> str:
        return f"ambit.Grid({', '.join(map(str, self.shape))})"


def shape_of(handle: int) -> Tuple[int, ...]:
    return tuple(lib.ambit_grid_extent(handle, d) for d in range(lib.ambit_grid_ndims(handle)))


def as_array(array: Any) -> np.ndarray:
    """A NumPy array of anything that is one, or offers DLPack: its memory, or a copy of that of a GPU."""
    if isinstance(array, (np.ndarray, Field)) or not hasattr(array, "__dlpack__"):
        return np.asarray(array)
    if array.__dlpack_device__()[0] == _memory.CPU:
        return np.from_dlpack(array)
    try:
        return np.from_dlpack(array, device="cpu", copy=True)
    except (TypeError, BufferError) as e:  # a library, or NumPy, that is older than such copies
        raise BufferError(f"the array is on a GPU, and cannot be copied from there: {e}; copy it first (PyTorch: .cpu())") from e


def empty(shape: Union[int, Sequence[int]], dtype: DTypeLike = "f4", name: str = "u", context: Optional[Context] = None) -> np.ndarray:
    """An array of zeros in the memory of a new field, on the device cpu: fill it in by any library, and Grid.from_array(it)
    is the field, without a copy."""
    extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    return Grid(*extents, context=context).field(name, dtype).view()


def active_function(mask: Any, ndims: int) -> Any:
    """A function for C; the interpreter's lock makes it thread-safe, and slow: arrays go through fields instead."""
    if not callable(mask):
        values = np.ascontiguousarray(np.asarray(mask) != 0)
        return c.ambit_active_fn(lambda i, user: int(values[tuple(i[:ndims])]))
    return c.ambit_active_fn(lambda i, user: int(bool(mask(*i[:ndims]))))


def create(context: Context, extents: List[int], mask: Optional[Mask]) -> Optional[int]:
    a = context._begin()
    if isinstance(mask, Field):
        return lib.ambit_grid_create_masked(mask._handle)
    if isinstance(mask, (str, os.PathLike)):
        return lib.ambit_grid_load_sparse(a, text(mask))
    if callable(mask):
        return lib.ambit_grid_create_sparse(a, len(extents), index(extents), active_function(mask, len(extents)), None)
    if mask is not None:
        values = np.asarray(mask)
        box = Grid(*values.shape, context=context)
        return lib.ambit_grid_create_masked(box.field("mask", "u1", value=(values != 0).astype("u1"))._handle)
    return lib.ambit_grid_create(a, len(extents), index(extents))
