# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that are Python functions: read through ast, written in the kernel language.

    @ambit.kernel
    def heat(u, v, k, change: "max"):
        v[0, 0] = u[0, 0] + k * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1] - 4 * u[0, 0])
        change = abs(v[0, 0] - u[0, 0])

The text is made for the types of the arguments, when the kernel is applied; heat.c_source shows the last one. Values and
helper functions from outside are captured when the function is decorated: later changes of globals have no effect. The
source must be the one that Python runs: if the file has changed since it was imported, that is an error.

Statements stand on the lines that they have in Python, so that messages of the library name Python's line.
"""
import ast
import linecache
import math
import sys
import types
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np

from . import _declarations as c
from ._context import Context
from ._errors import KernelError
from ._field import Field
from ._kernel import REALS, Kernel, Made, made_of
from ._library import lib
from ._scalar import Scalar
from ._types import WORDS

ORDER = ["int", "unsigned", "long", "unsigned long", "float", "double"]  # of two operands the higher one counts
NARROW = {"unsigned char": "int", "short": "int", "unsigned short": "int", "half": "float", "bfloat": "float"}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<",
             ast.RShift: ">>"}
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
MATH = {name: name for name in "sqrt floor ceil trunc exp exp2 expm1 log log2 log10 log1p cbrt hypot sin cos tan asin acos "
        "atan atan2 sinh cosh tanh erf copysign fmod fabs fma rint".split()}
MATH.update({"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "power": "pow", "pow": "pow",
             "absolute": "fabs", "abs": "fabs", "minimum": "fmin", "maximum": "fmax", "fmin": "fmin", "fmax": "fmax"})
PLACES = ("index", "extent", "step", "outside", "normal")
REDUCTIONS = ("sum", "min", "max")


def place(name: str) -> Callable[..., int]:
    def function(*unused: int) -> int:
        raise TypeError(f"ambit.{name} is for kernels: in a function with @ambit.kernel")
    function.__name__ = name
    function.__doc__ = f"In kernels: {name}() of docs/language.md."
    return function


index, extent, step, outside, normal = (place(n) for n in PLACES)


class Value(NamedTuple):
    """An expression in C: its text, its type, whether it is a constant, and whether it is known not to be negative."""

    text: str
    type: str
    constant: bool = False
    natural: bool = False


class Source(NamedTuple):
    """A function, its tree, and where that is."""

    function: Any
    tree: ast.FunctionDef
    lines: List[str]
    file: str
    first: int  # number of lines[0] in the file


# ---- the source of a function -----------------------------------------------------------------


def file_lines(function: Any) -> List[str]:
    name = function.__code__.co_filename
    linecache.checkcache(name)
    lines = linecache.getlines(name, function.__globals__)
    words = getattr(sys, "orig_argv", [])
    if not lines and name == "<string>" and "-c" in words[:-1]:
        lines = (words[words.index("-c") + 1] + "\n").splitlines(True)
    return lines


def source_of(function: Any) -> Source:
    """Finds the function in its file by its line, and checks that the file is the one that was compiled."""
    code = function.__code__
    where = f"{code.co_filename}:{code.co_firstlineno}: error: "
    lines = file_lines(function)
    if not lines:
        raise KernelError(f"{where}the source of '{function.__name__}' is not known (it was made by exec?); a kernel is read "
                          f"from its source: write it in a file or a notebook, or give ambit.kernel a text in C")
    changed = KernelError(f"{where}the file has changed since '{function.__name__}' was imported; reload the module")
    try:
        tree = ast.parse("".join(lines))
        flags = code.co_flags & FUTURES
        modules = [compile(tree, code.co_filename, "exec", dont_inherit=True, flags=flags)]
        for statement in tree.body:  # notebooks compile one by one, which can give other instructions
            if statement.lineno <= code.co_firstlineno + 1 and (statement.end_lineno or 0) >= code.co_firstlineno:
                alone = ast.Module([statement], [])
                modules.append(compile(alone, code.co_filename, "exec", dont_inherit=True, flags=flags))
    except SyntaxError:
        raise changed from None
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == function.__name__
             and first_line(n) == code.co_firstlineno]
    if not found or not any(same_code(code, other) for module in modules for other in codes(module)):
        raise changed
    return Source(function, found[0], [line.rstrip("\n") for line in lines], code.co_filename, 1)


FUTURES = 0x1FF0000  # co_flags of `from __future__`


def first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno] + [d.lineno for d in node.decorator_list])


def codes(code: types.CodeType) -> List[types.CodeType]:
    found = [code]
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found += codes(inner)
    return found


def same_code(a: types.CodeType, b: types.CodeType) -> bool:
    """The same instructions on the same constants and names."""
    def plain(x: types.CodeType) -> List[Any]:
        return [repr(k) for k in x.co_consts if not isinstance(k, types.CodeType)]
    return (a.co_name, a.co_firstlineno, a.co_code, a.co_names, a.co_varnames, plain(a)) == (
        b.co_name, b.co_firstlineno, b.co_code, b.co_names, b.co_varnames, plain(b))


def fault(source: Source, node: ast.AST, message: str) -> KernelError:
    """An error at Python's line, with a caret."""
    line, column = getattr(node, "lineno", source.tree.lineno), getattr(node, "col_offset", 0)
    end = getattr(node, "end_col_offset", None) if getattr(node, "end_lineno", line) == line else None
    text = source.lines[line - source.first] if line - source.first < len(source.lines) else ""
    column = len(text.encode()[:column].decode(errors="ignore"))
    width = max(1, (end or column + 1) - column)
    return KernelError(f"{source.file}:{line}:{column + 1}: error: {message}\n{text}\n{' ' * column}^{'~' * (width - 1)}")


