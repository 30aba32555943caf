# SPDX-License-Identifier: BSD-3-Clause
"""Fields: values on a grid, read and written by slices."""
import ctypes
import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _declarations as c
from . import _memory
from ._context import Context, Owned, current
from ._errors import InvalidArgument
from ._library import index, lib, text
from ._types import DTYPES, WORDS, DTypeLike, from_storage, storage_dtype, to_storage, type_of

if TYPE_CHECKING:
    from ._grid import Grid
    from ._scalar import Scalar

Kind = Union[str, float]
Boundary = Union[None, Kind, Dict[int, Kind]]

ALL_FACES: int = c.AMBIT_ALL_FACES
INACTIVE: int = c.AMBIT_INACTIVE
KINDS: Dict[str, int] = {
    "none": c.AMBIT_NONE, "constant": c.AMBIT_CONSTANT, "periodic": c.AMBIT_PERIODIC, "reflect": c.AMBIT_REFLECT,
    "symmetric": c.AMBIT_SYMMETRIC, "antisymmetric": c.AMBIT_ANTISYMMETRIC, "clamp": c.AMBIT_CLAMP,
    "fixed": c.AMBIT_FIXED, "dirichlet": c.AMBIT_DIRICHLET, "neumann": c.AMBIT_NEUMANN,
}
ORDERS = {"soa": c.AMBIT_SOA, "aos": c.AMBIT_AOS}
byref: Any = ctypes.byref
byte_of: Any = ctypes.c_char.from_buffer  # array.ctypes.data takes 0.6 us longer
MOST_PIXELS = 1 << 22  # of a picture in a notebook


def low(axis: int) -> int:
    """The low face of an axis. Faces are combined with |."""
    return 1 << 2 * axis


def high(axis: int) -> int:
    """The high face of an axis."""
    return 2 << 2 * axis


def axis(axis: int) -> int:
    """Both faces of an axis."""
    return 3 << 2 * axis


def kind_of(kind: Kind) -> Tuple[int, float]:
    if not isinstance(kind, str):
        return c.AMBIT_CONSTANT, float(kind)
    if kind not in KINDS:
        raise InvalidArgument(f"there is no boundary {kind!r}; there are {', '.join(KINDS)}, and numbers")
    return KINDS[kind], 0.0


def picture_of(lo: Optional[float] = None, hi: Optional[float] = None, colours: Optional[str] = None,
               slice: Optional[str] = None, component: int = 0, rate: float = 0,
               relief: bool = False) -> c.ambit_picture:
    if (lo is None) != (hi is None):
        raise InvalidArgument("a picture needs both lo and hi, or neither")
    return c.ambit_picture(lo=lo or 0, hi=hi or 0, colours=colours.encode() if colours else None,
                           slice=slice.encode() if slice else None, component=component, rate=rate, relief=int(relief))


