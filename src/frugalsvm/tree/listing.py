"""A tree that lists all near-optimal supports instead of searching for the best one.

The cutoff for pruning and screening is not the best objective but a tolerance above it.
So all pruned supports are worse than the cutoff, and the others become leaves of one
support, which are listed. Nodes are taken best bound first: at any time all supports
below the smallest bound of an open node are in the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from threading import RLock

import numpy as np

from ..engine.protocol import Engine, Region
from ..problem.problem import Problem
from ..run.monitor import Incumbent
from .best_first import BestFirstTree, Policy
from .branch_and_bound import AUTO, engine_of, nodes_together
from .branching import Reliability
from .evaluation import AllFeatures, NodeSolver
from .node import DualPoint, Node
from .parameters import DEFAULTS, TreeParameters


@dataclass(frozen=True, eq=False)
class ListedSupport:
    """A support within the tolerance, with its SVM and bounds on its optimum.

    ``coef`` and ``intercept`` belong to the columns of these features in X,
    ``objective`` is rounded up. ``bound`` is proved by the dual point of a leaf; it is
    minus infinity without a leaf. ``lengths`` has the length of the weights of each
    feature.
    """

    support: np.ndarray
    coef: np.ndarray
    intercept: float
    objective: float
    bound: float
    lengths: np.ndarray

    @property
    def key(self) -> tuple[int, ...]:
        """The support as a hashable value."""
        return tuple(self.support.tolist())

    def bound_without(self, position: int) -> float:
        """A bound of the support without one of its features.

        Without feature j the dual value rises by ``c_j^2 / 2``, and c equals the weight
        up to the remaining gap, which is at least ``|w - c|^2 / 2``.
        """
        bound = max(0.0, self.bound)
        radius = np.sqrt(2.0 * max(0.0, self.objective - bound)) * (1.0 + 1e-9)
        size = max(0.0, float(self.lengths[position]) - float(radius))
        # One part in 1e12 is more than all roundings here.
        return (bound + 0.5 * size**2) * (1.0 - 1e-12)


def solve_support(
    problem: Problem, support: np.ndarray
) -> tuple[ListedSupport, np.ndarray]:
    """The SVM on a support, and the repaired dual point of its bound."""
    tol = problem.parameters(TreeParameters).listed_tol
    svm = problem.engine.solve_svm(support, tol=tol)
    coef = np.zeros(problem.n_columns)
    coef[problem.columns.of(support)] = svm.w
    intercept = problem.unshifted_intercept(coef, svm.b)
    proved = problem.engine.bound(_only(problem, support), svm.alpha)
    objective = problem.objective(coef, intercept)
    lengths = problem.columns.lengths(support, svm.w)
    entry = ListedSupport(support, svm.w, intercept, objective, proved.bound, lengths)
    return entry, proved.alpha


def _only(problem: Problem, support: np.ndarray) -> Region:
    """The region of one support."""
    return problem.root_region()._replace(forced=support, free=support[:0], k=0)


class Threshold(Incumbent):
    """The cutoff of a list: a tolerance above the best objective.

    Parameters
    ----------
    tolerance : float
    """

    def __init__(self, tolerance: float):
        super().__init__()
        self.tolerance = tolerance

    def cut_above(self, value: float) -> None:
        """Lower the cutoff to a value, regardless of the tolerance."""
        with self._lock:
            self.cutoff = min(self.cutoff, value)

    def _cut_at(self, value: float) -> None:
        self.cutoff = min(self.cutoff, value * (1.0 + self.tolerance))


class Listing:
    """The supports listed so far, up to a limit.

    Parameters
    ----------
    threshold : Threshold
        Lowered by every better support, and when the list becomes too long.
    limit : int
        Maximum number of supports; the best ones are kept.

    Attributes
    ----------
    best : float
        The smallest objective.
    is_cut : bool
        Whether supports within the tolerance were dropped.
    """

    def __init__(self, threshold: Threshold, limit: int):
        self.threshold = threshold
        self.limit = limit
        self.best = np.inf
        self.is_cut = False
        self._supports: dict[tuple[int, ...], ListedSupport] = {}
        # Threads add leaves while another cuts the list.
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._supports)

    def add(self, support: ListedSupport) -> None:
        """Add a support, or improve the entry that it has already."""
        with self._lock:
            previous = self._supports.get(support.key, support)
            better = min(previous, support, key=lambda entry: entry.objective)
            bound = max(previous.bound, support.bound)
            self._supports[support.key] = replace(better, bound=bound)
            self.best = min(self.best, support.objective)
        self.threshold.lower_cutoff(support.objective)

    def cut(self, length: float) -> None:
        """If the list is too long, keep the best ones and lower the cutoff."""
        with self._lock:
            if len(self._supports) <= length:
                return
            best = self.supports()
            self._supports = {entry.key: entry for entry in best[: self.limit]}
        # Supports that are not leaves belong to one, or to an open node.
        dropped = [entry.bound for entry in best[self.limit :] if entry.bound > -np.inf]
        if dropped:
            self.is_cut = True
            self.threshold.cut_above(min(dropped))

    @property
    def last(self) -> float:
        """The largest objective that is within the tolerance."""
        return self.best * (1.0 + self.threshold.tolerance)

    def supports(self) -> list[ListedSupport]:
        """The supports not proved to be beyond the tolerance, best first."""
        last = self.last
        with self._lock:
            entries = list(self._supports.values())
        # The initial support is not a leaf and has no bound; it may be beyond the
        # tolerance.
        listed = [
            entry
            for entry in entries
            if (entry.bound if entry.bound > -np.inf else entry.objective) <= last
        ]
        return sorted(listed, key=lambda entry: (entry.objective, entry.key))


class _Leaves(AllFeatures):
    """A tree that branches down to leaves of one support, without rounding."""

    def round(self, *_: object) -> None:
        """Nothing to do."""


class _ListingSolver(NodeSolver):
    """Evaluates nodes, and lists the leaves that cannot be pruned."""

    listing: Listing
    # Leaves listed since the last batch.
    listed: set[Node]

    def close(self, node: Node, support: np.ndarray) -> None:
        """List the support of a leaf, unless it is above the cutoff."""
        if not self._is_affordable(support):
            return
        problem = self.problem
        entry, alpha = solve_support(problem, support)
        point = None
        if self.keep_points:
            point, proved = DualPoint.stored(
                problem.engine, problem, _only(problem, support), alpha
            )
            entry = replace(entry, bound=proved.bound)
        if entry.bound > node.bound:
            node.bound, node.point = entry.bound, point
        cutoff = self.incumbent.cutoff
        last = cutoff * (1.0 + self.parameters.conclusive_above)
        if node.bound <= cutoff and entry.objective <= last:
            self.listing.add(entry)
            self.listed.add(node)


class ListingPolicy(Policy):
    """Lists leaves, several nodes at a time, and keeps the list within its limit."""

    def __init__(
        self,
        listing: Listing,
        parameters: TreeParameters = DEFAULTS,
        engine: Engine | None = None,
    ):
        self._listing = listing
        self._parameters = parameters
        self._engine = engine

    def batch(self, tree: BestFirstTree) -> int:
        """Always several: there is no incumbent to wait for."""
        return max(self._parameters.batch, nodes_together(self._engine))

    def admit(self, solver: NodeSolver, node: Node) -> None:
        """Raise the bound of listed leaves: they contain no missing support."""
        assert isinstance(solver, _ListingSolver)
        if node in solver.listed:
            node.bound = np.inf

    def grown(self, tree: BestFirstTree, solver: NodeSolver) -> None:
        """Cut the list if it has become much too long."""
        assert isinstance(solver, _ListingSolver)
        # Leaves of pairs that were tried and not chosen are among them, too.
        solver.listed.clear()
        self._listing.cut(self._parameters.overlength * self._listing.limit)


class ListingTree(BestFirstTree):
    """Lists all supports of a problem within a tolerance.

    Parameters
    ----------
    problem : Problem
    listing : Listing
        With at least one solution, so that there is a cutoff.
    should_stop : callable
    max_nodes : float, default=inf
    max_bytes : float, default=inf
        Memory limit of the nodes.
    n_jobs : int, default=1
    keep_proof : bool, default=False

    Attributes
    ----------
    root : Node or None
    """

    def __init__(
        self,
        problem: Problem,
        listing: Listing,
        should_stop: Callable[[], bool],
        *,
        max_nodes: float = np.inf,
        max_bytes: float = np.inf,
        n_jobs: int = 1,
        keep_proof: bool = False,
    ):
        self.listing = listing
        self.root: Node | None = None
        parameters = problem.parameters(TreeParameters)
        engine = engine_of(problem, AUTO)
        rule = Reliability(
            problem.n_features,
            parameters=parameters,
            is_crude=lambda: nodes_together(engine) > 1,
        )

        def make_solver() -> _ListingSolver:
            solver = _ListingSolver(
                problem, listing.threshold, rule, _Leaves(), should_stop=should_stop,
                keep_points=keep_proof, tried=set(), engine=engine,
            )  # fmt: skip
            solver.listing, solver.listed = listing, set()
            return solver

        super().__init__(
            make_solver,
            listing.threshold,
            ListingPolicy(listing, parameters, engine),
            should_stop=should_stop,
            max_nodes=max_nodes,
            max_bytes=max_bytes,
            n_jobs=n_jobs,
            keep_proof=keep_proof,
        )
        self._root_solver = make_solver()

    def run(self) -> None:
        """Search until no node is open or a stop condition holds."""
        self.root = self._root_solver.make_root()
        self.add(self._root_solver, self.root)
        super().run()
        self.listing.cut(self.listing.limit)

    @property
    def proved(self) -> float:
        """No support below this is missing from the list."""
        return min(self.frontier.bound, self.listing.threshold.cutoff)

    @property
    def is_complete(self) -> bool:
        """Whether no support within the tolerance is missing from the list."""
        return self.proved >= self.listing.last

    def bounds_without(self, features: Iterable[int]) -> dict[int, float]:
        """For each feature: a lower bound of the missing supports that lack it."""
        closed = min(self.frontier.closed_bound, self.listing.threshold.cutoff)
        bounds = dict.fromkeys(features, closed)
        for node in self.frontier.waiting:
            if node.bound < max(bounds.values(), default=-np.inf):
                forced = set(node.forced.tolist())
                for j in bounds.keys() - forced:
                    bounds[j] = min(bounds[j], node.bound)
        return bounds

    @property
    def ruled_out(self) -> np.ndarray:
        """Mask of the features that no support below the first cutoff uses."""
        root = self._root_solver.root
        out = np.ones(self._root_solver.problem.n_features, dtype=bool)
        out[root.forced] = out[root.free] = False
        if self.root is not None:
            out[self.root.fixed_out] = True
        return out
