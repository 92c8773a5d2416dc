"""Certificates made by hand, sealed with a valid checksum."""

import numpy as np

from frugalsvm import Problem, solve
from frugalsvm.checker import FORMAT, checksum, fingerprint
from tests.campaign.layout import decode, packed_points

EMPTY = np.empty(0, dtype=np.int64)


def sealed(arrays, **changes):
    """The arrays with some changes and a matching checksum."""
    arrays = {**arrays, **changes}
    return {**arrays, "checksum": np.array(checksum(arrays))}


def single_root(X, y, alpha, **changes):
    """A root that is a leaf, with one dual point and the solution w = 0, b = 0."""
    m, n = X.shape
    signs = np.where(y > 0, 1.0, -1.0)
    weights = changes.get("weights", np.ones(m))
    is_used = weights > 0
    arrays = {
        "format": np.array(FORMAT),
        "fingerprint": np.array(fingerprint((X * signs[:, None]).T, signs)),
        "weights": np.ones(m), "fit_intercept": np.array(True),
        "max_features": np.array(n), "costs": np.ones(n), "max_cost": np.array(np.inf),
        "include": EMPTY, "exclude": EMPTY, "selected": EMPTY, "coef": np.empty(0),
        "intercept": np.array(0.0), "objective": np.array(float(weights.sum())),
        "lower_bound": np.array(-1e300), "parent": np.array([-1]),
        "feature": np.array([-1]), "inside": np.array([True]), "point": np.array([0]),
        "price": np.zeros(1), "fixing_point": np.array([-1]),
        "fixing_price": np.zeros(1), "fixing_start": np.array([0, 0]),
        "fixing": EMPTY,
        **packed_points(np.array([alpha])[:, is_used], weights[is_used]),
    }  # fmt: skip
    return sealed(arrays, **changes)


def dual_points(arrays):
    """The dual points of a certificate, one in each row."""
    n_machines = int(arrays.get("n_classes", 1))
    points = decode(arrays).points
    alphas = np.zeros((len(points), n_machines * int((arrays["weights"] > 0).sum())))
    for alpha, (samples, values) in zip(alphas, points, strict=True):
        alpha[samples] = values
    return alphas


def with_fixing(feature, price=0.0):
    """Changes that make the root fix a feature by the first dual point."""
    return {
        "fixing_point": np.array([0]), "fixing_price": np.array([price]),
        "fixing_start": np.array([0, 1]), "fixing": np.array([feature]),
    }  # fmt: skip


def proved(X, y, **arguments):
    """A problem, its result by branch and bound, and the certificate's arrays."""
    problem = Problem(X, y, **arguments)
    result = solve(
        problem, method="branch-and-bound", certificate=True, random_state=0,
        method_options={"patience": 0},
    )  # fmt: skip
    return problem, result, dict(result.certificate.arrays)
