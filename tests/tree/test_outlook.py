"""The outlook of trees whose sizes are known."""

import functools
import heapq

import numpy as np
import pytest

from frugalsvm.tree.parameters import TreeParameters
from frugalsvm.tree.payoff import Outlook

# Trusts estimates from few branchings, too.
TRUSTING = TreeParameters(least_known=1, well_known=1)


def outlook_of(*gains, parameters=TRUSTING):
    outlook = Outlook(parameters)
    for gain in gains:
        outlook.learn(gain)
    return outlook


@pytest.mark.parametrize("depth", [1, 5, 20])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e5])
def test_a_full_binary_tree(depth, unit):
    outlook = outlook_of(unit, unit)
    # Its inner nodes and one: at this distance a tree of depth 0 is one open node.
    expected = 2.0**depth
    distances = np.array([depth * unit])
    assert outlook.branchings_left(distances) == pytest.approx(expected, rel=1e-6)
    several = np.full(7, depth * unit)
    assert outlook.branchings_left(several) == pytest.approx(7 * expected, rel=1e-6)


@functools.cache
def branchings(distance, inside, outside):
    """Inner nodes of a tree in which children gain whole numbers."""
    if distance <= 0:
        return 0
    return 1 + sum(
        branchings(distance - one, inside, outside) for one in (inside, outside)
    )


@pytest.mark.parametrize("gains", [(1, 2), (1, 5), (2, 7), (3, 3)])
@pytest.mark.parametrize("distance", [10, 25, 60])
def test_an_uneven_tree(gains, distance):
    found = outlook_of(*gains, *gains).branchings_left(np.array([float(distance)]))
    ratio = found / branchings(distance, *gains)
    assert 0.2 < ratio < 1.5


class RandomTree:
    """Best-first branching on nodes whose children gain at random."""

    def __init__(self, seed, gains=(0.3, 0.6), height=4.0):
        self._rng = np.random.default_rng(seed)
        self._scales = gains
        self.open = [-height]
        self.outlook = Outlook()
        self.n_branched = 0

    def grow(self, most=np.inf):
        while self.open and self.n_branched < most:
            bound = heapq.heappop(self.open)
            self.n_branched += 1
            for scale in self._scales:
                gain = self._rng.gamma(2.0, scale / 2.0)
                self.outlook.learn(gain)
                if bound + gain < 0.0:
                    heapq.heappush(self.open, bound + gain)

    @property
    def left(self):
        return self.outlook.branchings_left(-np.array(self.open))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("part", [0.1, 0.3, 0.8])
def test_the_rest_of_a_random_tree(seed, part):
    whole = RandomTree(seed)
    whole.grow()
    assert whole.n_branched > 1000
    tree = RandomTree(seed)
    tree.grow(part * whole.n_branched)
    assert 1 / 3 < tree.left / (whole.n_branched - tree.n_branched) < 3


def test_nothing_is_left_of_a_closed_tree():
    assert outlook_of().branchings_left(np.empty(0)) == 0.0


@pytest.mark.parametrize("gains", [(0.0, 0.0), (0.0, 1.0), (0.0, 0.0, 0.0, 1.0)])
def test_a_tree_whose_bounds_do_not_rise_never_ends(gains):
    assert outlook_of(*gains, *gains).branchings_left(np.ones(1)) == np.inf


def test_some_bounds_may_stay():
    gains = (0.0, 1.0, 1.0, 1.0)
    assert outlook_of(*gains, *gains).branchings_left(np.ones(1)) < 3.1


def test_a_hopeless_tree_does_not_overflow():
    left = outlook_of(1.0, 1.0).branchings_left(np.full(1_000_000, 1e6))
    assert 1e200 < left < np.inf


def test_estimates_from_few_branchings_are_doubted():
    parameters = TreeParameters(least_known=2, well_known=3, doubt=100.0)
    outlook = outlook_of(1.0, 1.0, parameters=parameters)
    distances = np.array([20.0, 1e-3])
    # Each open node needs one branching.
    assert outlook.branchings_left(distances) == 2.0
    for expected in (2.0**20 / 100.0, 2.0**20):
        outlook.learn(1.0)
        outlook.learn(1.0)
        found = outlook.branchings_left(distances)
        assert found == pytest.approx(expected, rel=1e-3)
    assert Outlook(parameters).branchings_left(distances) == 2.0


def test_only_the_last_half_of_the_branchings_counts():
    outlook = outlook_of(*[1e-3] * 8, *[1.0] * 8)
    assert outlook.branchings_left(np.array([3.0])) == pytest.approx(8.0)
    outlook.learn(1e-3)
    outlook.learn(1e-3)
    assert outlook.branchings_left(np.array([3.0])) > 9.0


def test_memory_is_limited():
    parameters = TreeParameters(max_known=4, least_known=1, well_known=1)
    outlook = outlook_of(*[1e-3] * 50, *[1.0] * 4, parameters=parameters)
    assert outlook.branchings_left(np.array([3.0])) == pytest.approx(8.0)
