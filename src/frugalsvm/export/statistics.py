"""Statistics of training rows in a model, for scorecards and comparisons.

They describe single features and scores. No rows are stored, nor values that few rows
have: each bin, and each end of a range, stands for at least five rows, and values are
rounded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .origins import read_origins
from .schema import InvalidModel, shown

if TYPE_CHECKING:
    from .model import PortableModel

# --- Points of a scorecard: for the ranges of a feature, or for the values of a group -

NONE = "any other value"


class Ranges(NamedTuple):
    """The ranges of a feature and their points.

    Attributes
    ----------
    name : str
    unit : str or None
    limits : tuple of float
        Limits between ranges; a value on a limit belongs to the range above it.
    points : tuple of int
        One for each range.
    is_flag : bool
        Whether the feature is 0 or 1, which are shown as no and yes.
    """

    name: str
    unit: str | None
    limits: tuple[float, ...]
    points: tuple[int, ...]
    is_flag: bool = False

    def of(self, values: np.ndarray) -> np.ndarray:
        """Points of values."""
        ranges = np.searchsorted(self.limits, values, side="right")
        return np.array(self.points, dtype=np.int64)[ranges]

    def of_table(self, table: Mapping[str, np.ndarray]) -> np.ndarray:
        """Points of rows, from the values of all features by name."""
        return self.of(table[self.name])

    def words(self) -> list[str]:
        """The ranges as text."""
        if not self.limits:
            return ["any"]
        if self.is_flag:
            return ["no", "yes"]
        texts = []
        for limit in self.limits:
            short = f"{limit:g}"
            texts.append(short if float(short) == limit else repr(limit))
        between = [f"{a} to below {b}" for a, b in pairwise(texts)]
        return [f"below {texts[0]}", *between, f"{texts[-1]} or more"]


class Values(NamedTuple):
    """The values of a categorical variable and their points.

    Attributes
    ----------
    name : str
        Of the group.
    features : tuple of str
        The 0/1 features that stand for the values.
    points : tuple of int
        One for each feature, and one for rows in which all are 0. Values without rows
        may have negative points, so that the order of scores remains.
    """

    name: str
    features: tuple[str, ...]
    points: tuple[int, ...]

    @property
    def unit(self) -> None:
        """Values have no unit of measurement."""
        return

    def of_table(self, table: Mapping[str, np.ndarray]) -> np.ndarray:
        """Points of rows, from the values of all features by name."""
        points = np.array(self.points, dtype=np.int64)
        return points[value_indices(self.features, table)]

    def words(self) -> list[str]:
        """The values as text."""
        starts = [f"{self.name}{sign}" for sign in "=_"]
        values = []
        for feature in self.features:
            start = next(filter(feature.startswith, starts), "")
            values.append(feature.removeprefix(start) or feature)
        return [*values, NONE]


def value_indices(
    features: tuple[str, ...], table: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Indices of the 0/1 feature that is 1 in each row; their number if none is."""
    high = np.array([table[name] > 0.5 for name in features])
    return np.where(high.any(axis=0), high.argmax(axis=0), len(features))


def are_values(features: tuple[str, ...], table: Mapping[str, np.ndarray]) -> bool:
    """Whether features are 0 or 1, and at most one is 1 in each row."""
    columns = np.array([table[name] for name in features])
    return bool(np.isin(columns, (0.0, 1.0)).all() and (columns.sum(axis=0) <= 1).all())


# --- Statistics of training rows ------------------------------------------------------

# Minimum number of rows that each bin, or end of a range, stands for.
LEAST = 5
N_BINS = 10
# Significant digits of values, compared with their spread.
DIGITS = 3
# Maximum effect of rounding, as a fraction of a range.
ROUNDING = 0.02
# Digits beyond which values differ by rounding.
MOST_DIGITS = 9


