# SPDX-License-Identifier: BSD-3-Clause
"""Kernels, and the steps that apply them.

A kernel is a text until it is applied: a context makes its own of it, once. Kernels that are Python functions become a text
for the types of the fields they are applied to (_translate.py).
"""
import ctypes
import linecache
import re
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _declarations as c
from ._context import Context, current
from ._errors import InvalidArgument, KernelError
from ._field import Field, box_of
from ._library import index, lib, text
from ._scalar import Scalar
from ._types import TYPES, WORDS, DTypeLike, type_of

REALS = (c.AMBIT_F32, c.AMBIT_F64, c.AMBIT_F16, c.AMBIT_BF16)
KIND_NAMES = {c.AMBIT_PARAM_FIELD: "field", c.AMBIT_PARAM_VALUE: "value", c.AMBIT_PARAM_REDUCTION: "reduction",
              c.AMBIT_PARAM_TABLE: "table"}
REDUCTIONS = {c.AMBIT_SUM: "sum", c.AMBIT_MIN: "min", c.AMBIT_MAX: "max", c.AMBIT_FOLD: "fold"}


class Param(NamedTuple):
    """A parameter of a kernel, as ambit_kernel_param tells."""

    name: str
    kind: str  # "field", "value", "reduction", "table"
    type: str  # of the kernel language
    reduction: Optional[str]
    components: int
    is_vector: bool
    is_const: bool
    is_written: bool
    low: Tuple[int, ...]
    high: Tuple[int, ...]
    offsets: Tuple[Tuple[int, Tuple[int, ...]], ...]  # component, and offset per axis
    code: int  # of the type


def params_of(handle: int) -> List[Param]:
    found, ndims = [], lib.ambit_kernel_ndims(handle)
    for i in range(lib.ambit_kernel_params(handle)):
        p = lib.ambit_kernel_param(handle, i).contents
        offsets = tuple((p.offsets[k].component, tuple(p.offsets[k].axis[:ndims])) for k in range(p.noffsets))
        found.append(Param(p.name.decode(), KIND_NAMES[p.kind], WORDS[p.type],
                           REDUCTIONS[p.reduction] if p.kind == c.AMBIT_PARAM_REDUCTION else None, p.components,
                           bool(p.is_vector), bool(p.is_const), bool(p.is_written), tuple(p.low[:ndims]),
                           tuple(p.high[:ndims]), offsets, p.type))
    return found


class Made(NamedTuple):
    """A kernel of a context."""

    handle: int
    params: List[Param]


class Kernel:
    """The rule of a cell. Call it with fields, scalars, numbers and tables, in the order of its parameters or by their names,
    to get a step of a program: heat(u, v, 0.2, change)."""

    def __init__(self, make: Callable[[Context, Optional[int]], Optional[int]], key: Any, is_real: bool = False,
                 source: Optional[str] = None) -> None:
        self._make, self._key, self._is_real, self._source = make, key, is_real, source

    def _made(self, context: Context, args: Sequence[Any] = ()) -> Made:
        real = real_of(args) if self._is_real else None
        made = context._kernels.get((self._key, real))
        if made is None:
            made = made_of(context, self._make(context, real))
            context._kernels[self._key, real] = made
        return made

    def __call__(self, *args: Any, **named: Any) -> "Apply":
        return Apply(self, args, named)

    # ---- looking at it ----

    @property
    def _default(self) -> Made:
        return self._made(current())

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(lib.ambit_kernel_name(self._default.handle).decode())

    @property
    def params(self) -> List[Param]:
        """The parameters, with what they read and write."""
        return self._default.params

    @property
    def ndim(self) -> int:
        """The number of axes of its grids; 0: any."""
        return int(lib.ambit_kernel_ndims(self._default.handle))

    @property
    def flops(self) -> float:
        """Floating-point operations per cell."""
        return float(lib.ambit_kernel_flops(self._default.handle))

    @property
    def bytes(self) -> float:
        """Bytes that a cell moves with a perfect cache."""
        return float(lib.ambit_kernel_bytes(self._default.handle))

    @property
    def is_once(self) -> bool:
        """It can run once per iteration, on scalars alone."""
        return bool(lib.ambit_kernel_is_once(self._default.handle))

    @property
    def c_source(self) -> Optional[str]:
        """The text in the kernel language; None for weights and catalogue names."""
        return self._source

    def __repr__(self) -> str:
        return f"<ambit.Kernel {self.name}>"

    def __reduce__(self) -> Any:
        raise TypeError("a kernel cannot be pickled; keep its text, or import the module that has its function")


def made_of(context: Context, handle: Optional[int]) -> Made:
    handle = context._made(handle)
    return Made(handle, params_of(handle))


