"""Groups of columns and signs of weights, compared with enumeration."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from frugalsvm import (
    FrugalSVC,
    Problem,
    Status,
    frugal_path,
    near_optimal,
    relax,
    solve,
    verify,
)
from frugalsvm.engine.parameters import EngineParameters
from frugalsvm.engine.tall import TallEngine
from tests.grouped import KINDS, grouped_arguments, grouped_problem
from tests.reference import (
    Enumeration,
    brute_force,
    dscop_value,
    random_alpha,
    random_data,
    svm_value,
)

GAP = 1e-6
quick = settings(
    max_examples=40, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip


def check(problem, result, optimum, gap=GAP):
    """A result is a solution, no better than the optimum, with a bound below it."""
    coef, columns = result.coef, problem.columns
    assert coef.shape == (problem.n_columns,)
    assert (coef * columns.signs >= 0).all()
    used = np.union1d(np.unique(columns.groups[coef != 0]), problem.include)
    assert problem.admits(used.astype(np.int64))
    assert set(columns.groups[coef != 0]) <= set(result.selected)
    assert not set(used) & set(problem.exclude)
    if not problem.fit_intercept:
        assert result.intercept == 0
    # The objective is what NumPy makes of the weights.
    scores = problem.signed_rows(np.arange(problem.n_columns)).T @ coef
    losses = np.maximum(0.0, 1.0 - scores - result.intercept * problem.y)
    value = 0.5 * coef @ coef + losses @ problem.C
    np.testing.assert_allclose(result.objective, value, rtol=1e-9)
    assert result.lower_bound <= optimum * (1 + 1e-9)
    assert result.objective >= optimum * (1 - 1e-8)
    if result.status is Status.OPTIMAL:
        assert result.objective <= optimum * (1 + gap + 1e-9)


# --- optima ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_trees_find_the_optimum(kind, seed):
    X, y, arguments = grouped_arguments(kind, seed, most=9)
    problem = Problem(X, y, **arguments)
    optimum, _ = brute_force(problem)
    for patience in (0, 10):
        result = solve(
            problem, method="branch-and-bound", gap_tol=GAP, random_state=0,
            method_options={"patience": patience},
        )  # fmt: skip
        assert result.status is Status.OPTIMAL
        check(problem, result, optimum)


def test_ten_groups():
    rng = np.random.default_rng(5)
    X, y = random_data(rng, 24, 22)
    groups = rng.permutation(np.arange(22) % 10)
    problem = Problem(
        X, y, C=0.5, max_features=4, feature_groups=groups,
        signs=rng.integers(-1, 2, 22),
    )  # fmt: skip
    optimum, _ = brute_force(problem)
    result = solve(problem, method="branch-and-bound", gap_tol=GAP, random_state=0)
    assert result.status is Status.OPTIMAL
    check(problem, result, optimum)


@pytest.mark.parametrize("method", ["auto", "swap", "relax-and-round"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_other_methods_have_solutions_and_bounds(method, kind, seed):
    problem = grouped_problem(kind, seed, most=8)
    optimum, _ = brute_force(problem)
    result = solve(problem, method=method, gap_tol=GAP, random_state=0, n_jobs=1)
    check(problem, result, optimum)


@pytest.mark.parametrize("effort", ["fast", "normal", "thorough"])
def test_all_efforts_have_solutions_and_bounds(effort):
    """With features enough for all parts of a search."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 90))
    y = np.where(X[:, :4].sum(axis=1) + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    groups = rng.permutation(np.arange(90) // 3)
    signs = rng.integers(-1, 2, 90)
    problem = Problem(X, y, max_features=3, feature_groups=groups, signs=signs)
    result = solve(problem, effort=effort, random_state=0, n_jobs=1)
    assert np.unique(groups[result.coef != 0]).size <= 3
    assert (result.coef * signs >= 0).all()
    assert 0 < result.lower_bound <= result.objective
    columns = np.flatnonzero(np.isin(problem.columns.groups, result.selected))
    value = svm_value(X[:, columns], y, problem.C, signs=signs[columns])
    np.testing.assert_allclose(result.objective, value, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_sparse_data(kind, seed):
    X, y, arguments = grouped_arguments(kind, seed)
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.6, X, 0.0)
    problem = Problem(sparse.csc_array(X), y, **arguments)
    assert problem.source is not None
    optimum, _ = brute_force(Problem(X, y, **arguments))
    result = solve(problem, method="branch-and-bound", gap_tol=GAP, random_state=0)
    assert result.status is Status.OPTIMAL
    check(problem, result, optimum)


@pytest.mark.parametrize("kind", KINDS)
def test_very_many_samples(kind):
    X, y, arguments = grouped_arguments(kind, 1, most=5, samples=(150, 200))
    parameters = EngineParameters(tall_min_samples=40, subsample_min_per_class=10)
    problem = Problem(X, y, **arguments).with_parameters(parameters)
    assert isinstance(problem.engine, TallEngine)
    optimum, _ = brute_force(problem)
    result = solve(problem, method="branch-and-bound", gap_tol=GAP, random_state=0)
    check(problem, result, optimum)
    assert result.status is Status.OPTIMAL


@st.composite
def cases(draw):
    """Small data with ties: few distinct values, groups in any order, any signs."""
    m, n = draw(st.integers(2, 9)), draw(st.integers(1, 7))
    numbers = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.3, 1.0, 4.0])
    X = np.array(draw(st.lists(numbers, min_size=m * n, max_size=m * n))).reshape(m, n)
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=m, max_size=m)))
    y[0], y[-1] = 1.0, -1.0
    groups = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    signs = draw(st.lists(st.sampled_from([-1, 0, 0, 1]), min_size=n, max_size=n))
    C = draw(st.sampled_from([1e-3, 0.1, 1.0, 10.0, 1e3]))
    arguments = {
        "C": C, "max_features": draw(st.integers(0, len(set(groups)))),
        "fit_intercept": draw(st.booleans()), "feature_groups": groups, "signs": signs,
    }  # fmt: skip
    return X, y, arguments