@dataclass(frozen=True)
class Distribution:
    """Values of a feature, or of a score, in at most ten bins of about equal counts.

    Attributes
    ----------
    edges : tuple of float
        Edges between bins; a value on an edge is in the bin above.
    counts : tuple of int
        Rows in each bin.
    centres : tuple of float
        Medians of the bins.
    low, high : float
        The range, without the four smallest and the four largest values.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    centres: tuple[float, ...]
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> Distribution:
        """The distribution of at least ten values."""
        ordered = np.sort(values)
        low, high = ordered[[LEAST - 1, -LEAST]].tolist()
        inner = np.clip(ordered, low, high)
        tenth, ninth = inner[[inner.size // 10, -1 - inner.size // 10]].tolist()
        spread = max(ninth - tenth or high - low, 10.0**-MOST_DIGITS * max(-low, high))
        digits = DIGITS - 1 - math.floor(math.log10(spread)) if spread > 0 else 0
        middle = float(np.median(inner))
        edges = _edges(inner, min(max(digits, -300), 300))
        edges = sorted({_public(edge, middle, spread, digits + 1) for edge in edges})
        counts = np.bincount(_bins(edges, ordered, high - low))
        edges = [edges[k - 1] for k in _first_bins(counts.tolist())]
        counts = np.bincount(_bins(edges, ordered, high - low))
        last = np.cumsum(counts) - 1
        first = last - counts + 1
        medians = inner[(first + last) // 2] + inner[(first + last + 1) // 2]
        return cls(
            tuple(edges),
            tuple(counts.tolist()),
            tuple(_public(x / 2, middle, spread, digits) for x in medians.tolist()),
            _public(low, middle, spread, digits),
            _public(high, middle, spread, digits),
        )

    def bins(self, values: np.ndarray) -> np.ndarray:
        """The bins of values."""
        return _bins(self.edges, values, self.high - self.low)

    def to_dict(self) -> dict[str, Any]:
        """The fields in model.json."""
        return {
            "low": self.low,
            "high": self.high,
            "edges": list(self.edges),
            "counts": list(self.counts),
            "centres": list(self.centres),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Distribution:
        """From the checked content of model.json."""
        return cls(
            tuple(map(float, fields["edges"])),
            tuple(map(int, fields["counts"])),
            tuple(map(float, fields["centres"])),
            float(fields["low"]),
            float(fields["high"]),
        )

    def check(self, name: str, n_rows: int, n_missing: int = 0) -> None:
        """Raise InvalidModel unless the numbers fit each other."""
        n_bins = len(self.counts)
        is_ordered = all(a < b for a, b in pairwise(self.edges))
        is_ordered &= all(a <= b for a, b in pairwise(self.centres))
        if not len(self.edges) + 1 == n_bins == len(self.centres) or not is_ordered:
            raise InvalidModel(
                f"{name} must have increasing edges, with a count and a centre for "
                f"each bin between them, got edges {shown(list(self.edges))}."
            )
        total = sum(self.counts)
        if total not in (n_rows, n_rows - n_missing):
            raise InvalidModel(
                f"{name} must count {shown(n_rows)} rows, got {shown(total)}."
            )
        if min(self.counts) < LEAST:
            raise InvalidModel(
                f"{name} must have {LEAST} rows or more in each bin, got "
                f"{shown(min(self.counts))}."
            )
        if self.low > self.high:
            raise InvalidModel(f"{name} has a range that ends before it begins.")
        # Each number is rounded separately.
        points = (*self.edges, *self.centres)
        slack = ROUNDING * max(self.high - self.low, *map(abs, (self.low, self.high)))
        fits = all(self.low - slack <= x <= self.high + slack for x in points)
        ends = pairwise((-math.inf, *self.edges, math.inf))
        fits &= all(
            low - slack <= centre <= high + slack
            for centre, (low, high) in zip(self.centres, ends, strict=True)
        )
        if not fits:
            raise InvalidModel(
                f"{name} must have its edges in its range, and a centre in each bin."
            )


def _public(value: float, middle: float, spread: float, digits: int) -> float:
    """A value rounded to some digits, fewer if it is far from the middle."""
    distance = abs(value - middle)
    if distance > spread > 0:
        digits -= math.floor(math.log10(distance)) - math.floor(math.log10(spread))
    return round(value, digits)


def _edges(ordered: np.ndarray, digits: int) -> list[float]:
    """Edges of bins with about equal counts of sorted values, or between all values."""
    unit = 10.0**-digits
    units = np.rint(ordered / unit)
    distinct = units[np.append(True, units[1:] > units[:-1])]
    if distinct.size <= N_BINS:
        whole = [round(value * unit, digits) for value in distinct.tolist()]
        if all(edge.is_integer() for edge in whole):
            return whole[1:]
        edges = (distinct[1:] + distinct[:-1]) / 2
    else:
        positions = np.arange(1, N_BINS) * ordered.size // N_BINS
        # If most values are equal to the smallest, the others still have a bin.
        edges = np.unique(np.maximum(units[positions], distinct[1]))
    # Half a unit, in the middle of two values, has one more digit.
    return [round(edge * unit, digits + 1) for edge in edges.tolist()]


def _bins(edges: Sequence[float], values: np.ndarray, spread: float) -> np.ndarray:
    """The bins of values; a value below an edge by a rounding error is on it."""
    return np.searchsorted(edges, values + 10.0**-MOST_DIGITS * spread, side="right")


def _first_bins(counts: Sequence[int]) -> list[int]:
    """The first bin of each merged bin with enough rows, except the very first."""
    first, n = [], 0
    for k, count in enumerate(counts):
        if n >= LEAST:
            first.append(k)
            n = 0
        n += count
    return first if n >= LEAST else first[:-1]


def class_codes(model: PortableModel, y: Any, n_rows: int) -> np.ndarray:
    """Indices of labels in the classes of a model."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"y must have one label for each of the {n_rows} samples, got shape "
            f"{labels.shape}."
        )
    codes = {label: k for k, label in enumerate(model.classes)}
    unknown = set(labels.tolist()) - set(codes)
    if unknown:
        names = " and ".join(map(repr, model.classes))
        raise ValueError(
            f"y has label {next(iter(unknown))!r}, but the model knows {names}."
        )
    return np.array([codes[label] for label in labels.tolist()], dtype=np.int64)


