"""Alternatives: up to which tolerance lists of supports are complete, and how soon.

Times are processor times of one thread. Enumeration is our own SVM on a sample of all
supports, warm and with the same threshold, times their number.
"""

import math
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from frugalsvm import NearOptimal, Problem, near_optimal, verify

from .data import SMALL, load
from .results import Row
from .tables import Table

BUDGETS = (5, 10)
WEIGHTS = (1.0, 10.0)
TOLERANCES = (0.01, 0.05, 0.1)
# Number of supports that are solved to estimate the time of enumeration.
SAMPLE = 2000
# Target: this fraction of the time of enumeration.
LARGEST_PART = 0.1


def run(folder: Path, quick: bool, seconds: float) -> list[Row]:
    """Compare WDBC with enumeration, and print how far the small data sets go."""
    near_optimal(Problem(np.eye(4), np.array([1.0, -1.0, 1.0, -1.0]), max_features=2))
    return [*_against_enumeration(), *_how_far(folder, quick, seconds)]


def _timed(problem: Problem, **options) -> tuple[float, NearOptimal]:
    started = time.process_time()
    found = near_optimal(problem, n_jobs=1, random_state=0, **options)
    return time.process_time() - started, found


def _against_enumeration() -> list[Row]:
    table = Table(
        "WDBC of scikit-learn, standardised: a list against enumeration",
        ["B", "C", "tolerance [%]", "models", "list [s]", "enumeration [s]", "ratio",
         "proof [s]", "verify [s]"],
        width=8,
    )  # fmt: skip
    rows: list[Row] = []
    X, labels = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), np.where(labels == 1, 1.0, -1.0)
    for budget in BUDGETS:
        for C in WEIGHTS:
            problem = Problem(X, y, C=C, max_features=budget)
            spent, found = _timed(problem, tolerance=0.01)
            assert found.complete
            everything = _enumeration_time(problem, found.threshold)
            proving, proved = _timed(problem, tolerance=0.01, certificate=True)
            started = time.process_time()
            verify(proved.certificate, X, y)
            checking = time.process_time() - started
            rows.append({
                "table": "enumeration", "B": budget, "C": C, "models": len(found),
                "seconds": spent, "enumeration": everything, "proof": proving,
                "verify": checking,
            })  # fmt: skip
            table.row(
                [budget, f"{C:g}", "1", len(found), f"{spent:.2f}",
                 f"{everything:,.0f}", f"{spent / everything:.3g}", f"{proving:.2f}",
                 f"{checking:.2f}"]
            )  # fmt: skip
    print(f"\nTarget at B = 5: a ratio of at most {LARGEST_PART:g}.")
    return rows


def _enumeration_time(problem: Problem, threshold: float) -> float:
    """Seconds for the SVM on every support, stopped early where it is too large."""
    rng = np.random.default_rng(0)
    n, budget = problem.n_features, problem.max_features
    supports = [np.sort(rng.choice(n, budget, replace=False)) for _ in range(SAMPLE)]
    engine = problem.engine
    started = time.process_time()
    for support in supports:
        engine.solve_svm(support, cutoff=threshold)
    spent = time.process_time() - started
    return spent / SAMPLE * math.comb(n, budget)


def _how_far(folder: Path, quick: bool, seconds: float) -> list[Row]:
    table = Table(
        f"Lists of at most 10,000 models within {seconds:g} s",
        ["data set", "n", "B", "C", "models at 1 %", "at 5 %", "at 10 %", "seconds",
         "complete up to [%]"],
        width=8,
    )  # fmt: skip
    rows: list[Row] = []
    for name in SMALL[:3] if quick else SMALL:
        X, y = load(folder, name)
        for budget in BUDGETS:
            for C in WEIGHTS:
                problem = Problem(X, y, C=C, max_features=min(budget, X.shape[1]))
                spent, found = _timed(
                    problem, tolerance=TOLERANCES[-1], time_limit=seconds
                )
                counts = [_count(found, tolerance) for tolerance in TOLERANCES]
                rows.append({
                    "table": "how far", "set": name, "n": X.shape[1], "B": budget,
                    "C": C, "models": counts, "seconds": spent,
                    "complete up to": found.complete_up_to,
                })  # fmt: skip
                table.row(
                    [name, X.shape[1], budget, f"{C:g}", *counts, f"{spent:.1f}",
                     f"{100 * found.complete_up_to:.3g}"]
                )  # fmt: skip
    return rows


def _count(found: NearOptimal, tolerance: float) -> str:
    part = found.within(tolerance)
    return f"{len(part):,}" if part.complete else f"{len(part):,} or more"
