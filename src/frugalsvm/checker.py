"""verify: check the proof of a lower bound, without trusting anything in it.

This module imports nothing of the solver. A certificate is a tree. Its root stands for
all supports that the problem admits. A node may *fix* features: it claims that supports
with a feature that is fixed out, or without one that is fixed in, are no better than
some bound. Then it is split by one feature into the supports with and without it, or it
is a leaf. So fixings and leaves together cover every support, and the smallest of their
bounds is a lower bound of the optimum. Each is recomputed from a dual point alpha: if
0 <= alpha <= C and, with an intercept, y alpha = 0, then

    1'alpha - 1/2 [ sum of c_j^2 over forced j + the k largest c_j^2 over free j ]

with c = A alpha, A_ji = y_i x_ij, bounds the objective of every support that contains
the forced features and at most k free ones. A cost budget Q adds a price mu >= 0: then
"k largest" is of max(0, c_j^2 - mu cost_j), plus Q mu.

Arithmetic: alpha is moved to a grid on which sums are exact and the classes balance
exactly; products carry an error bound that holds for any order of summation; every
other rounding is paid for by a factor.

File: ``.npz`` with the arrays

* ``format``, ``fingerprint`` (SHA-256 of A and y in double precision, samples of weight
  zero left out), ``weights`` (C_i of all samples), ``fit_intercept``, ``max_features``,
  ``costs``, ``max_cost``, ``include``, ``exclude``: the problem;
* ``selected``, ``coef``, ``intercept``, ``objective``, ``lower_bound``: the claim;
* ``parent``, ``feature``, ``inside``, ``point``: one entry per node, parents first;
  ``point`` is the dual point of a leaf and -1 otherwise;
* ``fixing_point``, ``fixing_start``, ``fixing``: features fixed at each node, j for in
  and ~j for out, with one dual point for all of them;
* ``point_start``, ``point_sample``, ``point_alpha``: dual points without their zeros;
  alpha above C_i means C_i;
* ``checksum``: SHA-256 of all of the above, against damage, not against malice.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

# Unit roundoff of double precision.
U = 2.0**-53
# Sums of costs may exceed max_cost by this factor: they are rounded, too.
COST_SLACK = 1e-9
# Relative difference that is put down to rounding when claims are compared.
CLAIM_TOL = 1e-9

_SCALARS = {
    "format": "iu", "fingerprint": "U", "fit_intercept": "b", "max_features": "iu",
    "max_cost": "f", "intercept": "f", "objective": "f", "lower_bound": "f",
    "checksum": "U",
}  # fmt: skip
_VECTORS = {
    "weights": "f", "costs": "f", "include": "iu", "exclude": "iu", "selected": "iu",
    "coef": "f", "parent": "iu", "feature": "iu", "inside": "b", "point": "iu",
    "fixing_point": "iu", "fixing_start": "iu", "fixing": "iu", "point_start": "iu",
    "point_sample": "iu", "point_alpha": "f",
}  # fmt: skip


class InvalidCertificate(ValueError):
    """The certificate proves nothing; the message says why."""


@dataclass(frozen=True)
class Verification:
    """What a certificate proves.

    Attributes
    ----------
    objective : float
        Upper bound of the optimum: the recomputed objective of the solution.
    lower_bound : float
        Lower bound of the optimum: the smallest recomputed bound.
    gap : float
        ``(objective - lower_bound) / objective``.
    selected : ndarray of int
        The features of the solution.
    n_nodes, n_leaves, n_fixings : int
        Size of the proof.
    """

    objective: float
    lower_bound: float
    gap: float
    selected: np.ndarray
    n_nodes: int
    n_leaves: int
    n_fixings: int

    def __str__(self) -> str:
        return (
            f"proved: {self.lower_bound:.9g} <= optimum <= {self.objective:.9g} "
            f"(gap {100 * self.gap:.3g} %) by {self.n_leaves:,} leaves and "
            f"{self.n_fixings:,} fixings"
        )


def verify(certificate: Any, X: Any, y: Any, **expected: Any) -> Verification:
    """Check a certificate against the data it is about.

    Parameters
    ----------
    certificate : path, Certificate or mapping of arrays
        As written by ``Result.save_certificate``.
    X : array-like of shape (n_samples, n_features)
        The data the model was fitted to (scaled, if it was scaled for fitting).
    y : array-like of shape (n_samples,)
        Labels of two classes; the larger label counts as +1.
    **expected
        Parameters of the problem that are to be those of the certificate: ``C``,
        ``sample_weight``, ``max_features``, ``costs``, ``max_cost``, ``include``,
        ``exclude``, ``fit_intercept``. What is not given is taken from the file, and is
        part of what is proved.

    Returns
    -------
    Verification

    Raises
    ------
    InvalidCertificate
        If the certificate is damaged, is about other data or another problem, or does
        not prove what it claims.
    """
    arrays = _read(certificate)
    _check_parameters(arrays)
    _check_expected(arrays, expected)
    A, signs, C = _signed_data(arrays, X, y)
    problem = _Problem(A, signs, C, arrays)
    objective = _objective(problem, arrays)
    proof = _Proof(problem, arrays)
    lower_bound = proof.smallest_bound()
    claimed = float(arrays["lower_bound"])
    _require(
        lower_bound >= claimed - CLAIM_TOL * abs(claimed),
        f"lower_bound {claimed!r} is claimed, only {lower_bound!r} is proved",
    )
    gap = max(0.0, objective - lower_bound) / abs(objective) if objective else 0.0
    return Verification(
        objective, lower_bound, gap, arrays["selected"].copy(),
        arrays["parent"].size, proof.n_leaves, arrays["fixing"].size,
    )  # fmt: skip


def _require(condition: Any, reason: str) -> None:
    if not condition:
        raise InvalidCertificate(f"invalid certificate: {reason}.")


# --- reading -------------------------------------------------------------------------


def _read(certificate: Any) -> dict[str, np.ndarray]:
    """All arrays, each of the expected kind and shape."""
    arrays: Mapping[str, Any]
    if isinstance(certificate, (str, PathLike)):
        try:
            with np.load(certificate, allow_pickle=False) as file:
                arrays = dict(file)
        except FileNotFoundError:
            raise
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
            raise InvalidCertificate(
                f"invalid certificate: the file cannot be read ({error})."
            ) from error
    else:
        arrays = getattr(certificate, "arrays", certificate)
    checked = {}
    for kinds, ndim in ((_SCALARS, 0), (_VECTORS, 1)):
        for name, kind in kinds.items():
            _require(name in arrays, f"{name} is missing")
            array = np.asarray(arrays[name])
            _require(
                array.dtype.kind in kind and array.ndim == ndim,
                f"{name} has dtype {array.dtype} and {array.ndim} dimension(s)",
            )
            checked[name] = array
    unknown = set(arrays) - set(checked)
    _require(not unknown, f"unknown entries {sorted(unknown)}")
    _require(int(checked["format"]) == 1, f"unknown format {checked['format']}")
    _require(str(checked["checksum"]) == checksum(checked), "it was damaged or changed")
    return checked


def checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of all arrays but ``checksum`` itself, in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(set(arrays) - {"checksum"}):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _check_parameters(arrays: dict[str, np.ndarray]) -> None:
    n = arrays["costs"].size
    weights, costs = arrays["weights"], arrays["costs"]
    _require(np.isfinite(weights).all() and (weights >= 0).all(), "bad weights")
    _require(np.isfinite(costs).all() and (costs > 0).all(), "bad costs")
    _require(float(arrays["max_cost"]) >= 0, "bad max_cost")
    _require(int(arrays["max_features"]) >= 0, "bad max_features")
    for name in ("include", "exclude", "selected"):
        _require(_is_increasing_within(arrays[name], n), f"bad features in {name}")
    both = np.intersect1d(arrays["include"], arrays["exclude"])
    _require(both.size == 0, "include and exclude overlap")


def _is_increasing_within(values: np.ndarray, end: int) -> bool:
    values = values.astype(np.int64)
    return bool(
        (np.diff(values) > 0).all()
        and (values.size == 0 or (values[0] >= 0 and values[-1] < end))
    )


def _check_expected(arrays: dict[str, np.ndarray], expected: dict[str, Any]) -> None:
    expected = dict(expected)
    if "C" in expected or "sample_weight" in expected:
        weights = expected.pop("sample_weight", None)
        weights = np.ones(arrays["weights"].size) if weights is None else weights
        expected["weights"] = expected.pop("C", 1.0) * np.asarray(weights, dtype=float)
    allowed = {"weights", "max_features", "costs", "max_cost", "include", "exclude"}
    for name, value in expected.items():
        if name not in allowed | {"fit_intercept"}:
            raise TypeError(f"verify() has no parameter {name!r}.")
        _require(
            np.array_equal(np.asarray(value), arrays[name]),
            f"it is about a problem with another {name}",
        )


def _signed_data(
    arrays: dict[str, np.ndarray], X: Any, y: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, labels and weights of the samples that count; their fingerprint is checked."""
    data = np.asarray(X, dtype=np.float64)
    labels = np.asarray(y)
    if data.ndim != 2 or labels.shape != data.shape[:1]:
        raise ValueError(
            f"X must be a table and y have one label per row, got shapes {data.shape} "
            f"and {labels.shape}."
        )
    classes = np.unique(labels)
    if classes.size != 2:
        raise ValueError(f"y must have two classes, got {classes.size}.")
    weights = arrays["weights"]
    shape = (weights.size, arrays["costs"].size)
    _require(
        data.shape == shape, f"it is about data of shape {shape}, not {data.shape}"
    )
    kept = weights > 0
    signs = np.where(labels == classes[1], 1.0, -1.0)[kept]
    A = np.multiply(data[kept].T, signs, order="C")
    digest = hashlib.sha256(A.tobytes())
    digest.update(signs.tobytes())
    _require(
        digest.hexdigest() == str(arrays["fingerprint"]),
        "it is about other data (or differently scaled or ordered data)",
    )
    return A, signs, weights[kept]


