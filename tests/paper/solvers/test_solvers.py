"""Adapters, compared with each other on all kinds of models that they take."""

import importlib.util
import subprocess
import sys

import cvxpy as cp
import numpy as np
import pytest

from frugalsvm import Problem, relax
from frugalsvm.paper.models import (
    Model,
    bigmp,
    boxmp,
    cop,
    dscomp,
    dscop,
    scop,
    sr_dlmp,
    svm,
)
from frugalsvm.paper.solvers import (
    SOLVERS,
    SolverNotAvailable,
    SolveStatus,
    Trait,
    UnsupportedModel,
    available_solvers,
    solver_for,
)
from frugalsvm.paper.solvers.base import accepts
from frugalsvm.paper.solvers.clarabel import compile_model
from tests.paper.models.instances import SMALL, random_problem
from tests.reference import random_data

PROBLEM = SMALL["random"]
MODELS = {
    "SVM": svm(PROBLEM),
    "BoxMP": boxmp(PROBLEM, 0.3),
    "DSCoP": dscop(PROBLEM),
    "DSCoMP": dscomp(PROBLEM, 0.3),
    "SCoP": scop(PROBLEM),
    "BigMP": bigmp(PROBLEM, 3.0),
    "CoP": cop(PROBLEM),
    "SR-DLMP": sr_dlmp(PROBLEM, (0, 1, 3), 3.0),
}


def solve(model, solver, **options):
    """Solve, or skip with the reason if the solver is absent or unlicensed."""
    if importlib.util.find_spec(SOLVERS[solver].package) is None:
        pytest.skip(f"{SOLVERS[solver].package} is not installed")
    try:
        return model.solve(solver, **options)
    except SolverNotAvailable as error:
        pytest.skip(str(error))


CASES = [
    (name, solver)
    for name, model in MODELS.items()
    for solver in SOLVERS
    if accepts(SOLVERS[solver], model.needs)
]


@pytest.mark.parametrize(("name", "solver"), CASES)
def test_solvers_agree_and_return_all_results(name, solver):
    model = MODELS[name]
    reference = model.solve(tolerance=1e-9)
    solution = solve(model, solver, tolerance=1e-8)
    assert solution.status is SolveStatus.OPTIMAL
    assert solution.solver == solver
    assert solution.seconds > 0
    # Tolerance 1e-8 is asked for; feasibility tolerances move values a little more.
    assert solution.objective == pytest.approx(reference.objective, rel=1e-5)
    assert solution.bound == pytest.approx(reference.objective, rel=1e-5)
    assert set(solution.variables) == set(model.variables)
    w, b = solution.variables["w"], solution.variables["b"]
    np.testing.assert_allclose(w, reference.variables["w"], atol=2e-3)
    # The point is feasible and its objective is the one reported.
    slack = w @ PROBLEM.A + b * PROBLEM.y + solution.variables["xi"] - 1
    assert slack.min() > -1e-6
    if name in ("SVM", "BoxMP", "BigMP", "CoP"):
        assert PROBLEM.objective(w, float(b)) == pytest.approx(
            solution.objective, rel=1e-5
        )


@pytest.mark.parametrize(("name", "solver"), CASES)
def test_multipliers_are_those_of_cvxpy(name, solver):
    model = MODELS[name]
    solution = solve(model, solver, tolerance=1e-8)
    if solver == "scip" or {Trait.INTEGER, Trait.COMPLEMENTARITY} & model.needs:
        assert "alpha" not in solution.multipliers
        return
    model.program.solve(solver=cp.CLARABEL)
    reference = model.multipliers["alpha"].dual_value
    alpha = solution.multipliers["alpha"]
    accuracy = 2e-2 if solver == "gurobi" else 1e-3
    np.testing.assert_allclose(alpha, reference, atol=accuracy)
    assert alpha.min() > -1e-6


def test_defaults_are_open_source():
    chosen = {name: solver_for(model).name for name, model in MODELS.items()}
    assert {chosen[name] for name in ("SVM", "BoxMP", "DSCoP", "SCoP")} == {"clarabel"}
    assert {chosen[name] for name in ("BigMP", "CoP", "SR-DLMP")} == {"scip"}
    assert {"clarabel", "scip", "highs"} <= set(available_solvers())


@pytest.mark.parametrize(
    ("name", "solver", "remedy"),
    [
        ("SCoP", "highs", "clarabel"),
        ("DSCoP", "highs", "clarabel"),
        ("BigMP", "highs", "scip"),
        ("SCoP", "scip", "clarabel"),
        ("BigMP", "clarabel", "scip"),
        ("CoP", "copt", "scip"),
    ],
)
def test_a_model_that_a_solver_cannot_take_is_rejected(name, solver, remedy):
    with pytest.raises(UnsupportedModel, match=rf"cannot take {name}.*{remedy}"):
        MODELS[name].solve(solver)


def test_unknown_solvers_are_named():
    with pytest.raises(ValueError, match=r"solver must be one of .*'clarabel'"):
        MODELS["SVM"].solve("cplex")


@pytest.mark.parametrize(
    ("solver", "package", "message"),
    [
        ("gurobi", "gurobipy", r"frugalsvm\[gurobi\].*\['clarabel', 'scip', 'highs'\]"),
        ("mosek", "mosek", r"frugalsvm\[mosek\].*open-source"),
        ("copt", "coptpy", r"frugalsvm\[copt\].*open-source"),
        ("clarabel", "cvxpy", r"needs the package cvxpy.*frugalsvm\[paper\]"),
    ],
)
def test_a_missing_solver_says_what_to_install(uninstall, solver, package, message):
    uninstall(package)
    with pytest.raises(SolverNotAvailable, match=message):
        MODELS["SVM"].solve(solver)


