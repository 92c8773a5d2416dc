"""Small problems whose features are groups of columns, and whose weights have signs."""

import numpy as np

from frugalsvm import Problem
from tests.reference import random_data

KINDS = (
    "groups", "signs", "both", "costs", "forced", "weights", "no intercept",
    "everything",
)  # fmt: skip


def random_groups(rng, n_features, n_columns):
    """The group of each column, interleaved, numbered as they first occur."""
    extra = rng.integers(n_features, size=n_columns - n_features)
    labels = rng.permutation(np.concatenate([np.arange(n_features), extra]))
    numbers = {label: t for t, label in enumerate(dict.fromkeys(labels.tolist()))}
    return np.array([numbers[label] for label in labels.tolist()])


def grouped_arguments(kind, seed, most=6, samples=(8, 26)):
    """X, y and arguments of a problem on at most ``most`` groups."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    p, m = int(rng.integers(2, most + 1)), int(rng.integers(*samples))
    n = p if kind == "signs" else p + int(rng.integers(1, p + 2))
    X, y = random_data(rng, m, n, separable=seed % 3 == 0, integer=seed % 5 == 4)
    some = kind == "everything"
    arguments = {
        "C": float(10.0 ** rng.uniform(-1.5, 1.5)),
        "max_features": int(rng.integers(1, max(2, p // 2) + 1)),
    }
    if kind != "signs":
        arguments["feature_groups"] = random_groups(rng, p, n)
    if kind not in ("groups", "costs"):
        arguments["signs"] = rng.choice([-1, 0, 1], n, p=[0.3, 0.4, 0.3])
    if kind == "costs" or some:
        # Few distinct costs make ties, fractions make rounding.
        arguments["feature_costs"] = rng.choice([0.1, 0.3, 0.7, 1.1], p)
        arguments["max_cost"] = float(rng.choice([1.2, 1.7, 2.5]))
    if kind == "forced" or some:
        order = rng.permutation(p).tolist()
        arguments["include"], arguments["exclude"] = order[:1], order[p - p // 3 :]
        arguments["max_features"] = min(p, arguments["max_features"] + 1)
    if kind == "weights" or some:
        arguments["sample_weight"] = rng.choice([0.0, 0.5, 1.0, 3.0], m)
        arguments["sample_weight"][[0, -1]] = 1.0
    if kind == "no intercept" or some:
        arguments["fit_intercept"] = False
    return X, y, arguments


def grouped_problem(kind, seed, **sizes):
    """A problem of one of the kinds."""
    X, y, arguments = grouped_arguments(kind, seed, **sizes)
    return Problem(X, y, **arguments)
