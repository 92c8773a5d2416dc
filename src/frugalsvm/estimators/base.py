"""Bases of the linear classifiers, and of those with a hard budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_array, check_consistent_length
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..problem.solution import rounded
from ..solving.constant import ConstantModel, NeverPredicted
from ..solving.result import Result
from .feature_groups import FeatureGroups
from .feature_names import FeatureNames
from .fitted import SummaryMixin, dense_columns
from .models import codes_of, signs_of
from .parameters import check_parameters


class BinaryLinearClassifier(
    SummaryMixin, ClassifierMixin, SelectorMixin, BaseEstimator
):
    """A classifier that selects features, and predicts by ``coef_ @ x + intercept_``.

    With more than two classes there is a row of ``coef_`` for each. Subclasses have a
    parameter ``class_weight`` and implement ``fit``.
    """

    # Whether more than two classes can be fitted, and what to do if not.
    _is_multiclass = False
    _advice = "Use frugalsvm.FrugalSVC, which takes several classes."

    class_weight: dict[Any, float] | str | None
    coef_: np.ndarray
    intercept_: np.ndarray
    # Whether the training data were in single precision.
    _is_single = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._is_multiclass
        return tags

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Signed scores of samples; positive ones mean ``classes_[1]``.

        With more than two classes there is a score for each; the class with the largest
        is predicted, the first of several. Scores are rounded to 7 decimals (5 for
        features in single precision), more if all weights are below 0.001, so that
        scores that differ by rounding errors alone are equal.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            A data frame needs only the columns with nonzero weight.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        support = np.flatnonzero(self.coef_.any(axis=0))
        if self._lacks_only_unused_columns(X, support):
            table: Any = X
            names = list(self.feature_names_in_[support])
            values = check_array(table[names], accept_sparse="csr", input_name="X")
            is_single = values.dtype == np.float32
        else:
            data = validate_data(self, X, accept_sparse=["csr", "csc"], reset=False)
            # Only a few columns of a possibly large table are needed.
            is_single = data.dtype == np.float32
            values = dense_columns(data, support)
        if len(self.coef_) == 1:
            scores = values @ self.coef_[0, support] + self.intercept_[0]
        else:
            scores = values @ self.coef_[:, support].T + self.intercept_
        is_single |= self._is_single
        scores = rounded(scores, self.coef_, self.intercept_, is_single=is_single)
        return np.asarray(scores)

    def _lacks_only_unused_columns(self, X: Any, support: np.ndarray) -> bool:
        """Whether a data frame lacks only columns that the model does not need."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or not hasattr(X, "columns") or support.size == 0:
            return False
        columns = list(X.columns)
        if not all(isinstance(column, str) for column in columns):
            return False
        present, expected = set(columns), set(names)
        # Names are usually distinct. Columns that were not in the training data are
        # left to scikit-learn's error.
        if len(present) < len(columns) or len(expected) < len(names):
            return False
        return set(names[support]) <= present < expected

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Labels of samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            A data frame needs only the columns with nonzero weight.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        # First, since it refuses estimators that are not fitted.
        scores = self.decision_function(X)
        return self.classes_[codes_of(scores)]

    def _encode(self, y: np.ndarray) -> np.ndarray:
        """Labels as -1 and +1, one column for each of several; sets ``classes_``."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size > 2 and not self._is_multiclass:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"multiclass: y has {self.classes_.size} classes. {self._advice}"
            )
        if self.classes_.size < 2:
            raise ValueError(
                f"Classifier can't train when only one class is present: y has only "
                f"{self.classes_[0]!r}."
            )
        return signs_of(codes, self.classes_.size)

    def _weights(
        self, X: Any, y: np.ndarray, sample_weight: ArrayLike | None
    ) -> np.ndarray:
        """Sample weights times class weights."""
        weights = check_sample_weight(sample_weight, X)
        if self.class_weight is None:
            return weights
        is_used = weights > 0
        factors = compute_class_weight(
            self.class_weight, classes=self.classes_, y=y[is_used]
        )
        if (factors < 0).any() or not np.isfinite(factors).all():
            raise ValueError(
                f"class_weight must be finite and >= 0, got {self.class_weight}."
            )
        return weights * factors[np.searchsorted(self.classes_, y)]

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return np.asarray((self.coef_ != 0).any(axis=0))


@contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[None]:
    """Restore the estimator if the fit inside fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # An earlier model remains valid for its own data.
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_sample_weight(sample_weight: ArrayLike | None, X: Any) -> np.ndarray:
    """Sample weights as an array of valid numbers; ones for None."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    weights = check_array(
        sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight"
    )
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be 1D, got shape {weights.shape}.")
    check_consistent_length(X, weights)
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative, got {weights.min():g}; use 0 to "
            "drop a sample."
        )
    if not weights.any():
        raise ValueError(
            "Sample weights must contain at least one non-zero number: all are zero."
        )
    return weights


# --- Base of the classifiers with a hard budget ---------------------------------------


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
    _is_multiclass = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_data(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """Valid data and labels, and the labels as ``Problem`` takes them."""
        from ..problem.validation import check_unmasked

        check_parameters(self)
        for name, array in (("X", X), ("y", y), ("sample_weight", sample_weight)):
            if array is not None:
                check_unmasked(name, array)
        # Numeric arrays and sparse matrices are not converted: they may be large.
        is_numeric = getattr(getattr(X, "dtype", None), "kind", "O") in "fiub"
        data, labels = validate_data(
            self,
            X,
            y,
            accept_sparse=["csr", "csc"],
            dtype="numeric" if is_numeric else np.float64,
        )
        self._is_single = data.dtype == np.float32
        return data, labels, self._encode(labels)

    def _set_selected(self) -> None:
        """Set the names of the selected features, once there are weights."""
        features = self._features.features_of(self._get_support_mask())
        self.selected_groups_ = self._features.labels_of(features)

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
        """The constraints of a ``Problem`` except budget and C; features by number.

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
            self.feature_costs,
            self.max_cost,
            self.include,
            self.exclude,
            stacklevel=stacklevel + 1,
        )
        return conditions | {"fit_intercept": self.fit_intercept}

    def _start(self) -> np.ndarray | None:
        """The initial support by number."""
        if self.initial_support is None:
            return None
        return self._features.indices("initial_support", self.initial_support)

    def _set_result(self, result: Result) -> None:
        """Set the attributes of the problem that selected the features."""
        self.result_ = result
        self.objective_ = result.objective
        self.lower_bound_ = result.lower_bound
        self.gap_ = result.gap
        self.status_ = str(result.status)
        if result.refit is not None:
            self.refit_objective_ = result.refit.objective
            self.refit_lower_bound_ = result.refit.lower_bound

    def _set_constant(
        self, sign: int | None, never: Sequence[int], truth: np.ndarray, C: float
    ) -> None:
        """Record whether the weights predict all classes for training samples.

        ``sign`` is the sign of all scores, if they have the same; ``never`` holds the
        numbers of the classes, of more than two, that are never predicted; ``truth``
        holds the class numbers of the samples.
        """
        is_weighted = self.class_weight is not None
        name = "C" if self.result_.refit is None else "refit_C"
        budget = self.max_features
        self._constant = ConstantModel.of(
            sign,
            truth > 0,
            self.classes_,
            C,
            is_weighted,
            has_budget=not (isinstance(budget, Integral) and budget == 0),
            name=name,
        )
        counts = np.bincount(truth, minlength=self.classes_.size)
        self._never = [
            NeverPredicted(
                self.classes_[k],
                int(counts[k]),
                truth.size,
                float(C),
                is_weighted,
                name,
            )
            for k in never
        ]

    def _warn_if_constant(self, stacklevel: int) -> None:
        if self._constant is not None:
            self._constant.warn(stacklevel + 1)
        for never in self._never:
            never.warn(stacklevel + 1)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.asarray((self.coef_ != 0).any(axis=0))
        mask[self._included] = True
        if getattr(self, "_groups", None) is None:
            return mask
        # A group is used as a whole.
        mask[self._features.columns_of(self._features.features_of(mask))] = True
        return mask
