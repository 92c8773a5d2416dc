"""Entry point of ``frugalsvm`` and of ``python -m frugalsvm``."""

import os
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit code is 0, 1 failed, 2 bad usage, 130 after Ctrl-C."""
    _open_closed_streams()
    try:
        from .cli.entry import run

        return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        # While it is loading; commands see to it themselves.
        print("error: interrupted", file=sys.stderr)
        return 130


def _open_closed_streams() -> None:
    """Discard what is written to a stream that the shell has closed (``>&-``).

    Otherwise, the next file that is opened would take its number.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


if __name__ == "__main__":
    sys.exit(main())