@quick
@given(cases())
def test_bound_and_objective_enclose_the_optimum(case):
    X, y, arguments = case
    problem = Problem(X, y, **arguments)
    optimum, _ = brute_force(problem)
    result = solve(problem, random_state=0, method_options={"patience": 10})
    check(problem, result, optimum, 1e-4)


# --- relaxations and duals ------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_native_relaxation_is_clarabels(kind, seed):
    problem = grouped_problem(kind, seed, most=9)
    native = relax(problem, tol=1e-8)
    other = relax(problem, solver="clarabel", tol=1e-9)
    np.testing.assert_allclose(native.value, other.value, rtol=1e-6)
    np.testing.assert_allclose(native.bound, other.value, rtol=1e-6)
    # Multipliers of other solvers prove as much, by our bound.
    np.testing.assert_allclose(other.bound, native.bound, rtol=1e-5)
    assert native.u.shape == (problem.n_features,)
    assert native.w.shape == (problem.n_columns,)
    assert (native.w * problem.columns.signs >= 0).all()
    svm = relax(problem, "SVM", tol=1e-8)
    signs = problem.columns.signs
    usable = np.isin(problem.columns.groups, np.flatnonzero(svm.u == 0))
    X = (problem.A * problem.y).T[:, usable]
    wanted = svm_value(X, problem.y, problem.C, problem.fit_intercept, 1e-10,
                       signs[usable])  # fmt: skip
    np.testing.assert_allclose(svm.value, wanted, rtol=1e-6)
    np.testing.assert_allclose(svm.bound, wanted, rtol=1e-6)


