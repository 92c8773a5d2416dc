"""Formats numbers and words findings for the report."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from ..run.words import listed
from .content import (
    CATEGORY,
    MISSING,
    AlternativesSummary,
    BudgetPath,
    CertificateSummary,
    DataSummary,
    FeatureAlternatives,
    Report,
    SelectedFeature,
    Verdict,
)

SMALL = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip
# A space at which lines do not break.
NARROW = "\N{NO-BREAK SPACE}"
# As wide as a plus.
MINUS = "\N{MINUS SIGN}"
# Shown in place of a missing number.
NONE = "\N{EN DASH}"
# Smaller fractions are rounded up to this one.
LEAST = 1e-5
# Scores that are not shown in percent.
PLAIN_SCORES = ("AUC", "Brier score", "log loss")
# What ended the search for other choices of features.
SEARCH_ENDED = {
    "time limit": "the search stopped at the time limit",
    "node limit": "the search stopped at the node limit",
    "memory limit": "the search stopped at the memory limit",
    "limit": "there are more choices than the list can hold",
    "interrupted": "the search was interrupted",
}
# The roles of features among these choices.
ROLES = {
    "indispensable": "Indispensable: every choice this good uses it.",
    "replaceable": "Replaceable: some choices do not use it.",
    "in all found": "In all found: a choice that does not use it may be missing.",
}

# Number of names in a list.
N_NAMED = 4


def minus(text: str) -> str:
    """Text with a minus sign that is as wide as a plus."""
    return text.replace("-", MINUS)


def number(value: float | None, digits: int = 3) -> str:
    """A number with some digits; a dash if there is none."""
    if value is None or not math.isfinite(value):
        return NONE
    if value != 0 and (abs(value) >= 1e6 or abs(value) < 1e-4):
        return minus(f"{value:.{digits - 1}e}")
    text = f"{value:.{digits}g}"
    if "e" in text:
        # There are more digits before the decimal point than requested.
        text = f"{value:,.0f}"
    elif abs(value) >= 1000:
        text = f"{value:,.{max(0, digits - 4)}f}"
    return minus(text)


def signed(value: float, digits: int = 3) -> str:
    """A number with its sign."""
    text = number(value, digits)
    return f"+{text}" if value > 0 and text != NONE else text


def percent(part: float, digits: int = 3) -> str:
    """A fraction as a percentage."""
    return f"{number(100 * part, digits)}{NARROW}%"


def at_most(part: float, digits: int = 2) -> str:
    """A fraction as a percentage, rounded up so that the stated bound holds."""
    if not math.isfinite(part):
        return "unknown"
    part = max(part, LEAST) if part > 0 else part
    return percent(_rounded(part, digits, math.ceil), digits)


def at_least(part: float, digits: int = 2) -> str:
    """A fraction as a percentage, rounded down."""
    return percent(_rounded(part, digits, math.floor), digits)


def _rounded(part: float, digits: int, to: Callable[[float], int]) -> float:
    if part <= 0 or not math.isfinite(part):
        return part
    unit = 10.0 ** (math.floor(math.log10(part)) + 1 - digits)
    # Ignore rounding errors just above a whole number.
    return to(round(part / unit, 9)) * unit


def share(n: int, total: int) -> str:
    """A fraction of a total, to one percent or a tenth of a percent."""
    return percent(n / total, 3 if total >= 1000 else 2) if total else NONE


def rate(value: float, name: str) -> str:
    """A score in its usual form: an AUC as a number, others in percent."""
    if not math.isfinite(value):
        return NONE
    return f"{value:.3f}" if name in PLAIN_SCORES else f"{100 * value:.1f}{NARROW}%"


def seconds(value: float) -> str:
    """A time."""
    if value < 120:
        return f"{number(value)}{NARROW}s"
    return f"{value / 60:.1f}{NARROW}min"


def count(n: int) -> str:
    """A small number as a word, a large one in digits."""
    return SMALL[n] if 0 <= n < len(SMALL) else f"{n:,}"


def features(n: int) -> str:
    """A number of features, in words."""
    return "1 feature" if n == 1 else f"{n:,} features"


def parts(name: str) -> list[str]:
    """The words of a name, between which a line may break.

    Examples
    --------
    >>> parts("EnvironmentSatisfaction"), parts("job_role")
    (['Environment', 'Satisfaction'], ['job_', 'role'])
    """
    return re.split(r"(?<=[a-z])(?=[A-Z])|(?<=_)(?=[^_])", name)


def sentence(text: str) -> str:
    """Text with its first letter capitalised."""
    return text[:1].upper() + text[1:]


# --- classes -------------------------------------------------------------------------


def label(report: Report, k: int) -> str:
    """The name of a class, preceded by the target if it is just a number."""
    name = report.classes[k]
    return name if report.data is None else named(name, report.data.target)


def named(name: str, target: str) -> str:
    """The same, from the names of the class and of the target."""
    return f"{target}{NARROW}={NARROW}{name}" if _is_bare(name) else name


def _is_bare(name: str) -> bool:
    if name.lower() in ("true", "false", "yes", "no", "y", "n"):
        return True
    try:
        float(name)
    except ValueError:
        return False
    return True


# --- features ------------------------------------------------------------------------


def direction(report: Report, feature: SelectedFeature) -> str:
    """Which class a feature points to."""
    if feature.weight == 0:
        return "practically no weight"
    towards = label(report, int(feature.weight > 0))
    if feature.kind == CATEGORY:
        return f"this value points to “{towards}”"
    if feature.kind == MISSING:
        return f"a missing value points to “{towards}”"
    return f"higher values point to “{towards}”"


def columns_of_one(feature: Sequence[SelectedFeature]) -> str:
    """What the columns of one feature are."""
    if any(one.kind == MISSING for one in feature):
        return "one feature: a number, and a weight for being missing"
    return "one feature, with a weight for each of its values"


def one_unit(feature: SelectedFeature) -> str:
    """The score change per unit."""
    change = signed(feature.weight)
    if feature.kind == CATEGORY:
        return f"{change} if it has this value"
    if feature.kind == MISSING:
        return f"{change} if it is missing"
    return f"{change} per {feature.unit or 'unit'}"


def one_step(feature: SelectedFeature) -> str:
    """The score change per standard deviation."""
    change = signed(feature.standardised)
    if feature.scale is None or feature.kind in (CATEGORY, MISSING):
        return change
    unit = f"{NARROW}{feature.unit}" if feature.unit else ""
    return f"{change} per standard deviation ({number(feature.scale)}{unit})"


# --- alternatives --------------------------------------------------------------------


def alternatives(found: AlternativesSummary) -> str:
    """How many other choices there are, and how certain the number is."""
    within = percent(found.tolerance)
    if found.n_models == 1 and not found.complete:
        tried = ""
        # A list limited to one model may have had no room for others.
        if found.n_exchanges and all(one.role != "replaceable" for one in found.roles):
            tried = (
                f" None of the {found.n_exchanges:,} single-feature exchanges that "
                "were tried is."
            )
        return (
            f"It is not known whether other choices of features are within {within} of "
            f"the best fit, because the search was not completed.{tried}"
        )
    if found.n_models == 1:
        text = f"One choice of features is within {within} of the best fit"
    else:
        text = (
            f"{sentence(count(found.n_models))} choices of features are within "
            f"{within} of the best fit"
        )
    if found.complete:
        return f"{text}. It has been proved that there is no other."
    if found.complete_up_to > 0:
        return (
            f"{text}, among those searched. Up to {at_least(found.complete_up_to)}, "
            "the list is proved complete."
        )
    return f"{text}, among those searched. There may be many more."


def unproved(found: AlternativesSummary) -> str:
    """What is proved about features if choices may be missing, and why no more."""
    needed = [one.name for one in found.roles if one.role == "indispensable"]
    proved = "No feature has been proved to be in all such choices"
    if needed:
        names = listed(tuple(needed), N_NAMED)
        proved = f"It has been proved that all such choices need {names}"
    ended = SEARCH_ENDED.get(found.status, "the search was not completed")
    return (
        f"{proved}; {ended}. To search further, run frugalsvm alternatives with a "
        "larger --time-limit or --limit, or a smaller --tolerance."
    )


def roles(found: AlternativesSummary) -> str:
    """What the roles in the table mean."""
    there = {one.role for one in found.roles}
    return " ".join(text for role, text in ROLES.items() if role in there)


def replacements(one: FeatureAlternatives) -> str:
    """What can replace a feature."""
    if one.role == "replaceable" and not one.replaced_by:
        return "several others together"
    return listed(one.replaced_by, N_NAMED)


# --- the other sections --------------------------------------------------------------


def meaning(report: Report, name: str) -> str:
    """What a score measures."""
    first, second = label(report, 0), label(report, 1)
    return {
        "accuracy": "rows classified correctly",
        "balanced accuracy": "mean of sensitivity and specificity",
        "AUC": f"probability that “{second}” scores above “{first}”",
        "sensitivity": f"“{second}” rows recognised",
        "specificity": f"“{first}” rows recognised",
    }.get(name, "")


def mistakes(report: Report) -> str:
    """The confusion matrix in words."""
    assert report.validation is not None
    (_, false), (missed, _) = report.validation.confusion.tolist()
    n_first, n_second = report.validation.confusion.sum(axis=1).tolist()
    first, second = label(report, 0), label(report, 1)
    return (
        f"Of {n_second:,} “{second}” rows, {_were(missed)} missed. Of {n_first:,} "
        f"“{first}” rows, {_were(false)} classified as “{second}”."
    )


def _were(n: int) -> str:
    if n == 0:
        return "none was"
    return "1 was" if n == 1 else f"{n:,} were"


def path(report: Report) -> str:
    """What the path shows, in a few sentences."""
    found = report.path
    assert found is not None
    if found.scores is None:
        return _fits(report, found)
    own = found.chosen_score
    if own is None or found.chosen is None:
        return "How the result depends on the number of features."
    known = np.flatnonzero(np.isfinite(found.scores))
    best = int(known[np.argmax(found.scores[known])])
    budget, name = int(found.budgets[best]), found.score_name
    if budget == found.chosen:
        return f"The choice of {features(found.chosen)} has the best mean {name}."
    reach = "reaches" if found.chosen == 1 else "reach"
    return (
        f"The best mean {name}, {rate(float(found.scores[best]), name)}, needs "
        f"{features(budget)}; {features(found.chosen)} {reach} {rate(own, name)}."
    )


def _fits(report: Report, found: BudgetPath) -> str:
    """What a path without scores shows, and what it does not."""
    text = "This is how well models of fewer or more features fit these data"
    if found.chosen is not None:
        n, most = report.verdict.n_selected, found.chosen
        uses = f" and uses {count(n)}" if n < most else ""
        text = f"The model may use up to {features(most)}{uses}. {text}"
    return (
        f"{text}: only the objective, which more features never make worse. Whether "
        "they predict better is not shown; frugalsvm path cross-validates each number "
        "of features."
    )


def counting(report: Report) -> str:
    """What counts as a feature, if some have several columns."""
    kinds = {one.kind for one in report.features}
    texts = []
    if CATEGORY in kinds and report.split_categories is not None:
        texts.append(
            "Each value of a column of categories counts as a feature."
            if report.split_categories
            else "A column of categories is one feature, however many it has."
        )
    if any(one.kind == MISSING and one.group is not None for one in report.features):
        texts.append(
            "A number and the column that says where it is missing are one feature."
        )
    if CATEGORY in kinds and report.level_zero:
        texts.append(
            f"The weights of categories are shown with the {report.level_zero} of a "
            "column at zero; no score depends on that."
        )
    return " ".join(texts)


def checked(data: DataSummary) -> str:
    """What was looked for in the columns, where nothing was found, and how."""
    if data.warnings is None:
        return (
            "The columns were not checked: one may be a duplicate, number the rows or "
            "give the answer away."
        )
    texts = []
    if not data.warnings:
        texts.append(
            "No problems found in the columns used: none is a duplicate, looks like a "
            "row number or gives the answer away by itself, and no class is rare."
        )
    if data.n_compared is not None:
        texts.append(
            f"Columns were compared in {data.n_compared:,} rows, drawn from "
            f"{data.n_rows:,}."
        )
    return " ".join(texts)


# --- Words about what is proved, which is never how well a model predicts -------------

# A bound with a larger gap says next to nothing.
NOTHING_PROVED = 0.99
# Said with every proof that is complete.
NOT_ACCURACY = (
    "That is about the fit to these data, not about how often the model is right."
)
# How a run ended, if it stopped early.
ENDINGS = {
    "time limit": "The search stopped at the time limit.",
    "node limit": "The search stopped at the node limit.",
    "memory limit": "The search stopped at the memory limit.",
    "interrupted": "The run was interrupted; this is the best model found until then.",
    "solver failed": "A solver failed; this is the best model found until then.",
}


def proof(verdict: Verdict) -> str:
    """What is proved about the choice of features.

    The wording makes clear that a large gap does not mean a bad model.
    """
    within, at = budget(verdict), f"at this setting ({setting(verdict)})"
    spare = ""
    if verdict.max_features is not None and verdict.max_cost is None:
        most = min(verdict.max_features, verdict.n_available)
        spare = unused(verdict.n_selected, most, verdict.gap, verdict.status)
    if verdict.status == "optimal":
        less = f" by more than {at_most(verdict.gap)}" if verdict.gap > 0 else ""
        text = f"It has been proved that no other choice of {within} fits these data "
        text += f"better{less} {at}."
        return " ".join(one for one in (text, spare, NOT_ACCURACY) if one)
    ending = ENDINGS.get(verdict.status, "")
    text = f"No better choice of {within} was found."
    if verdict.gap < NOTHING_PROVED:
        text += (
            " It has been proved that none fits these data better by more than "
            f"{at_most(verdict.gap)} {at}; how much of this is achievable is not "
            "known. This figure shows how far the proof has got, not how good the "
            "model is."
        )
    else:
        text += (
            " The proof that there is none has hardly begun; this says nothing about "
            "how good the model is."
        )
    return " ".join(one for one in (ending, text, spare) if one)


def unused(n_used: int, n_allowed: int | None, gap: float, status: str) -> str:
    """That more features bring nothing, if fewer are used than allowed."""
    if n_allowed is None or not 0 < n_used < n_allowed:
        return ""
    text = f"{sentence(count(n_used))} of the {count(n_allowed)} allowed "
    text += "is used: " if n_used == 1 else "are used: "
    if status != "optimal":
        return f"{text}no better choice with more features was found."
    better = f" by more than {at_most(gap)}" if gap > 0 else ""
    return f"{text}more features would not fit these data better{better}."


def setting(verdict: Verdict) -> str:
    """What the fit is measured by: C, and class weights if there are any."""
    weights = ", with class weights" if verdict.class_weight else ""
    return f"C{NARROW}={NARROW}{number(verdict.C, 6)}{weights}"


def budget(verdict: Verdict) -> str:
    """The limits on the choice of features, and on the signs of weights."""
    more = ""
    if verdict.included:
        more = f" with {listed(verdict.included, N_NAMED)} among them"
    if verdict.signs:
        more += f" (signs of weights: {verdict.signs})"
    if verdict.max_features is None:
        text = "features within the budget" if verdict.max_cost else "features"
        return text + more
    noun = "feature" if verdict.max_features == 1 else "features"
    text = f"at most {count(verdict.max_features)} {noun}"
    if verdict.max_cost is not None:
        text += f" with a total cost of at most {number(verdict.max_cost, 6)}"
    return text + more


def standing(verdict: Verdict) -> tuple[str, str]:
    """The proof as a key figure, and a note on it."""
    if verdict.constant:
        return "Constant model", "whatever is proved"
    if verdict.status == "optimal":
        return "Best fit", f"proved, to within {at_most(verdict.gap)}"
    return "Best found", "proof not finished"


def bound(verdict: Verdict) -> str:
    """The lower bound, if there is one."""
    return number(verdict.lower_bound, 6) if math.isfinite(verdict.gap) else "none"


def cases(found: CertificateSummary) -> str:
    """The size of a proof."""
    leaves = "1 case" if found.n_leaves == 1 else f"{found.n_leaves:,} cases"
    if found.n_fixings == 0:
        return leaves
    more = "1 exclusion" if found.n_fixings == 1 else f"{found.n_fixings:,} exclusions"
    return f"{leaves} and {more}"


def meaning_of_proof(verdict: Verdict) -> str:
    """What the bound and the gap mean."""
    text = (
        "The fit of a model is measured by its objective: training errors plus the "
        "size of the weights. The bound is a theorem about all choices of "
        f"{budget(verdict)}, including those that were never tried."
    )
    if verdict.status != "optimal":
        text += (
            " With many features to choose from, the bound stays well below the best "
            "model for a long time, whether that model is good or not."
        )
    return text
