"""``python -m experiments``: see :mod:`.command`."""

import sys

from .command import run

if __name__ == "__main__":
    sys.exit(run())
