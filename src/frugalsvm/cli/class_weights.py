"""Weights of classes: the option --class-weight."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..run import quote
from ..tables import Target
from .session import UsageProblem

AUTO, BALANCED, NONE = RULES = ("auto", "balanced", "none")
# A class of two with a smaller fraction of the rows is rare: 2 / (3 K).
RARE = 1.0 / 3.0
# Limits of a weight; a class without weight would not be learned.
LEAST, MOST = 1e-6, 1e6

# The value of the option: a rule, or weights by label.
Rule = str | dict[str, float]


@dataclass(frozen=True)
class ClassWeights:
    """Weights of errors in rows of either class.

    Attributes
    ----------
    option : str
        The user's choice: auto, balanced, none or labels.
    labels : tuple of two str
        Of the negative and of the positive class.
    fixed : tuple of two float or None
        Weights of these classes; None if they are balanced, which is learned from the
        rows at hand, or if all rows count the same.
    is_balanced : bool
    share : float
        Fraction of the rows that are of the rarer class.
    rarer : int
        The index of that class.
    """

    option: str
    labels: tuple[str, str]
    fixed: tuple[float, float] | None
    is_balanced: bool
    share: float
    rarer: int

    @classmethod
    def of(cls, rule: Rule, target: Target) -> ClassWeights:
        """The weights that an option means for the rows of a table."""
        first, second = target.classes
        labels = str(first), str(second)
        rarer = int(np.argmin(target.counts))
        share = target.counts[rarer] / max(1, sum(target.counts))
        if isinstance(rule, dict):
            return cls("labels", labels, _fixed(rule, target), False, share, rarer)
        is_balanced = rule == BALANCED or (rule == AUTO and share < RARE)
        return cls(rule, labels, None, is_balanced, share, rarer)

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

    def text(self, signs: np.ndarray) -> str:
        """The weights for people; empty if all are 1."""
        if not self.is_weighted:
            return ""
        pairs = zip(self.labels, self.pair(signs), strict=True)
        text = ", ".join(
            f"{quote(label)} counts {weight:.4g}" for label, weight in pairs
        )
        return f"balanced ({text})" if self.is_balanced else text

    def remark(self, signs: np.ndarray) -> str:
        """A remark on the weights and their reason; empty if all are 1."""
        text = self.text(signs)
        if not text:
            return ""
        if self.option != AUTO:
            return f"class weights: {text}"
        weights = text.removeprefix(f"{BALANCED} ")
        return (
            f"class weights: balanced, because only {100 * self.share:.1f} % of the "
            f"rows are {quote(self.labels[self.rarer])} {weights}; --class-weight none "
            "for equal weights"
        )

    def as_dict(self, signs: np.ndarray) -> dict[str, Any]:
        """The weights for JSON."""
        kind = BALANCED if self.is_balanced else NONE if self.fixed is None else "fixed"
        pairs = zip(self.labels, self.pair(signs), strict=True)
        return {"option": self.option, "kind": kind, "weights": dict(pairs)}


def parse_class_weight(text: str) -> Rule:
    """A rule, or weights like "sick=10,well=1"."""
    if text.strip().lower() in RULES:
        return text.strip().lower()
    weights: dict[str, float] = {}
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
        if label in weights:
            raise UsageProblem(f"--class-weight: {label!r} is given twice.")
        weights[label] = weight
    return weights


def _fixed(by_label: dict[str, float], target: Target) -> tuple[float, float]:
    """Weights by class; a class that is not named counts 1."""
    weights = [1.0, 1.0]
    for label, weight in by_label.items():
        matches = [k for k in (0, 1) if _is_label(label, target.classes[k])]
        if not matches:
            classes = " and ".join(repr(str(name)) for name in target.classes)
            raise UsageProblem(
                f"--class-weight: {label!r} is no class of {target.name!r}; its "
                f"classes are {classes}."
            )
        weights[matches[0]] = weight
    return weights[0], weights[1]


def _is_label(text: str, label: Any) -> bool:
    if text == str(label):
        return True
    try:
        return not isinstance(label, str) and float(text) == float(label)
    except ValueError:
        return False
