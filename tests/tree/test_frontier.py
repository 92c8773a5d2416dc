"""The bound of the frontier accounts for every node."""

import numpy as np

from frugalsvm.engine.protocol import WorkingSet
from frugalsvm.tree.best_first import Frontier
from frugalsvm.tree.node import BranchingData, Node


def node_of(bound, is_open=True):
    node = Node(None, -1, True, np.empty(0, dtype=np.int64), bound)
    if is_open:
        active = WorkingSet(np.arange(1), np.zeros(3, dtype=np.int8))
        node.branching_data = BranchingData(
            np.arange(1), [0.5], ([1.0], [1.0]), active, None
        )
    return node


def test_open_busy_and_closed_nodes_all_bound():
    frontier = Frontier(keep_proof=False)
    assert frontier.bound == np.inf
    for bound in (3.0, 1.0, 2.0):
        node = node_of(bound)
        assert frontier.add(node, cutoff=10.0)
        frontier.push(node)
    assert (len(frontier), frontier.bound) == (3, 1.0)
    first = frontier.pop(10.0)
    frontier.start(first)
    assert first.bound == frontier.bound == 1.0
    assert not frontier.is_idle
    assert sorted(frontier.open_bounds) == [1.0, 2.0, 3.0]
    frontier.finish(first)
    assert sorted(frontier.open_bounds) == [2.0, 3.0]
    assert frontier.is_idle
    assert not first.is_leaf
    assert first.branching_data is None
    assert frontier.bound == 2.0
    assert not frontier.add(node_of(1.5, is_open=False), cutoff=10.0)
    assert frontier.bound == 1.5


def test_nodes_above_the_cutoff_are_leaves():
    frontier = Frontier(keep_proof=True)
    late = node_of(5.0)
    assert frontier.add(late, 10.0)
    frontier.push(late)
    closed = node_of(6.0)
    assert not frontier.add(closed, 5.5)
    assert closed.branching_data is None
    assert frontier.pop(4.0) is None
    assert len(frontier) == 0
    assert frontier.bound == 5.0
    assert frontier.nodes == [late, closed]


def test_fixings_rely_on_the_cutoff():
    frontier = Frontier(keep_proof=False)
    node = node_of(1.0)
    node.fix(np.array([1]), np.array([2]), None)
    assert frontier.add(node, cutoff=4.0)
    frontier.push(node)
    frontier.start(frontier.pop(4.0))
    frontier.finish(node)
    assert frontier.bound == 4.0


def test_memory_is_counted_for_stored_nodes():
    frontier = Frontier(keep_proof=False)
    node = node_of(1.0)
    frontier.add(node, 2.0)
    assert frontier.n_bytes == 0
    frontier.push(node)
    assert frontier.n_bytes == node.n_bytes
    frontier.pop(2.0)
    assert frontier.n_bytes == 0
    frontier.push(node)
    assert frontier.pop(0.5) is None
    assert frontier.n_bytes == 0
    kept = Frontier(keep_proof=True)
    kept.add(node, 2.0)
    kept.push(node)
    kept.start(kept.pop(2.0))
    before = node.n_bytes
    assert kept.n_bytes == before
    kept.finish(node)
    # The children need neither its branching data nor its point.
    assert node.point is None
    assert kept.n_bytes == node.n_bytes < before
