"""Nodes of the search tree, and what they cost in memory.

A node stores what distinguishes it from its parent; the set of its free features is
rebuilt by walking up. So a node is small whatever the number of features, and the list
of all nodes is at the same time the proof that the leaves cover every support.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..engine.protocol import ActiveSet as Focus
from ..engine.region import Region as Node
from ..problem import LEFT_SLACK, Problem

_NOTHING = np.empty(0, dtype=np.int64)
# Bytes of a node without its arrays, as measured.
NODE_BYTES = 900
# Up to this many free features a node keeps their list.
FEW_FEATURES = 200


def _nothing() -> np.ndarray:
    return _NOTHING


@dataclass(slots=True, eq=False)
class DualPoint:
    """A repaired dual point without its zeros, and the price of the cost budget."""

    samples: np.ndarray
    values: np.ndarray
    price: float

    @classmethod
    def of(cls, alpha: np.ndarray, price: float) -> DualPoint:
        """Keep a point."""
        kept = np.flatnonzero(alpha)
        return cls(kept.astype(np.int32), alpha[kept], price)


@dataclass(slots=True, eq=False)
class TreeNode:
    """A set of supports: those with all of ``forced`` and none of what is decided out.

    ``feature`` was decided ``inside`` or not by branching at the parent. ``bound`` is
    valid for all supports of the node, by ``point`` if proofs are kept. The fixings
    follow from ``fixing_point`` and the incumbent; ``candidates`` are the free features
    worth branching on, with their ``shares`` z. ``free`` is kept if there are few.
    """

    parent: TreeNode | None
    feature: int
    inside: bool
    forced: np.ndarray
    bound: float
    point: DualPoint | None = None
    depth: int = 0
    fixed_in: np.ndarray = field(default_factory=_nothing)
    fixed_out: np.ndarray = field(default_factory=_nothing)
    fixing_point: DualPoint | None = None
    candidates: np.ndarray = field(default_factory=_nothing)
    shares: np.ndarray = field(default_factory=_nothing)
    focus: Focus | None = None
    free: np.ndarray | None = None
    is_leaf: bool = True
    dives: bool = False

    @classmethod
    def root(cls, part: Node) -> TreeNode:
        """The node of all supports that the problem admits."""
        return cls(None, -1, True, part.forced, -np.inf)

    def child(self, feature: int, inside: bool) -> TreeNode:
        """The part of this node in which a feature is used, or not."""
        forced = self.forced
        if inside:
            # Three times as fast as np.append.
            forced = np.empty(self.forced.shape[0] + 1, dtype=np.int64)
            forced[:-1] = self.forced
            forced[-1] = feature
        return TreeNode(
            self,
            feature,
            inside,
            forced,
            self.bound,
            self.point,
            self.depth + 1,
            focus=self.focus,
        )

    def part(self, problem: Problem, root: Node) -> Node:
        """What the relaxation of this node has to decide, given that of the root."""
        if self.free is not None:
            return part_of(problem, root, self.forced, self.free)
        open_ = np.zeros(problem.n_features, dtype=bool)
        open_[root.free] = True
        node: TreeNode | None = self
        while node is not None:
            open_[node.fixed_in] = False
            open_[node.fixed_out] = False
            if node.feature >= 0:
                open_[node.feature] = False
            node = node.parent
        return part_of(problem, root, self.forced, np.flatnonzero(open_))

    @property
    def n_bytes(self) -> int:
        """Memory the node takes, roughly."""
        size = NODE_BYTES + self.forced.nbytes + self.fixed_out.nbytes
        if self.free is not None:
            size += self.free.nbytes
        if self.focus is not None:
            size += self.focus.side.nbytes + self.focus.features.nbytes
        for point in (self.point, self.fixing_point):
            if point is not None:
                size += point.samples.nbytes + point.values.nbytes
        return size


def part_of(problem: Problem, root: Node, forced: np.ndarray, free: np.ndarray) -> Node:
    """The part of the root with these features forced and these still to decide.

    ``forced`` begins with the forced features of the root.
    """
    n_forced = root.forced.shape[0]
    budget = root.budget
    if np.isfinite(budget):
        spent = problem.costs[forced[n_forced:]].sum()
        # Rounded up, so that the bound cannot profit from the subtraction.
        budget = float((budget - spent) + LEFT_SLACK * (budget + spent))
        free = free[problem.costs[free] <= budget]
    return Node(forced, free, root.k - (forced.shape[0] - n_forced), budget)
