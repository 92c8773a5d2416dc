"""Branching rules propose features, learn from children and pick pairs."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import spearmanr

from frugalsvm import Problem
from frugalsvm.engine.perspective import region_request
from frugalsvm.engine.protocol import WorkingSet
from frugalsvm.tree.branching import Reliability, expected_gains
from frugalsvm.tree.node import BranchingData, Node
from frugalsvm.tree.parameters import TreeParameters

# A cutoff far from all nodes here.
FAR = 100.0
PARAMETERS = TreeParameters()
MANY = PARAMETERS.look_ahead_max_features + 1


def node_of(features, gains=None, bound=10.0, z=0.5):
    node = Node(None, -1, True, np.empty(0, dtype=np.int64), bound)
    active = WorkingSet(np.arange(1), np.zeros(3, dtype=np.int8))
    ones = [1.0] * len(features)
    z = [z] * len(features)
    gains = gains or (ones, ones)
    node.branching_data = BranchingData(np.array(features), z, gains, active, None)
    return node


class Found(NamedTuple):
    """The part of a result that rankings use."""

    z: np.ndarray
    curvature: np.ndarray
    bound: float = 1.0


def pair_of(node, gain_in, gain_out, is_open=True):
    inside, outside = node.child(0, True), node.child(0, False)
    for child in (inside, outside):
        child.branching_data = node.branching_data if is_open else None
    inside.bound += gain_in
    outside.bound += gain_out
    return inside, outside


def test_features_are_ranked_by_expected_gains_and_z():
    free = np.arange(30)
    rng = np.random.default_rng(0)
    most, by_z = PARAMETERS.max_ranked, PARAMETERS.near_ranked_by_z
    found = Found(rng.random(30), rng.random(30))
    by_closeness = np.argsort(np.abs(found.z - 0.5), kind="stable")[:most]
    rule = Reliability(30)
    product = np.prod(expected_gains(found.z, found.curvature), axis=0)
    expected = np.argsort(-product, kind="stable")[:most]
    np.testing.assert_array_equal(rule.rank(free, found, FAR), expected)
    # If no curvature is known, z decides.
    unknown = found._replace(curvature=np.zeros(30))
    np.testing.assert_array_equal(rule.rank(free, unknown, FAR), by_closeness)
    # Near the cutoff the most fractional features come first, then those with large
    # gains, unless there are few features.
    np.testing.assert_array_equal(rule.rank(free, found, found.bound), expected)
    near = Reliability(MANY).rank(free, found, found.bound)
    np.testing.assert_array_equal(near[:by_z], by_closeness[:by_z])
    others = [j for j in expected if j not in near[:by_z]]
    assert near[by_z:].tolist() == others[: most - by_z]


def test_reliability_branching_tries_unknown_features():
    rule = Reliability(10, width=2)
    node = node_of([4, 5, 6])
    proposal = rule.propose(node, FAR)
    assert proposal.features == [4, 5]
    assert proposal.favourite == -1
    pairs = {4: pair_of(node, 1.0, 1.0), 5: pair_of(node, 2.0, 2.0)}
    for feature, pair in pairs.items():
        rule.learn(node, feature, pair)
    assert rule.pick(node, proposal, pairs) is pairs[5]
    # Two are known now: the better one is the favourite. The third, with nothing but an
    # estimate, is tried if that is among the best two.
    proposal = rule.propose(node, FAR)
    assert proposal == ([], 5, pytest.approx(4.0))
    promising = node_of([4, 5, 6], ([1.0, 1.0, 3.0], [1.0, 1.0, 1.0]))
    proposal = rule.propose(promising, FAR)
    assert proposal.features == [6]
    assert proposal.favourite == 5
    assert proposal.expected == pytest.approx(4.0)
    worse = {6: pair_of(node, 0.5, 0.5)}
    assert rule.pick(node, proposal, worse) is None
    favourite = pair_of(node, 0.1, 0.1)
    assert rule.pick(node, proposal, worse | {5: favourite}) is favourite


def test_estimates_are_corrected_by_the_mean_ratio():
    rule = Reliability(10)
    for gain_in, gain_out in [(2.0, 0.5), (4.0, 0.5)]:
        node = node_of([4], ([1.0], [1.0]))
        rule.learn(node, 4, pair_of(node, gain_in, gain_out))
    later = node_of([4], ([0.1], [0.6]))
    mean = np.sqrt(2.0 * 4.0)
    assert rule.propose(later, FAR).expected == pytest.approx(
        (mean * 0.1) * (0.5 * 0.6)
    )


def test_closed_children_count_as_at_least_the_expected_gain():
    rule = Reliability(10)
    node = node_of([4], ([1.0], [1.0]))
    rule.learn(node, 4, pair_of(node, 0.2, 3.0, is_open=False))
    assert rule.propose(node, FAR).expected == pytest.approx(1.0 * 3.0)


def test_near_the_cutoff_average_gains_per_unit_of_z_decide():
    rule = Reliability(MANY)
    node = node_of([4], z=0.2)
    rule.learn(node, 4, pair_of(node, 0.8, 0.4))
    # Gains of 0.8 for moving z up by 0.8, of 0.4 for 0.2 down; now by 0.5 each.
    later = node_of([4], ([9.0], [9.0]), z=0.5)
    assert rule.propose(later, 10.2).expected == pytest.approx(0.5 * 1.0)
    # Features that were not tried have no average.
    assert rule.propose(node_of([5]), 10.2).features == [5]


def test_ratios_are_limited():
    rule = Reliability(10)
    node = node_of([4], ([1e-9], [1e-9]))
    rule.learn(node, 4, pair_of(node, 5.0, 5.0))
    # The least gain for a bound of 10 is 1e-5.
    expected = (PARAMETERS.gain_ratio_limits[1] * 1e-3) ** 2
    later = node_of([4], ([1e-3], [1e-3]))
    assert rule.propose(later, FAR).expected == pytest.approx(expected)


def test_bounds_and_gains_of_zero_are_handled():
    rule = Reliability(10)
    node = node_of([4], ([0.0], [0.0]), bound=0.0)
    rule.learn(node, 4, pair_of(node, 0.0, 0.0))
    assert rule.propose(node, FAR).favourite == 4


def test_features_are_compared_only_if_they_are_few():
    assert Reliability(30).width == 2
    assert Reliability(3000).width == 1


@pytest.mark.parametrize(("m", "n"), [(120, 20), (200, 30), (40, 90)])
def test_first_ranked_features_gain_much(m, n):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((m, n)) + rng.standard_normal((m, 1))
    y = np.where(X[:, :4].sum(1) + rng.standard_normal(m) > 0, 1, -1)
    problem = Problem(X, y, C=1.0, max_features=4)
    engine, root = problem.engine, problem.root_region()

    def relax(region, tol=1e-7):
        request = region_request(
            engine, region, None, tol=tol, fine_tol=tol, cutoff=np.inf, max_rounds=9
        )
        return engine.solve([request])[0]

    found, bound = relax(root, 1e-3), relax(root).bound
    tried = np.flatnonzero((found.curvature > 0) & (found.z > 0.01))
    gains = []
    for j in tried:
        rest = root.free[root.free != j]
        inside = root._replace(forced=np.array([j]), free=rest, k=root.k - 1)
        outside = root._replace(free=rest)
        gains.append([relax(child).bound - bound for child in (inside, outside)])
    products = np.prod(gains, axis=1)
    expected = np.prod(expected_gains(found.z[tried], found.curvature[tried]), axis=0)
    assert spearmanr(expected, products)[0] > 0.7
    assert products[np.argmax(expected)] > 0.5 * products.max()


def test_the_rule_takes_its_parameters():
    few = TreeParameters(max_ranked=3, look_ahead_max_features=5)
    rng = np.random.default_rng(0)
    found = Found(rng.random(30), rng.random(30))
    rule = Reliability(30, parameters=few)
    assert rule.rank(np.arange(30), found, FAR).size == 3
    assert Reliability(6, parameters=few).width == 1
