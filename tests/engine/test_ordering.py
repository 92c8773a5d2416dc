import numpy as np
import pytest

from frugalsvm.engine import ordering


@pytest.mark.parametrize("count", [0, 1, 5, 40, 41, 100])
@pytest.mark.parametrize("few", [0, 1000])
def test_smallest_agrees_with_sorting(monkeypatch, count, few):
    monkeypatch.setattr(ordering, "FEW", few)
    rng = np.random.default_rng(0)
    for values in (
        rng.integers(0, 6, 40).astype(float),
        rng.normal(size=40),
        np.where(rng.random(40) < 0.8, np.nan, 1.0),
        np.zeros(40),
    ):
        wanted = np.argsort(values, kind="stable")[:count]
        np.testing.assert_array_equal(ordering.smallest(values, count), wanted)
