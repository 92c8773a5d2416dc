"""Weights of classes: what --class-weight means for a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..run.words import quote
from ..tables import Target
from .session import UsageProblem

AUTO, BALANCED, NONE = WORDS = ("auto", "balanced", "none")
# With two classes, one with a smaller fraction of the rows is rare: 2 / (3 K).
RARE = 1.0 / 3.0
# The weights that may be given; a class without weight would not be learned.
LEAST, MOST = 1e-6, 1e6

# What the option says: one of the words, or weights of labels.
Given = str | dict[str, float]


@dataclass(frozen=True)
class ClassWeights:
    """How much an error counts in a row of either class.

    Attributes
    ----------
    option : str
        What the user gave: auto, balanced, none or labels.
    labels : tuple of two str
        Of the negative and of the positive class.
    fixed : tuple of two float or None
        Weights of these classes; None if they are balanced, which is learned from the
        rows at hand, or if all rows count the same.
    is_balanced : bool
    share : float
        Fraction of the rows that are of the rarer class.
    rarer : int
        Which class that is.
    """

    option: str
    labels: tuple[str, str]
    fixed: tuple[float, float] | None
    is_balanced: bool
    share: float
    rarer: int

    @classmethod
    def of(cls, given: Given, target: Target) -> ClassWeights:
        """What an option means for the rows of a table."""
        first, second = target.classes
        labels = str(first), str(second)
        rarer = int(np.argmin(target.counts))
        share = target.counts[rarer] / max(1, sum(target.counts))
        if isinstance(given, dict):
            return cls("labels", labels, _fixed(given, target), False, share, rarer)
        is_balanced = given == BALANCED or (given == AUTO and share < RARE)
        return cls(given, labels, None, is_balanced, share, rarer)

    @property
    def is_weighted(self) -> bool:
        """Whether rows may count differently."""
        return self.is_balanced or self.fixed is not None

    def pair(self, signs: np.ndarray) -> tuple[float, float]:
        """Weights of the negative and of the positive class, for some rows."""
        if self.fixed is not None:
            return self.fixed
        if not self.is_balanced:
            return 1.0, 1.0
        n_positive = int(np.count_nonzero(signs > 0))
        counts = signs.size - n_positive, n_positive
        # Rows of one class are refused later, with a better message.
        first, second = (signs.size / (2.0 * max(1, n)) for n in counts)
        return first, second

    def of_rows(self, signs: np.ndarray) -> np.ndarray | None:
        """Weights of some rows, learned from them alone; None if all are 1."""
        if not self.is_weighted:
            return None
        negative, positive = self.pair(signs)
        return np.where(signs > 0, positive, negative)

    def words(self, signs: np.ndarray) -> str:
        """The weights for people; empty if all are 1."""
        if not self.is_weighted:
            return ""
        shown = zip(self.labels, self.pair(signs), strict=True)
        text = ", ".join(
            f"{quote(label)} counts {weight:.4g}" for label, weight in shown
        )
        return f"balanced ({text})" if self.is_balanced else text

    def said(self, signs: np.ndarray) -> str:
        """A remark on the weights and their reason; empty if all are 1."""
        words = self.words(signs)
        if not words:
            return ""
        if self.option != AUTO:
            return f"class weights: {words}"
        weights = words.removeprefix(f"{BALANCED} ")
        return (
            f"class weights: balanced, because only {100 * self.share:.1f} % of the "
            f"rows are {quote(self.labels[self.rarer])} {weights}; --class-weight none "
            "for equal weights"
        )

    def as_dict(self, signs: np.ndarray) -> dict[str, Any]:
        """The same for JSON."""
        kind = BALANCED if self.is_balanced else NONE if self.fixed is None else "fixed"
        pairs = zip(self.labels, self.pair(signs), strict=True)
        return {"option": self.option, "kind": kind, "weights": dict(pairs)}


def parse_class_weight(text: str) -> Given:
    """One of the words, or weights like "sick=10,well=1"."""
    if text.strip().lower() in WORDS:
        return text.strip().lower()
    found: dict[str, float] = {}
    # A comma inside a label does not begin another weight.
    for part in re.split(r",(?=[^,]*=)", text):
        label, sign, number = part.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = -1.0
        label = label.strip()
        if not sign or not label or not LEAST <= weight <= MOST:
            raise UsageProblem(
                "--class-weight must be auto, balanced, none, or weights between "
                f"{LEAST:g} and {MOST:g} like sick=10,well=1; got {text!r}."
            )
        if label in found:
            raise UsageProblem(f"--class-weight: {label!r} is given twice.")
        found[label] = weight
    return found


def _fixed(given: dict[str, float], target: Target) -> tuple[float, float]:
    """Weights by class; a class that is not named counts 1."""
    weights = [1.0, 1.0]
    for label, weight in given.items():
        places = [k for k, one in enumerate(target.classes) if _is_label(label, one)]
        if not places:
            known = " and ".join(repr(str(one)) for one in target.classes)
            raise UsageProblem(
                f"--class-weight: {label!r} is no class of {target.name!r}; its "
                f"classes are {known}."
            )
        weights[places[0]] = weight
    return weights[0], weights[1]


def _is_label(text: str, label: Any) -> bool:
    if text == str(label):
        return True
    try:
        return not isinstance(label, str) and float(text) == float(label)
    except ValueError:
        return False