def real_of(args: Sequence[Any]) -> int:
    """What `real` means: the type of the first field of real numbers."""
    for a in args:
        if isinstance(a, Field) and a._type in REALS:
            return a._type
    return c.AMBIT_F32


# ---- steps ------------------------------------------------------------------------------------


class Step:
    """A step of a program."""

    _every: Optional[int] = None

    def every(self, n: int) -> "Step":
        """Lets the step run every n iterations only."""
        self._every = n
        return self

    def _append(self, program: Any) -> None:
        raise NotImplementedError

    def _objects(self) -> List[Any]:
        """Fields, scalars and programs that it uses."""
        return []


class Apply(Step):
    """A kernel applied to arguments: on all cells, or those of box() or faces(); in order with sweep()."""

    def __init__(self, kernel: Kernel, args: Sequence[Any], named: Dict[str, Any]) -> None:
        self.kernel, self.args, self._named = kernel, list(args), named
        self._box: Any = None
        self._faces: Optional[int] = None
        self._from: Optional[int] = None
        self.made: Optional[Made] = None

    def box(self, *key: Any) -> "Apply":
        """On the cells of slices only: heat(u, v).box(np.s_[1:-1, 1:-1])."""
        self._box = key[0] if len(key) == 1 else key
        return self

    def faces(self, faces: int) -> "Apply":
        """On the outermost cells at these faces only: .faces(ambit.low(0) | ambit.high(0))."""
        self._faces = faces
        return self

    def sweep(self, face: int) -> "Apply":
        """In order along an axis, from this face on; fields without the axis are carried: .sweep(ambit.low(0))."""
        self._from = face
        return self

    def _objects(self) -> List[Any]:
        return [a for a in self.args if isinstance(a, (Field, Scalar))]

    def _bind(self, context: Context) -> Made:
        """Puts arguments with names in their places."""
        if isinstance(self.kernel, Kernel) and self._named:
            names = self.kernel._names(context, self.args, self._named) if hasattr(self.kernel, "_names") else [
                p.name for p in self.kernel._made(context, list(self.args) + list(self._named.values())).params]
            self.args = ordered(list(dict.fromkeys(n.split("[")[0] for n in names)), self.args, self._named)
            self._named = {}
        self.args = [x for a in self.args for x in (a if is_scalars(a) else [a])]
        self.made = self.kernel._made(context, self.args)
        self.args = [Scalar(a, context=context) if isinstance(a, str) else a for a in self.args]
        return self.made

    def _append(self, program: Any) -> None:
        context, p = program.context, program._handle
        made = self._bind(context)
        kept: List[Any] = []
        args = c_args(context, made.params, self.args, kept)
        array = (c.ambit_arg * max(len(args), 1))(*args)
        if self._from is not None:
            lo, hi = plain_box(... if self._box is None else self._box, program.grid.shape)
            status = lib.ambit_sweep_args(p, self._from, index(lo), index(hi), made.handle, len(args), array)
        elif self._faces is not None:
            status = lib.ambit_apply_faces_args(p, self._faces, made.handle, len(args), array)
        elif self._box is not None:
            lo, hi = plain_box(self._box, program.grid.shape)
            status = lib.ambit_apply_box_args(p, index(lo), index(hi), made.handle, len(args), array)
        else:
            status = lib.ambit_apply_args(p, made.handle, len(args), array)
        context._check(status)

    def __repr__(self) -> str:
        return f"<step: {self.kernel!r} on {', '.join(map(str, self.args))}>"


def ordered(names: List[str], args: List[Any], named: Dict[str, Any]) -> List[Any]:
    for name in named:
        if name not in names or names.index(name) < len(args):
            raise TypeError(f"the kernel has no parameter '{name}' left; its parameters are {', '.join(names)}")
    rest = names[len(args):]
    missing = [n for n in rest if n not in named]
    if missing:
        raise TypeError(f"the kernel lacks arguments: {', '.join(missing)}")
    return args + [named[n] for n in rest]


def is_scalars(a: Any) -> bool:
    """Several scalars, or names of them, for a reduction of several values."""
    return isinstance(a, (list, tuple)) and bool(a) and all(isinstance(x, (Scalar, str)) for x in a)


def plain_box(key: Any, shape: Tuple[int, ...]) -> Tuple[List[int], List[int]]:
    """lo and hi of slices and integers, without steps."""
    box = box_of(key, shape, len(shape))
    if box is None or any(r not in (0, slice(None)) for r in box[2]):
        raise InvalidArgument(f"the box {key!r} is not made of integers and slices without steps")
    return box[0], box[1]


