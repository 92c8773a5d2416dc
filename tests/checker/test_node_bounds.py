"""Bounds of nodes and trees, beside an independent reference."""

from fractions import Fraction

import numpy as np
import pytest

from frugalsvm import verify
from frugalsvm.checker import Statement
from frugalsvm.checker.arithmetic import U
from frugalsvm.checker.points import Machines
from frugalsvm.checker.proof import ProofData, _Part
from tests.checker.trees import RandomTree, enumerated_bound, labels, priced_bound


@pytest.mark.parametrize("grouped", [False, True])
def test_a_tree_proves_the_smallest_bound_of_its_parts(grouped):
    kinds = set()
    for seed in range(400):
        tree = RandomTree(seed, grouped)
        checked = verify(tree.certificate(), tree.X, tree.y)
        np.testing.assert_allclose(checked.lower_bound, tree.bound, rtol=1e-11)
        assert checked.lower_bound <= tree.bound * (1 + 1e-15)
        assert checked.n_nodes == len(tree.nodes)
        assert checked.n_leaves == tree.n_leaves
        assert checked.n_fixings == sum(map(len, tree.fixings))
        assert checked.objective == pytest.approx(tree.m, rel=1e-14)
        assert checked.gap == pytest.approx(1 - checked.lower_bound / tree.m)
        kinds.add((checked.lower_bound > 0, tree.n_leaves > 2, np.isinf(tree.max_cost)))
    assert len(kinds) >= 6


def exact(values):
    return [Fraction(float(v)) for v in values]


def machine(rows):
    """The machine of two classes that alternate."""
    return Machines(rows, labels(rows.shape[1]) > 0)


def random_part(seed):
    """A node: statement, data, dual point, squares, forced and free features, price."""
    rng = np.random.default_rng(seed)
    m, n = 4, int(rng.integers(1, 7))
    statement = Statement(
        m, n, int(rng.integers(0, n + 1)), np.ones(m),
        rng.choice([0.1, 0.3, 0.7, 1.1], n), float(rng.choice([np.inf, 0.6, 1.4, 3.0])),
        np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), False,
    )  # fmt: skip
    data = ProofData(statement, machine(rng.normal(size=(n, m))), np.ones(m))
    roles = rng.choice(["free", "free", "free", "forced", "out"], n)
    squares = rng.uniform(0, 1, n) if seed % 3 else rng.choice([0.1, 0.3, 0.7], n)
    squares *= 10.0 ** rng.integers(-1, 2)
    alpha = rng.integers(0, 2**40, m) * 2.0**-40
    if seed % 7 == 0:
        # Only the rounding errors of the penalty are left.
        alpha[:] = 1.0
    price = float(rng.choice([0.0, 0.1, 1 / 3, 2.0]))
    forced = np.flatnonzero(roles == "forced").tolist()
    return data, alpha, squares, forced, roles == "free", price


def exact_node(data, forced):
    """The budgets left by the forced features, exactly."""
    statement = data.statement
    k = statement.max_features - len(forced)
    if np.isinf(statement.max_cost):
        return k, np.inf
    spent = sum(exact(statement.costs[forced]))
    allowed = Fraction(statement.max_cost) * (1 + Fraction(1e-9))
    return k, allowed - spent


def near_below(value, truth, size):
    if truth == np.inf:
        return value == np.inf
    return truth - 40 * Fraction(U) * size <= Fraction(value) <= truth


def test_remaining_budgets_are_rounded_up():
    for seed in range(300):
        data, _, _, forced, *_ = random_part(seed)
        _, budget = exact_node(data, forced)
        left = data.left_to_spend(forced)
        if budget == np.inf:
            assert left == np.inf
            continue
        spent = sum(exact(data.statement.costs[forced]))
        slack = 40 * Fraction(U) * (budget + 2 * spent)
        assert budget <= Fraction(left) <= budget + slack


def test_bounds_of_a_node_are_those_of_its_supports():
    finite = 0
    for seed in range(1500):
        data, alpha, squares, forced, free, price = random_part(seed)
        part = _Part(data, alpha, squares, forced, free, price)
        k, budget = exact_node(data, forced)
        costs, exact_squares = exact(data.statement.costs), exact(squares)
        total, candidates = sum(exact(alpha)), np.flatnonzero(free).tolist()
        node = (total, exact_squares, forced, candidates, k, costs, budget)
        value = part.bound()
        if k < 0 or budget < 0:
            assert value == np.inf
            continue
        assert Fraction(value) <= enumerated_bound(*node, lambda extra: True)
        able = [j for j in candidates if costs[j] <= budget]
        truth = priced_bound(
            total, exact_squares, forced, able, k, costs, budget, Fraction(price)
        )
        assert near_below(value, truth, size_of(total, exact_squares, budget, price))
        finite += value > 0
    assert finite > 300


