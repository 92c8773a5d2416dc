"""Exchanges of single features of the best model, tried before the tree search.

A list that a limit cuts short then still has the substitutes of features in the best
model, and the tree starts from any better model that is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ..engine.columns import smallest
from ..engine.perspective import perspective
from ..problem.problem import Problem
from ..run.words import listed
from ..search.evaluator import Evaluator, Stop, insert
from ..search.reduced import n_searched, needs_subsample
from ..tree.listing import Listing, ListingTree, solve_support
from ..tree.parameters import TreeParameters

if TYPE_CHECKING:
    from .alternatives import NearOptimal

# Maximum number of substitutes tried for each feature, the most promising first, and
# the work limit for all but the first of them, see ``frugalsvm.engine.work``.
N_SUBSTITUTES, WORK = 20, 1e9
# How often the exchanges move to a better model.
MAX_TURNS = 3


class ExchangeTrials:
    """Tries to replace features of the best model, and lists the good results.

    Parameters
    ----------
    problem : Problem
        Its compiled code watches the stop flag.
    listing : Listing
        With at least one model.
    should_stop : callable

    Attributes
    ----------
    n_tried : int
        Exchanges whose SVMs were solved or proved to be beyond the tolerance.
    """

    def __init__(
        self, problem: Problem, listing: Listing, should_stop: Callable[[], bool]
    ):
        self.problem = problem
        self.listing = listing
        self.n_tried = 0
        self._evaluator = Evaluator(problem, should_stop)
        self._should_stop = should_stop
        self._ranker: Evaluator | None = None
        # Models whose exchanges were tried, and the results at the last one.
        self._centres: set[tuple[int, ...]] = set()
        self._last: tuple[int, ...] | None = None
        self._objectives: dict[int, dict[int, float]] = {}

    @property
    def substitutes(self) -> dict[int, dict[int, float]]:
        """Results of the exchanges of the best model, listed or cut."""
        best = self.listing.supports()[0]
        return self._objectives if best.key == self._last else {}

    def run(self) -> None:
        """Try exchanges at the best model, and at better ones that are found."""
        for _ in range(MAX_TURNS):
            best = self.listing.supports()[0]
            if best.key in self._centres or self._should_stop():
                return
            self._centres.add(best.key)
            self._last, self._objectives = best.key, {}
            # Features of small weight are the easiest to replace.
            order = best.support[np.argsort(best.lengths, kind="stable")]
            try:
                self._try_all(best.support, order)
            except Stop:
                return

    def _try_all(self, support: np.ndarray, order: np.ndarray) -> None:
        """One exchange per feature, then more within the work limit."""
        remaining = []
        self._evaluator.max_work = np.inf
        for feature in order[~self._evaluator.is_fixed[order]].tolist():
            others = support[support != feature]
            ranked = self._ranked(others, feature)
            for substitute in ranked[:1]:
                self._try(others, feature, substitute)
            remaining.append((others, feature, ranked[1:]))
        self._evaluator.max_work = self._evaluator.work + WORK
        for turn in range(N_SUBSTITUTES - 1):
            for others, feature, ranked in remaining:
                if turn < len(ranked):
                    self._try(others, feature, ranked[turn])

    def _ranked(self, others: np.ndarray, feature: int) -> list[int]:
        """Candidate substitutes of a feature, the most promising first."""
        if self._ranker is None:
            problem = self.problem
            if needs_subsample(problem):
                # Many samples are ranked by a subsample.
                problem = problem.drawn(n_searched(problem), np.random.default_rng(0))
            self._ranker = Evaluator(problem, self._should_stop)
        ranker = self._ranker
        solution = ranker.solve(others)
        assert solution is not None
        features = ranker.addable(others)
        features = features[features != feature]
        if features.size == 0:
            return []
        estimates = ranker.addition_estimates(solution, features)
        return features[smallest(estimates, N_SUBSTITUTES)].tolist()

    def _try(self, others: np.ndarray, feature: int, substitute: int) -> None:
        """List an exchange if its SVM is within the tolerance."""
        cutoff = self.listing.threshold.cutoff
        support = insert(others, substitute)
        solution = self._evaluator.solve(support, cutoff)
        self.n_tried += 1
        if solution is None:
            return
        exchanged, _ = solve_support(self.problem, support)
        if exchanged.objective <= cutoff:
            # This is not a leaf; the tree will treat it like any other set.
            self.listing.add(replace(exchanged, bound=-np.inf))
            self._objectives.setdefault(feature, {})[substitute] = exchanged.objective


# --- Bounds for models that lack a feature, for incomplete lists ----------------------

# Number of features, by decreasing weight, whose relaxations are solved.
MOST_RELAXED = 50


def bounds_without(
    problem: Problem, tree: ListingTree, should_stop: Callable[[], bool]
) -> dict[int, float]:
    """For each feature of the best model: a lower bound for models without it.

    Models in the list do not count. One bound comes from the tree: the smallest bound
    of the open nodes in which the feature is not forced. The other comes from the
    relaxation without the feature; it is better if the limit of the list stopped the
    tree.
    """
    listing = tree.listing
    best = listing.supports()[0]
    order = best.support[np.argsort(-best.lengths, kind="stable")]
    features = order[~np.isin(order, problem.include)].tolist()
    bounds = tree.bounds_without(features)
    root, tol = problem.root_region(), problem.parameters(TreeParameters).node_tol
    for j in features[:MOST_RELAXED]:
        if bounds[j] > listing.last:
            continue
        if should_stop():
            break
        others = root._replace(free=root.free[root.free != j])
        relaxation = perspective(
            problem.engine,
            others,
            tol=tol,
            cutoff=listing.last,
            should_stop=should_stop,
        )
        bounds[j] = max(bounds[j], relaxation.bound)
    return bounds


# --- The roles of features in the models of a list ------------------------------------

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
            others = (*features[:t], *features[t + 1 :])
            completions.setdefault(others, []).append(feature)
    replacements: dict[int, Counter[int]] = {}
    for features in completions.values():
        for feature in features:
            counts = replacements.setdefault(feature, Counter())
            counts.update(other for other in features if other != feature)
    return replacements


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


# --- Sentences about the proof of a list and its limits -------------------------------

# Maximum number of feature names in a sentence.
N_NAMED = 10
# Reasons for stopping, and the parameters to raise.
LARGER = {"time limit": "time_limit", "node limit": "max_nodes", "limit": "limit"}


def extent(models: NearOptimal) -> str:
    """The extent of the proof, in a few words."""
    if models.complete:
        return "complete"
    if models.complete_up_to < 0:
        return f"optimum proved to within {-100 * models.complete_up_to:.2g} % only"
    return f"complete up to {100 * models.complete_up_to:.3g} %"


def explanation(models: NearOptimal, *, options: bool = False) -> str:
    """The extent and the limits of the proof; ``options`` for names like --limit."""
    if models.complete:
        return "Proved: no choice of features is missing from this list."
    limit = f"proved that none is missing up to {100 * models.complete_up_to:.3g} %."
    if models.complete_up_to < 0:
        limit = (
            "the best one is not proved to be optimal; another may be better by up to "
            f"{-100 * models.complete_up_to:.2g} %."
        )
    return (
        f"Not complete ({models.status}): {limit} {_proved_features(models)} "
        f"{_advice(models, options)}"
    )


def _proved_features(models: NearOptimal) -> str:
    """Proofs about features in spite of an incomplete list."""
    names = {
        role: [feature.name for feature in models.roles if feature.role == role]
        for role in (INDISPENSABLE, IN_ALL)
    }
    proved = "No feature is proved to be indispensable."
    if names[INDISPENSABLE]:
        proved = f"Proved to be indispensable: {listed(names[INDISPENSABLE], N_NAMED)}."
    if not names[IN_ALL]:
        return proved
    return (
        f"{proved} In all models found, but models without them may be missing: "
        f"{listed(names[IN_ALL], N_NAMED)}; {models.n_exchanges:,} exchanges of single "
        "features were tried."
    )


def _advice(models: NearOptimal, options: bool) -> str:
    """How to prove more."""
    option, smaller = LARGER.get(models.status), "tolerance"
    if options:
        option, smaller = option and f"--{option.replace('_', '-')}", "--tolerance"
    if option is None:
        return f"A smaller {smaller} may prove more."
    return f"A larger {option} or a smaller {smaller} may prove more."
