import numpy as np
import pytest

from frugalsvm.engine.columns import SORTED_UP_TO, smallest


@pytest.mark.parametrize(
    "count", [0, 1, 5, 40, 41, SORTED_UP_TO, SORTED_UP_TO + 1, SORTED_UP_TO + 2]
)
@pytest.mark.parametrize("size", [40, SORTED_UP_TO + 1])
def test_smallest_agrees_with_sorting(count, size):
    rng = np.random.default_rng(0)
    for values in (
        rng.integers(0, 6, size).astype(float),
        rng.normal(size=size),
        np.where(rng.random(size) < 0.8, np.nan, 1.0),
        np.where(rng.random(size) < 0.99, np.nan, 1.0),
        np.zeros(size),
    ):
        wanted = np.argsort(values, kind="stable")[:count]
        np.testing.assert_array_equal(smallest(values, count), wanted)
