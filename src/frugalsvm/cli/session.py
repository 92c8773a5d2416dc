"""Output, common options, time limit and error handling of all commands."""

from __future__ import annotations

import errno
import inspect
import json
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import wraps
from typing import Annotated, Any, get_type_hints

import numpy as np
import typer
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..run import Hold
from ..tables import WrongRequest

# Seconds on some clock.
Clock = Callable[[], float]


def working_seconds() -> float:
    """Seconds on a clock that stands still while kernels are compiled."""
    # Imported here, since help and completion do not need the compiler.
    from ..run import compilation

    return time.perf_counter() - compilation.seconds_spent()


@dataclass(frozen=True)
class Deadline:
    """When a command, or a part of it, has to end.

    Attributes
    ----------
    end : float or None
        On the clock; None for no limit.
    clock : callable
    omissions : list of str
        The parts that were left out for lack of time, and how to get them.
    """

    end: float | None = None
    clock: Clock = working_seconds
    omissions: list[str] = field(default_factory=list)

    @classmethod
    def after(cls, seconds: float | None, clock: Clock = working_seconds) -> Deadline:
        """The deadline some seconds from now; none for None."""
        return cls(None if seconds is None else clock() + seconds, clock)

    @property
    def seconds_left(self) -> float | None:
        """Seconds that are left; None without a limit."""
        return None if self.end is None else max(0.0, self.end - self.clock())

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.seconds_left == 0.0

    def part(self, share: float) -> float | None:
        """A share of the time left, in seconds; None without a limit."""
        seconds = self.seconds_left
        return None if seconds is None else share * seconds

    def within(self, share: float) -> Deadline:
        """The deadline of a part that may use this share of the time left."""
        return Deadline.after(self.part(share), self.clock)

    def omit(self, part: str, remedy: str) -> None:
        """Note a part that is left out, and how to get it."""
        self.omissions.append(f"{part} ({remedy})")

    @property
    def remark(self) -> str:
        """A sentence about what was left out; empty if nothing was."""
        if not self.omissions:
            return ""
        return f"--time-limit ended before: {'; '.join(self.omissions)}"


# --- Errors and exit codes ------------------------------------------------------------

# A command that succeeds ends with 0.
FAILED, USAGE, CONSTANT, INTERRUPTED = 1, 2, 3, 130


class UsageProblem(ValueError):
    """The options of the command line are invalid."""


class InterruptedFit(Exception):
    """Ctrl-C ended a command, after it showed and saved what it had."""


class ConstantFit(Exception):
    """A model that predicts one class was fitted, shown and saved."""


def exit_code(error: BaseException) -> int:
    """The exit code for an error."""
    if isinstance(error, (KeyboardInterrupt, InterruptedFit)):
        return INTERRUPTED
    if isinstance(error, ConstantFit):
        return CONSTANT
    if isinstance(error, (UsageProblem, WrongRequest)):
        return USAGE
    return FAILED


def message(error: BaseException) -> str:
    """One line that says what is wrong and, if known, what to do."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted before a result was found"
    if isinstance(error, OSError):
        return _system_message(error)
    if isinstance(error, MemoryError):
        return "not enough memory; use fewer rows or columns"
    if isinstance(error, ImportError):
        return str(error)
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ValueError):
        return text
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)"


def _system_message(error: OSError) -> str:
    name = f" {error.filename}" if error.filename else ""
    if error.errno == errno.ENOSPC:
        return (
            f"no space left on device to write{name}; free some space, or write to "
            "another disk"
        )
    if isinstance(error, FileNotFoundError):
        return f"file not found:{name}" if name else "file not found"
    if isinstance(error, PermissionError):
        return f"permission denied:{name}" if name else "permission denied"
    if isinstance(error, IsADirectoryError):
        return f"{name.strip() or 'the path'} is a folder; give a file"
    return f"{error.strerror or error}{':' if name else ''}{name}"


# --- Output ---------------------------------------------------------------------------

# Maximum length of an error or a warning.
LONGEST = 2000


@dataclass
class Session:
    """The common options of a command, and its output to the user.

    Results go to standard output, everything else to standard error.

    Attributes
    ----------
    json, quiet, debug : bool
    seed : int
    out, err : Console
    has_printed_json : bool
        Whether the JSON object has been printed.
    hold : Hold
        Begins as soon as there is a result, so that Ctrl-C does not lose it.
    lost : OSError or None
        Why output could not be written, for example because the disk is full. The
        command goes on, because there may be files to write, and fails at the end.
    """

    json: bool = False
    quiet: bool = False
    seed: int = 0
    debug: bool = False
    out: Console = field(default_factory=lambda: _console(stderr=False))
    err: Console = field(default_factory=lambda: _console(stderr=True))
    has_printed_json: bool = False
    hold: Hold = field(default_factory=Hold)
    lost: OSError | None = None

    def say(self, text: str) -> None:
        """Print a progress message for a person."""
        if not self.quiet:
            _print_line(self.err, text)

    def warn(self, text: str) -> None:
        """Print a warning for a person, even with --quiet."""
        _print_line(self.err, f"warning: {shortened(text)}")

    def show(self, *items: Any) -> None:
        """Print part of the result for a person: lines of text, or tables.

        Text may contain names from untrusted files. Line breaks in it are escaped, so
        that no such name can start a line of its own.
        """
        if self.json:
            return
        with self._tolerating_lost_output():
            for item in items:
                if isinstance(item, str):
                    _print_line(self.out, item)
                else:
                    self.out.print(item)

    def print_json(self, content: dict[str, Any]) -> None:
        """Print the result for a program: one object, so later ones are ignored."""
        if self.json and not self.has_printed_json:
            self.has_printed_json = True
            text = json.dumps(_json_values(content), allow_nan=False)
            with self._tolerating_lost_output():
                sys.stdout.write(text + "\n")
                sys.stdout.flush()

    @contextmanager
    def _tolerating_lost_output(self) -> Iterator[None]:
        """If standard output cannot be written, remember why and go on without it."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            self.lost = self.lost or OSError(
                error.errno, error.strerror, "standard output"
            )
            self.out.quiet = True
            lose_output()

    def table(self, *heads: str) -> Table:
        """Make an empty table; headings that begin with > are right-aligned."""
        table = _Rows(box=None, pad_edge=False)
        for head in heads:
            right = head.startswith(">")
            table.add_column(
                _TextCell(head.removeprefix(">")),
                justify="right" if right else "left",
                overflow="fold",
                no_wrap=right,
            )
        return table


