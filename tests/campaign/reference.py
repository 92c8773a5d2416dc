"""The optimum of a tiny FS-SVM between two rational numbers; independent of frugalsvm.

All data are doubles and so integers times powers of two. Every admitted support that is
not part of another gives a dual point, feasible exactly, and with it a primal point;
both are evaluated in integers. Floating point only proposes, see ``pivoting.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from .pivoting import RIDGE_BITS, exact_point, float_point

# Relative gap of the two numbers below which a problem counts.
TIGHT = Fraction(1, 10**9)
# Below this relative gap, less than an ulp of a double, nothing is improved further.
CLOSE = Fraction(1, 2**56)
# Sums of costs may exceed max_cost by a relative 1e-9: both readings are tried when
# a sum lies in this window.
WINDOW = Fraction(2, 10**9)
# Bits kept of numbers that are no multiples of a power of two.
BITS = 200
# Columns for the intercept, as powers of two above the data, to be tried in turn.
INTERCEPT_BITS = (60, 150, 400)


@dataclass(frozen=True)
class Stated:
    """FS-SVM given by its data and parameters; ``C`` has one weight per sample.

    ``groups`` has the feature of each column, and ``signs`` its sign; supports, costs
    and forced sets are of features. ``y`` may have a column for each of several SVMs
    that share their features: see ``machines.py``.
    """

    X: np.ndarray
    y: np.ndarray
    C: np.ndarray
    max_features: int
    costs: np.ndarray | None = None
    max_cost: float = math.inf
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    intercept: bool = True
    groups: np.ndarray | None = None
    signs: np.ndarray | None = None

    @property
    def n_features(self) -> int:
        n = self.X.shape[1]
        return n if self.groups is None else int(self.groups.max()) + 1

    def columns(self, support) -> list[int]:
        """The columns of some features, one feature after the other."""
        if self.groups is None:
            return [int(j) for j in support]
        return [j for g in support for j in np.flatnonzero(self.groups == g).tolist()]

    def signs_of(self, support) -> list[int]:
        """The signs of these columns."""
        columns = self.columns(support)
        return [0 if self.signs is None else int(self.signs[j]) for j in columns]

    def kept(self) -> Stated:
        """Without the samples of weight zero."""
        kept = self.C > 0
        changed = {"X": self.X[kept], "y": self.y[kept], "C": self.C[kept]}
        return Stated(**{**self.__dict__, **changed})

    def admits(self, support: tuple[int, ...], slack: Fraction = Fraction(0)) -> bool:
        """Whether the support is within both budgets."""
        if len(support) > self.max_features:
            return False
        if self.costs is None or math.isinf(self.max_cost):
            return True
        price = sum((Fraction(float(self.costs[j])) for j in support), Fraction(0))
        return price <= Fraction(self.max_cost) * (1 + slack)

    def supports(self, slack: Fraction = Fraction(0)) -> list[tuple[int, ...]]:
        """The admitted supports that are not part of another admitted one."""
        decided = self.include + self.exclude
        free = [j for j in range(self.n_features) if j not in decided]
        largest: list[tuple[int, ...]] = []
        for size in range(len(free), -1, -1):
            for extra in combinations(free, size):
                if not any(set(extra) <= set(other) for other in largest) and (
                    self.admits(self.include + extra, slack)
                ):
                    largest.append(extra)
        return [tuple(sorted(self.include + extra)) for extra in largest]


@dataclass(frozen=True)
class Optimum:
    """``lower <= optimum <= upper``; infinite if no support is admitted."""

    lower: Fraction | float
    upper: Fraction | float

    @property
    def is_tight(self) -> bool:
        return self.lower == self.upper or self.upper - self.lower < TIGHT * self.upper


@dataclass
class Bracket:
    """What is known about one support."""

    support: tuple[int, ...]
    lower: Fraction = Fraction(0)
    upper: Fraction | float = math.inf
    # 0, 1, 2 for samples at zero, between the bounds and at C.
    state: list[int] = field(default_factory=list)
    # The dual point, in doubles.
    alpha: list[float] = field(default_factory=list)

    def learn(self, lower: Fraction, upper: Fraction) -> None:
        self.lower = max(self.lower, lower)
        self.upper = min(self.upper, upper)


class Reference:
    """One problem in integers: ``X = x 2^-p``, ``C = c 2^-q``."""

    def __init__(self, stated: Stated):
        self.stated = stated = stated.kept()
        self.y = [int(label) for label in stated.y]
        c, self.q = to_integers(stated.C.tolist())
        # The ridge of the pivoting is an integer in units of 2^-2p, too.
        least = (RIDGE_BITS + max(0, math.frexp(stated.C.max())[1])) // 2 + 1
        x, self.p = to_integers(stated.X.ravel().tolist(), least)
        m, n = stated.X.shape
        self.c = c
        self._brackets: dict[tuple[int, ...], Bracket] = {}
        self.x = [x[i * n : (i + 1) * n] for i in range(m)]

    @cached_property
    def optimum(self) -> Optimum:
        """Bounds of the optimum, a sum of costs equal to the budget included."""
        return self._optimum(Fraction(0))

    @cached_property
    def generous(self) -> Optimum:
        """The same when sums of costs may exceed the budget by rounding errors."""
        if self.stated.supports() == self.stated.supports(WINDOW):
            return self.optimum
        return self._optimum(WINDOW)

    def _optimum(self, slack: Fraction) -> Optimum:
        brackets = [self._propose(s) for s in self.stated.supports(slack)]
        if not brackets:
            return Optimum(math.inf, math.inf)
        brackets.sort(key=lambda bracket: bracket.upper)
        for bracket in brackets:
            best = min(other.upper for other in brackets)
            if bracket.lower < best * (1 - CLOSE):
                self._sharpen(bracket, best)
        return Optimum(min(b.lower for b in brackets), min(b.upper for b in brackets))

    def _propose(self, support: tuple[int, ...]) -> Bracket:
        """Bounds from a dual point in floating point."""
        stated = self.stated
        alpha, state = float_point(
            stated.X[:, stated.columns(support)], stated.y, stated.C, stated.intercept,
            stated.signs_of(support),
        )  # fmt: skip
        a, shift = to_integers(alpha.tolist(), self.q)
        bracket = Bracket(support, state=state, alpha=alpha.tolist())
        bracket.learn(*self.evaluate(support, a, 1 << (shift - self.q)))
        return bracket

    def _sharpen(self, bracket: Bracket, best: Fraction | float) -> None:
        """The same in exact arithmetic; ``best`` bounds the optimum from above."""
        columns = self.stated.columns(bracket.support)
        rows = [[row[j] for j in columns] for row in self.x]
        for bits in INTERCEPT_BITS if self.stated.intercept else (0,):
            found = exact_point(
                rows, self.y, self.c, self.p, self.q, bracket.state,
                bits if self.stated.intercept else None,
                self.stated.signs_of(bracket.support),
            )  # fmt: skip
            if found is None:
                return
            a, D, bracket.state = found
            bracket.learn(*self.evaluate(bracket.support, a, D))
            # Quotients of integers are rounded correctly.
            bracket.alpha = [value / (D << self.q) for value in a]
            if bracket.lower >= min(best, bracket.upper) * (1 - CLOSE):
                return

    def evaluate(self, support, a: list[int], D: int) -> tuple[Fraction, Fraction]:
        """Dual and primal value of ``alpha = a / (D 2^q)``."""
        p, q = self.p, self.q
        unit = D * D << (2 * p + 2 * q + 1)
        # The balance is restored for the dual only: it would disturb the weights.
        feasible = balanced(a, self.y) if self.stated.intercept else a
        square = sum(v * v for v in self._weights(support, feasible))
        dual = ((sum(feasible) * D) << (2 * p + q + 1)) - square
        w = self._weights(support, a)
        columns = self.stated.columns(support)
        scores = [sum(row[j] * v for j, v in zip(columns, w, strict=True))
                  for row in self.x]  # fmt: skip
        loss = self._least_loss(scores, D << (2 * p + q))
        primal = sum(v * v for v in w) + 2 * D * loss
        return rounded_down(dual, unit), -rounded_down(-primal, unit)

    def _weights(self, support, a: list[int]) -> list[int]:
        """Numerators of ``w = sum_i y_i alpha_i x_i``, zero if the sign is wrong."""
        signed = [label * value for label, value in zip(self.y, a, strict=True)]
        w = [sum(row[j] * v for row, v in zip(self.x, signed, strict=True))
             for j in self.stated.columns(support)]  # fmt: skip
        signs = self.stated.signs_of(support)
        return [0 if v * sign < 0 else v for v, sign in zip(w, signs, strict=True)]

    def _least_loss(self, scores: list[int], one: int) -> int:
        """Sum of ``c_i`` times hinge loss, with the best intercept if there is one."""
        turns = [
            label * one - score for label, score in zip(self.y, scores, strict=True)
        ]
        b = 0
        if self.stated.intercept:
            # The slope in b grows by c_i where a sample leaves or enters the loss.
            slope = sum(-c for c, y in zip(self.c, self.y, strict=True) if y > 0)
            for turn, c in sorted(zip(turns, self.c, strict=True)):
                slope += c
                if slope >= 0:
                    b = turn
                    break
        return sum(
            c * max(0, label * (turn - b))
            for c, label, turn in zip(self.c, self.y, turns, strict=True)
        )

    def bracket(self, support: tuple[int, ...], doubtful: Fraction) -> Bracket:
        """What is known about a support, sharpened if a number is above its bound."""
        if support not in self._brackets:
            self._brackets[support] = self._propose(support)
        bracket = self._brackets[support]
        if bracket.lower < doubtful:
            self._sharpen(bracket, math.inf)
        return bracket

    def dual_point(self, support: tuple[int, ...]) -> list[float]:
        """The optimal dual point of a support, each entry rounded once."""
        bracket = self._propose(support)
        self._sharpen(bracket, math.inf)
        return bracket.alpha

    def objective(self, coef, intercept: float) -> Fraction:
        """The objective of doubles, exactly."""
        (*w, b), s = to_integers([*map(float, coef), float(intercept)])
        one = 1 << (self.p + s)
        loss = 0
        for row, label, c in zip(self.x, self.y, self.c, strict=True):
            score = sum(x * v for x, v in zip(row, w, strict=True) if v)
            loss += c * max(0, one - label * (score + (b << self.p)))
        square = Fraction(sum(v * v for v in w), 1 << (2 * s + 1))
        return square + Fraction(loss, 1 << (self.p + self.q + s))


def varying(stated: Stated) -> list[int]:
    """Features that can help; the others are never free to the checker."""
    X = stated.kept().X
    usual = X[0] if stated.intercept else np.zeros(X.shape[1])
    vary = (usual != X).any(axis=0)
    return [j for j in range(stated.n_features) if vary[stated.columns((j,))].any()]


def to_integers(values: list[float], least: int = 0) -> tuple[list[int], int]:
    """Integers and an exponent ``p >= least``: the values are integers times 2^-p."""
    ratios = [value.as_integer_ratio() for value in values]
    p = max([least, *(bottom.bit_length() - 1 for _, bottom in ratios)])
    return [top << (p - bottom.bit_length() + 1) for top, bottom in ratios], p


def balanced(a: list[int], y: list[int]) -> list[int]:
    """The heavier class lowered until both classes have the same sum."""
    excess = sum(label * value for label, value in zip(y, a, strict=True))
    heavy = 1 if excess > 0 else -1
    left, excess = list(a), abs(excess)
    for i in sorted(range(len(a)), key=lambda i: -a[i]):
        if y[i] == heavy:
            taken = min(left[i], excess)
            left[i] -= taken
            excess -= taken
    return left


def rounded_down(top: int, bottom: int) -> Fraction:
    """A number with few bits that is at most ``top / bottom``."""
    if bottom & (bottom - 1) == 0:
        return Fraction(top, bottom)
    shift = max(0, BITS + bottom.bit_length() - top.bit_length())
    return Fraction((top << shift) // bottom, 1 << shift)
