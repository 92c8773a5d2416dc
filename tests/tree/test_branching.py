"""Branching rules: what they propose, learn and pick."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import spearmanr

from frugalsvm import Problem
from frugalsvm.engine.perspective import region_task
from frugalsvm.engine.protocol import WorkingSet
from frugalsvm.tree.branching import (
    FEW_FEATURES,
    MAX_RANKED,
    RANKED_BY_Z,
    RATIOS,
    RULES,
    Reliability,
    expected_gains,
    make_rule,
)
from frugalsvm.tree.node import BranchingData, Node

# A cutoff that no node here is near to.
FAR = 100.0


def node_of(features, gains=None, bound=10.0, z=0.5):
    node = Node(None, -1, True, np.empty(0, dtype=np.int64), bound)
    active = WorkingSet(np.arange(1), np.zeros(3, dtype=np.int8))
    ones = [1.0] * len(features)
    z = [z] * len(features)
    gains = gains or (ones, ones)
    node.scratch = BranchingData(np.array(features), z, gains, active, None)
    return node


class Found(NamedTuple):
    """What rankings look at of an answer."""

    z: np.ndarray
    squares: np.ndarray
    curvature: np.ndarray
    bound: float = 1.0


def pair_of(node, gain_in, gain_out, is_open=True):
    inside, outside = node.child(0, True), node.child(0, False)
    for child in (inside, outside):
        child.scratch = node.scratch if is_open else None
    inside.bound += gain_in
    outside.bound += gain_out
    return inside, outside


def test_rankings():
    free = np.arange(30)
    rng = np.random.default_rng(0)
    found = Found(rng.random(30), rng.random(30), rng.random(30))
    closest = make_rule("most-fractional", 30).rank(free, found, FAR)
    by_closeness = np.argsort(np.abs(found.z - 0.5), kind="stable")[:MAX_RANKED]
    np.testing.assert_array_equal(closest, by_closeness)
    largest = make_rule("reduced-cost", 30).rank(free, found, FAR)
    expected = np.argsort(-found.squares, kind="stable")[:MAX_RANKED]
    np.testing.assert_array_equal(largest, expected)
    rule = make_rule("reliability", 30)
    product = np.prod(expected_gains(found.z, found.curvature), axis=0)
    expected = np.argsort(-product, kind="stable")[:MAX_RANKED]
    np.testing.assert_array_equal(rule.rank(free, found, FAR), expected)
    # Where no curvature is known, z decides.
    unknown = found._replace(curvature=np.zeros(30))
    np.testing.assert_array_equal(rule.rank(free, unknown, FAR), by_closeness)
    # Next to the cutoff the most fractional come first, then those that gain most,
    # unless features are few.
    np.testing.assert_array_equal(rule.rank(free, found, found.bound), expected)
    near = make_rule("reliability", FEW_FEATURES + 1).rank(free, found, found.bound)
    np.testing.assert_array_equal(near[:RANKED_BY_Z], by_closeness[:RANKED_BY_Z])
    others = [j for j in expected if j not in near[:RANKED_BY_Z]]
    assert near[RANKED_BY_Z:].tolist() == others[: MAX_RANKED - RANKED_BY_Z]


@pytest.mark.parametrize("name", ["most-fractional", "reduced-cost"])
def test_rules_that_do_not_look_ahead_take_the_first(name):
    rule = make_rule(name, 10)
    node = node_of([7, 3])
    proposal = rule.propose(node, FAR)
    assert proposal.features == [7]
    pair = pair_of(node, 0.0, 0.0)
    assert rule.pick(node, proposal, {7: pair}) is pair


def test_strong_branching_picks_the_largest_product():
    rule = make_rule("strong", 10)
    node = node_of(range(8))
    proposal = rule.propose(node, FAR)
    assert proposal.features == [0, 1, 2, 3, 4, 5]
    gains = [(1.0, 1.0), (9.0, 0.0), (2.0, 1.5), (1.5, 2.0), (0.0, 9.0), (1.0, 2.0)]
    pairs = {j: pair_of(node, *gain) for j, gain in enumerate(gains)}
    # Ties go to the feature that is ranked first.
    assert rule.pick(node, proposal, pairs) is pairs[2]


def test_reliability_tries_what_it_does_not_know():
    rule = Reliability(10, width=2)
    node = node_of([4, 5, 6])
    proposal = rule.propose(node, FAR)
    assert proposal.features == [4, 5]
    assert proposal.favourite == -1
    pairs = {4: pair_of(node, 1.0, 1.0), 5: pair_of(node, 2.0, 2.0)}
    for feature, pair in pairs.items():
        rule.learn(node, feature, pair)
    assert rule.pick(node, proposal, pairs) is pairs[5]
    # Two are known now: the better one is the favourite. The third, of which nothing
    # but the estimate is known, is tried where that is among the best two.
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


def test_closed_children_gained_as_much_as_expected_at_least():
    rule = Reliability(10)
    node = node_of([4], ([1.0], [1.0]))
    rule.learn(node, 4, pair_of(node, 0.2, 3.0, is_open=False))
    assert rule.propose(node, FAR).expected == pytest.approx(1.0 * 3.0)


def test_next_to_the_cutoff_averages_per_unit_of_z_count():
    rule = Reliability(FEW_FEATURES + 1)
    node = node_of([4], z=0.2)
    rule.learn(node, 4, pair_of(node, 0.8, 0.4))
    # 0.8 for moving z by 0.8 up, 0.4 for 0.2 down; half a unit of each now.
    later = node_of([4], ([9.0], [9.0]), z=0.5)
    assert rule.propose(later, 10.2).expected == pytest.approx(0.5 * 1.0)
    # Of a feature that was not tried there is nothing but the estimate.
    assert rule.propose(node_of([5]), 10.2).features == [5]


def test_ratios_are_limited():
    rule = Reliability(10)
    node = node_of([4], ([1e-9], [1e-9]))
    rule.learn(node, 4, pair_of(node, 5.0, 5.0))
    # Of a bound of 10 the least gain that counts is 1e-5.
    expected = (RATIOS[1] * 1e-3) ** 2
    later = node_of([4], ([1e-3], [1e-3]))
    assert rule.propose(later, FAR).expected == pytest.approx(expected)


def test_bounds_and_gains_of_zero():
    rule = Reliability(10)
    node = node_of([4], ([0.0], [0.0]), bound=0.0)
    rule.learn(node, 4, pair_of(node, 0.0, 0.0))
    assert rule.propose(node, FAR).favourite == 4


def test_few_features_are_compared_many_are_not():
    assert Reliability(30).width == 2
    assert Reliability(3000).width == 1


@pytest.mark.parametrize(("m", "n"), [(120, 20), (200, 30), (40, 90)])
def test_what_is_ranked_first_gains_much(m, n):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((m, n)) + rng.standard_normal((m, 1))
    y = np.where(X[:, :4].sum(1) + rng.standard_normal(m) > 0, 1, -1)
    problem = Problem(X, y, C=1.0, max_features=4)
    engine, root = problem.engine, problem.root_region()

    def relax(region, tol=1e-7):
        task = region_task(
            engine, region, None, tol=tol, fine_tol=tol, cutoff=np.inf, max_rounds=9
        )
        return engine.solve([task])[0]

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


def test_every_name_has_a_rule():
    for name in RULES:
        assert make_rule(name, 3).propose(node_of([1]), FAR).features == [1]
