import numpy as np
import pytest

from frugalsvm.kernels.branching import largest, most_fractional


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_features_are_selected_in_order(seed):
    rng = np.random.default_rng(seed)
    free = np.sort(rng.choice(30, 12, replace=False))
    values = rng.integers(0, 5, 30).astype(float)
    expected = free[np.argsort(-values[free], kind="stable")]
    for count in (0, 1, 5, 12, 20):
        np.testing.assert_array_equal(largest(free, values, count), expected[:count])


def test_most_fractional_features_are_closest_to_one_half():
    z = np.array([0.9, 0.5, 0.0, 0.4, 0.65])
    np.testing.assert_array_equal(most_fractional(np.arange(5), z, 3), [1, 3, 4])
