"""The Shor relaxations SMP, SCoP and SCoMP (the paper's Section 3.2).

Semidefinite matrices of order n + 1 or 2n + 1: only for small n and of theoretical
interest, since each has a decomposed counterpart with the same value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...problem.problem import Problem
from ..solvers.base import Trait
from .blocks import (
    Cardinality,
    Draft,
    big_m_rows,
    choose_features,
    draft,
    limits_of_weights,
    symmetric,
    usable_features,
)
from .model import Model
from .modelling import modelling

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


def _trace_objective(parts: Draft, W: Any) -> Any:
    cp = modelling()
    return cp.Minimize(0.5 * cp.trace(W) + parts.loss)


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
    cp = modelling()
    n = usable_features(problem).size
    _check_memory("SMP", "BoxMP or DSMP", [n + 1, n + 1], memory_limit)
    X, Y = symmetric(n + 1, "wW"), symmetric(n + 1, "vV")
    w, W, v, V = X[1:, 0], X[1:, 1:], Y[1:, 0], Y[1:, 1:]
    parts = draft("SMP", problem, w=w)
    rows = [X >> 0, Y >> 0, X[0, 0] == 1, Y[0, 0] == 1, cp.diag(V) == v]
    rows += big_m_rows(w, v, limits_of_weights(M, parts))
    rows += choose_features(parts, v, cardinality)
    return Model(
        "SMP",
        "prob:sdp-l2-FS-SVM1",
        problem,
        parts.features,
        cp.Problem(_trace_objective(parts, W), parts.constraints + rows),
        parts.variables | {"W": W, "v": v, "V": V},
        {"alpha": parts.margins},
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

    The Shor relaxation of CoP; its value is that of DSCoP. For a group of columns R has
    zeros in its one column, at all weights of the group.

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
    cp = modelling()
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
        rows += big_m_rows(w, 1 - u, limits_of_weights(M, parts))
    return Model(
        name,
        equation,
        problem,
        parts.features,
        cp.Problem(_trace_objective(parts, W), parts.constraints + rows),
        parts.variables | {"W": W, "R": R, "u": u, "U": U},
        {"alpha": parts.margins},
        traits=frozenset({Trait.SEMIDEFINITE}),
    )
