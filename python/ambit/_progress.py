# SPDX-License-Identifier: BSD-3-Clause
"""Progress bars: a line of a terminal, or an element of a notebook."""
import sys
import time
from typing import Any

PIECE = 0.15  # seconds between two looks
WIDTH = 30  # characters


def in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


class Bar:
    """Shows on stderr, one line that is rewritten on a terminal; elsewhere a line at the end."""

    def __init__(self, total: int, cells: int, is_limit: bool) -> None:
        self.total, self.cells, self.is_limit = total, cells, is_limit
        self.done, self.piece = 0, 1
        self.start = self.last = time.perf_counter()

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.show(True)

    def next_piece(self, ran: int, done: int) -> int:
        """After a piece: the number of iterations of the next one."""
        now = time.perf_counter()
        took, self.last, self.done = max(now - self.last, 1e-9), now, done
        self.piece = max(1, min(4 * max(self.piece, ran), int(ran * PIECE / took)))
        self.show(False)
        return self.piece

    def line(self) -> str:
        seconds = max(self.last - self.start, 1e-9)
        rate = self.done / seconds
        text = f"{self.done} iterations" if self.is_limit else f"{self.done} of {self.total} iterations"
        text += f", {rate * self.cells / 1e9:.3g} Gcells/s"
        if not self.is_limit and self.done < self.total and rate > 0:
            left = int((self.total - self.done) / rate + 0.5)
            text += f", {left // 60}:{left % 60:02d} left"
        return text

    def show(self, last: bool) -> None:
        if sys.stderr is None:
            return
        if sys.stderr.isatty():
            part = "" if self.is_limit else "[" + ("#" * (WIDTH * self.done // max(self.total, 1))).ljust(WIDTH) + "] "
            sys.stderr.write(f"\r{part}{self.line()}\033[K" + ("\n" if last else ""))
            sys.stderr.flush()
        elif last:
            print(self.line(), file=sys.stderr)


class NotebookBar(Bar):
    """An element of the cell's output that is replaced."""

    def __enter__(self) -> "Bar":
        from IPython.display import display
        self.display = display(self, display_id=True)
        return self

    def show(self, last: bool) -> None:
        self.display.update(self)

    def _repr_html_(self) -> str:
        bar = "" if self.is_limit else f'<progress value="{self.done}" max="{max(self.total, 1)}"></progress> '
        return f"<div>{bar}{self.line()}</div>"

    def __repr__(self) -> str:
        return self.line()


def bar_for(total: int, cells: int, is_limit: bool) -> Bar:
    return (NotebookBar if in_notebook() else Bar)(total, cells, is_limit)
