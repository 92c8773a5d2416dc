"""What must not change when the data are rearranged, rescaled or repeated."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frugalsvm import Problem, relax, solve
from tests.reference import brute_force

quick = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@st.composite
def data(draw, max_features=5):
    """Small data with ties: few distinct values, repeated rows and columns."""
    m = draw(st.integers(2, 10))
    n = draw(st.integers(1, max_features))
    values = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.3, 1.0, 4.0])
    X = np.array(draw(st.lists(values, min_size=m * n, max_size=m * n))).reshape(m, n)
    signs = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=m, max_size=m))
    y = np.array(signs)
    y[0], y[-1] = 1.0, -1.0
    C = draw(st.sampled_from([1e-3, 0.1, 1.0, 10.0, 1e4]))
    return X, y, C, draw(st.integers(0, n))


@quick
@given(data())
def test_bound_and_objective_enclose_the_optimum(case):
    X, y, C, budget = case
    problem = Problem(X, y, C=C, max_features=budget)
    optimum, _ = brute_force(problem)
    result = solve(problem, random_state=0, method_options={"patience": 10})
    assert result.lower_bound <= optimum * (1 + 1e-9)
    assert optimum <= result.objective * (1 + 1e-9)
    assert np.count_nonzero(result.coef) <= budget


@quick
@given(data(), st.randoms(use_true_random=False))
def test_order_of_features_and_samples_does_not_matter(case, random):
    X, y, C, budget = case
    columns = random.sample(range(X.shape[1]), X.shape[1])
    rows = random.sample(range(X.shape[0]), X.shape[0])
    value = relax(Problem(X, y, C=C, max_features=budget)).value
    shuffled = relax(Problem(X[rows][:, columns], y[rows], C=C, max_features=budget))
    np.testing.assert_allclose(shuffled.value, value, rtol=3e-6, atol=1e-12)


@quick
@given(data(), st.sampled_from([1e-3, 0.5, 8.0, 1e3]))
def test_scaling_the_data_is_scaling_c(case, scale):
    """Scaling X by s divides w by s, so the objective scales with C by 1 / s^2."""
    X, y, C, budget = case
    value = brute_force(Problem(X, y, C=C, max_features=budget))[0]
    scaled = Problem(X * scale, y, C=C / scale**2, max_features=budget)
    np.testing.assert_allclose(
        brute_force(scaled)[0] * scale**2, value, rtol=1e-6, atol=1e-12
    )


@quick
@given(data(), st.data())
def test_weights_are_repetitions(case, draws):
    X, y, C, budget = case
    m = X.shape[0]
    counts = np.array(
        draws.draw(st.lists(st.integers(0, 3), min_size=m, max_size=m)), dtype=int
    )
    counts[0], counts[-1] = max(1, counts[0]), max(1, counts[-1])
    weighted = Problem(X, y, C=C, sample_weight=counts, max_features=budget)
    repeated = Problem(
        np.repeat(X, counts, axis=0), np.repeat(y, counts), C=C, max_features=budget
    )
    np.testing.assert_allclose(
        brute_force(weighted)[0], brute_force(repeated)[0], rtol=1e-7
    )


@quick
@given(data())
def test_bounds_grow_with_smaller_budgets(case):
    X, y, C, budget = case
    looser = relax(Problem(X, y, C=C, max_features=budget + 1))
    tighter = relax(Problem(X, y, C=C, max_features=budget))
    assert looser.bound <= tighter.value * (1 + 1e-9)
