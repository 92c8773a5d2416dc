"""The threshold of scores above which a row is positive, and held-out quality."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..report import (
    MINUS,
    NARROW,
    CrossValidation,
    ErrorCosts,
    Names,
    ScoreThreshold,
    cross_validation_of,
    named,
    quality,
)
from ..run import quote
from ..solving import ConstantModel, sign_of
from .choosing import Fit
from .session import UsageProblem
from .study import PreparedTable
from .validation import Validation, scores_of_all

# The dearer error may cost at most this many times as much as the other: sums of costs
# that differ by its inverse, relative to them, count as equal.
LARGEST_RATIO = 1e12


class ThresholdRequest(NamedTuple):
    """The options about the threshold.

    Attributes
    ----------
    threshold : float or None
        A score, or a probability.
    costs : ErrorCosts or None
    is_probability : bool
        Whether the threshold is a probability.
    """

    threshold: float | None = None
    costs: ErrorCosts | None = None
    is_probability: bool = False

    @property
    def is_set(self) -> bool:
        """Whether a threshold, or costs to learn it from, were given."""
        return self.threshold is not None or self.costs is not None


@dataclass(frozen=True)
class ConstantByThreshold(ConstantModel):
    """A model all of whose scores are on one side of the threshold.

    Attributes
    ----------
    costs : ErrorCosts or None
        The costs of errors from which the threshold was learned.
    """

    costs: ErrorCosts | None = None

    @property
    def command_line_remedy(self) -> str:
        """A remedy, which is about the threshold that makes the model constant."""
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
) -> ThresholdRequest:
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
        return ThresholdRequest(threshold, is_probability=calibrate)
    if folds == 0:
        raise UsageProblem("--error-costs needs cross-validation; remove --folds 0.")
    by_error = dict(re.findall(r"(fp|fn)=([^,]*)", costs.replace(" ", "")))
    try:
        fp, fn = float(by_error["fp"]), float(by_error["fn"])
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
    return ThresholdRequest(None, ErrorCosts(fp, fn))


def with_threshold(
    request: ThresholdRequest,
    data: PreparedTable,
    fit: Fit,
    validation: Validation | None,
) -> Fit | None:
    """The model with its threshold; None if there are no rows to learn it from.

    With costs of errors, it is in the middle between two scores, such that the errors
    of the held-out rows cost least; of several, the one nearest to a probability of
    ``fp / (fp + fn)``. If one class for all of them is cheapest, all rows get it.
    """
    threshold, costs = request.threshold, request.costs
    probability = None if costs is None else costs.probability
    if request.is_probability:
        probability = threshold
    if probability is not None:
        if validation is None:
            return None
        sigmoid = fit.calibration
        if sigmoid is None:
            sigmoid = validation.calibration(data.target.positive)
        threshold = sigmoid.score(probability)
    if threshold is None:
        return None
    scores = scores_of_all(data, fit.preparation, fit.model)
    if costs is not None and validation is not None:
        threshold = _cheapest(data, validation, costs, threshold, scores)
        held_out = validation.scores[validation.held_out]
        threshold = _beyond(threshold, held_out, scores)
    return replace(fit.above(threshold, scores), error_costs=costs)


def _beyond(threshold: float, held_out: np.ndarray, scores: np.ndarray) -> float:
    """The threshold, moved beyond all scores if it gives all held-out rows one class.

    Held-out rows say nothing about scores outside their range.
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
    scores_of_fit: np.ndarray,
) -> float:
    """The threshold with the cheapest errors of held-out rows, nearest to ``near``.

    It is between two scores: no held-out row has it as its score, nor has any row with
    the scores of the fit.
    """
    rows = validation.held_out
    scores, positive = validation.scores[rows], data.target.positive[rows]
    cuts, index = np.unique(scores, return_inverse=True)
    # Rows up to a cut are called negative: none of them, those of the first cut, ...
    missed = np.append(0, np.cumsum(np.bincount(index, positive)))
    spared = np.append(0, np.cumsum(np.bincount(index, ~positive)))
    total = costs.fn * missed + costs.fp * (spared[-1] - spared)
    all_scores = np.union1d(cuts, scores_of_fit)
    ends = np.array([all_scores[0] - 2.0, *all_scores, all_scores[-1] + 2.0])
    middles = (ends[:-1] + ends[1:]) / 2
    total = total[np.searchsorted(cuts, middles, side="right")]
    best = np.flatnonzero(total <= total.min() * (1 + 1e-12))
    k = best[np.argmin(np.abs(middles[best] - near))]
    return shortest_between(float(ends[k]), float(ends[k + 1]))


def shortest_between(low: float, high: float) -> float:
    """The number with the fewest digits in the middle half of an interval."""
    middle, quarter = low + (high - low) / 2, (high - low) / 4
    candidates = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    return next((x for x in candidates if abs(x - middle) <= quarter), low)


