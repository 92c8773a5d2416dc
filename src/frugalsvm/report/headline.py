"""The headline, which comes first in a report and on the terminal.

Warnings, then the model and its quality, in words that need no knowledge of SVMs. Text
about proofs is in ``words``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .content import DataWarning, Report
from .held_out import CrossValidation, ScoreThreshold, Tally
from .words import NARROW, count, features, label, number, rate, sentence

# The kinds of warnings, in a few words.
WARNINGS = {
    "leak": "A column may give the answer away.",
    "id": "A column may be an identifier.",
    "duplicate": "Some columns are duplicates.",
    "constant": "Some columns are constant.",
    "imbalance": "One class is rare.",
    "few": "One class has few rows.",
    "scales": "Scales differ widely.",
}
NOT_VALIDATED = (
    "How well the model predicts rows that it has not seen was not checked: there was "
    "no cross-validation."
)
# Warnings of what may make a model worthless, and those that change nothing.
SERIOUS, HARMLESS = ("leak", "id"), ("constant", "scales")
# Maximum number of warnings in the headline; the others are counted.
N_FIRST = 5


class Names(NamedTuple):
    """The two classes as they are called in sentences, with their quotes."""

    first: str
    second: str


# --- warnings ------------------------------------------------------------------------


def all_warnings(data: Iterable[DataWarning], remarks: Iterable[str]) -> list[str]:
    """Serious warnings, then remarks on the run, then other warnings.

    Harmless warnings are left out.
    """
    data = list(data)
    serious = [warning.text for warning in data if warning.kind in SERIOUS]
    others = [
        warning.text for warning in data if warning.kind not in SERIOUS + HARMLESS
    ]
    return [*serious, *remarks, *others]


def ended(text: str) -> str:
    """A remark as a sentence."""
    return sentence(text) + "." * (text[-1:] not in ".!?")


def first_warnings(warnings: list[str]) -> tuple[list[str], int]:
    """The first few warnings, and the number of others."""
    return warnings[:N_FIRST], max(0, len(warnings) - N_FIRST)


# --- the model and how well it does --------------------------------------------------


def names_of(report: Report) -> Names:
    """The classes, in quotes."""
    return Names(*(f"“{label(report, k)}”" for k in (0, 1)))


def lead(report: Report) -> str:
    """The model in one sentence."""
    verdict, names = report.verdict, names_of(report)
    if verdict.constant:
        return sentence(verdict.constant)
    if verdict.n_selected == 0:
        limit = 0.0 if report.threshold is None else report.threshold.score
        always = names[int(report.intercept > limit)]
        return f"The model uses no features: it always predicts {always}."
    return (
        f"The model predicts {names.second} or {names.first} from "
        f"{verdict.n_selected:,} of {verdict.n_available:,} features."
    )


def quality(
    validation: CrossValidation,
    names: Names,
    threshold: ScoreThreshold | None,
    is_weighted: bool,
) -> list[str]:
    """How well the model predicts rows that it had not seen, in a few paragraphs.

    The second class is the positive one, which is caught or missed.
    """
    at_zero = None if threshold is None else threshold.confusion_at_zero
    tally, *usual = Tally.of(
        validation.confusion, *([] if at_zero is None else [at_zero])
    )
    parts = [caught(tally, names), always(tally, names)]
    if threshold is not None:
        parts.append(at_threshold(threshold, tally, next(iter(usual), None), names))
    elif is_weighted:
        parts.append(with_weights(validation, tally, names))
    else:
        parts.append(without_weights(validation))
    parts.append(told_apart(validation, names))
    return list(filter(None, parts))


def unseen(report: Report) -> str:
    """How well the model predicts, in a report without held-out rows."""
    path = report.path
    score = None if path is None else path.chosen_score
    if path is None or score is None:
        return NOT_VALIDATED
    return (
        f"Cross-validated {path.score_name} with up to {features(path.chosen or 0)}: "
        f"{rate(score, path.score_name)}, see below."
    )


def caught(tally: Tally, names: Names) -> str:
    """Rows of the second class that are caught and missed, and false alarms."""
    first, second = names
    n = f"{tally.n_rows:,}"
    rows = f"Of the {n} rows" if tally.is_all else f"Of {n} rows like these"
    if tally.n_caught == 0:
        hits = "misses all of them"
    elif tally.n_missed == 0:
        hits = "catches all of them"
    else:
        hits = f"catches {tally.n_caught:,} of them and misses {tally.n_missed:,}"
    false = f"{tally.n_false:,}" if tally.n_false else "none"
    return (
        f"{rows}, {tally.n_positive:,} are {second}: the model {hits}. Of the "
        f"{tally.n_negative:,} that are {first}, it calls {false} {second} by mistake."
    )


def always(tally: Tally, names: Names) -> str:
    """Comparison with always predicting the larger class."""
    return (
        f"Always saying {names[tally.larger]} would be right for {tally.n_larger:,} of "
        f"{tally.n_rows:,}; the model is right for {tally.n_right:,}."
    )


def without_weights(validation: CrossValidation) -> str:
    """A doubt that the model beats this comparison; empty if it clearly does."""
    totals = validation.confusion.sum(axis=1)
    usual = float(totals.max()) / max(int(totals.sum()), 1)
    score = validation.score("accuracy")
    if score is None or score.low is None or score.low > usual:
        return ""
    if score.mean > usual:
        return "The difference may be chance."
    return "The model is no better than that."


def with_weights(validation: CrossValidation, tally: Tally, names: Names) -> str:
    """Why the model may be right less often, and a doubt that it beats guessing."""
    parts = []
    if tally.n_right < tally.n_larger:
        parts.append(
            "It is right less often because the classes have weights: it was asked to "
            f"find {names[1 - tally.larger]}, too, not to be right most often."
        )
    score = validation.score("balanced accuracy")
    if score is not None and score.low is not None and score.low <= 0.5:
        parts.append("Whether it is better than guessing cannot be told.")
    return " ".join(parts)


def at_threshold(
    threshold: ScoreThreshold, tally: Tally, usual: Tally | None, names: Names
) -> str:
    """The threshold, its effect compared with ``usual``, and the costs of errors."""
    where = f"its score is above {number(threshold.score)}"
    if threshold.probability is not None:
        where += f", a probability of {number(threshold.probability)}"
    text = f"A row is called {names.second} if {where}."
    if usual is not None:
        text += (
            " With a threshold of zero, the model would make the same number of errors."
            if (usual.n_missed, usual.n_false) == (tally.n_missed, tally.n_false)
            else f" With a threshold of zero, the model would miss {usual.n_missed:,} "
            f"and call {usual.n_false:,} {names.second} by mistake."
        )
    if threshold.costs is not None:
        text += " " + _costs(threshold, tally, usual, names)
    return text


def _costs(
    threshold: ScoreThreshold, tally: Tally, usual: Tally | None, names: Names
) -> str:
    costs = threshold.costs
    assert costs is not None
    always = [tally.always(k).cost(costs) for k in (0, 1)]
    cheaper = int(always[1] < always[0])
    zero = ""
    if usual is not None:
        zero = f"{number(usual.cost(costs))} with a threshold of zero and "
    return (
        f"If a missed {names.second} row costs {number(costs.fn)} and a false alarm "
        f"{number(costs.fp)}, the errors in these {tally.n_rows:,} rows cost "
        f"{number(tally.cost(costs))}, against {zero}{number(always[cheaper])} for "
        f"always saying {names[cheaper]}."
    )


def told_apart(validation: CrossValidation, names: Names) -> str:
    """How well the scores order rows of both classes."""
    score = validation.score("AUC")
    where = f"from rows that the model had not seen ({count(validation.n_folds)} folds)"
    if score is None:
        return f"All this is {where}."
    return (
        f"AUC {rate(score.mean, score.name)}{interval(score.low, score.high)}: how "
        f"often, of two rows, the {names.second} row has a higher score than the "
        f"{names.first} row (0.5 is guessing, 1 is perfect). All this is {where}."
    )


def interval(low: float | None, high: float | None) -> str:
    """A 95 % interval of an AUC, in brackets; empty if there is none."""
    if low is None or high is None:
        return ""
    return f" (95{NARROW}% interval {rate(low, 'AUC')} to {rate(high, 'AUC')})"
