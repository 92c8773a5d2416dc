"""Features and samples join and leave the working set."""

import numpy as np
import pytest

from frugalsvm.kernels import working_set
from frugalsvm.kernels.data import RegionArrays, WorkingSetArrays
from frugalsvm.kernels.working_set import ACTIVE_EXTRA, ALL_FREE_UP_TO
from tests.kernels.compiled import compiled
from tests.kernels.test_program import random_data

choose, budget_rows, far_sides, grow_features, grow_samples, is_whole = map(
    compiled,
    (working_set.child_working_set, working_set.budget_rows, working_set.far_sides,
     working_set.grow_features, working_set.grow_samples, working_set.is_whole),
)  # fmt: skip


def region_of(n, k, budget=np.inf):
    return RegionArrays(np.empty(0, dtype=np.int64), np.arange(n), k, budget)


def test_budget_rows_have_the_count_and_limited_costs():
    costs = np.arange(1.0, 7.0)
    working = np.array([4, 1])
    for n_rows, (features, budget) in enumerate(
        [(working[:0], np.inf), (working, np.inf), (working, 3.0)]
    ):
        R, h = budget_rows(region_of(6, 2, budget), costs, features)
        assert R.shape == (n_rows, features.size)
        np.testing.assert_array_equal(h, [2.0, 3.0][:n_rows])
    np.testing.assert_array_equal(R, [[1.0, 1.0], [5.0, 2.0]])


@pytest.mark.parametrize("may_drop", [True, False])
def test_valuable_features_join_and_worthless_ones_are_dropped(may_drop):
    n, k = 1000, 5
    squares = np.zeros(n)
    squares[:10] = 10.0
    squares[[500, 600]] = 12.0, 11.0
    working = np.append(np.arange(10), [200, 201])
    grown, joined = grow_features(
        region_of(n, k), np.ones(n), squares, working, may_drop
    )
    assert joined
    kept = np.arange(10) if may_drop else working
    np.testing.assert_array_equal(grown, np.append(kept, [500, 600]))
    grown, joined = grow_features(region_of(n, k), np.ones(n), squares, grown, may_drop)
    assert not joined


def test_all_features_join_if_half_of_them_are_missing():
    region = region_of(1000, 5)
    squares = np.ones(1000)
    squares[:20] = 0.5
    grown, joined = grow_features(region, np.ones(1000), squares, np.arange(20), True)
    assert joined
    np.testing.assert_array_equal(grown, region.free)


def test_costs_are_part_of_the_price():
    # Features 0 and 1 exceed the budget, whose price is 3 per unit.
    n = 400
    squares, costs = np.zeros(n), np.ones(n)
    squares[:4], costs[:4] = [4.0, 3.0, 5.0, 9.0], [1.0, 1.0, 5.0, 3.5]
    region = region_of(n, 3, budget=1.5)
    working = np.arange(2)
    grown, joined = grow_features(region, costs, squares, working, True)
    assert not joined
    np.testing.assert_array_equal(grown, working)
    squares[2] = 50.0
    assert 2 in grow_features(region, costs, squares, working, True)[0]


def test_costs_are_ignored_if_only_the_count_limits_the_choice():
    # Feature 2 is expensive, but the budget suffices for any two features.
    n = 400
    squares, costs = np.zeros(n), np.ones(n)
    squares[:3], costs[2] = [4.0, 3.0, 5.0], 100.0
    grown, joined = grow_features(
        region_of(n, 2, budget=200.0), costs, squares, np.arange(2), True
    )
    assert joined
    assert 2 in grown


def test_samples_on_the_wrong_side_become_active():
    side = np.array([1, 1, -1, -1, 0, 1, 1, 1], dtype=np.int8)
    margins = np.array([0.0, 2.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert grow_samples(margins, side)
    np.testing.assert_array_equal(side, [1, 0, -1, 0, 0, 1, 1, 1])
    assert not grow_samples(margins, side)
    # Few samples are left frozen, so all become active.
    side[[0, 2, 5]] = 0
    assert not grow_samples(margins, side)
    assert not side.any()


def test_samples_far_from_the_margin_are_frozen():
    m = 300
    margins = np.linspace(-2, 4, m)
    C = np.ones(m)
    alpha = np.where(margins < 1, 1.0, 0.0)
    alpha[np.argsort(np.abs(margins - 1))[:20]] = 0.5
    side = far_sides(alpha, C, margins)
    active = np.flatnonzero(side == 0)
    assert abs(active.size - (30 + ACTIVE_EXTRA)) <= 1
    assert np.abs(margins[active] - 1).max() <= np.abs(margins[side != 0] - 1).min()
    np.testing.assert_array_equal(side[side != 0] > 0, margins[side != 0] < 1)
    assert not far_sides(np.full(m, 0.5), C, margins).any()


def test_children_start_from_features_nearly_worth_their_price():
    n = ALL_FREE_UP_TO + 50
    data = random_data(n=n)
    squares = np.zeros(n)
    squares[:7] = [10.0, 10.0, 10.0, 8.0, 7.0, 5.0, 1.0]
    active = choose(region_of(n, 3), data, squares, data.C.copy(), np.ones(30))
    np.testing.assert_array_equal(active.features, np.arange(5))
    few = region_of(20, 3)
    active = choose(few, data, squares, data.C.copy(), np.ones(30))
    np.testing.assert_array_equal(active.features, few.free)
    assert is_whole(few, active)
    assert not is_whole(few, WorkingSetArrays(few.free[1:], active.side))
