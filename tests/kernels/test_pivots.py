"""SVMs by pivots: the same as by the interior point, from wherever they begin."""

import numpy as np
import pytest

from frugalsvm.engine.native import NativeEngine
from frugalsvm.kernels import near, pivots, vertex
from frugalsvm.kernels.data import NEVER
from frugalsvm.kernels.pivots import EXCEEDED, FAILED, SOLVED, PivotGoal
from tests.kernels.compiled import compiled
from tests.kernels.test_program import data_of

near_part, new_vertex, new_scratch, start_cold, settle, pivot, change_inverse = map(
    compiled,
    (
        near.near_part, vertex.new_vertex, vertex.new_scratch, vertex.start_cold,
        vertex.settle, pivots.pivot, vertex.change_inverse,
    ),
)  # fmt: skip
aim, step, block, enter, aim_with = map(
    compiled,
    (pivots._aim, pivots._step, pivots._block, vertex.enter, pivots._aim_with),
)


def random_data(seed, m=40, n=12, C=2.0, intercept=True, shift=0.5):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.normal(size=(n, m)) + shift * y
    return data_of(X * y, y, C * rng.uniform(0.5, 1.5, m), intercept)


def all_near(data, support):
    nothing = np.zeros(data.y.size)
    return near_part(data, support, nothing, nothing, data.y.size)


def cold(data, support, goal=None):
    part = all_near(data, support)
    sizes = data.y.size, support.size
    vertex, scratch = new_vertex(*sizes), new_scratch(*sizes)
    start_cold(part, vertex, data.intercept, scratch)
    goal = goal or PivotGoal(1e-7, np.inf, 2000)
    status, count = pivot(part, vertex, data.intercept, goal, NEVER, scratch)
    return status, count, part, vertex, scratch


