# SPDX-License-Identifier: BSD-3-Clause
"""Programs: steps, runs, callbacks, output."""
import ctypes
import operator
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

from . import _declarations as c
from . import _explain
from ._context import Owned
from ._errors import InvalidArgument
from ._field import Field, picture_of
from ._interrupt import interruptible
from ._kernel import Step, plain_box
from ._library import index, lib, text
from ._points import Record
from ._progress import bar_for
from ._scalar import Condition, Scalar, condition_of

if TYPE_CHECKING:
    from ._grid import Grid

Until = Any  # "change < 1e-4", a condition, or "still"


class Swap(Step):
    """Exchanges or rotates the values of fields."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = list(fields)

    def _objects(self) -> List[Any]:
        return list(self.fields)

    def _append(self, program: "Program") -> None:
        if len(self.fields) == 2:
            status = lib.ambit_swap(program._handle, self.fields[0]._handle, self.fields[1]._handle)
        else:
            handles = (ctypes.c_void_p * len(self.fields))(*[f._handle for f in self.fields])
            status = lib.ambit_rotate(program._handle, len(self.fields), handles)
        program.context._check(status)

    def __repr__(self) -> str:
        return f"<step: {'swap' if len(self.fields) == 2 else 'rotate'} {', '.join(f.name for f in self.fields)}>"


class Copy(Step):
    """Copies a box of one field to another, or to another place."""

    def __init__(self, source: Field, target: Field, box: Any = ..., at: Optional[Sequence[int]] = None) -> None:
        self.source, self.target, self.at = source, target, at
        self.lo, self.hi = plain_box(box, source.grid.shape)

    def _objects(self) -> List[Any]:
        return [self.source, self.target]

    def _append(self, program: "Program") -> None:
        program.context._check(lib.ambit_copy_box(program._handle, self.source._handle, index(self.lo), index(self.hi),
                                                  self.target._handle, index(self.at)))

    def __repr__(self) -> str:
        return f"<step: copy {self.source.name} to {self.target.name}>"


class Resample(Step):
    """Averages or interpolates a box of a field to a box of another, of any grid."""

    def __init__(self, source: Field, target: Field, box: Any, to: Any) -> None:
        self.source, self.target = source, target
        self.taken, self.given = plain_box(box, source.grid.shape), plain_box(to, target.grid.shape)

    def _objects(self) -> List[Any]:
        return [self.source, self.target]

    def _append(self, program: "Program") -> None:
        (lo, hi), (to_lo, to_hi) = self.taken, self.given
        program.context._check(lib.ambit_resample(program._handle, self.source._handle, index(lo), index(hi),
                                                  self.target._handle, index(to_lo), index(to_hi)))

    def __repr__(self) -> str:
        return f"<step: resample {self.source.name} to {self.target.name}>"


class Measure(Step):
    """A measure of a field, perhaps with its place, or a histogram."""

    QUANTITIES = {"mean": c.AMBIT_MEAN, "norm1": c.AMBIT_NORM_1, "norm2": c.AMBIT_NORM_2, "normmax": c.AMBIT_NORM_MAX,
                  "min": c.AMBIT_LEAST, "max": c.AMBIT_GREATEST}

    def __init__(self, field: Field, what: str, value: Any, place: Any) -> None:
        if what not in self.QUANTITIES:
            raise InvalidArgument(f"'{what}' is no measure; they are {', '.join(self.QUANTITIES)}")
        context = field.grid.context
        self.field, self.what = field, self.QUANTITIES[what]
        self.value = Scalar(value, context=context) if isinstance(value, str) else value
        self.place = Scalar(place, context=context) if isinstance(place, str) else place

    def _objects(self) -> List[Any]:
        return [self.field, self.value] + ([self.place] if self.place is not None else [])

    def _append(self, program: "Program") -> None:
        p, f, value = program._handle, self.field._handle, self.value._for(program.context, c.AMBIT_F64)
        if self.place is None:
            program.context._check(lib.ambit_measure(p, f, self.what, value))
        else:
            program.context._check(lib.ambit_locate(p, f, self.what, value, self.place._for(program.context, c.AMBIT_I64)))

    def __repr__(self) -> str:
        return f"<step: measure {self.field.name}>"


class Histogram(Step):
    """Counts the values of a field in intervals."""

    def __init__(self, field: Field, lo: float, hi: float, counts: Union[Field, Sequence[Scalar]]) -> None:
        self.field, self.lo, self.hi = field, lo, hi
        self.counts: Any = counts if isinstance(counts, Field) else list(counts)

    def _objects(self) -> List[Any]:
        return [self.field, self.counts] if isinstance(self.counts, Field) else [self.field, *self.counts]

    def _append(self, program: "Program") -> None:
        if isinstance(self.counts, Field):
            program.context._check(lib.ambit_histogram_on(program._handle, self.field._handle, self.lo, self.hi, self.counts._handle))
            return
        handles = (ctypes.c_void_p * max(len(self.counts), 1))(*(s._for(program.context, c.AMBIT_I64) for s in self.counts))
        program.context._check(lib.ambit_histogram(program._handle, self.field._handle, self.lo, self.hi, len(self.counts), handles))

    def __repr__(self) -> str:
        return f"<step: histogram of {self.field.name}>"


class Call(Step):
    """Runs another program."""

    def __init__(self, program: "Program", iterations: Optional[int] = None, until: Until = None,
                 most: Optional[int] = None) -> None:
        if (iterations is None) == (until is None) or (until is None) != (most is None):
            raise InvalidArgument("call needs a number of iterations, or until and most")
        self.program, self.iterations, self.most = program, iterations, most
        self.until = None if until is None else condition_of(until, program._scalars)

    def _objects(self) -> List[Any]:
        return [self.program]

    def _append(self, program: "Program") -> None:
        if self.until is None:
            status = lib.ambit_call(program._handle, self.program._handle, self.iterations)
        else:
            u = self.until
            status = lib.ambit_call_until(program._handle, self.program._handle, u.scalar._handle, u.code, u.bound, self.most)
        program.context._check(status)

    def __repr__(self) -> str:
        return f"<step: call {self.program!r}>"


def swap(a: Field, b: Field) -> Step:
    """A step that exchanges the values of two fields, by their pointers."""
    return Swap([a, b])


def rotate(*fields: Field) -> Step:
    """A step in which each field takes the values of the next one, the last those of the first."""
    return Swap(fields)


def copy(source: Field, target: Field, box: Any = ..., at: Optional[Sequence[int]] = None) -> Step:
    """A step that copies the cells of a box (slices) of one field to those of another that begin at the cell `at`."""
    return Copy(source, target, box, at)


def resample(source: Field, target: Field, box: Any = ..., to: Any = ...) -> Step:
    """A step that averages or interpolates the cells of a box of one field to those of a box of another, on any grids."""
    return Resample(source, target, box, to)


def measure(field: Field, what: str, value: Any, place: Any = None) -> Step:
    """A step that measures a field: "mean", "norm1", "norm2", "normmax", "min" or "max", the last three with their place. Results are scalars, or names for new ones."""
    return Measure(field, what, value, place)


def histogram(field: Field, lo: float, hi: float, counts: Union[Field, Sequence[Scalar]]) -> Step:
    """A step that counts the values in intervals of equal length from lo to hi: in a field of type i8 on fewer axes, a component for each, or in scalars."""
    return Histogram(field, lo, hi, counts)


def call(program: "Program", iterations: Optional[int] = None, until: Until = None, most: Optional[int] = None) -> Step:
    """A step that runs another program: a number of iterations, or until a condition holds, at most `most`."""
    return Call(program, iterations, until, most)


class Stats(NamedTuple):
    """Statistics of all runs of a program."""

    iterations: int
    seconds: float
    cells: float
    bytes: float
    flops: float
    copy_bandwidth: float


class Program(Owned):
    """A list of steps, run once per iteration; Grid.program(...) makes it."""

    _destroy = lib.ambit_program_destroy
    _rank = 1

    def __init__(self, grid: "Grid", *steps: Step) -> None:
        context = grid.context
        context._begin()
        super().__init__(context, context._made(lib.ambit_program_create(grid._handle)))
        self._grid = grid
        self._steps: List[Step] = []
        self._scalars: Dict[str, Scalar] = {}
        self._callback: Any = None
        self._observed: List[Any] = []
        for s in steps:
            self.append(s)

    @property
    def grid(self) -> "Grid":
        """The grid of the program."""
        return self._grid

    @property
    def steps(self) -> List[Step]:
        """The steps, in order."""
        return list(self._steps)

    def append(self, step: Step) -> "Program":
        """Appends a step."""
        if not isinstance(step, Step):
            raise TypeError(f"{step!r} is no step; apply a kernel, heat(u, v), or use swap, rotate, copy or call")
        step._append(self)
        if step._every is not None:
            self._context._check(lib.ambit_step_every(self._handle, step._every))
        self._steps.append(step)
        for o in step._objects():
            if isinstance(o, Scalar):
                self._scalars[o.name] = o
            elif isinstance(o, Program):
                self._scalars.update(o._scalars)
        return self

    # ---- runs ----

    def run(self, iterations: Optional[int] = None, *, to: Optional[int] = None, until: Until = None,
            most: Optional[int] = None, check_every: Optional[int] = None, progress: bool = False) -> int:
        """Runs the program, and returns the number of iterations done.

        run(100): 100 times. run(to=100): until it has run 100 times. run(until="change < 1e-4", most=10000): until a scalar
        meets a condition. run(until="still", most=10000): until nothing changes. Ctrl-C ends a run after the present
        iteration, with KeyboardInterrupt; the program can go on. `progress` shows a bar.
        """
        if (iterations is None) + (to is None) + (until is None) != 2:
            raise InvalidArgument("run needs a number of iterations, or to=..., or until=... with most=...")
        if (until is None) != (most is None):
            raise InvalidArgument("until needs most=..., the number of iterations after which to give up, and most needs until")
        context = self._context
        if context._views:
            context._refuse_views("run")
        if context._garbage:
            context._sweep()
        if check_every is not None:
            context._check(lib.ambit_program_check_every(self._handle, check_every))
        p, count = self._handle, lib.ambit_program_iterations
        before: int = count(p)
        if to is not None:
            iterations = max(0, to - before)
        if iterations is not None:
            iterations = operator.index(iterations)
        if progress:
            self._run_with_bar(iterations, until, most, check_every or 1)
        else:
            self._run_once(iterations, until, most)
        return int(count(p)) - before

    def _run_once(self, iterations: Optional[int], until: Until, most: Optional[int]) -> None:
        context, p = self._context, self._handle
        with interruptible(context):
            if until is None:
                status = lib.ambit_run(p, iterations)
            elif until == "still":
                status = lib.ambit_run_until_still(p, most)
            else:
                u = condition_of(until, self._scalars)
                status = lib.ambit_run_until(p, u.scalar._handle, u.code, u.bound, most)
        if status or context._raised:
            context._check(status)

    def _run_with_bar(self, iterations: Optional[int], until: Until, most: Optional[int], unit: int) -> None:
        """In pieces of a fraction of a second. Their lengths depend on this process's clock, so several processes run in
        one piece, and the library shows how far they are."""
        if self._context.processes > 1:
            was = self._context.option("progress")
            self._context.option("progress", 1)
            try:
                self._run_once(iterations, until, most)
            finally:
                self._context.option("progress", was)
            return
        total = most if iterations is None else iterations
        assert total is not None
        with bar_for(total, self._grid.cells, until is not None) as bar:
            done, piece = 0, unit
            while done < total:
                n, before = min(piece, total - done), self.iterations
                self._run_once(None if until is not None else n, until, n if until is not None else None)
                ran = self.iterations - before
                done += ran
                piece = unit * max(1, bar.next_piece(ran, done) // unit)
                if ran < n or (until is not None and self.converged):
                    break

    @property
    def converged(self) -> bool:
        """The last run ended because its condition held."""
        return bool(lib.ambit_program_converged(self._handle))

    @property
    def iterations(self) -> int:
        """Iterations since the program was made."""
        return int(lib.ambit_program_iterations(self._handle))

    def relax(self) -> None:
        """Promises that the order of updates does not matter for the values at rest (docs/programs.md)."""
        self._context._check(lib.ambit_program_relax(self._handle))

    # ---- while it runs ----

    def every(self, n: int, fn: Optional[Callable[..., Any]] = None) -> Any:
        """Calls fn(program, iteration) after every n iterations; a true result ends the run. Also a decorator:

            @p.every(100)
            def look(p, i): print(i, u[0, 0])

        An exception ends the run and comes out of run(). A program has one callback; every(0) removes it.
        """
        if n == 0:
            self._callback = None
            self._context._check(lib.ambit_on_iteration(self._handle, 0, c.ambit_callback_fn(0), None))
            return None
        if fn is None:
            return lambda f: self.every(n, f)
        context = self._context

        def callback(p: Any, iteration: int, user: Any) -> int:
            try:
                return int(bool(fn(self, iteration)))
            except BaseException as e:  # comes out of run()
                context._raised = e
                return 1
        self._callback = c.ambit_callback_fn(callback)
        context._check(lib.ambit_on_iteration(self._handle, n, self._callback, None))
        return fn

    def output(self, n: int, path: Any, *fields: Field, **picture: Any) -> None:
        """Saves fields before the first iteration and after every n: "u%06d.vtkhdf", "u.png", "film.y4m" (docs/output.md).
        The keywords are those of Field.draw, and rate, the frames per second."""
        handles = (ctypes.c_void_p * max(len(fields), 1))(*[f._handle for f in fields])
        drawn = ctypes.byref(picture_of(**picture)) if picture else None
        self._context._check(lib.ambit_output(self._handle, n, text(path), len(fields), handles, drawn))
        self._observed += fields

    def end_output(self) -> None:
        """Ends all outputs; raises what could not be written."""
        self._context._check(lib.ambit_output_end(self._handle))
        self._observed.clear()

    def view(self, field: Optional[Field] = None) -> None:
        """Shows runs while they run, in the terminal or the browser, as the option view says (docs/view.md)."""
        self._context._check(lib.ambit_view(self._handle, field._handle if field else None))

    def history(self, scalar: Any, every: int = 1) -> Record:
        """A record of the value of a scalar (or the one of this name) after every n iterations; of several, a column each."""
        if isinstance(scalar, (list, tuple)):
            all = [self._scalars[s] if isinstance(s, str) else s for s in scalar]
            handles = (ctypes.c_void_p * max(len(all), 1))(*(s._handle for s in all))
            name = all[0].name if all else "history"
            return Record._adopt(self._context, lib.ambit_history_all(self._handle, name.encode(), len(all), handles, every))
        s = self._scalars[scalar] if isinstance(scalar, str) else scalar
        return Record._adopt(self._context, lib.ambit_history(self._handle, s._handle, every))

    # ---- afterwards ----

    def stats(self, measure_copy: bool = False) -> Stats:
        """Iterations, seconds, cells, bytes and operations of all runs so far."""
        found = lib.ambit_program_stats(self._handle, int(measure_copy))
        self._context._check(lib.ambit_error(self._context._handle))
        return Stats(*[getattr(found.contents, name) for name in Stats._fields])

    def report(self) -> str:
        """The speed of all runs so far, its share of the copy bandwidth of the machine, and the plans of the steps."""
        return _explain.report(self)

    def explain(self) -> "_explain.Explanation":
        """The steps, what they read and write, and the plans that they run by: a text, and a picture in notebooks."""
        return _explain.Explanation(self)

    def __repr__(self) -> str:
        return f"<ambit.Program of {len(self._steps)} steps on {self._grid!r}>"