class _Output(Console):
    """A console that shows nothing more once its output is closed."""

    def on_broken_pipe(self) -> None:
        """Continue, because there may be files to write."""
        self.quiet = True
        if not self.stderr:
            lose_output()


def lose_output() -> None:
    """Discard the rest of standard output, which is no longer read."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _console(stderr: bool) -> Console:
    console = _Output(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = 100
    return console


# --- Untrusted text -------------------------------------------------------------------


# Letters, marks and blanks that are invisible, or whose width depends on the program.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)


def plain(text: str) -> str:
    """Untrusted text as one line, without anything that a terminal would act on.

    Line breaks, control characters (for colours or writing direction) and invisible
    characters are replaced by their codes.
    """
    return "".join(
        character
        if character.isprintable() and not _UNSEEN.match(character)
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def shortened(text: str) -> str:
    """Cut the middle of a long message; its end usually says what to do."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]} [...] {text[-LONGEST // 2 :]}"


def _print_line(console: Console, text: str) -> None:
    """Print one line; if the terminal is narrower, continuation lines are indented."""
    line = Text(plain(text))
    shown = _hanging(console, line, console.width) if console.is_terminal else line
    console.print(shown, soft_wrap=True)


def _hanging(console: Console, line: Text, width: int) -> Text:
    """Wrap a line to the given width, with continuation lines indented.

    The middle of a long name can then never appear at the left margin.
    """
    if line.cell_len <= width:
        return line
    indent = 2 if width > 4 else 0
    parts = line.wrap(console, width - indent, overflow="fold")
    return Text("\n" + " " * indent).join(parts)


class _TextCell:
    """A table cell: one line, with indented continuation lines if needed."""

    def __init__(self, text: str):
        self._line = Text(plain(text))

    def __rich_measure__(
        self, console: Console, options: ConsoleOptions
    ) -> Measurement:
        return Measurement.get(console, options, self._line)

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        if options.no_wrap:
            yield self._line
        else:
            yield _hanging(console, self._line, options.max_width)


class _Rows(Table):
    """A table whose cells are untrusted text."""

    def add_row(self, *cells: Any, **options: Any) -> None:
        """Add a row of texts."""
        super().add_row(*map(_TextCell, cells), **options)


def _json_values(value: Any) -> Any:
    """Values for JSON: NaN and infinity become null."""
    if isinstance(value, dict):
        return {str(key): _json_values(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_json_values(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


# --- Commands -------------------------------------------------------------------------

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**32 - 1, metavar="N", help="Random seed."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

# Name, type and default of the options of all commands.
_COMMON = (
    ("json", Json, False),
    ("quiet", Quiet, False),
    ("seed", Seed, 0),
    ("debug", Debug, False),
)


def command(
    app: typer.Typer, name: str, *, examples: tuple[str, ...], **settings: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a function that takes a session and options into a command.

    It gets the common options; its errors become one line and an exit code.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(function, include_extras=True)

        @wraps(function)
        def run(**options: Any) -> None:
            common = {key: options.pop(key) for key, _, _ in _COMMON}
            guarded(Session(**common), lambda session: function(session, **options))

        # The first parameter is the session.
        option_parameters = list(inspect.signature(function).parameters.values())[1:]
        parameters = [
            option.replace(annotation=hints[option.name], kind=option.KEYWORD_ONLY)
            for option in option_parameters
        ] + [
            inspect.Parameter(
                key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
            for key, kind, default in _COMMON
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {option.name: option.annotation for option in parameters}
        del run.__wrapped__
        # Click keeps the line breaks of a paragraph that begins with \b.
        lines = "\n".join(["\b", *(f"  {line}" for line in examples)])
        return app.command(name, epilog=f"Examples:\n\n{lines}", **settings)(run)

    return decorate


def guarded(session: Session, work: Callable[[Session], None]) -> None:
    """Do the work; an error is printed as one line and becomes an exit code."""
    try:
        with session.hold:
            work(session)
        sys.stdout.flush()
        if session.lost is not None:
            raise session.lost
    except typer.Exit:
        raise
    except BrokenPipeError:
        # The reader has closed our output; nothing more can be printed there.
        lose_output()
        raise typer.Exit(1) from None
    except (Exception, KeyboardInterrupt) as error:
        code = exit_code(error)
        if session.debug:
            for line in traceback.format_exc().split("\n"):
                _print_line(session.err, f"  {line}")
        if not isinstance(error, (InterruptedFit, ConstantFit)):
            text = shortened(message(error))
            if isinstance(error, KeyboardInterrupt) and session.hold.count > 1:
                text = "interrupted again: files that are not written yet are missing"
            _print_line(session.err, f"error: {text}")
            # Standard output may be what failed.
            with suppress(OSError):
                session.print_json({"error": text, "exit_code": code})
        raise typer.Exit(code) from error
