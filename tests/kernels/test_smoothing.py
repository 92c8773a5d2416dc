"""The smoothed SVM is optimal and ranks exchanges."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import spearmanr

from frugalsvm.engine.native import NativeEngine
from frugalsvm.kernels import smoothing
from frugalsvm.kernels.data import NEVER
from tests.kernels.compiled import compiled
from tests.kernels.test_active_set_steps import (
    all_near,
    cold,
    random_data,
    select_near_samples,
)

smoothen, exchange_model, barrier_weight = map(
    compiled,
    (smoothing.smoothen, smoothing.exchange_model, smoothing.barrier_weight),
)
SUPPORT = np.array([0, 3, 4, 7])


def smooth_objective(data, support, tau):
    """The smooth objective as a function of weights and intercept, by definition."""
    A, y, C = data.A[support], data.y, data.C

    def value(v):
        b = v[-1] if data.intercept else 0.0
        slack = 1.0 - v[: support.size] @ A - b * y
        low, high = np.zeros(C.size), C.copy()
        for _ in range(80):
            alpha = 0.5 * (low + high)
            rises = slack + tau / alpha - tau / (C - alpha) > 0
            low, high = np.where(rises, alpha, low), np.where(rises, high, alpha)
        losses = slack * alpha + tau * np.log(alpha) + tau * np.log(C - alpha)
        return 0.5 * v[: support.size] @ v[: support.size] + losses.sum()

    return value


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("tau", [1e-3, 1e-1])
def test_smoothen_minimises_the_smoothed_objective(tau, C, intercept):
    data = random_data(0, C=C, intercept=intercept)
    _, _, near, point, _ = cold(data, SUPPORT)
    found = smoothen(near, point, intercept, tau, NEVER)
    # The dual point belongs to weights that are nearly optimal.
    c = data.A[SUPPORT] @ found.alpha
    value = smooth_objective(data, SUPPORT, tau)
    start = np.append(c, point.numbers[0]) if intercept else c
    best = minimize(value, start, method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(c, best.x[:4], atol=0.05 * np.abs(best.x).max())
    if intercept:
        assert abs(data.y @ found.alpha) <= 1e-8 * found.alpha.sum()


def test_theta_is_the_slope_of_alpha():
    data = random_data(1)
    _, _, near, point, _ = cold(data, SUPPORT)
    tau = 0.05
    found = smoothen(near, point, True, tau, NEVER)
    room = data.C - found.alpha
    inside = (found.alpha > 0) & (room > 0)
    slope = 1.0 / (tau / found.alpha**2 + tau / room**2)
    # Theta belongs to the point before the last, small step.
    np.testing.assert_allclose(found.theta[inside], slope[inside], rtol=0.7)


def model_of(data, support, near, point, features):
    tau = barrier_weight(point.numbers[1], data.y.size, support.size)
    smooth = smoothen(near, point, data.intercept, tau, NEVER)
    alpha = np.zeros(data.y.size)
    alpha[near.samples] = smooth.alpha
    return exchange_model(data, near, smooth, features, data.A[features] @ alpha)


@pytest.mark.parametrize("intercept", [True, False])
def test_exchange_costs_rank_like_the_true_ones(intercept):
    correlations = []
    for seed in range(4):
        data = random_data(seed, m=60, n=30, C=10.0, intercept=intercept)
        support, others = np.arange(6), np.arange(6, 30)
        _, _, near, point, _ = cold(data, support)
        losses = model_of(data, support, near, point, others).losses
        engine = NativeEngine(data)
        true = np.array(
            [
                [engine.solve_svm(np.sort([*np.delete(support, j), k])).primal
                 for k in others]
                for j in range(6)
            ]
        )  # fmt: skip
        correlations.append(spearmanr(losses.ravel(), true.ravel())[0])
    assert np.mean(correlations) > 0.6


def test_exchanging_a_feature_for_its_copy_costs_nothing():
    data = random_data(0, n=12, C=1.0)
    data.A[11] = data.A[2]
    support = np.arange(5)
    _, _, near, point, _ = cold(data, support)
    losses = model_of(data, support, near, point, np.array([8, 11])).losses
    assert losses[2, 1] == pytest.approx(0.0, abs=1e-6 * point.numbers[1])
    assert losses[2, 0] > 1e-3 * point.numbers[1]


def test_far_samples_change_estimates_little():
    data = random_data(3, m=200, C=0.05)
    support = np.arange(5)
    _, _, near, point, _ = cold(data, support)
    others = np.arange(5, 12)
    whole = model_of(data, support, near, point, others).losses
    slack = 1.0 - point.w @ data.A[support] - point.numbers[0] * data.y
    part = select_near_samples(data, support, slack, point.alpha, 120)
    assert part.samples.size < 200
    near_point = point._replace(
        alpha=point.alpha[part.samples], side=point.side[part.samples],
        free=np.searchsorted(part.samples, point.free),
    )  # fmt: skip
    tau = barrier_weight(point.numbers[1], 200, 5)
    smooth = smoothen(part, near_point, True, tau, NEVER)
    alpha = point.alpha.copy()
    alpha[part.samples] = smooth.alpha
    found = exchange_model(data, part, smooth, others, data.A[others] @ alpha).losses
    assert spearmanr(found.ravel(), whole.ravel())[0] > 0.9
    assert all_near(data, support).samples.size == 200


@pytest.mark.parametrize("m", [2, 9, 200])
def test_intercept_is_the_best_breakpoint(m):
    rng = np.random.default_rng(m)
    scores, C = rng.normal(size=m), rng.uniform(0.1, 2.0, m)
    y = np.where(np.arange(m) % 2, 1.0, -1.0)

    def loss(b):
        return C @ np.maximum(0.0, 1.0 - y * (scores + b))

    found = loss(smoothing.intercept_of(scores, y, C))
    np.testing.assert_allclose(found, min(map(loss, y - scores)), rtol=1e-12)
