"""Revision: identifies the code of this package in the keys of cells."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
# Packages and files that select or display results but do not compute any.
SHOWING = (
    "cli", "output", "tables", "paper/study/charts.py", "paper/study/command.py",
    "paper/study/progress.py", "paper/study/published.py", "paper/study/report.py",
    "paper/study/statistics.py", "paper/study/store.py", "paper/study/studies",
    "paper/study/study.py",
)  # fmt: skip


def package_version() -> str:
    """The installed version of frugalsvm."""
    try:
        return version("frugalsvm")
    except PackageNotFoundError:
        return "unknown"


@cache
def revision() -> str:
    """The version; for development versions, with a digest of the sources.

    Code may change within such a version, and so may its results.
    """
    found = package_version()
    is_released = found != "unknown" and "dev" not in found and "+" not in found
    return found if is_released else f"{found} {sources_digest(PACKAGE)}"


def sources_digest(package: Path) -> str:
    """SHA-256 of all computing sources in a folder, including their names."""
    showing = [package / name for name in SHOWING]
    total = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if not any(path == one or one in path.parents for one in showing):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            total.update(f"{path.relative_to(package).as_posix()} {content}\n".encode())
    return total.hexdigest()[:16]
