"""Local Search, the paper's Algorithm 1: FS-SVM on the k + B best-ranked features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...problem.options import check_integer
from ...problem.problem import Problem
from ...problem.solution import Solution
from .subproblem import SubproblemOptions, SubproblemSolver


@dataclass(frozen=True)
class LocalSearchOptions(SubproblemOptions):
    """Options of ``local-search``.

    Parameters
    ----------
    solver : {"native", "scip", "gurobi"}, default="native"
        The solver of CoP(K).
    subproblem_time_limit : float or None, default=None
        Seconds for CoP(K). The paper only limits the whole run.
    k : int, default=10
        Excess: ``k + B`` features are considered.
    """

    subproblem_time_limit: float | None = None
    k: int = 10

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""
        super().check()
        check_integer("k", self.k, 0)


def local_search(
    subproblems: SubproblemSolver,
    ranked: np.ndarray,
    k: int,
    start: Solution | None = None,
    time_limit: float = np.inf,
) -> Solution | None:
    """Solve CoP(K) for the ``k + B`` features that are ranked first.

    Parameters
    ----------
    subproblems : SubproblemSolver
    ranked : ndarray of int
        Features that may be chosen, best first.
    k : int
    start : Solution, default=None
        Its features join K, and its objective is the first upper bound.
    time_limit : float, default=inf
        Seconds for the search, if it has less than the run.

    Returns
    -------
    Solution or None
        None if there was no time to find any.
    """
    K = first_features(subproblems.problem, ranked, k)
    upper_bound, support = np.inf, K[: subproblems.problem.max_features]
    if start is not None:
        K = np.union1d(K, start.support)
        upper_bound, support = start.objective, start.support
    found = subproblems.solve(
        K, upper_bound=upper_bound, start=support, time_limit=time_limit
    ).solution
    if found is not None:
        subproblems.monitor.incumbent.offer(found, "local search")
    return better(start, found)


def first_features(problem: Problem, ranked: np.ndarray, k: int) -> np.ndarray:
    """The included features and the best ranked ones, ``k + B`` together."""
    room = problem.max_features - problem.include.size
    return np.concatenate([problem.include, ranked[: room + k]])


def better(first: Solution | None, second: Solution | None) -> Solution | None:
    """The solution of smaller objective; the first if they are equal."""
    if first is None or second is None:
        return first or second
    return second if second.objective < first.objective else first
