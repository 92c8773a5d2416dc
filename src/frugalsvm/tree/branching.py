"""Which feature to branch on.

A rule ranks the free features of a node when its relaxation is known. When the node's
turn comes, the rule proposes features whose children are to be evaluated, learns from
them, and picks a pair. Rules that look ahead propose several features, the others one.
"""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import numpy as np

from ..engine.protocol import RelaxationResult
from ..kernels.branching import largest, most_fractional, most_gaining
from .node import BranchingData, Node

# What features gain if they are used, and if they are not.
Gains = tuple[list[float], list[float]]
# Two children: that which uses the feature, and that which does not.
Pair = tuple[Node, Node]

# Features that a node keeps for branching.
MAX_RANKED = 12
# A gain below this part of the bound counts as this much: products need it.
LEAST_GAIN = 1e-6
# So few features are all tried in the first nodes, it is worth while to compare, and
# estimates, corrected, are better than averages everywhere.
FEW_FEATURES = 100
# A node is near if it lacks this part of the cutoff.
NEAR = 0.05
# Features of such a node that are ranked by their z, and new ones tried at most.
RANKED_BY_Z, WIDTH_NEAR = 8, 2
# A shorter way of z counts as this long.
LEAST_WAY = 0.05
# Ratios of gains to what was expected are kept between these.
RATIOS = 0.05, 20.0


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

    def rank(
        self, free: np.ndarray, found: RelaxationResult, cutoff: float
    ) -> np.ndarray:
        """The best features to branch on, most fractional first."""
        return most_fractional(free, found.z, MAX_RANKED)

    def propose(self, node: Node, cutoff: float) -> Proposal:
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

    def rank(
        self, free: np.ndarray, found: RelaxationResult, cutoff: float
    ) -> np.ndarray:
        """The best features to branch on, largest square first."""
        return largest(free, found.squares, MAX_RANKED)


class Strong(MostFractional):
    """Look ahead: the feature whose two children gain most, by their product.

    Parameters
    ----------
    width : int, default=6
        Features tried per node.
    """

    def __init__(self, width: int = 6):
        self.width = width

    def propose(self, node: Node, cutoff: float) -> Proposal:
        """The features that are ranked first."""
        return Proposal(_scratch(node).features[: self.width].tolist())