def test_values_of_features_are_rounded_up():
    for seed in range(300):
        data, alpha, squares, forced, free, price = random_part(seed)
        if seed % 2:
            # Only the rounding error of the product is left.
            squares = price * data.statement.costs
        part = _Part(data, alpha, squares, forced, free, price)
        mu = Fraction(price) if np.isfinite(part.budget) else Fraction(0)
        worth = exact(part._worth(np.arange(squares.size)))
        costs = exact(data.statement.costs)
        for value, square, cost in zip(worth, exact(squares), costs, strict=True):
            truth = square - mu * cost
            assert truth <= value <= truth + 10 * Fraction(U) * (square + mu * cost)
        if part.is_empty:
            continue
        charge = Fraction(part.budget) * mu if mu else 0
        able = np.flatnonzero(part.affordable)
        chosen = sorted((max(worth[j], Fraction(0)) for j in able), reverse=True)
        truth = charge + sum(exact(squares[forced])) + sum(chosen[: part.k])
        assert truth <= Fraction(part.penalty) <= truth * (1 + 12 * Fraction(U))


def size_of(total, squares, budget, price):
    return total + sum(squares) + (0 if budget == np.inf else budget * Fraction(price))


def test_bounds_of_supports_excluded_by_fixings():
    rng = np.random.default_rng(0)
    seen = set()
    for seed in range(2000):
        data, alpha, squares, forced, free, price = random_part(seed)
        part = _Part(data, alpha, squares, forced, free, price)
        k, budget = exact_node(data, forced)
        candidates = np.flatnonzero(free).tolist()
        if not candidates:
            continue
        chosen = rng.choice(candidates, min(len(candidates), seed % 3 + 1), False)
        fixings = np.where(rng.random(chosen.size) < 0.5, chosen, ~chosen)
        value = part.bound_without(fixings)
        if k < 0 or budget < 0:
            assert value == np.inf
            continue
        costs, exact_squares = exact(data.statement.costs), exact(squares)
        total = sum(exact(alpha))

        def violates(extra, fixings=fixings):
            return any(j not in extra if j >= 0 else ~j in extra for j in fixings)

        truth = enumerated_bound(
            total, exact_squares, forced, candidates, k, costs, budget, violates
        )
        assert value == np.inf if truth == np.inf else Fraction(value) <= truth
        mu = Fraction(price) if budget != np.inf else Fraction(0)
        bounds = []
        for j in fixings.tolist():
            able = [i for i in candidates if costs[i] <= budget and i not in (j, ~j)]
            if j >= 0:
                own, required, places = exact_squares, forced, k
            elif costs[~j] <= budget and k > 0:
                own = list(exact_squares)
                own[~j] -= mu * costs[~j]
                required, places = [*forced, ~j], k - 1
            else:
                continue
            bounds.append(
                priced_bound(total, own, required, able, places, costs, budget, mu)
            )
        truth = min(bounds, default=np.inf)
        assert near_below(value, truth, size_of(total, exact_squares, budget, price))
        seen.add((value > 0, value == np.inf, price > 0, bool((fixings < 0).all())))
    assert len(seen) >= 8


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_bounds_of_a_node_do_not_depend_on_the_unit(unit):
    for seed in range(200):
        data, alpha, squares, forced, free, price = random_part(seed)
        plain = _Part(data, alpha, squares, forced, free, price)
        scaled = _Part(data, alpha * unit, squares * unit, forced, free, price * unit)
        assert scaled.bound() == plain.bound() * unit
        for fixings in (np.flatnonzero(free), ~np.flatnonzero(free)):
            value = plain.bound_without(fixings) * unit
            assert scaled.bound_without(fixings) == value


def test_the_whole_budget_may_be_spent_on_one_feature():
    """A feature at the price of the whole budget: excluding it needs a bound."""
    statement = Statement(
        4, 2, 1, np.ones(4), np.ones(2), 1.4, np.empty(0, dtype=np.int64),
        np.empty(0, dtype=np.int64), False,
    )  # fmt: skip
    data = ProofData(statement, machine(np.ones((2, 4))), np.ones(4))
    for factor, possible in ((1.0, True), (1 + 2 * U, False)):
        statement.costs[0] = data.left_to_spend([]) * factor
        part = _Part(
            data, np.full(4, 0.5), np.array([1.0, 0.5]), [], np.ones(2, dtype=bool), 0.0
        )
        assert part.bound() == pytest.approx(1.5 if possible else 1.75)
        without = part.bound_without(np.array([~0]))
        assert without == (pytest.approx(1.5) if possible else np.inf)
        # Fixed in, it excludes the supports with the other one.
        assert part.bound_without(np.array([0])) == pytest.approx(1.75)


def test_data_are_centred_where_the_intercept_is_free():
    y = labels(6)
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=6) + 1e6, np.full(6, 3.0), np.zeros(6), 2 * y, y * 0 + y]
    )
    none = np.empty(0, dtype=np.int64)
    for intercept in (True, False):
        statement = Statement(
            6, 5, 2, np.ones(6), np.ones(5), np.inf, none, np.array([4]), intercept
        )
        data = ProofData(statement, machine(X.T), np.ones(6))
        wanted = X - X.mean(axis=0) if intercept else X
        np.testing.assert_allclose(data.A, wanted.T, rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            data.norms, np.linalg.norm(wanted, axis=0), rtol=1e-9
        )
        free = [True, not intercept, False, True, False]
        np.testing.assert_array_equal(data.free, free)
        if intercept:
            # A constant is exactly zero.
            assert not data.A[1].any()
