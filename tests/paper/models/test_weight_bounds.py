"""Valid big-M values, compared with all supports and with the bound problems."""

import numpy as np
import pytest

from frugalsvm import Problem, relax, solve
from frugalsvm.kernels.big_m import weight_intervals
from frugalsvm.kernels.bounds import repair_dual, square_bounds
from frugalsvm.paper.models import (
    big_m,
    bigmp,
    bound_problem,
    boxmp,
    dscomp,
    weight_bounds,
)
from frugalsvm.paper.models import bound_problems as programs_module
from frugalsvm.paper.models import weight_ranges as weights_module
from tests.paper.models.instances import SMALL, cancer_problem, random_problem
from tests.reference import brute_force, random_data, supports

FORMS = ("tight", "printed")


def solutions(problem, limit):
    """Weights of the best solution of every support, if its objective is in limit.

    Constant features are left alone.
    """
    useful = np.union1d(problem.candidates, problem.include)
    for support in supports(problem):
        if np.setdiff1d(support, useful).size:
            continue
        svm = problem.engine.solve_svm(support, tol=1e-10)
        if svm.primal <= limit:
            coef = np.zeros(problem.n_features)
            coef[support] = svm.w
            yield coef


@pytest.mark.parametrize("slack", [1.0, 1.3])
@pytest.mark.parametrize("name", SMALL)
def test_intervals_hold_all_solutions_that_are_good_enough(name, slack):
    problem = SMALL[name]
    best, _ = brute_force(problem)
    limit = slack * best
    tight, printed = (weight_bounds(problem, limit, form=form) for form in FORMS)
    for bounds in (tight, printed):
        for coef in solutions(problem, limit):
            assert np.all(coef <= bounds.upper)
            assert np.all(coef >= bounds.lower)
            assert np.abs(coef).max() <= bounds.M
        assert bounds.settled
        assert bounds.programs < 2 * problem.n_features
    assert tight.M <= printed.M * (1 + 1e-6)


def test_intervals_respect_forced_excluded_and_costs():
    costs = [1, 2, 1.5, 3, 1, 9]
    problem = random_problem(
        5, n=6, B=3, include=(1,), exclude=(0,), feature_costs=costs, max_cost=5.0
    )
    best, _ = brute_force(problem)
    bounds = weight_bounds(problem, 1.2 * best)
    for coef in solutions(problem, 1.2 * best):
        assert np.all((coef <= bounds.upper) & (coef >= bounds.lower))
    exact = [
        abs(bound_problem(problem, j, 1.2 * best, sense=sense).solve().objective)
        for j in np.setdiff1d(np.arange(6), [0, 5])
        for sense in ("max", "min")
    ]
    assert max(exact) * (1 + 1e-5) >= bounds.M
    # Excluded, and too expensive.
    assert np.all(bounds.largest[[0, 5]] == 0)
    assert np.all(bounds.largest[[1, 2]] > 0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["random", "more features than samples", "cancer"])
def test_at_least_as_tight_as_the_bound_problems(name, form):
    problem = SMALL[name]
    best, _ = brute_force(problem)
    upper, lower = (
        [
            bound_problem(problem, j, best, sense=sense, form=form)
            .solve(tolerance=1e-9)
            .objective
            for j in range(problem.n_features)
        ]
        for sense in ("max", "min")
    )
    proposition = max(*np.abs(upper), *np.abs(lower))
    M = big_m(problem, best, form=form, max_programs=None)
    assert proposition * (1 + 1e-5) >= M
    assert weight_bounds(problem, best, form=form, max_programs=None).largest.max() == M


@pytest.mark.parametrize("name", ["random", "cancer"])
def test_tight_problems_are_below_printed_ones(name):
    problem = SMALL[name]
    best, _ = brute_force(problem)
    for j in range(problem.n_features):
        tight, printed = (
            bound_problem(problem, j, best, form=form).solve(tolerance=1e-8).objective
            for form in FORMS
        )
        assert tight <= printed * (1 + 1e-6)
    assert tight < 0.99 * printed


def test_few_programs_settle_m():
    problem = cancer_problem(B=3, n=7)
    best, _ = brute_force(problem)
    loose = weight_bounds(problem, best, max_programs=0)
    settled = weight_bounds(problem, best, max_programs=None)
    assert loose.programs == 0
    assert not loose.settled
    assert settled.programs <= problem.n_features
    assert settled.M < loose.M


