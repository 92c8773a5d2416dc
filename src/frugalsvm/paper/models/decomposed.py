"""The decomposed relaxations DSMP, DSCoP and DSCoMP (the paper's Section 3.3)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ...problem.problem import Problem
from ..solvers.base import Trait
from .blocks import (
    Cardinality,
    Cones,
    big_m_rows,
    check_subset,
    choose_features,
    draft,
    rotated_cones,
    share_cones,
    symmetric,
    usable_features,
    weight_limits,
)
from .model import Model, import_cvxpy


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
    cp = import_cvxpy()
    parts = draft("DSMP", problem)
    v = cp.Variable(parts.size, name="v")
    W = cp.Variable(parts.size, name="W")
    rows = big_m_rows(parts.w, v, weight_limits(M, parts))
    rows += choose_features(parts, v, cardinality)
    rows += rotated_cones(parts.w, 1, W) + rotated_cones(v, 1, v)
    return parts.minimise(
        "DSMP",
        "prob:dsdp-l2-FS-SVM1",
        0.5 * cp.sum(W) + parts.loss,
        rows,
        {"W": W, "v": v},
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
    cp = import_cvxpy()
    parts = draft(name, problem)
    u = cp.Variable(parts.size, name="u")
    W = cp.Variable(parts.size, name="W")
    rows, trait = share_cones(parts.w, u, W, parts.owners, cones)
    rows += choose_features(parts, 1 - u, cardinality)
    if M is not None:
        rows += big_m_rows(parts.w, 1 - u, weight_limits(M, parts))
    return parts.minimise(
        name,
        equation,
        0.5 * cp.sum(W) + parts.loss,
        rows,
        {"W": W, "u": u},
        traits=frozenset({trait}),
    )


# --- The semi-relaxations of the paper's exact procedure (Section 4.4) ----------------


def sr_dscop(
    problem: Problem,
    K: Iterable[int],
    M: ArrayLike,
    *,
    cardinality: Cardinality = "<=",
) -> Model:
    r"""SR-DSCoP(K): :math:`\min \tfrac12\sum_j W_{jj} + C\sum_i \xi_i` s.t.
    :math:`(w,b,\xi)\in\Xi,\; (w,u)\in\mathcal{B}_M(K),\; u_j\in\{0,1\}` and
    :math:`w_j^2 \le W_{jj}` for :math:`j\in K`, and
    :math:`[1\; w_j\; u_j; w_j\; W_{jj}\; 0; u_j\; 0\; u_j] \succeq 0` for the others
    (``subproblem_exact_procedure``).

    Complementarity is exact on K and relaxed outside. As printed this is a
    mixed-integer *semidefinite* program, which no solver here takes. With its binary
    variables fixed (:meth:`Model.fix`) it serves to check :func:`sr_dlmp`, the same
    program by the lemma ``PSD_SOC``.

    Parameters
    ----------
    problem : Problem
    K : iterable of int
        Features whose u is binary.
    M : float or array of shape (n_features,)
        Positive bound of the weights of K.
    cardinality : {"<=", "="}, default="<="

    Returns
    -------
    Model
    """
    return _semi_relaxation(
        "SR-DSCoP(K)",
        "subproblem_exact_procedure",
        problem,
        K,
        M,
        cardinality,
        "semidefinite",
    )


def sr_dlmp(
    problem: Problem,
    K: Iterable[int],
    M: ArrayLike,
    *,
    cardinality: Cardinality = "<=",
) -> Model:
    r"""SR-DLMP(K): SR-DSCoP(K) with
    :math:`\|(W_{jj} - s_j,\, 2 w_j)\|_2 \le s_j + W_{jj}` and :math:`s_j = 1 - u_j` in
    place of the matrices outside K
    (``subproblem_exact_procedure_modified``).

    A mixed-integer second-order cone program. Its value lies between those of DSCoP (K
    empty) and FS-SVM (K all features) and grows with K.

    Parameters
    ----------
    problem : Problem
    K : iterable of int
        Features whose u is binary.
    M : float or array of shape (n_features,)
        Positive bound of the weights of K.
    cardinality : {"<=", "="}, default="<="

    Returns
    -------
    Model
    """
    return _semi_relaxation(
        "SR-DLMP(K)",
        "subproblem_exact_procedure_modified",
        problem,
        K,
        M,
        cardinality,
        "second-order",
    )


def _semi_relaxation(
    name: str,
    equation: str,
    problem: Problem,
    K: Iterable[int],
    M: ArrayLike,
    cardinality: Cardinality,
    cones: Cones,
) -> Model:
    cp = import_cvxpy()
    parts = draft(name, problem)
    # Features whose cost alone exceeds the budget are not in the program.
    subset = np.intersect1d(check_subset(K, problem), parts.features)
    limit = weight_limits(M, parts)
    inside = parts.positions(subset)
    outside = np.setdiff1d(np.arange(parts.size), inside)
    w = parts.w
    u = cp.Variable(parts.size, name="u")
    W = cp.Variable(parts.size, name="W")
    rows = choose_features(parts, 1 - u, cardinality)
    traits = {Trait.SECOND_ORDER}
    if outside.size:
        order = np.arange(outside.size)
        blocks, trait = share_cones(w[outside], u[outside], W[outside], order, cones)
        rows += blocks
        traits.add(trait)
    if inside.size:
        rows += big_m_rows(w[inside], 1 - u[inside], limit[inside])
        rows += rotated_cones(w[inside], 1, W[inside])
    return parts.minimise(
        name,
        equation,
        0.5 * cp.sum(W) + parts.loss,
        rows,
        {"W": W, "u": u, "s": 1 - u},
        binaries={"u": inside},
        traits=frozenset(traits),
        remedy="Build sr_dlmp instead: the same program with second-order cones.",
    )


# --- The Shor relaxations SMP, SCoP and SCoMP (the paper's Section 3.2) ---------------
#
# Semidefinite matrices of order n + 1 or 2n + 1: only for small n and of theoretical
# interest, since each has a decomposed counterpart with the same value.

# Interior-point methods factor a matrix with a dense block for each semidefinite cone,
# one row per entry of its triangle. Bytes per entry of half of that block, as measured
# with Clarabel for n = 30 and 40 (values, indices, the factor and its copies).
BYTES_PER_ENTRY = 110
DEFAULT_MEMORY_LIMIT = 4e9


def shor_memory(orders: list[int]) -> float:
    """Estimated bytes to solve a program with semidefinite matrices of these orders."""
    triangles = np.array([order * (order + 1) / 2 for order in orders])
    return float(BYTES_PER_ENTRY * np.sum(triangles**2) / 2)


def _check_memory(name: str, twin: str, orders: list[int], limit: float) -> None:
    needed = shor_memory(orders)
    if needed > limit:
        raise ValueError(
            f"{name} needs a semidefinite matrix of order {max(orders)}, about "
            f"{needed / 1e9:.1f} GB for an interior point, more than memory_limit = "
            f"{limit / 1e9:.1f} GB. Use {twin}, which has the same value and grows "
            "linearly with the number of features."
        )


def smp(
    problem: Problem,
    M: ArrayLike,
    *,
    cardinality: Cardinality = "<=",
    memory_limit: float = DEFAULT_MEMORY_LIMIT,
) -> Model:
    r"""SMP: :math:`\min \tfrac12\mathrm{trace}(W) + C\sum_i \xi_i` s.t.
    :math:`(w,b,\xi)\in\Xi,\; (w,v)\in\Omega_M,\; \mathrm{diag}\,V = v`,
    :math:`[1\; w^\top; w\; W] \succeq 0,\; [1\; v^\top; v\; V] \succeq 0`
    (``prob:sdp-l2-FS-SVM1``).

    The Shor relaxation of BigMP; its value is that of BoxMP.

    Parameters
    ----------
    problem : Problem
    M : float or array of shape (n_features,)
        Positive bound on the absolute weights; an array may have zeros.
    cardinality : {"<=", "="}, default="<="
    memory_limit : float, default=4e9
        Bytes; the model is refused if solving it is estimated to take more.

    Returns
    -------
    Model
    """
    cp = import_cvxpy()
    n = usable_features(problem).size
    _check_memory("SMP", "BoxMP or DSMP", [n + 1, n + 1], memory_limit)
    X, Y = symmetric(n + 1, "wW"), symmetric(n + 1, "vV")
    w, W, v, V = X[1:, 0], X[1:, 1:], Y[1:, 0], Y[1:, 1:]
    parts = draft("SMP", problem, w=w)
    rows = [X >> 0, Y >> 0, X[0, 0] == 1, Y[0, 0] == 1, cp.diag(V) == v]
    rows += big_m_rows(w, v, weight_limits(M, parts))
    rows += choose_features(parts, v, cardinality)
    return parts.minimise(
        "SMP",
        "prob:sdp-l2-FS-SVM1",
        0.5 * cp.trace(W) + parts.loss,
        rows,
        {"W": W, "v": v, "V": V},
        traits=frozenset({Trait.SEMIDEFINITE}),
    )


def scop(
    problem: Problem,
    *,
    cardinality: Cardinality = "<=",
    memory_limit: float = DEFAULT_MEMORY_LIMIT,
) -> Model:
    r"""SCoP: :math:`\min \tfrac12\mathrm{trace}(W) + C\sum_i \xi_i` s.t.
    :math:`(w,b,\xi)\in\Xi,\; e^\top u = n - B,\; \mathrm{diag}\,R = 0,\;
    \mathrm{diag}\,U = u`,
    :math:`[1\; w^\top u^\top; w\; W\; R; u\; R^\top U] \succeq 0`
    (``prob:sdp-l2-FS-SVM2``).

    The Shor relaxation of CoP; its value is that of DSCoP. A group of columns has one
    column of R, with zeros at all weights of the group.

    Parameters
    ----------
    problem : Problem
    cardinality : {"<=", "="}, default="<="
    memory_limit : float, default=4e9
        Bytes; the model is refused if solving it is estimated to take more.

    Returns
    -------
    Model
    """
    return _complementarity_shor(
        "SCoP", "prob:sdp-l2-FS-SVM2", problem, None, cardinality, memory_limit
    )


def scomp(
    problem: Problem,
    M: ArrayLike,
    *,
    cardinality: Cardinality = "<=",
    memory_limit: float = DEFAULT_MEMORY_LIMIT,
) -> Model:
    r"""SCoMP: SCoP with :math:`-M(1-u) \le w \le M(1-u)` (``prob:sdp-l2-FS-SVM3``).

    At least as tight as SMP and SCoP; its value is that of DSCoMP.

    Parameters
    ----------
    problem : Problem
    M : float or array of shape (n_features,)
        Positive bound on the absolute weights; an array may have zeros.
    cardinality : {"<=", "="}, default="<="
    memory_limit : float, default=4e9
        Bytes; the model is refused if solving it is estimated to take more.

    Returns
    -------
    Model
    """
    return _complementarity_shor(
        "SCoMP", "prob:sdp-l2-FS-SVM3", problem, M, cardinality, memory_limit
    )


def _complementarity_shor(
    name: str,
    equation: str,
    problem: Problem,
    M: ArrayLike | None,
    cardinality: Cardinality,
    memory_limit: float,
) -> Model:
    cp = import_cvxpy()
    features = usable_features(problem)
    # Columns of X, and features.
    n, p = int(problem.columns.sizes[features].sum()), features.size
    _check_memory(name, f"D{name}", [n + p + 1], memory_limit)
    X = symmetric(n + p + 1, "wuWRU")
    w, u = X[1 : n + 1, 0], X[n + 1 :, 0]
    W, R, U = X[1 : n + 1, 1 : n + 1], X[1 : n + 1, n + 1 :], X[n + 1 :, n + 1 :]
    parts = draft(name, problem, w=w)
    rows = [X >> 0, X[0, 0] == 1, cp.diag(U) == u]
    rows.append(R[np.arange(n), parts.owners] == 0)
    rows += choose_features(parts, 1 - u, cardinality)
    if M is not None:
        rows += big_m_rows(w, 1 - u, weight_limits(M, parts))
    return parts.minimise(
        name,
        equation,
        0.5 * cp.trace(W) + parts.loss,
        rows,
        {"W": W, "R": R, "u": u, "U": U},
        traits=frozenset({Trait.SEMIDEFINITE}),
    )