class Reliability(MostFractional):
    """Estimates of what children gain, and averages of what they gained before.

    Far from the cutoff features are ranked by the estimates of ``expected_gains``,
    corrected by how much the gains of a feature differed from them. Next to the cutoff,
    if features are many, the averages of gains per unit of z count, and most of the
    features that are ranked are the most fractional ones. Features that are ranked
    first and were not tried are tried.

    Parameters
    ----------
    n_features : int
    width : int, optional
        New features tried per node at most: two if there are few, else one; two next to
        the cutoff.
    """

    def __init__(self, n_features: int, width: int | None = None):
        is_few = n_features <= FEW_FEATURES
        self.width = width or (2 if is_few else 1)
        self._near = -np.inf if is_few else NEAR
        # Lists: a node ranks a dozen features, fewer than arrays are worth while for.
        self._ratios = [1.0] * n_features, [1.0] * n_features
        self._sums = [0.0] * n_features, [0.0] * n_features
        self._counts = [0] * n_features
        self._lock = Lock()

    def rank(
        self, free: np.ndarray, found: RelaxationResult, cutoff: float
    ) -> np.ndarray:
        """The best features to branch on, best first."""
        gaining = most_gaining(free, found.z, found.curvature, MAX_RANKED)
        if not self._is_near(found.bound, cutoff):
            return gaining
        first = most_fractional(free, found.z, RANKED_BY_Z).tolist()
        others = [j for j in gaining.tolist() if j not in first]
        return np.array((first + others)[:MAX_RANKED], dtype=free.dtype)

    def propose(self, node: Node, cutoff: float) -> Proposal:
        """The first features if they are new; the favourite promises most."""
        scratch = _scratch(node)
        ranked = scratch.features.tolist()
        if self._is_near(node.bound, cutoff):
            new = [j for j in ranked if self._counts[j] == 0][:WIDTH_NEAR]
            scored = _scored(node, ranked, *self._averages(ranked, scratch.z))
        else:
            scored = _scored(node, ranked, *self._estimates(ranked, scratch.gains))
            new = [j for _, j in scored[: self.width] if self._counts[j] == 0]
        for score, j in scored:
            if self._counts[j] > 0:
                return Proposal(new, j, score)
        return Proposal(new)

    def _is_near(self, bound: float, cutoff: float) -> bool:
        return cutoff - bound <= self._near * abs(cutoff)

    def _estimates(self, features: list[int], gains: Gains) -> Gains:
        """Expected gains, corrected."""
        inside, outside = self._ratios
        return (
            [inside[j] * gain for j, gain in zip(features, gains[0], strict=True)],
            [outside[j] * gain for j, gain in zip(features, gains[1], strict=True)],
        )

    def _averages(self, features: list[int], z: list[float]) -> Gains:
        """What features gained so far, for their z; nothing if they were not tried."""
        inside, outside = self._sums
        counts = [max(self._counts[j], 1) for j in features]
        triples = list(zip(features, z, counts, strict=True))
        return (
            [inside[j] / n * _way(z_j, 0) for j, z_j, n in triples],
            [outside[j] / n * _way(z_j, 1) for j, z_j, n in triples],
        )

    def learn(self, node: Node, feature: int, pair: Pair) -> None:
        """Add gains per unit of z, and ratios of gains to what was expected.

        Ratios are averaged geometrically. The bound of a closed child is only as good
        as it had to be: it says that the gain was large, not how large.
        """
        scratch = _scratch(node)
        at = scratch.features.tolist().index(feature)
        least = _least_gain(node)
        gains = _gains(node, pair)
        with self._lock:
            count = self._counts[feature] = self._counts[feature] + 1
            for side, known in enumerate(self._ratios):
                way = max(_way(scratch.z[at], side), LEAST_WAY)
                self._sums[side][feature] += gains[side] / way
                expected = max(scratch.gains[side][at], least)
                ratio = max(gains[side], least) / expected
                if pair[side].scratch is None:
                    ratio = max(ratio, known[feature])
                ratio = min(max(ratio, RATIOS[0]), RATIOS[1])
                known[feature] *= (ratio / known[feature]) ** (1.0 / count)


def expected_gains(z: np.ndarray, curvature: np.ndarray) -> Gains:
    """What bounds gain if z_j becomes one, and if it becomes zero, roughly.

    The value as a function of z_j is taken as ``a (x / z + z / x)`` above the optimal
    z, for weights enter as ``w_j^2 / z_j``, and as quadratic below.
    """
    half = 0.5 * curvature * z
    return (half * (1.0 - z) ** 2).tolist(), (half * z).tolist()


def _way(z: float, side: int) -> float:
    """How far z has to go if the feature is used, or is not."""
    return z if side else 1.0 - z


def _scratch(node: Node) -> BranchingData:
    assert node.scratch is not None
    return node.scratch


def _gains(node: Node, pair: Pair) -> tuple[float, float]:
    return pair[0].bound - node.bound, pair[1].bound - node.bound


def _scored(
    node: Node, features: list[int], inside: list[float], outside: list[float]
) -> list[tuple[float, int]]:
    """Products of gains and their features, largest first."""
    least = _least_gain(node)
    scored = [
        (max(gain, least) * max(other, least), j)
        for j, gain, other in zip(features, inside, outside, strict=True)
    ]
    # Ties go to what is ranked first: sorting is stable.
    scored.sort(key=lambda each: -each[0])
    return scored


def _least_gain(node: Node) -> float:
    # Not zero, for there are ratios of gains; a bound may be zero.
    return max(LEAST_GAIN * abs(node.bound), 1e-100)


def _score(node: Node, pair: Pair) -> float:
    gain_in, gain_out = _gains(node, pair)
    least = _least_gain(node)
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
