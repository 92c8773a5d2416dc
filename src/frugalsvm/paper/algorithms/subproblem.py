"""CoP(K) for the paper's searches, by the native tree or a third-party solver."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...problem.options import Options, check_choice, check_seconds
from ...problem.problem import Problem
from ...run.monitor import Monitor
from ...search.evaluator import Evaluator
from .restricted import SUBPROBLEM_GAP, TIE, Restricted, solve_restricted

if TYPE_CHECKING:
    from ..models import Model
    from ..solvers import ModelSolution

#: The solvers of CoP(K).
COP_SOLVERS = ("native", "scip", "gurobi")
# Minimum remaining time to start a third-party solver.
LEAST_SECONDS = 0.05


@dataclass(frozen=True)
class SubproblemOptions(Options):
    """Options of all algorithms that solve CoP(K).

    Parameters
    ----------
    solver : {"native", "scip", "gurobi"}, default="native"
        The solver of the subproblems CoP(K).
    subproblem_time_limit : float or None, default=60
        Seconds for each subproblem; its best solution so far is used.
    """

    solver: str = "native"
    subproblem_time_limit: float | None = 60.0

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""
        check_choice("solver", self.solver, COP_SOLVERS)
        check_seconds("subproblem_time_limit", self.subproblem_time_limit)


class SubproblemSolver:
    """Solves CoP(K) for one K after another.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
        Records nodes, and decides when to stop.
    solver : {"native", "scip", "gurobi"}
    time_limit : float or None
        Seconds for each subproblem.

    Attributes
    ----------
    counters : dict
        Numbers of subproblems started, of those completed (optimal, or proved to have
        no solution), and of nodes.
    """

    def __init__(
        self, problem: Problem, monitor: Monitor, solver: str, time_limit: float | None
    ):
        self.problem = problem
        self.monitor = monitor
        self.solver = solver
        self.time_limit = np.inf if time_limit is None else float(time_limit)
        self.counters = {
            "subproblems": 0,
            "subproblems solved": 0,
            "subproblem nodes": 0,
        }
        if solver != "native":
            check_available(solver)

    def solve(
        self,
        K: np.ndarray,
        *,
        upper_bound: float = np.inf,
        group: np.ndarray | None = None,
        start: np.ndarray | None = None,
        time_limit: float = np.inf,
    ) -> Restricted:
        """The best solution of CoP(K) within the cuts and the time limit.

        ``time_limit`` shortens that of the object; ``start`` is the support of a good
        solution, for solvers that can use it.
        """
        seconds = min(self.time_limit, time_limit)
        deadline = time.perf_counter() + seconds

        def stop() -> bool:
            return self.monitor.should_stop() or time.perf_counter() >= deadline

        self.counters["subproblems"] += 1
        if self.solver == "native" or self._is_trivial(K, group):
            outcome = solve_restricted(
                self.problem,
                K,
                upper_bound=upper_bound,
                group=group,
                start=start,
                should_stop=stop,
                watch=self._count,
            )
        else:
            outcome = self._by_model(K, upper_bound, group, seconds)
        self.counters["subproblems solved"] += outcome.complete
        self.monitor.tick()
        return outcome

    def _count(self, n_nodes: int) -> None:
        self.counters["subproblem nodes"] += n_nodes
        self.monitor.count_nodes(n_nodes, self.monitor.open_nodes)
        self.monitor.tick()

    def _is_trivial(self, K: np.ndarray, group: np.ndarray | None) -> bool:
        """Whether there is nothing to choose, which models do not support."""
        region = self.problem.root_region().affordable(self.problem.costs)
        choice = np.intersect1d(K, region.free)
        reachable = group is None or np.isin(group, choice).any()
        return region.k == 0 or choice.size == 0 or not reachable

    def _by_model(
        self,
        K: np.ndarray,
        upper_bound: float,
        group: np.ndarray | None,
        seconds: float,
    ) -> Restricted:
        from ..models import cop

        monitor, problem = self.monitor, self.problem
        seconds = min(seconds, monitor.stop.seconds_left)
        if seconds < LEAST_SECONDS or monitor.should_stop():
            return Restricted(None, False)
        model = cop(
            problem,
            np.union1d(K, problem.include).tolist(),
            upper_bound=upper_bound if np.isfinite(upper_bound) else None,
            group=None if group is None else group.tolist(),
        )
        answer = ask_solver(monitor, model, self.solver, seconds, SUBPROBLEM_GAP)
        if answer is None:
            return Restricted(None, False)
        complete = answer.status in ("optimal", "infeasible")
        if "u" not in answer.variables:
            return Restricted(None, complete)
        # The weights are those of the native SVM on the solver's support.
        support = np.flatnonzero(answer.variables["u"] < 0.5)
        solution = Evaluator(problem).solve(support, tol=0.1 * SUBPROBLEM_GAP)
        assert solution is not None
        limit = upper_bound * (1.0 + TIE)
        if not problem.admits(support) or solution.objective > limit:
            return Restricted(None, complete)
        return Restricted(solution, complete)


def ask_solver(
    monitor: Monitor,
    model: Model,
    solver: str,
    seconds: float,
    tolerance: float,
    start: dict[str, np.ndarray] | None = None,
) -> ModelSolution | None:
    """The solution of a third-party solver; None if it fails, which ends the run."""
    # Imported here: native runs need no solver.
    from ..solvers import SolverFailed, SolverNotAvailable

    try:
        answer = model.solve(
            solver,
            time_limit=seconds if np.isfinite(seconds) else None,
            tolerance=tolerance,
            should_stop=monitor.should_stop,
            start=start,
        )
    except (SolverFailed, SolverNotAvailable) as error:
        monitor.stop.failure = str(error)
        return None
    if answer.status == "failed":
        monitor.stop.failure = (
            f"{solver} failed on {model.name} without giving a reason."
        )
        return None
    if answer.status == "interrupted" and not monitor.should_stop():
        # Some solvers catch Ctrl-C themselves, but it must end the whole run.
        monitor.stop.interrupt()
    return answer


def check_available(solver: str) -> None:
    """Raise an error before a run begins if its solver is not installed."""
    from ..solvers import SolverNotAvailable, missing_package

    missing = missing_package(solver)
    if missing is not None:
        raise SolverNotAvailable(f'{missing} Or use "native".')
