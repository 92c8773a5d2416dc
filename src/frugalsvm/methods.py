"""The methods that solve knows by name, and their options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .exact.branch_and_bound import BranchAndBound, TreeOptions
from .exact.branching import RULES
from .exact.tree import TreeNode
from .monitor import Monitor
from .problem import Problem
from .relaxations import Relaxation
from .search.evaluator import Evaluator, Solution
from .search.restarts import RestartSearch, SwapOptions, restart_search
from .search.rounding import round_relaxation

# Work of the tree that ``auto`` plants, in units of m n min(m, n) a node: some seconds.
AUTO_WORK = 1e10
AUTO_NODES = (20, 100_000)


@dataclass(frozen=True)
class RoundOptions:
    """``relax-and-round`` has no options."""


@dataclass
class Run:
    """What a method is given, and where it leaves its work."""

    problem: Problem
    monitor: Monitor
    options: Any
    n_jobs: int
    seed: np.random.SeedSequence
    initial_support: np.ndarray | None
    relaxation: Relaxation
    max_nodes: int | None
    keep_proof: bool
    counters: dict[str, int]
    # Of the tree, if there is one: its bound, its nodes, and the limit it ran into.
    bound: float = -np.inf
    nodes: list[TreeNode] | None = None
    hit_limit: str | None = None


def _starts(run: Run) -> list[Solution]:
    """The rounded relaxation and, if given, the user's support."""
    supports = [round_relaxation(run.problem, run.relaxation)]
    if run.initial_support is not None:
        supports.insert(0, run.initial_support)
    evaluator = Evaluator(run.problem)
    solutions = []
    for support in supports:
        solution = evaluator.solve(support)
        assert solution is not None
        solutions.append(solution)
        run.monitor.update(objective=solution.objective, event="rounding")
    return solutions


def _relax_and_round(run: Run) -> Solution:
    return min(_starts(run), key=lambda solution: solution.objective)


def _swap(run: Run) -> Solution:
    solution, counters = restart_search(
        run.problem,
        _starts(run),
        run.monitor,
        options=run.options,
        n_jobs=run.n_jobs,
        seed=run.seed,
    )
    run.counters.update(counters)
    return solution


def _branch_and_bound(run: Run) -> Solution:
    with ThreadPoolExecutor(run.n_jobs) as pool:
        search = RestartSearch(run.problem, run.monitor, run.options, pool, run.seed)
        search.start(_starts(run))
        engine = BranchAndBound(
            run.problem,
            run.monitor,
            search,
            run.options,
            max_nodes=run.max_nodes,
            n_jobs=run.n_jobs,
            keep_proof=run.keep_proof,
        )
        solution = engine.run()
    run.counters.update(search.counters)
    run.counters.update(engine.counters)
    run.bound = engine.tree.bound
    run.nodes = engine.tree.kept
    run.hit_limit = engine.hit_limit
    return solution


def auto_nodes(problem: Problem) -> int:
    """How many nodes ``auto`` may take: by the size of the data, not by a clock."""
    m, n = problem.n_samples, problem.n_features
    low, high = AUTO_NODES
    return int(np.clip(AUTO_WORK / (m * n * min(m, n)), low, high))


# name -> (function, options it takes)
METHODS: dict[str, tuple[Callable[[Run], Solution], type]] = {
    "auto": (_branch_and_bound, TreeOptions),
    "branch-and-bound": (_branch_and_bound, TreeOptions),
    "relax-and-round": (_relax_and_round, RoundOptions),
    "swap": (_swap, SwapOptions),
}


def check_method(method: str, method_options: Mapping[str, Any] | None) -> Any:
    """The validated options object of a method."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {sorted(METHODS)}, got {method!r}.")
    kind = METHODS[method][1]
    allowed = {f.name for f in fields(kind)}
    given = dict(method_options or {})
    for name, value in given.items():
        if name not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            raise ValueError(
                f"method_options has {name!r}, which method {method!r} does not take; "
                f"it takes: {known}."
            )
        _check_option(name, value)
    return kind(**given)


def _check_option(name: str, value: Any) -> None:
    if name == "branching":
        if value not in RULES:
            raise ValueError(
                f"method_options['branching'] must be one of {list(RULES)}, got "
                f"{value!r}."
            )
        return
    smallest = 0 if name == "patience" else 1
    if not isinstance(value, (int, np.integer)) or value < smallest:
        raise ValueError(
            f"method_options[{name!r}] must be an integer >= {smallest}, got {value!r}."
        )
