"""Groups of columns against SCIP on the group perspective formulation, one thread each.

The clock of ours stops when bound and objective are as good as SCIP's last ones, or at
the gap to which both solve. Times are processor times.
"""

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from frugalsvm import Problem, solve

from . import mip_solvers
from .bench_exact import refit
from .results import Row
from .tables import Table, geometric_mean

GAP = 1e-4
BUDGETS, WEIGHTS = (3, 5, 10), (0.03, 0.1, 1.0)
# The generated data: groups of columns that share a part of their variance.
SAMPLES, GROUPS, SIZE, RELEVANT = 300, 200, 5, 6
# Limit of our wall time, as a multiple of that of processor time.
SLACK = 3.0
# Relative accuracy of SCIP's claims, its tolerance of feasibility.
TOLERANCE = 1e-6


class Grouped(NamedTuple):
    """Data with the group of each column."""

    name: str
    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray


def german(folder: Path) -> Grouped:
    """The bank's table: 13 categorical variables of 20 are groups of their levels."""
    table = pd.read_csv(folder / "german_raw.csv.gz")
    y = np.where(table.pop("target") == "good", 1.0, -1.0)
    columns, groups = [], []
    for g, name in enumerate(table):
        values = table[name]
        if pd.api.types.is_numeric_dtype(values):
            columns.append(values.to_numpy(float)[:, None])
        else:
            columns.append(pd.get_dummies(values).to_numpy(float))
        groups += [g] * columns[-1].shape[1]
    X = StandardScaler().fit_transform(np.hstack(columns))
    return Grouped("german", X, y, np.array(groups))


def generated() -> Grouped:
    """Two hundred groups of five columns, some of which matter."""
    rng = np.random.default_rng(0)
    n = GROUPS * SIZE
    groups = np.repeat(np.arange(GROUPS), SIZE)
    X = (
        rng.normal(size=(SAMPLES, n))
        + 0.7 * rng.normal(size=(SAMPLES, GROUPS))[:, groups]
    )
    w = np.where(groups < RELEVANT, rng.normal(size=n), 0.0)
    score = X @ w
    y = np.where(score + 0.5 * score.std() * rng.normal(size=SAMPLES) > 0, 1.0, -1.0)
    return Grouped("generated", StandardScaler().fit_transform(X), y, groups)


def instances(folder: Path, quick: bool) -> Iterator[tuple[Grouped, int, float]]:
    for data in (german(folder), generated()):
        for budget in BUDGETS[:1] if quick else BUDGETS:
            for C in WEIGHTS[:2] if quick else WEIGHTS:
                yield data, budget, C


class Moment(NamedTuple):
    """Processor time, and what was known then."""

    seconds: float
    objective: float
    bound: float


def _ours(data: Grouped, budget: int, C: float, seconds: float) -> list[Moment]:
    """The course of a run, its end included."""
    problem = Problem(
        data.X, data.y, C=C, max_features=budget, feature_groups=data.groups
    )
    moments = []
    started = time.process_time()

    def note(progress) -> bool:
        spent = time.process_time() - started
        moments.append(Moment(spent, progress.objective, progress.lower_bound))
        return spent > seconds

    result = solve(
        problem, method="branch-and-bound", gap_tol=GAP, time_limit=SLACK * seconds,
        random_state=0, n_jobs=1, callback=note,
    )  # fmt: skip
    spent = time.process_time() - started
    return [*moments, Moment(spent, result.objective, result.lower_bound)]


def _reached(moments: list[Moment], objective: float, bound: float) -> float | None:
    """When both were as good, or the gap was closed."""
    for moment in moments:
        if not np.isfinite(moment.objective):
            continue
        has_objective = moment.objective <= objective * (1 + TOLERANCE)
        has_bound = moment.bound >= bound * (1 - TOLERANCE)
        is_closed = moment.objective - moment.bound <= GAP * moment.objective
        if (has_objective and has_bound) or is_closed:
            return moment.seconds
    return None


def run(folder: Path, quick: bool, seconds: float) -> list[Row] | None:
    if not importlib.util.find_spec("pyscipopt"):
        print("groups is skipped: pyscipopt is not installed.")
        return None
    columns = ["data", "B", "C", "objective", "bound", "ours [s]", "SCIP objective",
               "SCIP bound", "SCIP [s]", "nodes", "SCIP / ours"]  # fmt: skip
    table = Table(
        f"Groups of columns: time to what SCIP reaches in {seconds:g} s, or to a "
        f"relative gap of {GAP:g}, one thread each",
        columns,
        width=9,
    )
    _warm_up()
    rows: list[Row] = []
    for data, budget, C in instances(folder, quick):
        theirs = mip_solvers.scip(
            data.X, data.y, C, budget, gap=GAP, seconds=seconds, slack=SLACK,
            groups=data.groups,
        )  # fmt: skip
        # Claims hold up to SCIP's tolerance, the support exactly.
        chosen = np.flatnonzero(np.isin(data.groups, theirs.support))
        objective = refit(data.X, data.y, C, chosen)
        moments = _ours(data, budget, C, seconds)
        found = _reached(moments, objective, theirs.bound)
        last = moments[-1]
        ours = min(seconds, last.seconds) if found is None else found
        row = {
            "set": data.name, "B": budget, "C": C,
            "objective": last.objective, "bound": last.bound,
            "ours": {"seconds": ours, "reached": found is not None},
            "SCIP": {
                "objective": objective, "bound": theirs.bound,
                "seconds": min(theirs.seconds, seconds), "proved": theirs.proved,
            },
        }  # fmt: skip
        row["ratio"] = row["SCIP"]["seconds"] / ours
        rows.append(row)
        table.row(
            [data.name, budget, f"{C:g}", f"{last.objective:.5f}", f"{last.bound:.5f}",
             f"{ours:.3f}" + ("" if row["ours"]["reached"] else "!"),
             f"{objective:.5f}", f"{theirs.bound:.5f}",
             f"{row['SCIP']['seconds']:.2f}" + ("" if theirs.proved else "*"),
             theirs.nodes, f"{row['ratio']:.1f}"]
        )  # fmt: skip
    _summary(rows)
    return rows


def _warm_up() -> None:
    """Load the compiled kernels before the first clock starts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    problem = Problem(
        X, np.sign(X[:, 0]), max_features=2, feature_groups=np.arange(12) // 3
    )
    solve(problem, method="branch-and-bound")


def _summary(rows: list[Row]) -> None:
    print(
        "\n* limit reached; ! ours did not reach what SCIP had. SCIP's objective is "
        "that of its support, refitted.\n"
    )
    for name in dict.fromkeys(row["set"] for row in rows):
        ratios = [row["ratio"] for row in rows if row["set"] == name]
        print(f"{name}: {geometric_mean(ratios):.1f} times as fast (geometric mean)")
    mean = geometric_mean([row["ratio"] for row in rows])
    reached = sum(row["ours"]["reached"] for row in rows)
    proved = sum(row["SCIP"]["proved"] for row in rows)
    print(
        f"All: {mean:.1f} times as fast (geometric mean); SCIP proved {proved} of "
        f"{len(rows)}, ours reached as much in {reached}."
    )