# --- bounds --------------------------------------------------------------------------


class _Problem:
    """The problem, and what is needed of it to bound parts of it."""

    def __init__(self, A, signs, C, arrays):
        self.A, self.signs, self.C = A, signs, C
        self.has_intercept = bool(arrays["fit_intercept"])
        self.max_features = int(arrays["max_features"])
        self.costs = arrays["costs"]
        self.max_cost = float(arrays["max_cost"])
        self.include = arrays["include"].astype(np.int64)
        m = A.shape[1]
        largest = np.abs(A).max(axis=1)
        scaled = A / np.where(largest > 0, largest, 1.0)[:, None]
        self.norms = largest * np.sqrt((scaled**2).sum(axis=1)) * (1 + 4 * (m + 4) * U)
        # A constant feature can be replaced by the intercept, a zero one by nothing.
        unsigned = A * signs
        useless = ~A.any(axis=1)
        if self.has_intercept:
            useless |= (unsigned == unsigned[:, :1]).all(axis=1)
        self.free = ~useless
        self.free[self.include] = False
        self.free[arrays["exclude"].astype(np.int64)] = False

    def repair(self, alpha: np.ndarray) -> np.ndarray:
        """The point on a grid with exact sums, feasible in exact arithmetic."""
        alpha = np.minimum(alpha, self.C)
        largest = alpha.max()
        if largest == 0.0:
            return alpha
        # Every sum of at most m entries stays below 2^53 grid steps.
        exponent = np.ceil(np.log2(largest)) + np.ceil(np.log2(alpha.size + 1)) - 51
        grid = 2.0 ** max(exponent, -1000.0)
        steps = np.floor(alpha / grid).astype(np.int64)
        if self.has_intercept:
            excess = int((steps * self.signs.astype(np.int64)).sum())
            heavy = np.flatnonzero(self.signs == np.sign(excess))
            steps[heavy] = _take_away(steps[heavy], abs(excess))
        return steps * grid

    def squares(self, alpha: np.ndarray) -> np.ndarray:
        """Upper bounds of the exact ``c_j^2``."""
        m = alpha.size
        gamma = 2 * (m + 4) * U
        length = np.sqrt(alpha @ alpha) * (1 + gamma)
        size = np.abs(self.A @ alpha) + gamma * self.norms * length
        return size**2 * (1 + 16 * U) + 1e-300

    def bound(
        self, alpha: np.ndarray, squares: np.ndarray, forced: list[int],
        free: np.ndarray, fixings: np.ndarray,
    ) -> float:  # fmt: skip
        """Bound of a node, or, with fixings, of what these leave out."""
        k = self.max_features - len(forced)
        budget = self.max_cost * (1 + COST_SLACK) * (1 + 1e-12)
        if np.isfinite(budget):
            budget -= self.costs[forced].sum() * (1 - 1e-12)
        if k < 0 or budget < 0:
            return np.inf  # no support at all
        features = np.flatnonzero(free & (self.costs <= budget))
        values, costs = squares[features], self.costs[features]
        mu = _best_price(values, costs, k, budget) if np.isfinite(budget) else 0.0
        rest = _price_bound(values, costs, k, budget, mu)
        penalty = (squares[forced].sum() + rest) * (1 + 4 * squares.size * U)
        total = alpha.sum()  # exact
        bound = total - 0.5 * penalty
        if fixings.size:
            worth = np.sort(np.maximum(values - mu * costs, 0.0))[::-1]
            worth = np.append(worth, np.zeros(2 + max(0, k - worth.size)))
            last, following = (worth[k - 1] if k > 0 else np.inf), worth[k]
            bound += _least_gain(
                squares, self.costs, mu, budget, fixings, last, following
            )
        return bound - 64 * U * (total + penalty)


