"""How a model is printed: weights of categories, digits, and the limit of its scores.

A constant can be moved from the weights of all categories of a column to the intercept.
No score changes: values that are unknown to the model get a weight of their own. This
form is for display only, since the objective and its proof depend on the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..problem import most_frequent
from ..tables import CategoryColumn, NumberColumn, Preparation, PreparedColumn
from .choosing import Fit
from .session import UsageProblem
from .study import Conditions, PreparedTable, signed_name
from .validation import features_of_all

SMALLEST, MEAN = "smallest", "mean"
OTHER = "any other value"


class Level(NamedTuple):
    """A category as it is printed.

    Attributes
    ----------
    name : str
    weight : float
        Per unit as measured: added to the score of rows that have this category.
    column : int or None
        Its column in the prepared table, if it has one.
    share : float
        Fraction of the training rows that have it.
    """

    name: str
    weight: float
    column: int | None
    share: float


class LevelForm(NamedTuple):
    """The categories of the selected columns, and the intercept that belongs to them.

    Attributes
    ----------
    levels : dict
        By variable. The last one stands for all values that are unknown to the model,
        unless a category does.
    intercept : float
        For values as measured.
    zero : str
        Which weight of each column is zero: "smallest" or "mean".
    """

    levels: dict[str, list[Level]]
    intercept: float
    zero: str


def check_levels(levels: str | None, is_split: bool) -> None:
    """Raise an error for an unknown form, or for one of split categories."""
    if levels not in (None, SMALLEST, MEAN):
        raise UsageProblem(f"--levels must be smallest or mean, got {levels!r}.")
    if levels is not None and is_split:
        raise UsageProblem(
            "--levels is about columns of categories that count as one feature; remove "
            "--split-categories."
        )


def check_signed_levels(conditions: Conditions, preparation: Preparation) -> None:
    """Raise an error for signs of categories: they hold for weights as fitted."""
    for column, level in preparation.origins():
        name = signed_name(column, level)
        if column.has_categories and name in conditions.signs:
            raise UsageProblem(
                f"--levels moves the weights of all categories of {column.variable!r}, "
                f"but --signs is about that of {name!r} as it is fitted; leave out one "
                "of the two."
            )


def level_form(fit: Fit, zero: str) -> LevelForm:
    """The form in which the smallest, or the mean, weight of each variable is zero.

    The mean is over the training rows.
    """
    selected = set(fit.result.selected_columns.tolist())
    intercept, by_variable = fit.intercept, {}
    for features, columns in fit.preparation.blocks():
        first = columns[0]
        if first.has_categories and selected.intersection(features):
            levels = _levels(fit, columns, features)
            values = np.array([level.weight for level in levels])
            shares = np.array([level.share for level in levels])
            shift = float(values.min() if zero == SMALLEST else values @ shares)
            if not (isinstance(first, CategoryColumn) and first.has_other):
                levels.append(Level(OTHER, 0.0, None, 0.0))
            by_variable[first.variable] = [
                level._replace(weight=level.weight - shift) for level in levels
            ]
            intercept += shift
    return LevelForm(by_variable, intercept, zero)


def _levels(
    fit: Fit, columns: Sequence[PreparedColumn], features: list[int]
) -> list[Level]:
    """All categories of a variable, with their weights as fitted."""
    shares = fit.preparation.means[features].tolist()
    names = [x.category or "" for x in columns if isinstance(x, NumberColumn)]
    levels = encoded = tuple(names)
    if isinstance(columns[0], CategoryColumn):
        levels, encoded = columns[0].levels, columns[0].shown
    index = dict(zip(encoded, features, strict=True))
    share = dict(zip(encoded, shares, strict=True))
    remainder = max(0.0, 1.0 - sum(shares))
    return [
        Level(level, float(fit.weights[index[level]]), index[level], share[level])
        if level in index
        # Of two categories, the first has no column.
        else Level(level, 0.0, None, remainder)
        for level in levels
    ]


# --- Digits of weights, and the limit of the scores computed from them ----------------

# Digits of printed weights; as many more as the classes of the rows need.
DIGITS, MOST_DIGITS = 5, 15


class ShownRule(NamedTuple):
    """The number of digits of weights, and the score above which a row is positive.

    With these digits and this limit, all rows get the class that the model predicts.
    The limit is a little larger than that of the model if scores are equal to it.
    """

    digits: int
    limit: float


def shown_rule(data: PreparedTable, fit: Fit) -> ShownRule:
    """The smallest number of digits that is enough for all rows."""
    columns = np.flatnonzero(fit.model.coef)
    features = features_of_all(data, fit.preparation, columns)
    limit = fit.threshold or 0.0
    positive = fit.model.scores_of(features, columns) > limit
    scales, means = fit.preparation.scales[columns], fit.preparation.means[columns]
    values = features * scales + means
    for digits in range(DIGITS, MOST_DIGITS):
        weights = [float(f"{weight:.{digits}g}") for weight in fit.weights[columns]]
        scores = values @ np.array(weights) + float(f"{fit.intercept:.{digits + 1}g}")
        high = scores[~positive].max(initial=-np.inf)
        low = scores[positive].min(initial=np.inf)
        if high > limit:
            rise = 10.0 ** np.ceil(np.log10(2.0 * (high - limit)))
            shown = float(f"{limit + rise:.{digits + 1}g}")
        else:
            shown = float(f"{limit:.{digits + 1}g}")
        if high <= shown < low:
            return ShownRule(digits, shown)
    return ShownRule(MOST_DIGITS, limit)


def tie_text(scores: np.ndarray) -> str:
    """A remark if many rows have the same score, else empty."""
    score, count = most_frequent(scores)
    # A quarter of the rows is worth mentioning.
    if count < max(2.0, 0.25 * scores.size):
        return ""
    return (
        f"{count:,} of {scores.size:,} rows have the same score, {score:+.6g}: the "
        "model cannot tell them apart"
    )
