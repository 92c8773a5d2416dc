"""Access to a fitted estimator: its steps, its linear model, its columns.

Pipelines, searches, calibrated and frozen estimators are unwrapped, so that plots,
exports and stability selection can refer to the columns of the user's table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OneToOneFeatureMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ..run.words import by_class
from .encoded_columns import origins


@dataclass(frozen=True)
class Fitted:
    """An unwrapped estimator.

    Attributes
    ----------
    outer : estimator
        The estimator before unwrapping.
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
        for estimator in (self.outer, first, self.last):
            if hasattr(estimator, "n_features_in_"):
                return int(estimator.n_features_in_)
        return int(np.shape(self.last.coef_)[-1])

    @property
    def column_names(self) -> list[str]:
        """Names of the columns of the user's table: x0, x1, ... if it had none."""
        for estimator in (self.outer, *self.transformers[:1], self.last):
            names = getattr(estimator, "feature_names_in_", None)
            # A later step may have names even if the user's table has none.
            if names is not None and len(names) == self.n_columns:
                return [str(name) for name in names]
        return [f"x{j}" for j in range(self.n_columns)]

    def columns(self) -> np.ndarray:
        """For each feature of the last step, the column of the user's table."""
        columns = np.arange(self.n_columns)
        for step in self.transformers:
            if isinstance(step, SelectorMixin):
                columns = columns[step.get_support()]
            elif not isinstance(step, OneToOneFeatureMixin):
                raise ValueError(
                    f"cannot tell which columns of X the features behind "
                    f"{type(step).__name__} are; use steps that keep or select columns "
                    "(scalers, imputers, selectors), or transform the table first."
                )
        return columns

    def names(self) -> list[str]:
        """Names of the features of the last step."""
        try:
            names = np.array(self.column_names, dtype=object)
            return names[self.columns()].tolist()
        except ValueError:
            # The names that the preceding steps report.
            reported = None
            for step in self.transformers:
                reported = step.get_feature_names_out(reported)
            assert reported is not None
            return [str(name) for name in reported]

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
        """Like ``columns``, but several features may come from one column."""
        columns = np.arange(self.n_columns)
        for step in self.transformers:
            columns = columns[origins(step, columns.size)]
        return columns

    def column_support(self) -> np.ndarray:
        """Mask of the columns of the user's table that the last step uses."""
        mask = np.zeros(self.n_columns, dtype=bool)
        mask[self.origins()[self.support()]] = True
        return mask

    def group_support(self) -> dict[Any, bool] | None:
        """Which groups the last step uses, by name; None if it has none.

        Also None if a step before it encodes columns: then the columns of the user's
        table are the groups.
        """
        groups = getattr(self.last, "_groups", None)
        if groups is None or groups.are_columns:
            return None
        if self.origins().size != np.unique(self.origins()).size:
            return None
        selected = set(groups.features_of(self.support()).tolist())
        return {name: g in selected for g, name in enumerate(groups.names)}

    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts of a linear classifier.

        For two classes there is one row of weights and one intercept, and a positive
        score means the second class; for more there is one for each, and the largest
        score wins.
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
        if len(rows) != n_scores or (n_scores > 1 and not _is_argmax(self.last)):
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
    from sklearn.frozen import FrozenEstimator

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
            models = inner.calibrated_classifiers_
            if len(models) != 1:
                raise ValueError(
                    f"{type(inner).__name__} holds {len(models)} models, one per fold, "
                    "which are not one linear model; calibrate with ensemble=False."
                )
            calibrators.append(models[0].calibrators[0])
            inner = models[0].estimator
        elif isinstance(inner, FrozenEstimator):
            inner = inner.estimator
        else:
            break
    check_is_fitted(inner)
    return Fitted(estimator, transformers, inner, calibrators)


def _is_argmax(classifier: Any) -> bool:
    """Whether the class with the largest score is predicted.

    Otherwise rows of weights are pairs of classes, or a sample may have several labels.
    """
    binarizer = getattr(classifier, "_label_binarizer", None)
    is_multilabel = getattr(binarizer, "y_type_", "").startswith("multilabel")
    return not (is_multilabel or hasattr(classifier, "support_vectors_"))


def _dense(coef: Any) -> np.ndarray:
    return coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)


# --- Tables and notebook displays of fitted linear classifiers ------------------------


