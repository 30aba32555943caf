# SPDX-License-Identifier: BSD-3-Clause
"""Sources, receivers, and the records that they inject and sample (docs/points.md)."""
import ctypes
from typing import TYPE_CHECKING, Any, List, Optional

import numpy as np

from . import _declarations as c
from ._context import Context, Owned, current
from ._errors import InvalidArgument
from ._field import Field
from ._kernel import Step
from ._library import INDEX, lib, text
from ._scalar import Scalar

if TYPE_CHECKING:
    from ._grid import Grid

Doubles = ctypes.POINTER(ctypes.c_double)
HOW = {"nearest": c.AMBIT_NEAREST, "linear": c.AMBIT_LINEAR}


def doubles(values: np.ndarray) -> Any:
    return values.ctypes.data_as(Doubles)


class Points(Owned):
    """Places in a grid, in cells: an array of n x ndim coordinates, or of n in one dimension. `how` is "linear" or "nearest".
    With `weights`, an array of n boxes of cells, the coordinates are the first cells of the boxes."""

    _destroy = lib.ambit_points_destroy
    _rank = 2

    def __init__(self, grid: "Grid", coordinates: Any, how: str = "linear", weights: Any = None) -> None:
        if how not in HOW:
            raise InvalidArgument(f"the interpolation is 'linear' or 'nearest', not {how!r}")
        self._grid = grid
        at = self._coordinates(coordinates)
        grid.context._begin()
        if weights is None:
            handle = lib.ambit_points_create(grid._handle, len(at), doubles(at), HOW[how])
        else:
            w = np.ascontiguousarray(weights, "f8")
            if w.ndim != grid.ndim + 1 or len(w) != len(at):
                raise InvalidArgument(f"weights of the shape {w.shape} are not {len(at)} boxes of {grid.ndim} axes")
            first = np.ascontiguousarray(at, "i8")
            handle = lib.ambit_points_create_weighted(grid._handle, len(at), first.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)),
                                                      INDEX[grid.ndim](*w.shape[1:]), doubles(w))
        super().__init__(grid.context, grid.context._made(handle))

    def _coordinates(self, coordinates: Any) -> np.ndarray:
        at = np.ascontiguousarray(coordinates, "f8")
        if at.ndim == 1 and self._grid.ndim == 1:
            at = at[:, None]
        if at.ndim != 2 or at.shape[1] != self._grid.ndim:
            raise InvalidArgument(f"coordinates of the shape {at.shape} are not n x {self._grid.ndim}")
        return at

    def move(self, coordinates: Any) -> None:
        """Other coordinates for as many points, between runs."""
        at = self._coordinates(coordinates)
        if len(at) != len(self):
            raise InvalidArgument(f"{len(at)} coordinates for {len(self)} points")
        self._context._check(lib.ambit_points_move(self._handle, doubles(at)))

    def __len__(self) -> int:
        return int(lib.ambit_points_count(self._handle))


