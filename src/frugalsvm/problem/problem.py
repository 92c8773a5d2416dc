"""Problem: the data, the loss and the constraints of FS-SVM.

min 1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i (w x_i + b))
s.t. ||w||_0 <= max_features,  sum_{w_j != 0} cost_j <= max_cost,
     w_j = 0 for excluded features; included features count against both budgets

A feature is a column of X, or a group of columns that count as one: it is used if any
of its weights is not zero. Weights may be limited in sign. Several machines, SVMs with
labels of their own, may share their features: the objective is the sum of theirs.

It is validated once and then immutable. A run adds a :class:`RunContext`: a stop flag,
threads, and parameters of its algorithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ..checker import SparseColumns
from ..engine.column_generation import ColumnGenerationEngine
from ..engine.columns import Columns
from ..engine.native import NativeEngine, SharedEngine
from ..engine.parameters import EngineParameters
from ..engine.protocol import Region
from ..engine.tall import draw, native_engine
from ..kernels.data import Data
from .constraints import Constraints, HingeLoss
from .data import SignedData, StackedData
from .parts import NO_RUN, Parts
from .sources import check_room, dense, is_for_source
from .validation import (
    check_data,
    check_groups,
    check_labels,
    check_shape,
    check_signs,
    freeze,
)


class Problem(Parts):
    """An instance of FS-SVM.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_columns)
        Real data of at most 1e50 in absolute value. They are not scaled. Sparse
        matrices and large tables of more than 1000 features (2^26 doubles, or 2^22
        entries of another type or of a ``numpy.memmap``) are not copied; do not modify
        them while the problem is in use.
    y : array-like of shape (n_samples,) or (n_samples, n_machines)
        Labels in {-1, +1}; both must occur. A column of labels for each of several
        machines that share their features; weights and C are the same for all.
    C : float, default=1.0
        Weight of the hinge loss.
    sample_weight : array-like of shape (n_samples,), default=None
        Multipliers of C, one per sample. Samples of weight zero are dropped; otherwise
        C times the weight must lie between 1e-30 and 1e30.
    max_features : int, default=None
        Maximum number of features; None for no limit.
    feature_costs : array-like of shape (n_features,), default=None
        Positive cost of each feature, between 1e-50 and 1e50.
    max_cost : float, default=None
        Maximum total cost of the features used; needs ``feature_costs``.
    include, exclude : iterables of int, default=()
        Features that are always selected (and count against the budgets), and features
        that are never selected.
    fit_intercept : bool, default=True
        Whether the intercept b is free or zero.
    feature_groups : array-like of shape (n_columns,), default=None
        A label for each column of X; columns of the same label are one feature.
        Features are numbered in the order in which their labels occur, and
        ``max_features``, costs, include and exclude refer to them. By default each
        column is a feature.
    signs : array-like of shape (n_columns,), default=None
        1 for weights that may not be negative, -1 for weights that may not be positive,
        0 for free ones.
    overwrite_X : bool, default=False
        Whether X may be overwritten. This avoids a copy if X is an array of doubles in
        Fortran order and no sample has weight zero.

    Attributes
    ----------
    data : SignedData
        Features and labels of the samples of positive weight.
    loss : HingeLoss
    constraints : Constraints
    columns : Columns
        The columns of X that each feature consists of, and their signs.
    context : RunContext
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        C: float = 1.0,
        sample_weight: ArrayLike | None = None,
        max_features: int | None = None,
        feature_costs: ArrayLike | None = None,
        max_cost: float | None = None,
        include: Iterable[int] = (),
        exclude: Iterable[int] = (),
        fit_intercept: bool = True,
        feature_groups: ArrayLike | None = None,
        signs: ArrayLike | None = None,
        overwrite_X: bool = False,
    ):
        # A single column is like a vector of labels.
        is_shared = np.ndim(y) == 2 and np.shape(y)[1] != 1
        in_place = is_for_source(X) and not is_shared
        table: Any = check_shape(X) if in_place else check_data(dense(X))
        n_samples, n_columns = table.shape
        groups, n_features = check_groups(feature_groups, n_columns)
        columns = Columns.of_groups(groups, check_signs(signs, n_columns), n_features)
        labels = check_labels(y, n_samples)
        if is_shared and columns.has_signs:
            raise ValueError(
                "signs are for one column of labels; leave signs out, or solve a "
                "problem for each column."
            )
        self.columns = columns.repeated(labels.shape[1]) if is_shared else columns
        self.loss = HingeLoss.of(C, sample_weight, n_samples)
        mask = self.loss.is_positive
        labels = freeze(labels[mask])
        if not (mask.any() and (np.ptp(labels, axis=0) > 0).all()):
            raise ValueError(
                "y has only one class among the samples of positive weight; a "
                "classifier needs samples of both classes with sample_weight > 0."
            )
        if is_shared:
            self.data = StackedData.copied(
                table, labels, mask, bool(fit_intercept), columns
            )
        elif in_place:
            self.data = SignedData.in_place(table, labels, mask, bool(fit_intercept))
        else:
            overwrite = overwrite_X and table is X
            self.data = SignedData.copied(
                table, labels, mask, bool(fit_intercept), overwrite
            )
        self.constraints = Constraints.of(
            n_features, max_features, feature_costs, max_cost, include, exclude
        )
        self.context = NO_RUN

    # --- derived ---------------------------------------------------------------------

    @cached_property
    def candidates(self) -> np.ndarray:
        """Features that may be chosen freely, in increasing order.

        With an intercept, constant features are left out: they cannot improve any
        solution, so this changes neither optimum nor bounds.
        """
        useful = self.columns.sums(self.data.useful) > 0
        return freeze(np.flatnonzero(self.constraints.allowed & useful))

    def blocks(self, features: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Weights of the columns of some features, one machine after the other."""
        if self.n_machines == 1:
            return w
        return w[self.machine_columns.in_repeated(features, self.n_machines)].ravel()

    @property
    def _one_machine(self) -> SignedData:
        """The data of a problem of one machine."""
        if isinstance(self.data, StackedData):
            raise ValueError(
                f"this is not available for {self.n_machines} machines at once: use "
                "Problem.machines, which has a problem for each."
            )
        return self.data

    @cached_property
    def machines(self) -> list[Problem]:
        """A problem for each machine; they share its budgets and its data."""
        if not isinstance(self.data, StackedData):
            return [self]
        columns = self.data.machine_columns
        return [self._with(data=part, columns=columns) for part in self.data.parts]

    @cached_property
    def engine(self) -> NativeEngine | ColumnGenerationEngine:
        """The engine that computes with the data."""
        data, C, costs = self.data, self.C, self.costs
        flag, n_threads = self.context[:2]
        parameters = self.parameters(EngineParameters)
        if data.source is not None:
            return ColumnGenerationEngine(
                data.source, data.y, C, data.fit_intercept, costs, flag, data.cache,
                n_threads, parameters, self.columns,
            )  # fmt: skip
        compiled = Data(
            data.A, data.norms, data.y, C, data.fit_intercept, costs, flag,
            *self.columns.in_kernels, self.n_machines,
        )  # fmt: skip
        if self.n_machines > 1:
            engines = [cast(NativeEngine, machine.engine) for machine in self.machines]
            return SharedEngine(compiled, parameters, self.columns, engines)
        return native_engine(compiled, parameters, self.columns)

    def root_region(self) -> Region:
        """The region of all supports: only include and exclude are decided."""
        # Copies: read-only arrays would make the kernels compile again.
        return Region(
            np.array(self.include),
            np.array(self.candidates),
            *self.constraints.remaining(),
        )

    # --- neighbouring problems -------------------------------------------------------

    def watching(self, flag: np.ndarray, n_threads: int | None = None) -> Problem:
        """The same problem with a stop flag for compiled code.

        ``flag`` is an array of one byte, set by another thread. ``n_threads`` is for
        products with large data; None keeps the present number.
        """
        context = self.context._replace(stop_flag=flag)
        if n_threads is not None:
            context = context._replace(n_threads=n_threads)
        return self._with(context=context)

    def with_parameters(self, *parameters: Any) -> Problem:
        """The same problem with other parameters of algorithms.

        Parameters
        ----------
        *parameters : frozen dataclasses
            For example ``EngineParameters(whole_bytes=0)``. Each replaces the previous
            ones of its kind; problems derived from the new one have them, too.
        """
        by_kind = {type(p): p for p in (*self.context.parameters, *parameters)}
        merged = tuple(by_kind.values())
        return self._with(context=self.context._replace(parameters=merged))

    def with_budget(
        self, max_features: int | None, max_cost: float | None = None
    ) -> Problem:
        """The same problem with other budgets; the data are shared.

        ``max_cost`` needs feature costs; None keeps the present one.
        """
        constraints = self.constraints.with_budget(max_features, max_cost)
        return self._with(constraints=constraints)

    def with_C(self, C: float) -> Problem:
        """The same problem with another weight of the loss; the data are shared."""
        return self._with(loss=self.loss.with_C(C))

    def requiring(self, feature: int) -> Problem:
        """The problem with one more included feature."""
        return self._with(constraints=self.constraints.requiring(feature))

    def restrict(self, features: np.ndarray, *, dense: bool = True) -> Problem:
        """The problem on some of the features, renumbered in the given order.

        ``features`` must have no duplicates and contain all included features. Only
        their rows of the data are copied, and nothing is validated again. Sparse data
        become dense unless ``dense`` is False.
        """
        return self._with(
            data=self._one_machine.restrict(self.columns.of(features), dense),
            constraints=self.constraints.restrict(features),
            columns=self.columns.restrict(features),
        )

    def drawn(self, size: int, rng: np.random.Generator) -> Problem:
        """The problem on a weighted subsample of about the given size.

        Each class has at least a quarter of it, if the data have enough. The new
        problem is always dense.
        """
        samples, C = draw(self.y, self.C, size, rng, least=size // 4)
        check_room(
            8.0 * samples.size * self.n_columns,
            f"{samples.size} samples of {self.n_columns} columns",
            "choose fewer features.",
        )
        return self.at_samples(samples, C)

    def at_samples(self, samples: np.ndarray, C: np.ndarray) -> Problem:
        """The problem on some of the samples, with their loss weights; it is dense."""
        return self._with(
            data=self._one_machine.at_samples(samples),
            loss=HingeLoss.of_positive(freeze(C)),
        )

    # --- solutions and bounds --------------------------------------------------------

    def admits(self, support: np.ndarray) -> bool:
        """Whether a set of features satisfies all constraints."""
        return self.constraints.admits(np.asarray(support))

    def dual_bound(self, alpha: np.ndarray) -> float:
        """Lower bound of the problem's optimum, valid for any vector ``alpha``.

        The point is repaired to satisfy the dual constraints exactly, and all roundings
        are directed so that the bound stays valid. A poor point gives a poor bound,
        never a wrong one.
        """
        point = np.ascontiguousarray(alpha, dtype=np.float64)
        if point.shape != (self.n_samples,):
            raise ValueError(
                f"alpha must have one entry per sample of positive weight "
                f"({self.n_samples}), got shape {point.shape}."
            )
        return float(self.engine.bound(self.root_region(), point).bound)

    def signed_rows(self, columns: np.ndarray | None = None) -> np.ndarray:
        """``y_i X_ij`` of some columns, or of all, without shifts."""
        return self._one_machine.signed_rows(columns)

    def signed_blocks(self) -> Iterator[np.ndarray | SparseColumns]:
        """``y_i X_ij`` of all columns without shifts: sparse, or block by block."""
        return self.data.signed_blocks()

    def unshifted_intercept(self, coef: np.ndarray, intercept: Any) -> Any:
        """The intercept for X, from that for A; several for several machines."""
        return self.data.unshifted_intercept(coef, intercept)

    def by_machine(
        self, coef: np.ndarray, intercept: Any
    ) -> Iterator[tuple[Problem, np.ndarray, float]]:
        """Each machine with its weights and intercept."""
        weights = coef.reshape(self.n_machines, -1)
        return zip(self.machines, weights, np.ravel(intercept), strict=True)

    def margins(self, coef: np.ndarray, intercept: Any) -> np.ndarray:
        """``y_i (w x_i + b)``, with ``coef`` for all columns of X."""
        if self.n_machines > 1:
            each = self.by_machine(coef, intercept)
            return np.concatenate([machine.margins(w, b) for machine, w, b in each])
        nonzero = np.flatnonzero(coef)
        return coef[nonzero] @ self.signed_rows(nonzero) + intercept * self.y

    def objective(self, coef: np.ndarray, intercept: Any) -> float:
        """Objective of FS-SVM, rounded up, with ``coef`` for all columns of X."""
        if self.n_machines > 1:
            each = self.by_machine(coef, intercept)
            total = math.fsum(machine.objective(w, b) for machine, w, b in each)
            return math.nextafter(total, math.inf)
        nonzero = np.flatnonzero(coef)
        rows = self.signed_rows(nonzero)
        return self.loss.objective(rows, self.y, coef[nonzero], float(intercept))
