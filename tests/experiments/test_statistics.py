import numpy as np
import pytest
from scipy import stats

from experiments.statistics import (
    corrected_half_interval,
    critical_difference,
    half_interval,
    mean,
    mean_ranks,
    nogueira,
    rounded,
)

SCORES = [90.0, 92.0, 95.0, 91.0, 89.0]


def test_the_interval_of_a_mean():
    low, high = stats.t.interval(
        0.95, len(SCORES) - 1, np.mean(SCORES), stats.sem(SCORES)
    )
    assert half_interval(SCORES) == pytest.approx((high - low) / 2)
    assert half_interval([1.0]) is None
    assert mean([]) is None


def test_the_correction_for_training_sets_that_overlap():
    """By Nadeau and Bengio the variance has 1/k + test/train in place of 1/k."""
    factor = np.sqrt((1 / 5 + 0.2 / 0.8) / (1 / 5))
    corrected = corrected_half_interval(SCORES, 0.2)
    assert corrected == pytest.approx(factor * half_interval(SCORES))


def test_ranks_and_their_critical_difference():
    scores = np.array([[3.0, 2.0, 1.0], [5.0, 5.0, 1.0]])
    np.testing.assert_allclose(mean_ranks(scores), [1.25, 1.75, 3.0])
    # Demšar (2006), Table 5: q = 2.343 for three methods and 2.728 for five.
    for methods, q in ((3, 2.343), (5, 2.728)):
        expected = q * np.sqrt(methods * (methods + 1) / (6 * 10))
        assert critical_difference(methods, 10) == pytest.approx(expected, rel=1e-3)


def test_stability():
    same = np.tile([True, False, True, False], (5, 1))
    assert nogueira(same) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    by_lot = rng.permuted(np.tile(np.arange(20) < 5, (400, 1)), axis=1)
    assert abs(nogueira(by_lot)) < 0.02
    assert nogueira(same[:1]) is None
    assert nogueira(np.ones((3, 2), dtype=bool)) is None


def test_rounding_does_not_change_text():
    assert rounded(1.256, 1) == 1.3
    assert rounded(None, 1) is None
    assert rounded("failed", 1) == "failed"
