"""Warnings about a table that a reader should see before trusting its model.

All columns are compared, in blocks, and on a sample of the rows if there are many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..run import listed
from ..tables import DIFFERENT, ID_ROWS, is_id_name, numbers_rows, rises_with_rows
from .content import DataWarning

# A single column that separates the classes as well as this looks like the answer.
LEAK_AUC = 0.995
# Rows drawn from larger tables: at most, at least, and cells if columns are many.
MOST_ROWS, LEAST_ROWS, MOST_CELLS = 100_000, 2000, 20_000_000
# Cells of a block of columns that are sorted at once.
BLOCK_CELLS = 2**21
# Fraction of the rarer class below which accuracy is misleading.
RARE = 0.1
# Ratio of the largest to the smallest standard deviation.
SCALES = 1000.0
# Rows of the rarer class that a model should have.
FEW = 30
# Maximum number of columns named in a sentence.
N_NAMED = 5


def inspect_table(
    names: Sequence[str],
    values: np.ndarray,
    positive: np.ndarray,
    *,
    categories: Mapping[str, Sequence[int]] | None = None,
) -> tuple[DataWarning, ...]:
    """Warnings about columns of numbers and the two classes.

    Parameters
    ----------
    names : sequence of str
    values : ndarray of shape (n_rows, n_columns)
        Numbers before they are standardised; NaN where a value is missing.
    positive : ndarray of bool of shape (n_rows,)
        Whether a row is of the second class.
    categories : mapping from str to sequence of int, default=None
        The columns of 0 and 1 of each categorical variable.

    Returns
    -------
    tuple of DataWarning
        The most serious first: columns that look like the answer, identifiers, then
        duplicates, constants, classes and scales. Of large tables, some rows are drawn
        to compare columns with each other and with the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalsvm.report import inspect_table
    >>> table = np.array([[0.0, 5.0], [1.0, 5.0]] * 50)
    >>> [warning.kind for warning in inspect_table(["a", "b"], table, table[:, 0] > 0)]
    ['leak', 'constant']
    """
    positive = np.asarray(positive, dtype=bool)
    rows = drawn_rows(positive, len(names))
    sample = values if rows.size == positive.size else values[rows]
    return inspect_sample(
        names, sample, rows, positive, lambda j: values[:, j], categories or {}
    )


def drawn_rows(positive: np.ndarray, n_columns: int) -> np.ndarray:
    """The rows on which columns are compared: all, or a sample of both classes.

    Half of a sample is of the rarer class, if it has enough rows.
    """
    n = min(MOST_ROWS, max(LEAST_ROWS, MOST_CELLS // max(1, n_columns)))
    if positive.size <= n:
        return np.arange(positive.size)
    rng = np.random.default_rng(0)
    rarer, other = np.flatnonzero(positive), np.flatnonzero(~positive)
    if rarer.size > other.size:
        rarer, other = other, rarer
    n_rarer = min(rarer.size, n // 2)
    drawn = rng.choice(rarer, n_rarer, replace=False)
    return np.sort(np.r_[drawn, rng.choice(other, n - n_rarer, replace=False)])


def inspect_sample(
    names: Sequence[str],
    sample: np.ndarray,
    rows: np.ndarray,
    positive: np.ndarray,
    whole: Callable[[int], np.ndarray],
    categories: Mapping[str, Sequence[int]],
) -> tuple[DataWarning, ...]:
    """Warnings from a sample of rows, and a function that returns a whole column."""
    blocks = [_compared(block, positive[rows]) for block in _blocks(sample)]
    entries = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    stats = _Compared(*entries) if blocks else _NOTHING
    candidates = np.flatnonzero(stats.constant).tolist()
    constant = [names[j] for j in candidates if is_constant(whole(j))]
    numbered = np.flatnonzero(stats.whole & (stats.n_different >= ID_ROWS))
    ids = [
        j
        for j in numbered.tolist()
        if (stats.share[j] > DIFFERENT or is_id_name(names[j]))
        and is_identifier(names[j], whole(j))
    ]
    varying = ~stats.constant
    varying[ids] = False
    separating = np.flatnonzero(varying & (stats.auc >= LEAK_AUC)).tolist()
    leaks = [names[j] for j in separating]
    leaking = set(leaks)
    leaks += [
        name
        for name, columns in categories.items()
        if len(columns) > 1
        and leaking.isdisjoint(names[j] for j in columns)
        and _separation_by_rates(sample[:, columns], positive[rows]) >= LEAK_AUC
    ]
    pairs = _duplicates(sample, stats)
    is_all = rows.size == positive.size
    return (
        *_column_warning(
            "leak",
            leaks,
            f"alone separate{_s(leaks)} the classes almost perfectly. Make sure that "
            "such a column is known before the outcome; it may be the outcome itself "
            "in another form.",
        ),
        *_column_warning(
            "id",
            [names[j] for j in ids],
            f"look{_s(ids)} like a row or person number. Such a column says nothing "
            "about new rows: exclude it.",
        ),
        *_duplicate_warnings(names, pairs, None if is_all else rows.size),
        *_column_warning(
            "constant",
            constant,
            f"{'is' if len(constant) == 1 else 'are'} constant and cannot be selected.",
        ),
        *class_warnings(positive),
        *_scale_warning(names, stats.spread, np.flatnonzero(varying)),
    )


def is_constant(column: np.ndarray) -> bool:
    """Whether there is at most one distinct value."""
    values = column[~np.isnan(column)]
    return values.size == 0 or bool((values == values[0]).all())


def is_identifier(name: str, column: np.ndarray) -> bool:
    """Whether a column numbers its rows: distinct integers, in order or by name."""
    return numbers_rows(name, column) or rises_with_rows(column)


class _Compared(NamedTuple):
    """Statistics of columns, with an entry for each.

    Attributes
    ----------
    constant, whole : ndarray of bool
        Whether there is at most one distinct value, and whether all are integers.
    n_different, share : ndarray
        Distinct values, and their share of those that are not missing.
    auc : ndarray
        AUC of the column alone, in either direction; 0.5 if it is uninformative.
    spread, projection : ndarray
        Standard deviation, and the standardised column in a random direction.
    """

    constant: np.ndarray
    whole: np.ndarray
    n_different: np.ndarray
    share: np.ndarray
    auc: np.ndarray
    spread: np.ndarray
    projection: np.ndarray


_NOTHING = _Compared(*(np.zeros(0, bool),) * 2, *(np.zeros(0),) * 5)


def _blocks(values: np.ndarray) -> Iterator[np.ndarray]:
    """The columns as rows of arrays of limited size."""
    n_rows, n_columns = values.shape
    step = max(1, BLOCK_CELLS // max(1, n_rows))
    for j in range(0, n_columns, step):
        yield np.ascontiguousarray(values[:, j : j + step].T, dtype=np.float64)


def _compared(columns: np.ndarray, positive: np.ndarray) -> _Compared:
    n = positive.size
    order = np.argsort(columns, axis=1)
    ranked = np.take_along_axis(columns, order, axis=1)
    # Missing values come last.
    present = ~np.isnan(ranked)
    n_known = present.sum(axis=1)
    begins = np.ones(columns.shape, dtype=bool)
    begins[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    n_different = (begins & present).sum(axis=1)
    ends = np.ones(columns.shape, dtype=bool)
    ends[:, :-1] = begins[:, 1:]
    positions = np.arange(n)
    first = np.maximum.accumulate(np.where(begins, positions, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, positions, n)[:, ::-1], axis=1)[:, ::-1]
    hits = positive[order] & present
    n_positive = hits.sum(axis=1)
    ranks = np.where(hits, 0.5 * (first + last) + 1.0, 0.0).sum(axis=1)
    n_pairs = n_positive * (n_known - n_positive)
    above = (ranks - n_positive * (n_positive + 1) / 2) / np.maximum(n_pairs, 1)
    auc = np.where(n_pairs > 0, np.maximum(above, 1 - above), 0.5)
    standard, spread = _standardised(columns)
    direction = np.random.default_rng(0).normal(size=n)
    return _Compared(
        n_different <= 1,
        ((ranked == np.round(ranked)) | ~present).all(axis=1),
        n_different,
        n_different / np.maximum(n_known, 1),
        auc,
        spread,
        np.abs(standard @ direction),
    )


def _standardised(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows with mean 0, variance 1 and 0 for missing values; standard deviations."""
    missing = np.isnan(columns)
    n_known = np.maximum(columns.shape[1] - missing.sum(axis=1), 1)
    means = np.where(missing, 0.0, columns).sum(axis=1) / n_known
    centred = np.where(missing, 0.0, columns - means[:, None])
    spread = np.sqrt((centred**2).sum(axis=1) / n_known)
    return centred / np.where(spread > 0, spread, 1.0)[:, None], spread


