"""Subsamples have both classes and the total weight of all samples."""

import numpy as np
import pytest

from frugalsvm.engine.tall import draw


def drawn(m=1000, size=100, share=0.3, least=1, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) < share * m, 1.0, -1.0)
    C = rng.uniform(0.5, 2.0, m)
    return y, C, draw(y, C, size, np.random.default_rng(seed), least)


@pytest.mark.parametrize("share", [0.002, 0.3, 0.9])
@pytest.mark.parametrize("least", [1, 20])
def test_classes_keep_their_weight(share, least):
    y, C, found = drawn(share=share, least=least)
    assert (np.diff(found.samples) > 0).all()
    assert found.C.shape == found.samples.shape
    for sign in (1.0, -1.0):
        of_class = y[found.samples] == sign
        np.testing.assert_allclose(found.C[of_class].sum(), C[y == sign].sum())
        assert of_class.sum() >= min(least, (y == sign).sum())
    assert 98 <= found.samples.size <= 100 + 2 * least


def test_weights_within_a_class_keep_their_ratios():
    y, C, found = drawn()
    ratios = found.C / C[found.samples]
    positive = y[found.samples] > 0
    np.testing.assert_allclose(ratios[positive], ratios[positive][0])
    np.testing.assert_allclose(ratios[~positive], ratios[~positive][0])


def test_the_same_seed_draws_the_same_samples():
    assert (drawn(seed=3)[2].samples == drawn(seed=3)[2].samples).all()
    assert (drawn(seed=3)[2].samples[:20] != drawn(seed=4)[2].samples[:20]).any()


def test_all_samples_can_be_drawn():
    _, C, found = drawn(m=50, size=50)
    np.testing.assert_array_equal(found.samples, np.arange(50))
    np.testing.assert_allclose(found.C, C)


def test_every_sample_may_be_drawn():
    met = {int(i) for seed in range(40) for i in drawn(m=30, size=10, seed=seed)[2][0]}
    assert met == set(range(30))
