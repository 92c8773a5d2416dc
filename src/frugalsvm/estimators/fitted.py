"""Access to a fitted estimator: its steps, its linear model, its columns.

Pipelines, searches, calibrated and frozen estimators are unwrapped, so that plots,
exports and stability selection can refer to the columns of the user's table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from .encoded_columns import origins


@dataclass(frozen=True)
class Fitted:
    """An unwrapped estimator.

    Attributes
    ----------
    outer : estimator
        As it was given.
    transformers : list
        The steps before the last one, in order.
    last : estimator
        The last step.
    calibrators : list
        The calibrators that turn scores into probabilities; none or one.
    """

    outer: Any
    transformers: list[Any] = field(default_factory=list)
    last: Any = None
    calibrators: list[Any] = field(default_factory=list)

    @property
    def n_columns(self) -> int:
        """Columns of the user's table."""
        first = self.transformers[0] if self.transformers else self.last
        for one in (self.outer, first, self.last):
            if hasattr(one, "n_features_in_"):
                return int(one.n_features_in_)
        return int(np.shape(self.last.coef_)[-1])

    @property
    def column_names(self) -> list[str]:
        """Names of the columns of the user's table: x0, x1, ... if it had none."""
        for one in (self.outer, *self.transformers[:1], self.last):
            names = getattr(one, "feature_names_in_", None)
            # A later step may have names even if the user's table has none.
            if names is not None and len(names) == self.n_columns:
                return [str(name) for name in names]
        return [f"x{j}" for j in range(self.n_columns)]

    def columns(self) -> np.ndarray:
        """For each feature of the last step, the column of the user's table."""
        columns = np.arange(self.n_columns)
        for one in self.transformers:
            if isinstance(one, SelectorMixin):
                columns = columns[one.get_support()]
            elif not isinstance(one, OneToOneFeatureMixin):
                raise ValueError(
                    f"cannot tell which columns of X the features behind "
                    f"{type(one).__name__} are; use steps that keep or select columns "
                    "(scalers, imputers, selectors), or transform the table first."
                )
        return columns

    def names(self) -> list[str]:
        """Names of the features of the last step."""
        try:
            names = np.array(self.column_names, dtype=object)
            return names[self.columns()].tolist()
        except ValueError:
            return self._made_names()

    def _made_names(self) -> list[str]:
        """The feature names that the preceding steps report."""
        names = None
        for one in self.transformers:
            names = one.get_feature_names_out(names)
        assert names is not None
        return [str(name) for name in names]

    def support(self) -> np.ndarray:
        """Mask of the features of the last step that it uses."""
        if hasattr(self.last, "get_support"):
            return np.asarray(self.last.get_support(), dtype=bool)
        if hasattr(self.last, "coef_"):
            return (np.atleast_2d(_dense(self.last.coef_)) != 0).any(axis=0)
        raise ValueError(
            f"{type(self.last).__name__} has neither get_support nor coef_, so it "
            "does not say which features it uses."
        )

    def origins(self) -> np.ndarray:
        """As ``columns``, but several features may come from one column."""
        columns = np.arange(self.n_columns)
        for one in self.transformers:
            columns = columns[origins(one, columns.size)]
        return columns

    def column_support(self) -> np.ndarray:
        """Mask of the columns of the user's table that the last step uses."""
        mask = np.zeros(self.n_columns, dtype=bool)
        mask[self.origins()[self.support()]] = True
        return mask

    def group_support(self) -> dict[Any, bool] | None:
        """Which groups the last step uses, by name; None if it has none.

        Also None if a step before it encodes columns: these are the groups then.
        """
        groups = getattr(self.last, "_groups", None)
        if groups is None or groups.are_columns:
            return None
        if self.origins().size != np.unique(self.origins()).size:
            return None
        used = set(groups.used(self.support()).tolist())
        return {name: g in used for g, name in enumerate(groups.names)}

    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts of a linear classifier.

        One row of weights and one intercept for two classes, of which a positive score
        means the second; one for each of several, of which the largest score wins.
        """
        name = type(self.last).__name__
        coef = getattr(self.last, "coef_", None)
        n_classes = len(getattr(self.last, "classes_", ()))
        if coef is None or n_classes < 2:
            raise ValueError(
                f"{name} is not a linear classifier: it needs coef_, and classes_ with "
                "at least two classes."
            )
        rows = np.atleast_2d(_dense(coef)).astype(np.float64)
        n_scores = 1 if n_classes == 2 else n_classes
        if len(rows) != n_scores or (n_scores > 1 and _is_no_argmax(self.last)):
            raise ValueError(
                f"{name} with {n_classes} classes does not predict the one with the "
                "largest of the scores coef_ @ x + intercept_; use a classifier that "
                "does, such as FrugalSVC or LinearSVC."
            )
        intercepts = np.ravel(getattr(self.last, "intercept_", 0.0))
        return rows, np.broadcast_to(intercepts.astype(np.float64), n_scores)


def open_fitted(estimator: Any) -> Fitted:
    """Unwrap pipelines, searches, calibrated and frozen estimators.

    Parameters
    ----------
    estimator : fitted estimator

    Returns
    -------
    Fitted
    """
    transformers: list[Any] = []
    calibrators: list[Any] = []
    inner = estimator
    while True:
        if hasattr(inner, "steps"):
            # Whole pipelines can be checked only from scikit-learn 1.6.
            steps = [step for _, step in inner.steps]
            transformers += [s for s in steps[:-1] if s not in (None, "passthrough")]
            inner = steps[-1]
        elif hasattr(inner, "best_estimator_"):
            inner = inner.best_estimator_
        elif hasattr(inner, "calibrated_classifiers_"):
            inner = _only_calibrated(inner)
            calibrators.append(inner.calibrators[0])
            inner = inner.estimator
        elif _is_frozen(inner):
            inner = inner.estimator
        else:
            break
    check_is_fitted(inner)
    return Fitted(estimator, transformers, inner, calibrators)


def _only_calibrated(calibrated: Any) -> Any:
    several = calibrated.calibrated_classifiers_
    if len(several) != 1:
        raise ValueError(
            f"{type(calibrated).__name__} holds {len(several)} models, one per fold, "
            "which are not one linear model; calibrate with ensemble=False."
        )
    return several[0]


def _is_frozen(estimator: Any) -> bool:
    from sklearn.frozen import FrozenEstimator

    return isinstance(estimator, FrozenEstimator)


def _is_no_argmax(classifier: Any) -> bool:
    """Whether rows of weights are pairs of classes, or labels of which many hold."""
    binarizer = getattr(classifier, "_label_binarizer", None)
    is_multilabel = getattr(binarizer, "y_type_", "").startswith("multilabel")
    return is_multilabel or hasattr(classifier, "support_vectors_")


def _dense(coef: Any) -> np.ndarray:
    return coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)
