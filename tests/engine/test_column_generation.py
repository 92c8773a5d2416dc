"""ColumnGenerationEngine gives the results of the native engine with few dense rows."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frugalsvm import Problem, relax, solve, verify
from frugalsvm.engine.column_generation import ColumnGenerationEngine
from frugalsvm.engine.parameters import EngineParameters
from frugalsvm.engine.perspective import perspective, region_request
from frugalsvm.engine.protocol import WorkingSet
from tests.reference import brute_force, random_data

TOL = 1e-9


def wide_data(seed, m=40, n=800, density=0.5):
    rng = np.random.default_rng(seed)
    X, y = random_data(rng, m, n)
    X *= rng.random((m, n)) < density
    X[:, :6] += 0.4 * y[:, None]
    X[:, 6] = 500.0 + X[:, 6]
    X[:, 7] = 3.0
    X[:, 8] = 0.0
    # No negative zeros, which sparse matrices cannot have.
    return X + 0.0, y


# No region is fetched as a whole, and few features join at once.
SMALL = EngineParameters(whole_bytes=0, joining_long_rows=10)


def both(X, y, *parameters, **arguments):
    dense, sparse = (
        Problem(data, y, **arguments).with_parameters(*parameters)
        for data in (X, sp.csr_array(X))
    )
    assert dense.source is None
    assert isinstance(sparse.engine, ColumnGenerationEngine)
    return dense, sparse


def sparse_of(X, y, **arguments):
    return Problem(sp.csc_array(X), y, **arguments).with_parameters(SMALL)


def arguments_of(kind, n):
    rng = np.random.default_rng(1)
    return {
        "plain": {},
        "no intercept": {"fit_intercept": False},
        "sets": {"include": [700, 3], "exclude": [0, 11]},
        "costs": {"feature_costs": rng.uniform(1, 3, n), "max_cost": 7.0},
        "weights": {"sample_weight": rng.integers(0, 3, 40)},
    }[kind]


KINDS = ["plain", "no intercept", "sets", "costs", "weights"]


@pytest.mark.parametrize("kind", KINDS)
def test_results_agree_with_the_native_engine(kind):
    X, y = wide_data(0)
    dense, sparse = both(X, y, C=0.5, max_features=5, **arguments_of(kind, 800))
    np.testing.assert_array_equal(sparse.candidates, dense.candidates)
    np.testing.assert_array_equal(sparse.shift, dense.shift)
    one, other = dense.engine, sparse.engine
    alpha = np.random.default_rng(2).uniform(0, 0.5, dense.n_samples)
    np.testing.assert_allclose(
        other.products(alpha), one.products(alpha), rtol=1e-12, atol=1e-11
    )
    some = np.array([6, 0, 7, 99])
    np.testing.assert_array_equal(other.signed_rows(some), one.signed_rows(some))
    region = dense.root_region()
    a, b = one.bound(region, alpha), other.bound(region, alpha)
    np.testing.assert_allclose(b.bound, a.bound, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(b.alpha, a.alpha)
    np.testing.assert_allclose(b.squares, a.squares, rtol=1e-9, atol=1e-15)
    assert one.solve_svm(some).primal == other.solve_svm(some).primal
    w = np.array([0.1, -0.2, 0.3, 0.4])
    margins = [w @ engine.signed_rows(some) + 0.1 * dense.y for engine in (other, one)]
    np.testing.assert_array_equal(*margins)


def relaxed_as_a_whole(problem):
    region = problem.root_region().affordable(problem.costs).settled(problem.costs)
    side = np.zeros(problem.n_samples, dtype=np.int8)
    request = region_request(
        problem.engine, region, None, tol=TOL, fine_tol=TOL, cutoff=np.inf,
        max_rounds=9,
    )  # fmt: skip
    whole = request._replace(start=WorkingSet(region.free, side), rough=False)
    return problem.engine.solve([whole])[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", [2, 5, 30])
def test_relaxations_on_growing_working_sets_are_exact(kind, budget):
    X, y = wide_data(3)
    dense, sparse = both(
        X, y, SMALL, C=0.5, max_features=budget, **arguments_of(kind, 800)
    )
    wanted = relaxed_as_a_whole(dense)
    found = perspective(sparse.engine, sparse.root_region(), tol=TOL)
    # Interior points end at gaps of 1e-9 to 1e-8, depending on compilation.
    np.testing.assert_allclose(found.bound, wanted.bound, rtol=1e-7)
    np.testing.assert_allclose(found.primal, wanted.primal, rtol=1e-7)
    assert found.bound <= wanted.primal * (1 + 1e-12)
    assert found.bound <= sparse.dual_bound(found.alpha) * (1 + 1e-12)
    used = found.z > 0
    assert found.rounds > 1 or sparse.root_region().k == 0
    # The relaxed solution has the reported value.
    margins = dense.A[used].T @ found.w[used]
    norm = (found.w[used] ** 2 / found.z[used]).sum()
    if kind == "no intercept":
        value = 0.5 * norm + dense.C @ np.maximum(0, 1 - margins)
        np.testing.assert_allclose(value, found.primal, rtol=1e-3)


def test_working_sets_stay_small(monkeypatch):
    asked = []
    native = ColumnGenerationEngine.native

    def recording(self, features):
        asked.append(features.size)
        return native(self, features)

    monkeypatch.setattr(ColumnGenerationEngine, "native", recording)
    X, y = wide_data(3, n=5000)
    sparse = sparse_of(X, y, C=0.5, max_features=5)
    relax(sparse)
    assert 0 < max(asked) < 1000


def test_requests_can_be_continued_and_cut_off():
    X, y = wide_data(4)
    dense, sparse = both(X, y, SMALL, max_features=6)
    engine, region = sparse.engine, sparse.root_region()
    request = region_request(
        engine, region, None, tol=1e-7, fine_tol=1e-7, cutoff=np.inf, max_rounds=1
    )
    whole = relax(dense, tol=1e-9)
    for _ in range(99):
        found = engine.solve([request])[0]
        assert found.rounds == 1
        assert found.bound <= whole.value * (1 + 1e-9)
        if found.finished:
            break
        request = request.continued(found)
    np.testing.assert_allclose(found.bound, whole.bound, rtol=1e-6)
    beyond = engine.solve([request._replace(cutoff=0.5 * whole.bound, tol=0.9)])[0]
    assert beyond.bound > 0.5 * whole.bound


def test_the_fine_tolerance_is_used_if_it_may_exceed_the_cutoff():
    X, y = wide_data(4)
    engine = sparse_of(X, y, max_features=6).engine
    region = sparse_of(X, y, max_features=6).root_region()
    request = region_request(
        engine, region, None, tol=1e-8, fine_tol=1e-8, cutoff=np.inf, max_rounds=50
    )
    exact = engine.solve([request])[0]
    coarse = request._replace(tol=0.3)
    assert coarse.fine_tol < coarse.tol
    rough = engine.solve([coarse._replace(fine_tol=0.3)])[0]
    assert rough.primal - rough.bound > 1e-5 * rough.primal
    beyond = engine.solve([coarse._replace(cutoff=(1 - 1e-6) * exact.bound)])[0]
    assert beyond.bound > (1 - 1e-6) * exact.bound


def test_screening_agrees_with_the_native_engine():
    X, y = wide_data(5)
    dense, sparse = both(X, y, SMALL, C=0.1, max_features=3)
    cutoff = solve(dense, random_state=0, effort="fast").objective
    answers = []
    for problem in (dense, sparse):
        engine, region = problem.engine, problem.root_region()
        request = region_request(
            engine, region, None, tol=1e-9, fine_tol=1e-9, cutoff=cutoff, max_rounds=50
        )
        answers.append(engine.solve([request])[0])
    one, other = answers
    assert one.decides
    assert other.decides
    assert (one.decision != other.decision).mean() < 0.01


def test_a_full_working_set_gives_a_valid_bound():
    tiny = replace(SMALL, max_rows=8, rows_per_choice=0)
    X, y = wide_data(6)
    dense, sparse = both(X, y, tiny, max_features=6)
    value = relax(dense, tol=1e-9).value
    found = relax(sparse)
    assert 0 < found.bound <= value
    assert found.value >= value * (1 - 1e-9)


def test_a_stop_ends_relaxations_between_rounds():
    X, y = wide_data(6)
    flag = np.zeros(1, dtype=np.uint8)
    sparse = sparse_of(X, y, max_features=6).watching(flag)
    engine, region = sparse.engine, sparse.root_region()
    request = region_request(
        engine, region, None, tol=1e-9, fine_tol=1e-9, cutoff=np.inf, max_rounds=50
    )
    flag[0] = 1
    found = engine.solve([request])[0]
    assert not found.finished
    assert found.rounds == 1
    assert found.bound <= relax(Problem(X, y, max_features=6)).value


@pytest.mark.parametrize("method", ["swap", "branch-and-bound", "auto"])
def test_sparse_and_dense_data_give_the_same_model(method):
    X, y = wide_data(7, m=60, n=60)
    dense, sparse = both(X, y, C=0.2, max_features=3)
    one, other = (
        solve(problem, method=method, random_state=0, certificate=True, n_jobs=1)
        for problem in (dense, sparse)
    )
    np.testing.assert_array_equal(other.selected, one.selected)
    np.testing.assert_allclose(other.objective, one.objective, rtol=1e-8)
    np.testing.assert_allclose(other.lower_bound, one.lower_bound, rtol=1e-7)
    np.testing.assert_allclose(other.coef, one.coef, rtol=1e-6, atol=1e-9)
    assert one.certificate is not None
    assert other.certificate is not None
    # A proof from sparse data holds for dense data, and vice versa.
    for result in (one, other):
        for data in (X, sp.csr_array(X)):
            proved = verify(result.certificate, data, y, C=0.2, max_features=3)
            assert proved.lower_bound >= result.lower_bound * (1 - 1e-9)


@st.composite
def sparse_data(draw):
    m = draw(st.integers(2, 9))
    n = draw(st.integers(1, 5))
    values = st.sampled_from([-2.0, -1.0, 0.0, 0.0, 0.0, 0.3, 1.0, 300.0])
    X = np.array(draw(st.lists(values, min_size=m * n, max_size=m * n))).reshape(m, n)
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=m, max_size=m)))
    y[0], y[-1] = 1.0, -1.0
    return X, y, draw(st.sampled_from([0.01, 1.0, 100.0])), draw(st.integers(0, n))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(sparse_data())
def test_bounds_of_sparse_data_are_valid(case):
    X, y, C, budget = case
    sparse = Problem(sp.csr_array(X), y, C=C, max_features=budget)
    optimum, _ = brute_force(Problem(X, y, C=C, max_features=budget))
    result = solve(sparse, random_state=0, method_options={"patience": 5})
    assert result.lower_bound <= optimum * (1 + 1e-9)
    assert optimum <= result.objective * (1 + 1e-9)
    proved = solve(sparse, method="branch-and-bound", random_state=0)
    np.testing.assert_allclose(proved.objective, optimum, rtol=2e-4, atol=1e-12)
