"""The interface of methods: options and a context in, an outcome out.

The solution of a method is the incumbent of its monitor: methods offer every solution
there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..problem.options import Options
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.effort import Stage
from ..run.incumbent import Incumbent
from ..run.monitor import Monitor
from ..search.evaluator import Evaluator, Stop
from ..search.relaxations import Relaxation
from ..search.restarts import shrink
from ..search.rounding import round_relaxation
from ..search.swap import fill
from ..tree.node import Node


@dataclass(frozen=True)
class Context:
    """The input of every method.

    Attributes
    ----------
    problem : Problem
    monitor : Monitor
        Holds the incumbent, records bounds, and decides when to stop.
    relaxation : Relaxation
        DSCoP of the whole problem.
    n_jobs : int
        Threads.
    seed : SeedSequence
    initial_support : ndarray of int or None
        The user's, within the budgets.
    max_nodes : int or None
    keep_proof : bool
    warm_supports : list of ndarray of int, default=[]
        Good supports of a neighbouring problem; they need not fit the budgets.
    stages : tuple of Stage
        The limits of search and tree, one after the other: those of the effort come
        after those of smaller ones.
    is_by_effort : bool, default=False
        Whether the effort also decides when the swap search ends, and not the user.
    finalists : list of Solution
        The best solutions when stages ended.
    """

    problem: Problem
    monitor: Monitor
    relaxation: Relaxation
    n_jobs: int
    seed: np.random.SeedSequence
    initial_support: np.ndarray | None
    max_nodes: int | None
    keep_proof: bool
    warm_supports: list[np.ndarray] = field(default_factory=list)
    stages: tuple[Stage, ...] = ()
    is_by_effort: bool = False
    finalists: list[Solution] = field(default_factory=list)

    @property
    def incumbent(self) -> Incumbent:
        """The incumbent, to which solutions are offered."""
        return self.monitor.incumbent

    def keep_finalist(self) -> None:
        """Keep the incumbent: it may be the best once it has been polished.

        Objectives in a search are not that accurate, and more effort must not be worse
        by an error of theirs.
        """
        solution = self.incumbent.solution
        if solution is not None and all(one is not solution for one in self.finalists):
            self.finalists.append(solution)

    def starts(self) -> list[Solution]:
        """The user's support, if given, the rounded relaxation, and warm starts.

        All are offered. The first one is always solved, even if the time is up.
        """
        supports = [round_relaxation(self.problem, self.relaxation)]
        if self.initial_support is not None:
            supports.insert(0, self.initial_support)
        evaluator = Evaluator(self.problem.watching(self.monitor.stop.urgent_flag))
        solutions = []
        for support in supports:
            solution = evaluator.solve(support)
            assert solution is not None
            solutions.append(solution)
            self.incumbent.offer(solution, "rounding")
        return solutions + self._warm_starts()

    def _warm_starts(self) -> list[Solution]:
        """Supports of a neighbouring problem, cut or filled to the budgets."""
        evaluator = Evaluator(self.problem, self.monitor.should_stop)
        solutions = []
        for support in self.warm_supports:
            usable = np.intersect1d(support, self.problem.candidates)
            features = np.union1d(usable, self.problem.include).astype(np.int64)
            try:
                solution = fill(evaluator, shrink(evaluator, features))
            except Stop:
                break
            solutions.append(solution)
            self.incumbent.offer(solution, "warm start")
        return solutions

    def given_start(self) -> Solution | None:
        """Offer the starts, and return the user's if there is one."""
        first, *_ = self.starts()
        return None if self.initial_support is None else first


@dataclass(frozen=True)
class Outcome:
    """The output of a method besides the incumbent.

    Attributes
    ----------
    counters : dict
        Work done.
    bound : float
        The bound proved by a tree; minus infinity without a tree.
    nodes : list of Node or None
        The nodes of the tree, if proofs are kept.
    hit_limit : str or None
        "nodes" or "memory" if that limit ended the method.
    reported_bound : float or None
        The bound claimed by a third-party solver.
    elites : list of ndarray of int
        Good supports found by a search, best first.
    """

    counters: dict[str, int]
    bound: float = -np.inf
    nodes: list[Node] | None = None
    hit_limit: str | None = None
    reported_bound: float | None = None
    elites: list[np.ndarray] = field(default_factory=list)


@dataclass(frozen=True)
class Method:
    """A method: how to run it, and its options.

    Attributes
    ----------
    run : callable
        Takes a :class:`Context` and an object of type ``options``.
    options : subclass of Options
    check : callable
        Raises ValueError for a problem that the method does not take.
    """

    run: Callable[[Context, Any], Outcome]
    options: type[Options]
    check: Callable[[Problem], None] = lambda problem: None
