"""All bounds, compared with exact rationals: valid, and nearly tight."""

from fractions import Fraction

import numpy as np
import pytest

from frugalsvm.checker import arithmetic
from frugalsvm.checker.arithmetic import (
    TINY,
    U,
    _accurate_product,
    _add,
    _multiply,
    _split,
    _take_away,
    length_bound,
    objective_bound,
    repair,
    square_bounds,
    sum_of,
)
from frugalsvm.kernels.bounds import repair_dual
from tests.checker.trees import exact

EXACT_U, EXACT_TINY = Fraction(U), Fraction(TINY)


def dot(a, b):
    return sum(x * y for x, y in zip(exact(a), exact(b), strict=True))


def awkward(rng, shape):
    """Numbers with inexact sums and products, of similar or very different sizes."""
    values = rng.normal(size=shape)
    kind = rng.integers(4)
    if kind == 1:
        values *= 10.0 ** rng.uniform(-20, 20, shape)
    elif kind == 2:
        values = np.where(rng.random(shape) < 0.5, 1.0 - 2.0**-53, 1.0 + 2.0**-52)
    elif kind == 3:
        values = rng.integers(-3, 4, shape) * (1.0 + 2.0**-30)
    return values


# --- error-free transformations ------------------------------------------------------


def test_sums_and_products_are_exact():
    rng = np.random.default_rng(0)
    for _ in range(30):
        a, b = awkward(rng, 20), awkward(rng, 20)
        for combine, (value, error) in (
            (lambda x, y: x + y, _add(a, b)),
            (lambda x, y: x * y, _multiply(a, b)),
        ):
            for x, y, v, e in zip(*map(exact, (a, b, value, error)), strict=True):
                assert v + e == combine(x, y)
                assert abs(e) <= EXACT_U * abs(v)


def test_halves_have_half_the_bits():
    rng = np.random.default_rng(0)
    a = np.concatenate([awkward(rng, 50) for _ in range(20)])
    high, low = _split(a)
    for whole, *halves in zip(*map(exact, (a, high, low)), strict=True):
        assert sum(halves) == whole
        for half in halves:
            bits = half.numerator
            while bits and bits % 2 == 0:
                bits //= 2
            assert abs(bits) < 2**26


@pytest.mark.parametrize("block", [1, 7, 2**18])
def test_accurate_products_are_rounded_once(block, monkeypatch):
    monkeypatch.setattr(arithmetic, "_BLOCK", block)
    rng = np.random.default_rng(0)
    for _ in range(40):
        n, m = int(rng.integers(0, 6)), int(rng.integers(1, 12))
        A, alpha = awkward(rng, (n, m)), np.abs(awkward(rng, m))
        if m > 1:
            # The first entry cancels what the others sum up to.
            A[:, 0] = -(A[:, 1:] @ alpha[1:]) / alpha[0] if alpha[0] else 0.0
        c = _accurate_product(A, alpha)
        assert c.shape == (n,)
        for row, value in zip(A, exact(c), strict=True):
            truth = dot(row, alpha)
            size = dot(np.abs(row), alpha)
            assert abs(value - truth) <= EXACT_U * abs(truth) * 2 + (
                8 * (m + 4) ** 2 * EXACT_U**2 * size
            )


def test_accurate_products_take_blocks_that_are_neither_large_nor_single_rows(
    monkeypatch,
):
    sizes = []

    def recorded(a, b):
        sizes.append(a.size)
        return _multiply(a, b)

    monkeypatch.setattr(arithmetic, "_multiply", recorded)
    _accurate_product(np.ones((2**11, 2**9)), np.ones(2**9))
    # A few megabytes each: more would not be faster.
    assert 2**16 <= min(sizes) <= max(sizes) <= 2**19
    sizes.clear()
    monkeypatch.setattr(arithmetic, "_BLOCK", 20)
    _accurate_product(np.ones((7, 10)), np.ones(10))
    _accurate_product(np.ones((2, 30)), np.ones(30))
    assert sizes == [20, 20, 20, 10, 30, 30]


def test_sums_are_rounded_once():
    assert sum_of([1e16, 1.0, -1e16]) == 1.0
    assert sum_of([]) == 0.0
    assert sum_of(np.full(2, 1e308)) == np.inf


