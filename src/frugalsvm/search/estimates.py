"""Second-order estimates of the objective after an addition or an exchange.

The price ``c_j^2`` of a feature at the optimal dual point gives the initial rate at
which the objective falls when the feature is added, not the total decrease. With few
samples, the features with the largest prices are seldom those that help most.

At a point of the central path, with a barrier of weight tau on ``0 <= alpha <= C``, the
dual is smooth: its Hessian on ``y'alpha = 0`` is ``-(1/theta + A_S'A_S)``, and
``theta`` the inverse of ``tau / alpha^2 + tau / (C - alpha)^2``. One more row ``a_j``
takes ``1/2 c_j^2 / (1 + q_j)`` from the maximum of its quadratic model, where
``q_j = a_j' P a_j`` and P is the inverse of that Hessian on the plane. If G has the
rows of the support and y, ``P = theta - theta G' K^-1 G theta`` and ``K = G theta G' +
diag(1, ..., 1, 0)``.

If row j of the support is removed as well, both changes together give a quadratic in
two unknowns, whose maximum reflects whether one feature can replace the other: ``q_jk =
a_j' P a_k`` is entry j of ``K^-1 G theta a_k``, and ``q_jj = 1 - (K^-1)_jj``.

A rough solution is such a point and takes only a few iterations.

Features of several columns have vectors and matrices in place of these numbers. Signs
of weights enter by the products only: a product of the wrong sign counts as zero.
Machines that share their features are independent for fixed features, so that their
gains and losses add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.columns import smallest
from ..engine.protocol import SupportSVM
from ..engine.work import product_work
from ..problem.problem import Problem
from .parameters import SearchParameters

# Entries of the rows of features that are multiplied at a time.
ENTRIES = 2**22


class QuadraticModel(NamedTuple):
    """The quadratic model at a rough solution, for some features.

    Attributes
    ----------
    c : array (q,)
        Products of the columns of the features with alpha.
    curvatures : array (q,)
        The ``q_k``.
    support_c : array (p,)
        Products of the columns of the support with alpha.
    inverse : array (p, p)
        The inverse of K, for the columns of the support.
    shared : array (p, q)
        ``q_jk = a_j' P a_k``, j in the support.
    rows : array (q, m)
        The rows of the features.
    crossed : pair of arrays
        ``G theta a_k`` and ``K^-1 G theta a_k``, as columns.
    theta : array (m,)
    """

    c: np.ndarray
    curvatures: np.ndarray
    support_c: np.ndarray
    inverse: np.ndarray
    shared: np.ndarray
    rows: np.ndarray
    crossed: tuple[np.ndarray, np.ndarray]
    theta: np.ndarray

    def between(self, columns: np.ndarray) -> np.ndarray:
        """``a_j' P a_k`` for all pairs of columns of each feature."""
        crossed, solved = self.crossed
        explained = crossed.T[columns] @ solved.T[columns].swapaxes(1, 2)
        products = np.empty_like(explained)
        # In parts: there may be many samples.
        step = max(1, ENTRIES // (columns.shape[1] * self.theta.size))
        for first in range(0, len(columns), step):
            rows = self.rows[columns[first : first + step]]
            products[first : first + step] = (rows * self.theta) @ rows.swapaxes(1, 2)
        return products - explained


def addition_gains(
    problem: Problem, support: np.ndarray, features: np.ndarray
) -> np.ndarray:
    """Expected decrease of the objective after adding each of the features.

    Features beyond the shortlist get tiny gains, in the order of their prices.
    """
    parameters = problem.parameters(SearchParameters).estimates
    roughs = [
        _Rough.of(machine, support, parameters.rough_tol)
        for machine in problem.machines
    ]
    prices = _total([rough.prices for rough in roughs])[features]
    gains = np.finfo(float).eps * prices
    shortlist = _shortlist(prices, parameters.estimated)
    gains[shortlist] = _total([_gains(rough, features[shortlist]) for rough in roughs])
    return gains


def exchange_losses(
    problem: Problem,
    support: np.ndarray,
    features: np.ndarray,
    twins: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Expected increase of the objective for each exchange.

    Returns
    -------
    features : array (q,)
        The features with the largest prices, and the twins among all features.
    losses : array (p, q)
        For each leaving feature of the support and each entering feature.
    """
    parameters = problem.parameters(SearchParameters).estimates
    roughness = min(
        parameters.max_roughness,
        parameters.roughness_rate * problem.n_samples / max(support.size, 1),
    )
    roughs = [_Rough.of(machine, support, roughness) for machine in problem.machines]
    prices = _total([rough.prices for rough in roughs])[features]
    shortlist = _shortlist(prices, parameters.exchanged)
    if twins is not None and features.size > shortlist.size:
        positions = np.flatnonzero(np.isin(features, twins))
        shortlist = np.append(shortlist, np.setdiff1d(positions, shortlist))
    features = features[shortlist]
    losses = [_losses(rough, features, roughness) for rough in roughs]
    return features, _total(losses)


class _Rough(NamedTuple):
    """A rough solution of a machine, and the prices of the features there.

    Attributes
    ----------
    problem : Problem
    support : integer array
    svm : SupportSVM
    products : array (n_columns,)
        Products of the columns with its dual point, as far as signs admit them.
    prices : array (n_features,)
    """

    problem: Problem
    support: np.ndarray
    svm: SupportSVM
    products: np.ndarray
    prices: np.ndarray

    @classmethod
    def of(cls, problem: Problem, support: np.ndarray, tol: float) -> _Rough:
        """Solve the SVM on a support roughly."""
        svm = problem.engine.solve_svm(support, tol=tol)
        products = problem.columns.admitted(problem.engine.products(svm.alpha))
        prices = problem.columns.squares(products)
        return cls(problem, support, svm, products, prices)

    def model(self, features: np.ndarray, gap: float) -> QuadraticModel:
        """The quadratic model for a gap."""
        theta = _theta(self.problem.C, self.svm.alpha, gap)
        return _model(self.problem, self.support, features, self.products, theta)


def _total(parts: list[np.ndarray]) -> np.ndarray:
    """The sum over machines."""
    return sum(parts[1:], start=parts[0])


def _gains(rough: _Rough, features: np.ndarray) -> np.ndarray:
    """Expected gains of one machine from features."""
    problem, svm = rough.problem, rough.svm
    parameters = problem.parameters(SearchParameters).estimates
    gap = max(svm.primal - svm.dual, parameters.min_gap * svm.primal)
    model = rough.model(features, parameters.smoothing * gap)
    if not problem.columns.has_groups:
        return 0.5 * rough.prices[features] / (1.0 + model.curvatures)
    # ``1/2 c' (I + A P A')^-1 c`` of each feature.
    blocks = Blocks(problem.columns.sizes[features])
    c = blocks.vectors(model.c)
    solved = np.linalg.solve(_block_curvatures(model, blocks), c[:, :, np.newaxis])
    return 0.5 * np.einsum("kd,kd->k", c, solved[:, :, 0])


def _losses(rough: _Rough, features: np.ndarray, roughness: float) -> np.ndarray:
    """Expected losses of one machine from exchanges with features."""
    columns = rough.problem.columns
    model = rough.model(features, roughness * rough.svm.primal)
    if columns.has_groups:
        sizes = columns.sizes
        return _group_losses(
            model, Blocks(sizes[rough.support]), Blocks(sizes[features])
        )
    # The solution of a symmetric system of two equations for each exchange.
    c_out, c_in = model.support_c[:, np.newaxis], model.c
    q_out = -model.inverse.diagonal()[:, np.newaxis]
    q_in = 1.0 + model.curvatures
    determinant = q_out * q_in - model.shared**2
    change = c_out**2 * q_in - 2.0 * c_out * c_in * model.shared + c_in**2 * q_out
    return -0.5 * change / determinant


def _shortlist(prices: np.ndarray, count: int) -> np.ndarray:
    """The positions of the largest prices."""
    if prices.size <= count:
        return np.arange(prices.size)
    return np.argpartition(-prices, count)[:count]


def _model(
    problem: Problem,
    support: np.ndarray,
    features: np.ndarray,
    products: np.ndarray,
    theta: np.ndarray,
) -> QuadraticModel:
    engine, parameters = problem.engine, problem.parameters(SearchParameters).estimates
    columns, support_columns = problem.columns.of(features), problem.columns.of(support)
    rows, support_rows = engine.signed_rows(features), engine.signed_rows(support)
    if problem.fit_intercept:
        support_rows = np.vstack([support_rows, problem.y])
    moving = np.flatnonzero(theta > parameters.min_theta * theta.max(initial=0.0))
    if moving.size < parameters.max_moving * theta.size:
        rows, support_rows = (
            np.take(rows, moving, axis=1),
            np.take(support_rows, moving, axis=1),
        )
        theta = theta[moving]
    scaled = support_rows * theta
    K = scaled @ support_rows.T
    diagonal = np.arange(K.shape[0])
    # The tiny term keeps the row of y positive if all samples are at their bounds.
    K[diagonal, diagonal] *= 1.0 + 1e-12
    K[diagonal, diagonal] += np.finfo(float).tiny
    size = support_columns.size
    K[diagonal[:size], diagonal[:size]] += 1.0
    inverse = np.linalg.inv(K)
    crossed = scaled @ rows.T
    solved = inverse @ crossed
    curvatures = (rows * rows) @ theta - np.einsum("ij,ij->j", crossed, solved)
    return QuadraticModel(
        products[columns],
        np.maximum(curvatures, 0.0),
        products[support_columns],
        inverse[:size, :size],
        solved[:size],
        rows,
        (crossed, solved),
        theta,
    )


class Blocks:
    """The columns of several features as blocks of equal size.

    Parameters
    ----------
    sizes : integer array (q,)
        Number of columns of each feature.

    Attributes
    ----------
    columns : integer array (q, d)
        Positions of the columns of each feature; the last is repeated up to d.
    is_real : boolean array (q, d)
        Which of them are not repetitions.
    """

    def __init__(self, sizes: np.ndarray):
        within = np.arange(sizes.max(initial=1))
        first = (np.cumsum(sizes) - sizes)[:, np.newaxis]
        last = sizes[:, np.newaxis] - 1
        self.columns = first + np.minimum(within, last)
        self.is_real = within <= last

    def vectors(self, values: np.ndarray) -> np.ndarray:
        """The values of each feature's columns, zero for repetitions."""
        return np.where(self.is_real, values[self.columns], 0.0)

    def masked(self, matrices: np.ndarray) -> np.ndarray:
        """Square matrices, zero for repetitions but for their diagonal."""
        both = self.is_real[:, :, np.newaxis] & self.is_real[:, np.newaxis, :]
        return np.where(both, matrices, 0.0)


def _block_curvatures(model: QuadraticModel, blocks: Blocks) -> np.ndarray:
    """``I + A P A'`` of each feature."""
    matrices = blocks.masked(model.between(blocks.columns))
    t = np.arange(matrices.shape[-1])
    # The ridge keeps large matrices regular, in which the 1 is lost.
    matrices[:, t, t] += 1.0 + 1e-10 * np.abs(matrices).max(axis=2)
    return matrices


def _group_losses(
    model: QuadraticModel, outgoing: Blocks, entering: Blocks
) -> np.ndarray:
    """The losses of exchanges: a small system for each leaving and entering feature."""
    curvatures, c = _block_curvatures(model, entering), entering.vectors(model.c)
    losses = np.empty((len(outgoing.columns), len(entering.columns)))
    pairs = zip(outgoing.columns, outgoing.is_real, strict=True)
    for j, (columns, is_real) in enumerate(pairs):
        leaving = columns[is_real]
        size = leaving.size
        system = np.empty((len(c), size + c.shape[1], size + c.shape[1]))
        system[:, :size, :size] = -model.inverse[np.ix_(leaving, leaving)]
        both = model.shared[leaving][:, entering.columns]
        both = np.where(entering.is_real, both, 0.0).swapaxes(0, 1)
        system[:, :size, size:], system[:, size:, :size] = both, both.swapaxes(1, 2)
        system[:, size:, size:] = curvatures
        right = np.hstack([np.tile(model.support_c[leaving], (len(c), 1)), c])
        solved = np.linalg.solve(system, right[:, :, np.newaxis])[:, :, 0]
        losses[j] = -0.5 * np.einsum("kd,kd->k", right, solved)
    return losses


def _theta(C: np.ndarray, alpha: np.ndarray, gap: float) -> np.ndarray:
    """Inverse curvature of the barrier for a gap, by sample."""
    tau = gap / (2 * C.size)
    if tau <= 0.0:
        return np.zeros(C.size)
    # At a minimum distance from the bounds.
    alpha = np.clip(alpha, 1e-9 * C, (1.0 - 1e-9) * C)
    slack = C - alpha
    return (alpha * slack) ** 2 / (tau * (alpha**2 + slack**2))


# --- Twins: features that are highly correlated with a feature and may replace it -----
#
# The price of a twin is small while its feature is in the support, since they explain
# the same samples. So exchanges ranked among the features with the largest prices do
# not include those of a feature for its twins, however much better these are.


class Twins:
    """The twins of features, each computed once, by one product with the data.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    is_used : bool
        Whether there are features beyond those with the largest prices.
    paid : set of int
        Features whose product has been counted as work. It only changes between the
        descents that share it, so that their work does not depend on timing.
    """

    def __init__(self, problem: Problem):
        # Whether features are correlated does not depend on labels.
        problem = problem.machines[0]
        parameters = problem.parameters(SearchParameters).estimates
        self._problem = problem
        self._least = parameters.min_correlation
        most = parameters.twins
        self._most = max(1, most // max(problem.max_features, 1)) if most else 0
        is_wide = problem.candidates.size > parameters.exchanged
        self.is_used = is_wide and problem.source is None and self._most > 0
        # Features of several columns have no correlation.
        self.is_used &= not problem.columns.has_groups
        self.paid: set[int] = set()
        self._twins: dict[int, np.ndarray] = {}
        self._scales: np.ndarray | None = None

    def of(self, feature: int) -> np.ndarray:
        """The most correlated admissible features, best first."""
        if not self.is_used:
            return np.empty(0, dtype=np.int64)
        if feature not in self._twins:
            self._twins[feature] = self._search(feature)
        return self._twins[feature]

    def work(self) -> float:
        """The work of finding the twins of a feature."""
        return product_work(self._problem.engine) if self.is_used else 0.0

    def _search(self, feature: int) -> np.ndarray:
        problem = self._problem
        if self._scales is None:
            self._scales = _deviations(problem)
        row = problem.engine.signed_rows(np.array([feature]))[0] * problem.y
        products = problem.engine.products(problem.y * (row - row.mean()))
        correlations = np.zeros(problem.n_features)
        scales = self._scales * self._scales[feature]
        np.divide(products, scales, out=correlations, where=scales > 0.0)
        candidates = problem.candidates[problem.candidates != feature]
        strengths = np.abs(correlations[candidates])
        best = smallest(-strengths, self._most)
        return candidates[best[strengths[best] >= self._least]]


def _deviations(problem: Problem) -> np.ndarray:
    """The norms of all features, centred; zero for features that hardly vary."""
    engine = problem.engine
    squares = np.empty(problem.n_features)
    # A few rows at a time.
    for first in range(0, problem.n_features, 256):
        chunk = np.arange(first, min(first + 256, problem.n_features))
        rows = engine.signed_rows(chunk)
        squares[chunk] = np.einsum("ij,ij->i", rows, rows)
    centred = squares - engine.products(problem.y) ** 2 / problem.n_samples
    return np.sqrt(np.where(centred > 1e-9 * squares, centred, 0.0))
