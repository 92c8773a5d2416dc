"""Effort levels compared: what fast loses, and how long normal and thorough take.

Times are processor times of one thread.
"""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from frugalsvm import Problem, solve
from frugalsvm.runtime.effort import EFFORTS

from .data import LARGE, SMALL, load
from .results import Row
from .tables import Table, geometric_mean

BUDGETS = (5, 10)
WEIGHTS = (0.1, 10.0)
# Times are compared if thorough takes at least this many seconds.
LONG = 1.0
# Targets for fast: the median loss, and the mean ratio of times.
MEDIAN_LOSS = 0.01
LEAST_RATIO = 10.0


class Run(NamedTuple):
    """Time and result of one effort level."""

    seconds: float
    objective: float
    gap: float


def _run(problem: Problem, effort: str) -> Run:
    started = time.process_time()
    result = solve(problem, effort=effort, random_state=0, n_jobs=1)
    return Run(time.process_time() - started, result.objective, result.gap)


def run(folder: Path, quick: bool) -> list[Row]:
    table = Table(
        "Efforts: processor time, objective and gap, n_jobs=1",
        ["data set", "C", "B",
         *(f"{effort} [s]" for effort in EFFORTS),
         "fast / thorough - 1 [%]", "normal / thorough - 1 [%]",
         *(f"{effort} gap [%]" for effort in EFFORTS)],
        width=8,
    )  # fmt: skip
    _warm_up()
    runs: dict[str, list[Run]] = {effort: [] for effort in EFFORTS}
    rows: list[Row] = []
    for name in (*SMALL[:2], *LARGE[:1]) if quick else (*SMALL, *LARGE):
        X, y = load(folder, name)
        for C in WEIGHTS:
            for budget in BUDGETS:
                problem = Problem(X, y, C=C, max_features=min(budget, X.shape[1]))
                for effort, done in runs.items():
                    done.append(_run(problem, effort))
                fast, normal, thorough = (done[-1] for done in runs.values())
                rows.append({"set": name, "C": C, "B": budget}
                            | {effort: done[-1]._asdict()
                               for effort, done in runs.items()})  # fmt: skip
                table.row(
                    [name, f"{C:g}", budget,
                     *(f"{one.seconds:.2f}" for one in (fast, normal, thorough)),
                     f"{100 * _loss(fast, thorough):.2f}",
                     f"{100 * _loss(normal, thorough):.2f}",
                     *(f"{100 * one.gap:.2f}" for one in (fast, normal, thorough))]
                )  # fmt: skip
    _summary(runs)
    return rows


def _loss(run: Run, best: Run) -> float:
    return run.objective / best.objective - 1.0


def _warm_up() -> None:
    """Load the compiled kernels before the first clock starts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    for effort in EFFORTS:
        solve(Problem(X, np.sign(X[:, 0]), max_features=2), effort=effort)


def _summary(runs: dict[str, list[Run]]) -> None:
    thorough = runs["thorough"]
    is_long = [best.seconds > LONG for best in thorough]
    print(f"\n{len(thorough)} instances, {sum(is_long)} of them above {LONG:g} s.\n")
    for effort in ("fast", "normal"):
        pairs = list(zip(runs[effort], thorough, strict=True))
        losses = [_loss(*pair) for pair in pairs]
        ratios = [
            best.seconds / one.seconds
            for (one, best), long in zip(pairs, is_long, strict=True)
            if long
        ]
        print(
            f"{effort}: objective above thorough's by {100 * np.median(losses):.3f} % "
            f"in the median, {100 * max(losses):.1f} % at worst; longest "
            f"{max(one.seconds for one, _ in pairs):.1f} s"
        )
        if ratios:
            print(
                f"{effort}: thorough / {effort} {geometric_mean(ratios):.1f} in the "
                f"geometric mean, smallest {min(ratios):.1f}"
            )
    print(
        f"Target for fast: at most {100 * MEDIAN_LOSS:g} % in the median, at least "
        f"{LEAST_RATIO:g} times as fast."
    )
