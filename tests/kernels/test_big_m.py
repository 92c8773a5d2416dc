"""Kernels with a big-M against exact rational arithmetic."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from frugalsvm.kernels.big_m import box_bound, huber_values, weight_intervals
from frugalsvm.kernels.bounds import repair_dual, row_norm_bounds, square_bounds
from frugalsvm.kernels.data import NO_COLUMNS, NO_SIGNS
from tests.kernels.test_bounds import exact
from tests.reference import random_alpha


def instance(seed):
    """A dual point with its exact and its computed products."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    A = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-3, 3, (n, 1))
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    C = rng.uniform(0.1, 10, m)
    alpha = repair_dual(random_alpha(rng, C), y, C, True)
    c = A @ alpha
    squares = square_bounds(
        c, row_norm_bounds(A), alpha, NO_COLUMNS, NO_COLUMNS, NO_SIGNS
    )
    truth = [
        sum(a * b for a, b in zip(exact(row), exact(alpha), strict=True)) for row in A
    ]
    return rng, alpha, c, squares, truth


def huber(c, M):
    c = abs(c)
    return c * c / 2 if c <= M else M * c - M * M / 2


def gain(c, M, t):
    """Maximum of ``(2 M |c| - t) v - M^2 v^2`` over ``0 <= v <= 1``."""
    p = 2 * M * abs(c) - t
    if p <= 0:
        return Fraction(0)
    return p * p / (4 * M * M) if p <= 2 * M * M else p - M * M


def box_penalty(c, M, k):
    """Exact minimum over t >= 0 of ``k t + sum gain``, piece by piece."""

    def value(t):
        return k * t + sum(gain(cj, Mj, t) for cj, Mj in zip(c, M, strict=True))

    pairs = list(zip(c, M, strict=True))
    ends = {Fraction(0)}
    for cj, Mj in pairs:
        ends |= {2 * Mj * abs(cj), max(Fraction(0), 2 * Mj * (abs(cj) - Mj))}
    points = sorted(ends)
    for low, high in list(pairwise(points)):
        # On a piece the penalty is a parabola; its lowest point if it lies inside.
        middle = (low + high) / 2
        slope, curve = value(high) - value(low), value(low) + value(high)
        curve -= 2 * value(middle)
        if curve > 0:
            lowest = middle - slope * (high - low) / (4 * curve)
            if low < lowest < high:
                points.append(lowest)
    return min(value(t) for t in points)


@pytest.mark.parametrize("seed", range(150))
def test_huber_values_are_upper_bounds(seed):
    rng, _, c, squares, truth = instance(seed)
    M = np.abs(c) * rng.choice([0.1, 0.9, 1.0, 1.1, 5.0], c.size) + 1e-9
    values = huber_values(squares, M)
    for got, cj, Mj in zip(values, truth, exact(M), strict=True):
        assert Fraction(got) >= 2 * huber(cj, Mj)
        assert got <= float(2 * huber(cj, Mj)) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("seed", range(150))
def test_box_bound_is_a_lower_bound(seed):
    rng, alpha, c, squares, truth = instance(seed)
    n = c.size
    M = np.abs(c) * 10.0 ** rng.uniform(-1, 1, n) + 1e-6
    k = int(rng.integers(1, n + 1))
    forced = np.arange(n)[: int(rng.integers(0, n))]
    free = np.arange(n)[forced.size :]
    bound = box_bound(alpha, squares, M, forced, free, k, np.ones(n), np.inf)
    limits = exact(M)
    penalty = sum((2 * huber(truth[j], limits[j]) for j in forced), Fraction(0))
    penalty += box_penalty([truth[j] for j in free], [limits[j] for j in free], k)
    total = sum(exact(alpha))
    assert Fraction(bound) <= total - penalty / 2
    assert float(total - penalty / 2) - bound <= 1e-9 * float(total + penalty) + 1e-12


@pytest.mark.parametrize("seed", range(150))
def test_weight_intervals_contain_the_exact_ones(seed):
    """The ends satisfy ``(end - c_j)^2 >= 2 (UB - LB_j)`` as fractions."""
    rng, alpha, c, squares, truth = instance(seed)
    n = c.size
    k = int(rng.integers(1, n + 1))
    none, free = np.empty(0, dtype=np.int64), np.arange(n)
    total = sum(exact(alpha))
    upper_bound = float(total) * rng.uniform(0.5, 2) + 1e-3
    lower, upper = weight_intervals(
        alpha, c, squares, none, free, k, np.ones(n), np.inf, upper_bound
    )
    for j in range(n):
        others = sorted((truth[i] ** 2 for i in range(n) if i != j), reverse=True)
        bound = total - (truth[j] ** 2 + sum(others[: k - 1])) / 2
        room = 2 * (Fraction(upper_bound) - bound)
        if room < 0:
            continue
        for end, side in ((upper[j], 1), (lower[j], -1)):
            reach = side * (Fraction(end) - truth[j])
            assert reach >= 0
            # Zero is in the interval whatever the radius.
            assert reach**2 >= room
            if end != 0:
                assert float(reach**2) <= float(room) * (1 + 1e-6) + 1e-9
