"""The paper's searches: Local Search (Algorithm 1) and Kernel Search (Algorithm 2).

Local Search solves CoP(K) for the best-ranked features. Kernel Search divides the
ranked features into groups and joins each with the kernel, the features that good
solutions used. CoP of the union is solved with two cuts: the objective must not exceed
the upper bound, and at least one feature of the group must be selected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ...problem.options import check_distinct, check_integer
from ...problem.problem import Problem
from ...problem.solution import Solution
from ...problem.validation import check_indices
from ...run.monitor import Monitor
from ...search.parameters import DEFAULTS
from .restricted import Restricted
from .subproblem import SubproblemOptions, SubproblemSolver

# --- Local Search: FS-SVM on the k + B best-ranked features ---------------------------


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
        None if the time was too short for any.
    """
    K = first_features(subproblems.problem, ranked, k)
    upper_bound, support = np.inf, K[: subproblems.problem.max_features]
    if start is not None:
        K = np.union1d(K, start.support)
        upper_bound, support = start.objective, start.support
    solution = subproblems.solve(
        K, upper_bound=upper_bound, start=support, time_limit=time_limit
    ).solution
    if solution is not None:
        subproblems.monitor.incumbent.offer(solution, "local search")
    return better(start, solution)


def first_features(problem: Problem, ranked: np.ndarray, k: int) -> np.ndarray:
    """The included features and the best-ranked ones, ``k + B`` in all."""
    room = problem.max_features - problem.include.size
    return np.concatenate([problem.include, ranked[: room + k]])


def better(first: Solution | None, second: Solution | None) -> Solution | None:
    """The solution of smaller objective; the first if they are equal."""
    if first is None or second is None:
        return first or second
    return second if second.objective < first.objective else first


# --- Rankings of the features by a relaxed solution u, and the groups of kernel search


