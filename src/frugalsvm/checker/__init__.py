"""verify: check the proof of a lower bound without trusting anything in it.

This package imports nothing from the solver. A certificate is a tree. Its root stands
for all feasible supports. A node may *fix* features: it claims that supports with a
feature that is fixed out, or without one that is fixed in, are no better than some
bound. Then it is split on one feature into the supports with and without it, or it is a
leaf. So fixings and leaves together cover every support, and the smallest of their
bounds is a lower bound of the optimum. Each is recomputed from a dual point alpha: if
0 <= alpha <= C and, with an intercept, y alpha = 0, then

    1'alpha - 1/2 [ sum of c_j^2 over forced j + the k largest c_j^2 over free j ]

with c = A alpha, A_ji = y_i x_ij, bounds the objective of every support that contains
the forced features and at most k free ones. A cost budget Q has a multiplier mu >= 0,
the price: then "k largest" is of max(0, c_j^2 - mu cost_j), plus Q mu. Any mu is valid.

A feature is a column of X or a group of columns, which then stands in place of c_j^2
with the sum of its squares: some of its weights may be nonzero if it is in the support.
If a weight may not be negative (positive), the square is of max(0, c_j) (min(0, c_j)).

With K > 2 classes the objective is the sum of those of K SVMs, the machines: machine k
has +1 for class k (in the order of the labels) and -1 for all others. Samples and C_i
are the same for all, each has weights and an intercept of its own, and a support is the
features with a weight that is not zero in any of them. For a given support they are
independent. So a dual point is an alpha for each machine, feasible there, and 1'alpha
and c_j^2 are sums over all machines.

Arithmetic: alpha is rounded to a grid on which sums are exact (the same for all
machines) and the classes balance exactly (in each machine); products have an error
bound that holds for any order of summation; every other rounding error is covered by a
factor. NaN means rejection.

File: ``.npz`` with the arrays

* ``format``, which is 1;
* ``fingerprint`` (SHA-256 of A and y in double precision, samples of weight zero
  omitted: see ``statement.fingerprint``), ``weights`` (C_i of all samples),
  ``fit_intercept``, ``max_features``, ``costs``, ``max_cost``, ``include``,
  ``exclude``: the problem;
* ``selected``, ``coef`` (a weight for each column of the selected features, one feature
  after the other), ``intercept``, ``objective``, ``lower_bound``: the claim;
* ``parent``, ``feature``, ``inside``, ``point``, ``price``: one entry per node, parents
  first; ``point`` is the dual point of a leaf and -1 otherwise, ``price`` its mu;
* ``fixing_point``, ``fixing_price``, ``fixing_start``, ``fixing``: features fixed at
  each node, j for in and ~j for out, with one dual point and price for all of them;
* ``point_full``, ``point_between``, ``point_steps``, ``point_grid``: packed dual
  points, see below;
* ``checksum``: SHA-256 of all of the above and below, to detect damage but not forgery.

A packed dual point has a bit for each sample that is at C_i, in ``point_full``, and one
for each that is neither there nor at zero, in ``point_between``: M bits, for the M
samples of positive weight (of all machines), in the fewest bytes. The first sample has
the highest bit of the first byte; bits of no sample are zero. Each sample between has a
32-bit integer above zero in ``point_steps``, one point after the other, and alpha is
that times ``2 ** point_grid``, one exponent from -1000 to 900 per point. Alpha above
C_i means C_i. Bytes and steps have no sign. The integers of a file may have 64 bits
instead, for problems with a huge C or huge data. The solver packs a point first, and
then claims what the packed one proves.

Optional sections, of which a file has all entries or none:

* a list, see below;
* a refit: the SVM on the features ``selected`` or ``include``, with other weights of
  the loss: ``refit_weights`` (like ``weights``), ``refit_coef``,
  ``refit_intercept``, ``refit_objective``, ``refit_lower_bound``, and a dual point
  without its zeros, ``refit_sample`` and ``refit_alpha``;
* a scaling: ``mean`` and ``scale`` of all columns. The problem and the fingerprint are
  about ``(X - mean) / scale``, so that X is passed as it was passed to the fit. The
  scaling must standardise X, or be the one that the user expects. A file with a
  ``preparation`` has none;
* feature groups: ``groups``, the feature of each column of X. Features are numbered
  from zero in the order of their first columns. Budgets, costs, supports and the tree
  are in features; without this section, each column is one;
* signs: ``signs``, for each column of X 1 if its weight may not be negative, -1 if it
  may not be positive, 0 if it is free. Weights are those of the score for +1;
* several classes: ``n_classes``, at least 3, and ``intercepts``, one for each machine;
  ``intercept`` is zero, and there are no signs. ``coef`` has all weights of the first
  machine, then all of the second, and so on; so has ``refit_coef``, and
  ``listed_coef`` for each set. ``listed_intercept`` has K numbers for each set. With a
  refit there is also ``refit_intercepts``, and ``refit_intercept`` is zero. Sample i of
  the m of positive weight is number k m + i in machine k (in dual points and
  ``refit_sample``), where k counts from 0. ``fingerprint`` is that of X in place of A,
  and of the classes 0, 1, ..., K - 1 as doubles in place of y. Each class has a sample
  of positive weight.

Groups, signs, several classes and the scaling are part of the problem: they are printed
with it, and groups and signs are compared with what the user expects (the classes are
those of y). A file with any other entry is rejected.

A certificate may also prove that a list of sets of features is complete, with the
arrays ``listed_start``, ``listed_feature``, ``listed_coef``, ``listed_intercept``,
the sets with weights for each, and ``threshold``, the claim. A leaf counts as listed if
all its supports are subsets of one listed set (and ``listing`` finds that set within
its work limit; otherwise the threshold is lower). The smallest bound of all other
leaves and of the fixings is a threshold, and no choice of features below it is missing
from the list. The objectives of listed sets are recomputed from their weights.

The array ``preparation`` is optional: bytes that describe how the numbers were computed
from a table (the command line writes JSON). The checksum covers it, but it is otherwise
ignored here: the proof is about the numbers in X and y.

``reading`` rejects files that are damaged or too large, ``statement`` holds the
problem, ``columns`` its groups and signs and ``scaling`` its units, ``table`` reads
large and sparse data in blocks, ``points`` unpacks dual points and adds up the machines
(one for two classes), ``arithmetic`` does the directed rounding, ``proof`` checks the
tree and the refit, ``listing`` the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .arithmetic import objective_bound
from .listing import Alternatives, Listed
from .points import Machines, PackedPoint, pack, unpack
from .proof import COST_SLACK, ProofData, ProofTree, VerifiedRefit, check_refit
from .reading import (
    CLAIM_TOL,
    FORMAT,
    InvalidCertificate,
    Size,
    check_objective,
    check_proved,
    checksum,
    read_arrays,
    require,
    save_arrays,
)
from .scaling import standard_units
from .statement import (
    Statement,
    check_data,
    check_limits,
    fingerprint,
    intercepts_of,
    loss_in_words,
)
from .table import DataMatrix, SparseColumns, standardised

__all__ = [
    "FORMAT",
    "Alternatives",
    "InvalidCertificate",
    "PackedPoint",
    "SparseColumns",
    "Statement",
    "Verification",
    "VerifiedRefit",
    "checksum",
    "fingerprint",
    "objective_bound",
    "pack",
    "read_arrays",
    "save_arrays",
    "standard_units",
    "unpack",
    "verify",
]


@dataclass(frozen=True)
class Verification:
    """The bounds that a certificate proves.

    Attributes
    ----------
    objective : float
        Upper bound of the optimum: the recomputed objective of the solution.
    lower_bound : float
        Lower bound of the optimum: the smallest recomputed bound.
    gap : float
        ``(objective - lower_bound) / objective``.
    problem : Statement
        The problem that the bounds refer to: budgets, C, forced and excluded features,
        feature groups, signs, number of classes and scaling.
    selected : ndarray of int
        The features of the solution; ``selected_columns`` are their columns if
        features are groups of them.
    n_nodes, n_leaves, n_fixings : int
        Size of the proof.
    refit : VerifiedRefit or None
        The bounds of the weights of the model, if they were computed with another C
        than the one that selected the features.
    alternatives : Alternatives or None
        The proof about other choices of features, if the certificate has a list.
    """

    objective: float
    lower_bound: float
    gap: float
    problem: Statement
    selected: np.ndarray
    n_nodes: int
    n_leaves: int
    n_fixings: int
    alternatives: Alternatives | None = None
    refit: VerifiedRefit | None = None

    @property
    def selected_columns(self) -> np.ndarray:
        """The columns of the features of the solution, in increasing order."""
        return np.sort(self.problem.columns.of(self.selected))

    def __str__(self) -> str:
        return (
            f"proved: {self.lower_bound:.9g} <= optimum <= {self.objective:.9g} "
            f"(gap {100 * self.gap:.3g} %) by {self.n_leaves:,} "
            f"{'leaf' if self.n_leaves == 1 else 'leaves'} and "
            f"{self.n_fixings:,} fixing{'s' * (self.n_fixings != 1)}"
            f"{self._list()}\nfor: {self.problem}{self._refit()}"
        )

    def _refit(self) -> str:
        if self.refit is None:
            return ""
        refit, plural = self.refit, "s" * (self.selected.size != 1)
        return (
            f"\nproved: {refit.lower_bound:.9g} <= optimum on these "
            f"{self.selected.size:,} feature{plural} <= {refit.objective:.9g} "
            f"(gap {100 * refit.gap:.3g} %)\nfor: the weights of the model, "
            f"{loss_in_words(refit.weights)}"
        )

    def _list(self) -> str:
        if self.alternatives is None:
            return ""
        threshold = self.alternatives.threshold
        if np.isinf(threshold):
            return (
                f"\nand: every choice of features is one of the "
                f"{len(self.alternatives.supports):,} listed, or a subset of one"
            )
        excess = 100 * (threshold / self.objective - 1) if self.objective > 0 else 0.0
        return (
            f"\nand: every choice of features other than the "
            f"{len(self.alternatives.supports):,} listed and their subsets has an "
            f"objective of at least {threshold:.9g} ({excess:+.3g} %)"
        )


def verify(certificate: Any, X: Any, y: Any, **expected: Any) -> Verification:
    """Check a certificate against its data and its problem.

    Parameters
    ----------
    certificate : path, Certificate or mapping of arrays
        As written by ``Result.save_certificate``.
    X : array-like or sparse matrix of shape (n_samples, n_columns)
        The data the model was fitted to, as they were given to the fit.
    y : array-like of shape (n_samples,)
        Labels of the classes. Of two, the larger label counts as +1; of more, each
        counts as +1 against all others.
    **expected
        The problem you expect: ``C``, ``refit_C``, ``sample_weight``, ``class_weight``,
        ``max_features``, ``costs``, ``max_cost``, ``include``, ``exclude``,
        ``fit_intercept``, ``feature_groups`` (a label for each column) and ``signs``
        (-1, 0 or 1 for each column), as they were passed to the fit; None means what it
        means there. Features are numbered in the order of their first columns.
        Parameters that are left out are taken from the file, so check
        ``Verification.problem`` to see for which problem the bounds are proved.

        ``scaling`` is None if the problem must be about X as it is, "standard" if it
        must be about the standardised columns (weighted by ``sample_weight`` if that is
        given; constant columns have scale 1), or the pair of arrays (mean, scale).
        Without it, a file with a scaling is rejected unless that is "standard".

    Returns
    -------
    Verification

    Raises
    ------
    InvalidCertificate
        If the certificate is damaged, is for other data or another problem, or does
        not prove what it claims.
    """
    # Overflow is detected below; the caller's NumPy settings must not make it an error.
    with np.errstate(all="ignore"):
        return _verify(certificate, X, y, expected)


def _verify(certificate: Any, X: Any, y: Any, expected: dict[str, Any]) -> Verification:
    data, classes = check_data(X, y)
    size: Any = data.shape
    arrays = read_arrays(certificate, Size(*size))
    statement = Statement.of(arrays).checked(
        expected, data, y, arrays.get("refit_weights")
    )
    if statement.scaling is not None:
        data = standardised(data, statement.scaling.units)
        check_limits(data)
    machines = _machines(statement, data, classes)
    require(
        str(arrays["fingerprint"]) == machines.fingerprint(),
        "it is for other data (or the data are scaled or ordered differently)",
    )
    C = statement.weights[statement.weights > 0]
    objective_with = partial(_objective, statement, machines)
    objective_of = partial(objective_with, C)
    objective = objective_of(arrays["selected"], arrays["coef"], intercepts_of(arrays))
    check_objective("objective", arrays, objective)
    claimed = float(arrays["lower_bound"])
    require(
        claimed <= objective * (1 + CLAIM_TOL),
        f"lower_bound {claimed!r} is claimed, above the objective {objective!r}",
    )
    samples = ProofData(statement, machines, C)
    listed = Listed(
        arrays, statement.n_features, statement.columns, statement.n_machines
    )
    proof = ProofTree(samples, arrays, listed)
    lower_bound, threshold = proof.smallest_bound(), proof.threshold
    check_proved("lower_bound", arrays, lower_bound)
    # Cannot happen unless this package has a bug; then nothing is proved.
    require(
        lower_bound <= objective,
        f"the bound {lower_bound!r} exceeds the objective {objective!r}",
    )
    alternatives = None
    if "threshold" in arrays:
        check_proved("threshold", arrays, threshold)
        solutions = zip(listed.supports, listed.coefs, listed.intercepts, strict=True)
        objectives = np.array([objective_of(*solution) for solution in solutions])
        alternatives = Alternatives(listed.supports, objectives, threshold)
    refit = None
    if "refit_coef" in arrays:
        refit = check_refit(arrays, statement, machines, objective_with)
    gap = (objective - lower_bound) / objective if objective > 0 else 0.0
    return Verification(
        objective, lower_bound, gap, statement, arrays["selected"].copy(),
        arrays["parent"].size, proof.n_leaves, arrays["fixing"].size, alternatives,
        refit,
    )  # fmt: skip


def _machines(
    statement: Statement, data: np.ndarray | DataMatrix, classes: np.ndarray
) -> Machines:
    """The SVMs of the problem, on the samples of positive weight."""
    n_classes = int(classes.max()) + 1
    require(
        statement.n_classes == n_classes,
        f"it is for {statement.n_classes:,} classes, but y has {n_classes:,}",
    )
    is_used = statement.weights > 0
    classes = classes[is_used]
    empty = n_classes - np.unique(classes).size
    require(
        not empty,
        f"{empty:,} of {n_classes:,} classes have no sample of positive weight",
    )
    table = data[is_used]
    rows = (
        table.as_rows()
        if isinstance(table, DataMatrix)
        else np.ascontiguousarray(table.T)
    )
    return Machines(rows, classes, n_classes)


def _objective(
    statement: Statement,
    machines: Machines,
    C: np.ndarray,
    selected: np.ndarray,
    coef: np.ndarray,
    intercepts: np.ndarray,
) -> float:
    """Objective of a solution, rounded up, after a check of its budgets."""
    require(
        statement.fit_intercept or not intercepts.any(),
        "the solution has an intercept, but the problem has none",
    )
    features = np.union1d(selected, statement.include)
    require(
        features.size <= statement.max_features, "the solution uses too many features"
    )
    cost = float(statement.costs[features].sum())
    most = statement.max_cost * (1 + COST_SLACK)
    require(cost <= most, "the solution exceeds max_cost")
    excluded = np.intersect1d(selected, statement.exclude)
    require(excluded.size == 0, "the solution uses excluded features")
    columns = statement.columns.of(selected)
    require(
        coef.size == columns.size * machines.count,
        "coef does not have one weight for each column of the selected features"
        + " and each class" * (machines.count > 1),
    )
    statement.columns.check_weights(columns, coef)
    value = machines.objective(C, columns, coef, intercepts)
    require(np.isfinite(value), "the objective is not finite")
    return value
