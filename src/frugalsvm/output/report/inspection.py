"""Warnings about a table that a reader should see before trusting its model.

All functions process one column at a time, so that the table is never copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.stats import rankdata

from ...runtime.words import listed
from ..identifiers import numbers_rows, rises_with_rows
from .content import DataWarning

# A single column that separates the classes as well as this looks like the answer.
LEAK_AUC = 0.995
# Number of rows inspected for it; more would add nothing.
MOST_ROWS = 100_000
# Fraction of the rarer class below which accuracy is misleading.
RARE = 0.1
# Ratio of the largest to the smallest standard deviation.
SCALES = 1000.0
# Rows of the rarer class that a model should have.
FEW = 30
# Maximum number of columns named in a sentence.
N_NAMED = 5


def inspect_table(
    names: Sequence[str], values: np.ndarray, positive: np.ndarray
) -> tuple[DataWarning, ...]:
    """Warnings about columns of numbers and the two classes.

    Parameters
    ----------
    names : sequence of str
    values : ndarray of shape (n_rows, n_columns)
        Numbers before they are standardised; NaN where a value is missing.
    positive : ndarray of bool of shape (n_rows,)
        Whether a row is of the second class.

    Returns
    -------
    tuple of DataWarning
        The most serious first: columns that look like the answer, identifiers, then
        duplicates, constants, classes and scales.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalsvm.output.report import inspect_table
    >>> table = np.array([[0.0, 5.0], [1.0, 5.0]] * 50)
    >>> [one.kind for one in inspect_table(["a", "b"], table, table[:, 0] > 0)]
    ['leak', 'constant']
    """
    positive = np.asarray(positive, dtype=bool)
    varying = [j for j in range(len(names)) if not is_constant(values[:, j])]
    constant = sorted(set(range(len(names))) - set(varying))
    ids = [j for j in varying if is_identifier(names[j], values[:, j])]
    rest = [j for j in varying if j not in set(ids)]
    leaks = [j for j in rest if separation(values[:, j], positive) >= LEAK_AUC]
    found = [
        *_leak_warning([names[j] for j in leaks]),
        *_id_warning([names[j] for j in ids]),
        *_duplicate_warnings(names, duplicates(values, varying)),
        *_constant_warning([names[j] for j in constant]),
        *class_warnings(positive),
        *_scale_warning(names, values, rest),
    ]
    return tuple(found)


def is_constant(column: np.ndarray) -> bool:
    """Whether there is at most one distinct value."""
    known = column[~np.isnan(column)]
    return known.size == 0 or bool((known == known[0]).all())


def is_identifier(name: str, column: np.ndarray) -> bool:
    """Whether a column numbers its rows: distinct integers, in order or by name."""
    return numbers_rows(name, column) or rises_with_rows(column)


def separation(column: np.ndarray, positive: np.ndarray) -> float:
    """AUC of a single column, in either direction; 0.5 if it is uninformative."""
    stride = -(-column.size // MOST_ROWS)
    values, labels = column[::stride], positive[::stride]
    known = ~np.isnan(values)
    values, labels = values[known], labels[known]
    n_positive = int(labels.sum())
    n_pairs = n_positive * (labels.size - n_positive)
    if n_pairs == 0:
        return 0.5
    ranks = rankdata(values)[labels].sum()
    auc = (ranks - n_positive * (n_positive + 1) / 2) / n_pairs
    return float(max(auc, 1 - auc))


def duplicates(values: np.ndarray, columns: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of columns that are equal up to shift and scale.

    Standardised columns are projected onto a random direction; only those with the same
    projection are compared.
    """
    direction = np.random.default_rng(0).normal(size=values.shape[0])
    places = []
    for j in columns:
        standard = _standardised(values[:, j])
        places.append((abs(float(standard @ direction)), j))
    places.sort()
    pairs = []
    tolerance = 1e-7 * np.sqrt(values.shape[0])
    for (here, i), (there, j) in pairwise(places):
        if there - here <= tolerance and _is_same(values[:, i], values[:, j]):
            pairs.append((min(i, j), max(i, j)))
    return sorted(pairs)


