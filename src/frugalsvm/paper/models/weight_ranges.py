"""Bounds on the weights of good solutions: valid big-M values.

Instead of trusting 2n solutions of the bound problems, every interval comes from a dual
point by weak duality (see :mod:`frugalsvm.kernels.big_m`), which also uses that a
feature with a nonzero weight is selected (z_j = 1); so at the dual solution of a bound
problem the interval is at least as tight as its optimal value. One point gives
intervals for *all* features at the cost of one product with the data. Points come from

1. the relaxations DSCoP and SVM, and multiples of their dual solutions;
2. for up to a few hundred features, a descent in the dual of all 2n bound problems at
   once, a few matrix products a step, which settles most features;
3. the bound problems themselves, for the features with the largest intervals until M is
   settled: small ones, on a working set of features, that share one compiled program.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...kernels.big_m import weight_intervals
from ...kernels.bounds import repair_dual, square_bounds
from ...problem.problem import Problem
from ...search.native import relax_natively
from .blocks import require_plain
from .bound_problems import Form, PrintedPrograms, TightPrograms, check_form, descend
from .formulations import check_upper_bound

# Objectives are rounded sums: a solution must satisfy the bound of its objective.
OBJECTIVE_SLACK = 1e-12
# Maximum number of features for the joint descent.
MANY_FEATURES = 1000
# If M is needed below some value, bound problems are solved only if it exceeds that
# value by at most this factor: on data of 77 x 7129 they reduced M by 11 %.
WITHIN_REACH = 1.5
# Dual points that are evaluated together.
CHUNK = 256


@dataclass(frozen=True)
class WeightBounds:
    """Intervals for the weights of all solutions with an objective of at most UB.

    Constant features are an exception if there is an intercept: solutions with weight
    on them are not considered, since better ones have none.

    Attributes
    ----------
    lower, upper : ndarrays of shape (n_features,)
        Both zero for a feature that no such solution uses.
    form : {"tight", "printed"}
    settled : bool
        Whether no bound problem can make M smaller.
    programs : int
        Bound problems solved.
    seconds : float
    """

    lower: np.ndarray
    upper: np.ndarray
    form: str
    settled: bool
    programs: int
    seconds: float

    @property
    def largest(self) -> np.ndarray:
        """Bound on ``|w_j|`` for each feature."""
        # Avoid negative zeros.
        return np.maximum(self.upper, -self.lower) + 0.0

    @property
    def M(self) -> float:
        """The big-M of the paper's proposition ``prop_M``: the largest of all."""
        return float(self.largest.max())


class _Intervals:
    """The intersection of the intervals from all dual points so far."""

    def __init__(self, problem: Problem, upper_bound: float, form: Form):
        node = problem.root_region()
        self.problem = problem
        self.form = form
        self.upper_bound = upper_bound * (1.0 + OBJECTIVE_SLACK)
        # The printed form is the tight one without a budget.
        k, budget = node.k, node.budget
        if form == "printed":
            k, budget = node.free.size, np.inf
        self.k = k
        self.choice = (node.forced, node.free, k, problem.costs, budget)
        self.lower = np.full(problem.n_features, -np.inf)
        self.upper = np.full(problem.n_features, np.inf)

    @property
    def largest(self) -> np.ndarray:
        """Bound on ``|w_j|`` for each feature."""
        return np.maximum(self.upper, -self.lower)

    def learn(self, points: np.ndarray, j: int = -1) -> None:
        """Use dual points, the rows of a matrix; with ``j``, those for that feature."""
        problem = self.problem
        for start in range(0, points.shape[0], CHUNK):
            part = points[start : start + CHUNK]
            repaired = np.array(
                [
                    repair_dual(point, problem.y, problem.C, problem.fit_intercept)
                    for point in np.ascontiguousarray(part)
                ]
            )
            for alpha, c in zip(repaired, repaired @ problem.A.T, strict=True):
                squares = square_bounds(
                    c, problem.norms, alpha, *problem.columns.in_kernels
                )
                lower, upper = weight_intervals(
                    alpha, c, squares, *self.choice, self.upper_bound, j
                )
                self.lower = np.maximum(self.lower, lower)
                self.upper = np.minimum(self.upper, upper)


