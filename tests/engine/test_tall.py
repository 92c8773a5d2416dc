"""TallEngine gives the results of all samples with few active ones."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frugalsvm import Problem, relax, solve, verify
from frugalsvm.engine.native import NativeEngine
from frugalsvm.engine.parameters import EngineParameters
from frugalsvm.engine.perspective import region_request
from frugalsvm.engine.tall import TallEngine
from frugalsvm.search.native import relax_natively
from tests.reference import brute_force, svm_value

# A few hundred samples count as very many.
SMALL = EngineParameters(tall_min_samples=60, subsample_min_per_class=10)


def problem_of(X, y, parameters=SMALL, **arguments):
    return Problem(X, y, **arguments).with_parameters(parameters)


def data(m=900, n=6, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    score = X[:, :3] @ [1.0, -0.7, 0.4] + 0.7 * rng.normal(size=m)
    y = np.where(score > np.quantile(score, 1 - share), 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, m)


def ordinary(problem):
    return NativeEngine(problem.engine.data)


def counted(monkeypatch):
    """The number of active samples in each call."""
    sizes = []
    inner = NativeEngine.solve

    def solve(self, requests):
        for request in requests:
            sizes.append((self.n_samples, np.count_nonzero(request.start.side == 0)))
        return inner(self, requests)

    monkeypatch.setattr(NativeEngine, "solve", solve)
    return sizes


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("share", [0.5, 0.05])
@pytest.mark.parametrize("support", [[0], [0, 2, 4], range(6)])
def test_svms_are_exact_for_all_samples(intercept, share, support):
    X, y, weights = data(share=share)
    problem = problem_of(X, y, C=0.3, sample_weight=weights, fit_intercept=intercept)
    assert isinstance(problem.engine, TallEngine)
    support = np.array(support)
    found = problem.engine.solve_svm(support, tol=1e-8)
    wanted = ordinary(problem).solve_svm(support, tol=1e-9)
    np.testing.assert_allclose(found.primal, wanted.primal, rtol=2e-8)
    np.testing.assert_allclose(found.w, wanted.w, rtol=1e-3, atol=1e-4)
    coef = np.zeros(6)
    coef[support] = found.w
    np.testing.assert_allclose(
        problem.objective(coef, found.b), found.primal, rtol=1e-9
    )
    # The dual value belongs to a feasible point.
    part = problem.restrict(support).with_budget(None)
    np.testing.assert_allclose(part.dual_bound(found.alpha), found.dual, rtol=1e-9)
    assert found.dual <= found.primal <= found.dual * (1 + 1.1e-8)


def test_svms_agree_with_another_solver():
    X, y, weights = data(m=300, n=3)
    problem = problem_of(X, y, C=0.3, sample_weight=weights)
    found = problem.engine.solve_svm(np.arange(3))
    np.testing.assert_allclose(found.primal, svm_value(X, y, 0.3 * weights), rtol=1e-6)


def test_few_samples_are_active(monkeypatch):
    X, y, _ = data(m=20_000)
    parameters = replace(SMALL, tall_min_samples=1000)
    problem = problem_of(X, y, parameters, C=0.3)
    sizes = counted(monkeypatch)
    problem.engine.solve_svm(np.array([0, 1, 2]))
    assert sizes
    assert all(active < 0.5 * m for m, active in sizes)
    m, active = sizes[-1]
    assert m == 20_000
    assert active < 0.2 * m


def test_svms_end_above_the_cutoff():
    X, y, _ = data()
    problem = problem_of(X, y, C=0.3)
    best = problem.engine.solve_svm(np.arange(2)).primal
    found = problem.engine.solve_svm(np.arange(2), cutoff=0.5 * best)
    assert 0.5 * best < found.dual <= best
    assert found.primal >= best * (1 - 1e-9)


def test_rough_svms_are_on_the_central_path():
    X, y, _ = data()
    problem = problem_of(X, y, C=0.3)
    found = problem.engine.solve_svm(np.arange(3), tol=0.2)
    wanted = ordinary(problem).solve_svm(np.arange(3), tol=0.2)
    np.testing.assert_array_equal(found.alpha, wanted.alpha)


def test_svms_without_features_are_solved():
    X, y, _ = data(share=0.2)
    found = problem_of(X, y, C=0.3).engine.solve_svm(np.arange(0))
    np.testing.assert_allclose(found.primal, 0.3 * 2 * (y > 0).sum())


@pytest.mark.parametrize(
    "conditions",
    [
        {"max_features": 2},
        {"max_features": 3, "include": [5]},
        {"feature_costs": np.arange(1.0, 7.0), "max_cost": 6.0},
        {"max_features": 2, "fit_intercept": False},
    ],
)
def test_relaxations_are_exact_for_all_samples(conditions):
    X, y, weights = data()
    problem = problem_of(X, y, C=0.3, sample_weight=weights, **conditions)
    found = relax(problem)
    whole = problem.with_parameters(EngineParameters())
    assert not isinstance(whole.engine, TallEngine)
    wanted = relax(whole)
    assert found.bound <= wanted.value
    np.testing.assert_allclose(found.bound, wanted.bound, rtol=3e-6)
    np.testing.assert_allclose(found.value, wanted.value, rtol=3e-6)
    np.testing.assert_allclose(problem.dual_bound(found.alpha), found.bound, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kind", ["separable", "binary", "copies", "constant"])
def test_difficult_data_are_solved(kind, scale):
    X, y, _ = data(m=400, n=4)
    if kind == "separable":
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
    elif kind == "binary":
        X = (X > 0.5).astype(float)
    elif kind == "copies":
        X, y = np.tile(X[:5], (80, 1)), np.tile([1.0, -1.0, 1.0, 1.0, -1.0], 80)
    else:
        X[:, 1:] = 1.0
    problem = problem_of(scale * X, y, C=1.0, max_features=2)
    found = problem.engine.solve_svm(np.arange(2), tol=1e-8)
    wanted = ordinary(problem).solve_svm(np.arange(2), tol=1e-9)
    np.testing.assert_allclose(found.primal, wanted.primal, rtol=1e-7, atol=1e-9)
    assert relax_natively(problem).bound <= wanted.primal * (1 + 1e-9)


@given(
    st.integers(0, 10**6), st.integers(65, 300), st.sampled_from([1e-3, 0.1, 10.0]),
    st.sampled_from([0.02, 0.3, 0.5]), st.booleans(),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_bounds_are_never_above_the_optimum(seed, m, C, share, intercept):
    X, y, weights = data(m, 4, seed, share)
    y[0], y[1] = 1.0, -1.0
    problem = problem_of(
        X, y, C=C, sample_weight=weights, max_features=2, fit_intercept=intercept
    )
    best = brute_force(problem)[0]
    found = relax_natively(problem)
    assert found.bound <= best * (1 + 1e-9)
    result = solve(problem, random_state=0, certificate=True)
    assert result.lower_bound <= best * (1 + 1e-9)
    assert result.objective <= best * (1 + 2e-4)
    verify(
        result.certificate, X, y, C=C, sample_weight=weights, max_features=2,
        fit_intercept=intercept,
    )  # fmt: skip


def test_it_ends_if_the_flag_is_set():
    X, y, _ = data()
    flag = np.ones(1, dtype=np.uint8)
    problem = problem_of(X, y, C=0.3, max_features=2).watching(flag)
    found = problem.engine.solve_svm(np.arange(3))
    assert found.dual <= found.primal
    assert np.isfinite(found.w).all()


def test_relaxations_end_if_the_flag_is_set(monkeypatch):
    X, y, _ = data()
    flag = np.ones(1, dtype=np.uint8)
    problem = problem_of(X, y, C=0.3, max_features=2)
    engine = problem.watching(flag).engine
    request = region_request(
        engine, problem.root_region(), None, tol=1e-6, fine_tol=1e-6, cutoff=np.inf,
        max_rounds=3,
    )  # fmt: skip
    sizes = counted(monkeypatch)
    found = engine.solve([request])[0]
    # One call for all samples, and one for each subsample.
    assert len(sizes) <= 3
    assert found.bound <= brute_force(problem)[0]