def c_args(context: Context, params: List[Param], args: Sequence[Any], kept: List[Any]) -> List[c.ambit_arg]:
    """The arguments of ambit_apply_args. `kept` refers to the memory of tables."""
    which: List[Optional[Param]] = []
    at = 0
    for a in args:
        p = params[at] if at < len(params) else None
        which.append(p)
        at += 1
        if p and p.name.endswith("[0]") and isinstance(a, Field) and a.components > 1:  # for all values of a reduction
            while at < len(params) and params[at].name.startswith(p.name[:-2]):
                at += 1
    return [c_arg(context, p, a, kept) for p, a in zip(which, args)]


def c_arg(context: Context, p: Optional[Param], a: Any, kept: List[Any]) -> c.ambit_arg:
    if isinstance(a, str):
        a = Scalar(a, context=context)
    if isinstance(a, Field):
        return c.ambit_arg(kind=c.AMBIT_ARG_FIELD, field=a._handle)
    if isinstance(a, Scalar):
        return c.ambit_arg(kind=c.AMBIT_ARG_SCALAR, scalar=a._for(context, p.code if p else c.AMBIT_F64))
    if np.ndim(a) == 0:
        return c.ambit_arg(kind=c.AMBIT_ARG_NUMBER, number=float(a))
    values = np.asarray(a)
    if values.dtype.newbyteorder("=") not in TYPES or values.dtype.kind == "f" and values.itemsize == 2:
        values = values.astype("f8")
    values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if values.ndim > 2:
        raise InvalidArgument(f"a table has one or two dimensions, not the {values.ndim} of the shape {values.shape}")
    kept.append(values)
    rows, columns = (1, values.shape[0]) if values.ndim == 1 else values.shape
    return c.ambit_arg(kind=c.AMBIT_ARG_TABLE, table=values.ctypes.data, type=TYPES[values.dtype], rows=rows, columns=columns)


# ---- making kernels ---------------------------------------------------------------------------


def located(source: str, depth: int) -> str:
    """The text with a #line, if the caller's file has it: messages then name the line of that file."""
    if source.lstrip().startswith("#line"):
        return source
    frame = sys._getframe(depth)
    name = frame.f_code.co_filename
    lines = linecache.getlines(name, frame.f_globals)
    whole = "".join(lines)
    starts = [m.start() for m in re.finditer(re.escape(source), whole)]
    if not starts or '"' in name or "\n" in name:
        return source
    numbers = [whole.count("\n", 0, at) + 1 for at in starts]
    return f'#line {min(numbers, key=lambda n: abs(n - frame.f_lineno))} "{name}"\n{source}'


@overload
def kernel(source: Callable[..., Any], *, real: Optional[DTypeLike] = ..., name: Optional[str] = ...) -> Kernel: ...
@overload
def kernel(source: str, *, real: Optional[DTypeLike] = ..., name: Optional[str] = ...) -> Kernel: ...
@overload
def kernel(source: None = None, *, real: Optional[DTypeLike] = ..., name: Optional[str] = ...) -> Callable[..., Kernel]: ...


def kernel(source: Union[str, Callable[..., Any], None] = None, *, real: Optional[DTypeLike] = None,
           name: Optional[str] = None) -> Any:
    """A kernel, from a text in the kernel language (docs/language.md), or from a Python function, as a decorator.

    Of a text with several kernels `name` says which one; without it, it is the first. In a text written with the type `real`, that is the type of the first field it is applied to, or of the argument `real`.
    """
    if source is None:
        return lambda fn: kernel(fn, real=real, name=name)
    if callable(source):
        from ._translate import PythonKernel
        return PythonKernel(source)
    shown = located(source, 2)
    kind = None if real is None else type_of(real)
    is_real = kind is None and re.search(r"\breal\b", source) is not None

    def make(context: Context, real_type: Optional[int]) -> Optional[int]:
        chosen = real_type if kind is None else kind
        a = context._begin()
        if chosen is not None:
            lib.ambit_define_real(a, chosen)
        handle = lib.ambit_kernel_create(a, shown.encode())
        return lib.ambit_kernel_find(handle, name.encode()) if name and handle else handle
    k = Kernel(make, (shown, kind, name), is_real, source)
    k._default  # mistakes are found now
    return k


def load_kernel(path: Any, *, real: Optional[DTypeLike] = None) -> Kernel:
    """A kernel from a file."""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    is_real = real is None and re.search(r"\breal\b", source) is not None
    kind = None if real is None else type_of(real)

    def make(context: Context, real_type: Optional[int]) -> Optional[int]:
        chosen = real_type if kind is None else kind
        a = context._begin()
        if chosen is not None:
            lib.ambit_define_real(a, chosen)
        return lib.ambit_kernel_load(a, text(path))
    k = Kernel(make, (str(path), source, kind), is_real, source)
    k._default
    return k


