"""Compilation in advance, for images and clusters, so that users need not wait.

``warmup`` solves small problems with every native method, so that a later run of any of
them finds all kernels in the cache.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import Problem
from ..run import StopCondition
from ..search import FAMILY, WITH_M, best_intercept, certified_bound, relax, tempering
from ..solving import solve
from ..tree import branch_and_bound

N_SAMPLES, N_FEATURES = 30, 12
# Enough for a tree with screening, branching and a certificate.
MAX_NODES = 20


@dataclass(frozen=True)
class Warmup:
    """Numbers of kernels and folders of their cache, as :func:`warmup` returns them.

    Parameters
    ----------
    compiled : int
        Kernels that were compiled, and saved if ``folders`` is not empty.
    loaded : int
        Kernels that were found in the cache.
    seconds : float
    folders : tuple of str
        Where the cache is; more than one if it was made at different times.
    """

    compiled: int
    loaded: int
    seconds: float
    folders: tuple[str, ...]


def warmup() -> Warmup:
    """Compile all kernels of the native methods, or load them from the cache.

    Returns
    -------
    Warmup
    """
    started = time.perf_counter()
    before = _count()
    for problem in _problems():
        _solve_in_all_ways(problem)
    for warm_up in (tempering.warm_up, branch_and_bound.warm_up_batches):
        warm_up(StopCondition())
    compiled, loaded = (int(n) for n in np.subtract(_count(), before))
    seconds = time.perf_counter() - started
    paths = {kernel.stats.cache_path for kernel in kernels()} - {None}
    return Warmup(compiled, loaded, seconds, tuple(sorted(paths)))


def kernels() -> Iterator[Any]:
    """All functions of :mod:`frugalsvm.kernels` that Numba compiles, each once."""
    prefix = "frugalsvm.kernels."
    for name, module in list(sys.modules.items()):
        if name.startswith(prefix):
            for member in vars(module).values():
                is_compiled = hasattr(member, "stats") and hasattr(member, "py_func")
                if is_compiled and member.py_func.__module__ == name:
                    yield member


def _count() -> tuple[int, int]:
    """Kernels compiled and loaded by this process so far, one for each signature."""
    all_stats = [kernel.stats for kernel in kernels()]
    compiled = sum(sum(stats.cache_misses.values()) for stats in all_stats)
    return compiled, sum(sum(stats.cache_hits.values()) for stats in all_stats)


def _problems() -> Iterator[Problem]:
    """Problems that only a tree can solve, with each kind of constraint."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    y = np.where(X[:, :4].sum(axis=1) + rng.standard_normal(N_SAMPLES) > 0, 1.0, -1.0)
    costs = rng.uniform(1.0, 2.0, N_FEATURES)
    yield Problem(X, y, max_features=3)
    yield Problem(X, y, feature_costs=costs, max_cost=5.0, fit_intercept=False)


def _solve_in_all_ways(problem: Problem) -> None:
    result = solve(
        problem,
        max_nodes=MAX_NODES,
        method_options={"patience": 2},
        random_state=0,
        certificate=True,
    )
    # Rarely needed, so that the fits above may not have compiled it.
    best_intercept(problem, result.coef)
    for method in ("exact", "heuristic"):
        solve(problem, method=method, max_nodes=MAX_NODES, random_state=0)
    # Imported here, since the paper's code is loaded by name only.
    from ..paper.models import big_m

    M = big_m(problem, result.objective, max_programs=0)
    alpha = relax(problem).alpha
    for family in set(FAMILY.values()):
        certified_bound(problem, alpha, family, M if family in WITH_M else None)
