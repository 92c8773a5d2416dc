"""Converts between PortableModel and fitted scikit-learn objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ..estimators import Fitted, FrugalSVC, open_fitted
from ..run import different
from .calibration import Calibration, from_calibrator, is_finite
from .content import Feature, Group, Label, Proof, RefitProof, numbers_of
from .encoders import TableColumns, origins_of, terms_of
from .model import PortableModel
from .origins import PREPARATION, takes_columns, to_preparation


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
    # The number is not stored, so that partial_fit would be wrong.
    scaler.n_samples_seen_ = 1
    are_named = any(feature.name != f"x{feature.index}" for feature in model.features)
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


# --- From a fitted estimator to a PortableModel ---------------------------------------


def read_estimator(
    estimator: Any, units: dict[str, str], metadata: dict[str, str]
) -> PortableModel:
    """See :meth:`PortableModel.from_estimator`."""
    fitted = open_fitted(estimator)
    coef, intercepts = fitted.linear()
    columns = fitted.column_names
    terms = terms_of(fitted.transformers, columns)
    unknown = [name for name in units if name not in columns]
    if unknown:
        raise ValueError(
            f"units has {unknown[0]!r}, which is not a column of the data."
        )
    groups = getattr(fitted.last, "_groups", None)
    is_used = (coef != 0).any(axis=0)
    if groups is not None:
        # All features of a group, so that none of a variable's categories is missing.
        is_used[groups.columns_of(groups.features_of(is_used))] = True
    # Sorted by the columns of the table.
    selected = sorted(np.flatnonzero(is_used).tolist(), key=lambda j: terms[j].column)
    names = [terms[j].name for j in selected]
    origins = origins_of([terms[j] for j in selected], terms, columns)
    if origins is not None:
        names = different(names)
        metadata = metadata | {PREPARATION: to_preparation(names, origins)}
    features = []
    for j, name in zip(selected, names, strict=True):
        term, weight = terms[j], numbers_of(coef[:, j])
        unit = units.get(columns[term.column]) if term.values is None else None
        features.append(Feature(name, term.column, term.mean, term.scale, weight, unit))
    return PortableModel(
        tuple(features),
        numbers_of(intercepts),
        tuple(_label(label) for label in fitted.last.classes_),
        fitted.n_columns,
        _calibration(fitted),
        _proof(fitted.last),
        metadata,
        *_groups_and_signs(fitted.last, dict(zip(selected, names, strict=True))),
        is_single=getattr(fitted.last, "_is_single", False),
    )


def _label(value: Any) -> Label:
    plain = value.item() if hasattr(value, "item") else value
    if not isinstance(plain, (str, int, float, bool)):
        raise ValueError(
            f"labels must be text, numbers or booleans, got {plain!r} of type "
            f"{type(plain).__name__}."
        )
    return plain


def _groups_and_signs(
    classifier: Any, names: dict[int, str]
) -> tuple[tuple[Group, ...], dict[str, str]]:
    """Groups of several features, and signs; ``names`` are those of the features."""
    groups = getattr(classifier, "_groups", None)
    if groups is None:
        return (), {}
    group_names = groups.names_by_column
    members: dict[str, list[str]] = {}
    for j, name in names.items():
        members.setdefault(group_names[j], []).append(name)
    signs = {}
    if groups.signs is not None:
        signs = {
            name: "+" if groups.signs[j] > 0 else "-"
            for j, name in names.items()
            if groups.signs[j]
        }
    several = [
        Group(name, tuple(features))
        for name, features in members.items()
        if len(features) > 1
    ]
    return tuple(several), signs


def _calibration(fitted: Fitted) -> Any:
    if not fitted.calibrators:
        return None
    n_classes = len(fitted.last.classes_)
    if n_classes > 2:
        raise ValueError(
            f"the model has {n_classes} classes, and probabilities only of two can be "
            "handed on; give the classifier without its calibration."
        )
    if len(fitted.calibrators) > 1:
        raise ValueError("the model is calibrated twice; calibrate it once.")
    calibration = from_calibrator(fitted.calibrators[0])
    if not is_finite(calibration):
        raise ValueError(f"the calibration is not finite: {calibration!r}.")
    return calibration


def _proof(classifier: Any) -> Proof | None:
    """Objective and bound, if the classifier has both."""
    objective = getattr(classifier, "objective_", None)
    bound = getattr(classifier, "lower_bound_", None)
    if objective is None or bound is None or not np.isfinite([objective, bound]).all():
        return None
    result = getattr(classifier, "result_", None)
    certificate = getattr(result, "certificate", None)
    digests: dict[str, str] = {}
    if certificate is not None:
        names = ("fingerprint", "checksum")
        digests = {name: str(certificate.arrays[name]) for name in names}
    status = getattr(classifier, "status_", "feasible")
    refit = getattr(result, "refit", None)
    weights = refit and RefitProof(refit.C, refit.objective, refit.lower_bound)
    return Proof(float(objective), float(bound), status, refit=weights, **digests)
