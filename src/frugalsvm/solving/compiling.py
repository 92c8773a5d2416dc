"""What is compiled before a run, and by which of two processes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engine.batched import BatchedEngine
from ..kernels.branching import largest, most_fractional, most_gaining
from ..kernels.chain import is_compiled
from ..problem.options import Options
from ..problem.problem import Problem
from ..run import compilation
from ..run.stopping import StopCondition
from ..search import tempering
from ..search.restarts import tempers
from ..tree import engines
from ..tree.branch_and_bound import TreeOptions


def ensure_compiled(
    problem: Problem,
    options: Options,
    method: str,
    warm_up: Callable[[StopCondition], object],
) -> None:
    """Compile a method and what else it may use before the clock starts."""
    needs_tempering = tempers(problem, options)
    if needs_tempering and not is_compiled():
        compilation.compile_beside(warm_up_beside)
    compilation.ensure(method, warm_up)
    if needs_tempering:
        compilation.ensure("tempering", tempering.warm_up)
    ensure_batches(problem, options)


def ensure_batches(problem: Problem, options: Options) -> None:
    """Compile what batches need, if a tree may relax nodes in batches."""
    if may_batch(problem, options):
        compilation.ensure("batches", engines.warm_up)


def may_batch(problem: Problem, options: Options) -> bool:
    """Whether a tree may relax nodes in batches; ValueError if it should but cannot."""
    if not isinstance(options, TreeOptions):
        return False
    engine = engines.engine_of(problem, options.engine)
    return isinstance(engine, BatchedEngine)


def warm_up_beside(stop: StopCondition) -> None:
    """Compile what does not contain the kernel that takes longest.

    That one solves relaxations and SVMs; it is left to the other process.
    """
    tempering.warm_up(stop)
    problem = compilation.tiny_problem()
    problem.dual_bound(np.zeros(problem.n_samples))
    free, values = np.arange(2), np.zeros(problem.n_features)
    largest(free, values, 1)
    most_fractional(free, values, 1)
    most_gaining(free, values, values, 1)