def reference(data, support):
    engine = NativeEngine(data)
    return engine.solve_svm(support, tol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_svm_is_that_of_the_interior_point(seed, C, intercept):
    data = random_data(seed, C=C, intercept=intercept)
    support = np.array([0, 3, 4, 7, 9])
    status, _, _, vertex, _ = cold(data, support)
    found = reference(data, support)
    assert status == SOLVED
    assert vertex.numbers[1] == pytest.approx(found.primal, rel=1e-6)
    np.testing.assert_allclose(vertex.w, found.w, atol=1e-3 * np.abs(found.w).max())
    assert np.all(vertex.alpha >= -1e-12)
    assert np.all(vertex.alpha <= data.C * (1 + 1e-12))
    np.testing.assert_allclose(vertex.w, data.A[support] @ vertex.alpha, atol=1e-9)
    if intercept:
        assert abs(data.y @ vertex.alpha) <= 1e-7 * vertex.alpha.sum()


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("seed", range(4))
def test_classes_that_overlap(seed, C):
    data = random_data(seed, m=300, C=C, shift=0.1)
    support = np.arange(8)
    # A tenth of that is too much to ask for: one free variable more than there are
    # weights makes the matrix nearly singular.
    status, _, _, vertex, _ = cold(data, support, PivotGoal(1e-5, np.inf, 2000))
    assert status == SOLVED
    assert vertex.numbers[1] == pytest.approx(reference(data, support).primal, rel=2e-5)
    np.testing.assert_allclose(vertex.w, data.A[support] @ vertex.alpha, atol=1e-9)


def next_aims(data, support, n_pivots):
    """What is aimed at after one more step: updated, and made anew."""
    goal = PivotGoal(1e-7, np.inf, n_pivots)
    status, _, part, vertex, scratch = cold(data, support, goal)
    if status == SOLVED or vertex.size[0] < 3:
        return None
    aim(part, vertex, data.intercept, scratch)
    vertex.numbers[0] = scratch.direction[0]
    place, length = step(part, vertex, scratch)
    if place >= 0 and length < 1e-2:
        return None
    if place >= 0:
        block(part, vertex, place, length, True, scratch)
    else:
        sample = int(np.flatnonzero(vertex.side)[0])
        margin = vertex.w @ part.columns[sample] + vertex.numbers[0] * part.y[sample]
        enter(part, vertex, data.intercept, sample, scratch)
        aim_with(vertex, 1.0 - margin, scratch)
    updated = scratch.direction[: vertex.size[0] + 1].copy()
    aim(part, vertex, data.intercept, scratch)
    return place >= 0, updated, scratch.direction[: updated.size].copy()


@pytest.mark.parametrize("intercept", [True, False])
def test_aims_are_updated_to_what_they_would_be_anew(intercept):
    data = random_data(3, m=80, C=0.5, intercept=intercept, shift=0.1)
    aims = [next_aims(data, np.arange(8), k) for k in range(1, 60)]
    kinds = {aims_of[0] for aims_of in aims if aims_of}
    assert kinds == {True, False}
    for _, updated, anew in filter(None, aims):
        scale = np.abs(anew).max()
        np.testing.assert_allclose(updated, anew, atol=1e-6 * scale + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_data_with_ties_and_copies(seed):
    rng = np.random.default_rng(seed)
    y = np.resize([1.0, -1.0], 30)
    X = rng.integers(0, 3, (6, 30)).astype(float)
    X[1], X[:, 5] = X[0], X[:, 3]
    data = data_of(X * y, y, np.ones(30))
    support = np.arange(4)
    status, _, _, vertex, _ = cold(data, support)
    assert status == SOLVED
    assert vertex.numbers[1] == pytest.approx(reference(data, support).primal, rel=1e-5)


def test_a_cutoff_that_is_exceeded_ends_it():
    data = random_data(0)
    support = np.arange(5)
    objective = reference(data, support).primal
    whole = cold(data, support)[1]
    goal = PivotGoal(1e-7, 0.5 * objective, 2000)
    status, count, *_ = cold(data, support, goal)
    assert status == EXCEEDED
    assert count < whole
    goal = PivotGoal(1e-7, 1.01 * objective, 2000)
    assert cold(data, support, goal)[0] == SOLVED


@pytest.mark.parametrize("seed", range(4))
def test_an_exchange_takes_few_pivots(seed):
    data = random_data(seed, m=100)
    support, other = np.arange(6), np.array([0, 1, 8, 3, 4, 5])
    _, first, _, vertex, scratch = cold(data, support)
    kept = change_inverse(vertex, data.A[8], 1.0, scratch)
    assert kept
    assert change_inverse(vertex, data.A[2], -1.0, scratch)
    vertex.w[2] = data.A[8] @ vertex.alpha
    goal = PivotGoal(1e-7, np.inf, 2000)
    part = all_near(data, other)
    status, count = pivot(part, vertex, data.intercept, goal, NEVER, scratch)
    assert status == SOLVED
    assert count < first
    assert vertex.numbers[1] == pytest.approx(reference(data, other).primal, rel=1e-6)


def test_the_inverse_is_one_after_many_changes():
    data = random_data(1, m=60)
    support = np.arange(6)
    _, _, _, vertex, _ = cold(data, support)
    free = vertex.free[: vertex.size[0]]
    rows = data.A[np.ix_(support, free)]
    K = np.block(
        [[np.zeros((1, 1)), data.y[free][None]], [data.y[free][:, None], rows.T @ rows]]
    )
    own = vertex.inverse[: free.size + 1, : free.size + 1]
    np.testing.assert_allclose(own @ K, np.eye(free.size + 1), atol=1e-5)


@pytest.mark.parametrize("count", [1, 12, 40])
def test_samples_that_are_far_are_summed_up(count):
    data = random_data(2, C=0.05)
    support = np.arange(4)
    _, _, _, whole, _ = cold(data, support)
    slack = 1.0 - whole.w @ data.A[support] - whole.numbers[0] * data.y
    part = near_part(data, support, slack, whole.alpha, count)
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
    # From these samples alone the same solution follows.
    vertex = new_vertex(part.samples.size, 4)
    scratch = new_scratch(part.samples.size, 4)
    vertex.alpha[:] = whole.alpha[part.samples]
    settle(part, vertex, data.intercept, scratch)
    np.testing.assert_allclose(vertex.w, whole.w, atol=1e-9)
    goal = PivotGoal(1e-7, np.inf, 2000)
    assert pivot(part, vertex, data.intercept, goal, NEVER, scratch)[0] == SOLVED
    assert vertex.numbers[1] == pytest.approx(whole.numbers[1], rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_samples_that_are_zero_on_the_support(seed):
    rng = np.random.default_rng(seed)
    y = np.resize([1.0, -1.0], 40)
    data = data_of((rng.random((6, 40)) < 0.1) * y, y, np.full(40, 10.0))
    support = np.arange(6)
    goal = PivotGoal(1e-5, np.inf, 2000)
    status, _, _, vertex, _ = cold(data, support, goal)
    assert status == SOLVED
    assert vertex.numbers[1] == pytest.approx(reference(data, support).primal, rel=2e-5)
    assert abs(y @ vertex.alpha) <= 1e-6 * vertex.alpha.sum()


def test_a_flag_ends_it():
    data = random_data(0)
    support = np.arange(5)
    part = all_near(data, support)
    vertex, scratch = new_vertex(40, 5), new_scratch(40, 5)
    start_cold(part, vertex, True, scratch)
    goal, stop = PivotGoal(1e-7, np.inf, 2000), np.ones(1, dtype=np.uint8)
    assert pivot(part, vertex, True, goal, stop, scratch) == (FAILED, 1)
