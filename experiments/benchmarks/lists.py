"""Alternatives: up to which tolerance lists of supports are complete, and how soon.

Times are processor times of one thread. Enumeration is our own SVM on a sample of all
supports, warm and with the same threshold, times their number.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from frugalsvm import NearOptimal, Problem, near_optimal, verify

from ..cells import Cell, grid
from ..datasets import SMALL, DataSet
from ..experiment import Settings, benchmark
from ..store import Results, Row
from ..tables import Lines, columns
from .timing import timed

BUDGETS = (5, 10)
WEIGHTS = (1.0, 10.0)
TOLERANCES = (0.01, 0.05, 0.1)
# Number of supports that are solved to estimate the time of enumeration.
SAMPLE = 2000


def enumeration(data: None, *, B: int, C: float) -> Row:
    """A list of WDBC beside the time of enumeration."""
    X, labels = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), np.where(labels == 1, 1.0, -1.0)
    problem = Problem(X, y, C=C, max_features=B)
    spent, models = _timed_list(problem, tolerance=0.01)
    assert models.complete
    # Stopped early on supports whose objective is too large.
    rng = np.random.default_rng(0)
    n = problem.n_features
    supports = [np.sort(rng.choice(n, B, replace=False)) for _ in range(SAMPLE)]
    sampled, _ = timed(
        lambda: [
            problem.engine.solve_svm(support, cutoff=models.threshold)
            for support in supports
        ]
    )
    proving, proved = _timed_list(problem, tolerance=0.01, certificate=True)
    checking, _ = timed(verify, proved.certificate, X, y)
    return {
        "table": "enumeration",
        "models": len(models),
        "seconds": spent,
        "enumeration": sampled / SAMPLE * math.comb(n, B),
        "proof": proving,
        "verify": checking,
    }


def _timed_list(problem: Problem, **options: Any) -> tuple[float, NearOptimal]:
    # Once on a small problem, so that the kernels are loaded.
    near_optimal(Problem(np.eye(4), np.array([1.0, -1.0, 1.0, -1.0]), max_features=2))
    return timed(partial(near_optimal, problem, n_jobs=1, random_state=0, **options))


def how_far(data: DataSet, *, B: int, C: float, seconds: float) -> Row:
    """How many models there are within tolerances, and how far the list is complete."""
    n = data.X.shape[1]
    problem = data.problem(min(B, n), C)
    options = {"tolerance": TOLERANCES[-1], "time_limit": seconds}
    spent, models = _timed_list(problem, **options)
    counts = []
    for tolerance in TOLERANCES:
        part = models.within(tolerance)
        counts.append(f"{len(part):,}" if part.complete else f"{len(part):,} or more")
    return {
        "table": "how far",
        "n": n,
        "models": counts,
        "seconds": spent,
        "complete up to": models.complete_up_to,
    }


def _plan(settings: Settings, *, seconds: float) -> list[Cell]:
    axes: dict[str, Any] = {"B": BUDGETS, "C": WEIGHTS}
    names = settings.chosen(SMALL, SMALL[:3])
    return grid("enumeration", **axes) + grid("how far", names, **axes, seconds=seconds)


def enumeration_table(results: Results) -> Lines:
    """Lists of WDBC beside enumeration."""
    return columns(
        [row for row in results.rows if row["table"] == "enumeration"],
        {
            "B": "{B}",
            "C": "{C:g}",
            "tolerance [%]": "1",
            "models": "{models}",
            "list [s]": "{seconds:.2f}",
            "enumeration [s]": "{enumeration:,.0f}",
            "ratio": lambda row: f"{row['seconds'] / row['enumeration']:.3g}",
            "proof [s]": "{proof:.2f}",
            "verify [s]": "{verify:.2f}",
        },
    )


def list_table(results: Results) -> Lines:
    """How many models there are, and how far lists are complete."""

    def at_least(row: Row, k: int) -> str:
        number, *more = row["models"][k].split(maxsplit=1)
        return f"≥ {number}" if more else number

    rows = [row for row in results.rows if row["table"] == "how far"]
    return columns(
        [row for row in rows if row["B"] < row["n"]],
        {
            "data set": "{set}",
            "n": "{n}",
            "B": "{B}",
            "C": "{C:g}",
            "models at 1 %": partial(at_least, k=0),
            "at 5 %": partial(at_least, k=1),
            "at 10 %": partial(at_least, k=2),
            "seconds": "{seconds:.1f}",
            "complete up to [%]": lambda row: f"{100 * row['complete up to']:.3g}",
        },
    )


ALTERNATIVES = benchmark(
    "alternatives",
    "Lists of near-optimal supports: time beside enumeration, and how far they go",
    "WDBC of scikit-learn beside enumeration; lists of at most 10,000 models of the "
    "small data sets. The target at B = 5 is a tenth of the time of enumeration.",
    _plan,
    [enumeration, how_far],
    options={"seconds": 60.0},
    figures={"enumeration": enumeration_table, "alternatives": list_table},
    sets=SMALL,
)
