"""The refit of a certificate: the SVM on the selected features, with another C.

Features are selected with one C, and their weights may be computed with another. The
SVM on a given set of features is convex, so one dual point proves its bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .arithmetic import U, centred, length_bound, sum_of
from .machines import Machines
from .reading import CLAIM_TOL, require, within_rounding
from .statement import Statement, intercepts_of, is_increasing_within, is_within_limits


@dataclass(frozen=True)
class VerifiedRefit:
    """What is proved about the weights of the model.

    Attributes
    ----------
    weights : ndarray of shape (n_samples,)
        The C of the refit times the sample weights.
    objective : float
        Upper bound of the optimum of the SVM on the selected features: the recomputed
        objective of the weights.
    lower_bound : float
        Lower bound of that optimum.
    gap : float
        ``(objective - lower_bound) / objective``.
    """

    weights: np.ndarray
    objective: float
    lower_bound: float
    gap: float


def check_refit(
    arrays: Mapping[str, np.ndarray],
    statement: Statement,
    machines: Machines,
    objective_of: Callable[..., float],
) -> VerifiedRefit:
    """Recompute both bounds of the refit, and compare with the claims.

    ``objective_of`` takes C, features, weights and intercepts; it checks the budgets.
    """
    weights = arrays["refit_weights"]
    kept = statement.weights > 0
    same = np.array_equal(weights > 0, kept)
    require(same and is_within_limits(weights[kept]), "bad refit_weights")
    C = weights[kept]
    features = np.union1d(arrays["selected"], statement.include).astype(np.int64)
    columns = statement.columns.of(features)
    require(
        arrays["refit_coef"].size == columns.size * machines.count,
        "refit_coef has another length than the features selected or included",
    )
    objective = objective_of(
        C, features, arrays["refit_coef"], intercepts_of(arrays, "refit_")
    )
    bound = _bound(arrays, statement, machines, C, columns)
    _check_claims(arrays, objective, bound)
    gap = (objective - bound) / objective if objective > 0 else 0.0
    return VerifiedRefit(weights, objective, bound, gap)


def _bound(
    arrays: Mapping[str, np.ndarray], statement: Statement, machines: Machines,
    C: np.ndarray, columns: np.ndarray,
) -> float:  # fmt: skip
    """``1'alpha - 1/2 ||A alpha||^2``, rounded down; no objective is negative.

    Only the admitted side of a product counts.
    """
    samples, values = arrays["refit_sample"], arrays["refit_alpha"]
    require(is_increasing_within(samples, machines.signs.size), "bad refit_sample")
    require((values >= 0).all(), "refit_alpha has negative entries")
    given = np.zeros(machines.signs.size)
    given[samples] = values
    alpha = machines.point(given, C, statement.fit_intercept)
    rows, sides = machines.rows[columns], statement.columns.sides(columns)
    A = centred(rows) if statement.fit_intercept else rows
    squares = machines.squares(A, length_bound(A), alpha, True, sides)
    penalty = sum_of(squares) * (1 + 8 * U)
    total = alpha.sum()  # exact: see ``repair``
    value = total - 0.5 * penalty
    value -= 8 * U * (total + penalty)
    require(not np.isnan(value), "a bound is NaN")
    return max(0.0, float(value))


def _check_claims(
    arrays: Mapping[str, np.ndarray], objective: float, bound: float
) -> None:
    claimed = float(arrays["refit_objective"])
    require(
        abs(objective - claimed) <= CLAIM_TOL * objective,
        f"refit_objective {claimed!r} is claimed, but recomputing it gives "
        f"{objective!r}",
    )
    claimed = float(arrays["refit_lower_bound"])
    require(
        bound >= within_rounding(claimed),
        f"refit_lower_bound {claimed!r} is claimed, but only {bound!r} is proved",
    )
    # Cannot happen if this package is right; if it is not, nothing is proved.
    require(
        bound <= objective,
        f"the bound {bound!r} of the refit exceeds its objective {objective!r}",
    )