class WeightsKernel(Kernel):
    """A weighted sum of neighbours, for the type of the field that it reads."""

    def _made(self, context: Context, args: Sequence[Any] = ()) -> Made:
        kind = next((a._type for a in args if isinstance(a, Field)), c.AMBIT_F32)
        made = context._kernels.get((self._key, kind))
        if made is None:
            made = made_of(context, self._make(context, kind))
            context._kernels[self._key, kind] = made
        return made


def weights_of(weights: Any, divisor: float, centre: Optional[Sequence[int]]) -> Tuple[c.ambit_weights, Any]:
    """The struct, and the array it refers to."""
    values = np.ascontiguousarray(weights, dtype="f8")
    if not 1 <= values.ndim <= c.AMBIT_MAX_DIMS:
        raise InvalidArgument(f"weights have 1 to {c.AMBIT_MAX_DIMS} dimensions, not {values.ndim}")
    if centre is None:
        even = [n for n in values.shape if n % 2 == 0]
        if even:
            raise InvalidArgument(f"weights of the shape {values.shape} have no middle; say which one is at the cell: centre=(...)")
        centre = [n // 2 for n in values.shape]
    w = c.ambit_weights(ndims=values.ndim, divisor=divisor,
                        weights=values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
    for d, (n, at) in enumerate(zip(values.shape, centre)):
        w.low[d], w.high[d] = at, n - 1 - at
    return w, values


def weights(values: Any, divisor: float = 1, centre: Optional[Sequence[int]] = None, name: str = "weights") -> Kernel:
    """A kernel (u, v): v = (sum of weights times neighbours of u) / divisor, from an array, whose middle is at the cell."""
    w, kept = weights_of(values, divisor, centre)

    def make(context: Context, kind: Optional[int]) -> Optional[int]:
        return lib.ambit_kernel_create_weighted(context._begin(), name.encode(), kind, ctypes.byref(w))
    make.kept = kept  # type: ignore[attr-defined]
    k = WeightsKernel(make, ("weights", name, kept.tobytes(), kept.shape, float(divisor), tuple(w.low), tuple(w.high)))
    k._default
    return k


def catalogue(name: str) -> Kernel:
    """A kernel (u, v) of the catalogue, by name: "2d4", "star3d2", "box2d1s" (docs/catalogue.md)."""
    def make(context: Context, kind: Optional[int]) -> Optional[int]:
        return lib.ambit_kernel_create_named(context._begin(), name.encode(), kind)
    k = WeightsKernel(make, ("catalogue", name))
    k._default
    return k


def stencil(what: Any, array: Any = None, iterations: int = 1, divisor: float = 1, centre: Optional[Sequence[int]] = None,
            context: Optional[Context] = None) -> Any:
    """Runs a stencil on an array, in one call, and returns the result. `what` is weights, a catalogue name, or a kernel
    (u, v). Cells whose neighbourhood leaves the array keep their values. Without an array, returns the kernel."""
    rule = what if isinstance(what, Kernel) else catalogue(what) if isinstance(what, str) else weights(what, divisor, centre)
    if array is None:
        return rule
    context = context or current()
    start = np.asarray(array)
    from ._grid import Grid
    if start.dtype.kind in "b":
        raise InvalidArgument("an array of truth values has no weighted sums")
    grid = Grid(*start.shape, context=context)
    kind = start.dtype if start.dtype.newbyteorder("=") in TYPES else np.dtype("f8")
    u, v = (grid.field(n, kind, boundary="fixed") for n in "uv")
    u[...] = start
    from ._program import swap
    grid.program(rule(u, v), swap(u, v)).run(iterations)
    return u[...]


def register_source(kernel_text: str, language: str, source: str) -> None:
    """Registers CUDA or OpenCL source to use in place of the generated code of a kernel (docs/gpu-kernels.md)."""
    languages = {"cuda": c.AMBIT_CUDA, "opencl": c.AMBIT_OPENCL}
    if language not in languages:
        raise InvalidArgument(f"the language is 'cuda' or 'opencl', not {language!r}")
    status = lib.ambit_register_source(kernel_text.encode(), languages[language], source.encode())
    if status:
        raise KernelError(f"the source was not registered: {lib.ambit_status_text(status).decode()}")


_registered: List[Any] = []  # functions must stay valid


def register_cpu(kernel_text: str, address: Any) -> None:
    """Registers a compiled function, by its address or as a ctypes function, to use in place of the generated code."""
    function = c.ambit_cpu_fn(address) if isinstance(address, int) else ctypes.cast(address, c.ambit_cpu_fn)
    status = lib.ambit_register_cpu(kernel_text.encode(), function)
    if status:
        raise KernelError(f"the function was not registered: {lib.ambit_status_text(status).decode()}")
    _registered.append((address, function))
