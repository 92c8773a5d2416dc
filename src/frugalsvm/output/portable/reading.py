"""From a fitted estimator to a PortableModel: scalers become means and scales."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from ...api.estimators.fitted import Fitted, open_fitted
from .calibration import from_calibrator, is_finite
from .model import PortableModel
from .parts import Feature, Group, Label, Proof, RefitProof


def read_estimator(
    estimator: Any, units: dict[str, str], metadata: dict[str, str]
) -> PortableModel:
    """See :meth:`PortableModel.from_estimator`."""
    fitted = open_fitted(estimator)
    weights, intercept = fitted.linear()
    columns, means, scales = _affine(fitted)
    names = fitted.column_names
    unknown = [name for name in units if name not in names]
    if unknown:
        raise ValueError(
            f"units has {unknown[0]!r}, which is not a column of the data."
        )
    groups = getattr(fitted.last, "_groups", None)
    is_used = weights != 0
    if groups is not None:
        # All features of a group, so that none of a variable's categories is missing.
        is_used[groups.columns_of(groups.used(is_used))] = True
    used = np.flatnonzero(is_used).tolist()
    features = tuple(
        Feature(
            names[columns[j]], int(columns[j]), float(means[j]), float(scales[j]),
            float(weights[j]), units.get(names[columns[j]]),
        )
        for j in used
    )  # fmt: skip
    first, second = (_label(one) for one in fitted.last.classes_)
    return PortableModel(
        features,
        intercept,
        (first, second),
        fitted.n_columns,
        _calibration(fitted),
        _proof(fitted.last),
        metadata,
        *_groups_and_signs(fitted.last, {j: names[columns[j]] for j in used}),
    )


def _affine(fitted: Fitted) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Column, mean and scale of each feature that the last step sees."""
    columns = np.arange(fitted.n_columns)
    means, scales = np.zeros(columns.size), np.ones(columns.size)
    for step in fitted.transformers:
        if isinstance(step, SelectorMixin):
            kept = step.get_support()
            columns, means, scales = columns[kept], means[kept], scales[kept]
            continue
        mean, scale = _mean_and_scale(step, columns.size)
        # ((x - m1) / s1 - m2) / s2 = (x - (m1 + s1 m2)) / (s1 s2)
        means, scales = means + scales * mean, scales * scale
    return columns, means, scales


def _mean_and_scale(step: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(step, FunctionTransformer) and step.func is None:
        return np.zeros(n), np.ones(n)
    if isinstance(step, StandardScaler):
        # It may have means that it does not use.
        mean = step.mean_ if step.with_mean else None
        return _or(mean, 0.0, n), _or(step.scale_, 1.0, n)
    if isinstance(step, RobustScaler):
        return _or(step.center_, 0.0, n), _or(step.scale_, 1.0, n)
    clips = getattr(step, "clip", False)
    if isinstance(step, MaxAbsScaler) and not clips:
        return np.zeros(n), step.scale_
    if isinstance(step, MinMaxScaler) and not clips:
        return -step.min_ / step.scale_, 1.0 / step.scale_
    raise ValueError(
        f"{type(step).__name__} cannot be expressed by means, scales and weights; "
        "supported are StandardScaler, RobustScaler, MinMaxScaler and MaxAbsScaler "
        "(without clip), and feature selectors."
    )


def _or(values: Any, otherwise: float, n: int) -> np.ndarray:
    return np.full(n, otherwise) if values is None else values


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
    """Groups of several features, and signs; ``names`` are those of used features."""
    groups = getattr(classifier, "_groups", None)
    if groups is None:
        return (), {}
    own = groups.names_by_column
    members: dict[str, list[str]] = {}
    for j, name in names.items():
        members.setdefault(own[j], []).append(name)
    signs = {}
    if groups.signs is not None:
        signs = {
            name: "+" if groups.signs[j] > 0 else "-"
            for j, name in names.items()
            if groups.signs[j]
        }
    several = {name: some for name, some in members.items() if len(some) > 1}
    return tuple(Group(name, tuple(some)) for name, some in several.items()), signs


def _calibration(fitted: Fitted) -> Any:
    if not fitted.calibrators:
        return None
    if len(fitted.calibrators) > 1:
        raise ValueError("the model is calibrated twice; calibrate it once.")
    found = from_calibrator(fitted.calibrators[0])
    if not is_finite(found):
        raise ValueError(f"the calibration is not finite: {found!r}.")
    return found


def _proof(classifier: Any) -> Proof | None:
    """Objective and bound, if the classifier has both."""
    objective = getattr(classifier, "objective_", None)
    bound = getattr(classifier, "lower_bound_", None)
    if objective is None or bound is None or not np.isfinite([objective, bound]).all():
        return None
    certificate = getattr(getattr(classifier, "result_", None), "certificate", None)
    names = ("fingerprint", "checksum")
    digests: dict[str, str] = {}
    if certificate is not None:
        digests = {name: str(certificate.arrays[name]) for name in names}
    status = getattr(classifier, "status_", "feasible")
    refit = getattr(getattr(classifier, "result_", None), "refit", None)
    about = refit and RefitProof(refit.C, refit.objective, refit.lower_bound)
    return Proof(float(objective), float(bound), status, refit=about, **digests)
