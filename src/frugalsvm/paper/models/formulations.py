"""SVM and the exact mixed-integer forms of FS-SVM (the paper's Section 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...problem.problem import Problem
from ..solvers.base import Trait
from .blocks import (
    Cardinality,
    Draft,
    big_m_rows,
    check_subset,
    choose_features,
    draft,
    usable_features,
    weight_limits,
)
from .model import Model, import_cvxpy


def half_norm_and_loss(parts: Draft) -> Any:
    """``1/2 ||w||^2 + sum_i C_i xi_i``."""
    cp = import_cvxpy()
    return 0.5 * cp.sum_squares(parts.w) + parts.loss


def svm(problem: Problem) -> Model:
    r"""SVM: :math:`\min \tfrac12\|w\|_2^2 + C\sum_i \xi_i` over
    :math:`(w, b, \xi) \in \Xi` (``prob:l2-SVM``).

    The support vector machine without a budget: the weakest lower bound of FS-SVM.

    Parameters
    ----------
    problem : Problem
        Features that are excluded or alone exceed ``max_cost`` are omitted; otherwise
        the budgets are ignored. Weights keep their signs.

    Returns
    -------
    Model
    """
    parts = draft("SVM", problem)
    return parts.minimise(
        "SVM",
        "prob:l2-SVM",
        half_norm_and_loss(parts),
        [],
        {},
        traits=frozenset({Trait.QUADRATIC}),
    )


def bigmp(problem: Problem, M: ArrayLike, *, cardinality: Cardinality = "<=") -> Model:
    r"""BigMP: :math:`\min \tfrac12\|w\|_2^2 + C\sum_i \xi_i` s.t.
    :math:`(w,b,\xi)\in\Xi,\; -Mv \le w \le Mv,\; e^\top v = B,\; v\in\{0,1\}^n`
    (``prob:l2-FS-SVM1``).

    FS-SVM itself, provided that M is at least the largest weight of an optimal
    solution; see :func:`~frugalsvm.paper.models.big_m`. A group of columns has one v.

    Parameters
    ----------
    problem : Problem
    M : float or array of shape (n_columns,)
        Positive bound on the absolute weights; an array may have zeros.
    cardinality : {"<=", "="}, default="<="
        ``sum v <= B``, or ``sum v = B`` as printed. The optimal value is the same.

    Returns
    -------
    Model
    """
    return _big_m_model("BigMP", "prob:l2-FS-SVM1", problem, M, cardinality, True)


def boxmp(problem: Problem, M: ArrayLike, *, cardinality: Cardinality = "<=") -> Model:
    r"""BoxMP: :math:`\min \tfrac12\|w\|_2^2 + C\sum_i \xi_i` s.t.
    :math:`(w,b,\xi)\in\Xi,\; -Mv \le w \le Mv,\; e^\top v = B,\; 0 \le v \le e`
    (``prob:box-l2-FS-SVM1``).

    The box relaxation of BigMP. It is no better than SVM if
    :math:`M \ge \max(\|w^*\|_\infty, \|w^*\|_1 / B)` for the optimal :math:`w^*` of SVM
    (the paper's theorem omits the first term, without which it fails).

    Parameters
    ----------
    problem : Problem
    M : float or array of shape (n_features,)
        Positive bound on the absolute weights; an array may have zeros.
    cardinality : {"<=", "="}, default="<="
        ``sum v <= B``, or ``sum v = B`` as printed. The optimal value is the same.

    Returns
    -------
    Model
    """
    return _big_m_model("BoxMP", "prob:box-l2-FS-SVM1", problem, M, cardinality, False)


def _big_m_model(
    name: str,
    equation: str,
    problem: Problem,
    M: ArrayLike,
    cardinality: Cardinality,
    binary: bool,
) -> Model:
    cp = import_cvxpy()
    parts = draft(name, problem)
    v = cp.Variable(parts.size, name="v")
    rows = big_m_rows(parts.w, v[parts.owners], weight_limits(M, parts))
    rows += choose_features(parts, v, cardinality)
    return parts.minimise(
        name,
        equation,
        half_norm_and_loss(parts),
        rows,
        {"v": v},
        binaries={"v": np.arange(parts.size)} if binary else {},
        traits=frozenset({Trait.QUADRATIC}),
    )


def cop(
    problem: Problem,
    K: Iterable[int] | None = None,
    *,
    upper_bound: float | None = None,
    group: Iterable[int] | None = None,
    cardinality: Cardinality = "<=",
    binary: bool = True,
) -> Model:
    r"""CoP: :math:`\min \tfrac12\|w\|_2^2 + C\sum_i \xi_i` s.t.
    :math:`(w,b,\xi)\in\Xi,\; u_j w_j = 0,\; e^\top u = n - B,\; u\in\{0,1\}^n`
    (``prob:l2-FS-SVM2``).

    FS-SVM with complementarity instead of a big-M. Given K, the restricted CoP(K)
    (``prob:l2-FS-SVM2(K)``): features outside K have weight zero, and
    :math:`\sum_K u_j \ge \max(0, |K| - B)`, because the printed equation has no
    solution when K is smaller than the budget. All weights of a group of columns
    complement one u.

    Parameters
    ----------
    problem : Problem
    K : iterable of int, default=None
        The features that may be used; None for all.
    upper_bound : float, default=None
        Adds the cut ``objective <= upper_bound`` (``cons: UB cons``).
    group : iterable of int, default=None
        Adds the cut that at least one of these features is selected,
        ``sum_group u <= |group| - 1`` (``cons: K plus cons``).
    cardinality : {"<=", "="}, default="<="
        ``sum u >= n - B``, or ``sum u = n - B`` as printed; the same optimal value.
    binary : bool, default=True
        False for the box relaxation ``0 <= u <= 1``, which by the paper's remark is
        CoP itself.

    Returns
    -------
    Model
        For SCIP or Gurobi.
    """
    cp = import_cvxpy()
    subset = None if K is None else restriction(K, problem)
    parts = draft("CoP", problem, subset)
    u = cp.Variable(parts.size, name="u")
    objective = half_norm_and_loss(parts)
    rows = choose_features(parts, 1 - u, cardinality)
    traits = {Trait.QUADRATIC}
    if upper_bound is not None:
        rows.append(objective <= check_upper_bound(upper_bound))
        traits.add(Trait.SECOND_ORDER)
    if group is not None:
        rows.append(group_cut(group, parts, u))
    return parts.minimise(
        "CoP" if K is None else "CoP(K)",
        "prob:l2-FS-SVM2" if K is None else "prob:l2-FS-SVM2(K)",
        objective,
        rows,
        {"u": u},
        binaries={"u": np.arange(parts.size)} if binary else {},
        complementary=("u", "w"),
        traits=frozenset(traits),
    )


def restriction(K: Iterable[int], problem: Problem) -> np.ndarray:
    """The features K of a restricted model, validated."""
    subset = check_subset(K, problem)
    if subset.size == 0:
        raise ValueError("K is empty; it must hold at least one feature.")
    missing = np.setdiff1d(problem.include, subset)
    if missing.size:
        raise ValueError(
            f"K lacks feature(s) {missing.tolist()} that the problem includes; add "
            "them to K."
        )
    return subset


def group_cut(group: Iterable[int], parts: Draft, u: Any) -> Any:
    """At least one feature of a group is selected: ``sum u <= |group| - 1``."""
    cp = import_cvxpy()
    chosen = check_subset(group, parts.problem)
    outside = np.setdiff1d(chosen, parts.features)
    if chosen.size == 0 or outside.size:
        raise ValueError(
            f"group must hold features of K, got {chosen.tolist()}"
            + (f", of which {outside.tolist()} are not." if outside.size else ".")
        )
    return cp.sum(u[parts.positions(chosen)]) <= chosen.size - 1


def check_upper_bound(upper_bound: float) -> float:
    """The upper bound as a float; refuse one that no solution can have."""
    if not (np.isfinite(upper_bound) and upper_bound >= 0):
        raise ValueError(
            f"upper_bound must be the objective of a solution, a finite number >= 0, "
            f"got {upper_bound!r}."
        )
    return float(upper_bound)


# --- The programs of the baselines in the paper's validation section (Section 5.4) ----


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
    cp = import_cvxpy()
    features = usable_features(problem) if K is None else restriction(K, problem)
    size = features.size
    plus, minus = (cp.Variable(size, name=part) for part in ("w_plus", "w_minus"))
    parts = draft(name, problem, features, plus - minus)
    objective = cp.sum(plus) + cp.sum(minus) + parts.loss
    rows = [plus >= 0, minus >= 0]
    variables = {"w_plus": plus, "w_minus": minus}
    if M is not None:
        v = variables["v"] = cp.Variable(size, name="v")
        # One row per feature instead of two: w+ or w- is zero at an optimum.
        rows.append(plus + minus <= cp.multiply(weight_limits(M, parts), v))
        rows += choose_features(parts, v, "<=")
        if group is not None:
            rows.append(group_cut(group, parts, 1 - v))
    if upper_bound is not None:
        rows.append(objective <= check_upper_bound(upper_bound))
    return parts.minimise(
        name,
        "",
        objective,
        rows,
        variables,
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
        Excluded features are omitted; the budgets are ignored.
    alpha : float
        Weight of the penalty, not negative.
    K : iterable of int, default=None
        The features that may be used; None for all.

    Returns
    -------
    Model
    """
    cp = import_cvxpy()
    if not (np.isfinite(alpha) and alpha >= 0):
        raise ValueError(f"alpha must be a finite number >= 0, got {alpha!r}.")
    parts = draft("EN-SVM", problem, None if K is None else restriction(K, problem))
    objective = half_norm_and_loss(parts) + alpha * cp.norm1(parts.w)
    return parts.minimise(
        "EN-SVM", "", objective, [], {}, traits=frozenset({Trait.QUADRATIC})
    )
