"""Random numbers are uniform and depend only on the seed."""

import numpy as np

from frugalsvm.kernels import linalg as draws
from tests.kernels.compiled import compiled

draw = compiled(draws.draw)


def drawn(seed, count=20_000):
    state = np.array([seed], dtype=np.uint64)
    return np.array([draw(state) for _ in range(count)])


def test_draws_are_uniform():
    values = drawn(987_654_321_987)
    assert values.min() >= 0.0
    assert values.max() < 1.0
    counts = np.histogram(values, 20, (0.0, 1.0))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 50
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.03


def test_draws_depend_only_on_the_seed():
    np.testing.assert_array_equal(drawn(5, 10), drawn(5, 10))
    assert not np.array_equal(drawn(5, 10), drawn(6, 10))
