"""Quick runs on many samples, one part at a time; here the parts are small."""

import threading
from _thread import interrupt_main

import numpy as np
import pytest

from frugalsvm import Problem, Status, solve, verify
from frugalsvm.solving.options import PartSizes, SolveOptions
from frugalsvm.solving.solver import run_interruptible

SMALL = PartSizes(many=1000, part=700)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3001, 8))
    y = np.where(X[:, :3] @ [2.0, -1.0, 1.0] + rng.normal(size=3001) > 0, 1.0, -1.0)
    # Sorted samples are the worst case for parts.
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


@pytest.fixture
def problem(data):
    return Problem(*data, C=0.1, max_features=3)


def run(problem, **options):
    chosen = {"effort": "fast", "random_state": 0, "part_sizes": SMALL} | options
    return run_interruptible(problem, SolveOptions(**chosen))


def in_parts(problem, **options):
    result, interrupted = run(problem, **options)
    assert not interrupted
    assert result.method == "parts"
    return result


def test_model_and_bound_are_nearly_those_of_the_whole(problem, data):
    whole = solve(problem, effort="fast", random_state=0)
    result = in_parts(problem, certificate=True)
    np.testing.assert_array_equal(result.selected, whole.selected)
    assert result.objective == pytest.approx(whole.objective, rel=1e-6)
    assert 0 <= result.gap < 0.05
    assert result.lower_bound <= whole.objective
    assert problem.dual_bound(result.dual_point) == pytest.approx(result.lower_bound)
    checked = verify(result.certificate, *data, C=0.1, max_features=3)
    assert checked.lower_bound == pytest.approx(result.lower_bound)


def test_parts_without_the_rarer_class_prove_nothing(data):
    """Three samples of one class, five parts; the whole still has a model."""
    X, y = data
    few = np.flatnonzero(y > 0)[:3]
    for rows in (np.r_[few, np.flatnonzero(y < 0)], np.r_[np.flatnonzero(y < 0), few]):
        X_few, y_few = np.tile(X[rows], (2, 1))[:-3], np.tile(y[rows], 2)[:-3]
        for labels in (y_few, -y_few):
            made = Problem(X_few, labels, C=0.1, max_features=3)
            result = in_parts(made, certificate=True)
            assert 0 < result.lower_bound <= result.objective
            checked = verify(result.certificate, X_few, labels, C=0.1, max_features=3)
            assert checked.lower_bound == pytest.approx(result.lower_bound)


def test_without_a_proof_the_bound_is_trivial(problem):
    result = in_parts(problem, method="swap", proof=False)
    assert result.lower_bound == 0
    np.testing.assert_array_equal(result.coef, in_parts(problem).coef)


def test_the_objective_is_that_of_all_samples(problem):
    result = in_parts(problem)
    exact = problem.objective(result.coef, result.intercept)
    assert exact <= result.objective <= exact * (1 + 1e-10)


def test_costs_and_included_features(data):
    costs = np.array([9.0, 1, 1, 1, 1, 1, 1, 1])
    made = Problem(
        *data, C=0.1, max_features=3, feature_costs=costs, max_cost=3.0, include=[7],
        exclude=[2],
    )  # fmt: skip
    result = in_parts(made, initial_support=[0, 1, 4])
    assert 7 in result.selected
    assert not {0, 2} & set(result.selected.tolist())
    assert result.lower_bound <= result.objective


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_data_that_are_not_centred(data, fit_intercept):
    """Features of relatively small spread are shifted inside of a problem."""
    X, y = data
    moved = X + np.where(np.arange(8) < 4, 1e4, 0.0)
    made = Problem(moved, y, C=0.1, max_features=3, fit_intercept=fit_intercept)
    assert made.shift.any() == fit_intercept
    result = in_parts(made, certificate=True)
    exact = made.objective(result.coef, result.intercept)
    assert result.objective == pytest.approx(exact, rel=1e-10)
    assert result.objective >= exact
    whole = solve(made, effort="fast", random_state=0)
    assert result.objective == pytest.approx(whole.objective, rel=0.02)
    checked = verify(
        result.certificate, moved, y, C=0.1, max_features=3, fit_intercept=fit_intercept
    )
    assert checked.lower_bound == pytest.approx(result.lower_bound)


def test_weights_of_samples(data):
    X, y = data
    weights = np.arange(y.size) % 3.0
    made = Problem(X, y, C=0.1, max_features=3, sample_weight=weights)
    whole = solve(made, effort="fast", random_state=0)
    result = in_parts(made)
    assert result.objective == pytest.approx(whole.objective, rel=1e-6)
    assert result.lower_bound <= whole.objective


def test_one_seed_gives_one_model(problem):
    first, second = (
        in_parts(problem, random_state=np.random.RandomState(3)) for _ in range(2)
    )
    np.testing.assert_array_equal(first.coef, second.coef)
    assert first.counters == second.counters
    assert first.counters["parts"] == 5
    assert first.elites


def test_ctrl_c_leaves_a_model_of_a_part(problem):
    """Here before the first part is searched: the model is that of its relaxation."""
    seen = []

    def interrupt(progress):
        if not seen:
            interrupt_main()
            # Until it has been noticed.
            threading.Event().wait(0.3)
        seen.append(progress)

    result, was_interrupted = run(problem, callback=interrupt)
    assert was_interrupted
    assert result.method == "parts"
    assert result.status is Status.INTERRUPTED
    assert result.selected.size == 3
    assert result.lower_bound <= result.objective
    exact = problem.objective(result.coef, result.intercept)
    assert result.objective == pytest.approx(exact)


def test_a_callback_is_told_and_can_stop_it(problem):
    seen = []
    whole = in_parts(problem, callback=seen.append)
    objectives = [one.objective for one in seen]
    # Nothing is known of the whole while the first part is searched.
    assert objectives[0] == np.inf
    assert objectives[-1] == pytest.approx(whole.objective, rel=1e-9)
    assert seen[-1].lower_bound == whole.lower_bound
    assert objectives == sorted(objectives, reverse=True)

    def stop(progress):
        return np.isfinite(progress.objective)

    result = in_parts(problem, callback=stop)
    assert result.status is Status.INTERRUPTED
    assert result.objective >= whole.objective


def test_a_time_limit_ends_it(problem):
    result = in_parts(problem, time_limit=1e-9)
    assert result.status is Status.TIME_LIMIT
    assert result.selected.size > 0
    assert result.objective == pytest.approx(
        problem.objective(result.coef, result.intercept)
    )
    assert result.gap > 1e-4


def test_history_only_improves(problem):
    result = in_parts(problem)
    history = np.array(result.history)
    assert np.all(np.diff(history[:, 0]) >= 0)
    assert history[-1, 1] == result.objective
    assert history[-1, 2] == result.lower_bound


def test_all_other_runs_are_in_one_piece(problem, data):
    for options in (
        {"part_sizes": PartSizes(many=3001, part=700)},
        {"effort": "normal", "max_nodes": 2},
        {"max_nodes": 2},
        {"method": "swap"},
        {"method": "relax-and-round", "proof": False},
    ):
        result, _ = run(problem, **options)
        assert result.method == options.get("method", "auto")
        assert "parts" not in result.counters
        assert result.lower_bound > 0
    sparse = pytest.importorskip("scipy.sparse")
    X, y = data
    made = Problem(sparse.csr_matrix(X), y, C=0.1, max_features=3)
    assert run(made).result.method == "auto"