def test_gurobi_without_a_licence_says_so():
    """It takes the small model, and rejects the large one with a remedy."""
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 2500, 3)
    model = svm(Problem(X, y, max_features=2))
    solve(small := MODELS["SVM"], "gurobi")
    assert small.problem.n_samples < 2000 < model.problem.n_samples
    try:
        model.solve("gurobi")
    except SolverNotAvailable as error:
        message = str(error)
    else:
        pytest.skip("gurobi is licensed here")
    assert "licen" in message
    assert "open-source" in message


def test_scip_stops_in_time_and_returns_what_it_has():
    problem = random_problem(0, m=60, n=25, B=5, C=10.0)
    model = cop(problem)
    solution = model.solve(time_limit=1.0)
    assert solution.status is SolveStatus.TIME_LIMIT
    assert solution.seconds < 20
    assert np.sum(np.abs(solution.variables["w"]) > 1e-6) <= 5
    assert solution.bound < solution.objective < np.inf
    # A claimed bound, but a reasonable one.
    assert solution.bound > 0


def test_verbose_shows_the_log_and_the_default_is_silent(capfd):
    for name, solver in [("SVM", "clarabel"), ("SVM", "highs"), ("BigMP", "scip")]:
        MODELS[name].solve(solver)
        assert capfd.readouterr().out == ""
        MODELS[name].solve(solver, verbose=True)
        assert len(capfd.readouterr().out) > 100


def milp():
    """Hinge loss with few features, as Maldonado et al.: no quadratic term."""
    w, b, xi, v = (cp.Variable(k) for k in (5, 1, PROBLEM.n_samples, 5))
    margins = PROBLEM.A.T @ w + cp.multiply(PROBLEM.y, b) >= 1 - xi
    rows = [margins, xi >= 0, w <= 2 * v, w >= -2 * v, cp.sum(v) <= 2, v >= 0, v <= 1]
    return Model(
        "MILP", "", PROBLEM, np.arange(5),
        cp.Problem(cp.Minimize(cp.sum(xi)), rows), {"w": w, "v": v, "xi": xi},
        {"alpha": margins}, binaries={"v": np.arange(5)},
    )  # fmt: skip


def test_highs_takes_integer_programs_without_quadratic_terms():
    model = milp()
    highs, scip = (model.solve(solver) for solver in ("highs", "scip"))
    assert highs.status is SolveStatus.OPTIMAL
    assert highs.objective == pytest.approx(scip.objective, rel=1e-6)
    assert highs.bound == pytest.approx(highs.objective, rel=1e-6)
    assert set(np.round(highs.variables["v"], 6)) <= {0.0, 1.0}
    linear = model.fix(v=[1, 1, 0, 0, 0])
    continuous = [linear.solve(s) for s in ("highs", "clarabel")]
    assert continuous[0].objective == pytest.approx(continuous[1].objective, rel=1e-6)
    assert continuous[0].objective >= highs.objective - 1e-9
    assert not continuous[0].variables["w"][2:].any()


def test_the_size_of_a_program_is_in_its_matrices_not_in_python_objects():
    """One vectorised cone constraint however many features: 77 x 7129 compiles fast."""
    few, many = (dscop(random_problem(0, m=20, n=n, B=3)) for n in (5, 500))
    assert len(few.continuous.constraints) == len(many.continuous.constraints)
    form = compile_model(many)
    assert form.soc == [3] * 500
    solution = many.solve(tolerance=1e-8)
    native = relax(many.problem)
    assert solution.objective == pytest.approx(native.value, rel=1e-5)


def test_complementarity_is_not_for_cvxpy():
    with pytest.raises(NotImplementedError, match="complementarity"):
        _ = MODELS["CoP"].program
    assert MODELS["BigMP"].program.is_mixed_integer()
    assert not MODELS["BoxMP"].program.is_mixed_integer()


def test_without_cvxpy_the_native_parts_work_and_models_say_what_to_install():
    code = (
        "import sys\n"
        "sys.modules['cvxpy'] = None\n"
        "from frugalsvm import Problem, relax\n"
        "from frugalsvm.paper.models import dscop, scop, weight_bounds\n"
        "X = [[0., 1.], [1., 0.], [2., 3.]]\n"
        "problem = Problem(X, [-1, 1, 1], max_features=1)\n"
        "assert relax(problem).bound > 0\n"
        "assert weight_bounds(problem, 10.0, max_programs=0).M > 0\n"
        "for build in (dscop, scop):\n"
        "    try:\n"
        "        build(problem)\n"
        "    except ImportError as error:\n"
        "        assert 'frugalsvm[paper]' in str(error), error\n"
        "    else:\n"
        "        raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_package_stays_light():
    code = (
        "import sys, frugalsvm, frugalsvm.paper.models, frugalsvm.paper.solvers\n"
        "from frugalsvm import Problem, relax\n"
        "relax(Problem([[0.], [1.]], [-1, 1]))\n"
        "heavy = {'cvxpy', 'pyscipopt', 'highspy', 'clarabel', 'gurobipy', 'coptpy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