def _separation_by_rates(flags: np.ndarray, positive: np.ndarray) -> float:
    """AUC of a categorical variable by rates of one half of the rows, on the other."""
    half = np.random.default_rng(0).random(positive.size) < 0.5
    counts = flags[half].sum(axis=0)
    overall = positive[half].mean() if half.any() else 0.5
    rates = np.where(
        counts > 0, positive[half] @ flags[half] / np.maximum(counts, 1), overall
    )
    return float(_compared((flags[~half] @ rates)[None], positive[~half]).auc[0])


def _duplicates(sample: np.ndarray, stats: _Compared) -> list[tuple[int, int]]:
    """Pairs of columns that are equal up to shift and scale.

    Only columns with about the same projection are compared.
    """
    varying = np.flatnonzero(~stats.constant)
    candidates = varying[np.argsort(stats.projection[varying], kind="stable")]
    tolerance = 1e-7 * np.sqrt(sample.shape[0])
    near = np.diff(stats.projection[candidates]) <= tolerance
    pairs = [
        (min(i, j), max(i, j))
        for (i, j), is_near in zip(pairwise(candidates.tolist()), near, strict=True)
        if is_near and _is_same(sample[:, i], sample[:, j])
    ]
    return sorted(pairs)


def _is_same(a: np.ndarray, b: np.ndarray) -> bool:
    (first, second), _ = _standardised(np.stack([a, b]))
    is_near = any(np.allclose(first, sign * second, atol=1e-7) for sign in (1, -1))
    return is_near and np.array_equal(np.isnan(a), np.isnan(b))


