"""A tree that lists all near-optimal supports instead of searching for the best one.

The cutoff for pruning and screening is not the best objective but a tolerance above it.
So all pruned supports are worse than the cutoff, and the others become leaves of one
support, which are listed. Nodes are taken best bound first: at any time all supports
below the smallest bound of an open node are in the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from ..problem.problem import Problem
from ..runtime.incumbent import Incumbent
from .branching import MostFractional, make_rule
from .evaluation import run_evaluations
from .expansion import Expansion
from .frontier import Frontier
from .node import DualPoint, Node
from .node_solver import AllFeatures, NodeSolver

# Nodes that a thread evaluates side by side.
BATCH = 8
# Accuracy of the SVMs on listed supports.
LISTED_TOL = 1e-10
# A list is cut when it exceeds its limit by this factor.
OVERLENGTH = 1.25
# An SVM that ends further above the cutoff was stopped early and is inconclusive.
FAR = 1e-6
BRANCHING = "reliability"


@dataclass(frozen=True, eq=False)
class Found:
    """A support within the tolerance, with its SVM and bounds on its optimum.

    ``coef`` and ``intercept`` belong to the features of X, ``objective`` is rounded up.
    ``bound`` is proved by the dual point of a leaf; it is minus infinity without one.
    """

    support: np.ndarray
    coef: np.ndarray
    intercept: float
    objective: float
    bound: float

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
        size = max(0.0, abs(float(self.coef[position])) - float(radius))
        # One part in 1e12 is more than all roundings here.
        return (bound + 0.5 * size**2) * (1.0 - 1e-12)


def solve_support(problem: Problem, support: np.ndarray) -> tuple[Found, np.ndarray]:
    """The SVM on a support, and the repaired dual point of its bound."""
    svm = problem.engine.solve_svm(support, tol=LISTED_TOL)
    coef = np.zeros(problem.n_features)
    coef[support] = svm.w
    intercept = problem.unshifted_intercept(coef, svm.b)
    region = problem.root_region()._replace(forced=support, free=support[:0], k=0)
    proved = problem.engine.bound(region, svm.alpha)
    objective = problem.objective(coef, intercept)
    found = Found(support, svm.w, intercept, objective, proved.bound)
    return found, proved.alpha


class Threshold(Incumbent):
    """The value that bounds have to exceed: a tolerance above the best objective.

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
    """The supports found so far, up to a limit.

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
        self._found: dict[tuple[int, ...], Found] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, found: Found) -> None:
        """Add a support, known or new."""
        known = self._found.get(found.key, found)
        better = min(known, found, key=lambda one: one.objective)
        bound = max(known.bound, found.bound)
        self._found[found.key] = replace(better, bound=bound)
        self.best = min(self.best, found.objective)
        self.threshold.lower_cutoff(found.objective)

    def cut(self, length: float) -> None:
        """If the list is too long, keep the best ones and lower the cutoff."""
        if len(self._found) <= length:
            return
        best = self.supports()
        self._found = {found.key: found for found in best[: self.limit]}
        # Supports that are not leaves belong to one, or to an open node.
        dropped = [one.bound for one in best[self.limit :] if one.bound > -np.inf]
        if dropped:
            self.is_cut = True
            self.threshold.cut_above(min(dropped))

    @property
    def last(self) -> float:
        """The largest objective that is within the tolerance."""
        return self.best * (1.0 + self.threshold.tolerance)

    def supports(self) -> list[Found]:
        """The supports not proved to be beyond the tolerance, best first."""
        last = self.last
        # The initial support is not a leaf and has no bound; it may be beyond the
        # tolerance.
        kept = [
            found
            for found in self._found.values()
            if (found.bound if found.bound > -np.inf else found.objective) <= last
        ]
        return sorted(kept, key=lambda found: (found.objective, found.key))


class _Leaves(AllFeatures):
    """A tree that branches down to leaves of one support, without rounding."""

    def round(self, *_: object) -> None:
        """Nothing."""


class _ListingSolver(NodeSolver):
    """Evaluates nodes, and lists the leaves that cannot be pruned."""

    listing: Listing
    # Leaves listed since the last batch.
    listed: set[Node]

    def close(self, node: Node, support: np.ndarray) -> None:
        """List the support of a leaf, unless it is above the cutoff."""
        if not self._is_affordable(support):
            return
        found, alpha = solve_support(self.problem, support)
        if found.bound > node.bound:
            node.bound = found.bound
            node.point = DualPoint.of(alpha, 0.0) if self.keep_points else None
        cutoff = self.incumbent.cutoff
        if node.bound <= cutoff and found.objective <= cutoff * (1.0 + FAR):
            self.listing.add(found)
            self.listed.add(node)


class ListingTree:
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
    frontier : Frontier
    n_nodes : int
    hit_limit : str or None
        "nodes" or "memory" if that limit ended the search.
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
        self.frontier = Frontier(keep_proof)
        self.n_nodes = 0
        self.hit_limit: str | None = None
        self.root: Node | None = None
        self.max_nodes, self.max_bytes = max_nodes, max_bytes
        self._should_stop = should_stop
        rule = make_rule(BRANCHING, problem.n_features)
        self._solvers = [self._solver(problem, rule, keep_proof) for _ in range(n_jobs)]

    def _solver(
        self, problem: Problem, rule: MostFractional, keep_proof: bool
    ) -> _ListingSolver:
        solver = _ListingSolver(
            problem, self.listing.threshold, rule, _Leaves(),
            should_stop=self._should_stop, keep_points=keep_proof, tried=set(),
        )  # fmt: skip
        solver.listing, solver.listed = self.listing, set()
        return solver

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
        root = self._solvers[0].root
        out = np.ones(self._solvers[0].problem.n_features, dtype=bool)
        out[root.forced] = out[root.free] = False
        if self.root is not None:
            out[self.root.fixed_out] = True
        return out

    def run(self) -> None:
        """Search until no node is open or a stop condition holds."""
        self.root = self._solvers[0].make_root()
        self._add(self.root)
        with ThreadPoolExecutor(len(self._solvers)) as pool:
            while not self._must_stop() and (nodes := self._take()):
                n_jobs = len(self._solvers)
                parts = [nodes[t::n_jobs] for t in range(n_jobs)]
                for done in list(pool.map(_expand, self._solvers, parts)):
                    self._replace(done)
                for solver in self._solvers:
                    solver.listed.clear()
                self.listing.cut(OVERLENGTH * self.listing.limit)
        self.n_nodes = sum(solver.n_nodes for solver in self._solvers)
        self.listing.cut(self.listing.limit)

    def _must_stop(self) -> bool:
        if sum(solver.n_nodes for solver in self._solvers) >= self.max_nodes:
            self.hit_limit = "nodes"
        elif self.frontier.n_bytes > self.max_bytes:
            self.hit_limit = "memory"
        return self.hit_limit is not None or self._should_stop()

    def _take(self) -> list[Node]:
        """The open nodes with the smallest bounds."""
        nodes: list[Node] = []
        while len(nodes) < BATCH * len(self._solvers):
            node = self.frontier.pop(self.listing.threshold.cutoff)
            if node is None:
                break
            self.frontier.start(node)
            nodes.append(node)
        return nodes

    def _replace(self, expansions: list[Expansion]) -> None:
        """Replace parents by their children."""
        for expansion in expansions:
            assert expansion.pair is not None
            for child in expansion.pair:
                self._add(child)
            self.frontier.finish(expansion.node)

    def _add(self, node: Node) -> None:
        if any(node in solver.listed for solver in self._solvers):
            # It contains no missing support.
            node.bound = np.inf
        if self.frontier.add(node, self.listing.threshold.cutoff):
            self.frontier.push(node)


def _expand(solver: NodeSolver, nodes: list[Node]) -> list[Expansion]:
    """The evaluated children of some nodes."""
    expansions = [Expansion(solver, node) for node in nodes]
    run_evaluations(solver.engine, expansions)
    return expansions
