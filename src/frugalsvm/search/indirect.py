"""Base class of searches on a smaller problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .restarts import RestartSearch


class IndirectSearch:
    """Delegates to another search and has the same interface.

    Subclasses define how solutions are translated.
    """

    _search: RestartSearch

    @property
    def counters(self) -> dict[str, int]:
        """Work done."""
        return self._search.counters

    @property
    def work(self) -> float:
        """Work of all descents."""
        return self._search.work

    @work.setter
    def work(self, value: float) -> None:
        self._search.work = value

    @property
    def idle(self) -> int:
        """Effort spent since the last improvement."""
        return self._search.idle

    @idle.setter
    def idle(self, value: int) -> None:
        self._search.idle = value

    @property
    def work_left(self) -> float:
        """Work left until the limit."""
        return self._search.work_left

    @property
    def is_idle(self) -> bool:
        """Whether patience or work is used up."""
        return self._search.is_idle

    def raise_limits(self, patience: int, max_work: float) -> None:
        """Go on with more patience and work."""
        self._search.raise_limits(patience, max_work)
