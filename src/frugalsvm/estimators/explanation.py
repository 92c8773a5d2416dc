"""Sentences that say what is proved about a list, and what limits the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..run.words import listed
from .roles import IN_ALL, INDISPENSABLE

if TYPE_CHECKING:  # imported only for type hints
    from .listing import NearOptimal

# Maximum number of feature names in a sentence.
N_NAMED = 10
# Reasons for stopping, and the parameters to raise.
LARGER = {"time limit": "time_limit", "node limit": "max_nodes", "limit": "limit"}


def extent(found: NearOptimal) -> str:
    """The extent of the proof, in a few words."""
    if found.complete:
        return "complete"
    if found.complete_up_to < 0:
        return f"optimum proved to within {-100 * found.complete_up_to:.2g} % only"
    return f"complete up to {100 * found.complete_up_to:.3g} %"


def explanation(found: NearOptimal, *, options: bool = False) -> str:
    """What is proved and what limits it; parameters as ``--options`` if requested."""
    if found.complete:
        return "Proved: no choice of features is missing from this list."
    parts = [_missing(found), _proved(found), _advice(found, options)]
    return " ".join(part for part in parts if part)


def _missing(found: NearOptimal) -> str:
    """What may be missing from an incomplete list."""
    if found.complete_up_to < 0:
        return (
            f"Not complete ({found.status}): the best one is not proved to be optimal; "
            f"another may be better by up to {-100 * found.complete_up_to:.2g} %."
        )
    return (
        f"Not complete ({found.status}): proved that none is missing up to "
        f"{100 * found.complete_up_to:.3g} %."
    )


def _proved(found: NearOptimal) -> str:
    """What is still proved about features."""
    of = {
        role: [one.name for one in found.roles if one.role == role]
        for role in (INDISPENSABLE, IN_ALL)
    }
    proved = "No feature is proved to be indispensable."
    if of[INDISPENSABLE]:
        proved = f"Proved to be indispensable: {listed(of[INDISPENSABLE], N_NAMED)}."
    if not of[IN_ALL]:
        return proved
    return (
        f"{proved} In all models found, but models without them may be missing: "
        f"{listed(of[IN_ALL], N_NAMED)}; {found.n_exchanges:,} exchanges of single "
        "features were tried."
    )


def _advice(found: NearOptimal, options: bool) -> str:
    """How to prove more."""
    names = [LARGER[found.status]] if found.status in LARGER else []
    smaller = "tolerance"
    if options:
        names = [f"--{name.replace('_', '-')}" for name in names]
        smaller = "--tolerance"
    larger = "".join(f"a larger {name} or " for name in names)
    sentence = f"{larger}a smaller {smaller} may prove more."
    return sentence[0].upper() + sentence[1:]
