"""Annealing: finds optima, keeps to all conditions, and can be stopped."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from frugalsvm import Problem
from frugalsvm.engine.native import NativeEngine
from frugalsvm.search.annealing import anneal, can_anneal, may_anneal
from frugalsvm.search.evaluator import Evaluator, Stop
from tests.reference import brute_force, random_data


def problem_of(n=14, max_features=4, seed=0, **arguments):
    X, y = random_data(np.random.default_rng(seed), 40, n)
    return Problem(X, y, C=2.0, max_features=max_features, **arguments)


def annealed(problem, turns, seed=0, **options):
    evaluator = Evaluator(problem)
    start = evaluator.solve(np.arange(problem.max_features))
    rng = np.random.default_rng(seed)
    return anneal(evaluator, start, rng, turns, **options), start


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_optimum_of_a_small_problem_is_met(fit_intercept):
    for seed in range(3):
        problem = problem_of(seed=seed, fit_intercept=fit_intercept)
        best, start = annealed(problem, 600)
        optimum = brute_force(problem)[0]
        assert start.objective > optimum * (1 + 1e-4)
        assert best.objective == pytest.approx(optimum, rel=1e-4)


def test_all_conditions_hold():
    costs = np.linspace(1.0, 2.0, 14)
    problem = problem_of(feature_costs=costs, max_cost=5.5, include=[0], exclude=[13])
    evaluator = Evaluator(problem)
    start = evaluator.solve(np.array([0, 1, 2]))
    for seed in range(5):
        end = anneal(evaluator, start, np.random.default_rng(seed), 200)
        assert problem.admits(end.support)
        assert np.all(np.diff(end.support) > 0)


def test_the_solution_is_one_of_the_svm():
    problem = problem_of(n=40)
    end, _ = annealed(problem, 200)
    found = problem.engine.solve_svm(end.support, tol=1e-9)
    assert end.objective == pytest.approx(found.primal, rel=1e-5)
    margins = problem.engine.margins(end.support, end.w, end.b)
    loss = problem.C @ np.maximum(0.0, 1.0 - margins)
    assert 0.5 * end.w @ end.w + loss == pytest.approx(end.objective, rel=1e-6)


def test_the_same_seed_gives_the_same():
    problem = problem_of(n=40)
    ends = [annealed(problem, 60, seed=5)[0] for _ in range(2)]
    assert ends[0].key == ends[1].key
    others = [annealed(problem, 60, seed=s)[0].key for s in range(6, 12)]
    assert any(key != ends[0].key for key in others)


def test_without_features_to_exchange_it_stays():
    problem = problem_of(n=4, max_features=4)
    end, start = annealed(problem, 20)
    assert end.key == start.key


def test_what_it_does_is_counted_and_ends_it():
    problem = problem_of(n=40)
    evaluator = Evaluator(problem)
    start = evaluator.solve(np.arange(4))
    before = evaluator.work, evaluator.n_solves
    anneal(evaluator, start, np.random.default_rng(0), 50)
    some = evaluator.work - before[0]
    assert evaluator.n_solves > before[1] + 10
    anneal(evaluator, start, np.random.default_rng(0), 10**9, max_work=3 * some)
    assert 3 * some <= evaluator.work - before[0] - some < 6 * some


def test_a_stopped_annealing_leaves_the_best_it_met():
    problem = problem_of(n=40)
    evaluator = Evaluator(problem)
    start = evaluator.solve(np.arange(4))
    evaluator.max_work = evaluator.work * 100
    with pytest.raises(Stop):
        anneal(evaluator, start, np.random.default_rng(0), 10**9)
    assert evaluator.reached.objective < start.objective


def test_only_many_features_of_dense_data_are_annealed():
    assert not may_anneal(problem_of(n=14))
    assert can_anneal(problem_of(n=60))
    X, y = random_data(np.random.default_rng(0), 40, 60)
    sparse = Problem(csr_array(np.where(X > 1, X, 0.0)), y, max_features=3)
    assert may_anneal(sparse)
    assert can_anneal(sparse) == (type(sparse.engine) is NativeEngine)
