"""The exact procedure, the paper's Algorithm 4: a sequence of SR-DLMP(K).

An upper-bound strategy gives a solution, whose features are the first K. Then, until
the gap is closed: solve SR-DLMP(K), which bounds FS-SVM from below; run the strategy
again by the ranking of its solution; exchange features of K.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..tree.branch_and_bound import Tree
from ..tree.tree import TreeNode
from ..monitor import Monitor, relative_gap
from ..problem import Problem
from ..search.evaluator import Evaluator, Solution, Stop
from ..search.rounding import fit_budgets
from .binary_set import BinarySet
from .heuristic import Strategy
from .local_search import better, report
from .ranking import rank_features
from .semi_relaxation import SemiRelaxation, solve_semi_relaxation
from .subproblem import LEAST_SECONDS, ask_solver, check_available

#: Who can solve SR-DLMP(K).
SEMI_SOLVERS = ("native", "scip", "copt")


@dataclass(frozen=True)
class ExactOptions:
    """Options of ``exact``.

    Parameters
    ----------
    strategy : {"kernel-search", "local-search"}, default="kernel-search"
        Upper-bound strategy.
    k : int, default=10
        Excess of the local search.
    rho : int, default=10
        Size of the groups of the kernel search.
    s : int, default=10
        How many of the least binary features join K. The paper gives no value.
    solver : {"native", "scip", "gurobi"}, default="native"
        Who solves the subproblems CoP(K) of the strategy.
    semi_solver : {"native", "scip", "copt"}, default="native"
        Who solves SR-DLMP(K). What SCIP or COPT claim is ``Result.reported_bound``;
        only the native tree has dual points that raise ``Result.lower_bound``.
    subproblem_time_limit : float or None, default=60
        Seconds for each subproblem of the kernel search.
    passes : int, default=1
        Passes of the kernel search through its groups.
    max_megabytes : int, default=4000
        The procedure ends when the nodes of a tree take more memory than this.
    ranking : sequence of int, default=None
        First ranking of the features; see
        :class:`~frugalsvm.algorithms.kernel_search.KernelSearchOptions`.
    """

    strategy: str = "kernel-search"
    k: int = 10
    rho: int = 10
    s: int = 10
    solver: str = "native"
    semi_solver: str = "native"
    subproblem_time_limit: float | None = 60.0
    passes: int = 1
    max_megabytes: int = 4000
    ranking: Sequence[int] | None = None


class ExactProcedure:
    """One run of the procedure.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
    options : ExactOptions
    max_nodes : int or None
        Most nodes of all semi-relaxed trees together.
    keep_proof : bool

    Attributes
    ----------
    best : Solution
    bound : float
        What the best tree proves.
    nodes : list of TreeNode or None
        That tree, if proofs are kept.
    reported_bound : float or None
        The best claim of another solver.
    hit_limit : str or None
    counters : dict
    sets : list of ndarray
        The sets K in their order.
    """

    def __init__(
        self,
        problem: Problem,
        monitor: Monitor,
        options: ExactOptions,
        *,
        max_nodes: int | None,
        keep_proof: bool,
    ):
        if options.semi_solver != "native":
            check_available(options.semi_solver)
        self.problem = problem
        self.monitor = monitor
        self.options = options
        self.strategy = Strategy(problem, monitor, options)
        self.max_nodes = np.inf if max_nodes is None else max_nodes
        self.keep_proof = keep_proof
        self.best: Solution
        self.bound = -np.inf
        self.nodes: list[TreeNode] | None = None
        self.reported_bound: float | None = None
        self.hit_limit: str | None = None
        self.sets: list[np.ndarray] = []
        self.counters = {"nodes": 0, "semi-relaxations": 0}

    def run(
        self, ranked: np.ndarray, fallback: Solution, start: Solution | None
    ) -> Solution:
        """Run until the gap is closed or something says stop; the best solution.

        Parameters
        ----------
        ranked : ndarray of int
            Features that may be chosen, best first.
        fallback : Solution
            For when there is no time for more.
        start : Solution or None
            The user's.
        """
        self.best = fallback
        self._keep(self.strategy(ranked, start, self._half_the_time()))
        K = BinarySet(self.best.support, self.problem.candidates)
        while not (self._is_closed() or self.monitor.should_stop()):
            semi = self._solve_semi(K.features)
            if not semi.complete:
                self.hit_limit = semi.hit_limit
                break
            ranked = rank_features(self.problem, semi.u, semi.squares)
            self._keep(self._round(ranked))
            if self._is_closed() or K.is_everything:
                break
            self._keep(self.strategy(ranked, self.best, self._half_the_time()))
            K.update(semi.u, ranked, self.options.s)
        self.counters |= self.strategy.subproblems.counters
        return self.best

    def _half_the_time(self) -> float:
        """Seconds for an upper bound: the other half of what is left is for a lower."""
        return 0.5 * (self.monitor.time_limit - self.monitor.seconds)

    def _keep(self, solution: Solution | None) -> None:
        found = better(self.best, solution)
        assert found is not None
        self.best = found
        report(self.monitor, found, "upper bound")

    def _is_closed(self) -> bool:
        """Whether the gap is, by our bound or, if another solver ran, by its claim."""
        claim = -np.inf if self.reported_bound is None else self.reported_bound
        bound = max(self.monitor.bound, claim)
        return relative_gap(self.best.objective, bound) <= self.monitor.gap_tol

    def _round(self, ranked: np.ndarray) -> Solution | None:
        """The best-ranked features: the solution itself if all its u are binary."""
        evaluator = Evaluator(self.problem, self.monitor.should_stop)
        try:
            return evaluator.solve(fit_budgets(self.problem, ranked))
        except Stop:
            return None

    def _solve_semi(self, K: np.ndarray) -> SemiRelaxation:
        self.counters["semi-relaxations"] += 1
        self.sets.append(K)
        self.monitor.log(f"SR-DLMP(K), |K| = {K.size}")
        if self.options.semi_solver != "native":
            return self._solve_model(K)
        semi = solve_semi_relaxation(
            self.problem,
            K,
            self.best,
            gap_tol=self.monitor.gap_tol,
            should_stop=self.monitor.should_stop,
            watch=self._watch(),
            keep_proof=self.keep_proof,
            max_nodes=self.max_nodes - self.counters["nodes"],
            max_bytes=1e6 * self.options.max_megabytes,
        )
        if semi.bound > self.bound:
            self.bound, self.nodes = semi.bound, semi.nodes
        return semi

    def _watch(self) -> Callable[[Tree, int], None]:
        monitor = self.monitor

        def watch(tree: Tree, n_new: int) -> None:
            self.counters["nodes"] += n_new
            monitor.nodes += n_new
            monitor.open_nodes = len(tree)
            # The monitor keeps the largest: the bound never falls.
            monitor.update(bound=tree.bound)
            monitor.tick()

        return watch

    def _solve_model(self, K: np.ndarray) -> SemiRelaxation:
        """SR-DLMP(K) by another solver; nothing it says becomes our bound."""
        from ..models import big_m, sr_dlmp

        monitor, problem = self.monitor, self.problem
        nothing = np.zeros(problem.n_features)
        unsolved = SemiRelaxation(-np.inf, np.inf, nothing, nothing, False)
        M = big_m(
            problem, self.best.objective, max_programs=0,
            should_stop=monitor.should_stop,
        )  # fmt: skip
        model = sr_dlmp(problem, K.tolist(), M)
        left = monitor.time_limit - monitor.seconds
        if left < LEAST_SECONDS:
            return unsolved
        answer = ask_solver(
            monitor, model, self.options.semi_solver, left,
            max(0.1 * monitor.gap_tol, 1e-8),
        )  # fmt: skip
        if answer is None:
            return unsolved
        if np.isfinite(answer.bound):
            claims = (self.reported_bound, answer.bound)
            self.reported_bound = max(claim for claim in claims if claim is not None)
        if answer.status != "optimal":
            return unsolved
        # As far as M is concerned, features outside K are worth what they weigh.
        return SemiRelaxation(
            -np.inf,
            answer.objective,
            answer.variables["u"],
            answer.variables["w"] ** 2,
            True,
            reported_bound=answer.bound,
        )
