"""l1-FS-SVM of Labbé, Martínez-Merino and Rodríguez-Chía, exact and by kernel search.

    min ||w||_1 + C sum xi   s.t.  margins,  |w_j| <= M_j v_j,  sum v <= B,  v binary

Programs go to HiGHS, which chooses supports; weights are those of the linear program on
the support, and objectives are recomputed. Kernel search is the paper's Algorithm 2
with the ranking of Labbé et al.: features by |w_j| in the linear relaxation, largest
first, then by reduced cost, smallest first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.bounds import repair_dual
from ...problem.problem import Problem
from ...problem.solution import Solution
from ...run.monitor import Monitor, relative_gap
from ...search.evaluator import best_intercept
from ..algorithms.kernel_search import better, kernel_search
from ..algorithms.restricted import SUBPROBLEM_GAP, TIE, Restricted
from ..algorithms.subproblem import LEAST_SECONDS, ask_solver
from ..models.formulations import l1_fs_svm, l1_svm
from ..solvers.base import Request
from ..solvers.highs import largest_differences

SOLVER = "highs"
# Accuracy of linear programs.
LP_TOL = 1e-9
# Relative allowance for limits of weights, which are computed in floating point.
LIMIT_SLACK = 1e-6


@dataclass(frozen=True)
class L1Outcome:
    """The result of a run.

    Attributes
    ----------
    solution : Solution
        Support, weights and intercept; its objective is that of l1-FS-SVM.
    lower_bound : float
        Value of the linear relaxation, recomputed from its dual point.
    reported_bound : float or None
        The bound of the mixed-integer program claimed by HiGHS.
    programs : int
        Programs solved.
    is_cut_short : bool
        Whether a program was skipped for lack of time.
    """

    solution: Solution
    lower_bound: float
    reported_bound: float | None
    programs: int
    is_cut_short: bool = False


def l1_objective(problem: Problem, coef: np.ndarray, intercept: float) -> float:
    """``||w||_1 + sum_i C_i max(0, 1 - y_i (w x_i + b))``."""
    margins = problem.margins(coef, intercept)
    return float(np.abs(coef).sum() + problem.C @ np.maximum(0.0, 1.0 - margins))


class L1Subproblems:
    """Linear and mixed-integer programs of one problem, for kernel search.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
    time_limit : float
        Seconds for each subproblem.
    """

    def __init__(self, problem: Problem, monitor: Monitor, time_limit: float):
        self.problem = problem
        self.monitor = monitor
        self.time_limit = time_limit
        self.programs = 0
        self.is_cut_short = False
        self.constant = _constant_classifier(problem)
        # Bound and |c_j| of the linear relaxation, once it is solved.
        self.bound = 0.0
        self.values = np.zeros(problem.n_features)

    def rank(self) -> np.ndarray | None:
        """Solve the linear relaxation; return the features ranked by its solution.

        None if the time is too short. With M as large as the objective of a solution,
        the budget row of the relaxation is not binding, so it is the l1-SVM.
        """
        problem = self.problem
        self.programs += 1
        answer = ask_solver(
            self.monitor, l1_svm(problem), SOLVER, self.seconds(), LP_TOL
        )
        if answer is None or "w" not in answer.variables:
            return None
        point = repair_dual(
            np.ascontiguousarray(answer.multipliers["alpha"]),
            problem.y,
            problem.C,
            problem.fit_intercept,
        )
        products = np.abs(problem.A @ point)
        # Dual feasible means |c_j| <= 1.
        scale = max(1.0, products.max(initial=0.0))
        self.bound = float(point.sum() / scale)
        self.values = products / scale
        self.monitor.raise_bound(self.bound, "linear relaxation")
        features = problem.candidates
        weights = np.abs(answer.variables["w"][features])
        # Weights that differ by less than a millionth of the largest are equal.
        rounded = np.round(weights / (1e-6 * max(weights.max(initial=0), 1e-300)))
        reduced_costs = 1.0 - self.values[features]
        return features[np.lexsort((features, reduced_costs, -rounded))]

    def limits(self, upper_bound: float) -> np.ndarray:
        """Valid M_j: bounds on the weights of solutions with objective at most UB.

        By weak duality ``UB >= bound + sum_j (1 - |c_j|) |w_j|``, and at any rate
        ``UB >= ||w||_1``.
        """
        with np.errstate(divide="ignore"):
            gap = max(upper_bound - self.bound, 0.0) / (1.0 - self.values)
        limits = np.minimum(np.nan_to_num(gap, nan=np.inf), upper_bound)
        # Rounding must not lead to zero, which would forbid a feature.
        return np.maximum(limits * (1.0 + LIMIT_SLACK), LIMIT_SLACK * upper_bound)

    def solve(
        self,
        K: np.ndarray,
        *,
        upper_bound: float = np.inf,
        group: np.ndarray | None = None,
        start: np.ndarray | None = None,
        time_limit: float = np.inf,
    ) -> Restricted:
        """The best solution on the features K, within the cuts of kernel search."""
        seconds = min(self.time_limit, time_limit, self.seconds())
        if seconds < LEAST_SECONDS or self.monitor.should_stop():
            self.is_cut_short = True
            return Restricted(None, False)
        # Objectives up to this one count as equal, since solves are inexact.
        cut = min(upper_bound, self.constant.objective) * (1.0 + TIE)
        self.programs += 1
        model = l1_fs_svm(
            self.problem,
            self.limits(cut),
            K.tolist(),
            upper_bound=cut,
            group=None if group is None else group.tolist(),
        )
        answer = ask_solver(self.monitor, model, SOLVER, seconds, SUBPROBLEM_GAP)
        if answer is None or "v" not in answer.variables:
            return Restricted(
                None, answer is not None and answer.status != "time limit"
            )
        solution = self.refit(np.flatnonzero(answer.variables["v"] > 0.5))
        complete = answer.status == "optimal"
        if solution is None or solution.objective > upper_bound * (1.0 + TIE):
            return Restricted(None, complete)
        return Restricted(solution, complete)

    def refit(self, support: np.ndarray) -> Solution | None:
        """The l1-SVM on a support; None if the time is too short."""
        if support.size == 0:
            return self.constant
        self.programs += 1
        model = l1_svm(self.problem, support.tolist())
        answer = ask_solver(self.monitor, model, SOLVER, self.seconds(), LP_TOL)
        if answer is None or "w" not in answer.variables:
            return None
        coef = answer.variables["w"]
        b = float(answer.variables.get("b", 0.0))
        objective = l1_objective(self.problem, coef, b)
        alpha = answer.multipliers["alpha"]
        return Solution(support, coef[support], b, alpha, objective)

    def seconds(self) -> float:
        """Remaining seconds, at least a thousandth."""
        return max(self.monitor.stop.seconds_left, 1e-3)


def _constant_classifier(problem: Problem) -> Solution:
    """The classifier without features, which is always a solution."""
    coef = np.zeros(problem.n_features)
    b = best_intercept(problem, coef)
    support = np.empty(0, dtype=np.int64)
    objective = l1_objective(problem, coef, b)
    return Solution(support, coef[:0], b, np.zeros(problem.n_samples), objective)


def solve_l1(
    problem: Problem,
    monitor: Monitor,
    rho: int,
    subproblem_time_limit: float | None,
    exact: bool,
) -> L1Outcome:
    """The paper's Algorithm 2 on l1-FS-SVM, then, if ``exact``, the whole program."""
    limit = np.inf if subproblem_time_limit is None else float(subproblem_time_limit)
    subproblems = L1Subproblems(problem, monitor, limit)
    best = subproblems.constant
    if problem.max_features == 0 or problem.candidates.size == 0:
        return L1Outcome(best, best.objective, None, 0)
    ranked = subproblems.rank()
    claim = None
    if ranked is not None:
        # The whole program needs the other half of the time.
        seconds = 0.5 * monitor.stop.seconds_left if exact else np.inf
        solution = kernel_search(subproblems, ranked, rho, time_limit=seconds)
        best = _best(best, solution)
        if exact:
            best, claim = _solve_whole(subproblems, best)
    return L1Outcome(
        best, subproblems.bound, claim, subproblems.programs, subproblems.is_cut_short
    )


