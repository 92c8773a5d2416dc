"""The proof from a search tree: its leaves, fixings and their dual points."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checker import FORMAT, checksum, fingerprint
from ..problem.certificate import Certificate
from ..problem.problem import Problem
from .node import DualPoint, Node, step_type

_NO_FEATURES = np.empty(0, dtype=np.int64)


class ProvedList(NamedTuple):
    """Feature sets listed by a tree, and the proof about all others.

    Attributes
    ----------
    supports, coefs : lists of ndarrays
        The sets, and for each the weights of the columns of its features, one feature
        after the other.
    intercepts : list of float, or of ndarrays for several machines
    threshold : float
        No other set has an objective below it.
    """

    supports: list[np.ndarray]
    coefs: list[np.ndarray]
    intercepts: list[Any]
    threshold: float


def build_certificate(
    problem: Problem,
    coef: np.ndarray,
    intercept: Any,
    objective: float,
    lower_bound: float,
    nodes: list[Node] | None,
    root_point: DualPoint | None = None,
    alternatives: ProvedList | None = None,
) -> Certificate:
    """Make a certificate of the nodes of a tree, or only the dual point of the root.

    ``coef`` has a weight for each column of X, or of each machine in turn.
    """
    if nodes is None:
        root = Node.root(problem.root_region())
        root.point = root_point
        nodes = [root]
    columns = problem.columns
    selected = columns.used(coef)
    arrays = {
        "format": np.array(FORMAT),
        "fingerprint": np.array(_fingerprint(problem)),
        "weights": problem.weights,
        "fit_intercept": np.array(problem.fit_intercept),
        "max_features": np.array(problem.max_features),
        "costs": problem.costs,
        "max_cost": np.array(problem.max_cost),
        "include": problem.include,
        "exclude": problem.exclude,
        "selected": selected,
        "coef": problem.blocks(selected, coef[columns.of(selected)]),
        "intercept": np.array(intercept if problem.n_machines == 1 else 0.0),
        "objective": np.array(objective),
        "lower_bound": np.array(lower_bound),
        **_tree_arrays(nodes, step_type(problem)),
    }
    columns = problem.machine_columns
    if problem.n_machines > 1:
        arrays["n_classes"] = np.array(problem.n_machines)
        arrays["intercepts"] = np.array(intercept)
    if columns.has_groups:
        arrays["groups"] = columns.groups
    if columns.has_signs:
        arrays["signs"] = columns.signs.astype(np.int64)
    if alternatives is not None:
        arrays |= _list_arrays(problem, alternatives)
    return Certificate({**arrays, "checksum": np.array(checksum(arrays))})


def _fingerprint(problem: Problem) -> str:
    """The fingerprint of signed data and labels; for several classes, of X and y."""
    if problem.n_machines == 1:
        return fingerprint(problem.signed_blocks(), problem.y)
    labels = problem.y.reshape(problem.n_machines, -1)
    return fingerprint(
        problem.data.signed_blocks(), np.argmax(labels, axis=0).astype(np.float64)
    )


def _list_arrays(problem: Problem, alternatives: ProvedList) -> dict[str, np.ndarray]:
    supports, coefs, intercepts, threshold = alternatives
    coefs = [problem.blocks(*pair) for pair in zip(supports, coefs, strict=True)]
    return {
        "threshold": np.array(threshold),
        "listed_start": _starts(supports),
        "listed_feature": np.concatenate([_NO_FEATURES, *supports]),
        "listed_coef": np.concatenate([np.empty(0), *coefs]),
        "listed_intercept": np.array(intercepts, dtype=np.float64).ravel(),
    }


def _tree_arrays(
    nodes: list[Node], step: type[np.unsignedinteger]
) -> dict[str, np.ndarray]:
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
            [
                index(node.fixing_point) if f.size else -1
                for node, f in zip(nodes, fixings, strict=True)
            ],
            dtype=np.int32,
        ),
        "price": np.array([_price(node.point) for node in nodes]),
        "fixing_price": np.array([_price(node.fixing_point) for node in nodes]),
        "fixing_start": _starts(fixings),
        "fixing": np.concatenate(fixings).astype(np.int32),
        "point_full": _joined([point.full for point in stored], np.uint8),
        "point_between": _joined([point.between for point in stored], np.uint8),
        "point_steps": _joined([point.steps for point in stored], step),
        "point_grid": np.array([point.grid for point in stored], dtype=np.int32),
    }


def _price(point: DualPoint | None) -> float:
    return 0.0 if point is None else point.price


def _joined(parts: list[bytes], dtype: type) -> np.ndarray:
    return np.frombuffer(b"".join(parts), dtype=dtype)


def _starts(parts: list[np.ndarray]) -> np.ndarray:
    """The offset of each part after concatenation, and the total size."""
    return np.concatenate([[0], np.cumsum([part.size for part in parts])]).astype(
        np.int64
    )
