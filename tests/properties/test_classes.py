"""Several classes with one selection of features, compared with enumeration."""

import cvxpy as cp
import numpy as np
import pytest

from frugalsvm import Problem, Status, frugal_path, near_optimal, relax, solve, verify
from tests.classes import KINDS, class_arguments, class_problem, one_against_rest
from tests.reference import Enumeration, brute_force, random_alpha, random_data

GAP = 1e-6


def weights_of(arguments, n_samples):
    """The loss weight of each sample, the same in all machines."""
    return arguments["C"] * arguments.get("sample_weight", np.ones(n_samples))


def check(X, classes, arguments, result, optimum, gap=GAP):
    """A result is a solution, no better than the optimum, with a bound below it."""
    Y = one_against_rest(classes)
    m, n_machines = Y.shape
    assert result.coef.shape == (n_machines, X.shape[1])
    assert result.intercept.shape == (n_machines,)
    groups = arguments.get("feature_groups", np.arange(X.shape[1]))
    used = {*groups[result.coef.any(axis=0)].tolist()}
    assert used <= {*result.selected.tolist()}
    used |= {*arguments.get("include", ())}
    assert len(used) <= arguments["max_features"]
    assert not used & {*arguments.get("exclude", ())}
    if "feature_costs" in arguments:
        price = arguments["feature_costs"][sorted(used)].sum()
        assert price <= arguments["max_cost"] * (1 + 1e-9)
    if not arguments.get("fit_intercept", True):
        assert not result.intercept.any()
    # The objective is what NumPy makes of the weights.
    losses = np.maximum(0.0, 1.0 - Y * (X @ result.coef.T + result.intercept))
    value = 0.5 * (result.coef**2).sum() + (weights_of(arguments, m) @ losses).sum()
    np.testing.assert_allclose(result.objective, value, rtol=1e-9)
    assert result.lower_bound <= optimum * (1 + 1e-12)
    assert result.objective >= optimum * (1 - 1e-8)
    if result.status is Status.OPTIMAL:
        assert result.objective <= optimum * (1 + gap + 1e-9)


# --- optima ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_trees_find_the_optimum(kind, seed):
    X, classes, arguments = class_arguments(kind, seed, most=8)
    problem = Problem(X, one_against_rest(classes), **arguments)
    for factor in (1.0, 30.0):
        changed = arguments | {"C": factor * arguments["C"]}
        optimum, _ = brute_force(problem.with_C(changed["C"]))
        for patience in (0, 10):
            result = solve(
                problem.with_C(changed["C"]), method="branch-and-bound", gap_tol=GAP,
                random_state=0, method_options={"patience": patience},
            )  # fmt: skip
            assert result.status is Status.OPTIMAL
            check(X, classes, changed, result, optimum)


@pytest.mark.parametrize("method", ["auto", "swap", "relax-and-round"])
@pytest.mark.parametrize("kind", KINDS)
def test_other_methods_have_solutions_and_bounds(method, kind):
    for seed in range(2):
        X, classes, arguments = class_arguments(kind, seed, most=8)
        problem = Problem(X, one_against_rest(classes), **arguments)
        optimum, _ = brute_force(problem)
        result = solve(problem, method=method, gap_tol=GAP, random_state=0, n_jobs=1)
        check(X, classes, arguments, result, optimum)


