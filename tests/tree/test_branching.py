"""Branching rules: what they propose, learn and pick."""

import numpy as np
import pytest

from frugalsvm.engine.protocol import ActiveSet
from frugalsvm.tree.branching import MAX_RANKED, RULES, Reliability, make_rule
from frugalsvm.tree.node import Node, Scratch


def node_of(features, z, bound=10.0):
    node = Node(None, -1, True, np.empty(0, dtype=np.int64), bound)
    active = ActiveSet(np.arange(1), np.zeros(3, dtype=np.int8))
    node.scratch = Scratch(np.array(features), np.array(z), active, None)
    return node


def pair_of(node, gain_in, gain_out):
    inside, outside = node.child(0, True), node.child(0, False)
    inside.bound += gain_in
    outside.bound += gain_out
    return inside, outside


def test_rankings():
    free = np.arange(30)
    rng = np.random.default_rng(0)
    z, squares = rng.random(30), rng.random(30)
    closest = make_rule("most-fractional", 30).rank(free, z, squares)
    expected = np.argsort(np.abs(z - 0.5), kind="stable")[:MAX_RANKED]
    np.testing.assert_array_equal(closest, expected)
    largest = make_rule("reduced-cost", 30).rank(free, z, squares)
    expected = np.argsort(-squares, kind="stable")[:MAX_RANKED]
    np.testing.assert_array_equal(largest, expected)


@pytest.mark.parametrize("name", ["most-fractional", "reduced-cost"])
def test_rules_that_do_not_look_ahead_take_the_first(name):
    rule = make_rule(name, 10)
    node = node_of([7, 3], [0.5, 0.4])
    proposal = rule.propose(node)
    assert proposal.features == [7]
    pair = pair_of(node, 0.0, 0.0)
    assert rule.pick(node, proposal, {7: pair}) is pair


def test_strong_branching_picks_the_largest_product():
    rule = make_rule("strong", 10)
    node = node_of(range(8), np.full(8, 0.5))
    proposal = rule.propose(node)
    assert proposal.features == [0, 1, 2, 3, 4, 5]
    gains = [(1.0, 1.0), (9.0, 0.0), (2.0, 1.5), (1.5, 2.0), (0.0, 9.0), (1.0, 2.0)]
    pairs = {j: pair_of(node, *gain) for j, gain in enumerate(gains)}
    # Ties go to the feature that is ranked first.
    assert rule.pick(node, proposal, pairs) is pairs[2]


def test_reliability_tries_what_it_does_not_know():
    rule = Reliability(10, width=2)
    node = node_of([4, 5, 6], [0.5, 0.5, 0.5])
    proposal = rule.propose(node)
    assert proposal.features == [4, 5]
    assert proposal.favourite == -1
    pairs = {4: pair_of(node, 1.0, 1.0), 5: pair_of(node, 2.0, 2.0)}
    for feature, pair in pairs.items():
        rule.learn(node, feature, pair)
    assert rule.pick(node, proposal, pairs) is pairs[5]
    # Two are known now: the better one is the favourite, the third is tried.
    proposal = rule.propose(node)
    assert proposal.features == [6]
    assert proposal.favourite == 5
    assert proposal.expected == pytest.approx(4.0)
    worse = {6: pair_of(node, 0.5, 0.5)}
    assert rule.pick(node, proposal, worse) is None
    favourite = pair_of(node, 0.1, 0.1)
    assert rule.pick(node, proposal, worse | {5: favourite}) is favourite


def test_pseudo_costs_are_gains_per_unit_of_z():
    rule = Reliability(10)
    node = node_of([4], [0.2])
    rule.learn(node, 4, pair_of(node, 0.8, 0.4))
    later = node_of([4], [0.5])
    # 0.8 for moving z by 0.8 up, 0.4 for 0.2 down; half a unit of each now.
    assert rule.propose(later).expected == pytest.approx(0.5 * 1.0)


def test_every_name_has_a_rule():
    for name in RULES:
        assert make_rule(name, 3).propose(node_of([1], [0.5])).features == [1]