def test_a_small_working_set_gives_the_same_m(monkeypatch):
    """As with thousands of features: no descent, and programs that have to grow."""
    problem = random_problem(3, m=20, n=30, B=3, include=(7,), exclude=(2,))
    objective = solve(problem, random_state=0).objective
    reference = weight_bounds(problem, objective, max_programs=None)
    monkeypatch.setattr(weights_module, "MANY_FEATURES", 10)
    monkeypatch.setattr(programs_module, "FIRST_SIZE", 5)
    grown = weight_bounds(problem, objective, max_programs=None)
    assert grown.settled
    np.testing.assert_allclose(grown.M, reference.M, rtol=1e-4)
    cut_short = weight_bounds(problem, objective, max_programs=2)
    assert cut_short.programs == 2
    assert cut_short.M >= reference.M * (1 - 1e-6)
    late = weight_bounds(problem, objective, time_limit=1e-9)
    assert (late.programs, late.settled) == (0, False)


@pytest.mark.parametrize("integer", [False, True])
def test_intervals_contain_all_solutions_for_any_point(integer):
    """Many problems with awkward scales and poor points."""
    tight_ends = 0
    for seed in range(1500):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(2, 9)), int(rng.integers(1, 5))
        X, y = random_data(rng, m, n, integer=integer, separable=seed % 3 == 0)
        X *= 10.0 ** rng.integers(-3, 4, n)
        costs = rng.uniform(0.5, 2.0, n)
        problem = Problem(
            X,
            y,
            C=float(10.0 ** rng.uniform(-3, 4)),
            max_features=int(rng.integers(0, n + 1)),
            feature_costs=costs,
            max_cost=float(rng.uniform(0, costs.sum())) if seed % 2 else None,
        )
        best, _ = brute_force(problem)
        limit = best * rng.choice([1 + 1e-9, 1.1, 2.0])
        node = problem.root_region()
        good = list(solutions(problem, limit))
        assert good
        points = [scale * problem.C * rng.random(m) for scale in (0.0, 0.3, 1.0)]
        for point in (*points, relax(problem).alpha, relax(problem, "SVM").alpha):
            alpha = repair_dual(point, problem.y, problem.C, True)
            c = problem.A @ alpha
            lower, upper = weight_intervals(
                alpha, c, square_bounds(
                    c, problem.norms, alpha, *problem.columns.in_kernels
                ), node.forced,
                node.free, node.k, problem.costs, node.budget, limit * (1 + 1e-12),
                int(rng.integers(n)),
            )  # fmt: skip
            for coef in good:
                assert np.all(coef <= upper)
                assert np.all(coef >= lower)
                tight_ends += np.sum(np.abs(coef) > 0.9 * np.maximum(upper, -lower))
    # The intervals are not trivially wide.
    assert tight_ends > 100


def test_a_big_m_that_is_too_large_is_detected_early():
    X, y = random_data(np.random.default_rng(3), 60, 40)
    problem = Problem(X, y, C=1.0, max_features=4)
    upper_bound = 1.05 * solve(problem, method="swap", random_state=0).objective
    whole = weight_bounds(problem, upper_bound, max_programs=0)
    for value in (0.9 * whole.M, 1.1 * whole.M):
        early = weight_bounds(problem, upper_bound, max_programs=0, useful_below=value)
        assert (early.largest >= whole.largest * (1 - 1e-9)).all() or value > early.M
        assert (value > early.M) == (value > whole.M)


def test_models_take_the_bounds_of_single_weights():
    """Also where they are zero, as of constant columns: those weights are zero."""
    X, y = random_data(np.random.default_rng(5), 20, 6)
    X[:, 2] = 3.0
    problem = Problem(X, y, max_features=2)
    best, _ = brute_force(problem)
    M = weight_bounds(problem, best).largest
    assert M[2] == 0
    assert not np.signbit(M).any()
    optimum = bigmp(problem, M).solve(tolerance=1e-9)
    assert optimum.objective == pytest.approx(best, rel=1e-5)
    for build, name in [(boxmp, "BoxMP"), (dscomp, "DSCoMP")]:
        value = build(problem, M).solve(tolerance=1e-9).objective
        bound = relax(problem, name, M=M, tol=1e-9).bound
        assert bound == pytest.approx(value, rel=1e-5)
        assert bound <= best * (1 + 1e-9)
