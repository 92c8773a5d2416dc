"""Converts a PortableModel to fitted scikit-learn objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ..estimators import FrugalSVC
from .calibration import Calibration
from .origins import takes_columns
from .raw_columns import input_columns

if TYPE_CHECKING:
    from .model import PortableModel


@dataclass
class Calibrated:
    """A classifier with its calibration, for ``calibrated_classifiers_``."""

    estimator: Any
    calibrators: list[Calibration]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the two classes."""
        score = self.estimator.decision_function(X)
        positive = self.calibrators[0].probability(score)
        return np.column_stack([1.0 - positive, positive])


class TableColumns(TransformerMixin, BaseEstimator):
    """A fitted transformer: from the columns of a table to the features of a model.

    Parameters
    ----------
    model : PortableModel
        One whose input is the columns of a table.
    """

    def __init__(self, model: PortableModel):
        self.model = model
        columns = input_columns(model)
        self.n_features_in_ = len(columns)
        if any(name != f"x{place}" for name, place in columns.items()):
            self.feature_names_in_ = np.array(list(columns), dtype=object)

    def fit(self, X: Any, y: Any = None) -> TableColumns:
        """Nothing is learned."""
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The features of the rows of a table."""
        return self.model.select(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features."""
        return np.array(self.model.names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def build_pipeline(model: PortableModel) -> Any:
    """See :meth:`PortableModel.to_pipeline`."""
    if not model.features:
        raise ValueError(
            "the model uses no features, and scikit-learn does not accept a table "
            "without columns."
        )
    limit, by = model.threshold, "by a positive one"
    if model.calibration is not None:
        by = "by a probability above one half"
    if limit is not None and (limit != 0 or model.calibration is not None):
        raise ValueError(
            f"the model predicts by a score above {limit:g}, and a pipeline only {by}; "
            "use predict or decision_function of the model."
        )
    scaler = _scaler(model)
    steps: list[tuple[str, Any]] = [("scaler", scaler)]
    if takes_columns(model):
        steps.insert(0, ("columns", TableColumns(model)))
    first = steps[0][1]
    pipeline = Pipeline([*steps, ("classifier", _classifier(model))])
    if model.calibration is None:
        return pipeline
    method = model.calibration.to_dict()["method"]
    calibrated = CalibratedClassifierCV(pipeline, method=method, ensemble=False)
    calibrated.calibrated_classifiers_ = [Calibrated(pipeline, [model.calibration])]
    calibrated.classes_ = np.array(model.classes)
    calibrated.n_features_in_ = first.n_features_in_
    if hasattr(first, "feature_names_in_"):
        calibrated.feature_names_in_ = first.feature_names_in_
    return calibrated


def _scaler(model: PortableModel) -> StandardScaler:
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_ = model.column("mean"), model.column("scale")
    scaler.var_ = scaler.scale_**2
    scaler.n_features_in_ = len(model.features)
    # The actual number is not stored; partial_fit would be wrong.
    scaler.n_samples_seen_ = 1
    are_named = any(one.name != f"x{one.index}" for one in model.features)
    if are_named and not takes_columns(model):
        scaler.feature_names_in_ = np.array(model.names, dtype=object)
    return scaler


def _classifier(model: PortableModel) -> FrugalSVC:
    classifier = FrugalSVC(len(model.features))
    classifier.coef_ = model.coef
    classifier.intercept_ = model.intercepts
    classifier.classes_ = np.array(model.classes)
    classifier.n_features_in_ = len(model.features)
    classifier._included = np.empty(0, dtype=np.int64)
    if model.proof is not None:
        classifier.objective_ = model.proof.objective
        classifier.lower_bound_ = model.proof.lower_bound
        classifier.status_ = model.proof.status
    return classifier
