"""relax recomputes the bound of every solver."""

import dataclasses
import importlib.util

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from frugalsvm import Problem, relax
from frugalsvm.paper.models import big_m
from frugalsvm.paper.solvers import SOLVERS, SolverNotAvailable
from frugalsvm.paper.solvers.clarabel import Clarabel
from frugalsvm.search.relaxations import RELAXATIONS, certified_bound
from tests.paper.models.instances import (
    SMALL,
    cancer_problem,
    iris_problem,
    random_problem,
)
from tests.reference import brute_force, random_alpha, random_data

WITH_M = ("BoxMP", "SMP", "DSMP", "SCoMP", "DSCoMP")


def arguments(model, M):
    return {"M": M} if model in WITH_M else {}


@pytest.mark.parametrize("model", [m for m in RELAXATIONS if not m.startswith("SR")])
@pytest.mark.parametrize("name", ["random", "weighted", "no intercept", "iris"])
def test_the_recomputed_bound_is_the_value(name, model):
    """Strong duality, through a formula that the solver does not know."""
    for M in (0.05, 0.5, 5.0) if model in WITH_M else (None,):
        relaxation = relax(SMALL[name], model, tol=1e-7, **arguments(model, M))
        assert relaxation.status == "optimal"
        assert relaxation.bound == pytest.approx(relaxation.value, rel=2e-6)
        assert relaxation.bound <= relaxation.value * (1 + 1e-6)
        assert relaxation.model == model


CONSTRAINED = random_problem(
    6, n=6, B=3, include=(1,), exclude=(0,),
    feature_costs=[1, 2, 1.5, 3, 1, 9], max_cost=5.0,
)  # fmt: skip


@pytest.mark.parametrize("model", ["SVM", "BoxMP", "DSMP", "SCoP", "DSCoP", "DSCoMP"])
def test_bounds_with_costs_and_forced_features(model):
    best, _ = brute_force(CONSTRAINED)
    for M in (0.3, 2.0):
        relaxation = relax(
            CONSTRAINED, model, solver="clarabel", tol=1e-8, **arguments(model, M)
        )
        assert relaxation.bound == pytest.approx(relaxation.value, rel=1e-5)
        assert relaxation.u[0] == 1
        if model not in WITH_M:
            assert relaxation.bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("model", ["SVM", "BoxMP", "DSCoP", "DSCoMP"])
def test_no_dual_point_gives_a_bound_above_the_value(model):
    """Random points, inaccurate and invalid ones, small and large M."""
    rng = np.random.default_rng(0)
    close = 0
    for seed in range(12):
        X, y = random_data(rng, 12, 5, separable=seed % 2 == 0)
        X *= 10.0 ** rng.integers(-1, 2, 5)
        costs = rng.uniform(0.5, 2.0, 5)
        problem = Problem(
            X, y, C=float(10.0 ** rng.uniform(-2, 2)), max_features=2,
            feature_costs=costs, max_cost=2.5 if seed % 3 == 0 else None,
        )  # fmt: skip
        M = float(10.0 ** rng.uniform(-2, 1))
        extra = arguments(model, M)
        best = relax(problem, model, solver="clarabel", tol=1e-8, **extra)
        for _ in range(40):
            point = best.alpha * rng.uniform(0.9, 1.1, best.alpha.size)
            for alpha in (random_alpha(rng, problem.C), point):
                bound = certified_bound(problem, alpha, model, **extra).bound
                assert bound <= best.value * (1 + 1e-6)
                close += bound > 0.5 * best.value
    assert close > 100


@pytest.mark.parametrize("seed", range(40))
def test_bounds_with_a_valid_m_are_below_the_optimum(seed):
    problem = random_problem(seed, m=8, n=4, B=1 + seed % 3, C=10.0 ** (seed % 5 - 2))
    best, _ = brute_force(problem)
    M = big_m(problem, best, max_programs=3)
    rng = np.random.default_rng(seed)
    points = [relax(problem).alpha, *(random_alpha(rng, problem.C) for _ in range(10))]
    for model in ("BoxMP", "DSCoMP"):
        for alpha in points:
            bound = certified_bound(problem, alpha, model, M).bound
            assert bound <= best * (1 + 1e-12)


def available(name):
    if importlib.util.find_spec(SOLVERS[name].package) is None:
        pytest.skip(f"{SOLVERS[name].package} is not installed")


