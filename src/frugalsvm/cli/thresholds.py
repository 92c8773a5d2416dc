"""Thresholds: from which score on a row is positive, if not from zero."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..report import (
    CrossValidation,
    ErrorCosts,
    Score,
    ScoreThreshold,
    cross_validation_of,
)
from ..report.headline import Names, quality
from ..report.words import MINUS, NARROW, named
from ..run.words import quote
from ..solving.constant import ConstantModel, sign_of
from .choosing import Fit
from .session import UsageProblem
from .study import Conditions, PreparedTable
from .validation import Validation, scores_of_all

# The dearer error may cost at most this many times as much as the other: sums of costs
# that differ by its inverse, relative to them, count as equal.
LARGEST_RATIO = 1e12


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


@dataclass(frozen=True)
class ConstantByThreshold(ConstantModel):
    """What there is to say if all scores are on one side of the threshold.

    Attributes
    ----------
    costs : ErrorCosts or None
        What errors cost, if the threshold was learned from that.
    """

    costs: ErrorCosts | None = None

    @property
    def command_line_remedy(self) -> str:
        """What may help: it is the threshold that makes the model constant."""
        if self.costs is None:
            return (
                f"All scores are on the side of {quote(self.label)}: give another "
                "--threshold, or leave it out."
            )
        return (
            f"With --error-costs fp={self.costs.fp:g},fn={self.costs.fn:g}, calling "
            f"every row {quote(self.label)} is the cheapest this model can do. Give "
            "other costs, use more or other features, or leave --error-costs out."
        )


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
    # Multiplied, since the quotient could overflow.
    if max(fp, fn) > LARGEST_RATIO * min(fp, fn):
        dear, cheap = ("fp", "fn") if fp > fn else ("fn", "fp")
        raise UsageProblem(
            f"--error-costs: {dear} may be at most {LARGEST_RATIO:g} times {cheap}, or "
            f"the cheaper errors would be lost in rounding; got {costs!r}."
        )
    return Wanted(None, ErrorCosts(fp, fn))


def with_threshold(
    wanted: Wanted, data: PreparedTable, fit: Fit, validation: Validation | None
) -> Fit | None:
    """The model with its threshold; None if there is nothing to learn it from.

    With costs of errors, it is one in the middle between two scores with which those of
    the held-out rows cost least; of several, the one nearest to a probability of ``fp /
    (fp + fn)``. If it is cheapest to give all of them one class, all rows get it.
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
    scores = scores_of_all(data, fit.preparation, fit.model)
    if wanted.costs is not None and validation is not None:
        threshold = _cheapest(data, validation, wanted.costs, threshold, scores)
        held_out = validation.scores[validation.held_out]
        threshold = _beyond(threshold, held_out, scores)
    return replace(fit.above(threshold, scores), error_costs=wanted.costs)


def _beyond(threshold: float, held_out: np.ndarray, scores: np.ndarray) -> float:
    """A threshold that gives all held-out rows one class, and so all others, too.

    Nothing is known about rows with scores that no held-out row has.
    """
    sign = sign_of(held_out - threshold)
    if sign is None:
        return threshold
    if sign < 0:
        return max(threshold, float(scores.max()) + 1.0)
    return min(threshold, float(scores.min()) - 1.0)


def _cheapest(
    data: PreparedTable,
    validation: Validation,
    costs: ErrorCosts,
    near: float,
    also: np.ndarray,
) -> float:
    """The threshold with the cheapest errors of held-out rows, nearest to another.

    No held-out row has this score, nor has any row with the scores ``also``.
    """
    rows = validation.held_out
    scores, positive = validation.scores[rows], data.target.positive[rows]
    cuts, place = np.unique(scores, return_inverse=True)
    # Rows up to a cut are called negative: none of them, those of the first cut, ...
    missed = np.append(0, np.cumsum(np.bincount(place, positive)))
    spared = np.append(0, np.cumsum(np.bincount(place, ~positive)))
    total = costs.fn * missed + costs.fp * (spared[-1] - spared)
    known = np.union1d(cuts, also)
    ends = np.array([known[0] - 2.0, *known, known[-1] + 2.0])
    middles = (ends[:-1] + ends[1:]) / 2
    total = total[np.searchsorted(cuts, middles, side="right")]
    best = np.flatnonzero(total <= total.min() * (1 + 1e-12))
    place = best[np.argmin(np.abs(middles[best] - near))]
    return shortest_between(float(ends[place]), float(ends[place + 1]))


def shortest_between(low: float, high: float) -> float:
    """A number in the middle half between two others, with as few digits as can be."""
    middle, part = low + (high - low) / 2, (high - low) / 4
    tries = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    return next((one for one in tries if abs(one - middle) <= part), low)


def confusion_above(
    data: PreparedTable, validation: Validation, threshold: float
) -> np.ndarray:
    """Held-out rows by class, and by what is predicted above a threshold."""
    found, rows = np.zeros((2, 2), dtype=np.int64), validation.held_out
    called, truth = validation.scores[rows] > threshold, data.target.positive[rows]
    np.add.at(found, (truth.astype(int), called.astype(int)), 1)
    return found


