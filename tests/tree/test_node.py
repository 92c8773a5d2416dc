"""Nodes know their decisions and their memory."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.engine.protocol import WorkingSet
from frugalsvm.tree.node import NODE_BYTES, BranchingData, DualPoint, Node, region_of
from tests.reference import random_data


@pytest.fixture
def problem():
    X, y = random_data(np.random.default_rng(0), 20, 8)
    costs = np.arange(1.0, 9.0)
    return Problem(
        X, y, max_features=4, feature_costs=costs, max_cost=12.0, include=[2]
    )


def test_regions_follow_branching_and_fixings(problem):
    root_region = problem.root_region()
    root = Node.root(root_region)
    np.testing.assert_array_equal(
        root.region(problem, root_region).free, [0, 1, 3, 4, 5, 6, 7]
    )
    child = root.child(1, True).child(4, False)
    child.fix(np.array([0]), np.array([6]), None)
    region = child.region(problem, root_region)
    np.testing.assert_array_equal(region.forced, [2, 1, 0])
    # Feature 7 costs 8; 12 - 3 - 2 - 1 = 6 of the budget are left.
    np.testing.assert_array_equal(region.free, [3, 5])
    assert region.k == 1
    assert 6.0 <= region.budget <= 6.0 + 1e-6


def test_stored_free_features_are_used(problem):
    root_region = problem.root_region()
    node = Node.root(root_region)
    active = WorkingSet(np.arange(2), np.zeros(20, dtype=np.int8))
    node.branching_data = BranchingData(
        np.array([3]), [0.5], ([1.0], [1.0]), active, np.array([3, 5])
    )
    np.testing.assert_array_equal(node.region(problem, root_region).free, [3, 5])


def test_the_remaining_budget_is_rounded_up(problem):
    root = problem.root_region()
    region = region_of(problem, root, np.array([2, 0, 1]), np.array([3]))
    assert region.budget >= root.budget - problem.costs[[0, 1]].sum()


@pytest.fixture
def point(problem):
    """Samples at C, at a quarter of it and at zero, as many on both sides."""
    alpha = np.zeros(problem.y.size)
    for sign in (-1.0, 1.0):
        own = np.flatnonzero(problem.y == sign)
        alpha[own[:3]] = 1.0
        alpha[own[3]] = 0.25
    return DualPoint.stored(
        problem.engine, problem, problem.root_region(), alpha
    )  # fmt: skip


def test_stored_points_prove_what_is_returned(problem, point):
    stored, proved = point
    assert len(stored.full) == len(stored.between) == 3
    assert len(stored.steps) == 2 * 4
    assert proved.alpha.sum() == pytest.approx(6.5, rel=1e-12)
    assert stored.price == proved.price
    again = problem.engine.bound(problem.root_region(), proved.alpha)
    assert again.bound == pytest.approx(proved.bound, rel=1e-12)


def test_children_inherit_bound_and_point(point):
    point, _ = point
    parent = Node(None, -1, True, np.array([5]), 3.0, point)
    inside, outside = parent.child(7, True), parent.child(7, False)
    assert inside.bound == outside.bound == 3.0
    assert inside.point is outside.point is point
    np.testing.assert_array_equal(inside.forced, [5, 7])
    np.testing.assert_array_equal(outside.forced, [5])


def test_memory_counts_all_arrays(point):
    node = Node(None, -1, True, np.arange(4), 0.0)
    assert node.n_bytes == NODE_BYTES + 32
    node.point, _ = point
    assert node.n_bytes == NODE_BYTES + 32 + 14
    # One point may prove both the bound and the fixings.
    node.fixing_point = node.point
    assert node.n_bytes == NODE_BYTES + 32 + 14
    active = WorkingSet(np.arange(3), np.zeros(10, dtype=np.int8))
    node.branching_data = BranchingData(
        np.arange(2), [0.5, 0.5], ([1.0], [1.0]), active, np.arange(5)
    )
    assert node.n_bytes == NODE_BYTES + 32 + 14 + 24 + 10 + 40
