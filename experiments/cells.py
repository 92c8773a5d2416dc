"""Cell: one computation of an experiment, its outcome, and the code that made it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from typing import Any

import frugalsvm

PACKAGE = Path(frugalsvm.__file__).parent
# Parts of this folder that compute; the others choose or display results.
COMPUTING = ("tasks", "benchmarks", "datasets.py")


@dataclass(frozen=True)
class Cell:
    """One computation: a task on a data set.

    Created by :func:`cell`, which sorts the parameters.
    """

    # A name in :data:`~experiments.registry.TASKS`.
    task: str
    # Name of a data set; empty for tasks that generate or load their data.
    data: str
    # The limit in seconds, which the runner enforces.
    limit: float | None
    # Further parameters of the task, with JSON types.
    params: tuple[tuple[str, Any], ...] = ()
    # Cells whose values are passed to the task.
    needs: tuple[Cell, ...] = ()

    def spec(self, fingerprint: Callable[[str], str]) -> dict[str, Any]:
        """Everything that the value of a cell depends on, for JSON.

        ``fingerprint`` maps names of data sets to their digests.
        """
        return {
            "task": self.task,
            "name": self.data,
            "data": fingerprint(self.data) if self.data else "",
            "limit": self.limit,
            "params": dict(self.params),
            "needs": [need.spec(fingerprint) for need in self.needs],
            "version": revision(),
        }

    def __str__(self) -> str:
        shown = [self.task, self.data, *(f"{k}={v}" for k, v in self.params)]
        return " ".join(part for part in shown if part)


def cell(
    task: str,
    data: str = "",
    limit: float | None = None,
    needs: tuple[Cell, ...] = (),
    **params: Any,
) -> Cell:
    """A cell with sorted parameters; lists become tuples."""
    frozen = tuple(
        (key, tuple(value) if isinstance(value, list) else value)
        for key, value in sorted(params.items())
    )
    return Cell(task, data, None if limit is None else float(limit), frozen, needs)


def grid(task: str, names: Iterable[str] = ("",), **axes: Any) -> list[Cell]:
    """Cells of a task for all data sets and all values of its parameters.

    A number or text is the only value of its parameter.
    """
    for name, axis in axes.items():
        axes[name] = [axis] if isinstance(axis, str | float | int) else axis
    return [
        cell(task, name, **dict(zip(axes, point, strict=True)))
        for name, *point in product(names, *axes.values())
    ]


def with_needs(cells: Iterable[Cell]) -> list[Cell]:
    """Cells and their dependencies, without duplicates, dependencies first."""
    return list(
        dict.fromkeys(
            member for target in cells for member in (*with_needs(target.needs), target)
        )
    )


def as_json(value: Any) -> str:
    """JSON; numbers of NumPy are numbers."""
    return json.dumps(
        value, separators=(",", ":"), default=lambda number: number.item()
    )


def key_of(spec: Mapping[str, Any]) -> str:
    """The key of a cell in a store."""
    canonical = json.dumps(spec, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True)
class CellOutcome:
    """The outcome of a cell."""

    # The values that the task returned.
    values: dict[str, Any] = field(default_factory=dict)
    # Wall-clock time, and CPU time.
    seconds: float = 0.0
    cpu: float = 0.0
    # Why there are no values; such cells are not stored.
    error: str = ""

    @property
    def capped(self) -> bool:
        """Whether the cell reached its limit."""
        return bool(self.values.get("capped", False))


#: The outcomes of a run.
Outcomes = Mapping[Cell, CellOutcome]


# --- the code -------------------------------------------------------------------------


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
    installed = package_version()
    is_released = (
        installed != "unknown" and "dev" not in installed and "+" not in installed
    )
    here = Path(__file__).parent
    parts = (PACKAGE, *(here / name for name in COMPUTING))
    return installed if is_released else f"{installed} {sources_digest(*parts)}"


def sources_digest(*parts: Path) -> str:
    """SHA-256 of files and of all sources in folders, including their names."""
    total = hashlib.sha256()
    for part in parts:
        for path in sorted(part.rglob("*.py")) if part.is_dir() else [part]:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            total.update(f"{path.relative_to(part).as_posix()} {content}\n".encode())
    return total.hexdigest()[:16]
