"""StopCondition: stops a run after a time limit, Ctrl-C or a solver failure."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

# Extra seconds after a stop for the SVM of a first solution.
GRACE = 0.5


class Abandoned(Exception):
    """Raised inside a run whose caller no longer waits for it."""


class StopCondition:
    """Whether a run must stop, for Python code and compiled code.

    Parameters
    ----------
    time_limit : float, default=None
        Seconds after which ``should_stop`` becomes true.

    Attributes
    ----------
    flag : ndarray of shape (1,)
        Nonzero once the run must stop; compiled code polls it.
    urgent_flag : ndarray of shape (1,)
        The same with a short delay, for steps that are essential to a result.
    needs_watching : bool
        Whether the clock must be checked regularly.
    interrupted : bool
    failure : str or None
        Why a third-party solver failed, if it did; the run cannot continue then.
    """

    def __init__(self, time_limit: float | None = None):
        self.started = time.perf_counter()
        self.time_limit = np.inf if time_limit is None else float(time_limit)
        self.flag = np.zeros(1, dtype=np.uint8)
        self.urgent_flag = np.zeros(1, dtype=np.uint8)
        self.needs_watching = self.time_limit < np.inf
        self.interrupted = False
        self.failure: str | None = None
        self._abandoned = False
        self._stopped_at = np.inf

    def restart(self, time_limit: float | None) -> None:
        """Set the clock to zero, with another limit; a stopped run stays stopped."""
        self.started = time.perf_counter()
        self.limit(time_limit)

    def limit(self, time_limit: float | None) -> None:
        """Set another limit, in seconds since the clock was set to zero."""
        self.time_limit = np.inf if time_limit is None else float(time_limit)
        self.needs_watching |= self.time_limit < np.inf

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self.started

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit; zero after Ctrl-C; may be infinite."""
        return 0.0 if self.interrupted else self.time_limit - self.seconds

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.seconds >= self.time_limit

    def should_stop(self) -> bool:
        """Whether time is up, the user interrupted, or a solver failed."""
        if self._abandoned:
            raise Abandoned
        return self.interrupted or self.out_of_time or self.failure is not None

    def watch(self) -> None:
        """Set the flags polled by compiled code when it is time to stop."""
        if self.interrupted or self.out_of_time:
            self.flag[0] = 1
            self._stopped_at = min(self.seconds, self._stopped_at)
            if self.seconds > self._stopped_at + GRACE:
                self.urgent_flag[0] = 1

    def interrupt(self) -> None:
        """Stop soon, with the best solution and bound so far."""
        self.interrupted = True
        self.flag[0] = 1

    def abandon(self) -> None:
        """Stop at once: the caller no longer waits for the result."""
        self._abandoned = True
        self.flag[0] = self.urgent_flag[0] = 1


# --- Effort: how much work a run may do, by name --------------------------------------


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

    A run goes through the stages of all smaller efforts first, so that more effort is
    never worse.

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
    return [EFFORTS[effort] for effort in names[: names.index(name) + 1]]


def check_effort(effort: Any) -> Effort:
    """The effort of a name."""
    if not isinstance(effort, str) or effort not in EFFORTS:
        names = ", ".join(map(repr, EFFORTS))
        raise ValueError(f"effort must be one of {names}, got {effort!r}.")
    return EFFORTS[effort]
