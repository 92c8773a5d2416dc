"""Numbers and results as text, for reports and the terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from ..run import listed
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
# Why the search for other choices of features is incomplete.
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
    """A number with significant digits; a dash for a missing one."""
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
    """A number of features."""
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
    """The name of class ``k``; see :func:`named`."""
    name = report.classes[k]
    return name if report.data is None else named(name, report.data.target)


def named(name: str, target: str) -> str:
    """The name of a class, preceded by that of the target if it is just a number."""
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
    """The class to which a feature points."""
    if feature.weight == 0:
        return "practically no weight"
    towards = label(report, int(feature.weight > 0))
    if feature.kind == CATEGORY:
        return f"this value points to “{towards}”"
    if feature.kind == MISSING:
        return f"a missing value points to “{towards}”"
    return f"higher values point to “{towards}”"


def group_note(columns: Sequence[SelectedFeature]) -> str:
    """A note on a feature of several columns."""
    if any(column.kind == MISSING for column in columns):
        return "one feature: a number, and a weight for being missing"
    return "one feature, with a weight for each of its values"


def change_per_unit(feature: SelectedFeature) -> str:
    """The score change per unit."""
    change = signed(feature.weight)
    if feature.kind == CATEGORY:
        return f"{change} if it has this value"
    if feature.kind == MISSING:
        return f"{change} if it is missing"
    return f"{change} per {feature.unit or 'unit'}"


def change_per_deviation(feature: SelectedFeature) -> str:
    """The score change per standard deviation."""
    change = signed(feature.standardised)
    if feature.scale is None or feature.kind in (CATEGORY, MISSING):
        return change
    unit = f"{NARROW}{feature.unit}" if feature.unit else ""
    return f"{change} per standard deviation ({number(feature.scale)}{unit})"


# --- alternatives --------------------------------------------------------------------


def alternatives(summary: AlternativesSummary) -> str:
    """The number of other choices, and how certain it is."""
    within = percent(summary.tolerance)
    if summary.n_models == 1 and not summary.complete:
        tried = ""
        # A list limited to one model may have had no room for others.
        is_replaceable = any(f.role == "replaceable" for f in summary.roles)
        if summary.n_exchanges and not is_replaceable:
            tried = (
                f" None of the {summary.n_exchanges:,} single-feature exchanges that "
                "were tried is."
            )
        return (
            f"It is not known whether other choices of features are within {within} of "
            f"the best fit, because the search was not completed.{tried}"
        )
    if summary.n_models == 1:
        text = f"One choice of features is within {within} of the best fit"
    else:
        text = (
            f"{sentence(count(summary.n_models))} choices of features are within "
            f"{within} of the best fit"
        )
    if summary.complete:
        return f"{text}. It has been proved that there is no other."
    if summary.complete_up_to > 0:
        return (
            f"{text}, among those searched. Up to {at_least(summary.complete_up_to)}, "
            "the list is proved complete."
        )
    return f"{text}, among those searched. There may be many more."


def unproved(summary: AlternativesSummary) -> str:
    """The features proved indispensable by an incomplete search, and why it ended."""
    needed = tuple(f.name for f in summary.roles if f.role == "indispensable")
    proved = "No feature has been proved to be in all such choices"
    if needed:
        names = listed(needed, N_NAMED)
        proved = f"It has been proved that all such choices need {names}"
    ended = SEARCH_ENDED.get(summary.status, "the search was not completed")
    return (
        f"{proved}; {ended}. To search further, run frugalsvm alternatives with a "
        "larger --time-limit or --limit, or a smaller --tolerance."
    )


def roles(summary: AlternativesSummary) -> str:
    """The meaning of the roles in the table."""
    present = {feature.role for feature in summary.roles}
    return " ".join(text for role, text in ROLES.items() if role in present)


def replacements(feature: FeatureAlternatives) -> str:
    """The features that can replace one."""
    if feature.role == "replaceable" and not feature.replaced_by:
        return "several others together"
    return listed(feature.replaced_by, N_NAMED)


# --- Data, alternatives and paths -----------------------------------------------------


def meaning(report: Report, name: str) -> str:
    """The meaning of a score."""
    first, second = label(report, 0), label(report, 1)
    return {
        "accuracy": "rows classified correctly",
        "balanced accuracy": "mean of sensitivity and specificity",
        "AUC": f"probability that “{second}” scores above “{first}”",
        "sensitivity": f"“{second}” rows recognised",
        "specificity": f"“{first}” rows recognised",
    }.get(name, "")


def mistakes(report: Report) -> str:
    """The confusion matrix in sentences."""
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
    """A summary of the path over budgets."""
    path = report.path
    assert path is not None
    if path.scores is None:
        return _fits(report, path)
    score = path.chosen_score
    if score is None or path.chosen is None:
        return "How the result depends on the number of features."
    indices = np.flatnonzero(np.isfinite(path.scores))
    best = int(indices[np.argmax(path.scores[indices])])
    budget, name = int(path.budgets[best]), path.score_name
    if budget == path.chosen:
        return f"The choice of {features(path.chosen)} has the best mean {name}."
    reach = "reaches" if path.chosen == 1 else "reach"
    return (
        f"The best mean {name}, {rate(float(path.scores[best]), name)}, needs "
        f"{features(budget)}; {features(path.chosen)} {reach} {rate(score, name)}."
    )


def _fits(report: Report, path: BudgetPath) -> str:
    """A summary of a path without scores, and its limits."""
    text = "This is how well models of fewer or more features fit these data"
    if path.chosen is not None:
        n, most = report.verdict.n_selected, path.chosen
        uses = f" and uses {count(n)}" if n < most else ""
        text = f"The model may use up to {features(most)}{uses}. {text}"
    return (
        f"{text}: only the objective, which more features never make worse. Whether "
        "they predict better is not shown; frugalsvm path cross-validates each number "
        "of features."
    )


def counting(report: Report) -> str:
    """The rule of counting features, if some have several columns."""
    kinds = {feature.kind for feature in report.features}
    texts = []
    if CATEGORY in kinds and report.split_categories is not None:
        texts.append(
            "Each value of a column of categories counts as a feature."
            if report.split_categories
            else "A column of categories is one feature, however many it has."
        )
    if any(f.kind == MISSING and f.group is not None for f in report.features):
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
    """The checks of columns, if they found nothing, and the rows that they used."""
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


# --- Proofs, which never say how well a model predicts --------------------------------

# Endings of runs that stopped early.
ENDINGS = {
    "time limit": "The search stopped at the time limit.",
    "node limit": "The search stopped at the node limit.",
    "memory limit": "The search stopped at the memory limit.",
    "interrupted": "The run was interrupted; this is the best model found until then.",
    "solver failed": "A solver failed; this is the best model found until then.",
}


def proof(verdict: Verdict) -> str:
    """The proved bound on the choice of features.

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
        caution = (
            "That is about the fit to these data, not about how often the model is "
            "right."
        )
        return " ".join(filter(None, (text, spare, caution)))
    ending = ENDINGS.get(verdict.status, "")
    text = f"No better choice of {within} was found."
    # A bound with a larger gap says next to nothing.
    if verdict.gap < 0.99:
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
    return " ".join(filter(None, (ending, text, spare)))


