"""Regions know what is decided and which features fit the budgets."""

import numpy as np
import pytest

from frugalsvm.engine.protocol import Region

COSTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def region_of(free, k, budget=np.inf):
    return Region(np.array([0]), np.array(free, dtype=np.int64), k, budget)


@pytest.mark.parametrize(
    ("region", "fits"),
    [
        (region_of([1, 2], 2), True),
        (region_of([1, 2], 1), False),
        (region_of([1, 2], 2, 5.0), True),
        (region_of([1, 2], 2, 4.9), False),
        (region_of([], 0), True),
    ],
)
def test_fits_checks_count_and_costs(region, fits):
    assert region.fits(COSTS) == fits
    assert region.is_decided(COSTS) == fits


def test_a_region_without_room_is_decided():
    region = region_of([1, 2], 0)
    assert not region.fits(COSTS)
    assert region.is_decided(COSTS)
    np.testing.assert_array_equal(region.settled(COSTS).forced, [0])


def test_unaffordable_features_are_left_out():
    np.testing.assert_array_equal(
        region_of([1, 2, 3, 4], 2, 4.0).affordable(COSTS).free, [1, 2, 3]
    )
    region = region_of([1, 2, 3, 4], 2)
    assert region.affordable(COSTS) is region


def test_a_decided_region_has_no_free_features():
    settled = region_of([2, 3], 3, 7.0).settled(COSTS)
    np.testing.assert_array_equal(settled.forced, [0, 2, 3])
    assert settled.free.size == settled.k == 0
    open_ = region_of([2, 3], 1)
    assert open_.settled(COSTS) is open_