class Record(Owned):
    """Rows of numbers that stay on the device: sampled or injected, one row each time. record[...] reads them."""

    _destroy = lib.ambit_record_destroy
    _rank = 4

    def __init__(self, name: str, values: Any = None, context: Optional[Context] = None) -> None:
        context = context or current()
        super().__init__(context, context._made(lib.ambit_record_create(context._begin(), name.encode())))
        if values is not None:
            self.write(values)

    @classmethod
    def _adopt(cls, context: Context, handle: Optional[int]) -> "Record":
        r = cls.__new__(cls)
        Owned.__init__(r, context, context._made(handle))
        return r

    @property
    def name(self) -> str:
        """The name, as in messages."""
        return str(lib.ambit_record_name(self._handle).decode())

    @property
    def shape(self) -> Any:
        """Rows and columns."""
        return int(lib.ambit_record_rows(self._handle)), int(lib.ambit_record_columns(self._handle))

    def __len__(self) -> int:
        return int(self.shape[0])

    @property
    def iterations(self) -> np.ndarray:
        """The numbers of the iterations after which the rows were sampled; 0 for rows that were not."""
        out = np.zeros(len(self), "i8")
        self._context._check(lib.ambit_record_iterations(self._handle, 0, len(out), out.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))))
        return out

    def write(self, values: Any) -> None:
        """Replaces all rows, and rewinds. An array of one dimension is one column."""
        a = np.ascontiguousarray(values, "f8")
        a = a[:, None] if a.ndim == 1 else a
        if a.ndim != 2:
            raise InvalidArgument(f"a record has rows and columns, not the shape {a.shape}")
        self._context._check(lib.ambit_record_write(self._handle, a.shape[0], a.shape[1], doubles(np.ascontiguousarray(a))))

    def rewind(self) -> None:
        """Goes back to the first row."""
        self._context._check(lib.ambit_record_rewind(self._handle))

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        out = np.empty(self.shape)
        if out.size:
            self._context._check(lib.ambit_record_read(self._handle, 0, len(out), doubles(out)))
        return out.astype(dtype or "f8", copy=False)

    def __getitem__(self, key: Any) -> Any:
        return self.__array__()[key]

    def save(self, path: Any) -> None:
        """Saves all rows as .npy, .csv, or a .png plot."""
        self._context._check(lib.ambit_record_save(self._handle, text(path)))


class Inject(Step):
    """Adds values to a field at points."""

    def __init__(self, points: Points, value: Any, field: Field) -> None:
        self.points, self.value, self.field = points, value, field

    def _objects(self) -> List[Any]:
        return [self.field] + ([self.value] if isinstance(self.value, Scalar) else [])

    def _append(self, program: Any) -> None:
        context = program.context
        if isinstance(self.value, Record):
            arg = lib.ambit_arg_record(self.value._handle)
        elif isinstance(self.value, Scalar):
            arg = c.ambit_arg(kind=c.AMBIT_ARG_SCALAR, scalar=self.value._for(context, self.field._type))
        else:
            arg = c.ambit_arg(kind=c.AMBIT_ARG_NUMBER, number=float(self.value))
        context._check(lib.ambit_inject_arg(program._handle, self.points._handle, arg, self.field._handle))

    def __repr__(self) -> str:
        return f"<step: inject into {self.field.name} at {len(self.points)} points>"


class Sample(Step):
    """Appends the values of a field at points to a record."""

    def __init__(self, points: Points, field: Field, record: Record) -> None:
        self.points, self.field, self.record = points, field, record

    def _objects(self) -> List[Any]:
        return [self.field]

    def _append(self, program: Any) -> None:
        program.context._check(lib.ambit_sample(program._handle, self.points._handle, self.field._handle, self.record._handle))

    def __repr__(self) -> str:
        return f"<step: sample {self.field.name} at {len(self.points)} points>"


def inject(points: Points, value: Any, field: Field) -> Step:
    """A step that adds values to a field at points: the next row of a record, a scalar, or a number."""
    return Inject(points, value, field)


def sample(points: Points, field: Field, record: Record) -> Step:
    """A step that appends the values of a field at points to a record, one row each time."""
    return Sample(points, field, record)


def ricker(frequency: float, dt: float, rows: int, amplitude: float = 1, context: Optional[Context] = None) -> Record:
    """A record with Ricker's wavelet, with its peak at time 1.2 / frequency."""
    context = context or current()
    return Record._adopt(context, lib.ambit_record_create_ricker(context._begin(), frequency, dt, rows, amplitude))


def coefficients(derivative: int, order: int) -> np.ndarray:
    """The weights of a central difference for a derivative, with an error of this order, for cells of size 1."""
    weights = np.zeros(2 * c.AMBIT_MAX_REACH + 1)
    reach = lib.ambit_coefficients(derivative, order, doubles(weights))
    if reach < 0:
        raise InvalidArgument(f"there is no central difference for derivative {derivative} of order {order}")
    return weights[:2 * reach + 1]
