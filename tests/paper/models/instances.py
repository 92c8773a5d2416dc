"""Problems for the theory tests: random ones, and small real ones."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from frugalsvm import Problem
from frugalsvm.paper.solvers import Trait
from tests.reference import random_data

# What is asked of the solvers, and how far values may differ then.
TOLERANCE = 1e-9
CONVEX_RTOL = 1e-6
# The semidefinite programs lack interior points and end early at 1e-9.
SDP_TOLERANCE = 1e-7
# SCIP works with outer approximations and a feasibility tolerance of 1e-7 at best.
MIP_RTOL = 1e-5


def random_problem(seed, m=16, n=5, B=2, C=1.0, **constraints):
    rng = np.random.default_rng(seed)
    X, y = random_data(rng, m, n, separable=seed % 2 == 1)
    return Problem(X, y, C=C, max_features=B, **constraints)


def iris_problem(B=2, C=1.0, **constraints):
    """The two kinds of iris that overlap, 100 x 4."""
    X, target = load_iris(return_X_y=True)
    kept = target > 0
    y = np.where(target[kept] == 1, 1.0, -1.0)
    return Problem(scale(X[kept]), y, C=C, max_features=B, **constraints)


def cancer_problem(B=3, C=1.0, n=7, **constraints):
    """Every eighth sample and every fourth feature of the breast cancer data."""
    X, target = load_breast_cancer(return_X_y=True)
    X = scale(X[::8, ::4][:, :n])
    return Problem(X, 2.0 * target[::8] - 1, C=C, max_features=B, **constraints)


SMALL = {
    "random": random_problem(0),
    "separable": random_problem(1, m=14, n=6, B=2, C=10.0),
    "more features than samples": random_problem(2, m=6, n=8, B=3),
    "weighted": random_problem(3, m=12, n=5, sample_weight=np.linspace(0.2, 2, 12)),
    "no intercept": random_problem(4, fit_intercept=False),
    "iris": iris_problem(),
    "cancer": cancer_problem(),
}


def value(model, solver=None):
    """Objective of a model that must be solved to optimality."""
    semidefinite = Trait.SEMIDEFINITE in model.needs
    tolerance = SDP_TOLERANCE if semidefinite else TOLERANCE
    solution = model.solve(solver, tolerance=tolerance, time_limit=60)
    assert solution.status == "optimal", solution.status
    return solution.objective
