"""Words about what is proved, which is never how well a model predicts."""

from __future__ import annotations

import math

from ..run.words import listed
from .content import CertificateSummary, Verdict
from .words import N_NAMED, NARROW, at_most, count, number, sentence

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