def weight_bounds(
    problem: Problem,
    upper_bound: float,
    *,
    form: Form = "tight",
    max_programs: int | None = 50,
    solver: str = "clarabel",
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    useful_below: float | None = None,
) -> WeightBounds:
    r"""Intervals for the weights of all solutions with
    :math:`\tfrac12\|w\|^2 + C\sum_i\xi_i \le UB`.

    Parameters
    ----------
    problem : Problem
    upper_bound : float
        Objective UB of a solution. A value below a proved lower bound is refused.
    form : {"tight", "printed"}, default="tight"
        The form of the bound problems; see
        :func:`~frugalsvm.paper.models.bound_problem`.
    max_programs : int or None, default=50
        Maximum number of bound problems; None for as many as it takes to settle M. With
        0 no solver is needed.
    solver : str, default="clarabel"
        The solver of the bound problems; the intervals do not rely on its correctness.
    tolerance : float, default=1e-6
        Tolerance of the solver.
    time_limit : float, default=None
        Seconds after which the descent ends and no further bound problem is begun.
    should_stop : callable
        Called between steps; intervals of a stopped run are wider but valid.
    useful_below : float, default=None
        Stop early if M will not be below this value: the widest intervals are narrowed
        first, and if one of them stays too wide, so does M. Bound problems are only
        solved if M is then at most 1.5 times the value.

    Returns
    -------
    WeightBounds
    """
    check_form(form)
    require_plain("the bound M of the weights", problem)
    started = time.perf_counter()
    intervals = _Intervals(problem, check_upper_bound(upper_bound), form)
    start = _use_relaxations(intervals)

    def is_late() -> bool:
        over = time_limit is not None and time.perf_counter() - started > time_limit
        return over or should_stop()

    if useful_below is not None and _is_hopeless(
        intervals, start, useful_below, is_late
    ):
        max_programs = 0
    elif problem.n_features <= MANY_FEATURES:
        points = descend(problem, start, upper_bound, intervals.k, is_late)
        if not is_late():
            intervals.learn(points)
    solved, settled = _solve_programs(
        intervals, start, max_programs, solver, tolerance, is_late, useful_below
    )
    if not intervals.largest.any():
        # Only w = 0 remains: is it as good as the claimed solution?
        _check_attainable(upper_bound, _constant_objective(problem))
    return WeightBounds(
        intervals.lower,
        intervals.upper,
        form,
        settled,
        solved,
        time.perf_counter() - started,
    )


def _use_relaxations(intervals: _Intervals) -> np.ndarray:
    """Use multiples of the dual points of DSCoP and SVM; return one to start from."""
    problem = intervals.problem
    dscop, svm = (
        relax_natively(problem, model, tol=1e-4) for model in ("DSCoP", "SVM")
    )
    _check_attainable(intervals.upper_bound, dscop.bound)
    scales = (0.0, 0.25, 0.5, 0.75, 1.0)
    intervals.learn(
        np.array([scale * model.alpha for model in (dscop, svm) for scale in scales])
    )
    return dscop.alpha if intervals.form == "tight" else svm.alpha


def _check_attainable(upper_bound: float, bound: float) -> None:
    """Refuse an objective that no solution can have."""
    if bound > upper_bound * (1.0 + OBJECTIVE_SLACK):
        raise ValueError(
            f"upper_bound={upper_bound:g} is below the proved lower bound {bound:g}: "
            "no solution has this objective, so nothing bounds its weights. Give the "
            "objective of a solution, e.g. of frugalsvm.solve(problem)."
        )


def _constant_objective(problem: Problem) -> float:
    """Objective of w = 0 with the best intercept, less the accuracy of solves."""
    total = problem.C.sum()
    if problem.fit_intercept:
        first = problem.C[problem.y > 0].sum()
        total = 2.0 * min(first, total - first)
    return float(total * (1.0 - 1e-6))


def _is_hopeless(
    intervals: _Intervals,
    start: np.ndarray,
    useful_below: float,
    is_late: Callable[[], bool],
) -> bool:
    """Whether the ten widest intervals stay too wide after a descent for them."""
    problem = intervals.problem
    if problem.n_features > MANY_FEATURES:
        return False
    widest = np.argsort(-intervals.largest, kind="stable")[:10]
    intervals.learn(
        descend(problem, start, intervals.upper_bound, intervals.k, is_late, widest)
    )
    return bool(intervals.largest[widest].max() >= useful_below)