@pytest.mark.parametrize("solver", ["clarabel", "scip", "gurobi", "mosek", "copt"])
@pytest.mark.parametrize("make", [random_problem, iris_problem, cancer_problem])
def test_all_solvers_agree_on_dscop(make, solver):
    available(solver)
    problem = make(1) if make is random_problem else make()
    native = relax(problem)
    try:
        other = relax(problem, solver=solver, tol=1e-8)
    except SolverNotAvailable as error:
        pytest.skip(str(error))
    assert native.reported_bound is None
    assert other.solver == solver
    # SCIP approximates cones from outside.
    accuracy = 5e-5 if solver == "scip" else 1e-5
    assert other.value == pytest.approx(native.value, rel=accuracy)
    assert other.reported_bound == pytest.approx(native.bound, rel=accuracy)
    # Gurobi's multipliers of cone programs have about three correct digits.
    accuracy = 1e-2 if solver == "gurobi" else 1e-5
    assert other.bound == pytest.approx(native.bound, rel=accuracy)
    np.testing.assert_allclose(other.u, native.u, atol=2e-2)


@pytest.mark.parametrize("budget", [5, 10])
def test_native_and_clarabel_on_wdbc(budget):
    X, target = load_breast_cancer(return_X_y=True)
    problem = Problem(scale(X), 2.0 * target - 1, C=10.0, max_features=budget)
    native, other = relax(problem), relax(problem, solver="clarabel", tol=1e-8)
    assert other.bound == pytest.approx(native.bound, rel=1e-5)
    assert other.value == pytest.approx(native.value, rel=1e-5)


@pytest.mark.parametrize("model", ["SR-DSCoP", "SR-DLMP"])
def test_bounds_of_semi_relaxations_do_not_rely_on_the_solver(model):
    problem = SMALL["separable"]
    best, _ = brute_force(problem)
    plain = relax(problem)
    M = big_m(problem, best)
    semi = relax(problem, model, K=range(4), M=M, tol=1e-8)
    assert semi.bound == pytest.approx(plain.bound, rel=1e-6)
    assert plain.value * (1 + 1e-6) < semi.reported_bound <= best * (1 + 1e-5)
    assert set(np.round(semi.u[:4], 9)) <= {0.0, 1.0}


def test_wrong_claims_of_a_solver_do_not_change_the_bound(monkeypatch):
    """A claim ten times too high, and a point that is far from optimal."""
    honest = relax(SMALL["random"], "DSCoMP", M=0.5)
    solve = Clarabel.solve

    def lie(self, model, request):
        truth = solve(self, model, request)
        multipliers = {"alpha": 1.7 * truth.multipliers["alpha"]}
        return dataclasses.replace(
            truth, bound=10 * truth.bound, multipliers=multipliers
        )

    monkeypatch.setattr(Clarabel, "solve", lie)
    relaxation = relax(SMALL["random"], "DSCoMP", M=0.5)
    assert relaxation.reported_bound > 9 * honest.bound
    assert relaxation.bound <= honest.value


def test_a_solver_without_multipliers_still_gives_a_bound():
    problem = SMALL["random"]
    native = relax(problem, "SVM")
    scip = relax(problem, "SVM", solver="scip", tol=1e-7)
    assert scip.bound == pytest.approx(native.bound, rel=1e-6)
    assert scip.reported_bound == pytest.approx(native.value, rel=1e-5)


def test_time_limit_gives_a_valid_bound():
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 60, 800)
    problem = Problem(X, y, C=10.0, max_features=5)
    full = relax(problem)
    for solver in ("native", "clarabel"):
        short = relax(problem, solver=solver, time_limit=1e-6)
        assert short.bound <= full.value
    assert short.status == "time limit"


def test_options_reach_the_model():
    problem = SMALL["random"]
    equal = relax(problem, "DSCoP", cardinality="=", tol=1e-8)
    assert equal.solver == "clarabel"
    assert equal.bound == pytest.approx(relax(problem).bound, rel=1e-5)
    assert equal.u.sum() == pytest.approx(3, abs=1e-5)
    with pytest.raises(ValueError, match="without further options"):
        relax(problem, "DSCoP", solver="native", cardinality="=")


def test_alpha_must_have_one_entry_per_sample():
    with pytest.raises(ValueError, match="one entry per sample"):
        certified_bound(SMALL["random"], np.zeros(3))