def confusion_above(
    data: PreparedTable, validation: Validation, threshold: float
) -> np.ndarray:
    """Numbers of held-out rows by class and by predicted class."""
    counts, rows = np.zeros((2, 2), dtype=np.int64), validation.held_out
    predicted, truth = validation.scores[rows] > threshold, data.target.positive[rows]
    np.add.at(counts, (truth.astype(int), predicted.astype(int)), 1)
    return counts


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
    threshold = threshold_of(data, fit, validation)
    if threshold is None:
        return None
    costs = threshold.costs
    content: dict[str, Any] = {
        "score": threshold.score,
        "probability": threshold.probability,
    }
    if costs is not None:
        content["error_costs"] = costs._asdict()
    if validation is not None:
        for suffix, score in (("", threshold.score), ("_above_zero", 0.0)):
            confusion = confusion_above(data, validation, score)
            # False alarms and misses in 100 rows.
            fp = 100.0 * float(confusion[0, 1]) / confusion.sum()
            fn = 100.0 * float(confusion[1, 0]) / confusion.sum()
            content[f"errors_per_100{suffix}"] = {"fp": fp, "fn": fn}
            if costs is not None:
                content[f"cost_per_100{suffix}"] = costs.fp * fp + costs.fn * fn
    return content


# --- Quality on held-out rows: the headline and its numbers ---------------------------


def scored(data: PreparedTable, fit: Fit, validation: Validation) -> CrossValidation:
    """Scores of the cross-validation, with the threshold of the model."""
    rows, probabilities = validation.held_out, validation.probabilities
    steps = ["imputation"] * bool(data.gaps())
    steps += ["encoding"] * bool(data.plan.categories)
    steps += ["scaling", "feature selection"]
    steps += ["choice of feature limit and C"] * (fit.choice is not None)
    return cross_validation_of(
        data.target.positive[rows],
        validation.scores[rows] - (fit.threshold or 0.0),
        validation.folds[rows],
        probabilities=None if probabilities is None else probabilities[rows],
        repeated=tuple(steps),
    )


def headline_lines(data: PreparedTable, fit: Fit, validation: Validation) -> list[str]:
    """Sentences on what the model catches and misses, and how well it ranks."""
    target = data.target
    labels = (named(str(label), target.name) for label in target.classes)
    names = Names(*(quote(label.replace(NARROW, " ")) for label in labels))
    texts = quality(
        scored(data, fit, validation),
        names,
        threshold_of(data, fit, validation),
        fit.conditions.is_weighted,
    )
    return [text.replace(NARROW, " ").replace(MINUS, "-") for text in texts]


def score_lines(data: PreparedTable, fit: Fit, validation: Validation) -> list[str]:
    """Lines with mean scores of the folds, and the steps that were repeated in them."""
    summary = scored(data, fit, validation)
    by_name = {score.name: score for score in summary.scores}
    score, auc = by_name["accuracy"], by_name.get("AUC")
    constant = max(data.target.counts) / data.n_rows
    usual = "the majority class"
    if fit.conditions.is_weighted and "balanced accuracy" in by_name:
        # Errors in the rarer class count more, so accuracy is not the objective.
        score, constant, usual = by_name["balanced accuracy"], 0.5, "one class"
    auc_text = "no AUC (a model's scores are all the same)"
    if auc is not None:
        auc_text = f"AUC {auc.mean:.3f} (+/- {auc.spread:.3f})"
    return [
        f"cross-validated {score.name} {100 * score.mean:.1f} % "
        f"(+/- {100 * score.spread:.1f}), {auc_text}, {validation.n_folds} folds",
        f"  (always predicting {usual}: {100 * constant:.1f} %; repeated in "
        f"every fold: {', '.join(summary.repeated)})",
    ]


def scores_content(
    data: PreparedTable, fit: Fit, validation: Validation
) -> dict[str, Any]:
    """The scores for JSON."""
    summary = scored(data, fit, validation)
    share = 100.0 / max(int(summary.confusion.sum()), 1)
    (passed, flagged), (missed, caught) = (share * summary.confusion).tolist()
    positive, negative = caught + missed, passed + flagged
    return {
        "folds": validation.n_folds,
        "confusion": summary.confusion,
        "per_100": {
            "positive": positive,
            "caught": caught,
            "missed": missed,
            "negative": negative,
            "flagged": flagged,
            "right": caught + passed,
            "larger_class": data.target.classes[int(positive > negative)],
            "right_by_larger_class": max(positive, negative),
        },
        "words": headline_lines(data, fit, validation),
        "chosen": [{"max_features": budget, "C": C} for budget, C in validation.chosen],
        "choices_ended_by_time_limit": validation.n_late,
        **{
            score.name: {
                "mean": score.mean,
                "spread": score.spread,
                "low": score.low,
                "high": score.high,
            }
            for score in summary.scores
        },
    }
