"""The parts of a model, and their conversion to and from model.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .calibration import from_dict
from .schema import InvalidModel, check, model_schema, shown
from .statistics import Statistics

if TYPE_CHECKING:
    from .model import PortableModel

Label = str | int | float | bool
# A number, or one for each of more than two classes.
Numbers = float | tuple[float, ...]


@dataclass(frozen=True)
class Feature:
    """A feature with a weight.

    Attributes
    ----------
    name : str
    index : int
        Index of its column in the table that the model was fitted to.
    mean, scale : float
    weight : float or tuple of float
        It contributes ``weight * (value - mean) / scale`` to the score, or to the score
        of each of more than two classes.
    unit : str or None
        Unit of measurement.
    """

    name: str
    index: int
    mean: float
    scale: float
    weight: Numbers
    unit: str | None = None


@dataclass(frozen=True)
class Group:
    """Features that were selected together and counted as one.

    Attributes
    ----------
    name : str
    features : tuple of str
        Their names.
    """

    name: str
    features: tuple[str, ...]


@dataclass(frozen=True)
class RefitProof:
    """Objective of the weights, and bound of all weights of the same features.

    Attributes
    ----------
    C, objective, lower_bound : float
    """

    C: float
    objective: float
    lower_bound: float


@dataclass(frozen=True)
class Proof:
    """Objective of a model, and bound of all models within its budget.

    Attributes
    ----------
    objective, lower_bound : float
    status : str
    fingerprint, checksum : str or None
        SHA-256 of the data and of the certificate, if there is one.
    refit : RefitProof or None
        That of the weights, if their C is not the one that selected the features.
    """

    objective: float
    lower_bound: float
    status: str
    fingerprint: str | None = None
    checksum: str | None = None
    refit: RefitProof | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields in model.json."""
        certificate = None
        if self.fingerprint is not None:
            certificate = {"fingerprint": self.fingerprint, "checksum": self.checksum}
        return {
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "status": self.status,
            "certificate": certificate,
            "refit": None if self.refit is None else asdict(self.refit),
        }


def numbers_of(values: np.ndarray) -> Numbers:
    """A single value as a number, several as a tuple."""
    numbers = tuple(map(float, values))
    return numbers[0] if len(numbers) == 1 else numbers


def check_classes(classes: Sequence[Label]) -> None:
    """Raise InvalidModel unless there are two or more classes of one type."""
    are_alike = len({type(label) for label in classes}) == 1
    if not are_alike or len(set(classes)) < len(classes) or len(classes) < 2:
        raise InvalidModel(
            "classes must be two or more different labels of the same type, got "
            f"{shown(list(classes))}."
        )


def check_numbers(name: str, value: Numbers, n_scores: int) -> None:
    """Raise InvalidModel unless there is a number for each score."""
    n_values = len(value) if isinstance(value, tuple) else 1
    if n_values != n_scores or isinstance(value, tuple) is (n_scores == 1):
        expected = "a number" if n_scores == 1 else f"a tuple of {n_scores} numbers"
        raise InvalidModel(
            f"{name} must be {expected}, as there are "
            f"{2 if n_scores == 1 else n_scores} classes; got {shown(value)}."
        )


def check_groups(
    groups: Sequence[Group], signs: Mapping[str, str], names: Collection[str]
) -> None:
    """Raise InvalidModel unless groups are disjoint sets of known features."""
    members = [name for group in groups for name in group.features]
    for name in [*members, *signs]:
        if name not in names:
            raise InvalidModel(
                f"groups and signs are about features, but there is no {shown(name)}."
            )
    if len(set(members)) < len(members):
        twice, _ = Counter(members).most_common(1)[0]
        raise InvalidModel(f"groups has feature {shown(twice)} twice.")
    group_names = Counter(group.name for group in groups)
    if len(group_names) < len(groups):
        raise InvalidModel(
            f"groups has the name {shown(group_names.most_common(1)[0][0])} twice."
        )