def _take_away(steps: np.ndarray, excess: int) -> np.ndarray:
    """Lower the entries by ``excess`` in total, in proportion where possible."""
    if excess == 0:
        return steps
    part = np.floor(steps * (excess / steps.sum())).astype(np.int64)
    part = np.minimum(part, steps)
    if part.sum() > excess:
        part[:] = 0
    left = steps - part
    # What proportions leave over is taken from the first entries.
    before = np.concatenate([[0], np.cumsum(left)[:-1]])
    return left - np.clip(excess - part.sum() - before, 0, left)


def _price_bound(values, costs, k, budget, mu):
    """``budget mu`` plus the k largest of ``max(0, values - mu costs)``."""
    reduced = np.maximum(values - mu * costs * (1 - 4 * U), 0.0) * (1 + 4 * U)
    largest = np.partition(reduced, -k)[-k:] if 0 < k < reduced.size else reduced
    charge = budget * mu if mu > 0.0 else 0.0
    return charge + (largest.sum() if k > 0 else 0.0)


def _best_price(values, costs, k, budget):
    """A mu that makes the bound good; any mu makes it valid."""
    low, high = 0.0, float((values / costs).max(initial=0.0))
    for _ in range(100):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if _price_bound(values, costs, k, budget, left) <= _price_bound(
            values, costs, k, budget, right
        ):
            high = right
        else:
            low = left
    return min(
        (0.0, low, high), key=lambda mu: _price_bound(values, costs, k, budget, mu)
    )


