"""Exit codes, and which error has which."""

from __future__ import annotations

import errno

from ..tables.errors import UnknownColumn
from ..tables.target import PositiveError

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class UsageProblem(ValueError):
    """The command line asks for something that makes no sense."""


class InterruptedFit(Exception):
    """Ctrl-C ended a command that has shown and saved what it had."""


def exit_code(error: BaseException) -> int:
    """The exit code for an error."""
    if isinstance(error, (KeyboardInterrupt, InterruptedFit)):
        return INTERRUPTED
    if isinstance(error, (UsageProblem, UnknownColumn, PositiveError)):
        return USAGE
    return FAILED


def message(error: BaseException) -> str:
    """One line that says what is wrong and, if we know, what to do."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted before there was a result"
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory; use fewer rows or columns"
    if isinstance(error, ImportError):
        return str(error)
    words = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ValueError):
        return words
    return f"unexpected {type(error).__name__}: {words} (--debug shows where)"


def _of_system(error: OSError) -> str:
    name = f" {error.filename}" if error.filename else ""
    if error.errno == errno.ENOSPC:
        return f"no space left on device to write{name}; free some, or write elsewhere"
    if isinstance(error, FileNotFoundError):
        return f"there is no file{name}"
    if isinstance(error, PermissionError):
        return f"no permission for{name}"
    if isinstance(error, IsADirectoryError):
        return f"{name.strip() or 'the path'} is a folder; give a file"
    return f"{error.strerror or error}{':' if name else ''}{name}"
