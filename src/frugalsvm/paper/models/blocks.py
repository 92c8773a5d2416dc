"""Parts that the paper's programs share: Xi, the budget, big-M, and the cones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ...problem.problem import Problem
from ...problem.validation import check_indices
from ...search.native import check_big_m
from ..solvers.base import Trait
from .model import Model, import_cvxpy

if TYPE_CHECKING:
    import cvxpy as cp

# Models that hold for groups of columns and for signs of weights as well.
TAKE_GROUPS = ("SVM", "BigMP", "CoP", "SCoP", "DSCoP")


def require_two_classes(name: str, problem: Problem) -> None:
    """Refuse a problem of several classes."""
    if problem.n_machines > 1:
        raise ValueError(
            f"{name} does not take more than two classes: use the native methods of "
            "solve (auto, branch-and-bound, swap, relax-and-round) and DSCoP."
        )


def require_plain(name: str, problem: Problem) -> None:
    """Refuse a problem whose features are groups, or whose weights have signs.

    ``name`` is the model, method or quantity that does not take it.
    """
    require_two_classes(name, problem)
    columns = problem.columns
    if columns.is_plain:
        return
    has = {"feature groups": columns.has_groups, "signs": columns.has_signs}
    traits = " and ".join(trait for trait, is_present in has.items() if is_present)
    raise ValueError(
        f"{name} does not take {traits}: use the native methods of solve (auto, "
        f"branch-and-bound, swap, relax-and-round) or a model that takes them "
        f"({', '.join(TAKE_GROUPS)})."
    )


Cardinality = Literal["<=", "="]
Cones = Literal["second-order", "semidefinite"]


@dataclass
class Draft:
    """A program under construction: ``(w, b, xi) in Xi`` and further constraints."""

    problem: Problem
    features: np.ndarray
    columns: np.ndarray
    w: Any
    b: Any
    xi: Any
    margins: Any
    constraints: list[Any]
    variables: dict[str, Any] = field(default_factory=dict)

    @property
    def loss(self) -> cp.Expression:
        """``sum_i C_i xi_i``."""
        return self.problem.C @ self.xi

    @property
    def size(self) -> int:
        """Number of features in the program."""
        return self.features.size

    @property
    def owners(self) -> np.ndarray:
        """The position in the program of the feature that each weight belongs to."""
        sizes = self.problem.columns.sizes[self.features]
        return np.repeat(np.arange(self.size), sizes)

    def positions(self, features: np.ndarray) -> np.ndarray:
        """Positions of features in the program's variables."""
        return np.searchsorted(self.features, features)

    def minimise(
        self,
        name: str,
        equation: str,
        objective: Any,
        rows: list[Any],
        variables: dict[str, Any],
        **attributes: Any,
    ) -> Model:
        """The model of an objective, with further constraints and variables.

        Other attributes of the model are given by name.
        """
        cp = import_cvxpy()
        return Model(
            name,
            equation,
            self.problem,
            self.features,
            cp.Problem(cp.Minimize(objective), self.constraints + rows),
            self.variables | variables,
            {"alpha": self.margins},
            **attributes,
        )


def usable_features(problem: Problem) -> np.ndarray:
    """All features except those excluded or alone beyond the cost budget."""
    usable = problem.costs <= problem.root_region().budget
    usable[problem.exclude] = False
    usable[problem.include] = True
    return np.flatnonzero(usable)


def draft(
    name: str, problem: Problem, features: np.ndarray | None = None, w: Any = None
) -> Draft:
    """``Xi = {(w, b, xi): y_i (w x_i + b) >= 1 - xi_i, xi >= 0}`` (eq. ``eq:xi``).

    Features that no solution can use are omitted. The weights, one per column of the
    others, have the signs of the problem. ``w`` may be an expression, e.g. part of a
    matrix.
    """
    cp = import_cvxpy()
    require_two_classes(name, problem)
    if name not in TAKE_GROUPS:
        require_plain(name, problem)
    if features is None:
        features = usable_features(problem)
    if features.size == 0:
        raise ValueError("the model has no features: exclude and max_cost leave none.")
    columns = problem.columns.of(features)
    if w is None:
        w = cp.Variable(columns.size, name="w")
    xi = cp.Variable(problem.n_samples, name="xi")
    rows = np.ascontiguousarray(problem.signed_rows(columns).T)
    scores = rows @ w
    variables = {"w": w, "xi": xi}
    b: Any = 0.0
    if problem.fit_intercept:
        b = variables["b"] = cp.Variable(name="b")
        scores = scores + problem.y * b
    margins = scores >= 1 - xi
    constraints = [margins, xi >= 0, *sign_rows(w, problem.columns.signs[columns])]
    return Draft(problem, features, columns, w, b, xi, margins, constraints, variables)


def sign_rows(w: Any, signs: np.ndarray) -> list[Any]:
    """``sign_j w_j >= 0`` for all weights that are limited in sign."""
    cp = import_cvxpy()
    limited = np.flatnonzero(signs)
    if limited.size == 0:
        return []
    return [cp.multiply(signs[limited].astype(float), w[limited]) >= 0]


