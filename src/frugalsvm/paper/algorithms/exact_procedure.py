"""The exact procedure, the paper's Algorithm 4: a sequence of SR-DLMP(K).

An upper-bound strategy gives a solution, whose features form the first K. Then, until
the gap is closed: solve SR-DLMP(K), which bounds FS-SVM from below; run the strategy
again with the ranking of its solution; exchange features of K.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...problem.options import check_choice, check_integer
from ...problem.problem import Problem
from ...problem.solution import Solution
from ...run.monitor import Monitor, relative_gap
from ...search.evaluator import Evaluator, Stop
from ...search.relaxations import fit_budgets
from ...tree.best_first import Frontier
from ...tree.node import Node
from .heuristic import Strategy, StrategyOptions
from .kernel_search import rank_features
from .semi_relaxation import SemiRelaxation, solve_semi_relaxation
from .subproblem import LEAST_SECONDS, ask_solver, check_available

# --- The set K: the binary features of the next iteration -----------------------------


class BinarySet:
    """The set K and its updates: K+ joins, K- leaves, and no K is solved twice.

    A subset of an earlier K cannot raise the bound, since SR-DLMP(K) grows with K. If
    the paper's rule leads to such a set, no feature leaves, and if that is not enough,
    more features join. So the procedure terminates, at the latest when K has all
    features.

    Parameters
    ----------
    K : array of int
        The first set.
    candidates : array of int
        Features that may join.
    """

    def __init__(self, K: np.ndarray, candidates: np.ndarray):
        self.candidates = candidates
        self.idle = {int(j): 0 for j in np.intersect1d(K, candidates)}
        self.visited: list[frozenset[int]] = []

    @property
    def features(self) -> np.ndarray:
        """K in increasing order."""
        return np.array(sorted(self.idle), dtype=np.int64)

    @property
    def is_everything(self) -> bool:
        """Whether SR-DLMP(K) is FS-SVM itself."""
        return len(self.idle) == self.candidates.size

    def update(self, u: np.ndarray, ranked: np.ndarray, s: int) -> None:
        """Exchange features after SR-DLMP(K) has been solved.

        Parameters
        ----------
        u : ndarray of shape (n_features,)
            The u of the solution of SR-DLMP(K).
        ranked : ndarray of int
            All candidates by increasing u; decides ties.
        s : int
            Number of the least binary features that join.
        """
        self.visited.append(frozenset(self.idle))
        idle = {j: 0 if u[j] < 0.5 else t + 1 for j, t in self.idle.items()}
        joining = least_binary(u, ranked[~np.isin(ranked, self.features)])
        grown = idle | dict.fromkeys(joining[:s].tolist(), 0)
        # A feature leaves after two consecutive semi-relaxed solutions without it.
        following = {j: t for j, t in grown.items() if t < 2}
        if self._was_visited(following):
            following = grown
        for start in range(s, joining.size, s):
            if not self._was_visited(following):
                break
            following |= dict.fromkeys(joining[start : start + s].tolist(), 0)
        self.idle = following

    def _was_visited(self, K: dict[int, int]) -> bool:
        return any(K.keys() <= earlier for earlier in self.visited)


def least_binary(u: np.ndarray, ranked: np.ndarray) -> np.ndarray:
    """Ranked features by ``u_j - u_j^2``, largest first; ties as ranked."""
    # Rounded like the ranking: smaller differences are noise.
    fractionality = np.round(u[ranked] - u[ranked] ** 2, 6)
    return ranked[np.argsort(-fractionality, kind="stable")]


# --- The procedure --------------------------------------------------------------------

#: The solvers of SR-DLMP(K).
SEMI_SOLVERS = ("native", "scip", "copt")


@dataclass(frozen=True)
class ExactOptions(StrategyOptions):
    """Options of ``exact``, in addition to those of the kernel search.

    Parameters
    ----------
    strategy : {"kernel-search", "local-search"}, default="kernel-search"
        Upper-bound strategy.
    k : int, default=10
        Excess of the local search.
    s : int, default=10
        Number of the least binary features that join K. The paper gives no value.
    semi_solver : {"native", "scip", "copt"}, default="native"
        The solver of SR-DLMP(K). Bounds claimed by SCIP or COPT become
        ``Result.reported_bound``; only the native tree has dual points that raise
        ``Result.lower_bound``.
    max_megabytes : int, default=4000
        Memory limit of the nodes of a tree, at which the procedure ends.
    """

    s: int = 10
    semi_solver: str = "native"
    max_megabytes: int = 4000

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""
        super().check()
        check_integer("s", self.s, 1)
        check_choice("semi_solver", self.semi_solver, SEMI_SOLVERS)
        check_integer("max_megabytes", self.max_megabytes, 1)


class ExactProcedure:
    """One run of the procedure.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
    options : ExactOptions
    max_nodes : int or None
        Maximum total number of nodes of all semi-relaxed trees.
    keep_proof : bool

    Attributes
    ----------
    bound : float
        The bound proved by the best tree.
    nodes : list of Node or None
        The nodes of that tree, if proofs are kept.
    reported_bound : float or None
        The best bound claimed by another solver.
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
        self.bound = -np.inf
        self.nodes: list[Node] | None = None
        self.reported_bound: float | None = None
        self.hit_limit: str | None = None
        self.sets: list[np.ndarray] = []
        self.counters = {"nodes": 0, "semi-relaxations": 0}

    @property
    def best(self) -> Solution:
        """The incumbent; it must exist before the procedure runs."""
        solution = self.monitor.incumbent.solution
        assert solution is not None
        return solution

    def run(self, ranked: np.ndarray, start: Solution | None) -> None:
        """Run until the gap is closed or a stop condition holds.

        Parameters
        ----------
        ranked : ndarray of int
            Features that may be chosen, best first.
        start : Solution or None
            The user's start.
        """
        self.strategy(ranked, start, self._half_the_time())
        K = BinarySet(self.best.support, self.problem.candidates)
        while not (self._is_closed() or self.monitor.should_stop()):
            semi = self._solve_semi(K.features)
            if not semi.complete:
                self.hit_limit = semi.hit_limit
                break
            ranked = rank_features(self.problem, semi.u, semi.squares)
            self._round(ranked)
            if self._is_closed() or K.is_everything:
                break
            self.strategy(ranked, self.best, self._half_the_time())
            K.update(semi.u, ranked, self.options.s)
        self.counters |= self.strategy.subproblems.counters

    def _half_the_time(self) -> float:
        """Seconds for an upper bound: half of the remaining time."""
        stop = self.monitor.stop
        return 0.5 * (stop.time_limit - stop.seconds)

    def _is_closed(self) -> bool:
        """Whether the gap is closed, by the proved bound or another solver's claim."""
        claim = -np.inf if self.reported_bound is None else self.reported_bound
        bound = max(self.monitor.bound, claim)
        return relative_gap(self.best.objective, bound) <= self.monitor.gap_tol

    def _round(self, ranked: np.ndarray) -> None:
        """Try the best-ranked features: the solution itself if all u are binary."""
        evaluator = Evaluator(self.problem, self.monitor.should_stop)
        try:
            solution = evaluator.solve(fit_budgets(self.problem, ranked))
        except Stop:
            return
        assert solution is not None
        self.monitor.incumbent.offer(solution, "rounding")

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
            watch=self._after_nodes,
            keep_proof=self.keep_proof,
            max_nodes=self.max_nodes - self.counters["nodes"],
            max_bytes=1e6 * self.options.max_megabytes,
        )
        if semi.bound > self.bound:
            self.bound, self.nodes = semi.bound, semi.nodes
        return semi

    def _after_nodes(self, frontier: Frontier, n_new: int) -> None:
        self.counters["nodes"] += n_new
        self.monitor.count_nodes(n_new, len(frontier))
        # The monitor keeps the largest bound, so it never decreases.
        self.monitor.raise_bound(frontier.bound)
        self.monitor.tick()

    def _solve_model(self, K: np.ndarray) -> SemiRelaxation:
        """SR-DLMP(K) by another solver, whose claims never become the proved bound."""
        from ..models import big_m, sr_dlmp

        monitor, problem = self.monitor, self.problem
        nothing = np.zeros(problem.n_features)
        unsolved = SemiRelaxation(-np.inf, np.inf, nothing, nothing, False)
        M = big_m(
            problem,
            self.best.objective,
            max_programs=0,
            should_stop=monitor.should_stop,
        )
        model = sr_dlmp(problem, K.tolist(), M)
        seconds = monitor.stop.seconds_left
        if seconds < LEAST_SECONDS:
            return unsolved
        answer = ask_solver(
            monitor,
            model,
            self.options.semi_solver,
            seconds,
            max(0.1 * monitor.gap_tol, 1e-8),
        )
        if answer is None:
            return unsolved
        if np.isfinite(answer.bound):
            claims = (self.reported_bound, answer.bound)
            self.reported_bound = max(claim for claim in claims if claim is not None)
        if answer.status != "optimal":
            return unsolved
        # A feature outside K is as important as its weight.
        return SemiRelaxation(
            -np.inf,
            answer.objective,
            answer.variables["u"],
            answer.variables["w"] ** 2,
            True,
            reported_bound=answer.bound,
        )
