"""Live progress of a command.

In a terminal, a panel is redrawn a few times a second. Otherwise each phase is a line.
"""

from __future__ import annotations

import logging
import math
import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self

from rich.console import Group
from rich.live import Live
from rich.panel import Panel as Frame
from rich.table import Table
from rich.text import Text

from ..run import Progress, logger
from .session import Session, plain

if TYPE_CHECKING:
    from ..estimators import ChoiceProgress

FRAMES_PER_SECOND = 8
# Seconds between two progress lines without a terminal.
LINE_INTERVAL = 10.0
# Phases shorter than this are announced without their time, and not listed afterwards.
SHORT = 5.0


class Panel(AbstractContextManager["Panel"]):
    """A live view of a command; use it in a ``with`` statement.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session):
        self._session = session
        self._phase = "starting"
        self._note = ""
        self._progress: Progress | None = None
        self._begun = self._phase_begun = time.monotonic()
        self._next_line = self._next_step = 0.0
        self._handler = _Notes(self)
        self._live: Live | None = None
        if session.err.is_terminal and not session.quiet:
            self._live = Live(
                get_renderable=self._picture,
                console=session.err,
                refresh_per_second=FRAMES_PER_SECOND,
                transient=True,
            )

    def __enter__(self) -> Self:
        logger.addHandler(self._handler)
        self._propagated, logger.propagate = logger.propagate, False
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: Any) -> None:
        logger.removeHandler(self._handler)
        logger.propagate = self._propagated
        self._end_phase()
        if self._live is not None:
            self._live.stop()

    def phase(self, title: str, seconds: float | None = None) -> None:
        """Begin a new phase; ``seconds`` is an estimate of its duration, if known."""
        self._end_phase()
        if seconds is not None and seconds >= SHORT:
            title += f", about {_roughly(seconds)} to go"
        self._phase, self._note, self._progress = plain(title), "", None
        self._phase_begun = time.monotonic()
        self._next_line = self._next_step = 0.0
        if self._live is None:
            self._session.say(f"{title} ...")

    def _end_phase(self) -> None:
        """In a terminal, where the panel vanishes, list a phase that took long."""
        seconds = time.monotonic() - self._phase_begun
        if self._live is not None and seconds >= SHORT:
            title = self._phase.partition(", about")[0]
            self._session.say(f"{title}: {_clock(seconds)}")

    def note(self, text: str) -> None:
        """Add a note to the current phase."""
        self._note = text
        if self._live is None:
            self._session.say(f"  {text}")

    def progress(self, progress: Progress) -> None:
        """Show the progress of a run; used as a callback."""
        # Notes are about compilation, which is over once there is progress.
        self._note = ""
        self._progress = progress
        is_due = progress.seconds >= self._next_line
        if self._live is None and is_due and math.isfinite(progress.objective):
            self._next_line = progress.seconds + LINE_INTERVAL
            self._session.say(
                f"  {progress.seconds:.0f} s: incumbent {progress.objective:.6g}, "
                + (
                    f"bound {progress.lower_bound:.6g}, gap {100 * progress.gap:.3g} %"
                    if math.isfinite(progress.gap)
                    else "no bound yet"
                )
            )

    def step(self, progress: ChoiceProgress) -> None:
        """Show the progress of a choice; used as a callback."""
        text = (
            f"{progress.seconds:.0f} s: step {progress.n_done:,} of "
            f"{progress.n_total:,} (feature limit {progress.max_features}, fold "
            f"{progress.fold + 1})"
        )
        if progress.n_done < progress.n_total:
            text += f", about {_roughly(progress.seconds_left)} to go"
        self._note = text
        if self._live is None and (now := time.monotonic()) >= self._next_step:
            self._next_step = now + LINE_INTERVAL
            self._session.say(f"  {text}")

    def _picture(self) -> Any:
        now = time.monotonic()
        head = Text(f"{self._phase}   {_clock(now - self._phase_begun)}", style="bold")
        parts: list[Any] = [head]
        if self._note:
            parts.append(Text(self._note, style="yellow"))
        if self._progress is not None:
            parts.append(_progress_table(self._progress))
        title = f"frugalsvm   {_clock(now - self._begun)}   Ctrl-C: stop, keep best"
        return Frame(Group(*parts), title=title, title_align="left", width=76)


def _progress_table(progress: Progress) -> Table:
    table = Table(box=None, pad_edge=False)
    for head in ("incumbent", "bound", "gap", "nodes"):
        table.add_column(head, justify="right", min_width=12, style="cyan")
    table.add_row(
        _number(progress.objective),
        _number(progress.lower_bound),
        f"{100 * progress.gap:.3g} %" if math.isfinite(progress.gap) else "-",
        f"{progress.nodes:,}",
    )
    return table


def _number(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "-"


def _clock(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)}:{int(seconds % 60):02d} min"


def _roughly(seconds: float) -> str:
    """An estimated duration, rounded to five seconds or whole minutes."""
    if seconds < 57.5:
        return f"{5 * max(1, round(seconds / 5))} s"
    return f"{round(seconds / 60)} min"


class _Notes(logging.Handler):
    """A log handler that shows the solver's messages in the panel."""

    def __init__(self, panel: Panel):
        super().__init__(logging.WARNING)
        self._panel = panel

    def emit(self, record: logging.LogRecord) -> None:
        """Show a message."""
        self._panel.note(plain(record.getMessage()))