@dataclass(frozen=True)
class Statistics:
    """Statistics of the training rows of a model.

    Attributes
    ----------
    n_rows : int
    classes : tuple of int
        Rows of each class.
    features : tuple of Distribution
        In the order of the model's features. Imputed numbers are not counted.
    missing : tuple of int
        For each feature, rows in which its column has no value.
    variables : tuple of str
        Groups of 0/1 features of which at most one is 1 in each row.
    scores : tuple of Distribution
        A single score for two classes, else one for each class.
    positive : tuple of tuple of int
        For each score, the rows of its class in each of its bins.
    changed : int or None
        Rows whose class differs in the scorecard of default points and ranges; None
        without a scorecard.
    """

    n_rows: int
    classes: tuple[int, ...]
    features: tuple[Distribution, ...]
    missing: tuple[int, ...]
    variables: tuple[str, ...]
    scores: tuple[Distribution, ...]
    positive: tuple[tuple[int, ...], ...]
    changed: int | None = None

    @classmethod
    def of(
        cls,
        model: PortableModel,
        values: np.ndarray,
        gaps: np.ndarray,
        codes: np.ndarray,
    ) -> Statistics:
        """Statistics from values of a model's features, and indices of classes.

        ``gaps`` is a mask of values that the table lacks.
        """
        n_rows = len(values)
        if n_rows < 2 * LEAST:
            raise ValueError(
                f"statistics need at least {2 * LEAST} rows, so that none can be told "
                f"from them; got {n_rows}."
            )
        features = []
        for j, origin in enumerate(read_origins(model)):
            column = values[~gaps[:, j], j] if origin.is_number else values[:, j]
            if column.size < 2 * LEAST:
                # Most rows have the replacement for a gap.
                column = np.full(n_rows, origin.fill)
            features.append(Distribution.of(column))
        table = dict(zip(model.names, values.T, strict=True))
        scores, positive = [], []
        for k, score in enumerate(model.scores_of(values).T):
            distribution = Distribution.of(score)
            is_class = codes == (k if model.n_scores > 1 else 1)
            bins, n_bins = distribution.bins(score), len(distribution.counts)
            scores.append(distribution)
            positive.append(np.bincount(bins[is_class], minlength=n_bins))
        return cls(
            n_rows,
            tuple(np.bincount(codes, minlength=len(model.classes)).tolist()),
            tuple(features),
            tuple(gaps.sum(axis=0).tolist()),
            tuple(g.name for g in model.groups if are_values(g.features, table)),
            tuple(scores),
            tuple(tuple(counts.tolist()) for counts in positive),
        )

    def check(self, model: PortableModel) -> None:
        """Raise InvalidModel unless the statistics fit a model."""
        n, names = self.n_rows, [group.name for group in model.groups]
        sizes = [
            (len(self.features), len(model.features)),
            (len(self.missing), len(model.features)),
            (len(self.classes), len(model.classes)),
            (len(self.scores), model.n_scores),
            (len(self.positive), model.n_scores),
        ]
        if any(a != b for a, b in sizes):
            raise InvalidModel(
                "statistics must be about the features, the classes and the scores of "
                "the model, one each."
            )
        counts = [*self.missing, *self.classes, self.changed or 0]
        if n < 1 or sum(self.classes) != n or min(counts) < 0 or max(counts) > n:
            raise InvalidModel(
                f"statistics must be about {shown(n)} rows, but count others: "
                f"{shown(counts)}."
            )
        if len({*self.variables} & {*names}) < len(self.variables):
            raise InvalidModel(
                "statistics.variables must be different groups of the model, got "
                f"{shown(list(self.variables))}."
            )
        for k, feature in enumerate(self.features):
            feature.check(f"statistics.features[{k}]", n, self.missing[k])
        for k, (score, rows) in enumerate(zip(self.scores, self.positive, strict=True)):
            score.check(f"statistics.scores[{k}]", n)
            of_class = self.classes[k if len(self.scores) > 1 else 1]
            is_part = len(rows) == len(score.counts) and all(
                0 <= a <= b for a, b in zip(rows, score.counts, strict=True)
            )
            if not is_part or sum(rows) != of_class:
                raise InvalidModel(
                    f"statistics.scores[{k}].positive must count the rows of a class "
                    f"in each bin, got {shown(list(rows))}."
                )

    def to_dict(self) -> dict[str, Any]:
        """The fields in model.json."""
        return {
            "rows": self.n_rows,
            "classes": list(self.classes),
            "features": [
                {"missing": missing} | feature.to_dict()
                for feature, missing in zip(self.features, self.missing, strict=True)
            ],
            "variables": list(self.variables),
            "scores": [
                score.to_dict() | {"positive": list(rows)}
                for score, rows in zip(self.scores, self.positive, strict=True)
            ],
            "changed": self.changed,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Statistics:
        """From the content of model.json, checked against the schema."""
        changed = fields["changed"]
        try:
            return cls(
                int(fields["rows"]),
                tuple(map(int, fields["classes"])),
                tuple(map(Distribution.from_dict, fields["features"])),
                tuple(int(feature["missing"]) for feature in fields["features"]),
                tuple(fields["variables"]),
                tuple(map(Distribution.from_dict, fields["scores"])),
                tuple(tuple(map(int, score["positive"])) for score in fields["scores"]),
                None if changed is None else int(changed),
            )
        except OverflowError as error:
            raise InvalidModel("statistics has a number beyond 1e308.") from error
