"""Columns in standard units, from rational numbers; independent of frugalsvm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

# Columns with a smaller standard deviation count as constant.
SMALLEST = Fraction(10) ** -100
# How far units may be from these, in standard deviations, and as a fraction of a mean.
TOL, ROUNDING = Fraction(2, 10**9), Fraction(1, 2**50)
# Binary digits of a root.
BITS = 2**11


@dataclass(frozen=True, eq=False)
class StandardUnits:
    """Exact means and standard deviations of some columns; 1 for constant ones."""

    X: np.ndarray

    @cached_property
    def pairs(self) -> list[tuple[Fraction, Fraction]]:
        return [_moments([Fraction(x) for x in column]) for column in self.X.T.tolist()]

    @cached_property
    def rounded(self) -> tuple[np.ndarray, np.ndarray]:
        mean, scale = zip(*self.pairs, strict=True)
        return np.array([float(x) for x in mean]), np.array([float(x) for x in scale])

    @cached_property
    def standardised(self) -> np.ndarray:
        """The data in these units, each entry rounded once."""
        columns = [
            [float((Fraction(x) - mean) / scale) for x in column]
            for column, (mean, scale) in zip(self.X.T.tolist(), self.pairs, strict=True)
        ]
        return np.array(columns).T

    def objections(self, mean, scale):
        """What is wrong with other units."""
        for j, (m, s) in enumerate(self.pairs):
            room = TOL * s + ROUNDING * abs(m)
            if not np.isfinite([mean[j], scale[j]]).all():
                yield f"forged scaling: column {j} has {mean[j]!r} and {scale[j]!r}"
            elif abs(Fraction(mean[j]) - m) > room:
                yield f"forged scaling: {mean[j]!r} of column {j}, not {float(m)!r}"
            elif abs(Fraction(scale[j]) - s) > TOL * s:
                yield f"forged scaling: {scale[j]!r} of column {j}, not {float(s)!r}"

    def slack(self, C: np.ndarray, optimum: float) -> float:
        """How much of an optimum may be due to the tolerance of the units."""
        off = [float(TOL + ROUNDING * abs(m) / s) for m, s in self.pairs]
        reach = (1 + np.abs(self.standardised).max()) * math.sqrt(
            sum(x * x for x in off)
        )
        return float(C.sum() * reach * math.sqrt(2 * optimum))


def _moments(values: list[Fraction]) -> tuple[Fraction, Fraction]:
    mean = sum(values, Fraction(0)) / len(values)
    variance = sum((x - mean) ** 2 for x in values) / len(values)
    scale = Fraction(math.isqrt(int(variance * 4**BITS)), 2**BITS)
    return (values[0], Fraction(1)) if scale < SMALLEST else (mean, scale)
