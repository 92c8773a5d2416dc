"""Seeds: the default method with several seeds, against the best known supports."""

import time
from pathlib import Path

import numpy as np

from frugalsvm import Problem, solve

from .best_known import BestKnown
from .data import LARGE, load
from .results import Row
from .tables import Table

BUDGETS = (10, 20, 30)
WEIGHTS = (0.1, 10.0)
SEEDS = 10
# Targets: losses of the worst and of the median seed.
WORST_LOSS, MEDIAN_LOSS = 0.005, 0.001


def run(folder: Path, quick: bool, seeds: int) -> list[Row]:
    """Print worst, median and best of the seeds for every instance."""
    seeds = 3 if quick else seeds
    table = Table(
        f"Default method, seeds 0 to {seeds - 1}, one thread: above the best known [%]",
        ["data set", "C", "B", "best known", "worst", "median", "best", "mean CPU [s]"],
        width=10,
    )
    known = BestKnown()
    rows: list[Row] = []
    for name, C, budget, problem in instances(folder, quick):
        best = known.objective(problem, name, C, budget)
        own: list[float] = []
        started = time.process_time()
        for seed in range(seeds):
            found = solve(problem, random_state=seed, n_jobs=1)
            known.offer(problem, name, C, budget, found.selected)
            own.append(found.objective)
        mean = (time.process_time() - started) / len(own)
        best = min(best, known.objective(problem, name, C, budget))
        losses = [value / best - 1.0 for value in own]
        rows.append({"set": name, "C": C, "B": budget, "best": best, "losses": losses,
                     "seconds": mean})  # fmt: skip
        table.row(
            [name, f"{C:g}", budget, f"{best:.6g}",
             *(f"{100 * part(losses):.3f}" for part in (max, np.median, min)),
             f"{mean:.2f}"]
        )  # fmt: skip
    worst = [max(row["losses"]) for row in rows]
    median = [np.median(row["losses"]) for row in rows]
    seconds = sum(row["seconds"] for row in rows)
    print(
        f"\nWorst seed within {100 * WORST_LOSS:g} % on "
        f"{sum(loss <= WORST_LOSS for loss in worst)} of {len(worst)} instances, "
        f"median seed within {100 * MEDIAN_LOSS:g} % on "
        f"{sum(loss <= MEDIAN_LOSS for loss in median)}; {seconds:.0f} s for one seed."
    )
    return rows


def instances(folder: Path, quick: bool):
    """The large data sets with all C and budgets: names, numbers, problems."""
    for name in LARGE[:2] if quick else LARGE:
        X, y = load(folder, name)
        problem = Problem(X, y, C=1.0, max_features=max(BUDGETS))
        for C in WEIGHTS:
            for budget in BUDGETS:
                yield name, C, budget, problem.with_C(C).with_budget(budget)
