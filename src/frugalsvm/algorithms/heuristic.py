"""The heuristic procedure, the paper's Algorithm 3.

An upper-bound strategy (Algorithm 1 or 2) by the ranking of DSCoP; a big-M from its
objective; and, if the big-M is small enough to improve the relaxation, the strategy
once more by the ranking of DSCoMP.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..monitor import Monitor
from ..problem import Problem
from ..relaxations import relax
from ..search.evaluator import Solution
from .kernel_search import kernel_search
from .local_search import better, local_search
from .ranking import rank_features
from .subproblem import SubproblemSolver

#: The upper-bound strategies by name.
STRATEGIES = ("kernel-search", "local-search")
# Accuracy of the second relaxation, which only ranks features.
RANKING_TOL = 1e-6
# With less time than this left no second relaxation is begun.
LEAST_SECONDS = 1.0


@dataclass(frozen=True)
class HeuristicOptions:
    """Options of ``heuristic``.

    Parameters
    ----------
    strategy : {"kernel-search", "local-search"}, default="kernel-search"
        H-KS or H-LS.
    k : int, default=10
        Excess of the local search.
    rho : int, default=10
        Size of the groups of the kernel search.
    solver : {"native", "scip", "gurobi"}, default="native"
        Who solves the subproblems CoP(K).
    subproblem_time_limit : float or None, default=60
        Seconds for each subproblem of the kernel search; the local search has one
        subproblem and all the time of the run.
    passes : int, default=1
        Passes of the kernel search through its groups.
    bound_programs : int, default=20
        Most bound problems (of the paper's 2n) to solve for the big-M by Clarabel,
        where M from native dual points, which bound all weights at once, is near the
        threshold but not below it. Without CVXPY and Clarabel there are none.
    ranking : sequence of int, default=None
        First ranking of the features; see
        :class:`~frugalsvm.algorithms.kernel_search.KernelSearchOptions`.
    """

    strategy: str = "kernel-search"
    k: int = 10
    rho: int = 10
    solver: str = "native"
    subproblem_time_limit: float | None = 60.0
    passes: int = 1
    bound_programs: int = 20
    ranking: Sequence[int] | None = None


class Strategy:
    """An upper-bound strategy with its parameters: run it on any ranking.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
    options
        With the attributes of :class:`HeuristicOptions` up to the time limit.
    """

    def __init__(self, problem: Problem, monitor: Monitor, options: Any) -> None:
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
        """The best solution found; ``start`` if a ranking was tried before."""
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
) -> tuple[Solution | None, dict[str, int]]:
    """Run the procedure; the best solution, if any was found, and counters.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
    options : HeuristicOptions
    ranked : ndarray of int
        Features that may be chosen, best first.
    start : Solution or None
        The user's.
    """
    strategy = Strategy(problem, monitor, options)
    best = strategy(ranked, start)
    second = None
    if best is not None:
        second = second_ranking(problem, monitor, best, options.bound_programs)
    if second is not None:
        # From scratch as in the paper: a kernel that starts with the incumbent would
        # look at fewer new combinations.
        best = better(best, strategy(second, start))
    counters = strategy.subproblems.counters
    return best, counters | {"rankings": 1 if second is None else 2}


def second_ranking(
    problem: Problem, monitor: Monitor, best: Solution, bound_programs: int
) -> np.ndarray | None:
    """Features by the u of DSCoMP, or None if its big-M is too large to help.

    A valid M is at least the largest weight of the solution behind it. If that is too
    large already, M need not be computed.
    """
    if _seconds_left(monitor) < LEAST_SECONDS or best.support.size == 0:
        return None
    limit = threshold(problem)
    if np.abs(best.w).max() >= limit:
        return None
    M = _big_m(problem, monitor, best.objective, bound_programs, limit)
    if limit <= M or _seconds_left(monitor) < LEAST_SECONDS:
        return None
    if find_spec("cvxpy") is None:
        warnings.warn(
            f"M = {M:g} is small enough for the paper's second ranking, but DSCoMP "
            "needs CVXPY: pip install 'frugalsvm[paper]'. Going on with the first.",
            UserWarning,
            stacklevel=2,
        )
        return None
    left = _seconds_left(monitor)
    relaxation = relax(
        problem, "DSCoMP", M=M, tol=RANKING_TOL,
        time_limit=left if np.isfinite(left) else None,
    )  # fmt: skip
    monitor.log(f"DSCoMP with M = {M:.4g}")
    if not np.isfinite(relaxation.value):
        # Cut short: there is no u to rank by.
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
    # Imported here: for those who ask for bound problems it needs CVXPY.
    from ..models.weight_bounds import big_m

    left = _seconds_left(monitor)
    if any(find_spec(package) is None for package in ("cvxpy", "clarabel")):
        max_programs = 0
    return big_m(
        problem, upper_bound, max_programs=max_programs,
        time_limit=left if np.isfinite(left) else None,
        should_stop=monitor.should_stop, useful_below=limit,
    )  # fmt: skip


def _seconds_left(monitor: Monitor) -> float:
    return 0.0 if monitor.interrupted else monitor.time_limit - monitor.seconds
