"""Scores of models on the test samples of a fold."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)

from .base import BudgetedClassifier
from .folds import Samples, take
from .models import Linear

if TYPE_CHECKING:
    from .feature_groups import FeatureGroups
    from .frugal_svc import FrugalSVC

# A scorer of scikit-learn: model, data and labels in, a number out.
Scorer = Callable[..., float]


class NoProbabilitiesError(ValueError):
    """A scorer asks for probabilities, which an SVM does not have."""


class Scoring(Protocol):
    """How models are scored."""

    def score(
        self,
        model: Linear,
        settings: dict[str, Any],
        test: Samples,
        params: dict[str, Any],
    ) -> float:
        """The score of a model; ``settings`` are its budget and C."""

    def try_out(self, test: Samples, params: dict[str, Any]) -> None:
        """Refuse what cannot be scored, before any work is done."""


class BalancedAccuracy:
    """The mean over the classes of the fraction of their samples predicted correctly.

    Samples are weighted. A constant model scores one over the number of classes,
    however rare a class is. A class without test samples does not count.
    """

    def score(
        self,
        model: Linear,
        settings: dict[str, Any],
        test: Samples,
        params: dict[str, Any],
    ) -> float:
        """The balanced accuracy of a model."""
        truth = test.codes
        is_right, weights = model.predict(test.data) == truth, test.sample_weight
        if not weights.any():
            # All test samples have weight zero, and count equally.
            weights = np.ones(weights.shape)
        masks = [truth == k for k in np.unique(truth)[::-1]]
        shares = [
            np.average(is_right[mask], weights=weights[mask])
            for mask in masks
            if weights[mask].any()
        ]
        return float(np.mean(shares))

    def try_out(self, test: Samples, params: dict[str, Any]) -> None:
        """Nothing to refuse: every model has a balanced accuracy."""


@dataclass(frozen=True)
class ByScorer:
    """A scorer of scikit-learn, called with a fitted classifier.

    Attributes
    ----------
    scorer : callable
    template : FrugalSVC
        Gets the weights of a model and is passed to the scorer.
    classes : ndarray
    names : ndarray or None
        Of the features.
    included : ndarray of int
        Columns that are in every model.
    groups : FeatureGroups or None
    """

    scorer: Scorer
    template: FrugalSVC
    classes: np.ndarray
    names: np.ndarray | None
    included: np.ndarray
    groups: FeatureGroups | None = None

    def score(
        self,
        model: Linear,
        settings: dict[str, Any],
        test: Samples,
        params: dict[str, Any],
    ) -> float:
        """The score of a model; ``settings`` are its budget and C."""
        value = self._value(model, settings, test, params)
        if np.ndim(value) or not np.isreal(value) or isinstance(value, dict):
            raise ValueError(
                "scoring must give one number for a model, got "
                f"{type(value).__name__}; several scores are not supported."
            )
        return float(value)

    def try_out(self, test: Samples, params: dict[str, Any]) -> None:
        """Refuse a scorer that needs probabilities, before any work is done.

        A model of the first feature is scored. Other errors are ignored: they may not
        occur with other models.
        """
        first = np.zeros((*test.signs.shape[1:], test.data.shape[1]))
        first[..., 0] = 1.0
        model = Linear(first, np.zeros(test.signs.shape[1:]))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._value(model, {"max_features": 1}, test, params)
        except NoProbabilitiesError:
            raise
        except Exception:
            # If fitted models fail in the same way, the error is raised then.
            return

    def _value(
        self,
        model: Linear,
        settings: dict[str, Any],
        test: Samples,
        params: dict[str, Any],
    ) -> Any:
        """The return value of the scorer."""
        estimator = self._estimator(model, settings)
        try:
            return self.scorer(estimator, test.X, test.y, **params)
        except AttributeError as error:
            if "_proba" not in str(error):
                raise
            raise NoProbabilitiesError(
                "scoring needs predict_proba, but an SVM has scores and no "
                "probabilities; choose a score that takes decision_function or "
                "predict, such as 'roc_auc', and make probabilities afterwards by "
                "CalibratedClassifierCV(FrugalSVC(best_max_features_, best_C_)). To "
                "choose by probabilities, give CalibratedClassifierCV(FrugalSVC()) to "
                "GridSearchCV."
            ) from error

    def _estimator(self, model: Linear, settings: dict[str, Any]) -> FrugalSVC:
        """A fitted classifier with the weights of a model."""
        estimator = type(self.template)(**(self.template.get_params() | settings))
        estimator.coef_ = np.atleast_2d(model.coef)
        estimator.intercept_ = np.atleast_1d(model.intercept)
        estimator.classes_ = self.classes
        estimator.n_features_in_ = model.n_columns
        estimator._included, estimator._groups = self.included, self.groups
        if self.names is not None:
            estimator.feature_names_in_ = self.names
        return estimator


def chance_scores(
    scoring: Scoring, test: Samples, params: dict[str, Any]
) -> tuple[float, ...]:
    """The scores of the models that predict one class for every sample.

    NaN if the scorer fails on such a model.
    """
    shape = test.signs.shape[1:]
    scores = []
    for intercept in np.eye(*shape) if shape else (-1.0, 1.0):
        model = Linear(np.zeros((*shape, test.data.shape[1])), intercept)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores.append(scoring.score(model, {"max_features": 0}, test, params))
        except Exception:
            scores.append(np.nan)
    return tuple(scores)


# --- Base of a choice by cross-validation, with metadata routing ----------------------


class ScoredChoice(BudgetedClassifier):
    """Base of classifiers with parameters ``cv`` and ``scoring``.

    Extra parameters of ``fit`` go to the splitter and the scorer.
    """

    cv: Any
    scoring: str | Callable[..., float] | None

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Score the fitted model by ``scoring``; by its accuracy if that is None.

        Parameters
        ----------
        X, y : array-likes of shape (n_samples, n_features) and (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        scorer = self._scorer()
        if scorer is None:
            return super().score(X, y, sample_weight)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return scorer(self, X, y, **weights)

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing of scikit-learn, to the splitter and the scorer.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(
            splitter=check_cv(self.cv, classifier=True),
            method_mapping=MethodMapping().add(caller="fit", callee="split"),
        )
        scorer = self._scorer()
        if scorer is not None:
            router.add(
                scorer=scorer,
                method_mapping=MethodMapping().add(caller="fit", callee="score"),
            )
        return router

    def _scorer(self) -> Scorer | None:
        return None if self.scoring is None else check_scoring(self, self.scoring)

    def _route(
        self, sample_weight: ArrayLike | None, params: dict[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """Extra parameters of the splitter and the scorer."""
        scorer = self._scorer()
        metadata = {name: value for name, value in params.items() if value is not None}
        if sklearn.get_config()["enable_metadata_routing"]:
            if sample_weight is not None:
                metadata["sample_weight"] = sample_weight
            routed = process_routing(self, "fit", **metadata)
            score = {} if scorer is None else dict(routed.scorer.score)
            return {"split": dict(routed.splitter.split), "score": score}
        for name in metadata:
            if name != "groups":
                raise TypeError(
                    f"fit got {name!r}; it takes sample_weight and groups, and other "
                    "metadata with sklearn.set_config(enable_metadata_routing=True)."
                )
        score = {}
        if scorer is not None and sample_weight is not None:
            # Scorers of make_scorer accept weights, but their metric may not.
            metric = getattr(scorer, "_score_func", scorer)
            if "sample_weight" in inspect.signature(metric).parameters:
                score = {"sample_weight": sample_weight}
        return {"split": metadata, "score": score}


def part_of(params: dict[str, Any], samples: np.ndarray) -> dict[str, Any]:
    """Parameters of the scorer for some of the samples."""
    return {name: take(value, samples) for name, value in params.items()}
