"""Which feature to branch on.

A rule ranks the free features of a node when its relaxation is known. When the node's
turn comes, the rule proposes features whose children are to be evaluated, learns from
them, and picks a pair. Rules that look ahead propose several features, the others one.
"""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import numpy as np

from ..kernels.branching import largest, most_fractional
from .node import Node, Scratch

# Two children: that which uses the feature, and that which does not.
Pair = tuple[Node, Node]

# Features that a node keeps for branching.
MAX_RANKED = 12
# A gain below this part of the bound counts as this much: products need it.
LEAST_GAIN = 1e-6


class Proposal(NamedTuple):
    """Features to evaluate, and what they have to beat.

    Attributes
    ----------
    features : list of int
        Their children are evaluated first.
    favourite : int
        The feature to take if none of them is better than ``expected``.
    expected : float
        What the favourite promises.
    """

    features: list[int]
    favourite: int = -1
    expected: float = -np.inf


class MostFractional:
    """The feature whose z is closest to one half."""

    def rank(self, free: np.ndarray, z: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """The best features to branch on, most fractional first."""
        return most_fractional(free, z, MAX_RANKED)

    def propose(self, node: Node) -> Proposal:
        """The feature that is ranked first."""
        first = int(_scratch(node).features[0])
        return Proposal([first], favourite=first)

    def learn(self, node: Node, feature: int, pair: Pair) -> None:
        """Take note of what branching on a feature gained."""

    def pick(
        self, node: Node, proposal: Proposal, pairs: dict[int, Pair]
    ) -> Pair | None:
        """The best evaluated pair; None if the favourite has yet to be evaluated."""
        if proposal.favourite in pairs:
            return pairs[proposal.favourite]
        best = max(pairs.values(), key=lambda pair: _score(node, pair), default=None)
        if best is None or _score(node, best) <= proposal.expected:
            return None
        return best


class ReducedCost(MostFractional):
    """The feature of largest ``c_j^2``: the one that costs most to forbid."""

    def rank(self, free: np.ndarray, z: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """The best features to branch on, largest square first."""
        return largest(free, squares, MAX_RANKED)


class Strong(MostFractional):
    """Look ahead: the feature whose two children gain most, by their product.

    Parameters
    ----------
    width : int, default=6
        Features tried per node.
    """

    def __init__(self, width: int = 6):
        self.width = width

    def propose(self, node: Node) -> Proposal:
        """The features that are ranked first."""
        return Proposal(_scratch(node).features[: self.width].tolist())


class Reliability(MostFractional):
    """Pseudo-costs, initialised by looking ahead.

    The gain of a feature per unit of z is averaged over the nodes where it was tried.
    Features with fewer than ``trials`` observations are tried; the others are judged
    by their averages.

    Parameters
    ----------
    n_features : int
    trials : int, default=1
    width : int, default=2
        Features tried per node at most.
    """

    def __init__(self, n_features: int, trials: int = 1, width: int = 2):
        self.trials = trials
        self.width = width
        # Lists: a node ranks a dozen features, fewer than arrays are worth while for.
        self._in = [0.0] * n_features
        self._out = [0.0] * n_features
        self._counts = [0] * n_features
        self._lock = Lock()

    def propose(self, node: Node) -> Proposal:
        """Features that were not tried enough; the favourite has the best average."""
        expected, favourite = -np.inf, -1
        untried = []
        least = LEAST_GAIN * abs(node.bound)
        scratch = _scratch(node)
        for feature, z in zip(
            scratch.features.tolist(), scratch.z.tolist(), strict=True
        ):
            count = self._counts[feature]
            if count < self.trials:
                untried.append(feature)
                continue
            gain_in = self._in[feature] / count * (1.0 - z)
            gain_out = self._out[feature] / count * z
            score = max(gain_in, least) * max(gain_out, least)
            if score > expected:
                expected, favourite = score, feature
        return Proposal(untried[: self.width], favourite, expected)

    def learn(self, node: Node, feature: int, pair: Pair) -> None:
        """Add the gains per unit of z to the averages."""
        scratch = _scratch(node)
        z = float(scratch.z[scratch.features.tolist().index(feature)])
        gain_in, gain_out = _gains(node, pair)
        with self._lock:
            self._in[feature] += gain_in / max(1.0 - z, 0.05)
            self._out[feature] += gain_out / max(z, 0.05)
            self._counts[feature] += 1


def _scratch(node: Node) -> Scratch:
    assert node.scratch is not None
    return node.scratch


def _gains(node: Node, pair: Pair) -> tuple[float, float]:
    return pair[0].bound - node.bound, pair[1].bound - node.bound


def _score(node: Node, pair: Pair) -> float:
    gain_in, gain_out = _gains(node, pair)
    least = LEAST_GAIN * abs(node.bound)
    return max(gain_in, least) * max(gain_out, least)


RULES = ("most-fractional", "reduced-cost", "strong", "reliability")


def make_rule(name: str, n_features: int) -> MostFractional:
    """The rule of a name."""
    if name == "reliability":
        return Reliability(n_features)
    simple = {
        "most-fractional": MostFractional,
        "reduced-cost": ReducedCost,
        "strong": Strong,
    }
    return simple[name]()
