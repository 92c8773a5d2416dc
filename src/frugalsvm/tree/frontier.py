"""Frontier: the open nodes, and the bound proved by open and closed nodes."""

from __future__ import annotations

import heapq

import numpy as np

from .node import Node


class Frontier:
    """Open nodes and the bookkeeping of bounds; not thread-safe by itself.

    Attributes
    ----------
    closed_bound : float
        Smallest bound of a leaf, and smallest cutoff a fixing relied on.
    n_bytes : int
        Approximate memory of the nodes.
    kept : list of Node or None
        All nodes, if proofs are kept.
    """

    def __init__(self, keep_proof: bool):
        self.closed_bound = np.inf
        self.n_bytes = 0
        self.kept: list[Node] | None = [] if keep_proof else None
        self._heap: list[tuple[float, int, Node]] = []
        self._busy: dict[int, float] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def is_idle(self) -> bool:
        """Whether no thread works on a node."""
        return not self._busy

    @property
    def waiting(self) -> list[Node]:
        """The open nodes that no thread works on, smallest bound first."""
        return [node for _, _, node in self._heap]

    @property
    def open_bounds(self) -> np.ndarray:
        """The bounds of all open nodes, those in progress included."""
        waiting = [bound for bound, _, _ in self._heap]
        return np.array([*waiting, *self._busy.values()])

    @property
    def bound(self) -> float:
        """Lower bound of the optimum."""
        best_open = self._heap[0][0] if self._heap else np.inf
        return min(best_open, self.closed_bound, *self._busy.values(), np.inf)

    def add(self, node: Node, cutoff: float) -> bool:
        """Add an evaluated node; return whether it is still open."""
        if node.fixed_in.size or node.fixed_out.size:
            self.closed_bound = min(self.closed_bound, cutoff)
        is_open = node.branching_data is not None and node.bound <= cutoff
        if not is_open:
            self.closed_bound = min(self.closed_bound, node.bound)
            node.branching_data = None
        if self.kept is not None:
            self.kept.append(node)
            self.n_bytes += node.n_bytes
        return is_open

    def push(self, node: Node) -> None:
        """Queue an open node."""
        self._count += 1
        if self.kept is None:
            self.n_bytes += node.n_bytes
        heapq.heappush(self._heap, (node.bound, self._count, node))

    def pop(self, cutoff: float) -> Node | None:
        """The open node of smallest bound, or None if none is below the cutoff."""
        if not self._heap:
            return None
        if self._heap[0][0] > cutoff:
            # All others are above it, too: they are leaves now.
            self.closed_bound = min(self.closed_bound, self._heap[0][0])
            self._heap.clear()
            if self.kept is None:
                self.n_bytes = 0
            return None
        _, _, node = heapq.heappop(self._heap)
        if self.kept is None:
            self.n_bytes -= node.n_bytes
        return node

    def start(self, node: Node) -> None:
        """Mark a node as in progress; its bound still counts."""
        self._busy[id(node)] = node.bound

    def finish(self, node: Node) -> None:
        """Mark a node as replaced by its children, which prove its bound."""
        del self._busy[id(node)]
        before = node.n_bytes
        node.is_leaf = False
        node.branching_data = node.point = None
        if self.kept is not None:
            self.n_bytes -= before - node.n_bytes
