"""SolveOptions: everything a run is told besides its problem, validated once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from types import NoneType
from typing import Any, Self

import numpy as np

from ..run.monitor import Callback
from ..run.stopping import Effort, check_effort
from ..run.threads import thread_count
from .methods import find_method
from .result import Result


@dataclass(frozen=True)
class PartSizes:
    """When quick runs are done in parts, see ``solving/parts.py``.

    Attributes
    ----------
    many : int
        Runs of more samples than this are done in parts.
    part : int
        Maximum number of samples of a part.
    """

    many: int = 200_000
    part: int = 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class SolveOptions:
    """The options of :func:`frugalsvm.solve`, which describes them, and three more.

    Only what does not depend on the problem is validated here.

    Attributes
    ----------
    proof : bool
        False if only the model matters: bounds that take extra work are then omitted.
    part_sizes : PartSizes
    search_share : float
        The part of the work of the effort's search that this run may do.
    """

    method: str = "auto"
    effort: str = "normal"
    gap_tol: float = 1e-4
    time_limit: float | None = None
    max_nodes: int | None = None
    initial_support: np.ndarray | None = None
    method_options: Mapping[str, Any] | None = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0
    callback: Callback | None = None
    certificate: bool = False
    warm: Result | None = None
    proof: bool = True
    part_sizes: PartSizes = PartSizes()
    search_share: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.method_options, (Mapping, NoneType)):
            raise ValueError(
                f"method_options must be a dict, got {self.method_options!r}."
            )
        check_effort(self.effort)
        find_method(self.method)
        check_limits(self.gap_tol, self.time_limit, self.max_nodes)
        n_threads(self.n_jobs)
        _check_random_state(self.random_state)
        if not isinstance(self.warm, (Result, NoneType)):
            raise TypeError(f"warm must be a Result, got {type(self.warm).__name__}.")

    @classmethod
    def among(cls, values: Mapping[str, Any]) -> Self:
        """The options among some values, e.g. among an estimator's parameters."""
        return cls(**{name: values[name] for name in cls.names() if name in values})

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all options."""
        return tuple(option.name for option in fields(cls))

    @property
    def work(self) -> Effort:
        """How much work the effort allows."""
        return check_effort(self.effort)

    @property
    def threads(self) -> int:
        """Number of threads."""
        return n_threads(self.n_jobs)

    def seed(self) -> np.random.SeedSequence:
        """The seed of a run; a RandomState gives a new one each time."""
        state = self.random_state
        if isinstance(state, np.random.RandomState):
            return np.random.SeedSequence(int(state.randint(2**31 - 1)))
        return np.random.SeedSequence(None if state is None else int(state))


def check_limits(
    gap_tol: float, time_limit: float | None, max_nodes: int | None
) -> None:
    """Raise ValueError if a limit is invalid."""
    if not (isinstance(gap_tol, Real) and float(gap_tol) >= 0):
        raise ValueError(f"gap_tol must be a number >= 0, got {gap_tol!r}.")
    if time_limit is not None and not (
        isinstance(time_limit, Real) and float(time_limit) >= 0
    ):
        raise ValueError(
            f"time_limit must be a number of seconds >= 0 or None, got {time_limit!r}."
        )
    if max_nodes is not None and not (
        isinstance(max_nodes, Integral) and int(max_nodes) >= 1
    ):
        raise ValueError(
            f"max_nodes must be an integer >= 1 or None, got {max_nodes!r}."
        )


def n_threads(n_jobs: int | None) -> int:
    """Number of threads as in joblib, with an upper limit."""
    is_number = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (is_number and n_jobs):
        raise ValueError(
            "n_jobs must be a number of threads, -1 for one per processor, or None, "
            f"got {n_jobs!r}."
        )
    # At most four per processor.
    return min(thread_count(n_jobs), 4 * (os.cpu_count() or 1))


def _check_random_state(random_state: Any) -> None:
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return
    is_seed = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if not is_seed or random_state < 0:
        raise ValueError(
            "random_state must be an integer >= 0, a RandomState or None, got "
            f"{random_state!r}."
        )