def unused(n_used: int, n_allowed: int | None, gap: float, status: str) -> str:
    """A note that more features would not help, if fewer are used than allowed."""
    if n_allowed is None or not 0 < n_used < n_allowed:
        return ""
    text = f"{sentence(count(n_used))} of the {count(n_allowed)} allowed "
    text += "is used: " if n_used == 1 else "are used: "
    if status != "optimal":
        return f"{text}no better choice with more features was found."
    better = f" by more than {at_most(gap)}" if gap > 0 else ""
    return f"{text}more features would not fit these data better{better}."


def setting(verdict: Verdict) -> str:
    """The setting of the fit: C, and class weights if there are any."""
    weights = ", with class weights" if verdict.class_weight else ""
    return f"C{NARROW}={NARROW}{number(verdict.C, 6)}{weights}"


def budget(verdict: Verdict) -> str:
    """The limits on the choice of features, and on the signs of weights."""
    extra = ""
    if verdict.included:
        extra = f" with {listed(verdict.included, N_NAMED)} among them"
    if verdict.signs:
        extra += f" (signs of weights: {verdict.signs})"
    if verdict.max_features is None:
        text = "features within the budget" if verdict.max_cost else "features"
        return text + extra
    noun = "feature" if verdict.max_features == 1 else "features"
    text = f"at most {count(verdict.max_features)} {noun}"
    if verdict.max_cost is not None:
        text += f" with a total cost of at most {number(verdict.max_cost, 6)}"
    return text + extra


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


def cases(certificate: CertificateSummary) -> str:
    """The size of a proof."""
    n_leaves, n_fixings = certificate.n_leaves, certificate.n_fixings
    leaves = "1 case" if n_leaves == 1 else f"{n_leaves:,} cases"
    if n_fixings == 0:
        return leaves
    fixings = "1 exclusion" if n_fixings == 1 else f"{n_fixings:,} exclusions"
    return f"{leaves} and {fixings}"


def meaning_of_proof(verdict: Verdict) -> str:
    """The meaning of the bound."""
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