def _least_gain(squares, costs, mu, budget, fixings, last, following):
    """Least gain of the bound when one of the fixings is reversed."""
    gains = [np.inf]
    out = ~fixings[fixings < 0]
    out = out[costs[out] <= budget]  # others cannot be chosen anyway
    if out.size:
        worth = squares[out] - mu * costs[out]
        slack = 8 * U * (squares[out] + mu * costs[out])
        gains.append(0.5 * max(0.0, last - (worth + slack).max()))
    inside = fixings[fixings >= 0]
    if inside.size:
        worth = np.maximum(squares[inside] - mu * costs[inside], 0.0)
        gains.append(0.5 * max(0.0, worth.min() - following) * (1 - 8 * U))
    return min(gains)


def _objective(problem: _Problem, arrays: dict[str, np.ndarray]) -> float:
    """Objective of the solution, rounded up; its budgets and its claim are checked."""
    selected, coef = arrays["selected"].astype(np.int64), arrays["coef"]
    intercept = float(arrays["intercept"])
    _require(coef.size == selected.size, "coef and selected differ in length")
    _require(np.isfinite(coef).all() and np.isfinite(intercept), "coef is not finite")
    _require(problem.has_intercept or intercept == 0.0, "there must be no intercept")
    used = np.union1d(selected, problem.include)
    _require(used.size <= problem.max_features, "the solution uses too many features")
    cost = problem.costs[used].sum()
    _require(cost <= problem.max_cost * (1 + COST_SLACK), "the solution costs too much")
    excluded = np.intersect1d(selected, arrays["exclude"])
    _require(excluded.size == 0, "the solution uses excluded features")
    rows = problem.A[selected]
    margins = coef @ rows + intercept * problem.signs
    size = np.abs(coef) @ np.abs(rows) + abs(intercept) + 1.0
    losses = np.maximum(0.0, 1.0 - margins + 4 * (selected.size + 4) * U * size)
    value = 0.5 * (coef @ coef) + problem.C @ losses
    value *= 1 + 4 * (problem.C.size + selected.size + 4) * U
    claimed = float(arrays["objective"])
    _require(
        abs(value - claimed) <= CLAIM_TOL * abs(value),
        f"objective {claimed!r} is claimed, {float(value)!r} is recomputed",
    )
    return float(value)


# --- the tree ------------------------------------------------------------------------


