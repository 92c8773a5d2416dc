"""The best intercept, against all breakpoints of the loss."""

import numpy as np
import pytest

from frugalsvm.kernels.smoothing import intercept_of


@pytest.mark.parametrize("m", [2, 9, 200])
def test_intercept_is_the_best_breakpoint(m):
    rng = np.random.default_rng(m)
    scores, C = rng.normal(size=m), rng.uniform(0.1, 2.0, m)
    y = np.where(np.arange(m) % 2, 1.0, -1.0)

    def loss(b):
        return C @ np.maximum(0.0, 1.0 - y * (scores + b))

    found = loss(intercept_of(scores, y, C))
    np.testing.assert_allclose(found, min(map(loss, y - scores)), rtol=1e-12)
