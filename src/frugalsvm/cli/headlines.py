"""How well a model does on held-out rows: the first lines, and their numbers."""

from __future__ import annotations

from typing import Any

from ..report import CrossValidation, Score, cross_validation_of
from ..report.headline import Names, quality
from ..report.svg import MINUS
from ..report.words import NARROW, named
from ..run.words import quote
from .fitting import Fit
from .study import Conditions, PreparedTable
from .thresholds import threshold_of
from .validation import Validation


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
