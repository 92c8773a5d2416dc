"""The reference for several SVMs that share their features: sums of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from .reference import Bracket, Reference, Stated


def n_machines_of(stated: Stated) -> int:
    """Number of SVMs that a problem is the sum of."""
    return stated.y.size // len(stated.y)


def reference_of(stated: Stated) -> Reference:
    """The reference of a problem with one column of labels or several."""
    return Reference(stated) if stated.y.ndim == 1 else SharedReference(stated)


@dataclass
class SharedBracket:
    """What is known about one support in all machines."""

    support: tuple[int, ...]
    parts: list[Bracket]

    @property
    def lower(self) -> Fraction:
        return sum((part.lower for part in self.parts), Fraction(0))

    @property
    def upper(self) -> Fraction | float:
        return sum((part.upper for part in self.parts), Fraction(0))

    @property
    def alpha(self) -> list[float]:
        return [value for part in self.parts for value in part.alpha]


class SharedReference(Reference):
    """Given the features, machines are independent, and each has a reference."""

    def __init__(self, stated: Stated):
        self.stated = stated.kept()
        each = (replace(stated, y=y) for y in stated.y.T)
        self.machines = [Reference(one) for one in each]
        self._brackets = {}

    def _propose(self, support):
        return SharedBracket(support, [one._propose(support) for one in self.machines])

    def _sharpen(self, bracket, best):
        for one, part in zip(self.machines, bracket.parts, strict=True):
            one._sharpen(part, part.upper)

    def objective(self, coef, intercept) -> Fraction:
        """The objective of doubles, exactly; a row of weights for each machine."""
        each = zip(self.machines, coef, intercept, strict=True)
        return sum((one.objective(w, b) for one, w, b in each), Fraction(0))
