"""EN-SVM, the SVM with an elastic-net penalty, for one or many values of alpha.

    min 1/2 ||w||^2 + alpha ||w||_1 + C sum hinge

Its dual is ``max 1'a - 1/2 sum_j max(0, |c_j| - alpha)^2`` over ``0 <= a <= C`` with
``y'a = 0`` and ``c = A a``, and ``w_j = sign(c_j) max(0, |c_j| - alpha)``: features
with ``|c_j| <= alpha`` are out. So Clarabel solves the program on a working set, all
features are priced by one product with the data, missing ones join, and the gap between
primal and dual value over *all* features is the stopping criterion. Along a path of
alphas, largest first, each starts from the working set implied by the last dual point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...kernels.bounds import repair_dual
from ...problem.problem import Problem
from ...run.progress import relative_gap
from ...search.intercept import best_intercept
from ..models.baselines import elastic_net_svm
from ..plain import require_plain
from ..solvers import SolverFailed

SOLVER = "clarabel"
# Clarabel solves to a hundredth of the gap, but not beyond its own accuracy.
SMALLEST_TOLERANCE = 1e-9
# Features whose |c_j| exceeds alpha by less than this have only noise as weights.
SAME_AS_ALPHA = 1e-6
# Minimum number of features that join the working set at a time.
LEAST_GROWTH = 50
# Features that join a larger working set at a time, as a fraction of its size.
GROWTH = 0.5
# Maximum number of rounds, to guarantee termination.
MOST_ROUNDS = 100


@dataclass(frozen=True)
class ElasticNet:
    """A solution of EN-SVM.

    Attributes
    ----------
    alpha : float
    coef : ndarray of shape (n_features,)
        Features that the dual point rules out have weights of exactly zero.
    intercept : float
    objective : float
        Recomputed from the weights.
    lower_bound : float
        Dual value over all features.
    dual_point : ndarray of shape (n_kept_samples,)
    programs : int
        Programs that Clarabel solved.
    largest_program : int
        Largest number of features in one of them.
    """

    alpha: float
    coef: np.ndarray
    intercept: float
    objective: float
    lower_bound: float
    dual_point: np.ndarray
    programs: int
    largest_program: int

    @property
    def gap(self) -> float:
        """Relative gap between objective and bound."""
        return relative_gap(self.objective, self.lower_bound)


def elastic_net_objective(
    problem: Problem, alpha: float, coef: np.ndarray, intercept: float
) -> float:
    """``1/2 ||w||^2 + alpha ||w||_1 + sum_i C_i hinge_i``."""
    return problem.objective(coef, intercept) + alpha * float(np.abs(coef).sum())


def solve_path(
    problem: Problem, alphas: Sequence[float], tol: float
) -> Iterator[ElasticNet]:
    """Solutions for decreasing alphas, each warm-started from the previous one."""
    require_plain("EN-SVM", problem)
    point = _first_point(problem)
    for alpha in alphas:
        solution = _solve(problem, float(alpha), tol, point)
        point = solution.dual_point
        yield solution


def _first_point(problem: Problem) -> np.ndarray:
    """The dual point of w = 0, with balanced classes."""
    y, C = problem.y, problem.C
    return repair_dual(np.array(C), y, C, problem.fit_intercept)


def _solve(problem: Problem, alpha: float, tol: float, point: np.ndarray) -> ElasticNet:
    working = np.empty(0, dtype=np.int64)
    best = _evaluate(problem, alpha, np.zeros(problem.n_features), point)
    for programs in range(1, MOST_ROUNDS):
        missing = _missing(problem, alpha, best.dual_point, working)
        if missing.size == 0 and programs == 1:
            # The dual point of w = 0 is not unique: any feature leads to another one.
            missing = problem.candidates[:1]
        if best.gap <= tol or missing.size == 0:
            break
        working = np.union1d(working, missing)
        found = _solve_on(problem, alpha, tol, working)
        best = _merge(best, found, programs, working.size)
    return _with_exact_zeros(problem, tol, best)


def _with_exact_zeros(problem: Problem, tol: float, best: ElasticNet) -> ElasticNet:
    """Solve again on the features that the dual point does not rule out.

    An interior point leaves small weights on the others. Setting them to zero
    changes margins, so the loss would rise by more than the gap.
    """
    used = np.flatnonzero(best.coef)
    if best.alpha == 0 or used.size == 0:
        return best
    products = np.abs(problem.A[used] @ best.dual_point)
    support = used[products > best.alpha * (1.0 + SAME_AS_ALPHA)]
    if support.size == 0:
        nothing = np.zeros(problem.n_features)
        found = _evaluate(problem, best.alpha, nothing, best.dual_point)
    else:
        found = _solve_on(problem, best.alpha, tol, support)
    return replace(
        found,
        lower_bound=max(best.lower_bound, found.lower_bound),
        dual_point=best.dual_point,
        programs=best.programs + 1,
        largest_program=best.largest_program,
    )


def _missing(
    problem: Problem, alpha: float, point: np.ndarray, working: np.ndarray
) -> np.ndarray:
    """Violated features outside the working set, the most violated first."""
    outside = np.setdiff1d(problem.candidates, working)
    values = np.abs(problem.A[outside] @ point)
    wanted = np.flatnonzero(values > alpha * (1.0 + SAME_AS_ALPHA))
    most = max(LEAST_GROWTH, int(GROWTH * working.size))
    return outside[wanted[np.argsort(-values[wanted], kind="stable")[:most]]]


def _solve_on(
    problem: Problem, alpha: float, tol: float, working: np.ndarray
) -> ElasticNet:
    """The program on some of the features, its values over all of them."""
    model = elastic_net_svm(problem, alpha, working.tolist())
    answer = model.solve(SOLVER, tolerance=max(0.01 * tol, SMALLEST_TOLERANCE))
    if "w" not in answer.variables:
        raise SolverFailed(
            f"{SOLVER} ended EN-SVM with alpha={alpha:g} without a solution "
            f"({answer.status}); scale the features, or ask for a larger tol."
        )
    dual = np.ascontiguousarray(answer.multipliers["alpha"])
    point = repair_dual(dual, problem.y, problem.C, problem.fit_intercept)
    return _evaluate(problem, alpha, answer.variables["w"], point)


def _evaluate(
    problem: Problem, alpha: float, coef: np.ndarray, point: np.ndarray
) -> ElasticNet:
    """Best intercept, primal value, and dual value over all features."""
    b = best_intercept(problem, coef)
    excess = np.maximum(np.abs(problem.A[problem.candidates] @ point) - alpha, 0.0)
    bound = float(point.sum() - 0.5 * excess @ excess)
    objective = elastic_net_objective(problem, alpha, coef, b)
    return ElasticNet(alpha, coef, b, objective, bound, point, 0, 0)


def _merge(best: ElasticNet, found: ElasticNet, programs: int, size: int) -> ElasticNet:
    """The better weights and bound of two results, and the latest dual point."""
    weights = found if found.objective <= best.objective else best
    return replace(
        weights,
        lower_bound=max(best.lower_bound, found.lower_bound),
        dual_point=found.dual_point,
        programs=programs,
        largest_program=max(best.largest_program, size),
    )
