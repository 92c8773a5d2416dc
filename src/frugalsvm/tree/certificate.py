"""Certificate: the leaves of a tree and their dual points, as a file.

The file is what :func:`frugalsvm.verify` reads; its layout is described there. Nothing
in it has to be believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np

from ..checker import FORMAT, checksum, fingerprint, read_arrays, save_arrays
from ..problem import Problem
from .node import DualPoint, Node


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proof of a lower bound.

    Attributes
    ----------
    arrays : mapping from names to arrays
        The content of the file.
    """

    arrays: Mapping[str, np.ndarray]

    def __repr__(self) -> str:
        n_leaves = int((self.arrays["point"] >= 0).sum())
        return (
            f"Certificate(objective={float(self.arrays['objective']):.6g}, "
            f"lower_bound={float(self.arrays['lower_bound']):.6g}, "
            f"leaves={n_leaves:,})"
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write a compressed ``.npz`` file, under exactly the given name."""
        with open(path, "wb") as file:
            save_arrays(file, self.arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Certificate:
        """Read a file; nothing in it is executed, and nothing is checked but form."""
        return cls(read_arrays(path))

    @classmethod
    def build(
        cls,
        problem: Problem,
        coef: np.ndarray,
        intercept: float,
        objective: float,
        lower_bound: float,
        nodes: list[Node] | None,
        root_point: DualPoint,
    ) -> Certificate:
        """Collect the nodes of a tree, or the dual point of the root alone."""
        if nodes is None:
            root = Node.root(problem.root_region())
            root.point = root_point
            nodes = [root]
        selected = np.flatnonzero(coef)
        arrays = {
            "format": np.array(FORMAT),
            "fingerprint": np.array(fingerprint(problem.signed_rows(), problem.y)),
            "weights": problem.weights,
            "fit_intercept": np.array(problem.fit_intercept),
            "max_features": np.array(problem.max_features),
            "costs": problem.costs,
            "max_cost": np.array(problem.max_cost),
            "include": problem.include,
            "exclude": problem.exclude,
            "selected": selected,
            "coef": coef[selected],
            "intercept": np.array(intercept),
            "objective": np.array(objective),
            "lower_bound": np.array(lower_bound),
            **_tree_arrays(nodes),
        }
        return cls({**arrays, "checksum": np.array(checksum(arrays))})


def _tree_arrays(nodes: list[Node]) -> dict[str, np.ndarray]:
    number = {id(node): t for t, node in enumerate(nodes)}
    points: dict[int, int] = {}
    stored: list[DualPoint] = []

    def index(point: DualPoint | None) -> int:
        if point is None:
            return -1
        if id(point) not in points:
            points[id(point)] = len(stored)
            stored.append(point)
        return points[id(point)]

    fixings = [
        np.concatenate([node.fixed_in, ~np.asarray(node.fixed_out)]) for node in nodes
    ]
    return {
        "parent": np.array(
            [-1 if node.parent is None else number[id(node.parent)] for node in nodes],
            dtype=np.int32,
        ),
        "feature": np.array([node.feature for node in nodes], dtype=np.int32),
        "inside": np.array([node.inside for node in nodes]),
        "point": np.array(
            [index(node.point) if node.is_leaf else -1 for node in nodes],
            dtype=np.int32,
        ),
        "fixing_point": np.array(
            [index(node.fixing_point) if f.size else -1
             for node, f in zip(nodes, fixings, strict=True)],
            dtype=np.int32,
        ),
        "price": np.array([_price(node.point) for node in nodes]),
        "fixing_price": np.array([_price(node.fixing_point) for node in nodes]),
        "fixing_start": _starts(fixings),
        "fixing": np.concatenate(fixings).astype(np.int32),
        "point_start": _starts([point.samples for point in stored]),
        "point_sample": np.concatenate([p.samples for p in stored]),
        "point_alpha": np.concatenate([p.values for p in stored]),
    }  # fmt: skip


def _price(point: DualPoint | None) -> float:
    return 0.0 if point is None else point.price


def _starts(parts: list[np.ndarray]) -> np.ndarray:
    """Where each part begins when they are joined, and the end."""
    return np.concatenate([[0], np.cumsum([part.size for part in parts])]).astype(
        np.int64
    )