class _Proof:
    """The nodes, their fixings and their dual points."""

    def __init__(self, problem: _Problem, arrays: dict[str, np.ndarray]):
        self.problem = problem
        self.samples = arrays["point_sample"].astype(np.int64)
        self.alpha = arrays["point_alpha"].astype(np.float64)
        self.point_start = self._starts(arrays, "point_start", self.samples.size)
        self.fixings = arrays["fixing"].astype(np.int64)
        self.fixing_start = self._starts(arrays, "fixing_start", self.fixings.size)
        self.feature = arrays["feature"].astype(np.int64)
        self.inside = arrays["inside"]
        self.point = arrays["point"].astype(np.int64)
        self.fixing_point = arrays["fixing_point"].astype(np.int64)
        size = self.point.size
        for name in ("parent", "feature", "inside", "fixing_point"):
            _require(arrays[name].size == size, f"{name} has another length than point")
        _require(self.fixing_start.size == size + 1, "fixing_start has a wrong length")
        _require(self.alpha.size == self.samples.size, "point_alpha has a wrong length")
        # NaN fails both comparisons.
        _require((self.alpha >= 0).all(), "point_alpha has negative entries")
        m, n = problem.C.size, problem.costs.size
        _require(((self.samples >= 0) & (self.samples < m)).all(), "bad point_sample")
        _require(
            ((self.fixings >= -n) & (self.fixings < n)).all(), "bad features in fixing"
        )
        self.children = self._children(arrays["parent"].astype(np.int64))
        self.n_leaves = 0

    @staticmethod
    def _starts(arrays: dict[str, np.ndarray], name: str, end: int) -> np.ndarray:
        starts = arrays[name].astype(np.int64)
        _require(
            starts.size > 0
            and starts[0] == 0
            and starts[-1] == end
            and (np.diff(starts) >= 0).all(),
            f"bad {name}",
        )
        return starts

    def _children(self, parent: np.ndarray) -> list[list[int]]:
        _require(parent.size > 0 and parent[0] == -1, "there is no root")
        later = np.arange(1, parent.size)
        _require(
            ((parent[1:] >= 0) & (parent[1:] < later)).all(),
            "a node comes before its parent",
        )
        children: list[list[int]] = [[] for _ in range(parent.size)]
        for node in range(1, parent.size):
            children[parent[node]].append(node)
        return children

    def smallest_bound(self) -> float:
        """Smallest bound of a leaf or fixing; the tree is checked along the way."""
        problem = self.problem
        smallest = np.inf
        stack = [(0, problem.include.tolist(), problem.free.copy())]
        while stack:
            node, forced, free = stack.pop()
            fixings = self._fixings(node, free)
            if fixings.size:
                alpha, squares = self._dual_point(self.fixing_point[node])
                bound = problem.bound(alpha, squares, forced, free, fixings)
                smallest = min(smallest, bound)
                forced = forced + fixings[fixings >= 0].tolist()
                free[np.where(fixings >= 0, fixings, ~fixings)] = False
            if not self.children[node]:
                self.n_leaves += 1
                alpha, squares = self._dual_point(self.point[node])
                bound = problem.bound(alpha, squares, forced, free, fixings[:0])
                smallest = min(smallest, bound)
                continue
            feature = self._split(node, free)
            free[feature] = False
            for child in self.children[node]:
                more = [feature] if self.inside[child] else []
                stack.append((child, forced + more, free.copy()))
        return float(smallest)

    def _fixings(self, node: int, free: np.ndarray) -> np.ndarray:
        fixings = self.fixings[self.fixing_start[node] : self.fixing_start[node + 1]]
        features = np.where(fixings >= 0, fixings, ~fixings)
        _require(
            free[features].all() and np.unique(features).size == features.size,
            f"node {node} fixes a feature that is already decided",
        )
        return fixings

    def _split(self, node: int, free: np.ndarray) -> int:
        """The feature by which the children of a node differ."""
        children = self.children[node]
        features = {int(self.feature[child]) for child in children}
        sides = sorted(bool(self.inside[child]) for child in children)
        _require(
            sides == [False, True] and len(features) == 1,
            f"the children of node {node} do not cover it",
        )
        feature = features.pop()
        _require(
            0 <= feature < free.size and free[feature],
            f"node {node} is split by a feature that is already decided",
        )
        return feature

    def _dual_point(self, point: int) -> tuple[np.ndarray, np.ndarray]:
        _require(
            0 <= point < self.point_start.size - 1, f"there is no dual point {point}"
        )
        part = slice(self.point_start[point], self.point_start[point + 1])
        alpha = np.zeros(self.problem.C.size)
        alpha[self.samples[part]] = self.alpha[part]
        alpha = self.problem.repair(alpha)
        return alpha, self.problem.squares(alpha)
