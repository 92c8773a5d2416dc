"""Effort: how much work a run may do, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Effort:
    """The limits of an effort level, in work and not in seconds.

    Work is in units of ``frugalsvm.engine.work``, approximately nanoseconds.

    Attributes
    ----------
    patience : int
        Of the swap search, see :class:`~frugalsvm.search.restarts.SwapOptions`.
    search_work : float
        Work limit of the swap search, if that is enough for ``least_svms``.
    least_svms : int
        Number of SVMs that the swap search may always solve, however expensive they
        are.
    tree_work : float
        Work limit of the tree of ``auto``; 0 for no tree.
    path_patience : int, default=0
        Patience of the swap search in each cell of a path, which also starts from the
        solutions of its neighbours.
    closing_work : float, default=0.0
        A tree that is likely to close with this much more work may do it, up to twice
        as much in all.
    """

    patience: int
    search_work: float
    least_svms: int
    tree_work: float
    path_patience: int = 0
    closing_work: float = 0.0


@dataclass(frozen=True)
class Stage:
    """The limits up to which a run goes on before they are raised.

    A run goes through the stages of all smaller efforts, so that it begins with what
    they do, and more effort is never worse.

    Attributes
    ----------
    patience, search_work
        Of the swap search.
    tree_work : float
        Of the tree; 0 for no tree.
    closing_work : float, default=0.0
        More work that a tree may do if it is likely to close with it.
    """

    patience: int
    search_work: float
    tree_work: float
    closing_work: float = 0.0


EFFORTS = {
    "fast": Effort(
        patience=40, search_work=1e9, least_svms=50, tree_work=0.0, path_patience=0
    ),
    "normal": Effort(
        patience=250, search_work=1e10, least_svms=100, tree_work=1.2e10,
        path_patience=15,
    ),
    "thorough": Effort(
        patience=1000, search_work=3e10, least_svms=300, tree_work=5e10,
        path_patience=100, closing_work=3e11,
    ),
}  # fmt: skip


def efforts_up_to(name: str) -> list[Effort]:
    """An effort, and all smaller ones before it."""
    names = list(EFFORTS)
    return [EFFORTS[one] for one in names[: names.index(name) + 1]]


def check_effort(effort: Any) -> Effort:
    """The effort with a given name."""
    if not isinstance(effort, str) or effort not in EFFORTS:
        known = ", ".join(map(repr, EFFORTS))
        raise ValueError(f"effort must be one of {known}, got {effort!r}.")
    return EFFORTS[effort]
