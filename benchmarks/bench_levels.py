"""Categories of few rows: whether more of them should be merged, or be penalised.

A column of many categories is one feature with as many weights. Rules are compared by
cross-validation: a larger least number of rows of a category, in rows or in rows of the
rarer class; larger penalties of variables with many categories; and each category as a
feature of its own. All differences are to the rule of the command line.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from frugalsvm.cli.study import Conditions, PreparedTable
from frugalsvm.tables import Preparation
from frugalsvm.tables.kinds import MIN_LEVEL

from .bench_categories import (
    CONFIDENCE,
    FOLDS,
    TABLES,
    Source,
    measured,
    model,
    prepared,
    show,
    splits,
)
from .tables import Table

BUDGET, WEIGHTS = 5, (0.03, 0.3, 1.0)
SIZES = (600, 2000)
MANY = {
    "mlc_churn": TABLES["mlc_churn"],
    "lending_club": TABLES["lending_club"],
    "ResumeNames": Source("AER", "call", "yes"),
    "MplsStops": Source("carData", "personSearch", "YES", ("idNum", "date")),
    "social_insure": Source("causaldata", "takeup_survey", "1", ("address",)),
    "TV16": Source("stevedata", "votetrump", "1.0", ("uid",)),
    "anes_vote84": Source("stevedata", "vote", "1.0", ("uid",)),
    "mn_police_use_of_force": Source(
        "openintro", "subject_injury", "Yes",
        ("response_datetime", "problem", "primary_offense"),
    ),
}  # fmt: skip
FEW = ("attrition", "credit_data", "HealthInsurance", "GSOEP9402", "CES11", "Wage")
SOURCES = {**MANY, **{name: TABLES[name] for name in FEW}}
QUICK = ("GSOEP9402", "mlc_churn", "lending_club")


class Rule(NamedTuple):
    """How categories are merged and penalised.

    Attributes
    ----------
    rows, events : int
        Least number of rows of a category, and of rows of the rarer class that it has
        if it has its share.
    factor : callable
        Of the scale of a variable, from the number of its weights.
    is_split : bool
        Whether each category is a feature.
    """

    rows: int = MIN_LEVEL
    events: int = 0
    factor: Callable[[int], float] = lambda n: 1.0
    is_split: bool = False


RULES = {
    "as is": Rule(),
    "10 rows": Rule(10),
    "20 rows": Rule(20),
    "5 events": Rule(events=5),
    "10 events": Rule(events=10),
    "n^1/4": Rule(factor=lambda n: n**0.25),
    "n^1/2": Rule(factor=math.sqrt),
    "split": Rule(is_split=True),
}


def run(quick: bool, jobs: int) -> None:
    for most_rows in SIZES[: 1 if quick else None]:
        _compare(most_rows, QUICK if quick else tuple(SOURCES), jobs)


def _compare(most_rows: int, names: tuple[str, ...], jobs: int) -> None:
    started = time.process_time()
    table = Table(
        f"Rare categories, at most {most_rows:,} rows, B={BUDGET}: points more than as "
        f"is, {100 * CONFIDENCE:g} % intervals",
        ["table", "settings", "score", *RULES],
        width=14,
    )
    found: dict[str, np.ndarray] = {}
    for name in names:
        data = prepared(Path(), name, SOURCES, most_rows)
        parts = Parallel(n_jobs=jobs)(
            delayed(_scores)(data, train, test) for train, test in splits(data)
        )
        values = np.stack(parts)
        show(table, name, "", values.mean(axis=1), FOLDS)
        found[name] = values.mean(axis=0)
    for words, group in (("many categories", MANY), ("all tables", SOURCES)):
        each = np.stack([one for name, one in found.items() if name in group])
        for k, C in enumerate(WEIGHTS):
            show(table, words, f"C={C:g}", each[:, k])
        show(table, words, "all", each.mean(axis=1))
    print(f"\n{(time.process_time() - started) / 60:.1f} minutes of processor time")


def _scores(data: PreparedTable, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """By setting, score and rule."""
    signs = data.target.signs
    share = min(float((signs[train] == one).mean()) for one in (-1, 1))
    found, known = [], {}
    for rule in RULES.values():
        least = max(rule.rows, math.ceil(rule.events / share))
        preparation = replace(data, min_level=least).prepare(train)
        scales = _scales(preparation, rule)
        groups = Conditions(is_split=rule.is_split).labels(preparation)
        # Many rules are alike on tables of few categories.
        key = (preparation.features, tuple(scales.tolist()), tuple(groups))
        if key not in known:
            X = (preparation.values(data.table) - preparation.means) / scales
            made = [
                model((BUDGET, C), groups).fit(X[train], signs[train]) for C in WEIGHTS
            ]
            known[key] = [
                measured(signs[test], one.decision_function(X[test])) for one in made
            ]
        found.append(known[key])
    return np.moveaxis(found, 0, 2)


def _scales(preparation: Preparation, rule: Rule) -> np.ndarray:
    scales = preparation.scales.copy()
    for places, columns in preparation.blocks():
        if columns[0].has_categories:
            scales[places] *= rule.factor(len(places))
    return scales
