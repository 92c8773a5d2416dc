"""The decomposed relaxations DSMP, DSCoP and DSCoMP (the paper's Section 3.3)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ...problem.problem import Problem
from ..solvers.base import Trait
from .blocks import (
    Cardinality,
    Cones,
    big_m_rows,
    choose_features,
    draft,
    limits_of_weights,
    rotated_cones,
    share_cones,
)
from .model import Model
from .modelling import modelling


def dsmp(problem: Problem, M: ArrayLike, *, cardinality: Cardinality = "<=") -> Model:
    r"""DSMP: :math:`\min \tfrac12\sum_j W_{jj} + C\sum_i \xi_i` s.t.
    :math:`(w,b,\xi)\in\Xi,\; (w,v)\in\Omega_M`,
    :math:`[1\; w_j; w_j\; W_{jj}] \succeq 0,\; [1\; v_j; v_j\; v_j] \succeq 0`
    (``prob:dsdp-l2-FS-SVM1``).

    The decomposed form of SMP, of the same value as SMP and BoxMP. The 2x2 matrices
    mean :math:`w_j^2 \le W_{jj}` and :math:`v_j^2 \le v_j`; both are second-order
    cones.

    Parameters
    ----------
    problem : Problem
    M : float or array of shape (n_features,)
        Positive bound on the absolute weights; an array may have zeros.
    cardinality : {"<=", "="}, default="<="

    Returns
    -------
    Model
    """
    cp = modelling()
    parts = draft("DSMP", problem)
    v = cp.Variable(parts.size, name="v")
    W = cp.Variable(parts.size, name="W")
    rows = big_m_rows(parts.w, v, limits_of_weights(M, parts))
    rows += choose_features(parts, v, cardinality)
    rows += rotated_cones(parts.w, 1, W) + rotated_cones(v, 1, v)
    return Model(
        "DSMP",
        "prob:dsdp-l2-FS-SVM1",
        problem,
        parts.features,
        cp.Problem(cp.Minimize(0.5 * cp.sum(W) + parts.loss), parts.constraints + rows),
        parts.variables | {"W": W, "v": v},
        {"alpha": parts.margins},
        traits=frozenset({Trait.SECOND_ORDER}),
    )


def dscop(
    problem: Problem,
    *,
    cardinality: Cardinality = "<=",
    cones: Cones = "second-order",
) -> Model:
    r"""DSCoP: :math:`\min \tfrac12\sum_j W_{jj} + C\sum_i \xi_i` s.t.
    :math:`(w,b,\xi)\in\Xi,\; e^\top u = n - B,\; [1\; w_j\; u_j; w_j\; W_{jj}\; 0;
    u_j\; 0\; u_j] \succeq 0` (``prob:dsdp-l2-FS-SVM2``).

    The decomposed form of SCoP, of the same value. By the lemma ``PSD_SOC`` the matrix
    means :math:`w_j^2 \le W_{jj} (1 - u_j)`: n cones of dimension three. For a group of
    columns it is :math:`\|w_g\|^2 \le W_g (1 - u_g)`, W having one entry per feature.

    Parameters
    ----------
    problem : Problem
    cardinality : {"<=", "="}, default="<="
    cones : {"second-order", "semidefinite"}, default="second-order"
        The lemma's cones, or the printed matrices one by one (for small n).

    Returns
    -------
    Model
    """
    return _dscop("DSCoP", "prob:dsdp-l2-FS-SVM2", problem, None, cardinality, cones)


def dscomp(
    problem: Problem,
    M: ArrayLike,
    *,
    cardinality: Cardinality = "<=",
    cones: Cones = "second-order",
) -> Model:
    r"""DSCoMP: DSCoP with :math:`-M(1-u) \le w \le M(1-u)` (``prob:dsdp-l2-FS-SVM3``).

    The decomposed form of SCoMP, of the same value.

    Parameters
    ----------
    problem : Problem
    M : float or array of shape (n_features,)
        Positive bound on the absolute weights; an array may have zeros.
    cardinality : {"<=", "="}, default="<="
    cones : {"second-order", "semidefinite"}, default="second-order"

    Returns
    -------
    Model
    """
    return _dscop("DSCoMP", "prob:dsdp-l2-FS-SVM3", problem, M, cardinality, cones)


def _dscop(
    name: str,
    equation: str,
    problem: Problem,
    M: ArrayLike | None,
    cardinality: Cardinality,
    cones: Cones,
) -> Model:
    cp = modelling()
    parts = draft(name, problem)
    u = cp.Variable(parts.size, name="u")
    W = cp.Variable(parts.size, name="W")
    rows, trait = share_cones(parts.w, u, W, parts.owners, cones)
    rows += choose_features(parts, 1 - u, cardinality)
    if M is not None:
        rows += big_m_rows(parts.w, 1 - u, limits_of_weights(M, parts))
    return Model(
        name,
        equation,
        problem,
        parts.features,
        cp.Problem(cp.Minimize(0.5 * cp.sum(W) + parts.loss), parts.constraints + rows),
        parts.variables | {"W": W, "u": u},
        {"alpha": parts.margins},
        traits=frozenset({trait}),
    )
