"""The loop that all trees share, with policies of every kind."""

import numpy as np
import pytest

from frugalsvm.run.monitor import Incumbent
from frugalsvm.tree.best_first import BestFirstTree, Policy
from frugalsvm.tree.branch_and_bound import Diving
from frugalsvm.tree.branching import Reliability
from frugalsvm.tree.evaluation import AllFeatures, NodeSolver
from frugalsvm.tree.parameters import TreeParameters
from tests.reference import brute_force
from tests.tree.problems import KINDS, small_problem


class Recorder(Policy):
    """Takes several nodes at a time, dives always, and notes what it is told."""

    def __init__(self, batch=1, dives=False, most=np.inf):
        self.size, self.dives, self.most = batch, dives, most
        self.admitted, self.bounds, self.n_between = [], [], 0

    def batch(self, tree):
        return self.size

    def must_stop(self, tree):
        return tree.n_nodes >= self.most

    def admit(self, solver, node):
        self.admitted.append(node)

    def dive(self, parent, children, is_allowed):
        return children[-1] if self.dives and is_allowed and children else None

    def grown(self, tree, solver):
        self.bounds.append(tree.frontier.bound)

    def between(self, tree):
        self.n_between += 1


def grow(problem, policy, **limits):
    incumbent = Incumbent(1e-6)
    rule = Reliability(problem.n_features)

    def make_solver():
        return NodeSolver(
            problem, incumbent, rule, AllFeatures(), should_stop=lambda: False,
            keep_points=False, tried=set(),
        )  # fmt: skip

    tree = BestFirstTree(
        make_solver, incumbent, policy, should_stop=lambda: False, **limits
    )
    solver = make_solver()
    tree.add(solver, solver.make_root())
    tree.run()
    return tree


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("policy", "n_jobs"),
    [((1, False), 1), ((1, True), 1), ((5, False), 1), ((3, True), 2)],
)
def test_every_policy_proves_the_optimum(kind, policy, n_jobs):
    for seed in range(3):
        problem, _, _ = small_problem(kind, seed)
        tree = grow(problem, Recorder(*policy), n_jobs=n_jobs)
        optimum, _ = brute_force(problem)
        assert tree.is_exhausted
        assert tree.hit_limit is None
        np.testing.assert_allclose(tree.incumbent.objective, optimum, rtol=2e-6)
        assert optimum * (1 - 2e-6) <= tree.frontier.bound <= optimum * (1 + 1e-9)


def test_bounds_rise_and_all_nodes_are_admitted():
    problem, _, _ = small_problem("random", 3)
    policy = Recorder()
    tree = grow(problem, policy, keep_proof=True)
    assert np.all(np.diff(policy.bounds) >= 0)
    assert policy.admitted == tree.frontier.nodes
    # Every branching adds two nodes to the root.
    assert len(policy.admitted) == 1 + 2 * len(policy.bounds)
    assert policy.n_between == len(policy.bounds)


def test_a_policy_may_end_a_tree():
    problem, _, _ = small_problem("random", 3)
    whole = grow(problem, Recorder())
    assert whole.n_nodes > 3
    part = grow(problem, Recorder(most=3))
    assert 3 <= part.n_nodes < whole.n_nodes
    assert not part.is_exhausted
    assert part.hit_limit is None
    assert part.frontier.bound <= whole.incumbent.objective


@pytest.mark.parametrize(
    ("limit", "name"), [("max_nodes", "nodes"), ("max_bytes", "memory")]
)
def test_limits_end_a_tree(limit, name):
    problem, _, _ = small_problem("random", 3)
    tree = grow(problem, Recorder(), **{limit: 3})
    assert tree.hit_limit == name
    assert not tree.is_exhausted


def test_errors_of_threads_reach_the_caller():
    class Broken(Recorder):
        def between(self, tree):
            raise RuntimeError("broken")

    problem, _, _ = small_problem("random", 3)
    for n_jobs in (1, 2):
        with pytest.raises(RuntimeError, match="broken"):
            grow(problem, Broken(), n_jobs=n_jobs)


def test_dives_begin_now_and_then_and_go_on():
    problem, _, _ = small_problem("random", 3)
    tree = grow(problem, Recorder(most=1))
    (parent,) = tree.frontier.waiting
    diving = Diving(TreeParameters(dive_period=5))
    child = parent.child(int(parent.branching_data.features[0]), True)
    child.branching_data = parent.branching_data
    first = [diving.follow(parent, [child], True) for _ in range(5)]
    assert first == [None] * 4 + [child]
    assert diving.follow(child, [parent], True) is parent
    assert diving.follow(child, [parent], False) is None
    assert diving.follow(child, [], True) is None
