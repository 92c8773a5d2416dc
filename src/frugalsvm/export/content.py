"""Conversion of models to and from the content of model.json."""

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

# --- The parts of a model: its features, and what is proved about it ------------------

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
    """What is proved about the weights, among all weights of the same features.

    Attributes
    ----------
    C, objective, lower_bound : float
    """

    C: float
    objective: float
    lower_bound: float


@dataclass(frozen=True)
class Proof:
    """What is proved about a model, among all models within its budget.

    Attributes
    ----------
    objective, lower_bound : float
    status : str
    fingerprint, checksum : str or None
        SHA-256 of the data and of the certificate, if there is one.
    refit : RefitProof or None
        About the weights, if they were computed with another C than the one that
        selected the features.
    """

    objective: float
    lower_bound: float
    status: str
    fingerprint: str | None = None
    checksum: str | None = None
    refit: RefitProof | None = None

    def to_dict(self) -> dict[str, Any]:
        """As in model.json."""
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
    found = tuple(map(float, values))
    return found[0] if len(found) == 1 else found


def check_classes(classes: Sequence[Label]) -> None:
    """Raise InvalidModel unless there are two or more classes of one type."""
    are_alike = len({type(one) for one in classes}) == 1
    if not are_alike or len(set(classes)) < len(classes) or len(classes) < 2:
        raise InvalidModel(
            "classes must be two or more different labels of the same type, got "
            f"{shown(list(classes))}."
        )


def check_numbers(name: str, given: Numbers, n_scores: int) -> None:
    """Raise InvalidModel unless there is a number for each score."""
    n_given = len(given) if isinstance(given, tuple) else 1
    if n_given != n_scores or isinstance(given, tuple) is (n_scores == 1):
        wanted = "a number" if n_scores == 1 else f"a tuple of {n_scores} numbers"
        raise InvalidModel(
            f"{name} must be {wanted}, as there are "
            f"{2 if n_scores == 1 else n_scores} classes; got {shown(given)}."
        )


def check_groups(
    groups: Sequence[Group], signs: Mapping[str, str], known: Collection[str]
) -> None:
    """Raise InvalidModel unless groups are disjoint sets of known features."""
    members = [name for one in groups for name in one.features]
    for name in [*members, *signs]:
        if name not in known:
            raise InvalidModel(
                f"groups and signs are about features, but there is no {shown(name)}."
            )
    if len(set(members)) < len(members):
        twice, _ = Counter(members).most_common(1)[0]
        raise InvalidModel(f"groups has feature {shown(twice)} twice.")
    names = Counter(one.name for one in groups)
    if len(names) < len(groups):
        raise InvalidModel(
            f"groups has the name {shown(names.most_common(1)[0][0])} twice."
        )


def check_features(
    features: Sequence[Feature], n_features_in: int, of_columns: bool
) -> None:
    """Raise InvalidModel unless names are unique and indices increasing.

    Several features may come from the same column of a table.
    """
    names = [one.name for one in features]
    places = [one.index for one in features]
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise InvalidModel(f"features has {shown(twice)} twice; names must be unique.")
    if any(b < a or (b == a and not of_columns) for a, b in pairwise(places)):
        raise InvalidModel(f"features must be sorted by index, got {shown(places)}.")
    if places and places[-1] >= n_features_in:
        raise InvalidModel(
            f"features has index {shown(places[-1])}, but n_features_in is "
            f"{shown(n_features_in)}."
        )


# --- Conversion of models to and from the content of model.json -----------------------

FORMAT, VERSION = "frugalsvm-model", 1


def to_content(model: PortableModel) -> dict[str, Any]:
    """The content of a model's file, checked against the schema."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "classes": list(model.classes),
        "n_features_in": model.n_features_in,
        "features": [
            asdict(one) | {"weight": _listed(one.weight)} for one in model.features
        ],
        "intercept": _listed(model.intercept),
        "calibration": model.calibration and model.calibration.to_dict(),
        "proof": model.proof and model.proof.to_dict(),
        "metadata": dict(model.metadata),
    }
    if model.groups:
        content["groups"] = [
            {"name": one.name, "features": list(one.features)} for one in model.groups
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
            one["name"],
            int(one["index"]),
            _number("mean", one["mean"]),
            _number("scale", one["scale"]),
            _numbers("weight", one["weight"]),
            one.get("unit"),
        )
        for one in content["features"]
    )
    fitted = content.get("calibration")
    known = content.get("proof")
    return {
        "features": features,
        "intercept": _numbers("intercept", content["intercept"]),
        "classes": tuple(content["classes"]),
        "n_features_in": int(content["n_features_in"]),
        "calibration": from_dict(fitted) if fitted else None,
        "proof": _proof(known) if known else None,
        "metadata": content.get("metadata", {}),
        "groups": tuple(
            Group(one["name"], tuple(one["features"]))
            for one in content.get("groups", ())
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


def _proof(known: dict[str, Any]) -> Proof:
    certificate = known.get("certificate") or {}
    refit = known.get("refit")
    numbers = ("C", "objective", "lower_bound")
    return Proof(
        _number("objective", known["objective"]),
        _number("lower_bound", known["lower_bound"]),
        known["status"],
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


def _numbers(name: str, given: Any) -> Numbers:
    """A number, or a list of them."""
    if isinstance(given, list):
        return tuple(_number(name, one) for one in given)
    return _number(name, given)


def _check_version(content: Any) -> None:
    """Report a file that is too new, before its form is checked."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidModel(f"not a model: format is not {FORMAT!r}.")
    version = content.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise InvalidModel(
            f"the model has version {shown(version)}, but this frugalsvm reads version "
            f"{VERSION}; upgrade frugalsvm."
        )
