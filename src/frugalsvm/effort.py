"""Effort: how much work a run may do, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Effort:
    """What a word for effort means. Work is counted, not seconds.

    Attributes
    ----------
    patience : int
        Of the swap search, see :class:`~frugalsvm.search.restarts.SwapOptions`.
    tree_work : float
        Work of the tree that ``auto`` plants, in units of m n min(m, n) a node; 0 for
        no tree.
    """

    patience: int
    tree_work: float


EFFORTS = {
    "fast": Effort(patience=20, tree_work=0.0),
    "normal": Effort(patience=250, tree_work=1e10),
    "thorough": Effort(patience=1000, tree_work=1e11),
}


def check_effort(effort: Any) -> Effort:
    """The effort of a name."""
    if not isinstance(effort, str) or effort not in EFFORTS:
        known = ", ".join(map(repr, EFFORTS))
        raise ValueError(f"effort must be one of {known}, got {effort!r}.")
    return EFFORTS[effort]
