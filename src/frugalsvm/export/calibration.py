"""Calibration: turns scores into probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .schema import InvalidModel


@dataclass(frozen=True)
class Sigmoid:
    """Platt's sigmoid: 1 / (1 + exp(a s + b)) for a score s."""

    a: float
    b: float

    def probability(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the second class."""
        return expit(-(self.a * scores + self.b))

    def score(self, probability: float) -> float | None:
        """The score of a probability; None if it does not rise with the score."""
        if not self.a < 0:
            return None
        return (math.log((1.0 - probability) / probability) - self.b) / self.a

    def to_dict(self) -> dict[str, Any]:
        """The fields in model.json."""
        return {"method": "sigmoid", "a": self.a, "b": self.b}


@dataclass(frozen=True)
class Isotonic:
    """Linear between points, constant beyond them."""

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.scores) != len(self.probabilities):
            raise InvalidModel(
                f"calibration has {len(self.scores)} scores, but "
                f"{len(self.probabilities)} probabilities."
            )
        if any(b <= a for a, b in pairwise(self.scores)):
            raise InvalidModel("calibration.scores must be increasing.")

    def probability(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the second class."""
        return np.interp(scores, self.scores, self.probabilities)

    def to_dict(self) -> dict[str, Any]:
        """The fields in model.json."""
        return {
            "method": "isotonic",
            "scores": list(self.scores),
            "probabilities": list(self.probabilities),
        }


Calibration = Sigmoid | Isotonic


def from_dict(fields: dict[str, Any]) -> Calibration:
    """From the checked content of model.json."""
    try:
        if fields["method"] == "sigmoid":
            return Sigmoid(float(fields["a"]), float(fields["b"]))
        return Isotonic(
            tuple(map(float, fields["scores"])),
            tuple(map(float, fields["probabilities"])),
        )
    except OverflowError as error:
        raise InvalidModel("calibration has a number beyond 1e308.") from error


def from_calibrator(calibrator: Any) -> Calibration:
    """Convert a calibrator of scikit-learn."""
    if isinstance(calibrator, (Sigmoid, Isotonic)):
        return calibrator
    if hasattr(calibrator, "a_"):
        return Sigmoid(float(calibrator.a_), float(calibrator.b_))
    if hasattr(calibrator, "X_thresholds_"):
        return Isotonic(
            tuple(map(float, calibrator.X_thresholds_)),
            tuple(map(float, calibrator.y_thresholds_)),
        )
    if hasattr(calibrator, "beta_"):
        # Temperature scaling has the logits -s and s.
        return Sigmoid(-2.0 * float(calibrator.beta_), 0.0)
    raise ValueError(
        f"calibration {type(calibrator).__name__} is not supported; use sigmoid, "
        "isotonic or temperature."
    )


def fit_sigmoid(
    scores: np.ndarray, positive: np.ndarray, counts: np.ndarray | None = None
) -> Sigmoid:
    """Platt's sigmoid by Newton's method, with his targets between 0 and 1.

    A score may stand for a number of samples, of which a share is positive.
    """
    counts = np.ones(scores.size) if counts is None else counts
    n_positive = float((counts * positive).sum())
    n_negative = float(counts.sum()) - n_positive
    high, low = (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2)
    targets = low + (high - low) * positive
    centre = np.average(scores, weights=counts)
    spread = np.sqrt(np.average((scores - centre) ** 2, weights=counts))
    if not spread > 0:
        mean = np.average(targets, weights=counts)
        return Sigmoid(0.0, float(np.log((1 - mean) / mean)))
    design = np.column_stack([(scores - centre) / spread, np.ones(scores.size)])
    w = np.zeros(2)
    for _ in range(100):
        step = _newton_step(design, targets, counts, w)
        w = w + step
        if np.abs(step).max() < 1e-12 * max(1.0, np.abs(w).max()):
            break
    slope = w[0] / spread
    return Sigmoid(float(-slope), float(slope * centre - w[1]))


def _newton_step(
    design: np.ndarray, targets: np.ndarray, counts: np.ndarray, w: np.ndarray
) -> np.ndarray:
    """A step that lowers the loss, shortened if Newton's step is too long."""
    p = expit(design @ w)
    curvature = (design.T * (counts * p * (1 - p))) @ design + 1e-12 * np.eye(2)
    step = np.linalg.solve(curvature, design.T @ (counts * (targets - p)))
    before = _loss(design @ w, targets, counts)
    for _ in range(50):
        if _loss(design @ (w + step), targets, counts) <= before:
            return step
        step = step / 2
    return np.zeros(2)


def _loss(logits: np.ndarray, targets: np.ndarray, counts: np.ndarray) -> float:
    return float((counts * (np.logaddexp(0.0, logits) - targets * logits)).sum())


def expit(z: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-z)) without overflow."""
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, 1.0 / (1.0 + small), small / (1.0 + small))


def is_finite(calibration: Calibration) -> bool:
    """Whether all numbers of a calibration are finite."""
    numbers: list[float] = []
    for value in vars(calibration).values():
        numbers += value if isinstance(value, tuple) else [value]
    return all(map(math.isfinite, numbers))