def check_features(
    features: Sequence[Feature], n_features_in: int, of_columns: bool
) -> None:
    """Raise InvalidModel unless names are unique and indices increasing.

    Several features may come from the same column of a table.
    """
    names = [feature.name for feature in features]
    indices = [feature.index for feature in features]
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise InvalidModel(f"features has {shown(twice)} twice; names must be unique.")
    if any(b < a or (b == a and not of_columns) for a, b in pairwise(indices)):
        raise InvalidModel(f"features must be sorted by index, got {shown(indices)}.")
    if indices and indices[-1] >= n_features_in:
        raise InvalidModel(
            f"features has index {shown(indices[-1])}, but n_features_in is "
            f"{shown(n_features_in)}."
        )


# --- Conversion to and from the content of model.json ---------------------------------

FORMAT, VERSION = "frugalsvm-model", 1


def to_content(model: PortableModel) -> dict[str, Any]:
    """The content of a model's file, checked against the schema."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "classes": list(model.classes),
        "n_features_in": model.n_features_in,
        "features": [
            asdict(feature) | {"weight": _listed(feature.weight)}
            for feature in model.features
        ],
        "intercept": _listed(model.intercept),
        "calibration": model.calibration and model.calibration.to_dict(),
        "proof": model.proof and model.proof.to_dict(),
        "metadata": dict(model.metadata),
    }
    if model.groups:
        content["groups"] = [
            {"name": group.name, "features": list(group.features)}
            for group in model.groups
        ]
    if model.signs:
        content["signs"] = dict(model.signs)
    if model.is_single:
        content["single_precision"] = True
    if model.threshold is not None:
        content["threshold"] = model.threshold
    if model.statistics is not None:
        content["statistics"] = model.statistics.to_dict()
    check(content, model_schema())
    return content


def from_content(content: Any) -> dict[str, Any]:
    """The attributes of a model, by name, from the content of its file."""
    _check_version(content)
    check(content, model_schema())
    features = tuple(
        Feature(
            feature["name"],
            int(feature["index"]),
            _number("mean", feature["mean"]),
            _number("scale", feature["scale"]),
            _numbers("weight", feature["weight"]),
            feature.get("unit"),
        )
        for feature in content["features"]
    )
    calibration = content.get("calibration")
    proof = content.get("proof")
    return {
        "features": features,
        "intercept": _numbers("intercept", content["intercept"]),
        "classes": tuple(content["classes"]),
        "n_features_in": int(content["n_features_in"]),
        "calibration": from_dict(calibration) if calibration else None,
        "proof": _proof(proof) if proof else None,
        "metadata": content.get("metadata", {}),
        "groups": tuple(
            Group(group["name"], tuple(group["features"]))
            for group in content.get("groups", ())
        ),
        "signs": content.get("signs", {}),
        "threshold": _number("threshold", content["threshold"])
        if "threshold" in content
        else None,
        "statistics": Statistics.from_dict(content["statistics"])
        if "statistics" in content
        else None,
        "is_single": content.get("single_precision", False),
    }


def _proof(fields: dict[str, Any]) -> Proof:
    certificate = fields.get("certificate") or {}
    refit = fields.get("refit")
    numbers = ("C", "objective", "lower_bound")
    return Proof(
        _number("objective", fields["objective"]),
        _number("lower_bound", fields["lower_bound"]),
        fields["status"],
        certificate.get("fingerprint"),
        certificate.get("checksum"),
        refit and RefitProof(*(_number(name, refit[name]) for name in numbers)),
    )


def _number(name: str, value: float) -> float:
    """A float; JSON allows integers that are too large for one."""
    try:
        return float(value)
    except OverflowError as error:
        raise InvalidModel(
            f"{name} must be a finite number; it is too large."
        ) from error


def _listed(numbers: Numbers) -> Any:
    return list(numbers) if isinstance(numbers, tuple) else numbers


def _numbers(name: str, value: Any) -> Numbers:
    """A number, or a list of them."""
    if isinstance(value, list):
        return tuple(_number(name, number) for number in value)
    return _number(name, value)


def _check_version(content: Any) -> None:
    """Raise InvalidModel for other files, and for models that are too new."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidModel(f"not a model: format is not {FORMAT!r}.")
    version = content.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise InvalidModel(
            f"the model has version {shown(version)}, but this frugalsvm reads version "
            f"{VERSION}; upgrade frugalsvm."
        )
