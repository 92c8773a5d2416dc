"""Estimates of additions and exchanges rank well and are always finite."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.search.estimates import addition_gains, exchange_losses
from frugalsvm.search.evaluator import Evaluator, insert, remove
from frugalsvm.search.parameters import EstimateParameters, SearchParameters
from frugalsvm.search.swap import swap_search
from tests.reference import random_data


def problem_of(m=40, n=150, seed=0, C=10.0, **arguments):
    X, y = random_data(np.random.default_rng(seed), m, n)
    return Problem(X, y, C=C, max_features=8, **arguments)


def ranks_of_the_best(values, true, count=10):
    """Ranks by the given values of the truly best features."""
    ranks = np.empty(values.size)
    ranks[np.argsort(values)] = np.arange(values.size)
    return ranks[np.argsort(true)[:count]]


def test_estimates_rank_the_best_additions_higher_than_prices():
    means = []
    for seed in range(6):
        problem = problem_of(seed=seed)
        evaluator = Evaluator(problem)
        solution = evaluator.solve(np.arange(8))
        features = evaluator.outside(solution.support)
        true = np.array(
            [evaluator.solve(insert(solution.support, j)).objective for j in features]
        )
        means.append(
            [
                ranks_of_the_best(rank(solution, features), true).mean()
                for rank in (evaluator.addition_estimates, evaluator.addition_bounds)
            ]
        )
    by_estimate, by_price = np.mean(means, axis=0)
    assert by_estimate < 0.75 * by_price


def test_a_feature_that_adds_nothing_gains_little():
    problem = problem_of()
    X, y = problem.A.T * problem.y[:, None], problem.y
    X = np.column_stack([X, X[:, 0]])
    problem = Problem(X, y, C=10.0, max_features=8)
    features = np.arange(8, 151)
    gains = addition_gains(problem, np.arange(8), features)
    assert np.all(gains >= 0.0)
    # A copy of a feature of the support can only halve its weight.
    assert gains[-1] < np.quantile(gains, 0.9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_gains_are_finite_on_extreme_data(fit_intercept, C):
    problem = problem_of(m=12, n=30, C=C, fit_intercept=fit_intercept)
    for support in (np.arange(0), np.arange(8)):
        gains = addition_gains(problem, support.astype(np.int64), np.arange(8, 30))
        assert np.all(np.isfinite(gains))
        assert np.all(gains >= 0.0)


def test_features_beyond_the_shortlist_keep_the_order_of_their_prices():
    problem = problem_of()
    support, features = np.arange(8), np.arange(8, 150)
    whole = addition_gains(problem, support, features)
    parameters = EstimateParameters(estimated=20)
    few = problem.with_parameters(SearchParameters(estimates=parameters))
    gains = addition_gains(few, support, features)
    short = gains > 1e-9
    assert short.sum() == 20
    np.testing.assert_allclose(gains[short], whole[short])
    alpha = problem.engine.solve_svm(support, tol=parameters.rough_tol).alpha
    prices = problem.engine.products(alpha)[features] ** 2
    assert prices[short].min() >= prices[~short].max()
    order = np.argsort(gains[~short])
    assert np.all(np.diff(prices[~short][order]) >= 0.0)


def test_estimates_rank_exchanges_higher_than_separate_terms():
    ranks = []
    for seed in range(4):
        evaluator = Evaluator(problem_of(seed=seed))
        # At swap optima: elsewhere the best addition decides.
        solution = swap_search(evaluator, evaluator.solve(np.arange(8)))
        features = evaluator.outside(solution.support)[:60]
        features, losses = evaluator.exchange_losses(solution, features)
        true = np.array(
            [
                [evaluator.solve(insert(smaller, k)).objective for k in features]
                for smaller in (remove(solution.support, j) for j in range(8))
            ]
        )
        gains = addition_gains(evaluator.problem, solution.support, features)
        parts = 0.5 * solution.w[:, np.newaxis] ** 2 - gains
        ranks.append(
            [ranks_of_the_best(v.ravel(), true.ravel()).mean() for v in (losses, parts)]
        )
    as_such, by_parts = np.mean(ranks, axis=0)
    assert as_such < 0.75 * by_parts


def test_exchanging_a_feature_for_its_copy_costs_nothing():
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 40, 30)
    X = np.column_stack([X, X[:, 3]])
    problem = Problem(X, y, C=10.0, max_features=8)
    features, losses = exchange_losses(problem, np.arange(8), np.arange(8, 31))
    copy = features.tolist().index(30)
    assert losses[3, copy] == pytest.approx(0.0, abs=1e-9)
    # Exchanging any other feature for the copy gains little.
    assert np.all(np.delete(losses[:, copy], 3) > -0.1)
    assert np.median(losses[:, copy]) > 1.0


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_losses_are_finite_on_extreme_data(fit_intercept, C):
    problem = problem_of(m=12, n=30, C=C, fit_intercept=fit_intercept)
    for support in (np.arange(0), np.arange(8)):
        _, losses = exchange_losses(problem, support, np.arange(8, 30))
        assert losses.shape == (support.size, 22)
        assert np.all(np.isfinite(losses))