# ---- what is captured -------------------------------------------------------------------------


def lookup(source: Source, name: str) -> Any:
    """The value of a name from outside, now. KeyError: there is none."""
    function = source.function
    if name in function.__code__.co_freevars:
        cell = function.__closure__[function.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            raise KeyError(name) from None
    if name in function.__globals__:
        return function.__globals__[name]
    builtins = function.__globals__.get("__builtins__", {})
    found = (builtins if isinstance(builtins, dict) else vars(builtins))
    return found[name]


def capture(source: Source, helpers: Dict[str, Source]) -> Dict[str, Any]:
    """All names of the function that are not its own, with their values now. Functions are read, too."""
    tree, own = source.tree, {a.arg for a in source.tree.args.args}
    for n in ast.walk(tree):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            own.add(n.id)
    found: Dict[str, Any] = {}
    for n in [n for statement in tree.body for n in ast.walk(statement)]:
        if not isinstance(n, ast.Name) or n.id in own or n.id in found:
            continue
        try:
            value = lookup(source, n.id)
        except KeyError:
            raise fault(source, n, f"unknown name '{n.id}': it has no value when the function is decorated") from None
        if isinstance(value, types.FunctionType) and value.__module__ != __name__ and value is not source.function:
            if value not in [h.function for h in helpers.values()]:
                helpers[value.__qualname__] = source_of(value)
                helpers_of = helpers[value.__qualname__]
                found_there = capture(helpers_of, helpers)
                CAPTURED[id(helpers_of.tree)] = (helpers_of.tree, found_there)
        elif isinstance(value, PythonKernel):
            raise fault(source, n, f"'{n.id}' is a kernel; helper functions have no decorator")
        found[n.id] = snapshot(value)
    return found


CAPTURED: Dict[int, Tuple[ast.FunctionDef, Dict[str, Any]]] = {}  # of helper functions, by their tree


def snapshot(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (list, tuple)):
        return tuple(snapshot(v) for v in value)
    return value


# ---- translation ------------------------------------------------------------------------------


def join(a: str, b: str) -> str:
    return ORDER[max(ORDER.index(a), ORDER.index(b))]


def is_real(kind: str) -> bool:
    return kind in ("float", "double")


class Translator:
    """One function, for types of its parameters. Passes repeat until the types of locals are known."""

    def __init__(self, source: Source, captured: Dict[str, Any], real: str, helpers: "Helpers") -> None:
        self.source, self.captured, self.real, self.helpers = source, captured, real, helpers
        self.params: Dict[str, Tuple[str, str, Any]] = {}  # name: kind, type, more
        self.types: Dict[str, str] = {}  # of locals
        self.arrays: Dict[str, Tuple[str, Tuple[int, ...]]] = {}  # local arrays: type, shape
        self.fixed: Dict[str, Any] = {}  # names with values: variables of unrolled loops
        self.constants: Set[str] = set()  # constant locals and loop variables
        self.written: Set[str] = set()
        self.used: Dict[str, str] = {}  # captured arrays: declaration
        self.result = ""  # of a helper
        counts: Dict[str, int] = {}
        for n in ast.walk(source.tree):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                counts[n.id] = counts.get(n.id, 0) + 1
        for n in ast.walk(source.tree):
            if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
                counts[n.target.id] = counts.get(n.target.id, 0) + 1
        self.once = {name for name, n in counts.items() if n == 1}
        self.lines: List[Tuple[int, str]] = []

    def fail(self, node: ast.AST, message: str) -> KernelError:
        return fault(self.source, node, message)

    def emit(self, node: ast.AST, text: str) -> None:
        self.lines.append((getattr(node, "lineno", 0), text))

    def body(self) -> List[Tuple[int, str]]:
        """The statements, by line, after as many passes as the types need."""
        while True:
            before = (dict(self.types), dict(self.arrays))
            self.lines, self.constants, self.fixed = [], set(), {}
            self.block(self.source.tree.body)
            if before == (self.types, self.arrays):
                return self.lines

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for s in statements:
            method = getattr(self, "do_" + type(s).__name__, None)
            if method is None:
                raise self.fail(s, f"'{type(s).__name__.lower()}' does not translate; a kernel has assignments, if, and for loops "
                                   f"over ranges")
            method(s)

    # ---- statements ----

    def do_Expr(self, s: ast.Expr) -> None:
        if not (isinstance(s.value, ast.Constant) and isinstance(s.value.value, str)):
            raise self.fail(s, "an expression without an assignment has no effect")

    def do_Pass(self, s: ast.Pass) -> None:
        pass

    def do_Assign(self, s: ast.Assign) -> None:
        if len(s.targets) > 1:
            raise self.fail(s, "assign to one name at a time")
        target = s.targets[0]
        if isinstance(target, ast.Tuple):
            if not isinstance(s.value, ast.Tuple) or len(s.value.elts) != len(target.elts):
                raise self.fail(s, "the tuples have different lengths, or one is no tuple")
            names = {n.id for t in target.elts for n in ast.walk(t) if isinstance(n, ast.Name)}
            if any(isinstance(n, ast.Name) and n.id in names for v in s.value.elts for n in ast.walk(v)):
                raise self.fail(s, "an exchange in one statement does not translate; use a local variable")
            for t, v in zip(target.elts, s.value.elts):
                self.assign(s, t, "=", v)
            return
        self.assign(s, target, "=", s.value)

    def do_AnnAssign(self, s: ast.AnnAssign) -> None:
        if s.value is not None:
            self.assign(s, s.target, "=", s.value)

    def do_AugAssign(self, s: ast.AugAssign) -> None:
        self.assign(s, s.target, "=", ast.copy_location(ast.BinOp(as_load(s.target), s.op, s.value), s))

    def assign(self, s: ast.stmt, target: ast.expr, sign: str, value: ast.expr) -> None:
        if isinstance(target, ast.Subscript):
            self.emit(s, f"{self.place_of(target, True).text} = {self.value(value).text};")
            return
        if not isinstance(target, ast.Name):
            raise self.fail(target, "this is no place for a value")
        name = target.id
        if name in self.params:
            kind = self.params[name][0]
            if kind != "reduction" and kind != "out":
                raise self.fail(target, f"'{name}' is a parameter; assign to {name}[0, ...] or to a local")
            self.written.add(name)
            self.emit(s, f"*{name} = {self.value(value).text};")
            return
        if name in self.fixed or name in self.constants and name not in self.once:
            raise self.fail(target, f"'{name}' is the variable of a loop")
        if self.array(s, name, value):
            return
        v = self.value(value)
        self.types[name] = join(self.types.get(name, v.type), v.type)
        if v.constant and name in self.once:
            self.constants.add(name)
            self.emit(s, f"const {self.types[name]} {name} = {v.text};")
        else:
            self.constants.discard(name)
            self.emit(s, f"{name} = {v.text};")

    def array(self, s: ast.stmt, name: str, value: ast.expr) -> bool:
        """h = [0.0] * 9, or a list of constants."""
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and isinstance(value.left, ast.List):
            first, n = value.left.elts, self.number(value.right)
            if len(first) != 1 or not isinstance(n, int):
                raise self.fail(value, "an array is written [0.0] * n, with a constant n")
            v = self.value(first[0])
            self.arrays[name] = (v.type, (n,))
            self.emit(s, " ".join(f"{name}[{i}] = {v.text};" for i in range(n)))
            return True
        if isinstance(value, (ast.List, ast.Tuple)):
            values = [self.value(e) for e in value.elts]
            kind = "int"
            for v in values:
                kind = join(kind, v.type)
            if name in self.once and all(v.constant for v in values):
                self.emit(s, f"const {kind} {name}[{len(values)}] = {{{', '.join(v.text for v in values)}}};")
                self.arrays[name] = ("const " + kind, (len(values),))
            else:
                self.arrays[name] = (kind, (len(values),))
                self.emit(s, " ".join(f"{name}[{i}] = {v.text};" for i, v in enumerate(values)))
            return True
        return False

    def do_If(self, s: ast.If) -> None:
        self.emit(s, f"if ({self.truth(s.test)}) {{")
        self.block(s.body)
        self.emit(s, "}")
        if s.orelse:
            self.emit(s.orelse[0], "else {")
            self.block(s.orelse)
            self.emit(s.orelse[-1], "}")

    def do_For(self, s: ast.For) -> None:
        if s.orelse:
            raise self.fail(s, "a loop with else does not translate")
        call = s.iter
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range" and not call.keywords:
            if not isinstance(s.target, ast.Name):
                raise self.fail(s.target, "the variable of a range is a name")
            ends = [self.value(a) for a in call.args]
            low, high = (Value("0", "int", True), ends[0]) if len(ends) == 1 else (ends[0], ends[1])
            step_of = self.number(call.args[2]) if len(ends) == 3 else 1
            if not isinstance(step_of, int) or not step_of or not (low.constant and high.constant):
                raise self.fail(call, "a range has constant ends, and a constant step that is not 0")
            name = s.target.id
            self.constants.add(name)
            self.types[name] = "int"
            sign = "<" if step_of > 0 else ">"
            self.emit(s, f"for (int {name} = {low.text}; {name} {sign} {high.text}; {name} += {step_of}) {{")
            self.block(s.body)
            self.emit(s.body[-1], "}")
            self.constants.discard(name)
            return
        values = self.number(call)
        if not isinstance(values, (tuple, np.ndarray)):
            raise self.fail(call, "a loop runs over range(...) or a constant sequence")
        for v in values:
            self.fix(s.target, v)
            self.block(s.body)
        self.unfix(s.target)

    def fix(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.fixed[target.id] = value
        elif isinstance(target, ast.Tuple) and np.ndim(value) and len(target.elts) == len(value):
            for t, v in zip(target.elts, value):
                self.fix(t, v)
        else:
            raise self.fail(target, "the value of the sequence does not fit these names")

    def unfix(self, target: ast.expr) -> None:
        for n in ast.walk(target):
            if isinstance(n, ast.Name):
                self.fixed.pop(n.id, None)

    def do_Return(self, s: ast.Return) -> None:
        if self.params or s is not self.source.tree.body[-1] or s.value is None:
            raise self.fail(s, "return is the last statement of a helper function only")
        v = self.value(s.value)
        self.result = join(self.result, v.type) if self.result else v.type
        self.emit(s, f"return {v.text};")

    # ---- constants of Python ----

    def number(self, node: ast.expr) -> Any:
        """The value of an expression that Python knows: numbers, captured values, operations on these; None: it does not."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            if node.id in self.fixed:
                return self.fixed[node.id]
            if node.id in self.types or node.id in self.arrays or node.id in self.params:
                return None
            return self.captured.get(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            x = self.number(node.operand)
            return None if x is None else -x
        if isinstance(node, ast.Attribute):
            base = self.number(node.value)
            return getattr(base, node.attr, None) if isinstance(base, (types.ModuleType, np.ndarray, tuple)) else None
        if isinstance(node, ast.Subscript):
            base, at = self.number(node.value), self.number(node.slice)
            if not isinstance(base, (tuple, np.ndarray)) or at is None:
                return None
            try:
                return base[at]
            except (IndexError, TypeError) as e:
                raise self.fail(node, str(e)) from None
        if isinstance(node, (ast.Tuple, ast.List)):
            found = tuple(self.number(e) for e in node.elts)
            return None if any(x is None for x in found) else found
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("len", "enumerate", "zip", "range"):
            args = [self.number(a) for a in node.args]
            if node.keywords or any(a is None for a in args):
                return None
            made = {"len": len, "enumerate": enumerate, "zip": zip, "range": range}[node.func.id](*args)  # type: ignore
            return made if isinstance(made, int) else tuple(made)
        return None

    def literal(self, node: ast.AST, x: Any) -> Value:
        if isinstance(x, (bool, np.bool_)):
            return Value(str(int(x)), "int", True)
        if isinstance(x, (int, np.integer)):
            x = int(x)
            if not -2**63 <= x < 2**63:
                raise self.fail(node, f"{x} does not fit in 64 bits")
            if -2**31 <= x < 2**31:
                return Value(str(x) if x >= 0 else f"({x})" if x > -2**31 else "INT_MIN", "int", True, x >= 0)
            return Value(f"{x}L" if x >= 0 else f"({x}L)", "long", True)
        kind = "double" if isinstance(x, np.float64) and not isinstance(x, float) else self.real
        if isinstance(x, np.float32):
            kind = "float"
        x = float(x)
        if math.isnan(x) or math.isinf(x):
            word = "NAN" if math.isnan(x) else "INFINITY" if x > 0 else "(-INFINITY)"
            return Value(word if kind == "double" else f"((float){word})", kind, True)
        text = repr(x)
        text = text if any(ch in text for ch in ".e") else text + ".0"
        text += "f" if kind == "float" else ""
        return Value(text if x >= 0 and not text.startswith("-") else f"({text})", kind, True)

    # ---- expressions ----

    def value(self, node: ast.expr) -> Value:
        known = self.number(node)
        if known is not None and isinstance(known, (bool, int, float, np.number, np.bool_)):
            return self.literal(node, known)
        method = getattr(self, "of_" + type(node).__name__, None)
        if method is None:
            raise self.fail(node, f"this expression ('{type(node).__name__.lower()}') does not translate")
        found = method(node)
        assert isinstance(found, Value)
        return found

    def truth(self, node: ast.expr) -> str:
        return self.value(node).text

    def of_Name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.params:
            kind, ctype, _ = self.params[name]
            if kind == "field":
                raise self.fail(node, f"'{name}' is a field: write {name}[0, ...], an offset for each axis")
            if kind == "table":
                raise self.fail(node, f"'{name}' is a table: write {name}[i]")
            return Value(f"*{name}" if kind in ("reduction", "out") else name, NARROW.get(ctype, ctype))
        if name in self.types:
            return Value(name, self.types[name], name in self.constants)
        if name in self.arrays:
            raise self.fail(node, f"'{name}' is an array: write {name}[i]")
        if name in self.captured:
            raise self.fail(node, f"'{name}' is {type(self.captured[name]).__name__}, which a kernel cannot use as a number")
        raise self.fail(node, f"'{name}' has no value here")

    def of_BinOp(self, node: ast.BinOp) -> Value:
        if isinstance(node.op, ast.Pow):
            return self.power(node)
        a, b = self.value(node.left), self.value(node.right)
        constant = a.constant and b.constant
        kind = join(a.type, b.type)
        if isinstance(node.op, ast.Div):
            if not is_real(kind):
                kind = self.real
                a = Value(f"({kind}){a.text}", kind)
            return Value(f"({a.text} / {b.text})", kind, constant)
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            return self.floored(node, a, b, kind)
        if type(node.op) not in OPERATORS:
            raise self.fail(node, "this operator does not translate")
        sign = OPERATORS[type(node.op)]
        if sign in "& | ^ << >>".split() and is_real(kind):
            raise self.fail(node, f"{sign} is for integers")
        if sign in ("<<", ">>"):
            kind = a.type
        return Value(f"({a.text} {sign} {b.text})", kind, constant, a.natural and b.natural and sign in "+*")

    def floored(self, node: ast.BinOp, a: Value, b: Value, kind: str) -> Value:
        """Python rounds quotients down, C towards 0: the same where nothing is negative."""
        is_mod = isinstance(node.op, ast.Mod)
        if is_real(kind):
            f = "f" if kind == "float" else ""
            quotient = f"floor{f}({a.text} / {b.text})"
            return Value(f"({a.text} - {quotient} * {b.text})" if is_mod else quotient, kind)
        if a.natural and b.natural:
            return Value(f"({a.text} {'%' if is_mod else '/'} {b.text})", kind, a.constant and b.constant, True)
        rest = f"({a.text} % {b.text})"
        wrong = f"({rest} != 0 && ({rest} < 0) != ({b.text} < 0))"
        if is_mod:
            return Value(f"({rest} + ({wrong} ? {b.text} : 0))", kind, a.constant and b.constant)
        return Value(f"({a.text} / {b.text} - {wrong})", kind, a.constant and b.constant)

    def power(self, node: ast.BinOp) -> Value:
        a, n = self.value(node.left), self.number(node.right)
        if isinstance(n, int) and 1 <= n <= 8 and (isinstance(node.left, ast.Name) or n <= 3):
            return Value("(" + " * ".join([a.text] * n) + ")", a.type, a.constant)
        b = self.value(node.right)
        kind = join(join(a.type, b.type), self.real)
        return Value(f"pow{'f' if kind == 'float' else ''}({a.text}, {b.text})", kind)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        v = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return Value(f"!{v.text}", "int", v.constant)
        sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        if sign == "~" and is_real(v.type):
            raise self.fail(node, "~ is for integers")
        return Value(f"({sign}{v.text})" if sign != "+" else v.text, v.type, v.constant)

    def of_Compare(self, node: ast.Compare) -> Value:
        parts, left = [], self.value(node.left)
        for op, right_node in zip(node.ops, node.comparators):
            if type(op) not in COMPARISONS:
                raise self.fail(node, "this comparison does not translate")
            right = self.value(right_node)
            parts.append(f"({left.text} {COMPARISONS[type(op)]} {right.text})")
            left = right
        return Value("(" + " && ".join(parts) + ")" if len(parts) > 1 else parts[0], "int", False)

    def of_BoolOp(self, node: ast.BoolOp) -> Value:
        sign = " && " if isinstance(node.op, ast.And) else " || "
        return Value("(" + sign.join(self.value(v).text for v in node.values) + ")", "int")

    def of_IfExp(self, node: ast.IfExp) -> Value:
        a, b = self.value(node.body), self.value(node.orelse)
        return Value(f"({self.truth(node.test)} ? {a.text} : {b.text})", join(a.type, b.type))

    def of_Subscript(self, node: ast.Subscript) -> Value:
        return self.place_of(node, False)

    def place_of(self, node: ast.Subscript, writes: bool) -> Value:
        """u[-1, 0]; f[3, 0, 1] and f[3][0, 1], component first; elements of tables and arrays."""
        keys: List[ast.expr] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            keys = (list(base.slice.elts) if isinstance(base.slice, ast.Tuple) else [base.slice]) + keys
            base = base.value
        if not isinstance(base, ast.Name):
            raise self.fail(base, "only fields, tables and arrays have elements")
        name = base.id
        for k in keys:
            if isinstance(k, ast.Slice):
                raise self.fail(k, "a kernel is about one cell: slices do not translate")
        values = [self.value(k) for k in keys]
        text = "".join(f"[{v.text}]" for v in values)
        if name in self.params:
            kind, ctype, more = self.params[name]
            if kind == "reduction" or kind == "out" and not values:
                raise self.fail(node, f"'{name}' is a reduction: assign to {name} itself")
            if kind == "value":
                raise self.fail(node, f"'{name}' is one value, and has no elements")
            if kind == "field":
                need = more[0] + (more[1] is not None)
                if len(values) != need:
                    what = " and the component first" if more[1] is not None else ""
                    raise self.fail(node, f"'{name}' needs {need} subscripts here, an offset for each axis{what}, not {len(values)}")
            if writes:
                if kind == "table":
                    raise self.fail(node, f"'{name}' is a table, and cannot change")
                self.written.add(name)
            return Value(f"{name}{text}", NARROW.get(ctype, ctype))
        if name in self.arrays:
            kind = self.arrays[name][0]
            if writes and kind.startswith("const "):
                raise self.fail(node, f"'{name}' is a list of constants; make it with [0.0] * n to change it")
            return Value(f"{name}{text}", kind.replace("const ", ""), kind.startswith("const ") and all(v.constant for v in values))
        if name in self.captured and not writes:
            return self.captured_element(node, name, values, text)
        raise self.fail(base, f"'{name}' has no elements here")

    def captured_element(self, node: ast.Subscript, name: str, values: List[Value], text: str) -> Value:
        a = np.asarray(self.captured[name])
        if a.dtype.kind not in "biuf" or a.ndim not in (1, 2) or a.ndim != len(values):
            raise self.fail(node, f"'{name}' is no array of one or two dimensions of numbers, or has other subscripts")
        kind = "int" if a.dtype.kind in "bi" and a.itemsize <= 8 and np.abs(a).max(initial=0) < 2**31 else self.real
        if a.dtype.kind == "f" and a.dtype == np.float32:
            kind = "float"
        rows = a.reshape(-1, a.shape[-1])
        lists = ["{" + ", ".join(self.literal(node, x if kind == "int" else float(x)).text for x in row) + "}" for row in rows]
        body = lists[0] if a.ndim == 1 else "{" + ", ".join(lists) + "}"
        self.used[name] = f"const {kind} {name}{''.join(f'[{n}]' for n in a.shape)} = {body};"
        return Value(f"{name}{text}", kind, all(v.constant for v in values))

    def of_Call(self, node: ast.Call) -> Value:
        function, name = self.called(node)
        if node.keywords:
            raise self.fail(node, "arguments by name do not translate")
        if name in PLACES and (function is None or getattr(function, "__module__", "") == __name__):
            texts = ", ".join(self.value(a).text for a in node.args)
            return Value(f"{name}({texts})", "int" if name in ("outside", "normal") else "long", False, name != "normal")
        if isinstance(function, types.FunctionType):
            return self.helpers.call(self, node, function)
        args = [self.value(a) for a in node.args]
        return self.builtin(node, function, name, args)

    def called(self, node: ast.Call) -> Tuple[Any, str]:
        if isinstance(node.func, ast.Name):
            return self.captured.get(node.func.id), node.func.id
        if isinstance(node.func, ast.Attribute):
            base = self.number(node.func.value)
            if isinstance(base, types.ModuleType):
                return getattr(base, node.func.attr, None), node.func.attr
        raise self.fail(node.func, "this call does not translate; call functions by their names")

    def builtin(self, node: ast.Call, function: Any, name: str, args: List[Value]) -> Value:
        kind = "int"
        for a in args:
            kind = join(kind, a.type)
        constant = all(a.constant for a in args)
        if function in (float, int, bool) or name in ("float32", "float64", "int32", "int64"):
            to = {"float": self.real, "int": "long", "bool": "int", "float32": "float", "float64": "double", "int32": "int",
                  "int64": "long"}[name]
            text = f"({args[0].text} != 0)" if name == "bool" else f"(({to}){args[0].text})"
            return Value(text, to, constant)
        if name == "where" and len(args) == 3:
            return Value(f"({args[0].text} ? {args[1].text} : {args[2].text})", join(args[1].type, args[2].type))
        if function in (min, max) and len(args) >= 2:
            text, sign = args[0].text, "<" if function is min else ">"
            for a in args[1:]:  # as Python does: the first of equal ones
                text = f"({a.text} {sign} {text} ? {a.text} : {text})"
            return Value(text, kind)
        if name in ("abs", "absolute") and not is_real(kind):
            return Value(f"{'labs' if kind == 'long' else 'abs'}({args[0].text})", kind, constant)
        if name in MATH:
            if not is_real(kind):
                kind = self.real
            f = "f" if kind == "float" else ""
            return Value(f"{MATH[name]}{f}({', '.join(a.text for a in args)})", kind)
        raise self.fail(node, f"'{name}' does not translate; kernels have the functions of docs/language.md, and helper functions")


def as_load(target: ast.expr) -> ast.expr:
    """The target of an assignment, as an expression."""
    copy = ast.parse(ast.unparse(target), mode="eval").body
    for n in ast.walk(copy):
        ast.copy_location(n, target)
    return copy


class Helpers:
    """Helper functions, one in C for each combination of types of arguments."""

    def __init__(self, sources: Dict[str, Source], real: str) -> None:
        self.sources, self.real = sources, real
        self.made: Dict[Tuple[Any, Tuple[str, ...]], Tuple[str, str]] = {}
        self.texts: List[str] = []
        self.open: List[Any] = []

    def call(self, caller: Translator, node: ast.Call, function: Any) -> Value:
        args = [caller.value(a) for a in node.args]
        key = (function, tuple(a.type for a in args))
        if key not in self.made:
            if function in self.open:
                raise caller.fail(node, f"'{function.__name__}' calls itself")
            self.make(caller, node, function, key[1])
        name, kind = self.made[key]
        return Value(f"{name}({', '.join(a.text for a in args)})", kind)

    def make(self, caller: Translator, node: ast.Call, function: Any, kinds: Tuple[str, ...]) -> None:
        source = next((s for s in self.sources.values() if s.function is function), None)
        if source is None:
            raise caller.fail(node, f"'{function.__name__}' was not known when the kernel was decorated")
        names = [a.arg for a in source.tree.args.args]
        if len(names) != len(kinds):
            raise caller.fail(node, f"'{function.__name__}' takes {len(names)} arguments, not {len(kinds)}")
        t = Translator(source, CAPTURED[id(source.tree)][1], self.real, self)
        t.types = dict(zip(names, kinds))
        t.once -= set(names)
        self.open.append(function)
        body = t.body()
        self.open.pop()
        if not t.result:
            raise fault(source, source.tree, f"'{function.__name__}' returns nothing")
        taken = {name for name, _ in self.made.values()}
        name = function.__name__ if function.__name__ not in taken else f"{function.__name__}_{len(taken)}"
        params = ", ".join(f"{t.types[n]} {n}" for n in names)
        text = f"static {t.result} {name}({params}) {{ {declarations(t, names)}{' '.join(x for _, x in body)} }}"
        self.texts.append(text)
        self.made[function, kinds] = (name, t.result)


def declarations(t: Translator, without: Sequence[str]) -> str:
    """Of locals, at the top: Python's names are those of the whole function."""
    constants = {x.split("[")[0].split(" ")[-1] for _, line in t.lines for x in [line.split(" = ")[0]] if line.startswith("const ")}
    loops = {line.split(" ")[2] for _, line in t.lines if line.startswith("for (int ")}
    out = list(t.used.values())
    out += [f"{kind} {name};" for name, kind in t.types.items() if name not in constants | loops and name not in without]
    out += [f"{kind} {name}[{shape[0]}];" for name, (kind, shape) in t.arrays.items() if not kind.startswith("const ")]
    return "".join(x + " " for x in out)


class PythonKernel(Kernel):
    """A kernel that is a Python function. c_source is its text in the kernel language, for the arguments of the last use."""

    def __init__(self, function: Any) -> None:
        if not isinstance(function, types.FunctionType):
            raise TypeError(f"{function!r} is no function; @ambit.kernel decorates functions")
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__wrapped__ = function
        self._of = source_of(function)
        args = self._of.tree.args
        if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults:
            raise fault(self._of, self._of.tree, "a kernel has plain parameters, without defaults")
        self._helpers: Dict[str, Source] = {}
        self._captured = capture(self._of, self._helpers)
        self._text: Optional[str] = None
        self._last: Optional[Made] = None

    def _names(self, *unused: Any) -> List[str]:
        return [a.arg for a in self._of.tree.args.args]

    def _made(self, context: Context, args: Sequence[Any] = ()) -> Made:
        if not args and self._last is not None:
            return self._last
        text = self.text_for(args)
        self._text = text
        made = context._kernels.get((text, None))
        if made is None:
            made = made_of(context, lib.ambit_kernel_create(context._begin(), text.encode()))
            context._kernels[text, None] = made
        self._last = made
        return made

    @property
    def name(self) -> str:
        return self.__name__

    @property
    def c_source(self) -> Optional[str]:
        """The text that was made for the arguments of the last use; None before the first."""
        return self._text

    def text_for(self, args: Sequence[Any]) -> str:
        """The text in the kernel language for these arguments."""
        source, params = self._of, self._of.tree.args.args
        if len(args) != len(params):
            raise TypeError(f"kernel '{self.__name__}' takes {len(params)} arguments, and got {len(args)}")
        real = next((("float" if a._type != c.AMBIT_F64 else "double") for a in args if isinstance(a, Field) and a._type in REALS),
                    "double")
        t = Translator(source, self._captured, real, Helpers(self._helpers, real))
        on_cells = any(isinstance(a, Field) for a in args)
        for p, a in zip(params, args):
            t.params[p.arg] = parameter(source, p, a, real, on_cells)
        body = t.body()
        heads = []
        for p in params:
            kind, ctype, more = t.params[p.arg]
            if kind == "field":
                const = "" if p.arg in t.written else "const "
                heads.append(f"{const}{ctype} *{p.arg}" + (f"[{more[1]}]" if more[1] is not None else ""))
            elif kind == "table":
                heads.append(f"table {ctype} {p.arg}" + "".join(f"[{n}]" for n in more))
            elif kind == "reduction":
                heads.append(f"{more} {ctype} *{p.arg}")
            else:
                heads.append(f"{ctype} {'*' if p.arg in t.written else ''}{p.arg}")
        first = source.tree.lineno
        out = f'#line {first} "{source.file}"\n' + "".join(x + " " for x in t.helpers.texts)
        out += f"void {self.__name__}({', '.join(heads)}) {{ {declarations(t, ())}"
        line = first
        for at, text in body:
            out += "\n" * max(0, at - line) + (text if at > line else " " + text)
            line = max(line, at)
        return out + " }\n"


def parameter(source: Source, p: ast.arg, a: Any, real: str, on_cells: bool) -> Tuple[str, str, Any]:
    """Kind, type and more of a parameter, from its annotation and its argument."""
    note = p.annotation
    word = note.value if isinstance(note, ast.Constant) else note.id if isinstance(note, ast.Name) else \
        note.attr if isinstance(note, ast.Attribute) else None
    if note is not None and word not in REDUCTIONS:
        raise fault(source, note, "the annotations of kernels are 'sum', 'min' and 'max', for reductions; types come from the fields")
    if isinstance(a, Field):
        if word:
            raise fault(source, p, f"'{p.arg}' is a reduction, and takes a scalar, not a field")
        return "field", WORDS[a._type], (a.grid.ndim, a.components if a._vector else None)
    if isinstance(a, (Scalar, str)):
        kind = WORDS[a._type] if isinstance(a, Scalar) and a._type is not None else real
        assigned = any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id == p.arg for n in ast.walk(source.tree))
        return ("reduction", kind, word) if word else ("out" if assigned and not on_cells else "value", kind, None)
    if word:
        raise fault(source, p, f"'{p.arg}' is a reduction, and takes a scalar")
    if np.ndim(a):
        shape = np.shape(a)
        return "table", "int" if np.asarray(a).dtype.kind in "biu" else real, shape
    if isinstance(a, (bool, int, np.integer)) and -2**31 <= int(a) < 2**31:
        return "value", "int", None
    return "value", real, None
