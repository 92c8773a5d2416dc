"""Requests to solvers: starts, limits on time and nodes; and failures."""

import ctypes
import importlib
import importlib.util
import signal

import cvxpy as cp
import numpy as np
import pytest

from frugalsvm import Problem, relax, solve
from frugalsvm.paper.models import bigmp, cop, dscop, sr_dlmp, svm
from frugalsvm.paper.solvers import (
    SOLVERS,
    SolverFailed,
    SolverNotAvailable,
    SolveStatus,
    bridge,
    clarabel,
    highs,
    scip,
)
from frugalsvm.paper.solvers import bridge as copt
from frugalsvm.paper.solvers.base import Request
from frugalsvm.paper.solvers.clarabel import compile_model
from frugalsvm.search.relaxations import certified_bound
from tests.paper.models.instances import SMALL, random_problem
from tests.paper.solvers.test_solvers import milp
from tests.reference import random_data

# Too hard for SCIP to find the optimum within a few nodes.
HARD = random_problem(0, m=60, n=25, B=5, C=10.0)


@pytest.fixture(scope="module")
def best():
    return solve(HARD, method="swap", random_state=0)


def needed(solver):
    if importlib.util.find_spec(SOLVERS[solver].package) is None:
        pytest.skip(f"{solver} is not installed")


@pytest.mark.parametrize("solver", ["scip", "gurobi"])
@pytest.mark.parametrize("build", [cop, lambda problem: bigmp(problem, 50.0)])
def test_a_start_is_the_first_solution(solver, build, best):
    """With one node there is no time to find it: CoP* of the paper begins with it."""
    needed(solver)
    model = build(HARD)
    start = model.start_from(best.coef, best.intercept)
    cold = model.solve(solver, node_limit=1)
    warm = model.solve(solver, node_limit=1, start=start)
    assert cold.objective > 1.001 * best.objective
    assert warm.objective <= best.objective * (1 + 1e-6)


def test_scip_completes_a_start_with_cones(best):
    """Variables that SCIP needs and the paper does not have are computed."""
    model = sr_dlmp(HARD, range(25), 50.0)
    warm = model.solve(
        "scip", node_limit=1, start=model.start_from(best.coef, best.intercept)
    )
    assert warm.objective <= best.objective * (1 + 1e-5)


def test_highs_takes_a_start():
    model = milp()
    optimum = model.solve("highs")
    known = {name: optimum.variables[name] for name in ("w", "v", "xi")}
    warm = model.solve("highs", start=known, node_limit=1)
    assert warm.objective == pytest.approx(optimum.objective, rel=1e-6)


def test_another_solution_is_a_start_and_omitted_features_do_not_matter(best):
    K = np.union1d(best.selected, np.arange(10))
    model = cop(HARD, K)
    start = model.start_from(best.coef, best.intercept)
    first = model.solve(start=start, node_limit=1)
    again = model.solve(start=first.variables, node_limit=1)
    assert again.objective <= best.objective * (1 + 1e-6)
    # Positions are those of the model, not of all features.
    point = compile_model(model).start_point(start)
    assert np.isfinite(point).all()


def test_invalid_starts_are_rejected(best):
    model = cop(HARD)
    with pytest.raises(ValueError, match=r"start has 'v'.*variables of CoP are"):
        model.solve(start={"v": np.zeros(25)})
    with pytest.raises(ValueError, match=r"start\['w'\] must be finite"):
        model.solve(start={"w": np.full(25, np.nan)})
    with pytest.raises(ValueError, match=r"start\['u'\].*one entry per feature"):
        model.solve(start={"u": np.zeros(3)})
    with pytest.raises(ValueError, match="coef must have one entry per column"):
        model.start_from([1.0], 0.0)


@pytest.mark.parametrize("solver", ["scip", "gurobi"])
def test_root_bounds(solver, best):
    needed(solver)
    for model in (cop(HARD), bigmp(HARD, 50.0)):
        root = model.solve(solver, node_limit=1)
        assert root.status is SolveStatus.NODE_LIMIT
        later = model.solve(solver, node_limit=200)
        assert 0 <= root.bound <= later.bound * (1 + 1e-6)
        assert later.bound <= best.objective * (1 + 1e-6)
    with pytest.raises(ValueError, match="node_limit must be at least 1"):
        cop(HARD).solve(node_limit=0)


@pytest.fixture
def now(monkeypatch):
    """The seconds that a clock of its own shows."""
    now = [0.0]
    monkeypatch.setattr(
        "frugalsvm.paper.solvers.base.time.perf_counter", lambda: now[0]
    )
    return now


@pytest.fixture
def slowed(monkeypatch, now):
    """A function: a call of another one takes some seconds on that clock."""

    def slow_down(owner, name, seconds):
        function = getattr(owner, name)

        def slow(*arguments):
            now[0] += seconds
            return function(*arguments)

        monkeypatch.setattr(owner, name, slow)

    return slow_down