def choose_features(parts: Draft, z: Any, cardinality: Cardinality) -> list[Any]:
    """``0 <= z <= 1`` and the budgets, for the share z = v = 1 - u of each feature.

    ``cardinality`` "=" means ``sum z = B`` as printed in the paper, "<=" the budget
    itself; by the paper's remarks the optimal values agree. Included features have z =
    1. With feature costs there may be no set of exactly B features.
    """
    cp = import_cvxpy()
    problem = parts.problem
    if cardinality not in ("<=", "="):
        raise ValueError(f'cardinality must be "<=" or "=", got {cardinality!r}.')
    limit = min(problem.max_features, parts.size)
    costly = np.isfinite(problem.max_cost)
    if cardinality == "=" and costly:
        raise ValueError(
            'cardinality "=" does not go with max_cost: exactly max_features features '
            'may cost too much. Use "<=".'
        )
    total = cp.sum(z)
    rows = [z >= 0, z <= 1, total == limit if cardinality == "=" else total <= limit]
    if costly:
        rows.append(problem.costs[parts.features] @ z <= problem.cost_budget)
    if problem.include.size:
        rows.append(z[parts.positions(problem.include)] == 1)
    return rows


def big_m_rows(w: Any, z: Any, M: np.ndarray) -> list[Any]:
    """``-M z <= w <= M z`` (eqs. ``eq:omega`` and ``eq:Bset``), z for each weight."""
    cp = import_cvxpy()
    limit = cp.multiply(M, z)
    return [w <= limit, w >= -limit]


def rotated_cones(w: Any, z: Any, W: Any) -> list[Any]:
    """``w_j^2 <= W_j z_j`` for all j as second-order cones (lemma ``PSD_SOC``).

    ``|| (W_j - z_j, 2 w_j) || <= W_j + z_j``; one vectorised constraint.
    """
    cp = import_cvxpy()
    return [cp.SOC(W + z, cp.vstack([W - z, 2 * w]), axis=0)]


def group_cones(w: Any, z: Any, W: Any, owners: np.ndarray) -> list[Any]:
    """``||w_g||^2 <= W_g z_g`` for the weights of each feature g.

    One vectorised constraint for all features of a number of columns.
    """
    cp = import_cvxpy()
    sizes = np.bincount(owners)
    starts = np.cumsum(sizes) - sizes
    rows = []
    for size in np.unique(sizes):
        groups = np.flatnonzero(sizes == size)
        weights = [2 * w[starts[groups] + k] for k in range(size)]
        total, difference = W[groups] + z[groups], W[groups] - z[groups]
        rows.append(cp.SOC(total, cp.vstack([difference, *weights]), axis=0))
    return rows


def symmetric(order: int, name: str) -> Any:
    """A symmetric matrix expression over a vector variable of its triangle."""
    cp = import_cvxpy()
    rows, columns = np.tril_indices(order)
    entry = np.zeros((order, order), dtype=int)
    entry[rows, columns] = entry[columns, rows] = np.arange(rows.size)
    spread = sp.csr_array(
        (np.ones(order**2), (np.arange(order**2), entry.ravel(order="F"))),
        shape=(order**2, rows.size),
    )
    triangle = cp.Variable(rows.size, name=name)
    return cp.reshape(spread @ triangle, (order, order), order="F")


def semidefinite_blocks(w: Any, u: Any, W: Any, owners: np.ndarray) -> list[Any]:
    """The 3x3 matrices ``[1 w u; w W 0; u 0 u]`` as printed, one by one.

    For a feature of several columns w is a row of weights, and W a matrix with the
    trace ``W_g``.
    """
    cp = import_cvxpy()
    rows = []
    for g in range(u.size):
        weights = w[np.flatnonzero(owners == g)]
        size = weights.size
        if size == 1:
            square = W[g : g + 1]
        else:
            square = symmetric(size, f"W{g}")
            rows.append(cp.trace(square) == W[g])
        row, zero = cp.reshape(weights, (1, size), order="F"), np.zeros((size, 1))
        square = cp.reshape(square, (size, size), order="F")
        corner, share = np.ones((1, 1)), cp.reshape(u[g], (1, 1), order="F")
        blocks = [[corner, row, share], [row.T, square, zero], [share, zero.T, share]]
        rows.append(cp.bmat(blocks) >> 0)
    return rows


def share_cones(
    w: Any, u: Any, W: Any, owners: np.ndarray, cones: Cones
) -> tuple[list[Any], Trait]:
    """``[1 w_j u_j; w_j W_j 0; u_j 0 u_j]`` positive semidefinite, in either form.

    ``owners`` are the positions of the features that weights belong to.
    """
    if cones == "second-order":
        return group_cones(w, 1 - u, W, owners), Trait.SECOND_ORDER
    if cones == "semidefinite":
        return semidefinite_blocks(w, u, W, owners), Trait.SEMIDEFINITE
    raise ValueError(f'cones must be "second-order" or "semidefinite", got {cones!r}.')


def weight_limits(M: ArrayLike, parts: Draft) -> np.ndarray:
    """One bound on |w_j| per column of X in the program."""
    return check_big_m(M, parts.problem.n_columns)[parts.columns]


def check_subset(K: Iterable[int], problem: Problem) -> np.ndarray:
    """The features of K in increasing order."""
    subset = check_indices("K", K, problem.n_features)
    excluded = np.intersect1d(subset, problem.exclude)
    if excluded.size:
        raise ValueError(
            f"K has feature(s) {excluded.tolist()} that the problem excludes; remove "
            "them from K."
        )
    return subset
