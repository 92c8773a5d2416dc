"""Thresholds: from which score on a row is positive, if not from zero."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from .errors import UsageProblem
from .fitting import Fit
from .study import PreparedTable
from .validation import Validation, scores_of_all


class ErrorCosts(NamedTuple):
    """What errors cost, relative to one another.

    Attributes
    ----------
    fp : float
        A negative row that is predicted to be positive.
    fn : float
        A positive row that is predicted to be negative.
    """

    fp: float
    fn: float

    @property
    def probability(self) -> float:
        """From this probability on, predicting the positive class costs less."""
        return self.fp / (self.fp + self.fn)


class Wanted(NamedTuple):
    """What was asked for.

    Attributes
    ----------
    threshold : float or None
        A score, or a probability.
    costs : ErrorCosts or None
    is_probability : bool
        Whether the threshold is one.
    """

    threshold: float | None = None
    costs: ErrorCosts | None = None
    is_probability: bool = False

    @property
    def is_any(self) -> bool:
        """Whether anything was."""
        return self.threshold is not None or self.costs is not None


def parse_threshold(
    threshold: float | None, costs: str | None, *, calibrate: bool, folds: int
) -> Wanted:
    """The options --threshold and --error-costs."""
    if threshold is not None and costs is not None:
        raise UsageProblem("give --threshold or --error-costs, not both.")
    if threshold is not None and not np.isfinite(threshold):
        raise UsageProblem(f"--threshold must be a number, got {threshold!r}.")
    if threshold is not None and calibrate and not 0 < threshold < 1:
        raise UsageProblem(
            "--threshold is a probability with --calibrate, between 0 and 1; got "
            f"{threshold:g}."
        )
    if costs is None:
        return Wanted(threshold, is_probability=calibrate)
    if folds == 0:
        raise UsageProblem("--error-costs needs cross-validation; remove --folds 0.")
    found = dict(re.findall(r"(fp|fn)=([^,]*)", costs.replace(" ", "")))
    try:
        fp, fn = float(found["fp"]), float(found["fn"])
    except (KeyError, ValueError):
        fp = fn = -1.0
    if not (0 < fp < np.inf and 0 < fn < np.inf) or costs.count("=") != 2:
        raise UsageProblem(
            "--error-costs must have two positive numbers, like fp=1,fn=5 (fp: a "
            f"negative row called positive, fn: a positive one missed); got {costs!r}."
        )
    return Wanted(None, ErrorCosts(fp, fn))


def with_threshold(
    wanted: Wanted, data: PreparedTable, fit: Fit, validation: Validation | None
) -> Fit | None:
    """The model with its threshold; None if there is nothing to learn it from.

    With costs of errors, the positive class is predicted where its probability is
    above ``fp / (fp + fn)``. The probabilities are those of held-out rows.
    """
    threshold = wanted.threshold
    share = None if wanted.costs is None else wanted.costs.probability
    sigmoid = fit.calibration
    if wanted.is_probability:
        share = threshold
    if share is not None:
        if validation is None:
            return None
        if sigmoid is None:
            sigmoid = validation.calibration(data.target.positive)
        threshold = sigmoid.score(share)
    if threshold is None:
        return None
    return fit.above(threshold, scores_of_all(data, fit.preparation, fit.model))


def errors_of_100(
    data: PreparedTable, validation: Validation, threshold: float
) -> dict[str, float]:
    """False alarms and misses in 100 held-out rows, above a threshold."""
    rows = validation.held_out
    called, positive = validation.scores[rows] > threshold, data.target.positive[rows]
    counts = {"fp": called & ~positive, "fn": ~called & positive}
    return {name: 100.0 * float(np.mean(one)) for name, one in counts.items()}


def threshold_content(
    data: PreparedTable, fit: Fit, validation: Validation | None
) -> dict[str, Any] | None:
    """The threshold for JSON."""
    if fit.threshold is None:
        return None
    content: dict[str, Any] = {"score": fit.threshold}
    if validation is not None:
        content["errors_per_100"] = errors_of_100(data, validation, fit.threshold)
        content["errors_per_100_above_zero"] = errors_of_100(data, validation, 0.0)
    return content


def threshold_lines(
    data: PreparedTable, fit: Fit, validation: Validation | None
) -> list[str]:
    """The threshold in words."""
    if fit.threshold is None:
        return []
    first, second = data.target.classes
    lines = [f"a score above {fit.threshold:+.6g} is predicted to be {second}"]
    if validation is not None:
        own = errors_of_100(data, validation, fit.threshold)
        usual = errors_of_100(data, validation, 0.0)
        lines.append(
            f"  (of 100 held-out rows, {own['fn']:.1f} that are {second} are missed, "
            f"and {own['fp']:.1f} that are {first} are false alarms; with a threshold "
            f"of zero {usual['fn']:.1f} and {usual['fp']:.1f})"
        )
    return lines
