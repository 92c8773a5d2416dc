"""The roles of features in the models of a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

INDISPENSABLE, REPLACEABLE, NEVER = "indispensable", "replaceable", "never"
# Roles that an incomplete list may leave open.
IN_ALL, IN_NONE = "in all found", "in none found"


@dataclass(frozen=True)
class FeatureRole:
    """The role of a feature in the models of a list.

    Attributes
    ----------
    feature : int
    name : str
    role : str
        ``indispensable``: every model within the tolerance is proved to use it.
        ``replaceable``: used by some models and not by others, or models can do without
        it. ``never``: no model within the tolerance uses it, which is proved.

        Two roles are not proved. ``in all found``: in all models of the list, but a
        model without it may be missing. ``in none found``: in no model of the list, but
        a model with it may be missing. The latter also occurs in complete lists, for
        features of weight zero in a listed model: a smaller model that uses them may be
        within the tolerance.
    n_models : int
        Models that use it.
    replaced_by : list of str
        Features that replace it in another model with otherwise the same features, the
        most frequent first.
    """

    feature: int
    name: str
    role: str
    n_models: int
    replaced_by: list[str]


def exchanges(supports: Sequence[np.ndarray]) -> dict[int, Counter[int]]:
    """Replacements and their frequency in supports that differ by one feature."""
    # Supports that differ by one feature share all others.
    completions: dict[tuple[int, ...], list[int]] = {}
    for support in supports:
        features = support.tolist()
        for t, feature in enumerate(features):
            rest = (*features[:t], *features[t + 1 :])
            completions.setdefault(rest, []).append(feature)
    found: dict[int, Counter[int]] = {}
    for features in completions.values():
        for one in features:
            counts = found.setdefault(one, Counter())
            counts.update(other for other in features if other != one)
    return found


def roles_of(
    supports: Sequence[np.ndarray],
    names: Sequence[str],
    indispensable: Set[int],
    unproved: Set[int] = frozenset(),
    substitutes: Mapping[int, Iterable[int]] = MappingProxyType({}),
) -> list[FeatureRole]:
    """The roles of all features, the most frequent first.

    Features of all models are replaceable unless they are ``indispensable`` or
    ``unproved``; those of none are never used unless they are ``unproved``.
    ``substitutes`` holds known replacements in models that are not among the supports.
    """
    counts = np.zeros(len(names), dtype=np.int64)
    for support in supports:
        counts[support] += 1
    replacements = exchanges(supports)
    roles = []
    for j in np.argsort(-counts, kind="stable").tolist():
        by = replacements.get(j, Counter())
        by.update(dict.fromkeys(substitutes.get(j, ()), 0))
        # The most frequent first, then in the order of the columns.
        order = sorted(by, key=lambda other: (-by[other], other))
        role = NEVER if counts[j] == 0 else REPLACEABLE
        if j in unproved:
            role = IN_NONE if counts[j] == 0 else IN_ALL
        elif j in indispensable:
            role = INDISPENSABLE
        roles.append(
            FeatureRole(j, names[j], role, int(counts[j]), [names[i] for i in order])
        )
    return roles
