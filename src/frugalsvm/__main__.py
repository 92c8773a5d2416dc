"""Entry point of ``frugalsvm`` and of ``python -m frugalsvm``."""

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit code is 0, 1 failed, 2 bad usage, 130 after Ctrl-C."""
    from .cli.entry import run

    return run(sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(main())
