"""NearOptimal: supports within a tolerance of the optimum, and their features."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np

from ..problem.certificate import Certificate
from ..problem.problem import Problem
from ..run.words import counted, escaped, listed
from ..tree.listing import ListedSupport, solve_support
from .exchanges import (
    INDISPENSABLE,
    NEVER,
    REPLACEABLE,
    FeatureRole,
    explanation,
    extent,
    roles_of,
)

# Maximum number of models and features that are printed.
N_SHOWN = 10
# Maximum number of substitutes that are printed.
N_SUBSTITUTES = 3
# Maximum number of subsets solved to decide whether a feature is never used.
MOST_PARTS = 2000
COMPLETE = "complete"
# Objectives with a smaller relative difference are equal.
SAME = 1e-9


@dataclass(frozen=True, repr=False, eq=False)
class NearOptimal:
    """The supports within a tolerance of the best one, best first.

    Attributes
    ----------
    supports : list of ndarrays of int
        Features of each model, without those of weight zero unless they are in
        ``include``.
    coefs : list of ndarrays
        Weights of these features; of groups, those of all of their columns, one group
        after the other (``problem.machine_columns.of(support)``). A row of weights for
        each of more than two classes.
    intercepts : ndarray of shape (n_models,) or (n_models, n_classes)
    objectives : ndarray of shape (n_models,)
    complete : bool
        Whether it is proved that no support within ``tolerance`` is missing.
    complete_up_to : float
        The largest tolerance up to which that is proved, at most ``tolerance``.
        Negative if not even the optimum is proved: then a support that was not found
        may be better than the best one by this fraction.
    tolerance : float
        The requested tolerance.
    threshold : float
        ``(1 + tolerance)`` times the best objective.
    lower_bound : float
        Proved lower bound of the optimum.
    status : str
        "complete", or what stopped the search: "limit" (of the list), "time limit",
        "node limit", "memory limit" or "interrupted". "feasible" means that the search
        finished, but numbers are too large or too small to prove more.
    seconds : float
    n_nodes : int
    n_exchanges : int
        Single-feature exchanges of the best model that were tried.
    feature_names : list of str
        Of columns, or of groups of them.
    certificate : Certificate or None
        Proof for :func:`frugalsvm.verify`, if requested.
    """

    supports: list[np.ndarray]
    coefs: list[np.ndarray]
    intercepts: np.ndarray
    objectives: np.ndarray
    complete: bool
    complete_up_to: float
    tolerance: float
    threshold: float
    lower_bound: float
    status: str
    seconds: float
    n_nodes: int
    feature_names: list[str]
    problem: Problem
    certificate: Certificate | None = None
    n_exchanges: int = 0
    # The feature sets of each support, including features of weight zero.
    _sets: tuple[list[ListedSupport], ...] = ()
    # For incomplete lists: lower bounds of unlisted models that lack a feature of the
    # best one, and the features of no model within the tolerance.
    _bounds_without: Mapping[int, float] = field(default_factory=dict)
    _ruled_out: np.ndarray | None = None
    # Objectives of the exchanges of the best model, including those cut from the list.
    _substitutes: Mapping[int, Mapping[int, float]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.supports)

    @property
    def excess(self) -> np.ndarray:
        """Relative excess of the objectives over the best one."""
        return self.objectives / self.objectives[0] - 1.0

    def within(self, tolerance: float) -> NearOptimal:
        """The list for a smaller tolerance, which may be complete if this one is not.

        Parameters
        ----------
        tolerance : float

        Returns
        -------
        NearOptimal
        """
        if not (isinstance(tolerance, Real) and 0.0 <= tolerance <= self.tolerance):
            raise ValueError(
                f"tolerance must be between 0 and that of the list, {self.tolerance:g},"
                f" got {tolerance!r}."
            )
        threshold = (1.0 + tolerance) * float(self.objectives[0])
        last = threshold * (1.0 + SAME)
        n = int(np.searchsorted(self.objectives, last, side="right"))
        complete = tolerance <= self.complete_up_to
        return replace(
            self,
            supports=self.supports[:n],
            coefs=self.coefs[:n],
            intercepts=self.intercepts[:n],
            objectives=self.objectives[:n],
            complete=complete,
            complete_up_to=min(tolerance, self.complete_up_to),
            tolerance=tolerance,
            threshold=threshold,
            status=COMPLETE if complete else self.status,
            certificate=None,
            _sets=self._sets[:n],
        )

    # --- features ----------------------------------------------------------------

    @cached_property
    def roles(self) -> list[FeatureRole]:
        """The role of each feature in all models, the most frequent first.

        "Indispensable" and "never" are proved. In an incomplete list they may not be
        proved for all features; the roles are then "in all found" and "in none found".
        "Replaceable" follows from the models in the list.
        """
        sets = [set(support.tolist()) for support in self.supports]
        shared = set.intersection(*sets)
        cut = self._cut_substitutes()
        spare = shared & cut.keys()
        n_free = self.problem.max_features - self.problem.include.size
        can_fill_up = self.problem.candidates.size > n_free
        # Any feature of a model below the budget can be replaced, unless costs limit
        # the choice or there are too few features.
        if not (can_fill_up and np.isinf(self.problem.max_cost)):
            # A listed model with the feature may contain a smaller one without it.
            spare |= {j for j in shared - spare if self._is_spare(j)}
        needed = {j for j in shared - spare if self._is_needed(j)}
        unproved = shared - spare - needed
        in_any = set.union(*sets)
        unproved |= self._hidden(in_any)
        if not self.complete:
            # Features that may occur in models missing from the list.
            possible = set(range(len(self.feature_names)))
            if self._ruled_out is not None:
                possible = set(np.flatnonzero(~self._ruled_out).tolist())
            unproved |= possible - in_any
        return roles_of(self.supports, self.feature_names, needed, unproved, cut)

    @property
    def indispensable(self) -> list[str]:
        """Features proved to be in every model within the tolerance.

        If the list is incomplete, other features may be indispensable without proof.
        """
        return self._names_of_role(INDISPENSABLE)

    @property
    def replaceable(self) -> dict[str, list[str]]:
        """Features of some models, each with its substitutes."""
        return {
            feature.name: feature.replaced_by
            for feature in self.roles
            if feature.role == REPLACEABLE
        }

    @property
    def never(self) -> list[str]:
        """Features proved to be in no model within the tolerance.

        If the list is incomplete, there may be others.
        """
        return self._names_of_role(NEVER)

    def _names_of_role(self, role: str) -> list[str]:
        return [feature.name for feature in self.roles if feature.role == role]

    @property
    def explanation(self) -> str:
        """The proofs about models and features, and their limits."""
        return explanation(self)

    def _is_needed(self, feature: int) -> bool:
        """Whether it is proved that no model outside the list lacks a feature."""
        if self.complete or feature in self.problem.include:
            return True
        return self._bounds_without.get(feature, -np.inf) > self.threshold

    def _cut_substitutes(self) -> dict[int, list[int]]:
        """Substitutes in the best model, including those cut from the list."""
        if self.complete:
            return {}
        within = {
            j: [k for k, value in objectives.items() if value <= self.threshold]
            for j, objectives in self._substitutes.items()
        }
        return {j: features for j, features in within.items() if features}

    def _hidden(self, in_any: set[int]) -> set[int]:
        """Features of weight zero that may have nonzero weight in a smaller model.

        Such a model is worse than the larger one, but may be within the threshold.
        """
        sets = [whole for group in self._sets for whole in group]
        tried: dict[tuple[int, ...], ListedSupport | None] = {}
        spare = {j for whole in sets for j in whole.support.tolist()} - in_any
        return {j for j in spare if self._has_use(j, sets, tried)}

    def _has_use(
        self,
        feature: int,
        sets: list[ListedSupport],
        tried: dict[tuple[int, ...], ListedSupport | None],
    ) -> bool:
        """Whether a feature may have nonzero weight in a subset."""
        level = [whole for whole in sets if feature in whole.key]
        while level:
            below = {
                part.key: part
                for whole in level
                for part in self._parts(whole, tried)
                if feature in part.key
            }
            level = list(below.values())
            if len(tried) > MOST_PARTS or any(
                part.lengths[part.key.index(feature)] != 0.0 for part in level
            ):
                return True
        return False

    def _is_spare(self, feature: int) -> bool:
        """Whether a feature can be dropped from one of the sets."""
        return feature not in self.problem.include and any(
            self._part(whole, t) is not None
            for sets in self._sets
            for whole in sets
            for t in np.flatnonzero(whole.support == feature).tolist()
        )

    def minimal(self) -> list[np.ndarray]:
        """The smallest sets of features that are still within the tolerance.

        Dropping any feature from one of them leads beyond the threshold. If the list is
        complete, these are all such sets.

        Returns
        -------
        list of ndarrays of int
            In increasing order of size, then of objective.
        """
        level = {whole.key: whole for sets in self._sets for whole in sets}
        minimal = []
        tried: dict[tuple[int, ...], ListedSupport | None] = {}
        while level:
            below: dict[tuple[int, ...], ListedSupport] = {}
            for whole in level.values():
                parts = self._parts(whole, tried)
                below |= {part.key: part for part in parts}
                if not parts:
                    minimal.append(whole)
            level = below
        minimal.sort(key=lambda part: (part.support.size, part.objective, part.key))
        return [part.support for part in minimal]

    def _parts(
        self, whole: ListedSupport, tried: dict[tuple[int, ...], ListedSupport | None]
    ) -> list[ListedSupport]:
        """The subsets within the threshold that lack one feature."""
        parts = []
        for t in range(whole.support.size):
            if whole.support[t] in self.problem.include:
                continue
            key = (*whole.key[:t], *whole.key[t + 1 :])
            if key not in tried:
                tried[key] = self._part(whole, t)
            parts.append(tried[key])
        return [part for part in parts if part is not None]

    def _part(self, whole: ListedSupport, position: int) -> ListedSupport | None:
        """The set without one feature, or None if it is beyond the threshold."""
        if whole.bound_without(position) > self.threshold:
            return None
        part, _ = solve_support(self.problem, np.delete(whole.support, position))
        return part if part.bound <= self.threshold else None

    # --- tables ------------------------------------------------------------------

    def to_frame(self) -> Any:
        """One row per model: objective, excess over the best, number and names.

        Returns
        -------
        pandas.DataFrame
        """
        from .fitted import pandas

        return pandas().DataFrame(
            {
                "objective": self.objectives,
                "excess": self.excess,
                "n_features": [support.size for support in self.supports],
                "features": [self._names(support) for support in self.supports],
            }
        )

    def roles_frame(self) -> Any:
        """One row per feature: role, number of models, and substitutes.

        See :class:`~frugalsvm.estimators.FeatureRole` for the roles.

        Returns
        -------
        pandas.DataFrame
        """
        from .fitted import pandas

        return pandas().DataFrame(
            {
                "role": [feature.role for feature in self.roles],
                "n_models": [feature.n_models for feature in self.roles],
                "replaced_by": [feature.replaced_by for feature in self.roles],
            },
            index=pandas().Index(
                [feature.name for feature in self.roles], name="feature"
            ),
        )

    def save_certificate(self, path: str | PathLike[str]) -> None:
        """Write the proof to a file for :func:`frugalsvm.verify`."""
        if self.certificate is None:
            raise ValueError(
                "this list has no certificate; call near_optimal with certificate=True."
            )
        self.certificate.save(path)

    def __repr__(self) -> str:
        return (
            f"NearOptimal({len(self)} supports within {100 * self.tolerance:.3g} % of "
            f"{self.objectives[0]:.6g}, {extent(self)})"
        )

    def __str__(self) -> str:
        features = [feature for feature in self.roles if feature.n_models]
        width = max((len(feature.name) for feature in features), default=0)
        lines = [repr(self), ""]
        if not self.complete:
            # Names of features are never broken.
            lines += textwrap.wrap(
                self.explanation, 88, break_long_words=False, break_on_hyphens=False
            )
            lines.append("")
        for feature in features[: 2 * N_SHOWN]:
            share = f"{100 * feature.n_models / len(self):4.0f} %"
            lines.append(f"{share}  {feature.name:<{width}}  {_role(feature)}")
        if len(features) > 2 * N_SHOWN:
            lines.append(f"and {counted(len(features) - 2 * N_SHOWN, 'more feature')}")
        lines.append("")
        for excess, support in zip(self.excess[:N_SHOWN], self.supports, strict=False):
            names = ", ".join(self._names(support)) or "(no features)"
            lines.append(f"+{100 * excess:.2f} %  {names}")
        if len(self) > N_SHOWN:
            lines.append(f"and {counted(len(self) - N_SHOWN, 'more model')}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from ..report import notebook

        features = [feature for feature in self.roles if feature.n_models]
        rows = [
            [
                escaped(feature.name),
                f"{feature.n_models:,}",
                notebook.bar(feature.n_models / len(self), 1.0),
                escaped(_role(feature)),
            ]
            for feature in features[: notebook.N_SHOWN]
        ]
        return notebook.box(
            f"{counted(len(self), 'model')} within {100 * self.tolerance:.3g} % of the "
            "best",
            notebook.table(["feature", "models", "", "role"], rows, "lrll"),
            notebook.facts(
                [
                    ("best objective", f"{self.objectives[0]:.6g}"),
                    ("list", extent(self)),
                ]
            ),
            "" if self.complete else notebook.note(self.explanation),
        )

    def _names(self, support: np.ndarray) -> list[str]:
        return [self.feature_names[j] for j in support.tolist()]


def _role(feature: FeatureRole) -> str:
    if feature.role != REPLACEABLE:
        return feature.role
    if not feature.replaced_by:
        return f"{feature.role} together with others"
    return f"{feature.role} by {listed(feature.replaced_by, N_SUBSTITUTES)}"