def rank_features(problem: Problem, u: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """The features that may be chosen, by increasing u.

    Ties, which are common at u = 1, are broken by the larger ``c_j^2`` at the dual
    point, then by index.
    """
    features = problem.candidates
    # Closer values of u count as equal, given the accuracy of interior points.
    rounded = np.round(u[features] / 1e-6)
    return features[np.lexsort((features, -squares[features], rounded))]


def prefer(first: np.ndarray, ranked: np.ndarray) -> np.ndarray:
    """A ranking that begins with the features ``first``; others follow as ranked."""
    usable = first[np.isin(first, ranked)]
    return np.concatenate([usable, ranked[~np.isin(ranked, usable)]])


def make_groups(ranked: np.ndarray, rho: int, spread: bool = False) -> list[np.ndarray]:
    """Groups of rho consecutive features; the last one also has the remainder.

    With ``spread``, each group has features of all ranks instead.

    The number of groups is the floor of n / rho as in the paper's algorithm, and the
    last group has the remaining features as in its text, so up to 2 rho - 1 of them. n
    is the number of ranked features, without constant ones, which cannot help.
    """
    if ranked.size == 0:
        return []
    count = max(1, ranked.size // rho)
    if spread:
        return [ranked[first::count] for first in range(count)]
    ends = rho * np.arange(1, count)
    return np.split(ranked, ends)


# --- Kernel Search: groups of features and a lasting kernel ---------------------------


@dataclass(frozen=True)
class KernelSearchOptions(SubproblemOptions):
    """Options of ``kernel-search``.

    Parameters
    ----------
    solver : {"native", "scip", "gurobi"}, default="native"
        The solver of the subproblems CoP(K).
    subproblem_time_limit : float or None, default=60
        Seconds for each subproblem; its best solution so far is used.
    rho : int, default=10
        Size of the groups. Features that are excluded, included or constant are in no
        group.
    passes : int, default=1
        Maximum number of passes through the groups. The paper has one. Further passes
        keep the kernel and double the group size, and every second one spreads its
        groups over all ranks. After a pass with one group of all features, groups are
        small again; the search ends when such a cycle finds no improvement.
    ranking : sequence of int, default=None
        Features in the order in which to try them. Missing ones follow in the order of
        the relaxation.
    """

    rho: int = 10
    passes: int = 1
    ranking: Sequence[int] | None = None

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""
        super().check()
        check_integer("rho", self.rho, 1)
        check_integer("passes", self.passes, 1)

    def check_for(self, n_features: int) -> None:
        """Refuse a ranking with features that do not exist."""
        if self.ranking is not None:
            name = "method_options['ranking']"
            indices = check_indices(name, self.ranking, n_features)
            check_distinct("ranking", self.ranking, indices.size)


class Subproblems(Protocol):
    """Solves CoP(K), or its counterpart with another objective."""

    monitor: Monitor

    def solve(
        self,
        K: np.ndarray,
        *,
        upper_bound: float = np.inf,
        group: np.ndarray | None = None,
        start: np.ndarray | None = None,
        time_limit: float = np.inf,
    ) -> Restricted:
        """The best solution on the features K within the cuts."""


@dataclass
class Kernel:
    """The kernel, and the solution that determines it.

    Attributes
    ----------
    solution : Solution or None
        The last accepted solution; the kernel contains its features.
    best : Solution or None
        The solution of smallest objective.
    idle : dict of int to int
        For each feature of the kernel, the number of consecutive accepted solutions
        without it. Subproblems without a solution do not count.
    """

    solution: Solution | None = None
    best: Solution | None = None
    idle: dict[int, int] = field(default_factory=dict)

    @property
    def features(self) -> np.ndarray:
        """The kernel in increasing order."""
        return np.array(sorted(self.idle), dtype=np.int64)

    @property
    def upper_bound(self) -> float:
        """The smallest objective so far."""
        return np.inf if self.best is None else self.best.objective

    def accept(self, solution: Solution) -> None:
        """Add the features of the solution, and drop those that two in turn lack."""
        self.solution = solution
        self.best = better(self.best, solution)
        support = set(solution.support.tolist())
        for j in self.idle.keys() | support:
            self.idle[j] = 0 if j in support else self.idle[j] + 1
        self.idle = {j: t for j, t in self.idle.items() if t < 2}


def kernel_search(
    subproblems: Subproblems,
    ranked: np.ndarray,
    rho: int,
    start: Solution | None = None,
    passes: int = 1,
    time_limit: float = np.inf,
    watch: Callable[[Kernel], None] = lambda kernel: None,
) -> Solution | None:
    """Run kernel search over the groups of a ranking.

    Parameters
    ----------
    subproblems : Subproblems
    ranked : ndarray of int
        Features that may be chosen, best first.
    rho : int
        Size of the groups.
    start : Solution, default=None
        Its features are the first kernel and its objective the first upper bound; by
        default the kernel is empty and the bound infinite.
    passes : int, default=1
        See :class:`KernelSearchOptions`.
    time_limit : float, default=inf
        Seconds for the search, if it has less than the run.
    watch : callable
        Called with the kernel after every subproblem.

    Returns
    -------
    Solution or None
        The best solution; None if the time was too short for any.
    """
    kernel = Kernel()
    if start is not None:
        kernel.accept(start)
    monitor = subproblems.monitor
    stop = monitor.stop
    end = min(stop.time_limit, stop.seconds + time_limit)
    size, before = rho, kernel.upper_bound
    for number in range(1, passes + 1):
        groups = make_groups(ranked, size, spread=number % 2 == 0)
        # Every pass but the last may take a fifth of the remaining time.
        share = 0.2 if number < passes else 1.0
        pass_end = stop.seconds + share * (end - stop.seconds)
        _try_groups(subproblems, kernel, groups, pass_end, watch)
        if monitor.should_stop():
            break
        if len(groups) > 1:
            size *= 2
            continue
        if not kernel.upper_bound < before * (1.0 - DEFAULTS.min_improvement):
            break
        size, before = rho, kernel.upper_bound
    return kernel.best


def _try_groups(
    subproblems: Subproblems,
    kernel: Kernel,
    groups: list[np.ndarray],
    end: float,
    watch: Callable[[Kernel], None],
) -> None:
    monitor = subproblems.monitor
    for k, group in enumerate(groups, 1):
        remaining = end - monitor.stop.seconds
        if monitor.should_stop() or remaining <= 0:
            break
        # In a further pass the kernel may hold features of the group.
        new = group[~np.isin(group, kernel.features)]
        if new.size == 0:
            continue
        outcome = subproblems.solve(
            np.union1d(kernel.features, new),
            upper_bound=kernel.upper_bound,
            group=new,
            start=None if kernel.solution is None else kernel.solution.support,
            # Twice an equal share: the last groups get their turn, and easy groups
            # leave time to the others.
            time_limit=2.0 * remaining / (len(groups) - k + 1),
        )
        if outcome.solution is not None:
            kernel.accept(outcome.solution)
            event = f"group {k} of {len(groups)}"
            monitor.incumbent.offer(outcome.solution, event)
        watch(kernel)
