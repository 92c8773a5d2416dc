"""engine="auto" changes to batches where they are much cheaper and about as good."""

import numpy as np
import pytest

from frugalsvm import Problem, Status, near_optimal, solve, verify
from frugalsvm.engine.batched import BatchedEngine
from frugalsvm.engine.parameters import BatchParameters, EngineParameters
from frugalsvm.engine.perspective import region_request
from frugalsvm.engine.trial import TrialEngine, _Relaxed
from frugalsvm.kernels import screening as batch_bounds
from frugalsvm.run.stopping import StopCondition
from frugalsvm.search.restarts import SwapOptions
from frugalsvm.solving.solver import may_batch
from frugalsvm.tree import branch_and_bound as engines
from frugalsvm.tree.branch_and_bound import (
    ENGINES,
    TreeOptions,
    engine_of,
    nodes_together,
)
from tests.reference import random_data


def dense_problem(C=0.05, m=300, n=120, k=5, **batch):
    """Data all of which matter, so that interior points work on all of them."""
    rng = np.random.default_rng(0)
    X, _ = random_data(rng, m, n)
    y = np.where(X[:, :8].sum(axis=1) + 2 * rng.normal(size=m) > 0, 1.0, -1.0)
    problem = Problem(X, y, C=C, max_features=k)
    parameters = EngineParameters(batch=BatchParameters(trial_after=1e7, **batch))
    return problem.with_parameters(parameters), X, y


def grow(problem, engine="auto", **arguments):
    options = {"engine": engine, "patience": 0}
    return solve(
        problem, method="branch-and-bound", random_state=0, method_options=options,
        **arguments,
    )  # fmt: skip


@pytest.fixture
def made(monkeypatch):
    """The engines that trees were given."""
    engines_made = []
    plain = TrialEngine.__init__

    def init(self, native):
        plain(self, native)
        engines_made.append(self)

    monkeypatch.setattr(TrialEngine, "__init__", init)
    return engines_made


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_it_changes_to_batches_and_proves_the_same(made, n_jobs):
    problem, X, y = dense_problem()
    plain = grow(problem, "interior-point")
    found = grow(problem, n_jobs=n_jobs, certificate=True)
    assert nodes_together(made[-1]) == 64
    assert found.status is plain.status is Status.OPTIMAL
    np.testing.assert_allclose(found.objective, plain.objective, rtol=2e-4)
    proved = verify(found.certificate, X, y)
    assert proved.lower_bound <= plain.objective * (1 + 1e-9)
    assert proved.gap <= 2e-4


@pytest.mark.parametrize(
    "limits", [{"trial_loss": 1e-9}, {"trial_speedup": 1e9}, {"trial_size": 121}]
)
def test_otherwise_nothing_changes(made, limits):
    problem, _, _ = dense_problem(**limits)
    plain = grow(problem, "interior-point", max_nodes=60)
    found = grow(problem, max_nodes=60)
    assert all(nodes_together(one) == 1 for one in made)
    assert found.lower_bound == plain.lower_bound
    assert found.counters == plain.counters


def test_it_is_deterministic(made):
    runs = [grow(dense_problem()[0], max_nodes=300) for _ in range(2)]
    assert nodes_together(made[-1]) == 64
    assert runs[0].counters == runs[1].counters
    assert runs[0].lower_bound == runs[1].lower_bound


def test_data_that_overflow_single_precision_keep_the_interior_point(made):
    _, X, y = dense_problem()
    parameters = EngineParameters(batch=BatchParameters(trial_after=1e-9))
    large = Problem(1e25 * X, y, C=1e-30, max_features=5).with_parameters(parameters)
    found = grow(large, max_nodes=30)
    assert nodes_together(made[-1]) == 1
    assert 0.0 <= found.lower_bound <= found.objective


def test_a_trial_that_lacks_memory_keeps_the_interior_point(made, monkeypatch):
    def short(self, *_):
        raise MemoryError

    monkeypatch.setattr(BatchedEngine, "_solve_batch", short)
    problem, _, _ = dense_problem()
    plain = grow(problem, "interior-point", max_nodes=60)
    found = grow(problem, max_nodes=60)
    assert made[-1]._is_settled
    assert nodes_together(made[-1]) == 1
    assert found.lower_bound == plain.lower_bound


def test_what_cannot_be_batched_is_left_to_the_interior_point():
    problem, X, y = dense_problem()
    assert isinstance(engine_of(problem, "auto"), TrialEngine)
    assert type(engine_of(problem, "batched")) is BatchedEngine
    assert engine_of(problem, "interior-point") is problem.engine
    signed = Problem(X, y, signs=[1] * 120, max_features=5)
    costly = Problem(X, y, feature_costs=np.arange(1.0, 121.0), max_cost=9.0)
    small = Problem(X[:, :99], y, max_features=5)
    for one in (signed, costly, small):
        assert engine_of(one, "auto") is one.engine


def test_kernels_of_batches_are_compiled_before_the_clock_starts():
    problem, _, _ = dense_problem()
    options = [TreeOptions(engine=name) for name in ENGINES]
    assert [may_batch(problem, one) for one in options] == [True, False, True]
    assert not may_batch(problem, SwapOptions())
    engines.warm_up_batches(StopCondition())
    before = compiled_forms(batch_bounds)
    assert before > 0
    grow(problem, "batched", max_nodes=20)
    grow(problem, "batched", max_nodes=20, certificate=True)
    assert compiled_forms(batch_bounds) == before


def compiled_forms(module):
    kernels = (module.repair_rows, module.bound_rows)
    return sum(len(getattr(kernel, "signatures", ())) for kernel in kernels)


def test_lists_use_batches_and_are_the_same(made):
    problem, X, y = dense_problem()
    options = {"tolerance": 0.005, "random_state": 0, "certificate": True}
    found = near_optimal(problem, **options)
    assert nodes_together(made[-1]) == 64
    parameters = EngineParameters(batch=BatchParameters(trial_size=1000))
    plain = near_optimal(problem.with_parameters(parameters), **options)
    assert len(found.supports) > 1
    assert [one.tolist() for one in found.supports] == [
        one.tolist() for one in plain.supports
    ]
    assert found.complete_up_to == plain.complete_up_to
    proved = verify(found.certificate, X, y)
    assert proved.alternatives.threshold >= found.objectives[0] * 1.005 * (1 - 1e-9)


def test_bounds_of_zero_are_compared(made):
    """With a large C the bounds of an interior point may be zero."""
    problem, _, _ = dense_problem(trial_nodes=1, trial_speedup=1e-9)
    engine = engine_of(problem, "auto")
    request = region_request(
        engine, problem.root_region(), None, tol=0.1, fine_tol=0.1,
        cutoff=np.inf, max_rounds=9,
    )  # fmt: skip
    engine.solve([request])
    for bound, least, most in ((0.0, -1.0, -1.0), (1e9, 0.9, 1.0)):
        engine._relaxed.append(_Relaxed(request, bound, 1.0))
        with np.errstate(all="raise"):
            assert least <= engine._loss() <= most
        engine._relaxed.clear()