class Field(Owned):
    """Values on a grid, made by Grid.field(). u[...] reads a copy, u[10:20, :] = x writes.

    Field.view() shows the memory without a copy, numpy.asarray(u) copies, torch.from_dlpack(u) shows it to others.
    """

    _destroy = lib.ambit_field_destroy
    _rank = 3
    copied: Optional[str] = None  #: why Grid.from_array copied the values; None: it did not

    def __init__(self, grid: "Grid", name: str, dtype: DTypeLike = "f4", components: Optional[int] = None,
                 order: str = "soa", axes: Optional[Sequence[int]] = None) -> None:
        context = grid.context
        self._type = type_of(dtype)
        if order not in ORDERS:
            raise InvalidArgument(f"the order of components is 'soa' or 'aos', not {order!r}")
        context._begin()
        if axes is not None:
            faces = sum(3 << 2 * int(d) for d in set(axes))
            if components is None:
                handle = lib.ambit_field_create_on(grid._handle, name.encode(), self._type, faces)
            else:
                handle = lib.ambit_field_create_vector_on(grid._handle, name.encode(), self._type, components,
                                                          ORDERS[order], faces)
        elif components is None:
            handle = lib.ambit_field_create(grid._handle, name.encode(), self._type)
        else:
            handle = lib.ambit_field_create_vector(grid._handle, name.encode(), self._type, components, ORDERS[order])
        super().__init__(context, context._made(handle))
        self._grid, self._vector = grid, components is not None
        self._base: Optional[Field] = None
        self._axes = axes
        self._describe()

    def _describe(self) -> None:
        self._name = lib.ambit_field_name(self._handle).decode()
        self._type = lib.ambit_field_type(self._handle)
        self._components = lib.ambit_field_components(self._handle)
        self._last = [self._components] if self._vector else []
        axes = self._axes
        self._shape = tuple(n if axes is None or d in axes else 1
                            for d, n in enumerate(self._grid.shape)) + tuple(self._last)
        self._storage = storage_dtype(self._type)

    def coarse(self, grid: "Grid", first: Sequence[int]) -> "Field":
        """Every second cell of the field, from `first` (0 or 1 per axis), as a field of a grid of half the extents
        (Grid.nested). It has no memory of its own."""
        f = Field.__new__(CoarseField)
        Owned.__init__(f, self._context, self._context._made(
            lib.ambit_field_create_view(grid._handle, self._handle, index([int(i) for i in first]))))
        f._grid, f._vector, f._base, f._axes = grid, self._vector, self, None
        f._describe()
        return f

    # ---- what it is ----

    @property
    def grid(self) -> "Grid":
        """The grid of the field."""
        return self._grid

    @property
    def name(self) -> str:
        """The name, as in messages."""
        return self._name

    @property
    def dtype(self) -> np.dtype:
        """The type of arrays that are read; float32 for bfloat fields."""
        return DTYPES[self._type]

    @property
    def components(self) -> int:
        """The number of values per cell."""
        return self._components

    @property
    def shape(self) -> Tuple[int, ...]:
        """The extents of the grid and, of a field with components, their number."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The length of the shape."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of values."""
        return int(np.prod(self._shape, dtype="i8"))

    def __len__(self) -> int:
        return self._shape[0]

    def __repr__(self) -> str:
        shape = "x".join(map(str, self._grid.shape))
        more = f"[{self._components}]" if self._vector else ""
        return f"<ambit.Field {WORDS[self._type]} {self._name}{more} on {shape}>"

    # ---- values ----

    def _read(self, lo: Optional[List[int]], hi: Optional[List[int]]) -> np.ndarray:
        shape = self._shape if lo is None or hi is None else [h - l for l, h in zip(lo, hi)] + self._last
        out = np.empty(shape, self._storage)
        if out.size:
            status = lib.ambit_field_read(self._handle, index(lo), index(hi), byref(byte_of(out)))
            if status or self._context._raised:
                self._context._check(status)
        return from_storage(out, self._type)

    def _write(self, lo: Optional[List[int]], hi: Optional[List[int]], values: Any) -> None:
        array = to_storage(values, self._type)
        if array.size:
            self._context._check(lib.ambit_field_write(self._handle, index(lo), index(hi), array.ctypes.data))

    def __getitem__(self, key: Any) -> Any:
        box = box_of(key, self._shape, self._grid.ndim)
        if box is None:
            return self._read(None, None)[key]
        lo, hi, rest = box
        return self._read(lo, hi)[rest]

    def __setitem__(self, key: Any, values: Any) -> None:
        if isinstance(values, Field):
            values = values[...]
        box = box_of(key, self._shape, self._grid.ndim)
        if box is None:
            lo = hi = None
            whole, rest, plain = self._read(None, None), key, False
        else:
            lo, hi, rest = box
            shape = tuple(h - l for l, h in zip(lo, hi)) + self._shape[self._grid.ndim:]
            plain = all(r == 0 or r == slice(None) for r in rest[:self._grid.ndim]) and rest[self._grid.ndim:] in (
                (), (slice(None),))
            if plain and shape == self._shape and np.ndim(values) == 0:
                self.fill(values)
                return
            whole = np.empty(shape, self.dtype) if plain else self._read(lo, hi)
        whole[rest] = values
        self._write(lo, hi, whole)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        if copy is False:
            raise ValueError("numpy.asarray copies the values of a field; Field.view() does not")
        return self._read(None, None).astype(dtype or self.dtype, copy=False)

    def fill(self, values: Union[float, Callable[..., float]]) -> None:
        """Gives all cells one value, or those of a function of the index: u.fill(lambda i, j: i + j). A function of a field
        with components has the component as its last argument. It is called for each cell; u[...] = array is faster."""
        if not callable(values):
            self._context._check(lib.ambit_field_set(self._handle, float(values)))
            return
        n, vector, fn, context = self._grid.ndim, self._vector, values, self._context

        def value(at: Any, component: int, user: Any) -> float:
            if context._raised:
                return 0.0
            try:
                return float(fn(*at[:n], component) if vector else fn(*at[:n]))
            except BaseException as e:  # comes out of fill()
                context._raised = e
                return 0.0
        context._check(lib.ambit_field_fill(self._handle, c.ambit_fill_fn(value), None))

    def boundary(self, kind: Boundary, faces: int = ALL_FACES, component: Optional[int] = None,
                 value: "Union[None, float, Scalar, Field]" = None, permute: Optional[Sequence[int]] = None) -> None:
        """Sets what reads outside the grid give: a word, such as "clamp", or a number, on some faces, or all; or a
        dictionary from faces to these. With a component, of that one only. INACTIVE stands for inactive cells.
        "constant", "dirichlet" and "neumann" take a value: a number, or a scalar or field that may change. In a mirror,
        `permute` says which component of the mirrored cell each one is."""
        if isinstance(kind, dict):
            for some, each in kind.items():
                self.boundary(each, some, component, value, permute)
            return
        if kind is None:
            kind = "none"
        number, constant = kind_of(kind)
        if permute is not None:
            status = lib.ambit_field_boundary_permuted(self._handle, faces, number, self._permutation(permute))
        elif component is not None:
            x = constant if value is None else float(value)  # type: ignore[arg-type]
            status = lib.ambit_field_boundary_component(self._handle, component, faces, number, x)
        else:
            if isinstance(value, Field):
                arg = c.ambit_arg(kind=c.AMBIT_ARG_FIELD, field=value._handle)
            elif value is None or isinstance(value, (int, float)):
                arg = c.ambit_arg(kind=c.AMBIT_ARG_NUMBER, number=constant if value is None else float(value))
            else:
                arg = c.ambit_arg(kind=c.AMBIT_ARG_SCALAR, scalar=value._for(self._context, type_of(self.dtype)))
            status = lib.ambit_field_boundary_arg(self._handle, faces, number, arg)
        self._context._check(status)

    def _permutation(self, numbers: Sequence[int]) -> Any:
        if len(numbers) != self.components:
            raise InvalidArgument(f"permute has {len(numbers)} numbers; field '{self.name}' has {self.components} components")
        return (ctypes.c_int * len(numbers))(*numbers)

    def sponge(self, layers: int, strength: float, faces: int = ALL_FACES) -> None:
        """Sets the field to an absorbing layer: strength * (depth / layers)^2 in the cells at these faces, 0 elsewhere."""
        self._context._check(lib.ambit_field_fill_sponge(self._handle, faces, layers, strength))

    # ---- memory ----

    def view(self) -> np.ndarray:
        """The memory of the field as an array, without a copy, on the device cpu. While it is in use, no program of
        the context can run. After a run ask again: a swap exchanges the memory of fields."""
        return np.asarray(_memory.Memory(self))

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        return _memory.capsule(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _memory.device(self)

    # ---- files and pictures ----

    def save(self, path: Any) -> None:
        """Saves the field in the format of the name: .npy, .cells.npy, .vtkhdf, .h5, .png."""
        self._context._check(lib.ambit_field_save(self._handle, text(path)))

    def load(self, path: Any) -> None:
        """Loads the field from a .npy, .png, .vtkhdf, .h5, .hgt, .asc or .tif file of its size."""
        self._context._check(lib.ambit_field_load(self._handle, text(path)))

    def draw(self, path: Any, **picture: Any) -> None:
        """Draws the field as a .png picture: lo, hi, the values of the first and the last colour; colours "dusk", "viridis",
        "tide"; slice "z=40" of a 3-D field; component."""
        self._context._check(lib.ambit_field_draw(self._handle, text(path), ctypes.byref(picture_of(**picture))))

    def png(self, **picture: Any) -> bytes:
        """The picture that draw() makes, as bytes."""
        with tempfile.TemporaryDirectory(prefix="ambit") as folder:
            path = os.path.join(folder, "field.png")
            self.draw(path, **picture)
            with open(path, "rb") as file:
                return file.read()

    def _repr_png_(self) -> Optional[bytes]:
        """The picture that a notebook shows; None: too large, or of too many dimensions."""
        plane = self._grid.shape[-2:]
        if self._grid.ndim > 3 or int(np.prod(plane)) > MOST_PIXELS or self._context.processes > 1:
            return None
        return self.png()


class CoarseField(Field):
    """Every second cell of another field."""

    _rank = 2


def box_of(key: Any, shape: Tuple[int, ...], ndims: int) -> Optional[Tuple[List[int], List[int], Tuple[Any, ...]]]:
    """The box of a key of integers and slices, and the key within the array of that box. None: another kind of key."""
    keys = key if type(key) is tuple else (key,)
    if len(keys) != len(shape) or type(keys[0]) is DOTS or type(keys[-1]) is DOTS:
        whole = whole_key(key, keys, shape)
        if whole is None:
            return None
        keys = whole
    lo: List[int] = []
    hi: List[int] = []
    rest: List[Any] = []
    for n, k in zip(shape[:ndims], keys):
        if type(k) is slice:
            first, last, step = k.indices(n)
            if step == 1:
                lo.append(first)
                hi.append(last if last > first else first)
                rest.append(WHOLE)
                continue
            cells = range(first, last, step)
            lo.append(min(cells, default=0))
            hi.append(max(cells, default=-1) + 1)
            rest.append(slice(None, None, step) if cells else WHOLE)
        elif isinstance(k, (int, np.integer)) and not isinstance(k, (bool, np.bool_)):
            i = int(k) + n if k < 0 else int(k)
            if not 0 <= i < n:
                raise IndexError(f"index {k} is out of bounds for an axis of {n} cells")
            lo.append(i)
            hi.append(i + 1)
            rest.append(0)
        else:
            return None
    for k in keys[ndims:]:  # components
        if not isinstance(k, (slice, int, np.integer)) or isinstance(k, (bool, np.bool_)):
            return None
        rest.append(k)
    return lo, hi, tuple(rest)


WHOLE, DOTS = slice(None), type(Ellipsis)


def whole_key(key: Any, keys: Tuple[Any, ...], shape: Tuple[int, ...]) -> Optional[Tuple[Any, ...]]:
    """A key for all axes, without an ellipsis. None: the key has masks, arrays or None."""
    kinds = [type(k) for k in keys]
    if any(k is not DOTS and k is not slice and not issubclass(k, (int, np.integer)) for k in kinds):
        return None
    dots = kinds.count(DOTS)
    if dots > 1 or len(keys) - dots > len(shape):
        raise IndexError(f"the key {key!r} has too many indices for the shape {shape}")
    at = kinds.index(DOTS) if dots else len(keys)
    return keys[:at] + (WHOLE,) * (len(shape) - len(keys) + dots) + keys[at + dots:]


def save(path: Any, *fields: Field) -> None:
    """Saves several fields of one grid in one .vtkhdf or .h5 file, each under its name."""
    if not fields:
        raise InvalidArgument("save: there are no fields")
    handles = (ctypes.c_void_p * len(fields))(*[f._handle for f in fields])
    fields[0].context._check(lib.ambit_grid_save(fields[0].grid._handle, text(path), len(fields), handles))


def inspect(path: Any, context: Optional[Context] = None) -> Dict[str, Any]:
    """The header of a file that Field.load can read: dtype, shape, spacing, unit, origin."""
    context = context or current()
    found = lib.ambit_file_inspect(context._handle, text(path))
    context._check(lib.ambit_error(context._handle))
    info = found.contents
    units = {c.AMBIT_UNKNOWN_UNIT: None, c.AMBIT_DEGREES: "degrees", c.AMBIT_METRES: "metres"}
    return {"dtype": DTYPES[info.type], "shape": tuple(info.extents[:info.ndims]),
            "spacing": tuple(info.spacing[:info.ndims]), "unit": units[info.unit],
            "origin": tuple(info.origin[:info.ndims]) if info.has_origin else None}
