"""Numbers and findings in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable

from .content import (
    CATEGORY,
    AlternativesSummary,
    BudgetPath,
    CertificateSummary,
    CrossValidation,
    FeatureAlternatives,
    Report,
    Score,
    SelectedFeature,
    Verdict,
)
from .svg import minus

SMALL = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip
# A space at which no line ends.
NARROW = "\N{NO-BREAK SPACE}"
# What stands for a number that is not there.
NONE = "\N{EN DASH}"
# Parts below this are not told apart.
LEAST = 1e-5
# Scores that are not written in percent.
PLAIN_SCORES = ("AUC", "Brier score", "log loss")
# What warnings are about.
WARNINGS = {
    "leak": "A column may give the answer away.",
    "id": "A column may be an identifier.",
    "duplicate": "Columns say the same.",
    "constant": "Columns never change.",
    "imbalance": "One class is rare.",
    "few": "There are few rows.",
    "scales": "Scales differ widely.",
}
# Those that may make a model worthless.
SERIOUS = ("leak", "id")
# Bounds that leave more than this open say next to nothing.
NOTHING_PROVED = 0.99
# How a run ended, where it did not end by itself.
ENDINGS = {
    "time limit": "The time limit ended the search.",
    "node limit": "The limit of nodes ended the search.",
    "memory limit": "The limit of memory ended the search.",
    "interrupted": "The run was interrupted; this is the best model it had found.",
    "solver failed": "A solver broke down; this is the best model until then.",
}
# What ended the search for other choices of features.
SEARCH_ENDED = {
    "time limit": "the time limit ended the search",
    "node limit": "the limit of nodes ended the search",
    "memory limit": "the limit of memory ended the search",
    "limit": "there are more choices than are listed",
    "interrupted": "the search was interrupted",
}
# What a feature may be to these choices.
ROLES = {
    "indispensable": "Indispensable: no choice this good does without it.",
    "replaceable": "Replaceable: some do without it.",
    "in all found": "In all found: a choice without it may be missing.",
}


def number(value: float | None, digits: int = 3) -> str:
    """A number with some digits; a dash if there is none."""
    if value is None or not math.isfinite(value):
        return NONE
    if value != 0 and (abs(value) >= 1e6 or abs(value) < 1e-4):
        return minus(f"{value:.{digits - 1}e}")
    text = f"{value:.{digits}g}"
    if "e" in text:
        # More digits before the point than asked for.
        text = f"{value:,.0f}"
    elif abs(value) >= 1000:
        text = f"{value:,.{max(0, digits - 4)}f}"
    return minus(text)


def signed(value: float, digits: int = 3) -> str:
    """A number with its sign."""
    text = number(value, digits)
    return f"+{text}" if value > 0 and text != NONE else text


def percent(part: float, digits: int = 3) -> str:
    """A part as a percentage."""
    return f"{number(100 * part, digits)}{NARROW}%"


def at_most(part: float, digits: int = 2) -> str:
    """A part as a percentage that is rounded up: what is promised must hold."""
    part = max(part, LEAST) if part > 0 else part
    return percent(_rounded(part, digits, math.ceil), digits)


def at_least(part: float, digits: int = 2) -> str:
    """A part as a percentage that is rounded down."""
    return percent(_rounded(part, digits, math.floor), digits)


def _rounded(part: float, digits: int, to: Callable[[float], int]) -> float:
    if part <= 0 or not math.isfinite(part):
        return part
    unit = 10.0 ** (math.floor(math.log10(part)) + 1 - digits)
    # What is a rounding error above a whole number is that number.
    return to(round(part / unit, 9)) * unit


def share(n: int, total: int) -> str:
    """A part of a whole, to a percent or a tenth of it."""
    return percent(n / total, 3 if total >= 1000 else 2) if total else NONE


def rate(value: float, name: str) -> str:
    """A score as it is usually written: an AUC as a number, others in percent."""
    if not math.isfinite(value):
        return NONE
    return f"{value:.3f}" if name in PLAIN_SCORES else f"{100 * value:.1f}{NARROW}%"


def seconds(value: float) -> str:
    """A time."""
    if value < 120:
        return f"{number(value)}{NARROW}s"
    return f"{value / 60:.1f}{NARROW}min"


def listed(names: tuple[str, ...], most: int = 4) -> str:
    """Some names, and how many more there are."""
    hidden = len(names) - most
    more = f" and {hidden:,} more" if hidden > 0 else ""
    return ", ".join(names[:most]) + more


def count(n: int) -> str:
    """A small number as a word, a large one in digits."""
    return SMALL[n] if 0 <= n < len(SMALL) else f"{n:,}"


def features(n: int) -> str:
    """So many features."""
    return "1 feature" if n == 1 else f"{n:,} features"


def sentence(text: str) -> str:
    """Text with a capital letter in front."""
    return text[:1].upper() + text[1:]


# --- classes -------------------------------------------------------------------------


def label(report: Report, k: int) -> str:
    """The name of a class; with that of the target if it is a mere number."""
    name = report.classes[k]
    if report.data is not None and _is_bare(name):
        return f"{report.data.target}{NARROW}={NARROW}{name}"
    return name


def _is_bare(name: str) -> bool:
    if name.lower() in ("true", "false", "yes", "no", "y", "n"):
        return True
    try:
        float(name)
    except ValueError:
        return False
    return True


# --- verdict -------------------------------------------------------------------------


def lead(report: Report) -> str:
    """What the model is, in one sentence."""
    verdict = report.verdict
    first, second = label(report, 0), label(report, 1)
    if verdict.n_selected == 0:
        always = second if report.intercept > 0 else first
        return f"The model uses no feature: it always says “{always}”."
    return (
        f"The model tells “{second}” from “{first}” by {count(verdict.n_selected)} of "
        f"{verdict.n_available:,} features."
    )


def quality(report: Report) -> str:
    """What cross-validation says, in one or two sentences."""
    found = report.validation
    if found is None:
        return ""
    usual, part = usual_class(found)
    right = accuracy(found)
    text = (
        f"On rows that it had not seen it was right in "
        f"{rate(right.mean, right.name)} of the cases. Always saying "
        f"“{label(report, usual)}” would be right in {rate(part, right.name)}."
    )
    if right.mean - part <= right.spread:
        text += " That is hardly a difference."
    return text


def accuracy(found: CrossValidation) -> Score:
    """The accuracy over the folds; that of the confusion matrix if none is given."""
    for score in found.scores:
        if score.name == "accuracy":
            return score
    total = max(int(found.confusion.sum()), 1)
    return Score("accuracy", float(found.confusion.trace()) / total, 0.0)


def usual_class(found: CrossValidation) -> tuple[int, float]:
    """The more frequent class, and its share."""
    totals = found.confusion.sum(axis=1)
    most = int(totals.argmax())
    return most, float(totals[most]) / max(int(totals.sum()), 1)


def proof(verdict: Verdict) -> str:
    """What is proved of the choice of features; no gap sounds like a bad model."""
    within = budget(verdict)
    if verdict.status == "optimal":
        less = f" by more than {at_most(verdict.gap)}" if verdict.gap > 0 else ""
        return (
            f"It is proved that no other choice of {within} fits these data better"
            f"{less}."
        )
    ending = ENDINGS.get(verdict.status, "")
    text = f"No better choice of {within} was found."
    if verdict.gap < NOTHING_PROVED:
        text += (
            " It is proved that none fits these data better by more than "
            f"{at_most(verdict.gap)}; how much of this can be had is not known. The "
            "figure tells how far the proof has come, and not how good the model is."
        )
    else:
        text += (
            " A proof that there is none has hardly begun, which says nothing about "
            "how good the model is."
        )
    return f"{ending} {text}".strip()


def budget(verdict: Verdict) -> str:
    """What the features are chosen within."""
    if verdict.max_features is None:
        return "features within the budget" if verdict.max_cost else "features"
    noun = "feature" if verdict.max_features == 1 else "features"
    text = f"at most {count(verdict.max_features)} {noun}"
    if verdict.max_cost is not None:
        text += f" that cost at most {number(verdict.max_cost, 6)}"
    return text


def standing(verdict: Verdict) -> tuple[str, str]:
    """The proof as a key figure, and what is to be added to it."""
    if verdict.status == "optimal":
        return "Proved best", f"to within {at_most(verdict.gap)}"
    return "Best found", "the proof is not finished"


# --- features ------------------------------------------------------------------------


def direction(report: Report, feature: SelectedFeature) -> str:
    """Which class a feature speaks for."""
    if feature.weight == 0:
        return "practically no weight"
    towards = label(report, int(feature.weight > 0))
    if feature.kind == CATEGORY:
        return f"this value speaks for “{towards}”"
    return f"higher values speak for “{towards}”"


def one_unit(feature: SelectedFeature) -> str:
    """What one unit more changes."""
    change = signed(feature.weight)
    if feature.kind == CATEGORY:
        return f"{change} if it is this value"
    return f"{change} per {feature.unit or 'unit'}"


def one_step(feature: SelectedFeature) -> str:
    """What a typical difference changes."""
    change = signed(feature.standardised)
    if feature.scale is None or feature.kind == CATEGORY:
        return change
    unit = f"{NARROW}{feature.unit}" if feature.unit else ""
    return f"{change} per {number(feature.scale)}{unit}"


# --- alternatives --------------------------------------------------------------------


def alternatives(found: AlternativesSummary) -> str:
    """How many other choices there are, and how sure that is."""
    within = percent(found.tolerance)
    if found.n_models == 1 and not found.complete:
        tried = ""
        # A list of length one may have had no room for those that are.
        if found.n_exchanges and all(one.role != "replaceable" for one in found.roles):
            tried = (
                f" None of {found.n_exchanges:,} exchanges of single features that "
                "were tried is."
            )
        return (
            f"Whether other choices of features are within {within} of the best fit "
            f"is not known: the search for them was not completed.{tried}"
        )
    if found.n_models == 1:
        text = f"One choice of features is within {within} of the best fit"
    else:
        text = (
            f"{sentence(count(found.n_models))} choices of features are within "
            f"{within} of the best fit"
        )
    if found.complete:
        return f"{text}. It is proved that there is no other."
    if found.complete_up_to > 0:
        return (
            f"{text}, as far as was searched. Up to {at_least(found.complete_up_to)} "
            "it is proved that none is missing."
        )
    return f"{text}, as far as was searched. There may be many more."


def unproved(found: AlternativesSummary) -> str:
    """What is proved of features if choices may be missing, and why no more."""
    needed = [one.name for one in found.roles if one.role == "indispensable"]
    proved = "Of no feature it is proved that all such choices need it"
    if needed:
        proved = f"It is proved that all such choices need {listed(tuple(needed))}"
    ended = SEARCH_ENDED.get(found.status, "the search was not completed")
    return (
        f"{proved}; {ended}. The command frugalsvm alternatives searches on, with a "
        "larger --time-limit or --limit, or a smaller --tolerance."
    )


def roles(found: AlternativesSummary) -> str:
    """What the words in the column of roles mean."""
    there = {one.role for one in found.roles}
    return " ".join(text for role, text in ROLES.items() if role in there)


def replacements(one: FeatureAlternatives) -> str:
    """What takes the place of a feature."""
    if one.role == "replaceable" and not one.replaced_by:
        return "others, several at a time"
    return listed(one.replaced_by)


# --- the other sections --------------------------------------------------------------


def warning(kind: str) -> str:
    """What a warning is about, in a few words."""
    return WARNINGS.get(kind, "")


def meaning(report: Report, name: str) -> str:
    """What a score counts."""
    first, second = label(report, 0), label(report, 1)
    return {
        "accuracy": "rows that are classified correctly",
        "balanced accuracy": "mean of sensitivity and specificity",
        "AUC": f"chance that “{second}” scores above “{first}”",
        "sensitivity": f"of “{second}”, recognised",
        "specificity": f"of “{first}”, recognised",
    }.get(name, "")


def mistakes(report: Report) -> str:
    """What a confusion matrix says, in words."""
    assert report.validation is not None
    (_, false), (missed, _) = report.validation.confusion.tolist()
    n_first, n_second = report.validation.confusion.sum(axis=1).tolist()
    first, second = label(report, 0), label(report, 1)
    return (
        f"Of {n_second:,} rows that are “{second}” {_were(missed)} missed. Of "
        f"{n_first:,} that are “{first}” {_were(false)} taken for “{second}”."
    )


def _were(n: int) -> str:
    if n == 0:
        return "none was"
    return "1 was" if n == 1 else f"{n:,} were"


def cases(found: CertificateSummary) -> str:
    """The size of a proof."""
    leaves = "1 case" if found.n_leaves == 1 else f"{found.n_leaves:,} cases"
    if found.n_fixings == 0:
        return leaves
    more = "1 exclusion" if found.n_fixings == 1 else f"{found.n_fixings:,} exclusions"
    return f"{leaves} and {more}"


def meaning_of_proof(verdict: Verdict) -> str:
    """What bound and gap are."""
    text = (
        "The fit of a model is measured by its objective: mistakes in training plus "
        "the size of the weights. The bound is a theorem about all choices of "
        f"{budget(verdict)}, those that were never looked at included."
    )
    if verdict.status != "optimal":
        text += (
            " Where there are many features to choose from, bounds stay well below the "
            "best model for a long time, for good models as for others."
        )
    return text


def path(found: BudgetPath) -> str:
    """What the path shows, in a sentence."""
    if found.chosen is None:
        return "What a larger number of features would bring."
    if found.scores is None:
        return (
            f"The model has a budget of {features(found.chosen)}. This is what fewer "
            "or more would bring."
        )
    scores = [float(one) for one in found.scores]
    known = [k for k, one in enumerate(scores) if math.isfinite(one)]
    best = max(known, key=lambda k: scores[k])
    budgets = [int(one) for one in found.budgets]
    if budgets[best] == found.chosen or found.chosen not in budgets:
        return f"The choice of {features(found.chosen)} has the best mean score."
    own = scores[budgets.index(found.chosen)]
    name = found.score_name
    return (
        f"The best mean {name}, {rate(scores[best], name)}, takes "
        f"{features(budgets[best])}; {features(found.chosen)} reach {rate(own, name)}."
    )