@pytest.mark.parametrize("effort", ["fast", "normal"])
@pytest.mark.parametrize("groups", [None, np.arange(70) // 2])
def test_searches_with_many_features(effort, groups):
    """Enough of them for estimates of exchanges and tempering; the signal is found."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 70))
    classes = np.argmax(3 * X[:, [0, 20, 40]] + rng.normal(size=(90, 3)), axis=1)
    arguments = {"C": 1.0, "max_features": 3}
    if groups is not None:
        arguments["feature_groups"] = groups
    problem = Problem(X, one_against_rest(classes), **arguments)
    result = solve(problem, effort=effort, random_state=0, n_jobs=1)
    wanted = np.array([0, 20, 40]) if groups is None else groups[[0, 20, 40]]
    np.testing.assert_array_equal(result.selected, wanted)
    check(X, classes, arguments, result, result.objective)


def test_scip_finds_the_same_optimum():
    """A model of its own: indicators by big-M, one budget for all classes."""
    scip = pytest.importorskip("pyscipopt")
    X, classes, arguments = class_arguments("plain", 3, most=5, samples=(10, 11))
    Y, budget, C = one_against_rest(classes), arguments["max_features"], 0.8
    result = solve(
        Problem(X, Y, C=C, max_features=budget), method="branch-and-bound",
        gap_tol=GAP, random_state=0,
    )  # fmt: skip
    (m, n), n_machines = X.shape, Y.shape[1]
    # No weight of a solution is longer than that of w = 0 admits.
    big = np.sqrt(2 * C * Y.size)
    model = scip.Model()
    model.hideOutput()
    model.setParam("limits/gap", 1e-7)
    used = [model.addVar(vtype="B") for _ in range(n)]
    model.addCons(scip.quicksum(used) <= budget)
    value, square = model.addVar(lb=0), []
    losses = []
    for k in range(n_machines):
        w = [model.addVar(lb=-big, ub=big) for _ in range(n)]
        b = model.addVar(lb=-1e3, ub=1e3)
        xi = [model.addVar(lb=0) for _ in range(m)]
        for j in range(n):
            model.addCons(w[j] <= big * used[j])
            model.addCons(w[j] >= -big * used[j])
        for i in range(m):
            score = scip.quicksum(w[j] * X[i, j] for j in range(n)) + b
            model.addCons(xi[i] >= 1 - Y[i, k] * score)
        square += [one * one for one in w]
        losses += xi
    model.addCons(scip.quicksum(square) <= value)
    model.setObjective(0.5 * value + C * scip.quicksum(losses))
    model.optimize()
    np.testing.assert_allclose(result.objective, model.getObjVal(), rtol=1e-5)
    chosen = [j for j in range(n) if model.getVal(used[j]) > 0.5]
    assert {*result.selected.tolist()} <= {*chosen}


# --- relaxations and bounds -----------------------------------------------------------


def shared_dscop(X, Y, C, k, groups=None, forced=(), excluded=(), costs=None,
                 budget=None, intercept=True):  # fmt: skip
    """DSCoP by CVXPY: one z for the weights of a feature in all machines."""
    (m, n), n_machines = X.shape, Y.shape[1]
    groups = np.arange(n) if groups is None else groups
    p = groups.max() + 1
    w, b = cp.Variable((n, n_machines)), cp.Variable((1, n_machines))
    xi, z = cp.Variable((m, n_machines), nonneg=True), cp.Variable(p, nonneg=True)
    free = [g for g in range(p) if g not in {*forced, *excluded}]
    terms = [
        cp.quad_over_lin(w[groups == g], 1.0 if g in forced else z[g])
        for g in range(p)
        if g not in excluded
    ]
    conditions = [
        xi >= 1 - cp.multiply(Y, X @ w + np.ones((m, 1)) @ b), z <= 1,
        cp.sum(z[free]) <= k - len(forced),
    ]  # fmt: skip
    conditions += [w[groups == g] == 0 for g in excluded]
    if costs is not None:
        conditions.append(costs[free] @ z[free] <= budget - costs[list(forced)].sum())
    if not intercept:
        conditions.append(b == 0)
    objective = 0.5 * cp.sum(terms) + cp.sum(cp.multiply(C[:, None], xi))
    problem = cp.Problem(cp.Minimize(objective), conditions)
    # CVXPY itself cannot divide by a z of zero.
    with np.errstate(divide="ignore", invalid="ignore"):
        problem.solve(solver=cp.CLARABEL)
    return problem.solution.opt_val


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_the_relaxation_is_that_of_clarabel(kind, seed):
    X, classes, arguments = class_arguments(kind, seed)
    Y = one_against_rest(classes)
    problem = Problem(X, Y, **arguments)
    kept = weights_of(arguments, len(X)) > 0
    value = shared_dscop(
        X[kept], Y[kept], weights_of(arguments, len(X))[kept],
        arguments["max_features"], arguments.get("feature_groups"),
        arguments.get("include", ()), arguments.get("exclude", ()),
        arguments.get("feature_costs"), arguments.get("max_cost"),
        arguments.get("fit_intercept", True),
    )  # fmt: skip
    found = relax(problem, tol=1e-8)
    np.testing.assert_allclose([found.bound, found.value], value, rtol=1e-6)
    optimum, _ = brute_force(problem)
    assert found.bound <= optimum * (1 + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_no_dual_point_has_a_bound_above_the_optimum(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    n_close = 0
    for seed in range(4):
        problem = class_problem(kind, seed)
        optimum, _ = brute_force(problem)
        best = relax(problem, tol=1e-8).alpha
        points = [best * rng.uniform(0.9, 1.1, best.size) for _ in range(20)]
        points += [random_alpha(rng, problem.C) for _ in range(20)]
        for alpha in [best, *points]:
            bound = problem.dual_bound(alpha)
            assert bound <= optimum * (1 + 1e-12)
            n_close += bound > 0.5 * optimum
    assert n_close > 20


# --- two machines that mirror each other ----------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_two_mirrored_machines_are_twice_the_binary_problem(seed, intercept):
    rng = np.random.default_rng(seed)
    X, y = random_data(rng, 30, 7)
    arguments = {"C": 0.6, "max_features": 2, "fit_intercept": intercept}
    one = Problem(X, y, **arguments)
    both = Problem(X, np.column_stack([y, -y]), **arguments)
    alpha = random_alpha(rng, one.C)
    np.testing.assert_allclose(
        both.dual_bound(np.tile(alpha, 2)), 2 * one.dual_bound(alpha), rtol=1e-9
    )
    first, second = (relax(problem, tol=1e-9) for problem in (one, both))
    np.testing.assert_allclose(second.bound, 2 * first.bound, rtol=1e-7)
    options = {"method": "branch-and-bound", "gap_tol": 1e-8, "random_state": 0}
    first, second = (solve(problem, **options) for problem in (one, both))
    np.testing.assert_allclose(second.objective, 2 * first.objective, rtol=2e-8)
    np.testing.assert_array_equal(second.selected, first.selected)
    mirrored = np.array([first.coef, -first.coef])
    np.testing.assert_allclose(second.coef, mirrored, atol=1e-4)
    # One side of the margin may leave the intercept open.
    if not intercept:
        np.testing.assert_array_equal(second.intercept, 0.0)


@pytest.mark.parametrize("method", ["auto", "swap", "branch-and-bound"])
def test_one_column_of_labels_is_a_problem_of_two_classes_bit_for_bit(method):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(50, 20))
    y = np.where(X[:, :3].sum(axis=1) + rng.normal(size=50) > 0, 1.0, -1.0)
    plain, column = (
        solve(Problem(X, given, max_features=4), method=method, random_state=0,
              n_jobs=1)
        for given in (y, y[:, None])
    )  # fmt: skip
    np.testing.assert_array_equal(column.coef, plain.coef)
    assert column.objective == plain.objective
    assert column.lower_bound == plain.lower_bound


# --- what must not matter -------------------------------------------------------------


@pytest.mark.parametrize("kind", ["weights", "everything"])
def test_the_order_of_classes_does_not_matter(kind):
    X, classes, arguments = class_arguments(kind, 2, most=7)
    Y = one_against_rest(classes)
    order = np.random.default_rng(0).permutation(Y.shape[1])
    options = {"method": "branch-and-bound", "gap_tol": 1e-8, "random_state": 0}
    one = solve(Problem(X, Y, **arguments), **options)
    other = solve(Problem(X, Y[:, order], **arguments), **options)
    np.testing.assert_allclose(other.objective, one.objective, rtol=2e-8)
    np.testing.assert_allclose(other.coef, one.coef[order], atol=1e-4)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_constant_columns_and_large_means(shift):
    X, classes, _ = class_arguments("plain", 1, most=5)
    X = np.column_stack([X, np.full(len(X), 3.0)])
    arguments = {"C": 0.5, "max_features": 2}
    optimum, _ = brute_force(Problem(X, one_against_rest(classes), **arguments))
    problem = Problem(X + shift, one_against_rest(classes), **arguments)
    assert X.shape[1] - 1 not in problem.candidates
    result = solve(problem, gap_tol=GAP, random_state=0)
    np.testing.assert_allclose(result.objective, optimum, rtol=2e-6)
    assert result.lower_bound <= optimum * (1 + 1e-6)


def test_labels_may_be_more_than_one_against_the_rest():
    """Any columns of labels will do, two alike included."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(25, 6))
    Y = np.where(X[:, [0, 1, 0]] + rng.normal(size=(25, 3)) > 0, 1.0, -1.0)
    Y[:, 2] = Y[:, 0]
    problem = Problem(X, Y, max_features=2)
    optimum, support = brute_force(problem)
    result = solve(problem, gap_tol=GAP, random_state=0)
    assert result.status is Status.OPTIMAL
    np.testing.assert_allclose(result.objective, optimum, rtol=2e-6)
    np.testing.assert_array_equal(result.selected, support)
    np.testing.assert_allclose(result.coef[0], result.coef[2], atol=1e-7)


# --- lists, certificates, paths -------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_lists_are_complete(kind):
    X, classes, arguments = class_arguments(kind, 1, most=7)
    problem = Problem(X, one_against_rest(classes), **arguments)
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
        groups = arguments.get("feature_groups", np.arange(X.shape[1]))
        assert found.intercepts.shape == (len(values), classes.max() + 1)
        for support, coef, intercept, objective in zip(
            found.supports, found.coefs, found.intercepts, found.objectives, strict=True
        ):
            columns = [j for g in support for j in np.flatnonzero(groups == g)]
            assert coef.shape == (classes.max() + 1, len(columns))
            whole = np.zeros((classes.max() + 1, X.shape[1]))
            whole[:, columns] = coef
            assert problem.objective(whole.ravel(), intercept) == objective


@pytest.mark.parametrize("kind", KINDS)
def test_proofs_of_optima_and_lists_are_accepted(kind):
    X, classes, arguments = class_arguments(kind, 3, most=7)
    problem = Problem(X, one_against_rest(classes), **arguments)
    # The order of the labels is that of the machines.
    names = np.array(["a", "b", "c", "d"])[classes]
    reference = Enumeration(problem)
    result = solve(
        problem, method="branch-and-bound", gap_tol=GAP, random_state=0,
        certificate=True,
    )  # fmt: skip
    proved = verify(result.certificate, X, names)
    assert proved.lower_bound <= reference.best * (1 + 1e-12)
    assert proved.lower_bound >= result.lower_bound * (1 - 1e-9)
    found = near_optimal(problem, tolerance=0.2, random_state=0, certificate=True)
    proved = verify(found.certificate, X, names).alternatives
    assert proved.threshold >= found.threshold * (1 - 1e-9)
    listed = {tuple(s.tolist()) for s in proved.supports}
    for s in reference.sets(proved.threshold * (1 - 1e-7)):
        assert any({*s} <= {*other} for other in listed)


@pytest.mark.parametrize("kind", ["plain", "groups", "no intercept"])
def test_paths_enclose_the_optima(kind):
    X, classes, arguments = class_arguments(kind, 5, most=7)
    Y = one_against_rest(classes)
    given = {k: v for k, v in arguments.items() if k not in ("C", "max_features")}
    path = frugal_path(
        X, Y, max_features=[1, 2], C=[0.1, 1.0], method="auto", random_state=0, **given
    )
    for C, budget, result in path:
        own = given | {"C": C, "max_features": budget}
        optimum, _ = brute_force(Problem(X, Y, **own))
        check(X, classes, own, result, optimum, 1e-4)
        row = np.flatnonzero(path.C == C)[0]
        assert path.lower_bounds[row, budget - 1] <= optimum * (1 + 1e-12)
