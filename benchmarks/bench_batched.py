"""Nodes in batches against one at a time: processor time to the same bound, one thread.

Both trees begin with the incumbent of one swap search; none searches beside the tree.
The interior point has a fixed processor time; the last column is that time divided by
what the batch engine takes to its bound.
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from frugalsvm import Problem, Progress, Result, Status, solve

from .data import load
from .results import Row
from .tables import Table, geometric_mean

BUDGET = 10
# Name and C: samples and features are hundreds to thousands, and most of them matter.
TREES = (("arrhythmia", 0.03), ("arrhythmia", 0.1), ("madelon", 0.03), ("madelon", 0.1))
# Data for which it is not made: small working sets, wide data, few features.
ELSEWHERE = (("mfeat", 0.03), ("colorectal", 0.1), ("german", 0.1))
ENGINES = ("interior-point", "batched")


def run(folder: Path, quick: bool, seconds: float, sets: list[str]) -> list[Row]:
    table = Table(
        f"Trees, B={BUDGET}: {seconds:g} s of processor time for the interior point",
        ["data set", "C", "objective", "gap [%]", "nodes/s", "nodes/s, batched",
         "[s], batched", "time ratio"],
        width=12,
    )  # fmt: skip
    rows: list[Row] = []
    for name, C in TREES if quick else TREES + ELSEWHERE:
        if sets and name not in sets:
            continue
        X, y = load(folder, name)
        row = _compare(Problem(X, y, C=C, max_features=BUDGET), seconds)
        rows.append({"set": name, "C": C, **row})
        table.row(
            [name, C, f"{row['objective']:.6g}", f"{100 * row['gap']:.2f}",
             f"{row['nodes/s']:.0f}", f"{row['nodes/s, batched']:.0f}",
             f"{row['seconds, batched']:.1f}", f"{row['ratio']:.2f}"]
        )  # fmt: skip
    ratios = [row["ratio"] for row in rows if (row["set"], row["C"]) in TREES]
    if ratios:
        mean, worst = geometric_mean(ratios), min(ratios)
        print(
            f"\nTime ratio where it is meant for: mean {mean:.2f}, smallest {worst:.2f}"
        )
    return rows


def _compare(problem: Problem, seconds: float) -> Row:
    support = solve(problem, method="swap", random_state=0, n_jobs=1).selected
    for engine in ENGINES:
        _grow(problem, support, engine, max_nodes=30)
    plain, spent = _timed(problem, support, ENGINES[0], lambda p, t: t >= seconds)

    def is_reached(progress: Progress, t: float) -> bool:
        return progress.lower_bound >= plain.lower_bound or t >= 4 * seconds

    batched, spent_batched = _timed(problem, support, ENGINES[1], is_reached)
    closed = batched.status is Status.OPTIMAL
    reached = closed or batched.lower_bound >= plain.lower_bound
    return {
        "objective": plain.objective,
        "gap": plain.gap,
        "nodes/s": plain.counters["nodes"] / spent,
        "nodes/s, batched": batched.counters["nodes"] / spent_batched,
        "seconds": spent,
        "seconds, batched": spent_batched,
        "ratio": spent / spent_batched if reached else np.nan,
    }


def _timed(
    problem: Problem,
    support: np.ndarray,
    engine: str,
    is_done: Callable[[Progress, float], bool],
) -> tuple[Result, float]:
    """A tree until it is done, and the processor time that it took."""
    begin = time.process_time()
    result = _grow(
        problem, support, engine,
        callback=lambda progress: is_done(progress, time.process_time() - begin),
    )  # fmt: skip
    return result, time.process_time() - begin


def _grow(
    problem: Problem,
    support: np.ndarray,
    engine: str,
    callback: Callable[[Progress], object] | None = None,
    max_nodes: int | None = None,
) -> Result:
    return solve(
        problem, method="branch-and-bound", initial_support=support, n_jobs=1,
        random_state=0, method_options={"engine": engine, "patience": 0},
        callback=callback, max_nodes=max_nodes,
    )  # fmt: skip