@pytest.mark.parametrize("module", [clarabel, highs])
def test_compilation_is_part_of_the_time_limit(slowed, module):
    """Late, the solver is not even begun, and there is neither point nor bound."""
    slowed(module, "compile_model", 2.0)
    adapter = {clarabel: clarabel.Clarabel, highs: highs.Highs}[module]()
    model = svm(SMALL["random"])
    late = adapter.solve(model, Request(time_limit=1.0, asked=0.0))
    assert late.status is SolveStatus.TIME_LIMIT
    assert late.variables == {}
    assert late.objective == np.inf
    assert late.bound == -np.inf
    in_time = adapter.solve(model, Request(time_limit=1000.0, asked=0.0))
    assert in_time.status is SolveStatus.OPTIMAL


def test_cvxpys_solvers_count_compilation_too(monkeypatch, now):
    """The time option is the remaining time; COPT and MOSEK use the same code."""
    model = dscop(SMALL["random"])
    seen = {}
    real = type(model.program).get_problem_data

    def slow(program, solver, *rest):
        now[0] += 2.0
        data, _, inverse = real(program, cp.CLARABEL)

        class Chain:
            def solve_via_data(self, *_, solver_opts, **__):
                seen.update(solver_opts)
                raise RuntimeError("that is all we wanted to know")

        return data, Chain(), inverse

    monkeypatch.setattr(type(model.program), "get_problem_data", slow)
    with pytest.raises(SolverFailed, match="all we wanted"):
        copt.Copt().solve(model, Request(time_limit=5.0, asked=0.0))
    assert seen["TimeLimit"] == pytest.approx(3.0)
    late = copt.Copt().solve(model, Request(time_limit=3.0, asked=0.0))
    assert (late.status, late.variables) == (SolveStatus.TIME_LIMIT, {})


@pytest.mark.parametrize("limit", [{"max_iter": 3}, {"time_limit": 1e-9}])
def test_an_infeasible_iterate_is_not_a_point(monkeypatch, limit):
    """An interior point that is stopped early; its multipliers still prove a bound."""
    package = importlib.import_module("clarabel")
    make = package.DefaultSettings

    def settings():
        made = make()
        for name, value in limit.items():
            setattr(made, name, value)
        return made

    monkeypatch.setattr(package, "DefaultSettings", settings)
    problem = random_problem(0, m=50, n=30, B=5)
    cut_short = dscop(problem).solve()
    assert cut_short.status in (SolveStatus.TIME_LIMIT, SolveStatus.INACCURATE)
    assert cut_short.variables == {}
    assert cut_short.objective == np.inf
    assert cut_short.bound == -np.inf
    bound = certified_bound(problem, cut_short.multipliers["alpha"]).bound
    assert bound <= relax(problem).value * (1 + 1e-9)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("License has expired", SolverNotAvailable, r"no licence.*\['scip'\]"),
        ("numerical trouble", SolverFailed, r"numerical trouble.*small models.*scip"),
    ],
)
def test_failures_give_the_reason_and_other_solvers(text, error, words):
    """For a program with binary variables that is SCIP, not Clarabel."""
    model = sr_dlmp(SMALL["random"], (0, 1), 3.0)
    raised = bridge.failure("copt", model, RuntimeError(text))
    assert isinstance(raised, error)
    with pytest.raises(error, match=words):
        raise raised
    assert "clarabel" not in str(raised)


def test_ctrl_c_works_after_a_solver_that_replaces_the_handler():
    """COPT leaves the default handler behind, which ends the process."""
    read = ctypes.pythonapi.PyOS_getsig
    read.restype, read.argtypes = ctypes.c_void_p, [ctypes.c_int]
    write = ctypes.pythonapi.PyOS_setsig
    write.restype, write.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p]
    before = read(signal.SIGINT)
    with bridge.preserved_interrupt_handler():
        write(signal.SIGINT, None)
        assert read(signal.SIGINT) is None
    assert read(signal.SIGINT) == before
    if importlib.util.find_spec("coptpy"):
        svm(SMALL["random"]).solve("copt")
        assert read(signal.SIGINT) == before


def test_building_for_scip_makes_no_expression_per_coefficient(monkeypatch):
    """Sums of products in Python took most of the time on 2000 x 500 data."""
    package = importlib.import_module("pyscipopt")
    sums, add = [], package.quicksum
    monkeypatch.setattr(
        package, "quicksum", lambda terms: sums.append(1) or add(list(terms))
    )
    form = compile_model(cop(SMALL["iris"]))
    before = form.A.toarray()
    scip._build(form)
    # The linear and the quadratic part of the objective.
    assert len(sums) <= 2 < form.n_linear
    np.testing.assert_array_equal(form.A.toarray(), before)


def test_errors_of_scip_become_solver_failed():
    """Coefficients that SCIP takes for infinite."""
    X, y = random_data(np.random.default_rng(0), 12, 3)
    problem = Problem(1e30 * X, y, max_features=2)
    with pytest.raises(SolverFailed, match=r"scip could not solve DSCoP.*clarabel"):
        relax(problem, "DSCoP", solver="scip")
    with pytest.warns(UserWarning, match="scip could not solve"):
        result = solve(
            problem, method="local-search", method_options={"solver": "scip"}
        )
    assert "scip could not solve" in result.message
    assert 0.0 <= result.lower_bound <= result.objective
