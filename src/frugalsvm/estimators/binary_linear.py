"""Base of the linear classifiers of two classes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_array, check_consistent_length
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..problem.ties import rounded
from .models import codes_of, signs_of
from .summary import SummaryMixin, dense_columns


class BinaryLinearClassifier(
    SummaryMixin, ClassifierMixin, SelectorMixin, BaseEstimator
):
    """A classifier that selects features, and predicts by ``coef_ @ x + intercept_``.

    With more than two classes there is a row of ``coef_`` for each. Subclasses have a
    parameter ``class_weight`` and implement ``fit``.
    """

    # Whether more than two classes can be fitted, and what to do if not.
    _takes_classes = False
    _instead = "Use frugalsvm.FrugalSVC, which takes several classes."

    class_weight: dict[Any, float] | str | None
    coef_: np.ndarray
    intercept_: np.ndarray
    # Whether the training data were in single precision.
    _is_single = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_classes
        return tags

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Signed scores of samples; positive ones mean ``classes_[1]``.

        With more than two classes a score for each, the largest of which is predicted,
        the first one of several. Scores are rounded to 7 decimals (5 of features in
        single precision), more if all weights are below 0.001, so that those which
        differ by rounding errors alone are equal.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            A data frame needs only the columns with nonzero weight.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        used = np.flatnonzero(self.coef_.any(axis=0))
        if self._has_only_some_columns(X, used):
            table: Any = X
            names = list(self.feature_names_in_[used])
            some = check_array(table[names], accept_sparse="csr", input_name="X")
            is_single = some.dtype == np.float32
        else:
            data = validate_data(self, X, accept_sparse=["csr", "csc"], reset=False)
            # Only a few columns of a possibly large table are needed.
            is_single = data.dtype == np.float32
            some = dense_columns(data, used)
        if len(self.coef_) == 1:
            scores = some @ self.coef_[0, used] + self.intercept_[0]
        else:
            scores = some @ self.coef_[:, used].T + self.intercept_
        return np.asarray(
            rounded(
                scores,
                self.coef_,
                self.intercept_,
                is_single=is_single or self._is_single,
            )
        )

    def _has_only_some_columns(self, X: Any, used: np.ndarray) -> bool:
        """Whether a data frame lacks only columns that the model does not need."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or not hasattr(X, "columns") or used.size == 0:
            return False
        columns = list(X.columns)
        # Names are usually distinct strings. Columns that were not there in training
        # are left to scikit-learn's error.
        if not all(isinstance(column, str) for column in columns):
            return False
        there, known = set(columns), set(names)
        if len(there) < len(columns) or len(known) < len(names):
            return False
        return set(names[used]) <= there < known

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
        codes = codes_of(self.decision_function(X))
        return self.classes_[codes]

    def _encode(self, y: np.ndarray) -> np.ndarray:
        """Labels as -1 and +1, a column for each of several; stores ``classes_``."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size > 2 and not self._takes_classes:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"multiclass: y has {self.classes_.size} classes. {self._instead}"
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
        kept = weights > 0
        factors = compute_class_weight(
            self.class_weight, classes=self.classes_, y=y[kept]
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
    """Weights of samples as an array, ones for None."""
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
