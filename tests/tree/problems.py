"""Small problems of several kinds that enumeration can solve."""

import numpy as np

from frugalsvm import Problem
from tests.reference import random_data

KINDS = ("random", "duplicated", "separable", "tied", "costs", "constrained")


def small_problem(kind, seed):
    """A problem with at most 12 features, and its data."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    m, n = int(rng.integers(8, 40)), int(rng.integers(4, 13))
    X, y = random_data(rng, m, n, separable=kind == "separable", integer=kind == "tied")
    if kind == "duplicated":
        X[:, n // 2 :] = X[:, : n - n // 2]
    arguments = {
        "C": float(10.0 ** rng.uniform(-1, 2)),
        "max_features": int(rng.integers(1, max(2, n // 2) + 1)),
        "fit_intercept": seed % 3 != 2,
    }
    if kind == "costs":
        # Few distinct costs make ties, fractions make rounding.
        arguments["feature_costs"] = rng.choice([0.1, 0.3, 0.7, 1.1], n)
        arguments["max_cost"] = float(rng.choice([0.6, 1.0, 1.7]))
    if kind == "constrained":
        arguments["include"] = (int(rng.integers(n)),)
        arguments["exclude"] = tuple({0, 1} - set(arguments["include"]))
        arguments["max_features"] += 1
        arguments["sample_weight"] = rng.choice([0.0, 0.5, 1.0, 3.0], m)
        arguments["sample_weight"][[0, -1]] = 1.0
    return Problem(X, y, **arguments), X, y
