"""Revision: identifies the code of this package in the keys of cells."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import frugalsvm

PACKAGE = Path(frugalsvm.__file__).parent
# Files of the study that compute; others select or display results.
TASKS = Path(__file__).with_name("tasks")


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
    return found if is_released else f"{found} {sources_digest(PACKAGE, TASKS)}"


def sources_digest(*folders: Path) -> str:
    """SHA-256 of all sources in some folders, including their names."""
    total = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            total.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return total.hexdigest()[:16]
