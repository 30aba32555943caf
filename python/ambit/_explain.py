# SPDX-License-Identifier: BSD-3-Clause
"""What a program does, as a text and as a picture: steps, the cells that they read, plans and speed."""
import os
import tempfile
from typing import TYPE_CHECKING, Any, List, Tuple

from ._field import Field
from ._kernel import Apply, Param
from ._library import lib

if TYPE_CHECKING:
    from ._program import Program

CELL = 14  # pixels of a cell in drawings


def report(program: "Program") -> str:
    """ambit_program_report prints to the descriptor of stderr, unbuffered: that is a file meanwhile."""
    with tempfile.TemporaryFile() as file:
        was = os.dup(2)
        try:
            os.dup2(file.fileno(), 2)
            status = lib.ambit_program_report(program._handle)
        finally:
            os.dup2(was, 2)
            os.close(was)
        program.context._check(status)
        file.seek(0)
        return file.read().decode(errors="replace")


class Explanation:
    """str() is the text; a notebook shows the picture, an SVG, and `svg` has it."""

    def __init__(self, program: "Program") -> None:
        self._program = program
        self.text = text_of(program)
        self.svg = svg_of(program)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Any) -> None:
        """Writes the picture, an SVG file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


def used(step: Apply) -> List[Tuple[Param, Any]]:
    """Parameters and arguments that are fields."""
    assert step.made is not None
    return list(zip(step.made.params, step.args))


def describe(p: Param, a: Any) -> str:
    if not isinstance(a, Field):
        name = getattr(a, "name", None)
        what = f"{p.reduction} into" if p.kind == "reduction" else "writes" if p.is_written else p.kind
        return f"{what} {name if name else 'numbers' if p.kind == 'table' else a}"
    reads = f"reads {a.name} at {len(p.offsets)} offset{'s' * (len(p.offsets) != 1)}" if p.offsets else ""
    if p.offsets and any(p.low + p.high):
        reads += " (reach " + ", ".join(f"-{lo}..+{hi}" for lo, hi in zip(p.low, p.high)) + ")"
    return ", ".join(t for t in (reads, f"writes {a.name}" if p.is_written else "") if t)


def text_of(program: "Program") -> str:
    lines = [f"program on {program.grid!r}, {program.grid.cells} cells, {program.iterations} iterations so far"]
    for i, step in enumerate(program.steps, 1):
        every = f", every {step._every} iterations" if step._every else ""
        if not isinstance(step, Apply) or step.made is None:
            lines.append(f"step {i}: {repr(step)[7:-1]}{every}")
            continue
        h = step.made.handle
        where = " on a box" if step._box is not None else " on faces" if step._faces is not None else ""
        lines.append(f"step {i}: kernel {lib.ambit_kernel_name(h).decode()}{where}{every}, {lib.ambit_kernel_flops(h):g} "
                     f"operations and {lib.ambit_kernel_bytes(h):g} bytes per cell")
        lines += [f"  {p.name}: {describe(p, a)}" for p, a in used(step)]
    if program.iterations:
        lines += ["", report(program).rstrip()]
    return "\n".join(lines)


def footprint(p: Param) -> List[Tuple[int, int]]:
    """Offsets in the plane of the last two axes; of one axis, in a row."""
    return sorted({(o[-2] if len(o) > 1 else 0, o[-1] if o else 0) for _, o in p.offsets})


def svg_of(program: "Program") -> str:
    """Each step in a row: its name, and the footprint of every field, with its own cell marked."""
    parts: List[str] = []
    y, width = 30, 240
    for i, step in enumerate(program.steps, 1):
        name = lib.ambit_kernel_name(step.made.handle).decode() if isinstance(step, Apply) and step.made else repr(step)[7:-1]
        parts.append(f'<text x="10" y="{y}">{i}. {escape(name)}</text>')
        x, tall = 200, 1
        for p, a in used(step) if isinstance(step, Apply) else []:
            if not isinstance(a, Field):
                continue
            cells = footprint(p)
            rows, columns = [c[0] for c in cells] + [0], [c[1] for c in cells] + [0]
            for r, q in cells:
                own = (r, q) == (0, 0)
                fill = "#d9480f" if own and p.is_written else "#4263eb"
                parts.append(f'<rect x="{x + (q - min(columns)) * CELL}" y="{y - CELL + 2 + (r - min(rows)) * CELL}" '
                             f'width="{CELL - 1}" height="{CELL - 1}" fill="{fill}" stroke="#495057"/>')
            if (0, 0) not in cells:
                fill = "#d9480f" if p.is_written else "#ffffff"
                parts.append(f'<rect x="{x - min(columns) * CELL}" y="{y - CELL + 2 - min(rows) * CELL}" '
                             f'width="{CELL - 1}" height="{CELL - 1}" fill="{fill}" stroke="#495057"/>')
            span, height = max(columns) - min(columns) + 1, max(rows) - min(rows) + 1
            parts.append(f'<text x="{x + span * CELL + 4}" y="{y}">{escape(a.name)}</text>')
            x += span * CELL + 30 + 8 * len(a.name)
            tall = max(tall, height)
        width = max(width, x)
        y += tall * CELL + 16
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" font-family="monospace" '
            f'font-size="13">{"".join(parts)}</svg>')


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
