"""Progress of a run: lines on standard error, or a Rich bar if installed."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from importlib.util import find_spec
from typing import Any, Protocol, TextIO

from .cells import Cell, CellOutcome

# Seconds between two lines.
INTERVAL = 5.0
# Assumed seconds of a cell without a limit until one has ended.
GUESS = 1.0


class Display(Protocol):
    """A progress display."""

    def update(self, done: int, text: str) -> None:
        """Show the number of finished cells and further text."""

    def close(self) -> None:
        """End the display."""


class Lines:
    """A line every few seconds, and one at the end."""

    def __init__(self, title: str, total: int, file: TextIO | None = None):
        self._title, self._total = title, total
        self._file = file or sys.stderr
        self._last = -INTERVAL

    def update(self, done: int, text: str) -> None:
        """Print if it is time to."""
        now = time.monotonic()
        if now - self._last >= INTERVAL or done == self._total:
            self._last = now
            print(f"{self._title}: {text}", file=self._file, flush=True)

    def close(self) -> None:
        """Nothing to do."""


class Silence:
    """Nothing."""

    def update(self, done: int, text: str) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


class Bar:
    """A bar by Rich."""

    def __init__(self, title: str, total: int):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn(title), BarColumn(), TextColumn("{task.fields[text]}"))
        self._bar: Any = Progress(*columns, console=Console(stderr=True))
        self._task = self._bar.add_task(title, total=total, text="")
        self._bar.start()

    def update(self, done: int, text: str) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=done, text=text)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.stop()


def display(title: str, total: int) -> Display:
    """A bar on a terminal if Rich is installed, lines otherwise."""
    if sys.stderr.isatty() and find_spec("rich"):
        return Bar(title, total)
    return Lines(title, total)


class StudyProgress:
    """Counts cells, and estimates how long the rest will take.

    A cell is expected to take the average time of its task, or its limit before any
    cell of the task has ended.
    """

    def __init__(
        self,
        title: str,
        cells: list[Cell],
        stored: int,
        jobs: int,
        quiet: bool = False,
    ):
        self._left = len(cells)
        # Remaining cells of each task, and their total limit in seconds.
        self._cells: dict[str, int] = defaultdict(int)
        self._limits: dict[str, float] = defaultdict(float)
        for cell in cells:
            self._count(cell, 1)
        self._stored, self._jobs = stored, jobs
        self._total = stored + len(cells)
        self._capped = self._failed = 0
        # Number and total time of finished cells of each task.
        self._seen: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
        self._display: Display = Silence() if quiet else display(title, self._total)
        self._show()

    def done(self, cell: Cell, outcome: CellOutcome) -> None:
        """Record a finished cell."""
        self._left -= 1
        self._count(cell, -1)
        ended, seconds = self._seen[cell.task]
        self._seen[cell.task] = (ended + 1, seconds + outcome.seconds)
        self._capped += outcome.capped
        self._failed += bool(outcome.error)
        self._show()

    def _count(self, cell: Cell, sign: int) -> None:
        self._cells[cell.task] += sign
        self._limits[cell.task] += sign * (cell.limit or GUESS)

    def seconds_left(self) -> float:
        """The estimate."""
        total = 0.0
        for task, count in self._cells.items():
            ended, seconds = self._seen[task]
            total += count * seconds / ended if ended else self._limits[task]
        return total / self._jobs

    def _show(self) -> None:
        done = self._total - self._left
        parts = [f"{done} of {self._total} cells", f"{self._left} left"]
        if self._left:
            parts.append(f"about {duration(self.seconds_left())}")
        for count, word in (
            (self._stored, "from the store"),
            (self._capped, "at their limit"),
            (self._failed, "failed"),
        ):
            if count:
                parts.append(f"{count} {word}")
        self._display.update(done, ", ".join(parts))

    def close(self) -> None:
        """End the display."""
        self._display.close()


def duration(seconds: float) -> str:
    """A duration in readable form."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
