"""Entry point of ``python -m frugalsvm``."""

import argparse
import sys

from . import __version__
from .effort import EFFORTS


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and run a command."""
    parser = argparse.ArgumentParser(
        prog="frugalsvm",
        description="Linear SVM classifiers on at most B features, with a bound.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo", help="fit a built-in data set and explain the result"
    )
    demo.add_argument(
        "--effort", choices=EFFORTS, default="normal", help="how much work to do"
    )
    commands.add_parser("warmup", help="compile all kernels ahead and keep them")
    given = parser.parse_args(arguments)
    # Imported here so that --help and --version are quick.
    if given.command == "demo":
        from .cli.demo import run_demo

        run_demo(given.effort)
        return 0
    from .cli.warmup import run_warmup

    return run_warmup()


if __name__ == "__main__":
    sys.exit(main())
