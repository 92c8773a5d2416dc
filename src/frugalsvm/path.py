"""frugal_path: solutions along budgets and along C, each a start for the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .driver import solve
from .problem import Problem
from .progress import relative_gap
from .result import Result

# A solution that is better by less than this part is the same.
SAME = 1e-9


@dataclass(frozen=True)
class FrugalPath:
    """Results along budgets and along C.

    Attributes
    ----------
    max_features : ndarray of shape (n_budgets,)
        The budgets in increasing order.
    C : ndarray of shape (n_C,)
        The weights of the loss in increasing order.
    objectives, lower_bounds : ndarrays of shape (n_C, n_budgets)
        Objectives do not rise with the budget, and neither do bounds: the bound of a
        budget holds for all smaller ones.
    results : list of lists of Result
        The same way round; their own ``lower_bound`` may be weaker.
    """

    max_features: np.ndarray
    C: np.ndarray
    objectives: np.ndarray
    lower_bounds: np.ndarray
    results: list[list[Result]]

    @property
    def gaps(self) -> np.ndarray:
        """Relative gaps between objectives and bounds."""
        return np.array(
            [
                [relative_gap(*pair) for pair in zip(*row, strict=True)]
                for row in zip(self.objectives, self.lower_bounds, strict=True)
            ]
        )

    def __iter__(self) -> Iterator[tuple[float, int, Result]]:
        for C, row in zip(self.C.tolist(), self.results, strict=True):
            for budget, result in zip(self.max_features.tolist(), row, strict=True):
                yield C, budget, result

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
                f"{C:10.4g} {budget:7d} {objective:13.7g} {bound:13.7g} "
                f"{100 * gap:7.2f}%"
            )
        return "\n".join(lines)


def frugal_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    max_features: Iterable[int],
    C: float | Iterable[float] = 1.0,
    method: str = "swap",
    sample_weight: ArrayLike | None = None,
    include: Iterable[int] = (),
    exclude: Iterable[int] = (),
    fit_intercept: bool = True,
    **options: Any,
) -> FrugalPath:
    """Solve FS-SVM for many budgets and weights of the loss.

    Every solution is a start for the next budget and the next C; a second pass goes
    from large budgets to small ones.

    Parameters
    ----------
    X, y : array-likes of shape (n_samples, n_features) and (n_samples,)
        Data, and labels in {-1, +1}.
    max_features : iterable of int
        Budgets, e.g. ``range(1, 21)``.
    C : float or iterable of float, default=1.0
    method : str, default="swap"
        See :func:`frugalsvm.solve`; with ``auto`` or ``branch-and-bound`` bounds are
        better than those of the relaxations.
    sample_weight, include, exclude, fit_intercept
        See :class:`frugalsvm.Problem`.
    **options
        Handed to :func:`frugalsvm.solve`: ``random_state``, ``n_jobs``, ``time_limit``
        (for each budget and C) and the like.

    Returns
    -------
    FrugalPath
    """
    budgets = _sorted_budgets(max_features)
    weights = np.unique(np.atleast_1d(np.asarray(C, dtype=np.float64)))
    if weights.size == 0:
        raise ValueError("C must hold at least one number.")
    problem = Problem(
        X, y, C=float(weights[0]), max_features=int(budgets[-1]),
        sample_weight=sample_weight, include=include, exclude=exclude,
        fit_intercept=fit_intercept,
    )  # fmt: skip
    rows: list[list[Result]] = []
    for weight in weights.tolist():
        before: Sequence[Result | None] = rows[-1] if rows else [None] * budgets.size
        one = problem.with_C(weight)
        row = _ascend(one, budgets, before, method, options)
        rows.append(_descend(one, budgets, row, options))
    objectives = np.array([[result.objective for result in row] for row in rows])
    bounds = np.array([[result.lower_bound for result in row] for row in rows])
    # A bound for a budget holds for all smaller ones.
    bounds = np.maximum.accumulate(bounds[:, ::-1], axis=1)[:, ::-1]
    return FrugalPath(budgets, weights, objectives, bounds, rows)


def _sorted_budgets(max_features: Iterable[int]) -> np.ndarray:
    budgets = list(max_features)
    for budget in budgets:
        if not isinstance(budget, Integral) or isinstance(budget, bool) or budget < 0:
            raise ValueError(f"max_features must hold integers >= 0, got {budget!r}.")
    if not budgets:
        raise ValueError("max_features must hold at least one budget.")
    return np.unique(np.array(budgets, dtype=np.int64))


def _ascend(
    problem: Problem,
    budgets: np.ndarray,
    before: Sequence[Result | None],
    method: str,
    options: dict[str, Any],
) -> list[Result]:
    """From small budgets to large ones, also from the results of the C before."""
    row: list[Result] = []
    for budget, other in zip(budgets.tolist(), before, strict=True):
        one = problem.with_budget(budget)
        result = solve(
            one, method=method, warm=row[-1] if row else other,
            initial_support=None if other is None else other.selected, **options,
        )  # fmt: skip
        # What fits a smaller budget fits a larger one.
        if row and row[-1].objective < result.objective * (1 - SAME):
            result = _from(one, row[-1], options)
        row.append(result)
    return row


def _descend(
    problem: Problem, budgets: np.ndarray, row: list[Result], options: dict[str, Any]
) -> list[Result]:
    """From large budgets to small ones: descents from the larger supports."""
    best = list(row)
    for t in range(len(row) - 2, -1, -1):
        found = _from(problem.with_budget(int(budgets[t])), best[t + 1], options)
        if found.objective < best[t].objective * (1 - SAME):
            best[t] = found
    return best


def _from(problem: Problem, warm: Result, options: dict[str, Any]) -> Result:
    """One descent from a neighbour."""
    short = {key: value for key, value in options.items() if key != "method_options"}
    once = {"patience": 0}
    return solve(problem, method="swap", warm=warm, method_options=once, **short)
