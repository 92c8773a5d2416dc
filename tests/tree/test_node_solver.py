"""Evaluations agree with relaxations, one at a time and together."""

import numpy as np
import pytest

from frugalsvm.checker import PackedPoint, unpack
from frugalsvm.engine.perspective import perspective
from frugalsvm.run.monitor import Incumbent
from frugalsvm.search.evaluator import Evaluator
from frugalsvm.tree.best_first import Expansion
from frugalsvm.tree.branching import Reliability
from frugalsvm.tree.evaluation import (
    AllFeatures,
    Evaluation,
    NodeSolver,
    run_evaluations,
)
from frugalsvm.tree.node import Node
from tests.reference import brute_force
from tests.tree.problems import KINDS, small_problem


def solver_of(problem, incumbent=None, kind=None, **arguments):
    arguments = {"should_stop": lambda: False, "keep_points": False} | arguments
    return NodeSolver(
        problem,
        Incumbent(1e-6) if incumbent is None else incumbent,
        Reliability(problem.n_features),
        AllFeatures() if kind is None else kind,
        tried=set(),
        **arguments,
    )


class Spy:
    """An engine that counts its calls and their requests."""

    def __init__(self, engine):
        self.engine = engine
        self.sizes = []

    def solve(self, requests):
        self.sizes.append(len(requests))
        return self.engine.solve(requests)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_root_is_bounded_by_its_relaxation(kind, seed):
    problem, _, _ = small_problem(kind, seed)
    solver = solver_of(problem)
    root = solver.make_root()
    exact = perspective(problem.engine, problem.root_region(), tol=1e-8)
    optimum, _ = brute_force(problem)
    assert root.bound <= optimum * (1 + 1e-9)
    assert root.bound >= exact.bound * (1 - 2 * solver.parameters.node_tol)
    assert solver.n_nodes == 1
    assert solver.incumbent.objective >= optimum * (1 - 1e-9)


class Blind(AllFeatures):
    """A tree without rounding: without an incumbent nothing is fixed or pruned."""

    def round(self, solver, region, found):
        return None


@pytest.mark.parametrize("seed", [4, 5])
def test_children_cover_their_parent(seed):
    problem, _, _ = small_problem("random", seed)
    solver = solver_of(problem, kind=Blind())
    root = solver.make_root()
    expansion = Expansion(solver, root)
    run_evaluations(solver.engine, [expansion])
    inside, outside = expansion.pair
    assert inside.feature == outside.feature
    assert inside.inside
    assert not outside.inside
    optimum, support = brute_force(problem)
    assert root.bound <= inside.bound
    assert root.bound <= outside.bound
    winner = inside if inside.feature in support else outside
    assert winner.bound <= optimum * (1 + 1e-9)
    assert max(inside.bound, outside.bound) > root.bound


def test_nodes_evaluated_together_need_fewer_calls():
    problem, _, _ = small_problem("random", 4)
    bounds = []
    for together in (True, False):
        # A cutoff that nothing exceeds: nodes do not depend on each other.
        solver = solver_of(problem, incumbent=Incumbent(1e-6, limit=1e9))
        spy = Spy(problem.engine)
        regions = [
            solver.region_of(
                np.append(solver.root.forced, j), solver.root.free[j + 1 :]
            )
            for j in range(3)
        ]
        works = [
            Evaluation(solver, Node(None, -1, True, r.forced, -np.inf), r, None)
            for r in regions
        ]
        if together:
            run_evaluations(spy, works)
            n_together = len(spy.sizes)
            assert max(spy.sizes) == 3
        else:
            for work in works:
                run_evaluations(spy, [work])
            assert max(spy.sizes) == 1
            assert len(spy.sizes) > n_together
        assert all(work.request is None for work in works)
        bounds.append([work.node.bound for work in works])
    np.testing.assert_allclose(bounds[0], bounds[1], rtol=1e-9)


def test_a_node_above_the_cutoff_is_closed_by_its_first_request():
    problem, _, _ = small_problem("random", 4)
    solver = solver_of(problem)
    best = Evaluator(problem).solve(np.arange(problem.max_features))
    solver.incumbent.offer(best)
    solver.incumbent.lower_cutoff(1e-9)
    root = solver.make_root()
    assert root.bound > solver.incumbent.cutoff
    assert root.branching_data is None
    assert root.fixed_in.size == root.fixed_out.size == 0


def test_proofs_are_kept_if_asked_for():
    problem, _, _ = small_problem("random", 4)
    assert solver_of(problem).make_root().point is None
    root = solver_of(problem, keep_points=True).make_root()
    point = root.point
    packed = PackedPoint(
        np.frombuffer(point.full, np.uint8), np.frombuffer(point.between, np.uint8),
        np.frombuffer(point.steps, np.uint32), point.grid,
    )  # fmt: skip
    alpha = unpack(packed, problem.C)
    found = problem.engine.bound(problem.root_region(), alpha)
    assert found.bound == root.bound


def test_a_stopped_evaluation_has_a_valid_bound():
    problem, _, _ = small_problem("random", 4)
    root = solver_of(problem, should_stop=lambda: True).make_root()
    assert 0.0 <= root.bound <= brute_force(problem)[0] * (1 + 1e-9)


def test_affordable_supports_are_tried_once():
    problem, _, _ = small_problem("costs", 1)
    solver = solver_of(problem)
    solver.offer(np.arange(problem.n_features))
    assert solver.incumbent.solution is None
    solver.offer(problem.include)
    solver.offer(problem.include)
    assert solver.evaluator.n_solves == 1
    assert [s.key for s in solver.improvements] == [solver.incumbent.solution.key]
