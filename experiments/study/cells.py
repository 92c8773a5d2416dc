"""Cell: one computation of a study, and its outcome."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .revision import revision


@dataclass(frozen=True)
class Cell:
    """One computation: a task on a data set.

    Created by :func:`cell`, which sorts the parameters.

    Attributes
    ----------
    task : str
        A name in :data:`~experiments.study.tasks.TASKS`.
    data : str
        Name of a data set; empty for tasks that generate their data.
    limit : float or None
        The limit in seconds.
    params : tuple of (str, value)
        Further parameters of the task, with JSON types.
    needs : tuple of Cell
        Cells whose values are passed to the task.
    """

    task: str
    data: str
    limit: float | None
    params: tuple[tuple[str, Any], ...] = ()
    needs: tuple[Cell, ...] = ()

    def spec(self, fingerprint: Callable[[str], str]) -> dict[str, Any]:
        """Everything that the value of a cell depends on, for JSON.

        Parameters
        ----------
        fingerprint : callable
            Maps names of data sets to their digests.

        Returns
        -------
        dict
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


def with_needs(cells: Iterable[Cell]) -> list[Cell]:
    """Cells and their dependencies, without duplicates, dependencies first."""
    found: dict[Cell, None] = {}
    for one in cells:
        for each in (*with_needs(one.needs), one):
            found[each] = None
    return list(found)


def canonical(value: Any) -> str:
    """Canonical JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def key_of(spec: Mapping[str, Any]) -> str:
    """The key of a cell in a store."""
    return hashlib.sha256(canonical(spec).encode()).hexdigest()


@dataclass(frozen=True)
class CellOutcome:
    """The outcome of a cell.

    Attributes
    ----------
    values : dict
        What the task returned.
    seconds : float
        Wall-clock time.
    cpu : float
        CPU time.
    error : str
        Why there are no values; such cells are not stored.
    """

    values: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    cpu: float = 0.0
    error: str = ""

    @property
    def capped(self) -> bool:
        """Whether the cell reached its limit."""
        return bool(self.values.get("capped", False))


#: The outcomes of a run.
Outcomes = Mapping[Cell, CellOutcome]