def threshold_of(
    data: PreparedTable, fit: Fit, validation: Validation | None
) -> ScoreThreshold | None:
    """The threshold for the headline; None if it is zero."""
    if fit.threshold is None:
        return None
    probability = None
    if fit.calibration is not None:
        probability = float(fit.calibration.probability(np.array([fit.threshold]))[0])
    at_zero = None
    if validation is not None:
        at_zero = confusion_above(data, validation, 0.0)
    return ScoreThreshold(fit.threshold, probability, fit.error_costs, at_zero)


def threshold_content(
    data: PreparedTable, fit: Fit, validation: Validation | None
) -> dict[str, Any] | None:
    """The threshold for JSON."""
    found = threshold_of(data, fit, validation)
    if found is None:
        return None
    content: dict[str, Any] = {"score": found.score, "probability": found.probability}
    if found.costs is not None:
        content["error_costs"] = found.costs._asdict()
    if validation is not None:
        above = {
            "": confusion_above(data, validation, found.score),
            "_above_zero": confusion_above(data, validation, 0.0),
        }
        for name, confusion in above.items():
            errors = _errors_of_100(confusion)
            content[f"errors_per_100{name}"] = errors
            if found.costs is not None:
                content[f"cost_per_100{name}"] = _cost(found.costs, errors)
    return content


def _errors_of_100(confusion: np.ndarray) -> dict[str, float]:
    """False alarms and misses in 100 rows."""
    errors = {"fp": confusion[0, 1], "fn": confusion[1, 0]}
    return {name: 100.0 * float(n) / confusion.sum() for name, n in errors.items()}


def _cost(costs: ErrorCosts, errors: dict[str, float]) -> float:
    return costs.fp * errors["fp"] + costs.fn * errors["fn"]


# --- How well a model does on held-out rows: the first lines, and their numbers -------


def repeated(data: PreparedTable, conditions: Conditions) -> tuple[str, ...]:
    """The steps that are repeated in every fold."""
    words = ["imputation"] * bool(data.gaps())
    words += ["encoding"] * bool(data.plan.categories)
    words += ["scaling", "feature selection"]
    return (*words, *["choice of feature limit and C"] * conditions.is_open)


def scored(
    data: PreparedTable, fit: Fit, validation: Validation, steps: tuple[str, ...]
) -> CrossValidation:
    """Scores of the cross-validation, with the threshold of the model."""
    rows, probabilities = validation.held_out, validation.probabilities
    return cross_validation_of(
        data.target.positive[rows],
        validation.scores[rows] - (fit.threshold or 0.0),
        validation.folds[rows],
        probabilities=None if probabilities is None else probabilities[rows],
        repeated=steps,
    )


def headline_lines(data: PreparedTable, fit: Fit, validation: Validation) -> list[str]:
    """What the model catches and misses, and how well it ranks, in plain words."""
    target = data.target
    called = (named(str(one), target.name) for one in target.classes)
    names = Names(*(quote(one.replace(NARROW, " ")) for one in called))
    texts = quality(
        scored(data, fit, validation, ()),
        names,
        threshold_of(data, fit, validation),
        fit.conditions.is_weighted,
    )
    return [text.replace(NARROW, " ").replace(MINUS, "-") for text in texts]


def score_lines(data: PreparedTable, fit: Fit, validation: Validation) -> list[str]:
    """Mean scores of the folds, and what was repeated in them."""
    steps = repeated(data, fit.conditions)
    if fit.choice is not None:
        steps = (*steps, "choice of feature limit and C")
    scores = {one.name: one for one in scored(data, fit, validation, steps).scores}
    shown, auc = scores["accuracy"], scores.get("AUC")
    constant = max(data.target.counts) / data.n_rows
    usual = "the majority class"
    if fit.conditions.is_weighted and "balanced accuracy" in scores:
        # Errors in the rarer class count more, so accuracy is not what was sought.
        shown, constant, usual = scores["balanced accuracy"], 0.5, "one class"
    return [
        f"cross-validated {shown.name} {100 * shown.mean:.1f} % "
        f"(+/- {100 * shown.spread:.1f}), {_auc_words(auc)}, "
        f"{validation.n_folds} folds",
        f"  (always predicting {usual}: {100 * constant:.1f} %; repeated in "
        f"every fold: {', '.join(steps)})",
    ]


def _auc_words(auc: Score | None) -> str:
    if auc is None:
        return "no AUC (a model's scores are all the same)"
    return f"AUC {auc.mean:.3f} (+/- {auc.spread:.3f})"


def scores_content(
    data: PreparedTable, fit: Fit, validation: Validation
) -> dict[str, Any]:
    """The same for JSON."""
    found = scored(data, fit, validation, ())
    share = 100.0 / max(int(found.confusion.sum()), 1)
    (kept, flagged), (missed, caught) = (share * found.confusion).tolist()
    larger = int(caught + missed > kept + flagged)
    return {
        "folds": validation.n_folds,
        "confusion": found.confusion,
        "per_100": {
            "positive": caught + missed,
            "caught": caught,
            "missed": missed,
            "negative": kept + flagged,
            "flagged": flagged,
            "right": caught + kept,
            "larger_class": data.target.classes[larger],
            "right_by_larger_class": max(caught + missed, kept + flagged),
        },
        "words": headline_lines(data, fit, validation),
        "chosen": [{"max_features": budget, "C": C} for budget, C in validation.chosen],
        "choices_ended_by_time_limit": validation.n_late,
        **{
            one.name: {
                "mean": one.mean,
                "spread": one.spread,
                "low": one.low,
                "high": one.high,
            }
            for one in found.scores
        },
    }