# --- dual points ---------------------------------------------------------------------


def random_point(rng):
    m = int(rng.integers(2, 40))
    signs = np.where(rng.random(m) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    C = 10.0 ** rng.uniform(-4, 6, m)
    alpha = rng.uniform(0, 1, m) * C
    kind = rng.integers(5)
    if kind == 1:
        alpha = np.where(rng.random(m) < 0.5, C, 0.0)
    elif kind == 2:
        alpha *= 10.0 ** rng.uniform(-16, 2, m)
    elif kind == 3:
        C = np.full(m, 1.0 - 2.0**-53)
        alpha = C.copy()
    elif kind == 4:
        # As fine as the grid gets.
        alpha *= 1e-290
    return alpha, signs, C


@pytest.mark.parametrize("balance", [True, False])
def test_repaired_points_are_feasible_on_a_grid_and_near(balance):
    for seed in range(300):
        alpha, signs, C = random_point(np.random.default_rng(seed))
        m = alpha.size
        repaired = repair(alpha, signs, C, balance)
        cut = np.minimum(alpha, C)
        assert np.all(repaired >= 0)
        assert np.all(repaired <= cut)
        total = sum(exact(repaired))
        # The solver and the checker compute the same point.
        np.testing.assert_array_equal(repaired, repair_dual(alpha, signs, C, balance))
        # Exact in any order: no sum needs more bits than a double has.
        for order in (repaired, repaired[::-1], np.sort(repaired)):
            assert Fraction(float(np.cumsum(order)[-1])) == total
        loss = sum(exact(cut)) - total
        rounding = m * max(4 * m * cut.max() * 2.0**-52, 2.0**-1000)
        if balance:
            assert dot(signs, repaired) == 0
            unbalanced = abs(dot(signs, cut))
            assert loss <= unbalanced + 2 * Fraction(rounding)
        else:
            assert loss <= Fraction(rounding)


@pytest.mark.parametrize(("m", "bits"), [(1, 51), (3, 50), (4, 49), (15, 48)])
def test_the_grid_leaves_room_for_the_sum(m, bits):
    full = np.full(m, 1.0 - 2.0**-53)
    repaired = repair(full, np.ones(m), np.ones(m), False)
    np.testing.assert_array_equal(repaired, 1.0 - 2.0**-bits)


def test_the_grid_is_finite():
    alpha = np.array([2.0**-999, 3 * 2.0**-1001])
    signs, C = np.array([1.0, -1.0]), np.ones(2)
    np.testing.assert_array_equal(
        repair(alpha, signs, C, False), [2.0**-999, 2.0**-1000]
    )
    np.testing.assert_array_equal(repair(alpha, signs, C, True), np.full(2, 2.0**-1000))


def test_empty_and_zero_points():
    for m in (0, 3):
        repaired = repair(np.zeros(m), np.ones(m), np.ones(m), True)
        np.testing.assert_array_equal(repaired, np.zeros(m))


def test_the_heavier_class_is_lowered_in_proportion():
    for sign in (1.0, -1.0):
        signs = sign * np.array([1.0, 1.0, -1.0])
        for size in (1.0, 1 / 3):
            alpha = np.array([3.0, 1.0, 2.0]) * size
            repaired = repair(alpha, signs, np.full(3, 9.0), True)
            expected = np.array([1.5, 0.5, 2.0]) * size
            np.testing.assert_allclose(repaired, expected, rtol=1e-13)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_single_excess_step_is_removed(sign):
    alpha = np.array([0.5, 0.5 + 2.0**-50])
    repaired = repair(alpha, sign * np.array([1.0, -1.0]), np.ones(2), True)
    np.testing.assert_array_equal(repaired, [0.5, 0.5])


@pytest.mark.parametrize(
    ("steps", "excess", "left"),
    [
        ([4, 2], 0, [4, 2]),
        ([4, 2], 3, [2, 1]),
        ([3, 3, 3], 4, [1, 2, 2]),
        ([1, 1, 1, 1], 3, [0, 0, 0, 1]),
        ([0, 5], 5, [0, 0]),
        ([7, 0, 9], 16, [0, 0, 0]),
        ([2, 1, 2], 4, [0, 0, 1]),
        # The product with the share is rounded up to one more than the excess.
        ([2**51, 2**51 - 1], 2**52 - 2, [0, 1]),
    ],
)
def test_the_excess_is_subtracted(steps, excess, left):
    np.testing.assert_array_equal(_take_away(np.array(steps), excess), left)


def test_exactly_the_excess_is_taken_away():
    rng = np.random.default_rng(0)
    for _ in range(300):
        size = int(rng.integers(1, 9))
        steps = rng.integers(0, 2 ** int(rng.integers(1, 50)), size)
        steps[0] += 1
        total = int(steps.sum())
        excess = int(rng.choice([1, total, total - 1, total // 2, total // 3]))
        left = _take_away(steps, excess)
        assert np.all(left >= 0)
        assert np.all(left <= steps)
        assert int(left.sum()) == total - excess
        # In proportion, except for one step each and the remainder.
        fair = steps * (1 - excess / total)
        assert np.all(np.abs(left - fair) <= size + 2 + 1e-15 * total)


# --- lengths and squares -------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-20, 1.0, 1e20, 1e200])
def test_length_bounds_are_valid_and_tight(scale):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(1, 12))
        rows = rng.normal(size=(3, m)) * scale
        rows[1] = scale * (1.0 + 2.0**-52 * rng.integers(0, 9, m))
        lengths = length_bound(rows)
        assert lengths.shape == (3,)
        for row, length in zip(rows, exact(lengths), strict=True):
            truth = sum(v * v for v in exact(row))
            assert length**2 >= truth
            most = 1 + (2 * m + 20) * EXACT_U
            assert max(0, length - 2 * EXACT_TINY) ** 2 <= truth * most**2
            assert length_bound(row) == float(length)


def test_lengths_of_empty_vectors_are_zero():
    np.testing.assert_array_equal(length_bound(np.zeros((2, 3))), [0.0, 0.0])
    np.testing.assert_array_equal(length_bound(np.empty((2, 0))), [0.0, 0.0])
    assert length_bound(np.empty(0)) == 0.0


def near_parallel(rng, m):
    """Products without any cancellation, where only the slack is left."""
    A = np.ones((3, m)) * (1.0 + 2.0**-52 * rng.integers(0, 3, (3, m)))
    A[1] *= -1.0
    return A, np.full(m, 1.0 / 3.0)


@pytest.mark.parametrize("accurate", [True, False])
@pytest.mark.parametrize("scale", [1e-160, 1e-49, 1.0, 1e49])
def test_square_bounds_are_valid_and_tight(accurate, scale):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(1, 9))
        A, alpha = rng.normal(size=(3, m)), rng.uniform(0, 1, m)
        if seed % 3 == 0:
            A, alpha = near_parallel(rng, m)
        elif seed % 3 == 1 and m > 1:
            A[:, 0] = -(A[:, 1:] @ alpha[1:]) / alpha[0]
        A *= scale
        norms = length_bound(A)
        squares = square_bounds(A, norms, alpha, accurate)
        length = Fraction(float(length_bound(alpha)))
        for row, norm, square in zip(A, exact(norms), exact(squares), strict=True):
            # The entries may have been rounded: the worst case.
            c = dot(row, alpha)
            off = EXACT_U * dot(np.abs(row), alpha)
            assert square >= (abs(c) + off) ** 2
            doubt = (4 if accurate else m + 6) * EXACT_U * norm * length
            most = abs(c) * (1 + 14 * EXACT_U) + doubt + 2 * EXACT_TINY
            assert square <= most**2 + 3 * EXACT_TINY


@pytest.mark.parametrize("accurate", [True, False])
@pytest.mark.parametrize("scale", [1e-160, 1e-49, 1.0, 1e49])
def test_only_the_admitted_side_counts(accurate, scale):
    zeros = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(1, 9)), 6
        A, alpha = rng.normal(size=(n, m)), rng.uniform(0, 1, m)
        if seed % 3 == 0:
            A, alpha = near_parallel(rng, m)
            n = 3
        elif seed % 3 == 1 and m > 1:
            # Products that are zero except for rounding errors.
            A[:, 0] = -(A[:, 1:] @ alpha[1:]) / alpha[0]
        A *= scale
        sides = rng.choice([-1, 0, 1], n)
        norms = length_bound(A)
        squares = square_bounds(A, norms, alpha, accurate, sides)
        plain = square_bounds(A, norms, alpha, accurate)
        np.testing.assert_array_equal(squares[sides == 0], plain[sides == 0])
        length = Fraction(float(length_bound(alpha)))
        for row, norm, square, side in zip(
            A, exact(norms), exact(squares), sides.tolist(), strict=True
        ):
            if side == 0:
                continue
            # The entries may have been rounded: the worst case.
            reach = side * dot(row, alpha) + EXACT_U * dot(np.abs(row), alpha)
            assert square >= max(0, reach) ** 2
            doubt = (4 if accurate else m + 6) * EXACT_U * norm * length
            most = max(0, side * dot(row, alpha) * (1 + 14 * EXACT_U) + doubt)
            assert square <= (most + 2 * EXACT_TINY) ** 2 + 3 * EXACT_TINY
            zeros += square == 0
    assert zeros > 20


@pytest.mark.parametrize("side", [-1, 1])
def test_the_other_side_counts_as_far_as_rounding_may_reach(side):
    """A product on the wrong side by less than the doubt may be on the right one."""
    row, alpha = np.full((1, 10), 1 / 3), np.full(10, 1 / 7)
    doubt = 14 * U * float(length_bound(row)[0]) * float(length_bound(alpha))
    for factor, is_zero in ((0.5, False), (0.999, False), (1.01, True), (1e9, True)):
        worst = Unlucky(-side * factor * doubt)
        (square,) = square_bounds(
            worst, length_bound(row), alpha, False, np.array([side])
        )
        assert (square == 0) == is_zero
        assert square >= max(0.0, (1 - factor) * doubt) ** 2


def test_what_is_not_a_number_is_not_zero():
    for sides in (None, np.array([1]), np.array([-1]), np.array([0])):
        (square,) = square_bounds(Unlucky(np.nan), np.ones(1), np.ones(4), False, sides)
        assert np.isnan(square)


class Unlucky:
    """A matrix with a product of its own."""

    def __init__(self, product):
        self.product = np.array([float(product)])

    def __matmul__(self, alpha):
        return self.product


@pytest.mark.parametrize("m", [1, 7, 15, 100, 10_000])
def test_bounds_hold_for_any_order_of_summation(m):
    """Entries that were rounded, and sums with a rounding error at every term."""
    row, alpha = np.full((1, m), 1 / 3), np.full(m, 1 / 7)
    size = dot(row[0], alpha)
    # Terms of one sign, or terms that seem to cancel.
    for c in (size, (m + 1) * EXACT_U * size):
        worst = Unlucky(c - (m + 1) * EXACT_U * size)
        (square,) = square_bounds(worst, length_bound(row), alpha, False)
        most = c + (2 * m + 9) * EXACT_U * size + 20 * EXACT_U * c
        assert c**2 <= Fraction(float(square)) <= most**2


@pytest.mark.parametrize("accurate", [True, False])
def test_squares_that_underflow_are_not_zero(accurate):
    A = np.full((1, 4), 1e-200)
    alpha = np.full(4, 1e-120)
    (square,) = square_bounds(A, length_bound(A), alpha, accurate)
    assert TINY <= square <= 2 * TINY
    # Here the product does not underflow, but its square would.
    A = np.full((1, 4), 1e-100)
    (square,) = square_bounds(A, length_bound(A), alpha, accurate)
    assert TINY <= square <= 2 * TINY


# --- objectives ----------------------------------------------------------------------


def exact_objective(rows, signs, C, w, b):
    value = sum(v * v for v in exact(w)) / 2
    for i in range(len(C)):
        margin = Fraction(float(b)) * int(signs[i]) + dot(rows[:, i], w)
        value += Fraction(float(C[i])) * max(Fraction(0), 1 - margin)
    return value


def test_objectives_are_accurate_to_a_few_roundings():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        m, k = int(rng.integers(1, 7)), int(rng.integers(0, 5))
        rows, w = awkward(rng, (k, m)), rng.normal(size=k) * 10.0 ** rng.uniform(-8, 8)
        signs = np.where(rng.random(m) < 0.5, 1.0, -1.0)
        b = float(rng.normal() * 10.0 ** rng.uniform(-8, 8))
        C = 10.0 ** rng.uniform(-3, 8, m)
        if seed % 3 == 0 and k:
            # Margins of one except for a rounding error.
            rows[0] = (1 - b * signs - w[1:] @ rows[1:]) / w[0]
        truth = exact_objective(rows, signs, C, w, b)
        value = Fraction(objective_bound(rows, signs, C, w, b))
        size = sum(abs(v) for v in exact(w)) * Fraction(
            float(np.abs(rows).max(initial=0.0))
        )
        doubt = 5 * (k + 5) ** 2 * EXACT_U**2 * (1 + abs(Fraction(b)) + size)
        most = truth * (1 + 15 * EXACT_U) + sum(exact(C)) * doubt + EXACT_TINY * 20
        assert truth <= value <= most


def test_bounds_hold_despite_complete_cancellation():
    """Each row cancels the rounding error of those before it."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        k, size = 4 + seed % 2, 10.0 ** rng.uniform(8, 20)
        w = rng.choice([-1.0, 1.0], k) * rng.uniform(0.5, 2, k)
        rows = rng.normal(size=(k, 1)) * size
        rest = 1 - dot(rows[:2, 0], w[:2])
        for j in range(2, k):
            rows[j] = float(rest / Fraction(float(w[j])))
            rest -= Fraction(float(w[j])) * Fraction(float(rows[j, 0]))
        order = rng.permutation(k)
        rows, w = rows[order], w[order]
        # A weight so large that a tiny loss matters.
        one, C = np.ones(1), np.full(1, 1e30)
        truth = exact_objective(rows, one, C, w, 0.0)
        value = Fraction(objective_bound(rows, one, C, w, 0.0))
        doubt = 5 * (k + 5) ** 2 * EXACT_U**2 * Fraction(9 * k * size)
        assert truth <= value <= truth * (1 + 15 * EXACT_U) + Fraction(1e30) * doubt


def test_rounding_errors_of_many_features_add_up():
    """Many pairs of products that cancel except for the same rounding error."""
    k, one, C = 400, np.ones(1), np.full(1, 1e40)
    tight = 0
    for seed in range(30):
        x, w = np.random.default_rng(seed).uniform(1, 2, 2)
        rows, weights = np.tile([[x], [-x * w]], (k, 1)), np.tile([-w, -1.0], k)
        # With b = 1 the margin is k times the rounding error.
        rest = k * (Fraction(x) * Fraction(w) - Fraction(x * w))
        truth = Fraction(1e40) * max(0, rest) + sum(v * v for v in exact(weights)) / 2
        value = Fraction(objective_bound(rows, one, C, weights, 1.0))
        doubt = 5 * (2 * k + 5) ** 2 * EXACT_U**2 * (2 + 2 * k * Fraction(x * w))
        assert truth <= value <= truth * (1 + 15 * EXACT_U) + Fraction(1e40) * doubt
        tight += rest > 0
    assert tight > 5


def test_weights_of_zero_change_no_objective():
    """Groups have columns without weight, and only some callers leave them out."""
    rng = np.random.default_rng(0)
    for scale in (1.0, 1e-12, 1e12):
        rows, y = rng.normal(size=(5, 7)) / scale, np.sign(rng.normal(size=7))
        w = np.array([0.0, 0.3, 0.0, -1.2, 0.0]) * scale
        used = np.flatnonzero(w)
        whole = objective_bound(rows, y, np.ones(7), w, 0.1)
        assert whole == objective_bound(rows[used], y, np.ones(7), w[used], 0.1)


def test_objectives_that_overflow_are_not_finite():
    one = np.ones(1)
    for x, w in ((1e200, 1e200), (1.0, np.inf), (1.0, 1e160), (1.0, np.nan)):
        value = objective_bound(one[None] * x, one, one, one * w, 0.0)
        assert not np.isfinite(value)
    # No term overflows, but their sum does.
    huge = np.full(2, 1.5e308)
    assert objective_bound(np.empty((0, 2)), one[[0, 0]], huge, one[:0], 0.0) == np.inf
    assert objective_bound(np.empty((0, 1)), one, one * 0.25, one[:0], 0.0) < 0.2500001
    with pytest.raises(ValueError, match="zip"):
        objective_bound(one[None], one, one, one[:0], 0.0)
