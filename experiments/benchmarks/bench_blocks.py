"""Blocks: features that are correlated in blocks, as in genomics, with five seeds.

Every feature of a block would do nearly as well as another one, and a good solution has
the right one of each block. The data are random with fixed seeds; ``blocks.json`` holds
the best supports known, from all runs of this benchmark and longer ones.
"""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from frugalsvm import Problem, solve

from .best_known import BestKnown
from .results import Row
from .tables import Table, geometric_mean

FILE = Path(__file__).with_name("blocks.json")
SEEDS = 5
EFFORTS = "fast", "normal"
# Problems with more features are omitted by ``--quick``.
QUICK = 5000
# A run has found the best known support if its objective is within this fraction.
FOUND = 1e-4


class Blocks(NamedTuple):
    """Samples, features, features in a block, their correlation, C and the budget."""

    m: int
    n: int
    size: int
    correlation: float
    C: float
    budget: int

    @property
    def name(self) -> str:
        """The name in the file of supports."""
        return f"blocks m={self.m} n={self.n} size={self.size} r={self.correlation:g}"

    def problem(self) -> Problem:
        """The problem: the label depends on one direction of the first few blocks."""
        rng = np.random.default_rng(self.m * 100_000 + self.n + self.size)
        shared = rng.normal(size=(self.m, self.n // self.size))
        part = self.correlation**0.5, (1.0 - self.correlation) ** 0.5
        X = np.repeat(shared, self.size, axis=1) * part[0]
        X += rng.normal(size=X.shape) * part[1]
        signs = rng.choice([-1.0, 1.0], self.budget)
        score = shared[:, : self.budget] @ signs + 0.4 * rng.normal(size=self.m)
        y = np.where(score > np.median(score), 1.0, -1.0)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        return Problem(X, y, C=self.C, max_features=self.budget)


FROZEN = [
    Blocks(60, 2000, 2, 0.9, 1.0, 5),
    Blocks(60, 2000, 10, 0.7, 10.0, 5),
    Blocks(80, 2000, 20, 0.95, 0.3, 8),
    Blocks(80, 2000, 50, 0.5, 3.0, 3),
    Blocks(100, 2000, 5, 0.99, 10.0, 8),
    Blocks(100, 2000, 10, 0.9, 0.03, 5),
    Blocks(120, 2000, 10, 0.9, 10.0, 5),
    Blocks(150, 2000, 20, 0.8, 1.0, 8),
    Blocks(200, 2000, 50, 0.95, 10.0, 5),
    Blocks(80, 5000, 5, 0.8, 10.0, 5),
    Blocks(100, 5000, 10, 0.95, 3.0, 8),
    Blocks(120, 5000, 20, 0.9, 0.1, 5),
    Blocks(150, 5000, 50, 0.99, 10.0, 8),
    Blocks(200, 5000, 2, 0.7, 0.3, 10),
    Blocks(60, 10_000, 10, 0.9, 3.0, 3),
    Blocks(100, 10_000, 20, 0.7, 10.0, 5),
    Blocks(150, 10_000, 5, 0.95, 1.0, 8),
    Blocks(80, 20_000, 50, 0.5, 0.1, 5),
    Blocks(100, 20_000, 10, 0.9, 10.0, 5),
    Blocks(200, 20_000, 20, 0.9, 10.0, 8),
]


def run(quick: bool) -> list[Row]:
    """Print by effort how far the seeds are above the best known objective."""
    table = Table(
        "Correlated blocks, seeds 0 to 4, one thread: above the best known [%]",
        ["m / n / size / r / C / B", "best known", "effort", "worst", "median", "best",
         "found", "mean CPU [s]"],
        width=10,
    )  # fmt: skip
    known = BestKnown(FILE)
    rows: list[Row] = []
    for case in FROZEN:
        if quick and case.n > QUICK:
            continue
        problem = case.problem()
        runs: dict[str, tuple[list[float], float]] = {}
        for effort in EFFORTS:
            started, own = time.process_time(), []
            for seed in range(SEEDS):
                one = solve(problem, effort=effort, random_state=seed, n_jobs=1)
                known.offer(problem, case.name, case.C, case.budget, one.selected)
                own.append(one.objective)
            runs[effort] = own, (time.process_time() - started) / SEEDS
        best = known.objective(problem, case.name, case.C, case.budget)
        for effort, (own, seconds) in runs.items():
            losses = [max(value / best - 1.0, 0.0) for value in own]
            hits = sum(loss <= FOUND for loss in losses)
            rows.append({**case._asdict(), "best": best, "effort": effort,
                         "losses": losses, "seconds": seconds})  # fmt: skip
            table.row(
                [" / ".join(f"{part:g}" for part in case), f"{best:.6g}", effort,
                 *(f"{100 * part(losses):.3f}" for part in (max, np.median, min)),
                 f"{hits} of {SEEDS}", f"{seconds:.2f}"]
            )  # fmt: skip
    for effort in EFFORTS:
        above, found, n_runs = summary(rows, effort)
        print(
            f"\n{effort}: {100 * above:.2f} % above the best known in the geometric "
            f"mean; it was found in {found} of {n_runs} runs."
        )
    return rows


def summary(rows: list[Row], effort: str) -> tuple[float, int, int]:
    """Mean loss, in how many runs the best known was found, and how many there are."""
    losses = [loss for row in rows if row["effort"] == effort for loss in row["losses"]]
    above = geometric_mean([1.0 + loss for loss in losses]) - 1.0
    return above, sum(loss <= FOUND for loss in losses), len(losses)
