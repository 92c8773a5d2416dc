"""Sums over the machines of several classes, and their rounding."""

from fractions import Fraction

import numpy as np
import pytest

from frugalsvm.checker.arithmetic import length_bound, repair
from frugalsvm.checker.points import Machines
from tests.checker.trees import exact


def random_machines(seed):
    rng = np.random.default_rng(seed)
    K, m, n = (int(rng.integers(*ends)) for ends in ((3, 9), (9, 14), (1, 5)))
    scale = 10.0 ** rng.uniform(-20, 20)
    rows = rng.normal(size=(n, m)) * scale + rng.choice([0.0, 1e5 * scale])
    machines = Machines(rows, rng.permutation(np.arange(m) % K), K)
    return rng, machines, scale


def test_machines_have_one_class_against_the_others():
    three = Machines(np.zeros((1, 4)), np.array([2, 0, 1, 2]), 3)
    np.testing.assert_array_equal(
        three.signs, [[-1, 1, -1, -1], [-1, -1, 1, -1], [1, -1, -1, 1]]
    )
    two = Machines(np.zeros((1, 3)), np.array([1, 0, 1]))
    np.testing.assert_array_equal(two.signs, [[1, -1, 1]])
    assert (three.count, two.count) == (3, 1)


@pytest.mark.parametrize("accurate", [True, False])
def test_squares_are_sums_over_machines_rounded_up(accurate):
    for seed in range(60):
        rng, machines, _ = random_machines(seed)
        A, signs = machines.rows, machines.signs
        alpha = rng.uniform(0, 1, signs.shape) * 10.0 ** rng.uniform(-5, 5)
        norms = length_bound(A)
        squares = machines.squares(A, norms, alpha, accurate, None)
        size = sum(exact(alpha.ravel() ** 2))
        for row, norm, value in zip(A, norms, exact(squares), strict=True):
            truth = sum(
                sum(x * v for x, v in zip(exact(row), exact(point), strict=True)) ** 2
                for point in signs * alpha
            )
            error = Fraction(1, 10**13) * size * Fraction(float(norm)) ** 2
            assert truth <= value <= truth + error


def test_sums_of_equal_squares_are_rounded_up():
    """Naive summation of many of them loses the most."""
    K = 300
    machines = Machines(np.ones((1, K)), np.arange(K), K)
    alpha = np.zeros((K, K))
    alpha[np.arange(K), np.arange(K)] = 1.0 + 2.0**-26
    alpha[0, 0] = 2.0**27
    (value,) = machines.squares(machines.rows, np.zeros(1), alpha, False, None)
    truth = sum(Fraction(v) ** 2 for v in alpha.diagonal().tolist())
    assert truth <= Fraction(float(value)) <= truth * (1 + Fraction(1, 10**12))


def test_objectives_are_sums_over_machines_rounded_up():
    for seed in range(60):
        rng, machines, scale = random_machines(seed)
        rows, K = machines.rows, machines.count
        n, m = rows.shape
        columns = rng.permutation(n)[: int(rng.integers(0, n + 1))]
        C = 10.0 ** rng.uniform(-3, 6, m)
        coef = rng.normal(size=K * columns.size) / scale
        b = rng.normal(size=K)
        truth = Fraction(0)
        for k, (s, w) in enumerate(zip(machines.signs, np.split(coef, K), strict=True)):
            truth += sum(v * v for v in exact(w)) / 2
            for i in range(m):
                each = zip(exact(w), exact(rows[columns, i]), strict=True)
                score = Fraction(float(b[k])) + sum(v * x for v, x in each)
                loss = max(Fraction(0), 1 - int(s[i]) * score)
                truth += Fraction(float(C[i])) * loss
        value = machines.objective(C, columns, coef, b)
        assert type(value) is float
        assert truth <= Fraction(value) <= truth * (1 + Fraction(1, 10**13))


@pytest.mark.parametrize("balance", [True, False])
def test_points_of_all_machines_are_on_one_grid(balance):
    for seed in range(60):
        rng, machines, _ = random_machines(seed)
        signs = machines.signs
        C = 10.0 ** rng.uniform(-4, 4, signs.shape[1])
        # Some machines have far larger numbers than others.
        sizes = 10.0 ** rng.uniform(-12, 0, len(signs))
        alpha = rng.uniform(0, 1.5, signs.shape) * C * sizes[:, None]
        repaired = repair(alpha, signs, C, balance)
        assert ((repaired >= 0) & (repaired <= np.minimum(alpha, C))).all()
        total = sum(exact(repaired.ravel()))
        for order in (repaired, repaired.T, -np.sort(-repaired, axis=None)):
            assert Fraction(float(np.cumsum(order)[-1])) == total
            assert Fraction(float(order.sum())) == total
        if balance:
            for row, own in zip(repaired, signs, strict=True):
                assert sum(exact(row * own)) == 0
        step = np.minimum(alpha, C).max() * 2.0**-51 * 2 * alpha.size
        lost = np.minimum(alpha, C) - repaired
        if not balance:
            assert (lost <= step).all()


def test_a_row_is_repaired_like_a_vector():
    rng = np.random.default_rng(0)
    for _ in range(20):
        alpha, C = rng.uniform(0, 2, 9), rng.uniform(0.5, 1.5, 9)
        signs = np.where(rng.random(9) < 0.4, 1.0, -1.0)
        for balance in (True, False):
            wanted = repair(alpha, signs, C, balance)
            (row,) = repair(alpha[None], signs[None], C, balance)
            np.testing.assert_array_equal(row, wanted)
