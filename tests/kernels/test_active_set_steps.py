"""SVMs by active-set steps agree with the interior point, from any start."""

import numpy as np
import pytest

from frugalsvm.engine.native import NativeEngine
from frugalsvm.kernels import active_set_point, active_set_steps
from frugalsvm.kernels import column_exchanges as near
from frugalsvm.kernels.active_set_steps import EXCEEDED, FAILED, SOLVED, StepGoal
from frugalsvm.kernels.data import NEVER
from tests.kernels.compiled import compiled
from tests.kernels.test_program import data_of

select_near_samples = compiled(near.select_near_samples)
change_inverse, complete_point, free_sample, new_point, new_workspace, start_cold = map(
    compiled,
    (
        active_set_point.change_inverse, active_set_point.complete_point,
        active_set_point.free_sample, active_set_point.new_point,
        active_set_point.new_workspace, active_set_point.start_cold,
    ),
)  # fmt: skip
direction_with, find_direction, fix_blocking, move, take_steps = map(
    compiled,
    (
        active_set_steps._direction_with, active_set_steps._find_direction,
        active_set_steps._fix_blocking, active_set_steps._move,
        active_set_steps.take_steps,
    ),
)  # fmt: skip


def random_data(seed, m=40, n=12, C=2.0, intercept=True, shift=0.5):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.normal(size=(n, m)) + shift * y
    return data_of(X * y, y, C * rng.uniform(0.5, 1.5, m), intercept)


def all_near(data, support):
    nothing = np.zeros(data.y.size)
    return select_near_samples(data, support, nothing, nothing, data.y.size)


def cold(data, support, goal=None):
    part = all_near(data, support)
    sizes = data.y.size, support.size
    point, workspace = new_point(*sizes), new_workspace(*sizes)
    start_cold(part, point, data.intercept, workspace)
    goal = goal or StepGoal(1e-7, np.inf, 2000)
    status, count = take_steps(part, point, data.intercept, goal, NEVER, workspace)
    return status, count, part, point, workspace


