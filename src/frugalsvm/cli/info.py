"""``frugalsvm info``: versions, solvers, threads and the cache."""

from __future__ import annotations

import os
import platform
from typing import Any

from .session import Session

EXAMPLES = ("frugalsvm info", "frugalsvm info --json")


def info(session: Session) -> None:
    """Show versions, available solvers, threads and the cache."""
    content = gather()
    table = session.table("what", "value")
    for name, value in content.items():
        words = value
        if isinstance(value, dict):
            words = ", ".join(f"{key} {one}" for key, one in value.items())
        elif isinstance(value, list):
            words = ", ".join(map(str, value)) or "none"
        table.add_row(name, str(words))
    session.show(table)
    session.give(content)


def gather() -> dict[str, Any]:
    """All entries by name."""
    from ..paper.solvers import available_solvers
    from .versions import versions

    return {
        "versions": versions(),
        "platform": platform.platform(),
        "solvers": ["native", *available_solvers()],
        "cores": os.cpu_count() or 1,
        "cores for this process": _usable_cores(),
        "thread settings": {
            name: os.environ[name]
            for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
            if name in os.environ
        },
        **_cache(),
    }


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cache() -> dict[str, Any]:
    """The cache folders of compiled kernels, and how many each has."""
    from ..kernels._cache import folders

    found = {str(one): len(list(one.glob("*.nbc"))) for one in folders()}
    kept = [f"{name} ({n} kernels)" for name, n in found.items() if n]
    return {"cache": kept or ["empty; run frugalsvm warmup to fill it"]}
