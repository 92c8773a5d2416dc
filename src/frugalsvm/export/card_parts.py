"""The ranges and values of a scorecard, from a model and its statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from .origins import Origin, read_origins
from .parts import Group
from .points import Ranges, Values
from .statistics import LEAST, Distribution, Statistics

if TYPE_CHECKING:
    from .model import PortableModel

# Sums of squares that differ by less are equal.
TOL = 1e-9


@dataclass(frozen=True)
class CardPart:
    """Ranges or values, with what they add to the score and the rows that they have."""

    levels: np.ndarray
    counts: np.ndarray
    made: Callable[[tuple[int, ...]], Ranges | Values]


def parts_of(model: PortableModel, statistics: Statistics, bins: int) -> list[CardPart]:
    """A part for each feature, or for a variable of several 0/1 features."""
    variables = [
        one
        for one in model.groups
        if one.name in statistics.variables
        and len(one.features) > 1
        # Weights inside a group that have signs are not moved.
        and not any(name in model.signs for name in one.features)
    ]
    grouped = {name for one in variables for name in one.features}
    origins = read_origins(model)
    return [
        _range_part(j, origins[j], model, statistics, bins)
        for j, name in enumerate(model.names)
        if name not in grouped
    ] + [_values_part(one, model, statistics) for one in variables]


def _range_part(
    j: int, origin: Origin, model: PortableModel, statistics: Statistics, bins: int
) -> CardPart:
    """The ranges of a feature: bins that are as much alike as can be."""
    feature, known = model.features[j], statistics.features[j]
    edges, centres = list(known.edges), np.array(known.centres)
    counts = np.array(known.counts, dtype=np.float64)
    if origin.is_zero_or_one:
        # Both values are possible, however rare.
        ones = _n_ones(known)
        edges, centres = [0.5], np.array([0.0, 1.0])
        counts = np.array([statistics.n_rows - ones, ones], dtype=np.float64)
    elif origin.is_number and origin.fill is not None:
        # Numbers that are imputed are not in the counts.
        k, n = int(known.bins(np.array(origin.fill))), statistics.missing[j]
        centres[k] = (counts[k] * centres[k] + n * origin.fill) / (counts[k] + n)
        counts[k] += n
    starts = _starts(centres, counts, bins)
    sums = np.add.reduceat(counts, starts)
    # Where no row is, the mean is that of the value itself.
    means = np.add.reduceat(centres * np.maximum(counts, TOL), starts)
    means /= np.add.reduceat(np.maximum(counts, TOL), starts)
    limits = [edges[k - 1] for k in starts[1:]]
    assert isinstance(feature.weight, float)
    levels = (means - feature.mean) / feature.scale * feature.weight

    def made(points: tuple[int, ...]) -> Ranges:
        # Neighbours with the same points are one range.
        ends = [k for k, (a, b) in enumerate(pairwise(points)) if a != b]
        return Ranges(
            feature.name,
            feature.unit,
            tuple(limits[k] for k in ends),
            (points[0], *(points[k + 1] for k in ends)),
            origin.is_zero_or_one,
        )

    return CardPart(levels, sums, made)


def _values_part(
    group: Group, model: PortableModel, statistics: Statistics
) -> CardPart:
    """The values of a variable, and any other value."""
    own = [model.names.index(name) for name in group.features]
    per_unit = model.coef[0, own] / model.column("scale")[own]
    others = -float(per_unit @ model.column("mean")[own])
    counts = [_n_ones(statistics.features[j]) for j in own]
    n_others = statistics.n_rows - sum(counts)
    # Fewer rows may be those of rare values, which are not counted.
    counts.append(n_others if n_others >= LEAST or not any(counts) else 0)
    return CardPart(
        np.array([*(others + per_unit), others]),
        np.array(counts, dtype=np.float64),
        lambda points: Values(group.name, group.features, points),
    )


def _n_ones(known: Distribution) -> int:
    """Rows in which a 0/1 feature is 1."""
    pairs = zip(known.centres, known.counts, strict=True)
    return sum(count for centre, count in pairs if centre > 0.5)


def _starts(centres: np.ndarray, counts: np.ndarray, n_ranges: int) -> list[int]:
    """The first bin of each range, so that the squared distances inside are least."""
    n = centres.size
    if n <= n_ranges:
        return list(range(n))
    x = centres - np.average(centres, weights=counts)
    x = x / np.abs(x).max()
    sums = [np.append(0.0, np.cumsum(counts * x**power)) for power in range(3)]
    ends = _ends(n, n_ranges)
    n_rows, total, squares = (one[ends[:, 1:]] - one[ends[:, :-1]] for one in sums)
    inside = (squares - total**2 / n_rows).sum(axis=1)
    best = np.argmax(inside <= inside.min() + TOL * sums[2][-1])
    return ends[best, :-1].tolist()


@cache
def _ends(n: int, n_ranges: int) -> np.ndarray:
    """All ways to join bins to ranges, in rows: where they begin, and the end."""
    return np.array([(0, *one, n) for one in combinations(range(1, n), n_ranges - 1)])
