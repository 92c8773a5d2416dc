"""``python -m tests.campaign --minutes 45 --jobs 2``: stress-test the library.

Every violation is printed with the argument for ``--replay`` that reproduces it.
"""

from __future__ import annotations

import argparse
import sys

from .runner import SECTIONS, run_unit, run_workers
from .tally import Tally, Unit


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaign", description=__doc__
    )
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=list(SECTIONS))
    parser.add_argument("--replay", help="a unit such as problems:0:17")
    arguments = parser.parse_args()
    if arguments.replay:
        tally = run_unit(Unit.parse(arguments.replay))
    else:
        tally = _run(arguments)
    print(tally.table())
    return 1 if tally.violations else 0


def _run(arguments: argparse.Namespace) -> Tally:
    shares = {arguments.only: 1.0} if arguments.only else SECTIONS
    tally = Tally()
    for section, share in shares.items():
        seconds = 60.0 * arguments.minutes * share
        tally.add(
            run_workers(
                section, arguments.seed, seconds, arguments.jobs,
                lambda line: print(line, flush=True),
            )
        )  # fmt: skip
    return tally


if __name__ == "__main__":
    sys.exit(main())
