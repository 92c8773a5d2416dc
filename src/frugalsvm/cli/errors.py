"""Exit codes, and which error gets which."""

from __future__ import annotations

import errno

from ..tables.errors import WrongRequest

OK, FAILED, USAGE, CONSTANT, INTERRUPTED = 0, 1, 2, 3, 130


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
        return _of_system(error)
    if isinstance(error, MemoryError):
        return "not enough memory; use fewer rows or columns"
    if isinstance(error, ImportError):
        return str(error)
    words = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ValueError):
        return words
    return f"unexpected {type(error).__name__}: {words} (--debug shows where)"


def _of_system(error: OSError) -> str:
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
