"""The branching rule.

It ranks the free features of a node once its relaxation is solved. When the node is
expanded, it proposes features whose children are to be evaluated, learns from them, and
picks a pair.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

import numpy as np

from ..engine.protocol import RelaxationResult
from ..kernels.branching import most_fractional, most_gaining
from .node import BranchingData, Node
from .parameters import DEFAULTS, TreeParameters

# Gains of the bound if features are used, and if they are not.
Gains = tuple[list[float], list[float]]
# Two children: the one that uses the feature, and the one that does not.
Pair = tuple[Node, Node]


class Proposal(NamedTuple):
    """Features to evaluate, and the gain they have to beat.

    Attributes
    ----------
    features : list of int
        Their children are evaluated first.
    favourite : int
        The feature to take if none of them is better than ``expected``.
    expected : float
        The expected gain of the favourite.
    """

    features: list[int]
    favourite: int = -1
    expected: float = -np.inf


class Reliability:
    """Estimated gains of children, corrected by averages of past gains.

    Far from the cutoff, features are ranked by the estimates of ``expected_gains``,
    corrected by the past ratios of actual to expected gains. Close to the cutoff, with
    many features, they are ranked by average gains per unit of z, and most of the
    ranked features are the most fractional ones. Top-ranked features that are new are
    tried; where estimates are crude, more of them and several times.

    Parameters
    ----------
    n_features : int
    width : int, optional
        Maximum number of new features tried per node. By default two if there are few,
        else one; two close to the cutoff.
    parameters : TreeParameters, optional
    is_crude : callable, optional
        Whether estimates are only upper bounds, as in batches.
    """

    def __init__(
        self,
        n_features: int,
        width: int | None = None,
        parameters: TreeParameters = DEFAULTS,
        is_crude: Callable[[], bool] = bool,
    ):
        self._parameters = parameters
        is_few = n_features <= parameters.look_ahead_max_features
        self.width = width or (2 if is_few else 1)
        self._near = -np.inf if is_few else parameters.near_cutoff
        # Lists: a node ranks a dozen features, too few for arrays to pay.
        self._ratios = [1.0] * n_features, [1.0] * n_features
        self._sums = [0.0] * n_features, [0.0] * n_features
        self._counts = [0] * n_features
        self._is_crude = is_crude
        self._lock = Lock()

    def rank(
        self, free: np.ndarray, result: RelaxationResult, cutoff: float
    ) -> np.ndarray:
        """The best features to branch on, best first."""
        most, by_z = self._parameters.max_ranked, self._parameters.near_ranked_by_z
        gaining = most_gaining(free, result.z, result.curvature, most)
        if not self._is_near(result.bound, cutoff):
            return gaining
        first = most_fractional(free, result.z, by_z).tolist()
        others = [j for j in gaining.tolist() if j not in first]
        return np.array((first + others)[:most], dtype=free.dtype)

    def propose(self, node: Node, cutoff: float) -> Proposal:
        """The first features if they are new; the favourite has the largest gain."""
        data = _branching_data(node)
        ranked, least = data.features.tolist(), self._least_gain(node)
        enough = self._parameters.crude_tries if self._is_crude() else 1
        if self._is_near(node.bound, cutoff):
            new = [j for j in ranked if self._counts[j] < enough]
            new = new[: max(self._parameters.near_max_tried, enough)]
            scored = _scored(ranked, *self._averages(ranked, data.z), least)
        else:
            scored = _scored(ranked, *self._estimates(ranked, data.gains), least)
            first = scored[: max(self.width, enough)]
            new = [j for _, j in first if self._counts[j] < enough]
        for score, j in scored:
            if self._counts[j] >= enough:
                return Proposal(new, j, score)
        return Proposal(new)

    def _is_near(self, bound: float, cutoff: float) -> bool:
        return cutoff - bound <= self._near * abs(cutoff)

    def _estimates(self, features: list[int], gains: Gains) -> Gains:
        """Corrected expected gains."""
        inside, outside = self._ratios
        return (
            [inside[j] * gain for j, gain in zip(features, gains[0], strict=True)],
            [outside[j] * gain for j, gain in zip(features, gains[1], strict=True)],
        )

    def _averages(self, features: list[int], z: list[float]) -> Gains:
        """Average past gains, scaled to z; zero for untried features."""
        inside, outside = self._sums
        counts = [max(self._counts[j], 1) for j in features]
        triples = list(zip(features, z, counts, strict=True))
        return (
            [inside[j] / n * _distance(z_j, 0) for j, z_j, n in triples],
            [outside[j] / n * _distance(z_j, 1) for j, z_j, n in triples],
        )

    def learn(self, node: Node, feature: int, pair: Pair) -> None:
        """Add gains per unit of z, and ratios of actual to expected gains.

        Ratios are averaged geometrically. The bound of a pruned child only shows that
        the gain was large, not how large.
        """
        data = _branching_data(node)
        position = data.features.tolist().index(feature)
        least = self._least_gain(node)
        gains = _gains(node, pair)
        low, high = self._parameters.gain_ratio_limits
        with self._lock:
            count = self._counts[feature] = self._counts[feature] + 1
            for side, ratios in enumerate(self._ratios):
                z, min_distance = data.z[position], self._parameters.min_distance
                distance = max(_distance(z, side), min_distance)
                self._sums[side][feature] += gains[side] / distance
                expected = max(data.gains[side][position], least)
                ratio = max(gains[side], least) / expected
                if pair[side].branching_data is None:
                    ratio = max(ratio, ratios[feature])
                ratio = min(max(ratio, low), high)
                ratios[feature] *= (ratio / ratios[feature]) ** (1.0 / count)

    def pick(
        self, node: Node, proposal: Proposal, pairs: dict[int, Pair]
    ) -> Pair | None:
        """The best evaluated pair; None if the favourite has yet to be evaluated."""
        if proposal.favourite in pairs:
            return pairs[proposal.favourite]
        least = self._least_gain(node)
        scores = {}
        for j, pair in pairs.items():
            gain_in, gain_out = _gains(node, pair)
            scores[j] = max(gain_in, least) * max(gain_out, least)
        best = max(scores, key=lambda j: scores[j], default=None)
        if best is None or scores[best] <= proposal.expected:
            return None
        return pairs[best]

    def _least_gain(self, node: Node) -> float:
        # Not zero, since gains are divided; a bound may be zero.
        return max(self._parameters.min_gain * abs(node.bound), 1e-100)


def expected_gains(z: np.ndarray, curvature: np.ndarray) -> Gains:
    """Approximate gains of the bound if z_j becomes one, and if it becomes zero.

    The value as a function of z_j is modelled as ``a (x / z + z / x)`` above the
    optimal z, since weights enter as ``w_j^2 / z_j``, and as quadratic below.
    """
    half = 0.5 * curvature * z
    return (half * (1.0 - z) ** 2).tolist(), (half * z).tolist()


def _distance(z: float, side: int) -> float:
    """The distance of z to one (side 0) or to zero (side 1)."""
    return z if side else 1.0 - z


def _branching_data(node: Node) -> BranchingData:
    assert node.branching_data is not None
    return node.branching_data


def _gains(node: Node, pair: Pair) -> tuple[float, float]:
    return pair[0].bound - node.bound, pair[1].bound - node.bound


def _scored(
    features: list[int], inside: list[float], outside: list[float], least: float
) -> list[tuple[float, int]]:
    """Products of gains and their features, largest first."""
    scored = [
        (max(gain_in, least) * max(gain_out, least), j)
        for j, gain_in, gain_out in zip(features, inside, outside, strict=True)
    ]
    # Ties keep their ranking: sorting is stable.
    return sorted(scored, key=lambda entry: -entry[0])
