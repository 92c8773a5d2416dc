"""A tree on the batch engine proves the same optima; its bounds hold at any time."""

import threading
from _thread import interrupt_main

import numpy as np
import pytest
from scipy import sparse

from frugalsvm import FrugalSVC, Problem, Status, solve, verify
from frugalsvm.engine.parameters import BatchParameters, EngineParameters
from tests.reference import brute_force, random_data
from tests.tree.problems import KINDS, small_problem

# Those that the engine takes.
TAKEN = [kind for kind in KINDS if kind != "costs"]
BATCHED = {"engine": "batched", "patience": 0}


def grow(problem, **arguments):
    given = {"random_state": 0, "method_options": BATCHED} | arguments
    return solve(problem, method="branch-and-bound", **given)


def medium_problem(seed=0, m=120, n=60, C=0.05, k=5):
    """A problem that takes some hundred nodes."""
    rng = np.random.default_rng(seed)
    X, _ = random_data(rng, m, n)
    y = np.where(X[:, :8].sum(axis=1) + 2 * rng.normal(size=m) > 0, 1.0, -1.0)
    return Problem(X, y, C=C, max_features=k), X, y


@pytest.mark.parametrize("kind", TAKEN)
@pytest.mark.parametrize("seed", range(4))
def test_it_finds_and_proves_the_optimum(kind, seed):
    problem, X, y = small_problem(kind, seed)
    optimum, _ = brute_force(problem)
    result = grow(problem, gap_tol=1e-6, certificate=True)
    assert result.status is Status.OPTIMAL
    np.testing.assert_allclose(result.objective, optimum, rtol=2e-6)
    assert result.lower_bound <= optimum * (1 + 1e-9)
    proved = verify(result.certificate, X, y)
    assert result.lower_bound * (1 - 1e-9) <= proved.lower_bound <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_it_agrees_with_the_interior_point_on_larger_trees(n_jobs):
    problem, X, y = medium_problem()
    plain = solve(
        problem, method="branch-and-bound", random_state=0,
        method_options={"patience": 0},
    )  # fmt: skip
    result = grow(problem, n_jobs=n_jobs, certificate=True)
    assert result.status is plain.status is Status.OPTIMAL
    assert result.counters["nodes"] > 100
    np.testing.assert_allclose(result.objective, plain.objective, rtol=2e-4)
    assert result.lower_bound <= plain.objective * (1 + 1e-9)
    assert plain.lower_bound <= result.objective * (1 + 1e-9)
    assert verify(result.certificate, X, y).gap <= 1e-4


def test_one_thread_is_deterministic():
    problem, _, _ = medium_problem(1)
    runs = [grow(problem, max_nodes=200) for _ in range(2)]
    assert runs[0].counters == runs[1].counters
    assert runs[0].lower_bound == runs[1].lower_bound


def test_limits_and_callbacks_leave_a_valid_bound():
    problem, X, y = medium_problem(2, C=1.0, k=8)
    value = grow(problem, max_nodes=1).objective
    found = [
        grow(problem, max_nodes=60, certificate=True),
        grow(problem, callback=lambda p: p.nodes > 50, certificate=True),
        grow(problem, time_limit=0.5, certificate=True),
        grow(problem, certificate=True, method_options={**BATCHED, "max_megabytes": 1}),
    ]
    assert found[0].status is Status.NODE_LIMIT
    assert found[0].counters["nodes"] < 60 + 8
    assert found[3].status is Status.MEMORY_LIMIT
    for result in found:
        assert 0 < result.lower_bound <= value
        proved = verify(result.certificate, X, y).lower_bound
        assert proved >= result.lower_bound * (1 - 1e-9)


def test_ctrl_c_keeps_the_bound():
    problem, X, y = medium_problem(3, m=400, n=200, C=1.0, k=10)
    grow(problem, max_nodes=10)
    timer = threading.Timer(1.0, interrupt_main)
    timer.start()
    result = grow(problem, time_limit=60, certificate=True)
    assert result.status is Status.INTERRUPTED
    assert verify(result.certificate, X, y).lower_bound > 0


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-30, 1e5, 1e30])
def test_bounds_hold_for_data_of_any_scale(scale):
    _, X, y = medium_problem(4, m=60, n=20, C=1.0, k=3)
    scaled = Problem(scale * X, y, C=1.0, max_features=3)
    result = grow(scaled, max_nodes=60, certificate=True)
    assert 0 <= result.lower_bound <= result.objective * (1 + 1e-12)
    proved = verify(result.certificate, scale * X, y).lower_bound
    assert proved >= result.lower_bound * (1 - 1e-9)


def refused(problem, what):
    with pytest.raises(ValueError, match=f"'batched' does not take {what}"):
        grow(problem)


def test_what_it_does_not_take_is_refused_by_name():
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 30, 8)
    groups = [0, 0, 1, 1, 2, 2, 3, 3]
    refused(Problem(X, y, max_features=2, feature_groups=groups), "feature groups")
    refused(Problem(X, y, max_features=2, signs=[1] * 8), "signs of weights")
    costs = Problem(X, y, feature_costs=np.arange(1.0, 9.0), max_cost=6.0)
    refused(costs, "feature costs")
    refused(Problem(sparse.csr_matrix(X), y, max_features=2), "sparse data")
    wide = EngineParameters(batch=BatchParameters(max_entries=100))
    problem = Problem(X, y, max_features=2).with_parameters(wide)
    refused(problem, "8 features of 30 samples")
    several = FrugalSVC(2, method_options={"engine": "batched"})
    with pytest.raises(ValueError, match="does not take several classes"):
        several.fit(X, rng.integers(0, 3, 30))


def test_an_unknown_engine_is_refused():
    problem, _, _ = small_problem("random", 0)
    with pytest.raises(ValueError, match=r"one of .*interior-point"):
        grow(problem, method_options={"engine": "steam"})
