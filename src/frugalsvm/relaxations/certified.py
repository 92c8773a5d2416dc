"""The value of a relaxation recomputed from a dual point, whoever found the point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.big_m import box_bound, huber_values
from ..kernels.bounds import bound_and_price, repair_dual, square_bounds
from ..kernels.perspective import Node
from ..problem import Problem

# Relaxations with the same dual function, by the paper's theorems.
FAMILY = {
    "SVM": "SVM",
    "BoxMP": "BoxMP",
    "SMP": "BoxMP",
    "DSMP": "BoxMP",
    "SCoP": "DSCoP",
    "DSCoP": "DSCoP",
    "SCoMP": "DSCoMP",
    "DSCoMP": "DSCoMP",
    # No dual point of a mixed-integer program says more than the relaxation below it.
    "SR-DSCoP": "DSCoP",
    "SR-DLMP": "DSCoP",
}


class CertifiedBound(NamedTuple):
    """A bound, the repaired dual point behind it and its squares ``c_j^2``."""

    bound: float
    alpha: np.ndarray
    squares: np.ndarray


def certified_bound(
    problem: Problem, alpha: ArrayLike, model: str = "DSCoP", M: ArrayLike | None = None
) -> CertifiedBound:
    r"""Lower bound of a relaxation from any vector, in directed arithmetic.

    With :math:`c = A\alpha` the dual functions are, for SVM,
    :math:`1^\top\alpha - \tfrac12 \sum_j c_j^2`; for DSCoP and SCoP the B largest
    squares only; for DSCoMP and SCoMP the B largest Huber terms,
    :math:`\tfrac12 c^2` up to :math:`|c| = M` and :math:`M|c| - \tfrac12 M^2` beyond;
    for BoxMP, SMP and DSMP :math:`\max_v \sum_j M v_j |c_j| - \tfrac12 M^2 v_j^2` over
    :math:`0 \le v \le 1, e^\top v \le B`, computed through the price of the budget.

    Parameters
    ----------
    problem : Problem
    alpha : array of shape (n_kept_samples,)
        Any vector; it is repaired to satisfy the dual constraints exactly.
    model : str, default="DSCoP"
        The paper's name of a relaxation.
    M : float or array of shape (n_features,), default=None
        Bound of the weights, for the models that have one.

    Returns
    -------
    CertifiedBound
        ``bound`` is below the value of the model, and of FS-SVM if M is valid.
    """
    point = np.ascontiguousarray(alpha, dtype=np.float64)
    if point.shape != (problem.n_samples,):
        raise ValueError(
            f"alpha must have one entry per sample of positive weight "
            f"({problem.n_samples}), got shape {point.shape}."
        )
    repaired = repair_dual(point, problem.y, problem.C, problem.fit_intercept)
    squares = square_bounds(problem.A @ repaired, problem.norms, repaired)
    bound = _bound(problem, repaired, squares, FAMILY[model], M)
    # No objective is negative.
    return CertifiedBound(max(0.0, float(bound)), repaired, squares)


def reachable_node(problem: Problem) -> Node:
    """The root node without the features that alone exceed the cost budget."""
    node = problem.root_node()
    return node._replace(free=node.free[problem.costs[node.free] <= node.budget])


def _bound(
    problem: Problem,
    alpha: np.ndarray,
    squares: np.ndarray,
    family: str,
    M: ArrayLike | None,
) -> float:
    node = reachable_node(problem)
    if family == "SVM":
        used = np.concatenate([node.forced, node.free])
        return bound_and_price(
            alpha, squares, used, node.free[:0], 0, problem.costs, np.inf
        )[0]
    choice = (node.forced, node.free, node.k, problem.costs, node.budget)
    if family == "DSCoP":
        return bound_and_price(alpha, squares, *choice)[0]
    limits = np.array(np.broadcast_to(np.asarray(M, dtype=float), squares.shape))
    if family == "DSCoMP":
        return bound_and_price(alpha, huber_values(squares, limits), *choice)[0]
    return box_bound(alpha, squares, limits, *choice)
