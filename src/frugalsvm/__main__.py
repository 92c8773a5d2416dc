"""Entry point of ``python -m frugalsvm``."""

import argparse
import sys

from . import __version__


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and run a command."""
    parser = argparse.ArgumentParser(
        prog="frugalsvm",
        description="Linear SVM classifiers on at most B features, with a bound.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="fit a built-in data set and explain the result")
    parser.parse_args(arguments)
    # Imported here so that --help and --version are quick.
    from .cli.demo import run_demo

    run_demo()
    return 0


if __name__ == "__main__":
    sys.exit(main())
