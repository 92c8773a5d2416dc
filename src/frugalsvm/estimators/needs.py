"""Bounds for models that lack a feature, for incomplete lists."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engine.perspective import perspective
from ..problem.problem import Problem
from ..tree.listing import ListingTree
from ..tree.parameters import TreeParameters

# Number of features, by decreasing weight, whose relaxations are solved.
MOST_RELAXED = 50


def bounds_without(
    problem: Problem, tree: ListingTree, should_stop: Callable[[], bool]
) -> dict[int, float]:
    """For each feature of the best model: a lower bound for models without it.

    Models in the list do not count. One bound comes from the tree: the smallest bound
    of the open nodes in which the feature is not forced. The other comes from the
    relaxation without the feature; it is better if the limit of the list stopped the
    tree.
    """
    listing = tree.listing
    best = listing.supports()[0]
    order = best.support[np.argsort(-best.lengths, kind="stable")]
    features = order[~np.isin(order, problem.include)].tolist()
    bounds = tree.bounds_without(features)
    root, tol = problem.root_region(), problem.parameters(TreeParameters).node_tol
    for j in features[:MOST_RELAXED]:
        if bounds[j] > listing.last:
            continue
        if should_stop():
            break
        others = root._replace(free=root.free[root.free != j])
        found = perspective(
            problem.engine, others, tol=tol, cutoff=listing.last,
            should_stop=should_stop,
        )  # fmt: skip
        bounds[j] = max(bounds[j], found.bound)
    return bounds
