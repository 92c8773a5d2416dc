"""The methods that solve knows by name, and their options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np

from .algorithms.exact_procedure import SEMI_SOLVERS, ExactOptions, ExactProcedure
from .algorithms.heuristic import STRATEGIES, HeuristicOptions, heuristic
from .algorithms.kernel_search import KernelSearchOptions, kernel_search
from .algorithms.local_search import LocalSearchOptions, better, local_search
from .algorithms.ranking import prefer, rank_features
from .algorithms.subproblem import COP_SOLVERS, SubproblemSolver
from .tree.branch_and_bound import BranchAndBound, TreeOptions
from .tree.branching import RULES
from .tree.tree import TreeNode
from .monitor import Monitor
from .problem import Problem, check_indices
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
    # What a third-party solver claims.
    reported_bound: float | None = None


def _starts(run: Run) -> list[Solution]:
    """The rounded relaxation and, if given, the user's support."""
    supports = [round_relaxation(run.problem, run.relaxation)]
    if run.initial_support is not None:
        supports.insert(0, run.initial_support)
    # A first solution there must be, even if the time is up.
    evaluator = Evaluator(run.problem.watching(run.monitor.urgent_flag))
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


def _fallback(run: Run) -> tuple[Solution, Solution | None]:
    """A solution for when there is no time for better, and the user's if given."""
    starts = _starts(run)
    given = None if run.initial_support is None else starts[0]
    return min(starts, key=lambda solution: solution.objective), given


def _best(first: Solution, second: Solution | None) -> Solution:
    best = better(first, second)
    assert best is not None
    return best


def _ranked(run: Run, ranking: Sequence[int] | None = None) -> np.ndarray:
    """Features by the u of DSCoP, behind those of the user's ranking."""
    ranked = rank_features(run.problem, run.relaxation.u, run.relaxation.squares)
    return ranked if ranking is None else prefer(np.asarray(ranking), ranked)


def _subproblems(run: Run) -> SubproblemSolver:
    options = run.options
    return SubproblemSolver(
        run.problem, run.monitor, options.solver, options.subproblem_time_limit
    )


def _local_search(run: Run) -> Solution:
    fallback, given = _fallback(run)
    subproblems = _subproblems(run)
    found = local_search(subproblems, _ranked(run), run.options.k, given)
    run.counters.update(subproblems.counters)
    return _best(fallback, found)


def _kernel_search(run: Run) -> Solution:
    fallback, given = _fallback(run)
    subproblems = _subproblems(run)
    ranked = _ranked(run, run.options.ranking)
    found = kernel_search(
        subproblems, ranked, run.options.rho, given, run.options.passes
    )
    run.counters.update(subproblems.counters)
    return _best(fallback, found)


def _heuristic(run: Run) -> Solution:
    fallback, given = _fallback(run)
    ranked = _ranked(run, run.options.ranking)
    found, counters = heuristic(run.problem, run.monitor, run.options, ranked, given)
    run.counters.update(counters)
    return _best(fallback, found)


def _exact(run: Run) -> Solution:
    fallback, given = _fallback(run)
    procedure = ExactProcedure(
        run.problem,
        run.monitor,
        run.options,
        max_nodes=run.max_nodes,
        keep_proof=run.keep_proof,
    )
    solution = procedure.run(_ranked(run, run.options.ranking), fallback, given)
    run.counters.update(procedure.counters)
    run.bound = procedure.bound
    run.nodes = procedure.nodes
    run.hit_limit = procedure.hit_limit
    run.reported_bound = procedure.reported_bound
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
    "exact": (_exact, ExactOptions),
    "heuristic": (_heuristic, HeuristicOptions),
    "kernel-search": (_kernel_search, KernelSearchOptions),
    "local-search": (_local_search, LocalSearchOptions),
    "relax-and-round": (_relax_and_round, RoundOptions),
    "swap": (_swap, SwapOptions),
}


# Options that are one of several words, and integers that may be zero.
CHOICES = {
    "branching": RULES,
    "strategy": STRATEGIES,
    "solver": COP_SOLVERS,
    "semi_solver": SEMI_SOLVERS,
}
MAY_BE_ZERO = ("patience", "k", "bound_programs")


def check_method(
    method: str, method_options: Mapping[str, Any] | None, n_features: int
) -> Any:
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
        _check_option(name, value, n_features)
    return kind(**given)


def _check_option(name: str, value: Any, n_features: int) -> None:
    if name in CHOICES:
        _check(value in CHOICES[name], name, f"one of {list(CHOICES[name])}", value)
    elif name == "subproblem_time_limit":
        is_number = isinstance(value, Real) and float(value) > 0
        _check(value is None or is_number, name, "a positive number or None", value)
    elif name == "ranking":
        if value is not None:
            indices = check_indices("method_options['ranking']", value, n_features)
            _check(indices.size == len(value), name, "free of duplicates", value)
    else:
        smallest = 0 if name in MAY_BE_ZERO else 1
        is_integer = isinstance(value, (int, np.integer)) and bool(value >= smallest)
        _check(is_integer, name, f"an integer >= {smallest}", value)


def _check(valid: bool, name: str, what: str, value: Any) -> None:
    if not valid:
        raise ValueError(f"method_options[{name!r}] must be {what}, got {value!r}.")
