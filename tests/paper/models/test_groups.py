"""Models of groups of columns and of signs: enumeration, Clarabel's cones, duality."""

import inspect

import cvxpy as cp
import numpy as np
import pytest

from frugalsvm import Problem, solve
from frugalsvm.kernels.bounds import repair_dual
from frugalsvm.paper import models
from frugalsvm.paper.baselines.elastic_net import solve_path
from frugalsvm.paper.models import MODELS, bigmp, cop, dscop, scop, svm
from frugalsvm.paper.models.blocks import TAKE_GROUPS
from frugalsvm.paper.solvers import SolveStatus
from tests.grouped import KINDS, grouped_problem
from tests.paper.models.instances import CONVEX_RTOL, MIP_RTOL, SDP_TOLERANCE, value
from tests.reference import brute_force, dscop_value, supports, svm_value

SEEDS = range(3)


def data_of(problem):
    return (problem.A * problem.y).T, problem.y, problem.C


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_big_m_and_complementarity_are_enumeration(kind, seed):
    problem = grouped_problem(kind, seed, most=4, samples=(8, 14))
    best, _ = brute_force(problem)
    # Half of the squared norm is at most the objective.
    M = 1.01 * np.sqrt(2 * best)
    assert value(bigmp(problem, M)) == pytest.approx(best, rel=MIP_RTOL)
    solution = cop(problem).solve(tolerance=1e-9)
    assert solution.objective == pytest.approx(best, rel=MIP_RTOL)
    u, w = solution.variables["u"], solution.variables["w"]
    assert u.shape == (problem.n_features,)
    assert w.shape == (problem.n_columns,)
    unused = u[problem.columns.groups] > 0.5
    np.testing.assert_allclose(w[unused], 0.0, atol=1e-6)
    assert (w * problem.columns.signs >= -1e-6).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_decomposed_relaxation_by_two_formulations_and_its_dual(kind, seed):
    problem = grouped_problem(kind, seed)
    columns, k = problem.columns, problem.max_features - problem.include.size
    by_model = dscop(problem).solve(tolerance=1e-9)
    assert by_model.status == "optimal"
    if problem.fit_intercept and problem.exclude.size == 0:
        costs, budget = None, None
        if np.isfinite(problem.max_cost):
            costs = problem.costs
            budget = problem.cost_budget - costs[problem.include].sum()
        cones = dscop_value(
            *data_of(problem), k, problem.include, costs, budget,
            groups=columns.groups, signs=columns.signs,
        )  # fmt: skip
        assert by_model.objective == pytest.approx(cones, rel=CONVEX_RTOL)
    if not np.isfinite(problem.max_cost):
        assert dual_value(problem) == pytest.approx(by_model.objective, rel=CONVEX_RTOL)
    best, _ = brute_force(problem)
    assert by_model.objective <= best * (1 + CONVEX_RTOL)
    # The multipliers of the margins are the dual point.
    assert priced(problem, by_model.multipliers["alpha"]) == pytest.approx(
        by_model.objective, rel=1e-5
    )


def dual_value(problem):
    """Maximum of ``1'alpha - 1/2 (the B largest q_g)``, without costs."""
    alpha = cp.Variable(problem.n_samples)
    columns = problem.columns
    c = problem.A @ alpha
    squares = []
    for g in range(problem.n_features):
        parts = []
        for j in np.flatnonzero(columns.groups == g):
            sign = columns.signs[j]
            admitted = c[j] if sign == 0 else cp.pos(float(sign) * c[j])
            parts.append(cp.square(admitted))
        squares.append(cp.sum(cp.hstack(parts)))
    given = np.union1d(problem.include, problem.exclude)
    free = [squares[g] for g in range(problem.n_features) if g not in given]
    paid = sum(squares[g] for g in problem.include)
    k = min(problem.max_features - problem.include.size, len(free))
    if k:
        paid = paid + cp.sum_largest(cp.hstack(free), k)
    rows = [alpha >= 0, alpha <= problem.C]
    if problem.fit_intercept:
        rows.append(problem.y @ alpha == 0)
    program = cp.Problem(cp.Maximize(cp.sum(alpha) - 0.5 * paid), rows)
    return program.solve(solver="CLARABEL")


def priced(problem, alpha):
    """The bound of a dual point, by plain NumPy."""
    point = repair_dual(
        np.ascontiguousarray(alpha), problem.y, problem.C, problem.fit_intercept
    )
    q = problem.columns.squares(problem.A @ point)
    region = problem.root_region().affordable(problem.costs)
    paid = q[region.forced].sum()
    if np.isfinite(region.budget):
        # The fractional knapsack with two constraints, as a linear program.
        z = cp.Variable(region.free.size)
        rows = [z >= 0, z <= 1, cp.sum(z) <= region.k]
        rows.append(problem.costs[region.free] @ z <= region.budget)
        paid += cp.Problem(cp.Maximize(q[region.free] @ z), rows).solve("CLARABEL")
    else:
        paid += np.sort(q[region.free])[::-1][: region.k].sum()
    return point.sum() - 0.5 * paid


@pytest.mark.parametrize("kind", ["groups", "signs", "both", "forced", "everything"])
def test_all_forms_of_the_relaxation_agree(kind):
    """Cones, printed matrices, and Shor's matrix with zeros for a group's products."""
    problem = grouped_problem(kind, 1, most=4, samples=(8, 14))
    models = [dscop(problem), dscop(problem, cones="semidefinite"), scop(problem)]
    # Without interior points solvers end early.
    values = [model.solve(tolerance=SDP_TOLERANCE).objective for model in models]
    np.testing.assert_allclose(values, values[0], rtol=1e-5)


