"""Conversion of models to and from the content of model.json."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .calibration import from_dict
from .parts import Feature, Group, Numbers, Proof, RefitProof
from .schema import InvalidModel, check, model_schema, shown
from .statistics import Statistics

if TYPE_CHECKING:
    from .model import PortableModel

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
            one["name"], int(one["index"]), _number("mean", one["mean"]),
            _number("scale", one["scale"]), _numbers("weight", one["weight"]),
            one.get("unit"),
        )
        for one in content["features"]
    )  # fmt: skip
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
