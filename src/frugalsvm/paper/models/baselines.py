"""The programs of the baselines in the paper's validation section (Section 5.4)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ...problem.problem import Problem
from ..solvers.base import Trait
from .blocks import choose_features, draft, limits_of_weights, usable_features
from .formulations import check_upper_bound, half_norm_and_loss, one_of, restriction
from .model import Model
from .modelling import modelling


def l1_svm(problem: Problem, K: Iterable[int] | None = None) -> Model:
    r"""l1-SVM: :math:`\min \|w\|_1 + C\sum_i \xi_i` over :math:`(w, b, \xi) \in \Xi`.

    A linear program in :math:`w = w^+ - w^-`, without a budget.

    Parameters
    ----------
    problem : Problem
    K : iterable of int, default=None
        The features that may be used; None for all.

    Returns
    -------
    Model
    """
    return _l1_model("l1-SVM", problem, K)


def l1_fs_svm(
    problem: Problem,
    M: ArrayLike,
    K: Iterable[int] | None = None,
    *,
    upper_bound: float | None = None,
    group: Iterable[int] | None = None,
    binary: bool = True,
) -> Model:
    r"""l1-FS-SVM of Labbé, Martínez-Merino and Rodríguez-Chía (2019):
    :math:`\min \|w\|_1 + C\sum_i \xi_i` s.t.
    :math:`(w,b,\xi)\in\Xi,\; -Mv \le w \le Mv,\; e^\top v \le B,\; v\in\{0,1\}^n`.

    Parameters
    ----------
    problem : Problem
    M : float or array of shape (n_features,)
        Positive bound on the absolute weights; an array may have zeros. The objective
        of any solution is a valid bound, since it is at least :math:`\|w\|_1`.
    K : iterable of int, default=None
        The features that may be used; None for all.
    upper_bound : float, default=None
        Adds the cut ``objective <= upper_bound`` (``cons: UB cons``).
    group : iterable of int, default=None
        Adds the cut that at least one of these features is selected
        (``cons: K plus cons``).
    binary : bool, default=True
        False for the linear relaxation.

    Returns
    -------
    Model
        For HiGHS, SCIP or Gurobi.
    """
    return _l1_model("l1-FS-SVM", problem, K, M, upper_bound, group, binary)


def _l1_model(
    name: str,
    problem: Problem,
    K: Iterable[int] | None,
    M: ArrayLike | None = None,
    upper_bound: float | None = None,
    group: Iterable[int] | None = None,
    binary: bool = False,
) -> Model:
    cp = modelling()
    features = usable_features(problem) if K is None else restriction(K, problem)
    size = features.size
    plus, minus = (cp.Variable(size, name=part) for part in ("w_plus", "w_minus"))
    parts = draft(name, problem, features, plus - minus)
    length = cp.sum(plus) + cp.sum(minus)
    rows = [plus >= 0, minus >= 0]
    variables = parts.variables | {"w_plus": plus, "w_minus": minus}
    if M is not None:
        v = variables["v"] = cp.Variable(size, name="v")
        # One row per feature instead of two: w+ or w- is zero at an optimum.
        rows.append(plus + minus <= cp.multiply(limits_of_weights(M, parts), v))
        rows += choose_features(parts, v, "<=")
        if group is not None:
            rows.append(one_of(group, parts, 1 - v))
    if upper_bound is not None:
        rows.append(length + parts.loss <= check_upper_bound(upper_bound))
    return Model(
        name,
        "",
        problem,
        parts.features,
        cp.Problem(cp.Minimize(length + parts.loss), parts.constraints + rows),
        variables,
        {"alpha": parts.margins},
        binaries={"v": np.arange(size)} if binary else {},
    )


def elastic_net_svm(
    problem: Problem, alpha: float, K: Iterable[int] | None = None
) -> Model:
    r"""EN-SVM: :math:`\min \tfrac12\|w\|_2^2 + \alpha\|w\|_1 + C\sum_i \xi_i` over
    :math:`(w, b, \xi) \in \Xi`.

    Parameters
    ----------
    problem : Problem
        Excluded features are omitted; its budgets are ignored.
    alpha : float
        Weight of the penalty, not negative.
    K : iterable of int, default=None
        The features that may be used; None for all.

    Returns
    -------
    Model
    """
    cp = modelling()
    if not (np.isfinite(alpha) and alpha >= 0):
        raise ValueError(f"alpha must be a finite number >= 0, got {alpha!r}.")
    parts = draft("EN-SVM", problem, None if K is None else restriction(K, problem))
    objective = half_norm_and_loss(parts) + alpha * cp.norm1(parts.w)
    return Model(
        "EN-SVM",
        "",
        problem,
        parts.features,
        cp.Problem(cp.Minimize(objective), parts.constraints),
        parts.variables,
        {"alpha": parts.margins},
        traits=frozenset({Trait.QUADRATIC}),
    )