class Moments(NamedTuple):
    r"""Spread of the selected features, and their shares in that of the score.

    ``deviations`` holds standard deviations, ``shares`` the fractions of the variance
    of the score, :math:`w_j \operatorname{Cov}(x_j, s) / \operatorname{Var}(s)`, or of
    the sum of these variances over the scores of several classes. All refer to the
    population described by the sample weights.
    """

    deviations: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(
        cls,
        features: np.ndarray,
        weights: np.ndarray,
        sample_weight: np.ndarray | None = None,
    ) -> Moments:
        """Moments of the selected columns; samples count equally by default."""
        if sample_weight is None:
            sample_weight = np.ones(len(features))
        # Rescaled, so that sums of tiny weights do not vanish.
        counts = sample_weight / sample_weight.max()
        centred = features - np.average(features, axis=0, weights=counts)
        shares = np.zeros(features.shape[1])
        variance = 0.0
        for row in np.atleast_2d(weights):
            score = centred @ row
            variance += float(counts @ score**2)
            shares += row * (centred.T @ (counts * score))
        shares = shares / variance if variance > 0 else np.full(shares.size, np.nan)
        return cls(np.sqrt(np.average(centred**2, axis=0, weights=counts)), shares)


class SummaryMixin:
    """``summary``, ``to_frame`` and the notebook display.

    The scikit-learn diagram is kept; the selected features are shown below it.
    """

    coef_: np.ndarray
    intercept_: np.ndarray
    _moments: Moments | None
    _never: Sequence[Any] = ()

    def summary(self, X: ArrayLike | None = None, *, scaler: Any = None) -> Any:
        """Selected features with their weights, as a DataFrame.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Data for the columns about spread, in the form passed to ``fit``, with all
            samples weighted equally; by default the training data with their
            ``sample_weight``.
        scaler : fitted scaler, default=None
            The scaler before this estimator. Its ``scale_`` converts weights to the
            original units of the features, and it may know feature names that were lost
            along the pipeline.

        Returns
        -------
        pandas.DataFrame
            One row per selected feature, the largest weight first, with ``weight``;
            ``weight_per_unit`` if a scaler is given; ``standardised_weight``, the
            weight times the standard deviation of the feature (of the population,
            weighted by the ``sample_weight`` of the fit); and ``variance_share``, the
            fraction of the variance of the score due to the feature (they sum to one;
            features that work against others may have a negative share). With feature
            groups there is a row for each of their columns, and ``group`` says which
            group that is. The intercept is ``attrs["intercept"]``. If the model
            predicts one class for all training samples, ``attrs["warning"]`` says so.
            With more than two classes there is a ``weight_c`` (and a
            ``weight_per_unit_c``) for each class c, ``attrs["intercept"]`` is a list,
            and ``standardised_weight`` is the length of the standardised weights of all
            classes.
        """
        check_is_fitted(self)
        support = np.flatnonzero(self._get_support_mask())  # type: ignore[attr-defined]
        columns = self._by_class("weight", self.coef_[:, support])
        if scaler is not None:
            per_unit = self.coef_[:, support] / _scales(scaler, self)[support]
            columns |= self._by_class("weight_per_unit", per_unit)
        weights = self.coef_[0, support]
        if len(self.coef_) > 1:
            weights = np.linalg.norm(self.coef_[:, support], axis=0)
        moments = self._moments_of(X, support)
        if moments is not None:
            columns["standardised_weight"] = weights * moments.deviations
            columns["variance_share"] = moments.shares
        named = self if scaler is None or hasattr(self, "feature_names_in_") else scaler
        names = Fitted(named, last=self).column_names
        order = np.argsort(-np.abs(weights), kind="stable")
        frame = pandas().DataFrame(
            {name: values[order] for name, values in columns.items()},
            index=pandas().Index([names[j] for j in support[order]], name="feature"),
        )
        groups = getattr(self, "_groups", None)
        if groups is not None and not groups.are_columns:
            group_names = groups.names_by_column
            frame["group"] = [group_names[j] for j in support[order]]
        intercepts = self.intercept_.tolist()
        frame.attrs["intercept"] = intercepts[0] if len(intercepts) == 1 else intercepts
        constant = getattr(self, "_constant", None)
        if constant is not None:
            frame.attrs["warning"] = constant.message
        return frame

    def _by_class(self, name: str, values: np.ndarray) -> dict[str, np.ndarray]:
        """Values of the features by the name of their column, one for each class."""
        names = by_class(name, self.classes_.tolist())  # type: ignore[attr-defined]
        return dict(zip(names, values, strict=True))

    def to_frame(self, X: ArrayLike | None = None, *, scaler: Any = None) -> Any:
        """The same as :meth:`summary`, under the name that other results use."""
        return self.summary(X, scaler=scaler)

    def _set_moments(self, data: Any, sample_weight: np.ndarray) -> None:
        """Store the moments of the training data for ``summary``.

        Class weights apply to the loss and not to the spread: ``sample_weight``
        excludes them, but is zero for samples that were dropped.
        """
        support = np.flatnonzero(self._get_support_mask())  # type: ignore[attr-defined]
        mask = sample_weight > 0
        self._moments = Moments.of(
            dense_columns(data, support)[mask],
            self.coef_[:, support],
            sample_weight[mask],
        )

    def _moments_of(self, X: ArrayLike | None, support: np.ndarray) -> Moments | None:
        if X is None:
            return getattr(self, "_moments", None)
        is_numeric = hasattr(X, "tocsc") or isinstance(X, np.ndarray)
        data: Any = X if is_numeric else np.asarray(X, dtype=np.float64)
        if data.ndim != 2 or data.shape[1] != self.coef_.shape[1]:
            raise ValueError(
                f"X must have the {self.coef_.shape[1]} features of the fit, got an "
                f"array of shape {data.shape}."
            )
        return Moments.of(dense_columns(data, support), self.coef_[:, support])

    # --- notebooks ---------------------------------------------------------------

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # A property in scikit-learn, too: absent if diagrams are switched off.
        diagram = super()._repr_html_  # type: ignore[misc]
        return lambda: diagram() + self._report()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._report()
        return bundle

    def _report(self) -> str:
        """The model as HTML; empty before it is fitted."""
        from ..report import notebook

        if not hasattr(self, "coef_"):
            return ""
        names = Fitted(self, last=self).column_names
        result = getattr(self, "result_", None)
        mask = self._get_support_mask()  # type: ignore[attr-defined]
        support, groups = np.flatnonzero(mask), getattr(self, "_groups", None)
        if result is not None:
            # The weights may be rescaled, or belong to another C.
            is_binary = len(self.coef_) == 1
            shown = replace(
                result,
                coef=self.coef_[0] if is_binary else self.coef_,
                intercept=self.intercept_[0] if is_binary else self.intercept_,
                selected=support if groups is None else groups.features_of(mask),
                constant=None,
            )
            warnings = [getattr(self, "_constant", None), *self._never]
            notes = [warning.message for warning in warnings if warning is not None]
            alert = " ".join(notes) or None
            classes = list(map(str, self.classes_))  # type: ignore[attr-defined]
            return f"<div>{shown._page(names, alert, classes)}</div>"
        return "<div>{}</div>".format(
            notebook.box(
                f"{support.size} of {self.coef_.shape[1]} features",
                notebook.weights_table(
                    [names[j] for j in support], self.coef_[0, support].tolist()
                ),
                notebook.facts([("intercept", f"{self.intercept_[0]:+.4g}")]),
            )
        )


