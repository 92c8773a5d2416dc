"""The heuristic procedure, the paper's Algorithm 3.

An upper-bound strategy (Algorithm 1 or 2) with the ranking of DSCoP; a big-M from its
objective; and, if the big-M is small enough to improve the relaxation, the strategy
again with the ranking of DSCoMP.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from ...problem.options import check_choice, check_integer
from ...problem.problem import Problem
from ...problem.solution import Solution
from ...run.monitor import Monitor
from ...search.relaxations import relax
from .kernel_search import (
    KernelSearchOptions,
    kernel_search,
    local_search,
    rank_features,
)
from .subproblem import SubproblemSolver

#: The upper-bound strategies by name.
STRATEGIES = ("kernel-search", "local-search")
# Minimum remaining time to start the second relaxation.
LEAST_SECONDS = 1.0


@dataclass(frozen=True)
class StrategyOptions(KernelSearchOptions):
    """Options of an upper-bound strategy, and of methods that run one.

    Parameters
    ----------
    strategy : {"kernel-search", "local-search"}, default="kernel-search"
        H-KS or H-LS. The local search has one subproblem and all the time of the run.
    k : int, default=10
        Excess of the local search.
    """

    strategy: str = "kernel-search"
    k: int = 10

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""
        super().check()
        check_choice("strategy", self.strategy, STRATEGIES)
        check_integer("k", self.k, 0)


@dataclass(frozen=True)
class HeuristicOptions(StrategyOptions):
    """Options of ``heuristic``, in addition to those of the kernel search.

    Parameters
    ----------
    strategy : {"kernel-search", "local-search"}, default="kernel-search"
        H-KS or H-LS. The local search has one subproblem and all the time of the run.
    k : int, default=10
        Excess of the local search.
    bound_programs : int, default=20
        Maximum number of bound problems (of the paper's 2n) solved by Clarabel for the
        big-M, if M from native dual points, which bound all weights at once, is close
        to the threshold but not below it. Without CVXPY and Clarabel none are solved.
    """

    bound_programs: int = 20

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""
        super().check()
        check_integer("bound_programs", self.bound_programs, 0)


class Strategy:
    """An upper-bound strategy with its parameters, to be run on rankings.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
    options : StrategyOptions
    """

    def __init__(self, problem: Problem, monitor: Monitor, options: StrategyOptions):
        self.is_local = options.strategy == "local-search"
        limit = None if self.is_local else options.subproblem_time_limit
        self.subproblems = SubproblemSolver(problem, monitor, options.solver, limit)
        self.k, self.rho, self.passes = options.k, options.rho, options.passes
        self._done: set[bytes] = set()

    def __call__(
        self,
        ranked: np.ndarray,
        start: Solution | None = None,
        time_limit: float = np.inf,
    ) -> Solution | None:
        """The best solution of a search; ``start`` if the ranking was tried before."""
        key = ranked.tobytes()
        if key in self._done:
            return start
        self._done.add(key)
        if self.is_local:
            return local_search(self.subproblems, ranked, self.k, start, time_limit)
        return kernel_search(
            self.subproblems, ranked, self.rho, start, self.passes, time_limit
        )


def heuristic(
    problem: Problem,
    monitor: Monitor,
    options: HeuristicOptions,
    ranked: np.ndarray,
    start: Solution | None,
) -> dict[str, int]:
    """Run the procedure, which updates the incumbent; return its counters.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
    options : HeuristicOptions
    ranked : ndarray of int
        Features that may be chosen, best first.
    start : Solution or None
        The user's start.
    """
    strategy = Strategy(problem, monitor, options)
    best = strategy(ranked, start)
    second = None
    if best is not None:
        second = second_ranking(problem, monitor, best, options.bound_programs)
    if second is not None:
        # From scratch as in the paper: a kernel that starts with the incumbent would
        # try fewer new combinations.
        strategy(second, start)
    counters = strategy.subproblems.counters
    return counters | {"rankings": 1 if second is None else 2}


def second_ranking(
    problem: Problem, monitor: Monitor, best: Solution, bound_programs: int
) -> np.ndarray | None:
    """Features by the u of DSCoMP, or None if its big-M is too large to help.

    A valid M is at least the largest weight of the best solution. If that is already
    too large, M is not computed.
    """
    stop = monitor.stop
    if stop.seconds_left < LEAST_SECONDS or best.support.size == 0:
        return None
    limit = threshold(problem)
    if np.abs(best.w).max() >= limit:
        return None
    M = _big_m(problem, monitor, best.objective, bound_programs, limit)
    if limit <= M or stop.seconds_left < LEAST_SECONDS:
        return None
    if find_spec("cvxpy") is None:
        warnings.warn(
            f"M = {M:g} is small enough for the paper's second ranking, but DSCoMP "
            "needs CVXPY: pip install 'frugalsvm[paper]'. Continuing with the first.",
            UserWarning,
            stacklevel=2,
        )
        return None
    # The relaxation only ranks features, so it need not be accurate.
    relaxation = relax(
        problem, "DSCoMP", M=M, tol=1e-6, time_limit=_remaining_seconds(monitor)
    )
    monitor.log(f"DSCoMP with M = {M:.4g}")
    if not np.isfinite(relaxation.value):
        # It stopped early and has no u to rank by.
        return None
    return rank_features(problem, relaxation.u, relaxation.squares)


def threshold(problem: Problem) -> float:
    """``||w*||_1 / B`` for the weights w* of SVM: a smaller big-M may help."""
    w = relax(problem, "SVM", tol=1e-6).w
    return float(np.abs(w).sum() / problem.max_features)


def _big_m(
    problem: Problem,
    monitor: Monitor,
    upper_bound: float,
    max_programs: int,
    limit: float,
) -> float:
    # Imported here: bound problems need CVXPY.
    from ..models.weight_ranges import big_m

    if any(find_spec(package) is None for package in ("cvxpy", "clarabel")):
        max_programs = 0
    return big_m(
        problem,
        upper_bound,
        max_programs=max_programs,
        time_limit=_remaining_seconds(monitor),
        should_stop=monitor.should_stop,
        useful_below=limit,
    )


def _remaining_seconds(monitor: Monitor) -> float | None:
    seconds = monitor.stop.seconds_left
    return seconds if np.isfinite(seconds) else None