def _solve_programs(
    intervals: _Intervals,
    start: np.ndarray,
    max_programs: int | None,
    solver: str,
    tolerance: float,
    is_late: Callable[[], bool],
    useful_below: float | None,
) -> tuple[int, bool]:
    """Solve bound problems, widest interval first.

    Returns their number and whether M is settled. If M is needed below some value, stop
    at the first interval that stays above it.
    """
    most = np.inf if max_programs is None else max_programs
    if useful_below is not None:
        too_wide = intervals.largest.max() > WITHIN_REACH * useful_below
        most = 0 if too_wide else most
    programs = None
    done = np.zeros((2, intervals.problem.n_features), dtype=bool)
    while True:
        ends = np.vstack([intervals.upper, -intervals.lower])
        side, j = np.unravel_index(np.argmax(ends), ends.shape)
        solved = int(done.sum())
        if done[side, j] or ends[side, j] <= 0:
            return solved, True
        hopeless = useful_below is not None and (ends[done] >= useful_below).any()
        if hopeless or is_late() or solved >= most:
            return solved, False
        if programs is None:
            form = TightPrograms if intervals.form == "tight" else PrintedPrograms
            programs = form(intervals.problem, intervals.upper_bound, start)
        sign = 1.0 if side == 0 else -1.0
        point = programs.dual_point(int(j), sign, solver, tolerance)
        if point is not None:
            intervals.learn(point[None], int(j))
        done[side, j] = True


def big_m(
    problem: Problem,
    upper_bound: float,
    *,
    form: Form = "tight",
    max_programs: int | None = 50,
    solver: str = "clarabel",
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    useful_below: float | None = None,
) -> float:
    r"""The big-M of the paper's proposition ``prop_M``:
    :math:`M = \max_j \max(|\overline M_j|, |\underline M_j|)`.

    A bound on the weights of every solution with an objective of at most UB. Parameters
    are those of :func:`weight_bounds`.

    Returns
    -------
    float
    """
    bounds = weight_bounds(
        problem,
        upper_bound,
        form=form,
        max_programs=max_programs,
        solver=solver,
        tolerance=tolerance,
        time_limit=time_limit,
        should_stop=should_stop,
        useful_below=useful_below,
    )
    # Models need a positive M, even if only w = 0 is good enough.
    return max(bounds.M, float(np.finfo(float).tiny))


@dataclass(frozen=True)
class MRange:
    """The half-open interval ``[low, high)`` of useful big-M values; may be empty."""

    low: float
    high: float

    @property
    def empty(self) -> bool:
        """Whether no M keeps the optimum and improves on SVM."""
        return not self.low < self.high

    def __contains__(self, M: float) -> bool:
        return self.low <= M < self.high


def m_range(problem: Problem, coef: np.ndarray, *, form: str = "corrected") -> MRange:
    r"""The admissible range of M (``bound_M``):
    :math:`[\|\overline w^*\|_\infty,\; \max(\|w^*\|_\infty, \|w^*\|_1 / B))`.

    Below it BigMP cuts off the optimal solution; from its upper end on BoxMP is no
    better than SVM. As printed the upper end is :math:`\|w^*\|_1 / B`, which is too
    small by the missing term: BoxMP still exceeds SVM for M between the two.

    Parameters
    ----------
    problem : Problem
    coef : array of shape (n_features,)
        Weights of an optimal solution of FS-SVM.
    form : {"corrected", "printed"}, default="corrected"

    Returns
    -------
    MRange
        ``empty`` if there is no such M.
    """
    if form not in ("corrected", "printed"):
        raise ValueError(f'form must be "corrected" or "printed", got {form!r}.')
    require_plain("the range of M", problem)
    weights = np.asarray(coef, dtype=float)
    if weights.shape != (problem.n_features,):
        raise ValueError(
            f"coef must have one entry per feature ({problem.n_features}), got shape "
            f"{weights.shape}."
        )
    w = relax_natively(problem, "SVM", tol=1e-9).w
    with np.errstate(divide="ignore", invalid="ignore"):
        high = np.abs(w).sum() / np.float64(problem.max_features)
    if form == "corrected":
        high = max(high, np.abs(w).max())
    return MRange(float(np.abs(weights).max()), float(np.nan_to_num(high)))
