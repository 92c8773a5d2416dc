"""The rules that choose a budget and C by the scores of the folds."""

import numpy as np
import pytest

from frugalsvm.api.validation.choice import choose, one_standard_error, standard_error

MEANS = np.array([[0.80, 0.88, 0.90], [0.86, 0.895, 0.91]])


@pytest.mark.parametrize(
    ("se", "rule", "place"),
    [
        (0.0, "best", (1, 2)),
        (0.01, "best", (1, 2)),
        (0.0, "one-se", (1, 2)),
        # Two features of the larger C before three of the smaller one.
        (0.016, "one-se", (1, 1)),
        # Among the budgets of two features the smaller C.
        (0.03, "one-se", (0, 1)),
        (0.05, "one-se", (1, 0)),
    ],
)
def test_fewest_features_first_then_the_smallest_C(se, rule, place):
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
