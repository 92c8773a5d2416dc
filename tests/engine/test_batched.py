"""Bounds of the batch engine hold for any state, and its iterations make them good."""

from itertools import combinations

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.engine.batched import BatchedEngine, _shifted, batching_obstacle
from frugalsvm.engine.parameters import BatchParameters, EngineParameters
from frugalsvm.engine.perspective import perspective, region_request
from frugalsvm.engine.protocol import Region
from tests.reference import random_data, svm_value


def make_problem(seed, m=40, n=9, k=3, **arguments):
    rng = np.random.default_rng(seed)
    X, y = random_data(rng, m, n)
    X *= 10.0 ** rng.uniform(-1, 1, n)
    return Problem(X, y, C=float(10.0 ** rng.uniform(-2, 1)), max_features=k,
                   **arguments), X, y, rng  # fmt: skip


def engine_of(problem, **batch):
    parameters = EngineParameters(batch=BatchParameters(**batch))
    return BatchedEngine(problem.with_parameters(parameters).engine)


def random_regions(rng, n, k, count):
    regions = []
    for _ in range(count):
        order = rng.permutation(n)
        n_forced = int(rng.integers(0, k))
        n_free = int(rng.integers(k - n_forced + 1, n - n_forced + 1))
        forced, free = order[:n_forced], np.sort(order[n_forced : n_forced + n_free])
        regions.append(Region(forced, free, k - n_forced, np.inf))
    return regions


def request(engine, region, working_set, cutoff=np.inf, n_before=0):
    made = region_request(
        engine, region, working_set, tol=1e-4, fine_tol=1e-4, cutoff=cutoff,
        max_rounds=3,
    )  # fmt: skip
    return made._replace(n_before=n_before)


def root_working_set(engine, problem):
    root = problem.root_region()
    found = engine.solve([request(engine, root, None)])[0]
    return found.working_set._replace(state=engine._first_state)


def relaxed(engine, regions, working_set, cutoff=np.inf):
    return engine.solve([request(engine, one, working_set, cutoff) for one in regions])


def best_value(problem, X, y, region):
    """The smallest objective of the supports of a region."""
    values = []
    for extra in combinations(region.free, min(region.k, region.free.size)):
        used = np.union1d(region.forced, np.array(extra, dtype=int)).astype(int)
        values.append(svm_value(X[:, used], y, problem.C, problem.fit_intercept))
    return min(values)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_no_bound_exceeds_the_best_support_even_from_random_states(seed, intercept):
    problem, X, y, rng = make_problem(seed, fit_intercept=intercept)
    engine = engine_of(problem)
    regions = random_regions(rng, 9, 3, 6)
    values = [best_value(problem, X, y, one) for one in regions]
    start = root_working_set(engine, problem)
    size = 10.0 ** rng.uniform(-3, 3)
    noise = (size * rng.normal(size=start.state.shape)).astype(np.float32)
    for working_set in (start, start._replace(state=noise)):
        for found, value in zip(
            relaxed(engine, regions, working_set), values, strict=True
        ):
            assert 0.0 <= found.bound <= value * (1 + 1e-8)


def test_screening_never_decides_against_the_best_support():
    decided = 0
    for seed in range(6):
        problem, X, y, rng = make_problem(seed, n=8)
        engine = engine_of(problem, steps=200)
        start = root_working_set(engine, problem)
        for region in random_regions(rng, 8, 3, 6):
            value = best_value(problem, X, y, region)
            # Barely above the best support, so that much is decided.
            (found,) = relaxed(engine, [region], start, cutoff=value * (1 + 1e-7))
            decided += np.count_nonzero(found.decision)
            kept_in = region.free[found.decision == 1]
            left = region.free[found.decision == 0]
            forced = np.concatenate([region.forced, kept_in])
            rest = Region(forced, left, region.k - kept_in.size, np.inf)
            same = best_value(problem, X, y, rest)
            np.testing.assert_allclose(same, value, rtol=1e-6)
    assert decided > 20


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_approach_those_of_the_interior_point(seed, intercept):
    rng = np.random.default_rng(seed)
    X, y = random_data(rng, 120, 50)
    y = np.where(X[:, :5].sum(axis=1) + 0.3 * y > 0, 1.0, -1.0)
    problem = Problem(X, y, C=0.1, max_features=5, fit_intercept=intercept)
    engine = engine_of(problem, steps=400)
    regions = random_regions(rng, 50, 5, 20)
    start = root_working_set(engine, problem)
    for region, found in zip(regions, relaxed(engine, regions, start), strict=True):
        exact = perspective(problem.engine, region)
        assert found.bound <= exact.primal * (1 + 1e-9)
        assert found.bound >= exact.bound * (1 - 2e-3)
        np.testing.assert_allclose(found.z[region.free], exact.z[region.free], atol=0.1)


def test_a_batch_gives_what_its_regions_give_alone():
    problem, _, _, rng = make_problem(1, m=60, n=30, k=5)
    engine = engine_of(problem, rows=7)
    regions = random_regions(rng, 30, 5, 20)
    start = root_working_set(engine, problem)
    together = relaxed(engine, regions, start)
    for region, found in zip(regions, together, strict=True):
        (alone,) = relaxed(engine, [region], start)
        np.testing.assert_allclose(alone.bound, found.bound, rtol=1e-3)
    better = engine.solve(
        [
            request(engine, region, found.working_set, n_before=1)
            for region, found in zip(regions, together, strict=True)
        ]
    )
    assert sum(b.bound > a.bound for a, b in zip(together, better, strict=True)) > 10
    assert all(found.finished for found in better)
    assert not any(found.finished for found in together)


