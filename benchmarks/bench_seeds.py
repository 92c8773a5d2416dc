"""Luck: the default method with ten seeds, against the best supports ever seen.

``--only best-known`` looks for better ones, with more than ten times the work.
"""

import time
from pathlib import Path

import numpy as np

from frugalsvm import Problem, solve

from .best_known import BestKnown
from .data import LARGE, load
from .tables import Table

BUDGETS = (10, 20, 30)
WEIGHTS = (0.1, 10.0)
SEEDS = 10
# What is asked for: losses of the worst and of the median seed.
WORST_LOSS, MEDIAN_LOSS = 0.005, 0.001
# A search that goes on for at least ten times as long as the default.
LONG_PATIENCE = 2500
# C by which one comes to another, step by step.
CONTINUATION = np.geomspace(1e-3, 10.0, 9)


def run(folder: Path, quick: bool) -> None:
    """Print worst, median and best of the seeds for every instance."""
    table = Table(
        "Default method, seeds 0 to 9, one thread: above the best known [%]",
        ["data set", "C", "B", "best known", "worst", "median", "best", "mean CPU [s]"],
        width=10,
    )
    known = BestKnown()
    losses: list[list[float]] = []
    seconds = 0.0
    for name, C, budget, problem in _instances(folder, quick):
        best = known.objective(problem, name, C, budget)
        own: list[float] = []
        started = time.process_time()
        for seed in range(3 if quick else SEEDS):
            found = solve(problem, random_state=seed, n_jobs=1)
            known.offer(problem, name, C, budget, found.selected)
            own.append(found.objective)
        mean = (time.process_time() - started) / len(own)
        seconds += mean
        best = min(best, known.objective(problem, name, C, budget))
        losses.append([value / best - 1.0 for value in own])
        table.row(
            [name, f"{C:g}", budget, f"{best:.6g}",
             *(f"{100 * part(losses[-1]):.3f}" for part in (max, np.median, min)),
             f"{mean:.2f}"]
        )  # fmt: skip
    worst = [max(part) for part in losses]
    median = [np.median(part) for part in losses]
    print(
        f"\nWorst seed within {100 * WORST_LOSS:g} % on "
        f"{sum(loss <= WORST_LOSS for loss in worst)} of {len(worst)} instances, "
        f"median seed within {100 * MEDIAN_LOSS:g} % on "
        f"{sum(loss <= MEDIAN_LOSS for loss in median)}; {seconds:.0f} s for one seed."
    )


def improve(folder: Path, quick: bool, seconds: float, sets: list[str]) -> None:
    """Look for better supports, each method for so many seconds an instance."""
    known = BestKnown()
    for name, C, budget, problem in _instances(folder, quick):
        if sets and name not in sets:
            continue
        before = known.objective(problem, name, C, budget)
        for label, support in _searches(problem, known, name, C, budget, seconds):
            if known.offer(problem, name, C, budget, support):
                value = known.objective(problem, name, C, budget)
                print(f"{known.key(name, C, budget)}: {value:.8g} by {label}")
        after = known.objective(problem, name, C, budget)
        print(f"{known.key(name, C, budget)}: {before:.8g} -> {after:.8g}", flush=True)


def _instances(folder: Path, quick: bool):
    for name in LARGE[:2] if quick else LARGE:
        X, y = load(folder, name)
        problem = Problem(X, y, C=1.0, max_features=max(BUDGETS))
        for C in WEIGHTS:
            for budget in BUDGETS:
                yield name, C, budget, problem.with_C(C).with_budget(budget)


def _searches(problem, known, name, C, budget, seconds):
    """Supports found by several roads."""
    seed = int.from_bytes(np.random.default_rng().bytes(4), "little")
    common = {"n_jobs": 1, "time_limit": seconds, "random_state": seed}
    long = {"patience": LONG_PATIENCE}
    start = known.support(name, C, budget)
    found = solve(
        problem, method="swap", method_options=long, initial_support=start, **common
    )
    yield "swap", found.selected
    for other in BUDGETS:
        near = known.support(name, C, other)
        if near is not None and other != budget:
            found = solve(
                problem, method="swap", initial_support=near, **common,
                method_options={"patience": 100},
            )  # fmt: skip
            yield f"the support for B = {other}", found.selected
    found = None
    for weight in CONTINUATION[CONTINUATION <= C * (1 + 1e-9)]:
        found = solve(
            problem.with_C(float(weight)), method="swap", warm=found, **common,
            method_options={"patience": 25},
        )  # fmt: skip
    if found is not None:
        yield "continuation in C", found.selected
    for method in ("local-search", "kernel-search", "heuristic"):
        found = solve(problem, method=method, initial_support=start, **common)
        yield method, found.selected
