"""Nodes in batches against one at a time: processor time to the same bound, one thread.

All trees begin with the incumbent of one swap search; none searches beside the tree.
The interior point has a fixed time; the last columns are that time divided by what the
batch engine, and the choice between the two, take to its bound. Times are those of the
processor, or with a GPU those of the clock.
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
PLAIN = {"engine": "interior-point"}
# Stop after so many times the time of the interior point.
PATIENCE = 4


def run(
    folder: Path, quick: bool, seconds: float, sets: list[str], device: str
) -> list[Row]:
    rivals = {"batched": {"engine": "batched", "device": device}}
    if device == "cpu":
        rivals["auto"] = {"engine": "auto"}
    table = Table(
        f"Trees, B={BUDGET}: {seconds:g} s for the interior point; on {device}",
        ["data set", "C", "objective", "gap [%]", "nodes/s",
         *(f"{what}, {name}" for name in rivals for what in ("nodes/s", "ratio"))],
        width=14,
    )  # fmt: skip
    rows: list[Row] = []
    for name, C in TREES if quick else TREES + ELSEWHERE:
        if sets and name not in sets:
            continue
        X, y = load(folder, name)
        row = _compare(Problem(X, y, C=C, max_features=BUDGET), seconds, rivals)
        rows.append({"set": name, "C": C, **row})
        figures = [
            figure
            for rival in rivals
            for figure in (
                f"{row[f'nodes/s, {rival}']:.0f}", f"{row[f'ratio, {rival}']:.2f}"
            )
        ]  # fmt: skip
        table.row(
            [name, C, f"{row['objective']:.6g}", f"{100 * row['gap']:.2f}",
             f"{row['nodes/s']:.0f}", *figures]
        )  # fmt: skip
    meant = [row for row in rows if (row["set"], row["C"]) in TREES]
    for rival in rivals if meant else ():
        ratios = [row[f"ratio, {rival}"] for row in meant]
        mean, worst = geometric_mean(ratios), min(ratios)
        print(f"Where batches are meant for, {rival}: {mean:.2f}, worst {worst:.2f}")
    return rows


def _compare(
    problem: Problem, seconds: float, rivals: dict[str, dict[str, str]]
) -> Row:
    support = solve(problem, method="swap", random_state=0, n_jobs=1).selected
    for options in (PLAIN, *rivals.values()):
        _grow(problem, support, options, max_nodes=30)
    on_gpu = any(one.get("device") == "cuda" for one in rivals.values())
    clock = time.perf_counter if on_gpu else time.process_time
    plain, spent = _timed(problem, support, PLAIN, clock, lambda p, t: t >= seconds)
    bound = plain.lower_bound
    row = {
        "objective": plain.objective,
        "gap": plain.gap,
        "seconds": spent,
        "nodes/s": plain.counters["nodes"] / spent,
    }

    def is_reached(progress: Progress, t: float) -> bool:
        return progress.lower_bound >= bound or t >= PATIENCE * spent

    for name, options in rivals.items():
        found, took = _timed(problem, support, options, clock, is_reached)
        reached = found.status is Status.OPTIMAL or found.lower_bound >= bound
        row[f"nodes/s, {name}"] = found.counters["nodes"] / took
        row[f"seconds, {name}"] = took
        row[f"ratio, {name}"] = spent / took if reached else np.nan
    return row


def _timed(
    problem: Problem,
    support: np.ndarray,
    options: dict[str, str],
    clock: Callable[[], float],
    is_done: Callable[[Progress, float], bool],
) -> tuple[Result, float]:
    """A tree until it is done, and the time that it took."""
    begin = clock()
    result = _grow(
        problem, support, options,
        callback=lambda progress: is_done(progress, clock() - begin),
    )  # fmt: skip
    return result, clock() - begin


def _grow(
    problem: Problem,
    support: np.ndarray,
    options: dict[str, str],
    callback: Callable[[Progress], object] | None = None,
    max_nodes: int | None = None,
) -> Result:
    return solve(
        problem, method="branch-and-bound", initial_support=support, n_jobs=1,
        random_state=0, method_options={**options, "patience": 0},
        callback=callback, max_nodes=max_nodes,
    )  # fmt: skip