def _standardised(column: np.ndarray) -> np.ndarray:
    known = ~np.isnan(column)
    spread = column[known].std()
    filled = np.where(known, column, column[known].mean())
    centred = filled - column[known].mean()
    return centred / spread if spread > 0 else centred


def _is_same(one: np.ndarray, other: np.ndarray) -> bool:
    first, second = _standardised(one), _standardised(other)
    missing_alike = np.array_equal(np.isnan(one), np.isnan(other))
    near = np.allclose(first, second, atol=1e-7) or np.allclose(
        first, -second, atol=1e-7
    )
    return missing_alike and bool(near)


def class_warnings(positive: np.ndarray) -> list[DataWarning]:
    """Warnings about the sizes of the two classes."""
    n_rare = int(min(positive.sum(), (~positive).sum()))
    share = n_rare / max(positive.size, 1)
    found = []
    if share < RARE:
        found.append(
            DataWarning(
                "imbalance",
                f"One class has only {100 * share:.2g} % of the rows. A model that "
                f"always predicts the other one is {100 * (1 - share):.3g} % accurate: "
                "look at sensitivity, specificity and AUC instead of accuracy.",
            )
        )
    if n_rare < FEW:
        found.append(
            DataWarning(
                "few",
                f"The rarer class has only {n_rare:,} rows. Scores and selected "
                "features could be quite different on other data.",
            )
        )
    return found


def _leak_warning(columns: list[str]) -> list[DataWarning]:
    if not columns:
        return []
    text = (
        f"{_named(columns)} alone separate{_s(columns)} the classes almost perfectly. "
        "Make sure that such a column is known before the outcome; it may be the "
        "outcome itself in another form."
    )
    return [DataWarning("leak", text, tuple(columns))]


def _id_warning(columns: list[str]) -> list[DataWarning]:
    if not columns:
        return []
    text = (
        f"{_named(columns)} look{_s(columns)} like a row or person number. Such a "
        "column says nothing about new rows: exclude it."
    )
    return [DataWarning("id", text, tuple(columns))]


def _duplicate_warnings(
    names: Sequence[str], pairs: list[tuple[int, int]]
) -> list[DataWarning]:
    if not pairs:
        return []
    listed = [f"{names[i]} and {names[j]}" for i, j in pairs]
    columns = tuple(dict.fromkeys(names[j] for pair in pairs for j in pair))
    text = (
        f"Equal up to shift and scale: {_named(listed, '; ')}. Which of the two is "
        "selected is arbitrary."
    )
    return [DataWarning("duplicate", text, columns)]


def _constant_warning(columns: list[str]) -> list[DataWarning]:
    if not columns:
        return []
    verb = "is" if len(columns) == 1 else "are"
    text = f"{_named(columns)} {verb} constant and cannot be selected."
    return [DataWarning("constant", text, tuple(columns))]


def _scale_warning(
    names: Sequence[str], values: np.ndarray, columns: list[int]
) -> list[DataWarning]:
    spreads = np.array([np.nanstd(values[:, j]) for j in columns])
    if spreads.size < 2 or spreads.max() <= SCALES * spreads.min():
        return []
    wide, narrow = names[columns[spreads.argmax()]], names[columns[spreads.argmin()]]
    text = (
        f"Columns are on very different scales, from {narrow} to {wide}. Standardise "
        "them before the fit; otherwise columns with large values are favoured."
    )
    return [DataWarning("scales", text, (narrow, wide))]


def _named(columns: Sequence[str], between: str = ", ") -> str:
    return listed(columns, N_NAMED, between=between)


def _s(columns: Sequence[str]) -> str:
    return "s" if len(columns) == 1 else ""
