"""The rules that choose a budget and C by the scores of the folds."""

import numpy as np
import pytest

from frugalsvm.estimators.choice import (
    Choice,
    choose,
    middle_of_best,
    one_standard_error,
    standard_error,
)
from frugalsvm.estimators.grid import GridFold

MEANS = np.array([[0.80, 0.88, 0.90], [0.86, 0.895, 0.91]])


@pytest.mark.parametrize(
    ("se", "rule", "place"),
    [
        (0.0, "best", (1, 2)),
        (0.01, "best", (1, 2)),
        (0.0, "one-se", (1, 2)),
        # Two features of the larger C before three of the smaller one.
        (0.016, "one-se", (1, 1)),
        # Both C of two features are near enough: the better one.
        (0.03, "one-se", (1, 1)),
        (0.05, "one-se", (1, 0)),
    ],
)
def test_fewest_features_first_then_the_best_C(se, rule, place):
    assert choose(MEANS, np.full(MEANS.shape, se), rule) == place


def test_scores_that_are_not_numbers_are_not_chosen():
    means = MEANS.copy()
    means[1, 2] = np.nan
    assert choose(means, np.zeros(means.shape), "best") == (0, 2)
    with pytest.raises(ValueError, match="not finite"):
        choose(np.full((1, 1), np.nan), np.zeros((1, 1)), "best")


def test_the_threshold_is_that_of_the_best_mean():
    errors = np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.02]])
    assert one_standard_error(MEANS, errors) == pytest.approx(0.89)
    means = MEANS.copy()
    means[1, 2] = np.nan
    assert one_standard_error(means, errors) == pytest.approx(0.4)


def test_the_standard_error_of_a_mean():
    scores = np.random.default_rng(0).normal(size=(2, 3, 5))
    expected = scores.std(axis=-1, ddof=1) / np.sqrt(5)
    np.testing.assert_allclose(standard_error(scores), expected)
    assert not standard_error(scores[..., :1]).any()


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ([0.7], 0),
        ([0.7, 0.9, 0.8], 1),
        ([0.9, 0.9, 0.9, 0.8], 1),
        # The lower one of two.
        ([0.8, 0.9, 0.9, 0.8], 1),
        # The longest run, not the first value or the middle of all.
        ([0.9, 0.8, 0.9, 0.9, 0.9], 3),
        ([0.9, 0.9, 0.8, 0.9, 0.9], 0),
        # Equal up to rounding.
        ([0.8, 0.3 - 0.1 + 0.7, 0.9, 0.9 - 1e-14], 2),
        ([-np.inf, 0.9, 0.9, 0.9], 2),
        ([-np.inf, -np.inf], 0),
    ],
)
def test_the_middle_of_a_plateau(values, place):
    assert middle_of_best(np.array(values)) == place


@pytest.mark.parametrize("rule", ["best", "one-se"])
def test_ties_go_to_fewer_features_then_to_the_middle(rule):
    means = np.full((5, 3), 0.9)
    means[:, 0] = 0.8
    assert choose(means, np.zeros(means.shape), rule) == (2, 1)
    means[4] = 0.7
    assert choose(means, np.zeros(means.shape), rule) == (1, 1)


def folds_of(scores, constant, chance=(0.5, 0.5)):
    """Five folds with the same scores (by C, budget and refit C), give or take."""
    scores, constant = np.array(scores), np.array(constant)
    empty = [[np.array([0])] * scores.shape[1]] * scores.shape[0]
    return [
        GridFold(
            scores + shift, constant, chance, np.ones(scores.shape[:2]), empty, 1
        )
        for shift in (-0.04, -0.02, 0.0, 0.02, 0.04)
    ]  # fmt: skip


def test_constant_models_are_not_chosen_if_another_is_better_than_chance():
    """As with a score that constant models do well by, such as accuracy."""
    scores = [[[0.94, 0.95], [0.96, 0.96]]]
    constant = [[[True, True], [False, True]]]
    choice = Choice.of(folds_of(scores, constant, (0.05, 0.94)), "one-se")
    # One feature is within one standard error, .014, but its models are constant.
    assert choice.key == (0, 1, 0)
    assert not choice.is_forced
    # Within its error of chance.
    choice = Choice.of(folds_of(scores, constant, (0.05, 0.95)), "one-se")
    assert choice.key == (0, 0, 1)
    assert choice.is_forced
    # What is barred later counts as constant.
    folds = folds_of(scores, np.zeros((1, 2, 2), dtype=bool), (np.nan, np.nan))
    assert Choice.of(folds, "one-se").key == (0, 0, 1)
    assert Choice.of(folds, "one-se", {(0, 0, 1)}).key == (0, 1, 0)
    every = {(0, j, r) for j in (0, 1) for r in (0, 1)}
    assert Choice.of(folds, "one-se", every).is_forced


def test_models_are_constant_if_most_folds_say_so():
    scores = [[[0.7], [0.71]]]
    yes, no = [[[True], [False]]], [[[False], [False]]]
    folds = folds_of(scores, yes)[:2] + folds_of(scores, no)[2:]
    assert Choice.of(folds, "one-se").cell == (0, 0)
    folds = folds_of(scores, yes)[:3] + folds_of(scores, no)[3:]
    assert Choice.of(folds, "one-se").cell == (0, 1)


def test_the_weights_get_the_middle_of_the_best_C():
    scores = [[[0.6, 0.8, 0.8, 0.8, 0.7]]]
    choice = Choice.of(folds_of(scores, np.zeros((1, 1, 5), dtype=bool)), "best")
    assert choice.key == (0, 0, 2)
    assert choice.index == 2
