"""frugal_path: solutions along budgets and C, each a warm start for the next."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..problem.problem import Problem
from ..run.monitor import relative_gaps
from ..run.words import bound_words, gap_words
from ..solving.options import SolveOptions, check_limits
from ..solving.result import Result
from ..solving.solver import run_or_raise
from .feature_groups import FeatureGroups
from .feature_names import FeatureNames
from .grid_search import spread_bounds
from .parameters import signs_of_labels

# Relative improvements below this count as none.
SAME = 1e-9


@dataclass(frozen=True, repr=False)
class FrugalPath:
    """Results for all budgets and all C.

    Attributes
    ----------
    max_features : ndarray of shape (n_budgets,)
        The budgets in increasing order.
    C : ndarray of shape (n_C,)
        The weights of the loss in increasing order.
    objectives, lower_bounds : ndarrays of shape (n_C, n_budgets)
        Neither rises with the budget: the bound of a budget also holds for all smaller
        ones.
    results : list of lists of Result
        In the same layout; their own ``lower_bound`` may be weaker.
    feature_names : list of str
        The columns of a data frame; x0, x1, ... if there were no names. Of groups, if
        there were any.
    """

    max_features: np.ndarray
    C: np.ndarray
    objectives: np.ndarray
    lower_bounds: np.ndarray
    results: list[list[Result]]
    feature_names: list[str] = field(default_factory=list)

    def names_of(self, result: Result) -> list[str]:
        """Names of the features that one of the results uses.

        Parameters
        ----------
        result : Result

        Returns
        -------
        list of str
        """
        return [self.feature_names[j] for j in result.selected.tolist()]

    @property
    def gaps(self) -> np.ndarray:
        """Relative gaps between objectives and bounds."""
        return relative_gaps(self.objectives, self.lower_bounds)

    def __iter__(self) -> Iterator[tuple[float, int, Result]]:
        for C, row in zip(self.C.tolist(), self.results, strict=True):
            for budget, result in zip(self.max_features.tolist(), row, strict=True):
                yield C, budget, result

    def __repr__(self) -> str:
        budgets, weights = self.max_features, self.C
        return (
            f"FrugalPath({budgets.size} budgets from {budgets[0]} to {budgets[-1]}, "
            f"{weights.size} C from {weights[0]:g} to {weights[-1]:g}, "
            f"largest gap={gap_words(float(self.gaps.max()))})"
        )

    def __str__(self) -> str:
        lines = [f"{'C':>10} {'budget':>7} {'objective':>13} {'bound':>13} {'gap':>8}"]
        values = zip(
            self.objectives.ravel(),
            self.lower_bounds.ravel(),
            self.gaps.ravel(),
            strict=True,
        )
        for (C, budget, _), (objective, bound, gap) in zip(self, values, strict=True):
            lines.append(
                f"{C:10.4g} {budget:7d} {objective:13.7g} {bound_words(bound, 7):>13} "
                f"{gap_words(gap, '.2f'):>8}"
            )
        lines.append("gap: the most that another choice could gain; none was found.")
        return "\n".join(lines)


def frugal_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    max_features: Iterable[int],
    C: float | Iterable[float] = 1.0,
    method: str = "swap",
    sample_weight: ArrayLike | None = None,
    feature_costs: ArrayLike | Mapping[str, float] | None = None,
    max_cost: float | None = None,
    include: Iterable[int | str | bool] | None = (),
    exclude: Iterable[int | str | bool] | None = (),
    feature_groups: ArrayLike | Mapping[str, Iterable[int | str]] | None = None,
    signs: ArrayLike | Mapping[str | int, str | int] | None = None,
    fit_intercept: bool = True,
    total_time_limit: float | None = None,
    **options: Any,
) -> FrugalPath:
    """Solve FS-SVM for many budgets and weights of the loss.

    Every solution is a warm start for the next budget and the next C. A second pass
    goes from large budgets to small ones.

    Parameters
    ----------
    X, y : array-likes of shape (n_samples, n_features) and (n_samples,)
        Data, and labels of two or more classes, as for :class:`frugalsvm.FrugalSVC`: of
        two, positive scores mean the second in sorted order. Columns of -1 and +1 are
        several machines, as for :class:`frugalsvm.Problem`.
    max_features : iterable of int
        Budgets, e.g. ``range(1, 21)``.
    C : float or iterable of float, default=1.0
    method : str, default="swap"
        See :func:`frugalsvm.solve`; ``auto`` and ``branch-and-bound`` give better
        bounds than the relaxations.
    sample_weight, fit_intercept
        See :class:`frugalsvm.Problem`.
    feature_costs, max_cost, include, exclude, feature_groups, signs
        As in :class:`frugalsvm.FrugalSVC`: features by index, name or mask, costs also
        by name. ``max_cost`` is the same for the whole path.
    total_time_limit : float, default=None
        Of the whole path, in seconds: each budget and C gets an equal share of what is
        left, and has a solution and a bound in any case.
    **options
        Passed to :func:`frugalsvm.solve`: ``effort``, ``random_state``, ``n_jobs``,
        ``time_limit`` (for each budget and C) and the like.

    Returns
    -------
    FrugalPath

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; partial paths are not returned.
    """
    budgets = sorted_budgets(max_features)
    weights = sorted_weights(C)
    features = FeatureGroups.of(FeatureNames.of(X), feature_groups, signs, X)
    problem = Problem(
        X,
        signs_of_labels(y),
        C=float(weights[0]),
        max_features=int(budgets[-1]),
        sample_weight=sample_weight,
        fit_intercept=fit_intercept,
        **features.constraints(feature_costs, max_cost, include, exclude, stacklevel=3),
    )
    for name in ("warm", "initial_support"):
        if name in options:
            raise ValueError(f"{name} is set by the path itself; do not pass it.")
    # Internal options of solve are not for users.
    options_of_solve = {*SolveOptions.names()} - {"proof", "part_sizes", "search_share"}
    for name in options.keys() - options_of_solve:
        raise TypeError(f"frugal_path got {name!r}, which solve does not take.")
    chosen = SolveOptions(method=method, **options)
    check_limits(0.0, total_time_limit, None)
    clock = _Clock(total_time_limit, budgets.size * weights.size)
    rows: list[_Row] = []
    for weight in weights.tolist():
        row = _Row(problem.with_C(weight), budgets, chosen, clock)
        row.ascend(rows[-1].results if rows else [])
        row.descend()
        row.spread()
        rows.append(row)
    results = [row.results for row in rows]
    objectives = np.array([[result.objective for result in row] for row in results])
    bounds = np.array([row.bounds for row in rows])
    return FrugalPath(
        budgets, weights, objectives, spread_bounds(bounds), results, features.names
    )


def sorted_weights(C: float | Iterable[float]) -> np.ndarray:
    """Values of C in increasing order."""
    values: list[Any] = list(C) if isinstance(C, Iterable) else [C]
    for value in values:
        if not isinstance(value, Real) or not 0 < float(value) < np.inf:
            raise ValueError(f"C must hold positive numbers, got {value!r}.")
    if not values:
        raise ValueError("C must hold at least one number.")
    return np.unique(np.array(values, dtype=np.float64))


def sorted_budgets(max_features: Iterable[int]) -> np.ndarray:
    """Budgets in increasing order."""
    if isinstance(max_features, str) or not isinstance(max_features, Iterable):
        raise ValueError(
            f"max_features must be a list of budgets, got {max_features!r}."
        )
    budgets = list(max_features)
    for budget in budgets:
        if not isinstance(budget, Integral) or isinstance(budget, bool) or budget < 0:
            raise ValueError(f"max_features must hold integers >= 0, got {budget!r}.")
    if not budgets:
        raise ValueError("max_features must hold at least one budget.")
    return np.unique(np.array(budgets, dtype=np.int64))


class _Clock:
    """Divides the time of a path among its cells."""

    def __init__(self, time_limit: float | None, n_cells: int):
        self._end = np.inf if time_limit is None else time.perf_counter() + time_limit
        self._n_remaining = n_cells

    def share(self, limit: float | None) -> float | None:
        """The time limit of the next cell, which may have one of its own."""
        if self._end == np.inf:
            return limit
        share = self.seconds_left / max(1, self._n_remaining)
        self._n_remaining -= 1
        return share if limit is None else min(limit, share)

    @property
    def seconds_left(self) -> float:
        """Seconds until the end; infinite without a limit."""
        return max(0.0, self._end - time.perf_counter())


class _Row:
    """The results for one C, budget by budget.

    Attributes
    ----------
    results : list of Result
        The best solution for each budget.
    bounds : list of float
        The best bound for each budget, from any run.
    """

    def __init__(
        self,
        problem: Problem,
        budgets: np.ndarray,
        options: SolveOptions,
        clock: _Clock,
    ):
        self._clock = clock
        self._problems = [problem.with_budget(int(budget)) for budget in budgets]
        self._options = options
        self.results: list[Result] = []
        self.bounds: list[float] = []

    def ascend(self, before: list[Result]) -> None:
        """Solve from small budgets to large ones, also starting from the previous C."""
        for t, problem in enumerate(self._problems):
            other = before[t] if before else None
            options = replace(
                self._options,
                time_limit=self._clock.share(self._options.time_limit),
                warm=self.results[-1] if self.results else other,
                initial_support=None if other is None else other.selected,
            )
            result = run_or_raise(problem, options)
            self.results.append(result)
            self.bounds.append(result.lower_bound)

    def descend(self) -> None:
        """Descend from large budgets to small ones, from the larger supports."""
        for t in range(len(self.results) - 2, -1, -1):
            self._try_from(t, self.results[t + 1])

    def spread(self) -> None:
        """Make objectives monotone: what fits a budget also fits larger ones."""
        for t in range(1, len(self.results)):
            smaller = self.results[t - 1]
            if smaller.objective < self.results[t].objective * (1 - SAME):
                self._try_from(t, smaller)
            # A run that drops features of tiny weight may end a millionth above.
            if smaller.objective < self.results[t].objective * (1 - SAME):
                self.results[t] = _with_model(self.results[t], smaller)

    def _try_from(self, t: int, neighbour: Result) -> None:
        """Descend once from a neighbour and keep the better result."""
        if self._clock.seconds_left == 0.0:
            return
        options = replace(
            self._options,
            time_limit=self._clock.share(self._options.time_limit),
            method="swap",
            method_options={"patience": 0},
            warm=neighbour,
        )
        result = run_or_raise(self._problems[t], options)
        self.bounds[t] = max(self.bounds[t], result.lower_bound)
        if result.objective < self.results[t].objective * (1 - SAME):
            self.results[t] = result


def _with_model(result: Result, better: Result) -> Result:
    """A result with the model of another, and its own bound."""
    if result.certificate is not None:
        return result
    return replace(
        result,
        objective=better.objective,
        coef=better.coef,
        intercept=better.intercept,
        selected=better.selected,
        constant=better.constant,
    )