def test_points_are_balanced_by_what_is_between():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) % 3 == 0, 1.0, -1.0)
    C = rng.choice([0.5, 1.0, 2.0], 40)
    points = C * np.clip(rng.uniform(-0.5, 1.5, (30, 40)), 0.0, 1.0)
    # Nearly balanced, as those of the iterations.
    sums = points @ np.array([y > 0, y < 0], dtype=float).T
    points[:, y < 0] *= np.minimum(1.0, sums[:, :1] / sums[:, 1:]) + 0.01
    np.minimum(points, C, out=points)
    before = points.copy()
    shifted = _shifted(points, y, C)
    at_limit = (before == 0.0) | (before == C)
    np.testing.assert_array_equal(shifted[at_limit], before[at_limit])
    assert (shifted >= 0.0).all()
    assert (shifted <= C).all()
    excess = np.abs(before @ y)
    assert (excess > 0.01).any()
    assert np.median(np.abs(shifted @ y) / excess) < 1e-9


def test_points_with_nothing_between_stay():
    y, C = np.array([1.0, -1.0, -1.0]), np.ones(3)
    points = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(_shifted(points, y, C), points)


def test_features_that_no_region_has_are_dropped_and_come_back():
    problem, _, _, _ = make_problem(2, m=60, n=30, k=5)
    engine = engine_of(problem, min_rows_to_drop=2)
    start = root_working_set(engine, problem)
    few, all_ = np.arange(10), np.arange(30)
    small = [Region(few[:j], few[j:], 5 - j, np.inf) for j in range(3)]
    first = relaxed(engine, small, start)
    assert engine._part.features.tolist() == few.tolist()
    large = Region(all_[:1], all_[1:], 4, np.inf)
    (found,) = relaxed(engine, [large], first[0].working_set)
    assert engine._part.features.size == 30
    assert found.bound <= perspective(problem.engine, large).primal * (1 + 1e-9)


def test_the_interior_point_solves_what_is_decided_and_states_that_are_no_numbers():
    problem, _, _, _ = make_problem(3, n=12)
    native, engine = problem.engine, engine_of(problem)
    start = root_working_set(engine, problem)
    region = Region(np.arange(3), np.arange(0), 0, np.inf)
    exact = native.solve([request(native, region, start._replace(state=None))])[0]
    assert relaxed(engine, [region], start)[0].bound == exact.bound
    broken = start._replace(state=np.full_like(start.state, np.nan))
    root = problem.root_region()
    (found,) = relaxed(engine, [root], broken)
    assert found.working_set.state is None
    assert found.bound == native.solve([request(native, root, None)])[0].bound


def test_iterations_end_when_the_run_is_stopped():
    problem, X, y, rng = make_problem(4)
    engine = engine_of(problem, steps=10**9)
    start = root_working_set(engine, problem)
    region = random_regions(rng, 9, 3, 1)[0]
    flag = engine.data.stop.copy()
    flag[0] = 1
    engine.data = engine.data._replace(stop=flag)
    (found,) = relaxed(engine, [region], start)
    assert found.bound <= best_value(problem, X, y, region) * (1 + 1e-8)


def test_it_says_which_data_it_does_not_take():
    problem, X, y, _ = make_problem(5)
    assert batching_obstacle(problem.engine) is None
    grouped = Problem(X, y, feature_groups=[0, 0, *range(1, 8)], max_features=2)
    assert batching_obstacle(grouped.engine) == "feature groups"
    signed = Problem(X, y, signs=[1] * 9, max_features=2)
    assert batching_obstacle(signed.engine) == "signs of weights"
    limits = {
        "9 features of 40 samples: ": {"batch": BatchParameters(max_entries=440)},
        "as many as 40 samples": {"tall_min_samples": 40},
    }
    for what, limit in limits.items():
        engine = problem.with_parameters(EngineParameters(**limit)).engine
        assert batching_obstacle(engine).startswith(what)


class ShortOfMemory(BatchedEngine):
    """An engine for whose batches there is memory up to some number of rows."""

    def __init__(self, native, most_rows):
        super().__init__(native)
        self.most_rows = most_rows

    def _iterate(self, part, batch, state, steps, tries):
        if state.shape[0] > self.most_rows:
            raise MemoryError
        return super()._iterate(part, batch, state, steps, tries)


@pytest.mark.parametrize("most_rows", [70, 1])
def test_short_memory_makes_smaller_batches(most_rows):
    problem, _, _, rng = make_problem(6)
    engine = engine_of(problem)
    start = root_working_set(engine, problem)
    regions = random_regions(rng, 9, 3, 100)
    expected = relaxed(engine, regions, start)
    small = ShortOfMemory(problem.engine, most_rows)
    small._first_state = engine._first_state
    found = relaxed(small, regions, start)
    assert small._rows == {70: 50, 1: 1}[most_rows]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.bound, other.bound, rtol=1e-4, atol=1e-6)


def test_the_interior_point_is_the_last_resort():
    problem, _, _, rng = make_problem(7)
    engine = engine_of(problem)
    start = root_working_set(engine, problem)
    regions = random_regions(rng, 9, 3, 5)
    small = ShortOfMemory(problem.engine, 0)
    small._first_state = engine._first_state
    plain = relaxed(problem.engine, regions, start._replace(state=None))
    for one, other in zip(relaxed(small, regions, start), plain, strict=True):
        np.testing.assert_allclose(one.bound, other.bound, rtol=1e-3)
    # Without memory for its first state, the engine never has any.
    nothing = ShortOfMemory(problem.engine, 0)
    root = problem.root_region()
    for _ in range(2):
        (found,) = relaxed(nothing, [root], None)
        assert found.bound == relaxed(problem.engine, [root], None)[0].bound
    assert nothing._first_state is None
