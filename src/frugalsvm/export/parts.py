"""The parts of a model: its features, and what is proved about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .schema import InvalidModel, shown

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
