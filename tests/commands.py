"""Commands run in this process by the function that the installed script calls."""

import contextlib
import io
import sys
from importlib.metadata import entry_points
from typing import NamedTuple


class Done(NamedTuple):
    """What a command has returned and printed; ``output`` is both streams in turn."""

    exit_code: int
    stdout: str
    stderr: str
    output: str


class _Copied(io.BytesIO):
    """A stream whose content goes to another one, too."""

    def __init__(self, copy):
        super().__init__()
        self._copy = copy

    def write(self, data):
        self._copy.write(data)
        return super().write(data)


def _text(stream):
    return io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)


def main(arguments):
    """What the installed script calls; returns the exit code."""
    (script,) = entry_points(group="console_scripts", name="frugalsvm")
    return script.load()(arguments)


def command(*arguments, stdin=""):
    """Run ``frugalsvm``; stdin is text or bytes."""
    both = io.BytesIO()
    copies = [_Copied(both), _Copied(both)]
    out, err = map(_text, copies)
    given = sys.stdin
    sys.stdin = _text(io.BytesIO(stdin if isinstance(stdin, bytes) else stdin.encode()))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(argument) for argument in arguments])
    finally:
        sys.stdin = given
    return Done(code, *(stream.getvalue().decode() for stream in (*copies, both)))