def reference(data, support):
    engine = NativeEngine(data)
    return engine.solve_svm(support, tol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_svm_agrees_with_the_interior_point(seed, C, intercept):
    data = random_data(seed, C=C, intercept=intercept)
    support = np.array([0, 3, 4, 7, 9])
    status, _, _, point, _ = cold(data, support)
    found = reference(data, support)
    assert status == SOLVED
    assert point.numbers[1] == pytest.approx(found.primal, rel=1e-6)
    np.testing.assert_allclose(point.w, found.w, atol=1e-3 * np.abs(found.w).max())
    assert np.all(point.alpha >= -1e-12)
    assert np.all(point.alpha <= data.C * (1 + 1e-12))
    np.testing.assert_allclose(point.w, data.A[support] @ point.alpha, atol=1e-9)
    if intercept:
        assert abs(data.y @ point.alpha) <= 1e-7 * point.alpha.sum()


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("seed", range(4))
def test_overlapping_classes_are_solved(seed, C):
    data = random_data(seed, m=300, C=C, shift=0.1)
    support = np.arange(8)
    # A tenth of that is not reached: with one more free variable than weights, the
    # matrix is nearly singular.
    status, _, _, point, _ = cold(data, support, StepGoal(1e-5, np.inf, 2000))
    assert status == SOLVED
    assert point.numbers[1] == pytest.approx(reference(data, support).primal, rel=2e-5)
    np.testing.assert_allclose(point.w, data.A[support] @ point.alpha, atol=1e-9)


def next_directions(data, support, n_steps):
    """The direction after one more step, updated and recomputed."""
    goal = StepGoal(1e-7, np.inf, n_steps)
    status, _, part, point, workspace = cold(data, support, goal)
    if status == SOLVED or point.size[0] < 3:
        return None
    find_direction(part, point, data.intercept, workspace)
    point.numbers[0] = workspace.direction[0]
    position, length = move(part, point, workspace)
    if position >= 0 and length < 1e-2:
        return None
    if position >= 0:
        fix_blocking(part, point, position, length, True, workspace)
    else:
        sample = int(np.flatnonzero(point.side)[0])
        margin = point.w @ part.columns[sample] + point.numbers[0] * part.y[sample]
        free_sample(part, point, data.intercept, sample, workspace)
        direction_with(point, 1.0 - margin, workspace)
    updated = workspace.direction[: point.size[0] + 1].copy()
    find_direction(part, point, data.intercept, workspace)
    return position >= 0, updated, workspace.direction[: updated.size].copy()


@pytest.mark.parametrize("intercept", [True, False])
def test_updated_directions_equal_recomputed_ones(intercept):
    data = random_data(3, m=80, C=0.5, intercept=intercept, shift=0.1)
    directions = [next_directions(data, np.arange(8), k) for k in range(1, 60)]
    kinds = {found[0] for found in directions if found}
    assert kinds == {True, False}
    for _, updated, recomputed in filter(None, directions):
        scale = np.abs(recomputed).max()
        np.testing.assert_allclose(updated, recomputed, atol=1e-6 * scale + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_ties_and_duplicate_features_are_solved(seed):
    rng = np.random.default_rng(seed)
    y = np.resize([1.0, -1.0], 30)
    X = rng.integers(0, 3, (6, 30)).astype(float)
    X[1], X[:, 5] = X[0], X[:, 3]
    data = data_of(X * y, y, np.ones(30))
    support = np.arange(4)
    status, _, _, point, _ = cold(data, support)
    assert status == SOLVED
    assert point.numbers[1] == pytest.approx(reference(data, support).primal, rel=1e-5)


def test_steps_end_above_the_cutoff():
    data = random_data(0)
    support = np.arange(5)
    objective = reference(data, support).primal
    whole = cold(data, support)[1]
    goal = StepGoal(1e-7, 0.5 * objective, 2000)
    status, count, *_ = cold(data, support, goal)
    assert status == EXCEEDED
    assert count < whole
    goal = StepGoal(1e-7, 1.01 * objective, 2000)
    assert cold(data, support, goal)[0] == SOLVED


@pytest.mark.parametrize("seed", range(4))
def test_an_exchange_takes_few_steps(seed):
    data = random_data(seed, m=100)
    support, other = np.arange(6), np.array([0, 1, 8, 3, 4, 5])
    _, first, _, point, workspace = cold(data, support)
    kept = change_inverse(point, data.A[8], 1.0, workspace)
    assert kept
    assert change_inverse(point, data.A[2], -1.0, workspace)
    point.w[2] = data.A[8] @ point.alpha
    goal = StepGoal(1e-7, np.inf, 2000)
    part = all_near(data, other)
    status, count = take_steps(part, point, data.intercept, goal, NEVER, workspace)
    assert status == SOLVED
    assert count < first
    assert point.numbers[1] == pytest.approx(reference(data, other).primal, rel=1e-6)


def test_the_inverse_stays_accurate_after_many_changes():
    data = random_data(1, m=60)
    support = np.arange(6)
    _, _, _, point, _ = cold(data, support)
    free = point.free[: point.size[0]]
    rows = data.A[np.ix_(support, free)]
    K = np.block(
        [[np.zeros((1, 1)), data.y[free][None]], [data.y[free][:, None], rows.T @ rows]]
    )
    own = point.inverse[: free.size + 1, : free.size + 1]
    np.testing.assert_allclose(own @ K, np.eye(free.size + 1), atol=1e-5)


@pytest.mark.parametrize("count", [1, 12, 40])
def test_far_samples_are_summed_up(count):
    data = random_data(2, C=0.05)
    support = np.arange(4)
    _, _, _, whole, _ = cold(data, support)
    slack = 1.0 - whole.w @ data.A[support] - whole.numbers[0] * data.y
    part = select_near_samples(data, support, slack, whole.alpha, count)
    far = np.setdiff1d(np.arange(40), part.samples)
    np.testing.assert_array_equal(part.rows, data.A[np.ix_(support, part.samples)])
    np.testing.assert_array_equal(part.columns, part.rows.T)
    assert part.samples.size >= count
    inside = (whole.alpha > 0) & (whole.alpha < data.C)
    assert np.isin(np.flatnonzero(inside), part.samples).all()
    np.testing.assert_allclose(
        part.far_w, data.A[np.ix_(support, far)] @ whole.alpha[far]
    )
    assert part.far_sums[0] == pytest.approx(whole.alpha[far].sum())
    assert part.far_sums[1] == pytest.approx(whole.alpha[far] @ data.y[far])
    # These samples alone give the same solution.
    point = new_point(part.samples.size, 4)
    workspace = new_workspace(part.samples.size, 4)
    point.alpha[:] = whole.alpha[part.samples]
    complete_point(part, point, data.intercept, workspace)
    np.testing.assert_allclose(point.w, whole.w, atol=1e-9)
    goal = StepGoal(1e-7, np.inf, 2000)
    assert take_steps(part, point, data.intercept, goal, NEVER, workspace)[0] == SOLVED
    assert point.numbers[1] == pytest.approx(whole.numbers[1], rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_samples_that_are_zero_on_the_support_are_solved(seed):
    rng = np.random.default_rng(seed)
    y = np.resize([1.0, -1.0], 40)
    data = data_of((rng.random((6, 40)) < 0.1) * y, y, np.full(40, 10.0))
    support = np.arange(6)
    goal = StepGoal(1e-5, np.inf, 2000)
    status, _, _, point, _ = cold(data, support, goal)
    assert status == SOLVED
    assert point.numbers[1] == pytest.approx(reference(data, support).primal, rel=2e-5)
    assert abs(y @ point.alpha) <= 1e-6 * point.alpha.sum()


def test_it_ends_if_the_flag_is_set():
    data = random_data(0)
    support = np.arange(5)
    part = all_near(data, support)
    point, workspace = new_point(40, 5), new_workspace(40, 5)
    start_cold(part, point, True, workspace)
    goal, stop = StepGoal(1e-7, np.inf, 2000), np.ones(1, dtype=np.uint8)
    assert take_steps(part, point, True, goal, stop, workspace) == (FAILED, 1)
