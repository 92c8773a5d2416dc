"""The list keeps exactly the supports that may be within the tolerance."""

import numpy as np

from frugalsvm.tree.listing import ListedSupport, Listing, Threshold


def found(feature, objective, bound):
    return ListedSupport(
        np.array([feature]), np.ones(1), 0.0, objective, bound, np.ones(1)
    )


def listed(listing):
    return [one.key for one in listing.supports()]


def test_an_initial_support_beyond_the_tolerance_is_not_listed():
    listing = Listing(Threshold(0.01), 10)
    # An initial support is not a leaf, so it has no bound.
    listing.add(found(0, 2.0, -np.inf))
    assert listed(listing) == [(0,)]
    listing.add(found(1, 1.0, 0.99))
    assert listed(listing) == [(1,)]
    listing.add(found(2, 1.005, -np.inf))
    assert listed(listing) == [(1,), (2,)]


def test_leaves_are_listed_unless_proved_to_be_beyond_the_tolerance():
    listing = Listing(Threshold(0.01), 10)
    listing.add(found(0, 1.0, 0.99))
    listing.add(found(1, 1.02, 1.005))
    listing.add(found(2, 1.02, 1.015))
    assert listed(listing) == [(0,), (1,)]
