"""Twins are the most correlated features, and exchanges for them are candidates."""

import numpy as np
import pytest
from scipy import sparse

from frugalsvm import Problem
from frugalsvm.search.estimates import Twins
from frugalsvm.search.evaluator import Evaluator
from frugalsvm.search.parameters import EstimateParameters, SearchParameters


def blocks(seed=0, m=50, n=400, size=8, **arguments):
    """Features in blocks, with offsets and scales that correlations ignore."""
    rng = np.random.default_rng(seed)
    shared = np.repeat(rng.normal(size=(m, n // size)), size, axis=1)
    X = shared + 0.4 * rng.normal(size=(m, n))
    y = np.where(shared[:, 0] + shared[:, size] > 0.0, 1.0, -1.0)
    X = X * 10.0 ** rng.uniform(-1, 1, n) + rng.normal(size=n)
    arguments = {"C": 1.0, "max_features": 4} | arguments
    return X, Problem(X, y, **arguments)


def test_twins_are_the_most_correlated_features():
    X, problem = blocks()
    correlations = np.abs(np.corrcoef(X.T))
    for feature in (0, 9, 399):
        own = correlations[feature].copy()
        own[feature] = 0.0
        ranked = np.argsort(-own)[:25]
        expected = ranked[own[ranked] >= 0.4]
        np.testing.assert_array_equal(Twins(problem).of(feature), expected)
        assert set(expected) >= set(range(feature - feature % 8, feature)) - {feature}


def test_only_admissible_features_are_twins():
    _, problem = blocks(exclude=[1, 2])
    twins = Twins(problem).of(0)
    assert set(twins) >= {3, 4, 5, 6, 7}
    assert not {0, 1, 2} & set(twins)


def test_features_that_do_not_vary_have_no_twins():
    X, _ = blocks()
    X[:, 5] = 3.0
    y = np.where(X[:, 0] > np.median(X[:, 0]), 1.0, -1.0)
    twins = Twins(Problem(X, y, max_features=4))
    assert twins.of(5).size == 0
    assert 5 not in twins.of(0)


def test_few_features_and_data_at_a_source_have_none():
    X, problem = blocks(n=160)
    assert not Twins(problem).is_used
    assert Twins(problem).of(0).size == 0
    X, problem = blocks()
    far = Problem(sparse.csc_array(X), problem.y, max_features=4)
    assert far.source is not None
    assert not Twins(far).is_used
    nobody = EstimateParameters(twins=0)
    without = problem.with_parameters(SearchParameters(estimates=nobody))
    assert not Twins(without).is_used


@pytest.mark.parametrize("support", [[0, 8, 16, 24], [3, 100, 200, 300]])
def test_exchanges_for_twins_are_candidates(support):
    _, problem = blocks()
    few = SearchParameters(estimates=EstimateParameters(exchanged=10))
    problem = problem.with_parameters(few)
    evaluator = Evaluator(problem)
    solution = evaluator.solve(np.array(support))
    features, losses = evaluator.exchange_losses(
        solution, evaluator.outside(solution.support)
    )
    mates = {j - j % 8 + k for j in support for k in range(8)} - set(support)
    assert mates <= set(features)
    assert np.unique(features).size == features.size
    assert np.isfinite(losses).all()
    assert losses.shape == (4, features.size)


def test_a_product_is_counted_once_as_work():
    _, problem = blocks()
    twins = Twins(problem)
    first, second = (Evaluator(problem, twins=twins) for _ in range(2))
    first.twins_of(3)
    once = first.work
    assert once > 0.0
    first.twins_of(3)
    assert first.work == once
    # Another one that runs beside it must not depend on how far the first is.
    second.twins_of(3)
    assert second.work == once
    twins.paid |= first.paid
    third = Evaluator(problem, twins=twins)
    third.twins_of(3)
    assert third.work == 0.0
