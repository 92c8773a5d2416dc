"""Weights of categories relative to one another: an equivalent form, for display.

A constant can be moved from the weights of all categories of a column to the intercept.
No score changes: values that are unknown to the model get a weight of their own. The
model and its proof stay as they are, since the objective depends on the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..problem.solution import most_frequent
from ..tables import Preparation
from ..tables.prepared_columns import CategoryColumn, NumberColumn, PreparedColumn
from .choosing import Fit
from .session import UsageProblem
from .study import Conditions, PreparedTable, signed_name
from .validation import features_of_all

SMALLEST, MEAN = "smallest", "mean"
OTHER = "any other value"


class Level(NamedTuple):
    """A category as it is shown.

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
    """Raise an error for an unknown form, or one that cannot be had."""
    if levels not in (None, SMALLEST, MEAN):
        raise UsageProblem(f"--levels must be smallest or mean, got {levels!r}.")
    if levels is not None and is_split:
        raise UsageProblem(
            "--levels is about columns of categories that count as one feature; remove "
            "--split-categories."
        )


def check_signed_levels(conditions: Conditions, preparation: Preparation) -> None:
    """Raise an error for signs of categories, which hold for weights as fitted."""
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
    chosen = set(fit.result.selected_columns.tolist())
    intercept, found = fit.intercept, {}
    for features, columns in fit.preparation.blocks():
        one = columns[0]
        if one.has_categories and chosen.intersection(features):
            levels = _levels(fit, columns, features)
            values = np.array([level.weight for level in levels])
            shares = np.array([level.share for level in levels])
            shift = float(values.min() if zero == SMALLEST else values @ shares)
            if not (isinstance(one, CategoryColumn) and one.has_other):
                levels.append(Level(OTHER, 0.0, None, 0.0))
            found[one.variable] = [
                level._replace(weight=level.weight - shift) for level in levels
            ]
            intercept += shift
    return LevelForm(found, intercept, zero)


def _levels(
    fit: Fit, columns: Sequence[PreparedColumn], features: list[int]
) -> list[Level]:
    """All categories of a variable, with their weights as fitted."""
    shares = fit.preparation.means[features].tolist()
    names = [one.category or "" for one in columns if isinstance(one, NumberColumn)]
    levels = shown = tuple(names)
    if isinstance(columns[0], CategoryColumn):
        levels, shown = columns[0].levels, columns[0].shown
    place = dict(zip(shown, features, strict=True))
    share = dict(zip(shown, shares, strict=True))
    rest = max(0.0, 1.0 - sum(shares))
    return [
        Level(level, float(fit.weights[place[level]]), place[level], share[level])
        if level in place
        # Of two categories, the first has no column.
        else Level(level, 0.0, None, rest)
        for level in levels
    ]


# --- How a model is printed: digits of weights, and the limit that belongs to them ----

# Digits of printed weights; as many more as the classes of the rows need.
DIGITS, MOST_DIGITS = 5, 15
# A share of rows with the same score that is worth mentioning.
MANY = 0.25


class ShownRule(NamedTuple):
    """How many digits of weights are shown, and above which score a row is positive.

    With these digits and this limit, all rows get the class that the model predicts.
    The limit is a little larger than that of the model if scores are equal to it.
    """

    digits: int
    limit: float


def shown_rule(data: PreparedTable, fit: Fit) -> ShownRule:
    """The smallest number of digits that is enough for all rows."""
    used = np.flatnonzero(fit.model.coef)
    features = features_of_all(data, fit.preparation, used)
    limit = fit.threshold or 0.0
    positive = fit.model.scores_of(features, used) > limit
    values = features * fit.preparation.scales[used] + fit.preparation.means[used]
    for digits in range(DIGITS, MOST_DIGITS):
        weights = [float(f"{one:.{digits}g}") for one in fit.weights[used]]
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
    """That many rows have the same score; empty if no large part of them has."""
    score, count = most_frequent(scores)
    if count < max(2.0, MANY * scores.size):
        return ""
    return (
        f"{count:,} of {scores.size:,} rows have the same score, {score:+.6g}: the "
        "model cannot tell them apart"
    )
