"""Clocks: processor time of calls, and warm-ups before the first of them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from frugalsvm import Problem, Result, solve

T = TypeVar("T")

EFFORTS = ("fast", "normal", "thorough")


def timed(function: Callable[..., T], *arguments: Any) -> tuple[float, T]:
    """Processor time of a call, and its value."""
    started = time.process_time()
    value = function(*arguments)
    return time.process_time() - started, value


def best_time(function: Callable[[], T], repeats: int = 3) -> tuple[float, T]:
    """Shortest processor time of several calls, and the last value."""
    runs = [timed(function) for _ in range(repeats)]
    return min(seconds for seconds, _ in runs), runs[-1][1]


def in_process(
    arguments: Sequence[str],
    python: str = sys.executable,
    cwd: Path | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a process of Python, on one thread, for its output and its exit code."""
    # Another interpreter must not find the library of this one.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    env |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    streams: dict[str, Any] = {"capture_output": True, "text": True, "check": False}
    command = [python, *arguments]
    return subprocess.run(command, cwd=cwd, env=env, timeout=timeout, **streams)


@cache
def warm_up(grouped: bool = False) -> None:
    """Load the compiled kernels, once, before the first clock starts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    groups = np.arange(12) // 3 if grouped else None
    problem = Problem(X, np.sign(X[:, 0]), max_features=2, feature_groups=groups)
    for effort in EFFORTS:
        solve(problem, effort=effort)
    solve(problem, method="branch-and-bound")


def grown(problem: Problem, **options: Any) -> Result:
    """A tree by one thread."""
    tree: dict[str, Any] = {"method": "branch-and-bound", "n_jobs": 1}
    return solve(problem, **(tree | {"random_state": 0} | options))


def refitted(X: np.ndarray, y: np.ndarray, C: float, support: np.ndarray) -> float:
    """Objective of the SVM on some columns."""
    return Problem(X, y, C=C).engine.solve_svm(support).primal
