"""Session: what all commands have in common.

What they print and where, their common options, and what becomes of errors.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from typing import Annotated, Any, get_type_hints

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from .errors import InterruptedFit, exit_code, message

# Columns of the output where no terminal says how many there are.
WIDTH = 100


@dataclass
class Session:
    """The common options of a command, and its way to the user.

    Results go to standard output, everything else to standard error.

    Attributes
    ----------
    json, quiet, debug : bool
    seed : int
    out, err : Console
    has_given : bool
        Whether the JSON object is printed.
    """

    json: bool = False
    quiet: bool = False
    seed: int = 0
    debug: bool = False
    out: Console = field(default_factory=lambda: _console(stderr=False))
    err: Console = field(default_factory=lambda: _console(stderr=True))
    has_given: bool = False

    def say(self, text: str) -> None:
        """Something on the way, for a person."""
        if not self.quiet:
            self.err.print(plain(text), soft_wrap=True)

    def warn(self, text: str) -> None:
        """Something that a person should know, even one who wants quiet."""
        self.err.print(f"warning: {plain(text)}", soft_wrap=True)

    def show(self, *things: Any) -> None:
        """A part of the result, for a person."""
        if self.json:
            return
        for thing in things:
            if isinstance(thing, str):
                self.out.print("\n".join(map(plain, thing.split("\n"))))
            else:
                self.out.print(thing)

    def give(self, content: dict[str, Any]) -> None:
        """The result for a machine: one object, so what comes later is not printed."""
        if self.json and not self.has_given:
            self.has_given = True
            sys.stdout.write(json.dumps(_plain_values(content), allow_nan=False) + "\n")
            sys.stdout.flush()

    def table(self, *heads: str, title: str | None = None) -> Table:
        """A table to be filled; heads that begin with > are aligned to the right."""
        made = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for head in heads:
            right = head.startswith(">")
            made.add_column(
                head.removeprefix(">"),
                justify="right" if right else "left",
                overflow="fold",
                no_wrap=right,
            )
        return made


def _console(stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDTH
    return console


def plain(text: str) -> str:
    """A text of strangers without what a terminal would obey."""
    return "".join(
        one if one.isprintable() or one == "\t" else repr(one)[1:-1] for one in text
    )


def _plain_values(value: Any) -> Any:
    """Values as JSON has them: numbers that are none become null."""
    if isinstance(value, dict):
        return {str(key): _plain_values(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain_values(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


# --- commands ------------------------------------------------------------------------

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say nothing but the result.")
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", min=0, max=2**32 - 1, metavar="N", help="Seed of all randomness."
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error is from.")]

_COMMON = (
    ("json", Json, False),
    ("quiet", Quiet, False),
    ("seed", Seed, 0),
    ("debug", Debug, False),
)


def command(
    app: typer.Typer, name: str, *, examples: tuple[str, ...], **settings: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function of a session and options a command.

    It gets the common options, and its errors become one line and an exit code.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(function, include_extras=True)

        @wraps(function)
        def run(**options: Any) -> None:
            common = {key: options.pop(key) for key, _, _ in _COMMON}
            guarded(Session(**common), lambda session: function(session, **options))

        own = list(inspect.signature(function).parameters.values())[1:]
        parameters = [
            one.replace(annotation=hints[one.name], kind=one.KEYWORD_ONLY)
            for one in own
        ] + [
            inspect.Parameter(
                key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
            for key, kind, default in _COMMON
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        del run.__wrapped__
        # The mark keeps the lines as they are.
        lines = "\n".join(["\b", *(f"  {line}" for line in examples)])
        return app.command(name, epilog=f"Examples:\n\n{lines}", **settings)(run)

    return decorate


def guarded(session: Session, work: Callable[[Session], None]) -> None:
    """Do the work; an error is told in one line and becomes an exit code."""
    try:
        work(session)
        sys.stdout.flush()
    except typer.Exit:
        raise
    except BrokenPipeError:
        # Whoever read our output has had enough; nothing more can be said there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except (Exception, KeyboardInterrupt) as error:
        code = exit_code(error)
        if session.debug:
            traceback.print_exc()
        if not isinstance(error, InterruptedFit):
            words = message(error)
            session.err.print(f"error: {plain(words)}", soft_wrap=True)
            _give_error(session, words, code)
        raise typer.Exit(code) from error


def _give_error(session: Session, words: str, code: int) -> None:
    # Standard output may be what failed.
    with suppress(OSError):
        session.give({"error": words, "exit_code": code})
