"""Versions of this package and its dependencies."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")


def own_version() -> str:
    """The version of this package."""
    assert __package__ is not None
    return str(sys.modules[__package__.partition(".")[0]].__version__)


def versions() -> dict[str, str]:
    """Versions by name."""
    found = {"frugalsvm": own_version(), "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
