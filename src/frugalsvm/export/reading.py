"""From a fitted estimator to a PortableModel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators.fitted import Fitted, open_fitted
from ..run.words import different
from .calibration import from_calibrator, is_finite
from .encoders import terms_of
from .model import PortableModel
from .origins import PREPARATION, to_preparation
from .parts import Feature, Group, Label, Proof, RefitProof, numbers_of
from .terms import origins_of


def read_estimator(
    estimator: Any, units: dict[str, str], metadata: dict[str, str]
) -> PortableModel:
    """See :meth:`PortableModel.from_estimator`."""
    fitted = open_fitted(estimator)
    coef, intercepts = fitted.linear()
    names = fitted.column_names
    terms = terms_of(fitted.transformers, names)
    unknown = [name for name in units if name not in names]
    if unknown:
        raise ValueError(
            f"units has {unknown[0]!r}, which is not a column of the data."
        )
    groups = getattr(fitted.last, "_groups", None)
    is_used = (coef != 0).any(axis=0)
    if groups is not None:
        # All features of a group, so that none of a variable's categories is missing.
        is_used[groups.columns_of(groups.used(is_used))] = True
    # Sorted by the columns of the table.
    used = sorted(np.flatnonzero(is_used).tolist(), key=lambda j: terms[j].column)
    chosen = [terms[j] for j in used]
    made = [one.name for one in chosen]
    origins = origins_of(chosen, terms, names)
    if origins is not None:
        made = different(made)
        metadata = metadata | {PREPARATION: to_preparation(made, origins)}
    features = tuple(
        Feature(name, one.column, one.mean, one.scale, numbers_of(coef[:, j]),
                units.get(names[one.column]) if one.values is None else None)
        for j, one, name in zip(used, chosen, made, strict=True)
    )  # fmt: skip
    return PortableModel(
        features,
        numbers_of(intercepts),
        tuple(_label(one) for one in fitted.last.classes_),
        fitted.n_columns,
        _calibration(fitted),
        _proof(fitted.last),
        metadata,
        *_groups_and_signs(fitted.last, dict(zip(used, made, strict=True))),
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
    n_classes = len(fitted.last.classes_)
    if n_classes > 2:
        raise ValueError(
            f"the model has {n_classes} classes, and probabilities only of two can be "
            "handed on; give the classifier without its calibration."
        )
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
