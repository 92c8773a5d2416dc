"""Small problems with several classes: a machine for each, and shared features."""

import numpy as np

from frugalsvm import Problem
from tests.grouped import random_groups

KINDS = (
    "plain", "weights", "groups", "costs", "forced", "no intercept", "four",
    "everything",
)  # fmt: skip


def one_against_rest(classes):
    """A column of labels for each class: 1 for it, -1 for all others."""
    return np.where(np.asarray(classes)[:, None] == np.unique(classes), 1.0, -1.0)


def class_arguments(kind, seed, most=6, samples=(9, 26)):
    """X, the classes 0, 1, ... and arguments of a problem with three or four."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    some = kind == "everything"
    n_classes = 4 if kind == "four" or some else 3
    p, m = int(rng.integers(2, most + 1)), int(rng.integers(*samples))
    is_grouped = kind == "groups" or some
    n = p + int(rng.integers(1, p + 2)) if is_grouped else p
    classes = rng.integers(n_classes, size=m)
    classes[:n_classes] = np.arange(n_classes)
    if seed % 5 == 4:
        X = rng.integers(-2, 3, size=(m, n)).astype(float)
    else:
        X = rng.normal(size=(m, n)) + rng.normal(size=(n_classes, n))[classes]
    arguments = {
        "C": float(10.0 ** rng.uniform(-1.5, 1.5)),
        "max_features": int(rng.integers(1, max(2, p // 2) + 1)),
    }
    if is_grouped:
        arguments["feature_groups"] = random_groups(rng, p, n)
    if kind == "costs" or some:
        # Few distinct costs make ties, fractions make rounding.
        arguments["feature_costs"] = rng.choice([0.1, 0.3, 0.7, 1.1], p)
        arguments["max_cost"] = float(rng.choice([1.2, 1.7, 2.5]))
    if kind == "forced" or some:
        order = tuple(rng.permutation(p).tolist())
        arguments["include"], arguments["exclude"] = order[:1], order[p - p // 3 :]
        arguments["max_features"] = min(p, arguments["max_features"] + 1)
    if kind == "weights" or some:
        arguments["sample_weight"] = rng.choice([0.0, 0.5, 1.0, 3.0], m)
        arguments["sample_weight"][:n_classes] = 1.0
    if kind == "no intercept" or some:
        arguments["fit_intercept"] = False
    return X, classes, arguments


def class_problem(kind, seed, **sizes):
    """A problem of one of the kinds."""
    X, classes, arguments = class_arguments(kind, seed, **sizes)
    return Problem(X, one_against_rest(classes), **arguments)