def dense_columns(data: Any, features: np.ndarray) -> np.ndarray:
    """Columns of a table or a sparse matrix, dense and in double precision."""
    if not hasattr(data, "tocsr"):
        return np.asarray(data[:, features], dtype=np.float64)
    sliceable = data if data.format in ("csr", "csc") else data.tocsr()
    return np.asarray(sliceable[:, features].toarray(), dtype=np.float64)


def _scales(scaler: Any, estimator: Any) -> np.ndarray:
    """Scales of all features; ones if the scaler does not scale."""
    check_is_fitted(scaler)
    if not hasattr(scaler, "scale_"):
        raise ValueError(
            f"scaler must have scale_, like StandardScaler, got {scaler!r}."
        )
    n_features = estimator.coef_.shape[1]
    scales = scaler.scale_
    # MinMaxScaler multiplies.
    scales = 1.0 / scales if hasattr(scaler, "data_min_") else scales
    scales = np.ones(n_features) if scales is None else np.asarray(scales)
    if scales.shape != (n_features,):
        raise ValueError(
            f"scaler has {scales.size} features, but the model was fitted to "
            f"{n_features}."
        )
    return scales


def pandas() -> Any:
    """The package, or an error that says how to install it."""
    try:
        return import_module("pandas")
    except ImportError as error:
        raise ImportError(
            "a DataFrame needs pandas, which is not installed: pip install pandas."
        ) from error
