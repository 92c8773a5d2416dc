"""The semi-relaxations of the paper's exact procedure (Section 4.4)."""

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
    limits_of_weights,
    rotated_cones,
    share_cones,
)
from .model import Model
from .modelling import modelling


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
    mixed-integer *semidefinite* program, which no solver here takes: it serves to check
    :func:`sr_dlmp`, the same program by the lemma ``PSD_SOC``, with its binary
    variables fixed (:meth:`Model.fix`).

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
        "SR-DSCoP(K)", "subproblem_exact_procedure", problem, K, M, cardinality,
        "semidefinite",
    )  # fmt: skip


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
        "SR-DLMP(K)", "subproblem_exact_procedure_modified", problem, K, M,
        cardinality, "second-order",
    )  # fmt: skip


def _semi_relaxation(
    name: str,
    equation: str,
    problem: Problem,
    K: Iterable[int],
    M: ArrayLike,
    cardinality: Cardinality,
    cones: Cones,
) -> Model:
    cp = modelling()
    parts = draft(name, problem)
    # Features whose cost alone exceeds the budget are not in the program.
    subset = np.intersect1d(check_subset(K, problem), parts.features)
    limit = limits_of_weights(M, parts)
    inside = parts.positions(subset)
    outside = np.setdiff1d(np.arange(parts.size), inside)
    w = parts.w
    u = cp.Variable(parts.size, name="u")
    W = cp.Variable(parts.size, name="W")
    rows = choose_features(parts, 1 - u, cardinality)
    traits = {Trait.SECOND_ORDER}
    if outside.size:
        order = np.arange(outside.size)
        more, trait = share_cones(w[outside], u[outside], W[outside], order, cones)
        rows += more
        traits.add(trait)
    if inside.size:
        rows += big_m_rows(w[inside], 1 - u[inside], limit[inside])
        rows += rotated_cones(w[inside], 1, W[inside])
    return Model(
        name,
        equation,
        problem,
        parts.features,
        cp.Problem(cp.Minimize(0.5 * cp.sum(W) + parts.loss), parts.constraints + rows),
        parts.variables | {"W": W, "u": u, "s": 1 - u},
        {"alpha": parts.margins},
        binaries={"u": inside},
        traits=frozenset(traits),
        remedy="Build sr_dlmp instead: the same program with second-order cones.",
    )
