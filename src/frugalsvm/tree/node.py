"""Nodes of the search tree, with compact storage.

A node stores only its difference from its parent; the set of its free features is
rebuilt by walking up the tree. So a node is small for any number of features, and the
list of all nodes is also the proof that the leaves cover every support.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..checker import pack, unpack
from ..engine.protocol import DualBound, Engine, Region, RelaxationResult, WorkingSet
from ..problem.constraints import remaining_budget
from ..problem.problem import Problem

_NOTHING = np.empty(0, dtype=np.int64)
# Bytes of a node without its arrays (measured).
NODE_BYTES = 900


def step_type(problem: Problem) -> type[np.unsignedinteger]:
    """The type of the steps of the dual points of a problem."""
    square = float(problem.norms.max()) ** 2 / problem.n_samples
    size = problem.max_features * square * float(problem.C.max())
    # Beyond this, 32 bits lose too much of a bound: about 1e-10 of it here, and in
    # proportion to C and the square of the features above.
    return np.uint32 if size <= 1e10 else np.uint64


@dataclass(slots=True, eq=False)
class DualPoint:
    """A dual point as certificates store it, and the price of the cost budget.

    ``full``, ``between`` and ``steps`` are the bytes of the arrays of a
    ``checker.PackedPoint``: objects of bytes are smaller than arrays.
    """

    full: bytes
    between: bytes
    steps: bytes
    grid: int
    price: float

    @classmethod
    def stored(
        cls, engine: Engine, problem: Problem, region: Region, alpha: np.ndarray
    ) -> tuple[DualPoint, DualBound]:
        """Store a point; also return the bound of a region that the stored one proves.

        Storing rounds, and no bound may be claimed that a certificate does not prove.
        """
        packed = pack(alpha, problem.C, step_type(problem))
        proved = engine.bound(region, unpack(packed, problem.C))
        full, between, steps = (part.tobytes() for part in packed[:3])
        return cls(full, between, steps, packed.grid, proved.price), proved

    @property
    def n_bytes(self) -> int:
        """Bytes of the arrays."""
        return len(self.full) + len(self.between) + len(self.steps)


@dataclass(slots=True, eq=False)
class BranchingData:
    """Data of an open node that are needed until it is branched on.

    Attributes
    ----------
    features : ndarray
        Features worth branching on, best first.
    z : list of float
        Their z.
    gains : tuple of two lists
        Expected gains of the bound if they are used, and if they are not.
    working_set : WorkingSet
        The working set of the node, from which its children start.
    free : ndarray or None
        Its free features, if there are few.
    dives : bool
        Whether the search continues directly with a child of this node.
    """

    features: np.ndarray
    z: list[float]
    gains: tuple[list[float], list[float]]
    working_set: WorkingSet
    free: np.ndarray | None
    dives: bool = False

    @property
    def n_bytes(self) -> int:
        """Bytes of the arrays."""
        arrays = (*self.working_set, self.free)
        return sum(array.nbytes for array in arrays if array is not None)


@dataclass(slots=True, eq=False)
class Node:
    """A set of supports: all ``forced`` features and no excluded ones.

    Branching at the parent put ``feature`` ``inside`` or not. ``bound`` is valid for
    all supports of the node; ``point`` proves it if proofs are kept. The fixings follow
    from ``fixing_point`` and the incumbent. ``branching_data`` exist while the node is
    open.
    """

    parent: Node | None
    feature: int
    inside: bool
    forced: np.ndarray
    bound: float
    point: DualPoint | None = None
    fixed_in: np.ndarray = field(default_factory=lambda: _NOTHING)
    fixed_out: np.ndarray = field(default_factory=lambda: _NOTHING)
    fixing_point: DualPoint | None = None
    is_leaf: bool = True
    branching_data: BranchingData | None = None

    @classmethod
    def root(cls, region: Region) -> Node:
        """The node of all supports that the problem admits."""
        return cls(None, -1, True, region.forced, -np.inf)

    def child(self, feature: int, inside: bool) -> Node:
        """The child of this node in which a feature is used, or not."""
        forced = self.forced
        if inside:
            # Three times as fast as np.append.
            forced = np.empty(self.forced.shape[0] + 1, dtype=np.int64)
            forced[:-1] = self.forced
            forced[-1] = feature
        return Node(self, feature, inside, forced, self.bound, self.point)

    def fix(
        self, inside: np.ndarray, outside: np.ndarray, point: DualPoint | None
    ) -> None:
        """Fix features by a dual point and the incumbent."""
        self.fixing_point = point
        self.fixed_in = inside.astype(np.int32)
        self.fixed_out = outside.astype(np.int32)
        self.forced = np.concatenate([self.forced, inside])

    def region(self, problem: Problem, root: Region) -> Region:
        """The region of this node, from that of the root."""
        if self.branching_data is not None and self.branching_data.free is not None:
            return region_of(problem, root, self.forced, self.branching_data.free)
        open_ = np.zeros(problem.n_features, dtype=bool)
        open_[root.free] = True
        node: Node | None = self
        while node is not None:
            open_[node.fixed_in] = False
            open_[node.fixed_out] = False
            if node.feature >= 0:
                open_[node.feature] = False
            node = node.parent
        return region_of(problem, root, self.forced, np.flatnonzero(open_))

    @property
    def n_bytes(self) -> int:
        """Approximate memory of the node."""
        size = NODE_BYTES + self.forced.nbytes + self.fixed_out.nbytes
        fixing_point = None if self.fixing_point is self.point else self.fixing_point
        for part in (self.branching_data, self.point, fixing_point):
            size += 0 if part is None else part.n_bytes
        return size


def region_of(
    problem: Problem, root: Region, forced: np.ndarray, free: np.ndarray
) -> Region:
    """The part of the root with some features forced and some free.

    ``forced`` begins with the forced features of the root.
    """
    n_forced = root.forced.shape[0]
    budget = root.budget
    if np.isfinite(budget):
        budget = remaining_budget(budget, problem.costs[forced[n_forced:]].sum())
        free = free[problem.costs[free] <= budget]
    return Region(forced, free, root.k - (forced.shape[0] - n_forced), budget)


def working_set_of(result: RelaxationResult) -> WorkingSet:
    """A copy of the working set of a result, which is a view of larger arrays."""
    features, side, state = result.working_set
    return WorkingSet(
        features.copy(), side.copy(), None if state is None else state.copy()
    )
