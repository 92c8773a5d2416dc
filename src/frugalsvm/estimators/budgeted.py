"""Base of the classifiers with a hard budget."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..solving.constant import ConstantModel, NeverPredicted
from ..solving.result import Result
from .binary_linear import BinaryLinearClassifier
from .feature_groups import FeatureGroups
from .feature_names import FeatureNames
from .parameters import check_parameters


def _is_zero(budget: Any) -> bool:
    return isinstance(budget, Integral) and budget == 0


class BudgetedClassifier(BinaryLinearClassifier):
    """Checks data, resolves features by name, and stores results."""

    max_features: Any
    feature_costs: Any
    max_cost: float | None
    include: Any
    exclude: Any
    feature_groups: Any
    signs: Any
    initial_support: Any
    fit_intercept: bool
    _included: np.ndarray
    _groups: FeatureGroups | None
    _constant: ConstantModel | None
    _never: list[NeverPredicted]
    _takes_classes = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _checked(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """Checked data and labels, and labels as ``Problem`` takes them."""
        from ..problem.validation import check_unmasked

        check_parameters(self)
        for name, array in (("X", X), ("y", y), ("sample_weight", sample_weight)):
            if array is not None:
                check_unmasked(name, array)
        # Numeric arrays and sparse matrices are not converted: they may be large.
        as_given = getattr(getattr(X, "dtype", None), "kind", "O") in "fiub"
        data, labels = validate_data(
            self, X, y, accept_sparse=["csr", "csc"],
            dtype="numeric" if as_given else np.float64,
        )  # fmt: skip
        self._is_single = data.dtype == np.float32
        return data, labels, self._encode(labels)

    def _take_selected(self) -> None:
        """Set the names of the selected features, once there are weights."""
        used = self._features.used(self._get_support_mask())
        self.selected_groups_ = self._features.labels_of(used)

    @property
    def _features(self) -> FeatureGroups:
        """The features of the data that were checked."""
        groups = getattr(self, "_groups", None)
        return FeatureGroups(self._columns) if groups is None else groups

    @property
    def _columns(self) -> FeatureNames:
        names = getattr(self, "feature_names_in_", None)
        return FeatureNames(names, self.n_features_in_)

    def _problem_constraints(self, data: Any, stacklevel: int) -> dict[str, Any]:
        """All constraints of a ``Problem`` except budget and C; features by index.

        ``stacklevel`` is the one for warnings, relative to this function.
        """
        if self.signs is not None and self.classes_.size > 2:
            raise ValueError(
                f"signs are for two classes, but y has {self.classes_.size}: leave "
                "signs out, or fit one class against all others."
            )
        groups = FeatureGroups.of(self._columns, self.feature_groups, self.signs, data)
        is_plain = groups.are_columns and groups.signs is None
        self._groups = None if is_plain else groups
        conditions = groups.constraints(
            self.feature_costs, self.max_cost, self.include, self.exclude,
            stacklevel=stacklevel + 1,
        )  # fmt: skip
        return conditions | {"fit_intercept": self.fit_intercept}

    def _start(self) -> np.ndarray | None:
        """The features to start from by number."""
        if self.initial_support is None:
            return None
        return self._features.indices("initial_support", self.initial_support)

    def _take_result(self, result: Result) -> None:
        """Set the attributes of the problem that selected the features."""
        self.result_ = result
        self.objective_ = result.objective
        self.lower_bound_ = result.lower_bound
        self.gap_ = result.gap
        self.status_ = str(result.status)
        if result.refit is not None:
            self.refit_objective_ = result.refit.objective
            self.refit_lower_bound_ = result.refit.lower_bound

    def _note_constant(
        self, sign: int | None, never: Sequence[int], truth: np.ndarray, C: float
    ) -> None:
        """Remember whether the weights predict all classes for training samples.

        ``sign`` is that of the scores of all samples, if there is one, ``never`` has
        the numbers of those of several classes that are never predicted, and ``truth``
        those of the samples.
        """
        is_weighted = self.class_weight is not None
        name = "C" if self.result_.refit is None else "refit_C"
        self._constant = ConstantModel.of(
            sign, truth > 0, self.classes_, C, is_weighted,
            has_budget=not _is_zero(self.max_features), name=name,
        )  # fmt: skip
        counts = np.bincount(truth, minlength=self.classes_.size)
        self._never = [
            NeverPredicted(
                self.classes_[k], int(counts[k]), truth.size, float(C), is_weighted,
                name,
            )
            for k in never
        ]  # fmt: skip

    def _warn_if_constant(self, stacklevel: int) -> None:
        if self._constant is not None:
            self._constant.warn(stacklevel + 1)
        for one in self._never:
            one.warn(stacklevel + 1)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.asarray((self.coef_ != 0).any(axis=0))
        mask[self._included] = True
        if getattr(self, "_groups", None) is None:
            return mask
        # A group is used as a whole.
        mask[self._features.columns_of(self._features.used(mask))] = True
        return mask