@pytest.mark.parametrize("sizes", [(300, 60, 20), (40, 400, 80)])
def test_native_relaxation_of_larger_data_is_clarabels(sizes):
    """More samples than columns, and the other way round."""
    m, n, p = sizes
    rng = np.random.default_rng(m)
    X = rng.normal(size=(m, n))
    y = np.where(X[:, 0] + X[:, n // 2] + rng.normal(size=m) > 0, 1.0, -1.0)
    groups = np.arange(n) * p // n
    for signs in (None, rng.integers(-1, 2, n)):
        problem = Problem(X, y, C=0.3, max_features=4, feature_groups=groups,
                          signs=signs)  # fmt: skip
        native = relax(problem, tol=1e-7)
        wanted = dscop_value(X, y, problem.C, 4, groups=groups, signs=signs)
        np.testing.assert_allclose(native.value, wanted, rtol=1e-6)
        np.testing.assert_allclose(native.bound, wanted, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_no_dual_point_has_a_bound_above_the_optimum(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    n_close = 0
    for seed in range(6):
        problem = grouped_problem(kind, seed)
        optimum, _ = brute_force(problem)
        best = relax(problem, tol=1e-8).alpha
        points = [best * rng.uniform(0.9, 1.1, best.size) for _ in range(20)]
        points += [random_alpha(rng, problem.C) for _ in range(20)]
        for alpha in [best, *points]:
            bound = problem.dual_bound(alpha)
            assert bound <= optimum * (1 + 1e-12)
            n_close += bound > 0.5 * optimum
    assert n_close > 30


# --- lists ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_lists_are_complete(kind, seed):
    problem = grouped_problem(kind, seed, most=7)
    reference = Enumeration(problem)
    for tolerance in (0.01, 0.3):
        found = near_optimal(problem, tolerance=tolerance, random_state=0)
        assert found.complete
        limit = (1 + tolerance) * reference.best
        sure, possible = (
            {reference.reduced(s) for s in reference.sets(limit * (1 + sign * 1e-7))}
            for sign in (-1, 1)
        )
        listed = {tuple(s.tolist()) for s in found.supports}
        assert sure <= listed <= possible
        values = [reference.values[tuple(s.tolist())] for s in found.supports]
        np.testing.assert_allclose(found.objectives, values, rtol=1e-7)
        for support, coef, intercept, objective in zip(
            found.supports, found.coefs, found.intercepts, found.objectives, strict=True
        ):
            whole = np.zeros(problem.n_columns)
            whole[problem.columns.of(support)] = coef
            assert (whole * problem.columns.signs >= 0).all()
            assert problem.objective(whole, intercept) == objective
            assert problem.admits(support)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_roles_are_those_of_enumeration(kind, seed):
    problem = grouped_problem(kind, seed, most=7)
    reference = Enumeration(problem)
    found = near_optimal(problem, tolerance=0.3, random_state=0)
    useful = {*problem.candidates, *problem.include}
    minimal = {s for s in reference.minimal(1.3 * reference.best) if {*s} <= useful}
    assert {tuple(one.tolist()) for one in found.minimal()} == minimal
    within = [{*s} for s, v in reference.values.items() if v <= 1.3 * reference.best]
    names = found.feature_names
    indispensable = set.intersection(*within)
    assert found.indispensable == [names[g] for g in sorted(indispensable)]
    # A feature is never used if no model that has it needs it.
    needed = {
        g
        for s, value in reference.values.items()
        if value <= 1.3 * reference.best and {*s} <= useful
        for g in {*s} - {*problem.include}
        if value < reference.values[tuple(j for j in s if j != g)] * (1 - 1e-8)
    }
    for g in needed:
        assert names[g] not in found.never


@pytest.mark.parametrize("kind", KINDS)
def test_lists_are_proved(kind):
    X, y, arguments = grouped_arguments(kind, 2, most=7)
    problem = Problem(X, y, **arguments)
    found = near_optimal(problem, tolerance=0.2, random_state=0, certificate=True)
    proved = verify(found.certificate, X, y).alternatives
    assert proved.threshold >= found.threshold * (1 - 1e-9)
    listed = {tuple(s.tolist()) for s in proved.supports}
    reference = Enumeration(problem)
    for s in reference.sets(proved.threshold * (1 - 1e-7)):
        assert any({*s} <= {*other} for other in listed)


# --- certificates ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_prove_the_bound(kind):
    X, y, arguments = grouped_arguments(kind, 4, most=7)
    problem = Problem(X, y, **arguments)
    result = solve(
        problem, method="branch-and-bound", gap_tol=GAP, random_state=0,
        certificate=True,
    )  # fmt: skip
    proved = verify(result.certificate, X, y)
    optimum, _ = brute_force(problem)
    assert proved.lower_bound <= optimum * (1 + 1e-9)
    assert proved.lower_bound >= result.lower_bound * (1 - 1e-9)


# --- what must not matter -------------------------------------------------------------


def optimum_of(X, y, **arguments):
    result = solve(
        Problem(X, y, **arguments), method="branch-and-bound", gap_tol=1e-8,
        random_state=0, method_options={"patience": 5},
    )  # fmt: skip
    return result.objective, result.lower_bound, result


@pytest.mark.parametrize("seed", range(4))
def test_order_of_columns_does_not_matter(seed):
    """Also between groups, whose numbers then differ."""
    X, y, arguments = grouped_arguments("both", seed, most=7)
    value, _, _ = optimum_of(X, y, **arguments)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        order = rng.permutation(X.shape[1])
        changed = arguments | {
            "feature_groups": arguments["feature_groups"][order],
            "signs": arguments["signs"][order],
        }
        again, _, _ = optimum_of(X[:, order], y, **changed)
        np.testing.assert_allclose(again, value, rtol=3e-8)
    together = np.argsort(arguments["feature_groups"], kind="stable")
    changed = arguments | {
        "feature_groups": arguments["feature_groups"][together],
        "signs": arguments["signs"][together],
    }
    again, _, _ = optimum_of(X[:, together], y, **changed)
    np.testing.assert_allclose(again, value, rtol=3e-8)


@pytest.mark.parametrize("seed", range(4))
def test_mirrored_columns_have_mirrored_signs(seed):
    X, y, arguments = grouped_arguments("both", seed)
    value, _, result = optimum_of(X, y, **arguments)
    flips = np.random.default_rng(seed).choice([-1, 1], X.shape[1])
    changed = arguments | {"signs": flips * arguments["signs"]}
    again, _, mirrored = optimum_of(X * flips, y, **changed)
    np.testing.assert_allclose(again, value, rtol=3e-8)
    np.testing.assert_allclose(mirrored.coef * flips, result.coef, atol=1e-3)


@pytest.mark.parametrize("sign", [0, 1, -1])
@pytest.mark.parametrize("seed", range(3))
def test_copies_in_a_group_are_one_longer_column(sign, seed):
    """Two copies of x share a weight: together they are sqrt(2) x."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 6))
    y = np.where(X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=30) > 0, 1.0, -1.0)
    signs = np.array([sign, 0, sign, 0, 1, -1])
    twice = np.column_stack([X, X[:, :3]])
    value, _, result = optimum_of(
        twice, y, C=0.7, max_features=2, feature_groups=[0, 1, 2, 3, 4, 5, 0, 1, 2],
        signs=[*signs, *signs[:3]],
    )  # fmt: skip
    longer = X * np.where(np.arange(6) < 3, np.sqrt(2), 1.0)
    wanted, _, _ = optimum_of(longer, y, C=0.7, max_features=2, signs=signs)
    np.testing.assert_allclose(value, wanted, rtol=3e-8)
    np.testing.assert_allclose(result.coef[:3], result.coef[6:], atol=1e-4)


@pytest.mark.parametrize("method", ["auto", "swap", "branch-and-bound"])
def test_groups_of_one_column_are_plain_bit_for_bit(method):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(50, 20))
    y = np.where(X[:, :3].sum(axis=1) + rng.normal(size=50) > 0, 1.0, -1.0)
    names = [f"name {j}" for j in range(20)]
    plain, named = (
        solve(
            Problem(X, y, max_features=4, **given), method=method, random_state=0,
            n_jobs=1,
        )
        for given in ({}, {"feature_groups": names, "signs": np.zeros(20)})
    )  # fmt: skip
    np.testing.assert_array_equal(named.coef, plain.coef)
    assert named.objective == plain.objective
    assert named.lower_bound == plain.lower_bound
    assert named.counters == plain.counters


def test_a_sign_that_the_optimum_has_changes_nothing():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(40, 8))
    y = np.where(X[:, :3].sum(axis=1) + rng.normal(size=40) > 0, 1.0, -1.0)
    free, _, result = optimum_of(X, y, max_features=3)
    signs = np.sign(result.coef)
    value, bound, signed = optimum_of(X, y, max_features=3, signs=signs)
    np.testing.assert_allclose(value, free, rtol=3e-8)
    assert bound <= free * (1 + 1e-12)
    np.testing.assert_array_equal(signed.selected, result.selected)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("groups", [None, [0, 1, 0, 1, 0]])
def test_signs_that_forbid_everything_leave_no_weight(intercept, groups):
    rng = np.random.default_rng(10)
    y = np.where(np.arange(20) < 8, 1.0, -1.0)
    X = y[:, None] * rng.uniform(0.1, 1.0, (20, 5))
    problem = Problem(
        X, y, C=0.3, max_features=2, signs=[-1] * 5, feature_groups=groups,
        fit_intercept=intercept,
    )  # fmt: skip
    for method in ("auto", "swap", "branch-and-bound", "relax-and-round"):
        result = solve(problem, method=method, random_state=0)
        assert not result.coef.any()
        expected = 0.3 * (16 if intercept else 20)
        np.testing.assert_allclose(result.objective, expected, rtol=1e-9)
        np.testing.assert_allclose(result.lower_bound, expected, rtol=1e-4)
    found = near_optimal(problem, tolerance=0.1)
    assert found.complete


@pytest.mark.parametrize("with_signs", [False, True])
@pytest.mark.parametrize("many", ["samples", "columns"])
def test_searches_of_larger_data(many, with_signs):
    """Enough groups for estimates of exchanges, the shortlist and tempering."""
    rng = np.random.default_rng(17)
    m, p = (400, 60) if many == "samples" else (60, 250)
    groups = rng.permutation(np.arange(4 * p) % p)
    signs = rng.integers(-1, 2, 4 * p) if with_signs else None
    X = rng.normal(size=(m, p))[:, groups] + rng.normal(size=(m, 4 * p))
    y = np.where(X[:, groups < 4].sum(axis=1) + rng.normal(size=m) > 0, 1.0, -1.0)
    problem = Problem(X, y, C=0.05, max_features=4, feature_groups=groups, signs=signs)
    values = []
    for effort in ("fast", "normal"):
        result = solve(problem, effort=effort, random_state=0, n_jobs=1)
        chosen = np.isin(problem.columns.groups, result.selected)
        chosen_signs = problem.columns.signs[chosen]
        value = svm_value(X[:, chosen], y, problem.C, signs=chosen_signs)
        np.testing.assert_allclose(result.objective, value, rtol=1e-6)
        assert result.selected.size <= 4
        assert (result.coef * problem.columns.signs >= 0).all()
        values.append(result.objective)
        assert result.lower_bound <= result.objective
    assert values[1] <= values[0] * (1 + 1e-9)


def test_more_columns_than_the_budget_in_a_group():
    rng = np.random.default_rng(12)
    X = rng.normal(size=(30, 9))
    y = np.where(X[:, :4].sum(axis=1) > 0, 1.0, -1.0)
    problem = Problem(X, y, max_features=1, feature_groups=[0] * 4 + [1] * 5)
    optimum, _ = brute_force(problem)
    result = solve(problem, random_state=0, gap_tol=GAP)
    check(problem, result, optimum)
    assert np.count_nonzero(result.coef) == 4


def test_constant_columns_in_groups():
    """A group with a column that varies is a feature, one without is none."""
    rng = np.random.default_rng(13)
    X = rng.normal(size=(30, 6))
    y = np.where(X[:, 0] + X[:, 2] > 0, 1.0, -1.0)
    X[:, [1, 4, 5]] = [3.0, 0.0, 2.0]
    problem = Problem(X, y, max_features=2, feature_groups=[0, 0, 1, 1, 2, 2],
                      signs=[1, 1, 0, -1, 0, 1])  # fmt: skip
    np.testing.assert_array_equal(problem.candidates, [0, 1])
    optimum, _ = brute_force(problem)
    result = solve(problem, random_state=0, gap_tol=GAP)
    check(problem, result, optimum)


def test_a_budget_for_everything_is_an_svm_with_signs():
    X, y, arguments = grouped_arguments("both", 14)
    problem = Problem(X, y, **(arguments | {"max_features": None}))
    result = solve(problem, random_state=0, gap_tol=GAP)
    wanted = svm_value(X, y, problem.C, signs=arguments["signs"])
    check(problem, result, wanted)
    assert result.status is Status.OPTIMAL


# --- estimators and paths -------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_estimators_find_the_optimum(kind, seed):
    X, y, arguments = grouped_arguments(kind, seed, most=7)
    problem = Problem(X, y, **arguments)
    optimum, _ = brute_force(problem)
    weights = arguments.pop("sample_weight", None)
    budget = arguments.pop("max_features")
    model = FrugalSVC(
        budget, **arguments, method="branch-and-bound", gap_tol=GAP, random_state=0
    ).fit(X, np.where(y > 0, "b", "a"), sample_weight=weights)
    check(problem, model.result_, optimum)
    np.testing.assert_array_equal(model.coef_[0], model.result_.coef)
    assert model.objective_ <= optimum * (1 + GAP + 1e-9)
    # Signs are those of the score for the second class.
    assert model.classes_.tolist() == ["a", "b"]
    np.testing.assert_allclose(
        model.decision_function(X), X @ model.coef_[0] + model.intercept_, atol=1e-7
    )


@pytest.mark.parametrize("kind", ["groups", "signs", "both", "no intercept"])
def test_paths_enclose_the_optima(kind):
    X, y, arguments = grouped_arguments(kind, 5, most=7)
    given = {k: v for k, v in arguments.items() if k not in ("C", "max_features")}
    path = frugal_path(
        X, y, max_features=[1, 2, 3], C=[0.1, 1.0], method="auto", random_state=0,
        **given,
    )  # fmt: skip
    for C, budget, result in path:
        problem = Problem(X, y, C=C, max_features=budget, **given)
        optimum, _ = brute_force(problem)
        check(problem, result, optimum, 1e-4)
        row, column = np.flatnonzero(path.C == C)[0], budget - 1
        assert path.lower_bounds[row, column] <= optimum * (1 + 1e-9)
        assert path.objectives[row, column] <= optimum * (1 + 1e-3)
    assert (np.diff(path.objectives, axis=1) <= 1e-7 * path.objectives[:, :1]).all()
