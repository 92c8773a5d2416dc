"""The contract of methods: options and a context in, an outcome out.

The solution of a method is the incumbent of its monitor: whatever it finds is offered
there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..incumbent import Incumbent
from ..monitor import Monitor
from ..options import Options
from ..problem import Problem
from ..relaxations import Relaxation
from ..search.evaluator import Evaluator
from ..search.rounding import round_relaxation
from ..solution import Solution
from ..tree.node import Node


@dataclass(frozen=True)
class Context:
    """What every method is given.

    Attributes
    ----------
    problem : Problem
    monitor : Monitor
        Holds the incumbent, is told about bounds, and says when to stop.
    relaxation : Relaxation
        DSCoP of the whole problem.
    n_jobs : int
        Threads.
    seed : SeedSequence
    initial_support : ndarray of int or None
        The user's, within the budgets.
    max_nodes : int or None
    keep_proof : bool
    """

    problem: Problem
    monitor: Monitor
    relaxation: Relaxation
    n_jobs: int
    seed: np.random.SeedSequence
    initial_support: np.ndarray | None
    max_nodes: int | None
    keep_proof: bool

    @property
    def incumbent(self) -> Incumbent:
        """Where solutions are offered."""
        return self.monitor.incumbent

    def starts(self) -> list[Solution]:
        """The user's support, if given, and the rounded relaxation; both are offered.

        A first solution there must be, even if the time is up.
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
        return solutions

    def given_start(self) -> Solution | None:
        """Offer the starts; the user's, if there is one."""
        first, *_ = self.starts()
        return None if self.initial_support is None else first


@dataclass(frozen=True)
class Outcome:
    """What a method leaves behind besides the incumbent.

    Attributes
    ----------
    counters : dict
        Work done.
    bound : float
        What a tree proves; minus infinity if there was none.
    nodes : list of Node or None
        The tree, if proofs are kept.
    hit_limit : str or None
        "nodes" or "memory" if one of them ended the method.
    reported_bound : float or None
        What a third-party solver claims.
    """

    counters: dict[str, int]
    bound: float = -np.inf
    nodes: list[Node] | None = None
    hit_limit: str | None = None
    reported_bound: float | None = None


@dataclass(frozen=True)
class Method:
    """A method: how to run it, and its options.

    Attributes
    ----------
    run : callable
        Takes a :class:`Context` and an object of type ``options``.
    options : subclass of Options
    """

    run: Callable[[Context, Any], Outcome]
    options: type[Options]