@pytest.mark.parametrize("kind", ["groups", "signs", "both", "no intercept"])
def test_svm_keeps_signs(kind):
    problem = grouped_problem(kind, 2)
    X, y, C = data_of(problem)
    expected = svm_value(X, y, C, problem.fit_intercept, signs=problem.columns.signs)
    for solver in ("clarabel", "highs"):
        assert value(svm(problem), solver) == pytest.approx(expected, rel=1e-6)


def test_groups_of_one_column_are_plain_features():
    plain = grouped_problem("signs", 3)
    X, y, C = data_of(plain)
    names = [f"column {j}" for j in range(plain.n_columns)]
    single = Problem(
        X, y, C=C[0], max_features=plain.max_features, feature_groups=names,
        signs=plain.columns.signs,
    )  # fmt: skip
    assert value(dscop(single)) == value(dscop(plain))
    assert value(cop(single)) == value(cop(plain))


def test_restriction_cuts_and_starts_are_of_groups():
    problem = grouped_problem("both", 8)
    best, support = brute_force(problem)
    everything = range(problem.n_features)
    group = np.setdiff1d(np.arange(problem.n_features), support)[:2]
    values = {
        tuple(s.tolist()): value_on(problem, s)
        for s in supports(problem)
        if np.isin(group, s).any()
    }
    forced = cop(problem, everything, group=group).solve(tolerance=1e-9)
    assert forced.objective == pytest.approx(min(values.values()), rel=MIP_RTOL)
    K = np.union1d(support, group)
    inside = cop(problem, K, upper_bound=best * (1 + 1e-6)).solve(tolerance=1e-9)
    assert inside.objective == pytest.approx(best, rel=MIP_RTOL)
    outside = ~np.isin(problem.columns.groups, K)
    assert not inside.variables["w"][outside].any()
    coef = np.zeros(problem.n_columns)
    columns = np.isin(problem.columns.groups, support)
    coef[columns] = 0.1 * np.where(problem.columns.signs[columns] < 0, -1, 1)
    start = dscop(problem).start_from(coef, 0.3)
    assert set(np.flatnonzero(start["u"] == 0)) == set(support)
    np.testing.assert_allclose(start["W"], problem.columns.sums(coef**2))
    again = cop(problem).solve(start=cop(problem).start_from(coef, 0.3), tolerance=1e-9)
    assert again.objective == pytest.approx(best, rel=MIP_RTOL)


def value_on(problem, support):
    columns = np.flatnonzero(np.isin(problem.columns.groups, support))
    X, y, C = data_of(problem)
    return svm_value(
        X[:, columns], y, C, problem.fit_intercept, signs=problem.columns.signs[columns]
    )


def test_signs_that_forbid_everything_leave_no_weight():
    X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0], [-2.0, -3.0]])
    problem = Problem(X, [1, 1, -1, -1], max_features=1, signs=[-1, -1])
    for model in (svm(problem), dscop(problem), cop(problem)):
        solution = model.solve(tolerance=1e-9)
        assert solution.objective == pytest.approx(4.0, rel=1e-6)
        np.testing.assert_allclose(solution.variables["w"], 0.0, atol=1e-5)


# --- what does not take them ----------------------------------------------------------

NOT_TAKEN = sorted(MODELS.keys() - set(TAKE_GROUPS))


@pytest.mark.parametrize("name", NOT_TAKEN)
@pytest.mark.parametrize("kind", ["groups", "signs"])
def test_other_models_say_that_they_do_not(name, kind):
    problem = grouped_problem(kind, 0)
    makes = MODELS[name]
    arguments = {"M": 1.0, "K": (0,)}
    taken = {
        k: v for k, v in arguments.items() if k in inspect.signature(makes).parameters
    }
    words = "feature groups" if kind == "groups" else "signs"
    with pytest.raises(ValueError, match=rf"{name}.* does not take {words}"):
        makes(problem, **taken)


OTHERS = {
    "the bound M": lambda problem: models.big_m(problem, 1e6),
    "bound M of": lambda problem: models.weight_bounds(problem, 1e6),
    "range of M": lambda problem: models.m_range(problem, np.zeros(problem.n_columns)),
    "M_j": lambda problem: models.bound_problem(problem, 0, 1e6),
    "l1-SVM": models.l1_svm,
    "l1-FS-SVM": lambda problem: models.l1_fs_svm(problem, 1.0),
    "EN-SVM": lambda problem: list(solve_path(problem, [1.0], 1e-6)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_models_are_made_from_says_so_too(name):
    with pytest.raises(
        ValueError, match=f"{name}.* does not take feature groups and si"
    ):
        OTHERS[name](grouped_problem("both", 0))


@pytest.mark.parametrize(
    "method", ["exact", "heuristic", "kernel-search", "local-search"]
)
def test_the_papers_algorithms_say_so_before_they_begin(method):
    words = f'method "{method}" does not take feature groups and signs: use'
    with pytest.raises(ValueError, match=words):
        solve(grouped_problem("both", 0), method=method)


def test_below_the_optimum_nothing_is_feasible():
    problem = grouped_problem("both", 5)
    best, _ = brute_force(problem)
    below = cop(problem, range(problem.n_features), upper_bound=0.99 * best).solve()
    assert below.status is SolveStatus.INFEASIBLE
