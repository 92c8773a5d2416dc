"""Searches: other selectors, seeds, efforts, and features that are correlated."""

from __future__ import annotations

import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from frugalsvm import FrugalSVC, Problem, solve

from ..cells import cell, grid
from ..datasets import LARGE, SMALL, DataSet, scaled
from ..experiment import benchmark
from ..published import PUBLISHED
from ..statistics import geometric_mean
from ..store import Results, Row
from ..tables import Lines, distinct, times, two
from .best_known import BUDGETS, WEIGHTS, BestKnown
from .feature_selectors import bisect
from .timing import EFFORTS, refitted, timed, warm_up

# --- other selectors ------------------------------------------------------------------

SWAP_C = 10.0
# Set explicitly, so that the time limit and not the effort ends long searches.
PATIENCE = 250
# Eliminations of RFE: fits, whatever the number of features.
RFE_FITS = 50


def swap(data: DataSet, *, B: int, seconds: float) -> Row:
    """FrugalSVC's objective, and those of RFE and L1-LinearSVC after an exact refit."""
    X, y = scaled(data.X), data.y
    options: dict[str, Any] = {
        "method_options": {"patience": PATIENCE},
        "time_limit": seconds,
    }
    model = FrugalSVC(B, SWAP_C, method="swap", n_jobs=2, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = model.fit(X, y).result_
        objectives, spent = {}, {}
        for name, peer in (("RFE", _rfe_objective), ("L1", _l1_objective)):
            started = time.perf_counter()
            objectives[name] = peer(X, y, B)
            spent[f"{name} seconds"] = time.perf_counter() - started
    last = next(
        t for t, value, _ in result.history if value <= result.objective * 1.00001
    )
    return {
        "ours": result.objective,
        **objectives,
        "bound": result.lower_bound,
        "gap": result.gap,
        "seconds": result.seconds,
        "seconds of the last improvement": last,
        **spent,
    }


def _rfe_objective(X: np.ndarray, y: np.ndarray, B: int) -> float:
    """Recursive feature elimination by a LinearSVC, at most RFE_FITS fits."""
    step = max(1, (X.shape[1] - B) // RFE_FITS)
    svm = LinearSVC(C=SWAP_C, loss="hinge", random_state=0)
    selector = RFE(svm, n_features_to_select=B, step=step).fit(X, y)
    return refitted(X, y, SWAP_C, np.flatnonzero(selector.support_))


def _l1_objective(X: np.ndarray, y: np.ndarray, B: int) -> float:
    """Best refit over the supports within the budget on a bisection path of C."""
    options: dict[str, Any] = {
        "penalty": "l1",
        "dual": False,
        "max_iter": 3000,
        "random_state": 0,
    }

    def weights(C: float) -> np.ndarray:
        return LinearSVC(C=C, **options).fit(X, y).coef_[0]

    supports = map(np.flatnonzero, bisect(weights, B, 1e-6, 1e2, 25))
    refits = [refitted(X, y, SWAP_C, j) for j in supports if j.size <= B]
    return min(refits, default=np.inf)


def swap_table(results: Results) -> Lines:
    """Objectives beside those of other selectors, refitted."""
    return [
        ["peer", f"objective after at most {results.settings['seconds']:g} s"],
        ["RFE + exact refit", _lower(results.rows, "RFE")],
        ["L1-``LinearSVC`` + exact refit", _lower(results.rows, "L1")],
    ]


def _lower(rows: list[Row], peer: str) -> str:
    ratios = [row[peer] / row["ours"] for row in rows]
    won = sum(ratio > 1 for ratio in ratios)
    return (
        f"lower on {won} of {len(rows)}; theirs is {min(ratios):.4g} to "
        f"{two(max(ratios))} times ours"
    )


def published_table(results: Results) -> Lines:
    """Objectives beside the best ones that the paper reports after an hour."""
    seconds = results.settings["seconds"]
    table = [["", "B", f"frugalsvm, at most {seconds:g} s", "paper, 3600 s"]]
    for name in ("arrhythmia", "madelon", "mfeat"):
        rows = [row for row in results.rows if row["set"] == name]
        budgets = " / ".join(str(row["B"]) for row in rows)
        columns = zip(*map(_beside_published, rows), strict=True)
        table.append([name, budgets, *(" / ".join(column) for column in columns)])
    return table


def _beside_published(row: Row) -> tuple[str, str]:
    """Both objectives; the lower one is strong, unless the paper's digits hide it."""
    columns = ("CoP* ObjFun", "Exact KS ObjFun")
    printed = [PUBLISHED[7].printed(row["set"], row["B"], column) for column in columns]
    theirs = min(printed, key=float)
    ours = f"{row['ours']:.2f}" if row["ours"] > 1 else f"{row['ours']:.4f}"
    if round(row["ours"], 2) < float(theirs):
        return f"**{ours}**", theirs
    return ours, f"**{theirs}**" if round(row["ours"], 2) > float(theirs) else theirs


SWAP = benchmark(
    "swap",
    "FrugalSVC by swaps beside RFE and L1-LinearSVC, C = 10",
    "Both peers choose a support within the budget; the SVM is then refitted exactly "
    "on it, so that all three are compared in the same objective.",
    lambda settings, seconds: grid(
        "swap", settings.chosen(LARGE, LARGE[:2]), B=BUDGETS, seconds=seconds
    ),
    [swap],
    options={"seconds": 60.0},
    figures={"swap": swap_table, "published": published_table},
)


# --- seeds ----------------------------------------------------------------------------

# Targets: losses of the worst and of the median seed.
WORST_LOSS, MEDIAN_LOSS = 0.005, 0.001
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def seeds(data: DataSet, *, C: float, B: int, seeds: int) -> Row:
    """The default with several seeds, against the best known support."""
    supports, instance = BestKnown(), (data.problem(B, C), data.name, C, B)
    best = supports.objective(*instance)
    objectives, spent = _seed_runs(supports, *instance, seeds=seeds)
    best = min(best, supports.objective(*instance))
    losses = [objective / best - 1.0 for objective in objectives]
    return {"best": best, "losses": losses, "seconds": spent}


def _seed_runs(
    supports: BestKnown,
    problem: Problem,
    name: str,
    C: float,
    B: int,
    *,
    seeds: int,
    **options: Any,
) -> tuple[list[float], float]:
    """Objectives of several seeds, whose supports are offered, and the mean time."""
    objectives = []
    started = time.process_time()
    for seed in range(seeds):
        result = solve(problem, random_state=seed, n_jobs=1, **options)
        supports.offer(problem, name, C, B, result.selected)
        objectives.append(result.objective)
    return objectives, (time.process_time() - started) / seeds


def seed_table(results: Results) -> Lines:
    """Worst and median of the seeds, above the best known [%]."""
    rows = results.rows
    table = [["data set", "C", *(f"B = {B}" for B in distinct(rows, "B"))]]
    for name in distinct(rows, "set"):
        for C in distinct(rows, "C"):
            losses = [r["losses"] for r in rows if (r["set"], r["C"]) == (name, C)]
            cells = [f"{100 * max(x):.2f} / {100 * np.median(x):.2f}" for x in losses]
            table.append([name, f"{C:g}", *cells])
    return table


def seed_summary(results: Results) -> str:
    """On how many instances worst and median seed are near the best known."""
    rows, count = results.rows, results.settings["seeds"]
    worst = sum(max(row["losses"]) <= WORST_LOSS for row in rows)
    median = sum(np.median(row["losses"]) <= MEDIAN_LOSS for row in rows)
    return (
        f"The worst of {NUMBERS[count] if count < len(NUMBERS) else count} seeds is "
        f"within {100 * WORST_LOSS:g} % of the best known support on {worst} of "
        f"{len(rows)} instances, the\nmedian seed within "
        f"{100 * MEDIAN_LOSS:g} % on {median}."
    )


SEEDS = benchmark(
    "seeds",
    "The default method with several seeds, above the best known support",
    "One thread; supports that are better than the best known are recorded.",
    lambda settings, seeds: grid(
        "seeds",
        settings.chosen(LARGE, LARGE[:2]),
        C=WEIGHTS,
        B=BUDGETS,
        seeds=settings.pick(3, seeds),
    ),
    [seeds],
    options={"seeds": 10},
    figures={"seeds": seed_table, "seeds-summary": seed_summary},
)


# --- efforts --------------------------------------------------------------------------

# Efforts are compared where thorough takes this many seconds.
LONG = 1.0


def effort(data: DataSet, *, C: float, B: int) -> Row:
    """Time, objective and gap of each effort, one thread."""
    warm_up()
    problem = data.problem(min(B, data.X.shape[1]), C)
    row: Row = {}
    for level in EFFORTS:
        run = partial(solve, problem, effort=level, random_state=0, n_jobs=1)
        spent, result = timed(run)
        row[level] = {"seconds": spent}
        row[level] |= {"objective": result.objective, "gap": result.gap}
    return row


def effort_table(results: Results) -> Lines:
    """Time that fast and normal save, and how far their objectives are above."""
    rows = results.rows
    long = [row for row in rows if row["thorough"]["seconds"] > LONG]
    fast = f"times as fast as thorough ({len(long)} long runs)"
    above = "objective above thorough's: median"
    table = [["effort", fast, "longest", above, "large data sets", "worst"]]
    for name in ("fast", "normal"):
        ratios = [row["thorough"]["seconds"] / row[name]["seconds"] for row in long]
        losses = [_loss(row, name) for row in rows]
        large = [_loss(row, name) for row in rows if row["set"] in LARGE]
        longest = max(row[name]["seconds"] for row in rows)
        shares = (np.median(losses), np.median(large), max(losses))
        percent = [f"{100 * share:.1f} %" for share in shares]
        table.append([f"``{name}``", times(ratios), f"{longest:.1f} s", *percent])
    return table


def _loss(row: Row, name: str) -> float:
    return row[name]["objective"] / row["thorough"]["objective"] - 1.0


EFFORT = benchmark(
    "effort",
    "Efforts: processor time, objective and gap, one thread",
    "What fast loses, and how long normal and thorough take, on all data sets.",
    lambda settings: grid(
        "effort",
        settings.chosen((*SMALL, *LARGE), (*SMALL[:2], *LARGE[:1])),
        C=(0.1, 10.0),
        B=(5, 10),
    ),
    [effort],
    figures={"effort": effort_table},
    sets=(*SMALL, *LARGE),
)


# --- correlated blocks ----------------------------------------------------------------

BLOCK_FILE = Path(__file__).with_name("blocks.json")
BLOCK_SEEDS = 5
BLOCK_EFFORTS = "fast", "normal"
# Problems with more features are omitted by --quick.
QUICK_FEATURES = 5000
# A run has found the best known support if its objective is within this fraction.
EQUAL = 1e-4


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


def blocks(data: None, **params: Any) -> Row:
    """Five seeds of each effort, above the best known support."""
    case, supports = Blocks(**params), BestKnown(BLOCK_FILE)
    problem = case.problem()
    instance = problem, case.name, case.C, case.budget
    runs = {
        level: _seed_runs(supports, *instance, seeds=BLOCK_SEEDS, effort=level)
        for level in BLOCK_EFFORTS
    }
    best = supports.objective(*instance)
    rows = []
    for level, (objectives, seconds) in runs.items():
        losses = [max(objective / best - 1.0, 0.0) for objective in objectives]
        row = {"best": best, "effort": level, "losses": losses, "seconds": seconds}
        rows.append(row)
    return {"rows": rows}


def block_table(results: Results) -> Lines:
    """Efforts on problems with correlated blocks."""
    head = ["effort", "best known found", "above it, mean of all", "mean CPU"]
    table = [[*head, "longest"]]
    for level in distinct(results.rows, "effort"):
        rows = [row for row in results.rows if row["effort"] == level]
        losses = [loss for row in rows for loss in row["losses"]]
        above = geometric_mean([1.0 + loss for loss in losses]) - 1.0
        seconds = [row["seconds"] for row in rows]
        spent = [f"{np.mean(seconds):.2f} s", f"{max(seconds):.1f} s"]
        runs = f"{sum(loss <= EQUAL for loss in losses)} of {len(losses)} runs"
        table.append([f"``{level}``", runs, f"{100 * above:.1f} %", *spent])
    return table


BLOCKS = benchmark(
    "blocks",
    "Features that are correlated in blocks, as in genomics: above the best known",
    "Every feature of a block would do nearly as well as another one, and a good "
    "solution has the right one of each block. The data are random with fixed seeds.",
    lambda settings: [
        cell("blocks", **case._asdict())
        for case in FROZEN
        if not settings.quick or case.n <= QUICK_FEATURES
    ],
    [blocks],
    figures={"blocks": block_table},
    sets=(),
)