def _best(first: Solution, second: Solution | None) -> Solution:
    best = better(first, second)
    assert best is not None
    return best


def _tight_limits(subproblems: L1Subproblems, upper_bound: float) -> np.ndarray:
    """The smallest M_j from the linear relaxation with ``objective <= UB``.

    Smaller limits tighten the relaxation in turn, hence two rounds, each within a fifth
    of the remaining time.
    """
    problem, monitor = subproblems.problem, subproblems.monitor
    cut = upper_bound * (1.0 + TIE)
    limits = subproblems.limits(cut)
    if problem.n_features > 100:
        # Two programs per feature would take too long.
        return limits
    for _ in range(2):
        seconds = 0.2 * monitor.stop.seconds_left
        if monitor.should_stop():
            break
        model = l1_fs_svm(problem, limits, upper_bound=cut, binary=False)
        request = Request(seconds if np.isfinite(seconds) else None)
        largest = largest_differences(model, "w_plus", "w_minus", request)
        subproblems.programs += 2 * largest.size
        slack = LIMIT_SLACK * (largest + cut)
        limits[model.features] = np.minimum(limits[model.features], largest + slack)
    return limits


def _solve_whole(
    subproblems: L1Subproblems, best: Solution
) -> tuple[Solution, float | None]:
    """Solve the whole program by HiGHS; return a solution and the claimed bound."""
    problem, monitor = subproblems.problem, subproblems.monitor
    if relative_gap(best.objective, subproblems.bound) <= monitor.gap_tol:
        return best, subproblems.bound
    model = l1_fs_svm(problem, _tight_limits(subproblems, best.objective))
    coef = np.zeros(problem.n_features)
    coef[best.support] = best.w
    subproblems.programs += 1
    answer = ask_solver(
        monitor,
        model,
        SOLVER,
        subproblems.seconds(),
        max(monitor.gap_tol, LP_TOL),
        start=model.start_from(coef, best.b),
    )
    if answer is None:
        return best, None
    if "v" in answer.variables:
        support = np.flatnonzero(answer.variables["v"] > 0.5)
        best = _best(best, subproblems.refit(support))
        monitor.incumbent.offer(best, "mixed-integer program")
    return best, answer.bound if np.isfinite(answer.bound) else None
