"""Entry point of ``frugalsvm`` and of ``python -m frugalsvm``."""

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit code is 0, 1 failed, 2 bad usage, 130 after Ctrl-C."""
    try:
        from .cli.entry import run

        return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        # While it is loading; commands see to it themselves.
        print("error: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
