"""The tree of a certificate as nodes and points that can be edited, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from frugalsvm.checker import pack

# Arrays with one entry per node.
COLUMNS = ("parent", "feature", "inside", "point", "price", "fixing_point",
           "fixing_price")  # fmt: skip


@dataclass
class Node:
    """One node; ``fixings`` has j for in and ~j for out, as in the file."""

    parent: int
    feature: int
    inside: bool
    point: int
    price: float = 0.0
    fixing_point: int = -1
    fixing_price: float = 0.0
    fixings: list[int] = field(default_factory=list)


# Dual points in a file.
PACKED = ("point_full", "point_between", "point_steps", "point_grid")

# A dual point: samples and their values.
Point = tuple[list[int], list[float]]


@dataclass
class Tree:
    """Nodes, parents first, and dual points."""

    nodes: list[Node]
    points: list[Point]
    # Features that the problem includes or excludes.
    given: frozenset[int] = frozenset()

    def children(self, at: int) -> list[int]:
        return [t for t, node in enumerate(self.nodes) if node.parent == at]

    def leaves(self) -> list[int]:
        parents = {node.parent for node in self.nodes}
        return [t for t in range(len(self.nodes)) if t not in parents]

    def decided(self, at: int) -> set[int]:
        """Features that splits and fixings above (and at) a node have decided."""
        decided = set(self.given)
        while 0 <= at < len(self.nodes):
            node = self.nodes[at]
            decided |= {j if j >= 0 else ~j for j in node.fixings}
            if node.parent >= 0:
                decided.add(node.feature)
            at = node.parent if node.parent < at else -1
        return decided

    def without(self, gone: set[int]) -> Tree:
        """The tree without some nodes and their children."""
        number: dict[int, int] = {-1: -1}
        nodes = []
        for t, node in enumerate(self.nodes):
            if t not in gone and node.parent in number:
                number[t] = len(nodes)
                nodes.append(Node(**{**vars(node), "parent": number[node.parent]}))
        return Tree(nodes, self.points, self.given)

    def add_point(self, point: Point) -> int:
        self.points.append(point)
        return len(self.points) - 1

    def without_idle_points(self) -> Tree:
        """The same tree; a file may not hold more points than its nodes can use."""
        number: dict[int, int] = {}

        def renumbered(old: int) -> int:
            known = 0 <= old < len(self.points)
            return number.setdefault(old, len(number)) if known else old

        nodes = []
        for node in self.nodes:
            point, fixing_point = renumbered(node.point), renumbered(node.fixing_point)
            changed = {"point": point, "fixing_point": fixing_point}
            nodes.append(Node(**{**vars(node), **changed}))
        return Tree(nodes, [self.points[old] for old in number])


def decode(arrays: dict[str, np.ndarray]) -> Tree:
    """Read the arrays of a valid certificate."""
    starts, fixing = arrays["fixing_start"].tolist(), arrays["fixing"].tolist()
    columns = {name: arrays[name].tolist() for name in COLUMNS}
    nodes = [
        Node(
            **dict(zip(columns, values, strict=True)),
            fixings=fixing[starts[t] : starts[t + 1]],
        )
        for t, values in enumerate(zip(*columns.values(), strict=True))
    ]
    given = [*arrays["include"].tolist(), *arrays["exclude"].tolist()]
    return Tree(nodes, _unpacked(arrays), frozenset(given))


def _loss_weights(arrays: dict[str, np.ndarray]) -> list[float]:
    """C of all samples of positive weight, one machine after the other."""
    n_machines = int(arrays["n_classes"]) if "n_classes" in arrays else 1
    return [c for c in arrays["weights"].tolist() if c > 0] * n_machines


def _unpacked(arrays: dict[str, np.ndarray]) -> list[Point]:
    """Packed points, sample by sample."""
    C = _loss_weights(arrays)
    grids, steps = arrays["point_grid"].tolist(), iter(arrays["point_steps"].tolist())
    width = (len(C) + 7) // 8
    full, between = arrays["point_full"].tolist(), arrays["point_between"].tolist()
    points = []
    for t, grid in enumerate(grids):
        point: dict[int, float] = {}
        for i, c in enumerate(C):
            at, bit = width * t + i // 8, 128 >> i % 8
            if full[at] & bit:
                point[i] = c
            elif between[at] & bit:
                point[i] = next(steps) * 2.0**grid
        points.append((list(point), list(point.values())))
    return points


def encode(tree: Tree, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """``arrays`` with another tree, in the same types.

    Points have long steps: short ones would be rounded.
    """
    tree = tree.without_idle_points()
    nodes, points = tree.nodes, tree.points
    new = {
        **{name: [getattr(node, name) for node in nodes] for name in COLUMNS},
        "fixing_start": starts_of(nodes, lambda node: node.fixings),
        "fixing": [j for node in nodes for j in node.fixings],
    }
    made = {name: np.array(new[name], arrays[name].dtype) for name in new}
    C = np.array(_loss_weights(arrays))
    dense = np.zeros((len(points), C.size))
    for alpha, (samples, values) in zip(dense, points, strict=True):
        alpha[samples] = values
    return {**arrays, **made, **packed_points(dense, C)}


def packed_points(alphas: np.ndarray, C: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of some dual points, one in each row, within 0 and C."""
    alphas = np.nan_to_num(np.clip(alphas, 0.0, C))
    points = [pack(alpha, C, np.uint64) for alpha in alphas]
    empty = np.empty(0, dtype=np.uint8)
    return {
        "point_full": np.concatenate([empty, *(point.full for point in points)]),
        "point_between": np.concatenate([empty, *(point.between for point in points)]),
        "point_steps": np.concatenate(
            [empty.astype(np.uint64), *(point.steps for point in points)]
        ),
        "point_grid": np.array([point.grid for point in points], dtype=np.int32),
    }


def starts_of(parts: list, inner: Callable) -> list[int]:
    return np.cumsum([0, *(len(inner(part)) for part in parts)]).tolist()


# A set that is listed: features, weights and intercepts of all machines.
Entry = tuple[list[int], list[float], list[float]]


def decode_list(arrays: dict[str, np.ndarray]) -> list[Entry]:
    """The list of a valid certificate; empty if it has none."""
    if "threshold" not in arrays:
        return []
    features, coef = arrays["listed_feature"].tolist(), arrays["listed_coef"].tolist()
    starts = arrays["listed_start"].tolist()
    n_machines = int(arrays["n_classes"]) if "n_classes" in arrays else 1
    intercepts = arrays["listed_intercept"].reshape(-1, n_machines).tolist()
    pairs = zip(pairwise(starts), intercepts, strict=False)
    return [
        (features[a:b], coef[n_machines * a : n_machines * b], values)
        for (a, b), values in pairs
    ]


def encode_list(listed: list[Entry], arrays: dict[str, np.ndarray]):
    """``arrays`` with another list that claims nothing."""
    return {
        **arrays,
        "threshold": np.array(-1e300),
        "listed_start": np.array(starts_of(listed, lambda entry: entry[0])),
        "listed_feature": np.array([j for entry in listed for j in entry[0]], np.int64),
        "listed_coef": np.array([v for entry in listed for v in entry[1]], np.float64),
        "listed_intercept": np.array([b for entry in listed for b in entry[2]], float),
    }