def class_warnings(positive: np.ndarray) -> list[DataWarning]:
    """Warnings about the sizes of the two classes."""
    n_rare = int(min(positive.sum(), (~positive).sum()))
    share = n_rare / max(positive.size, 1)
    warnings = []
    if share < RARE:
        warnings.append(
            DataWarning(
                "imbalance",
                f"One class has only {100 * share:.2g} % of the rows. A model that "
                f"always predicts the other one is {100 * (1 - share):.3g} % accurate: "
                "look at sensitivity, specificity and AUC instead of accuracy.",
            )
        )
    if n_rare < FEW:
        warnings.append(
            DataWarning(
                "few",
                f"The rarer class has only {n_rare:,} rows. Scores and selected "
                "features could be quite different on other data.",
            )
        )
    return warnings


def _column_warning(kind: str, columns: list[str], text: str) -> list[DataWarning]:
    """A warning about columns, if there are any; ``text`` follows their names."""
    if not columns:
        return []
    return [DataWarning(kind, f"{_named(columns)} {text}", tuple(columns))]


def _duplicate_warnings(
    names: Sequence[str], pairs: list[tuple[int, int]], n_rows: int | None
) -> list[DataWarning]:
    if not pairs:
        return []
    listed = [f"{names[i]} and {names[j]}" for i, j in pairs]
    columns = tuple(dict.fromkeys(names[j] for pair in pairs for j in pair))
    where = "" if n_rows is None else f" in the {n_rows:,} rows that were compared"
    text = (
        f"Equal up to shift and scale{where}: {_named(listed, '; ')}. Which of the two "
        "is selected is arbitrary."
    )
    return [DataWarning("duplicate", text, columns)]


def _scale_warning(
    names: Sequence[str], spreads: np.ndarray, columns: np.ndarray
) -> list[DataWarning]:
    if columns.size < 2:
        return []
    largest = columns[spreads[columns].argmax()]
    smallest = columns[spreads[columns].argmin()]
    if spreads[largest] <= SCALES * spreads[smallest]:
        return []
    wide, narrow = names[largest], names[smallest]
    text = (
        f"Columns are on very different scales, from {narrow} to {wide}. Standardise "
        "them before the fit; otherwise columns with large values are favoured."
    )
    return [DataWarning("scales", text, (narrow, wide))]


def _named(columns: Sequence[str], between: str = ", ") -> str:
    return listed(columns, N_NAMED, between=between)


def _s(columns: Sequence[object]) -> str:
    return "s" if len(columns) == 1 else ""
