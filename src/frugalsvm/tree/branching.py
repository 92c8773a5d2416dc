"""Which feature to branch on.

A rule ranks the free features of a node when its relaxation is known, and later chooses
among those candidates: it returns the pair of children it prefers. Rules that look
ahead evaluate the children of several candidates; the others those of one. Choosing is
a generator of tasks, so that several nodes can be worked on side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from ..kernels.branching import largest, most_fractional
from .steps import Steps, together
from .tree import TreeNode

Pair = tuple[TreeNode, TreeNode]
# The tasks of a feature's two children; returns the pair.
Evaluate = Callable[[int], Steps]

# Candidates a node keeps; those that look-ahead rules try.
MAX_CANDIDATES = 12
# A gain below this part of the bound counts as this much: products need it.
LEAST_GAIN = 1e-6


class MostFractional:
    """The feature whose z is closest to one half."""

    def rank(self, free: np.ndarray, z: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Candidates, most fractional first."""
        return most_fractional(free, z, MAX_CANDIDATES)

    def choose(self, node: TreeNode, evaluate: Evaluate) -> Steps:
        """Evaluate and return the children of the first candidate."""
        return (yield from evaluate(int(node.candidates[0])))


class ReducedCost(MostFractional):
    """The feature of largest ``c_j^2``: the one that costs most to forbid."""

    def rank(self, free: np.ndarray, z: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Candidates, largest square first."""
        return largest(free, squares, MAX_CANDIDATES)


class Strong(MostFractional):
    """Look ahead: the candidate whose two children gain most, by their product."""

    def __init__(self, width: int = 6):
        self.width = width

    def choose(self, node: TreeNode, evaluate: Evaluate) -> Steps:
        """Evaluate the children of several candidates and return the best pair."""
        best, best_score = None, -np.inf
        tries = [evaluate(int(feature)) for feature in node.candidates[: self.width]]
        for pair in (yield from together(tries)):
            score = _product(*_gains(node, pair), node.bound)
            if score > best_score:
                best, best_score = pair, score
        assert best is not None
        return best


class Reliability(MostFractional):
    """Pseudo-costs, initialised by looking ahead.

    The gain of a feature per unit of z is averaged over the nodes where it was tried.
    Candidates with fewer than ``trials`` observations are tried; the others are judged
    by their averages.

    Parameters
    ----------
    n_features : int
    trials : int, default=1
    width : int, default=2
        Candidates tried per node at most.
    """

    def __init__(self, n_features: int, trials: int = 1, width: int = 2):
        self.trials = trials
        self.width = width
        # Lists: a node has a dozen candidates, fewer than arrays are worth while for.
        self._in = [0.0] * n_features
        self._out = [0.0] * n_features
        self._counts = [0] * n_features
        self._lock = Lock()

    def choose(self, node: TreeNode, evaluate: Evaluate) -> Steps:
        """Return the best pair among the tried candidates and the best average."""
        best_score, best_feature, best_z = -np.inf, -1, 0.0
        untried = []
        least = LEAST_GAIN * abs(node.bound)
        for feature, z in zip(
            node.candidates.tolist(), node.shares.tolist(), strict=True
        ):
            count = self._counts[feature]
            if count < self.trials:
                untried.append((feature, z))
                continue
            gain_in = self._in[feature] / count * (1.0 - z)
            gain_out = self._out[feature] / count * z
            score = max(gain_in, least) * max(gain_out, least)
            if score > best_score:
                best_score, best_feature, best_z = score, feature, z
        best_pair = None
        if untried:
            tries = [
                self._try(node, feature, z, evaluate)
                for feature, z in untried[: self.width]
            ]
            for score, pair in (yield from together(tries)):
                if score > best_score:
                    best_score, best_pair = score, pair
        if best_pair is None:
            _, best_pair = yield from self._try(node, best_feature, best_z, evaluate)
        return best_pair

    def _try(self, node: TreeNode, feature: int, z: float, evaluate: Evaluate) -> Steps:
        pair = yield from evaluate(feature)
        gain_in, gain_out = _gains(node, pair)
        with self._lock:
            self._in[feature] += gain_in / max(1.0 - z, 0.05)
            self._out[feature] += gain_out / max(z, 0.05)
            self._counts[feature] += 1
        return _product(gain_in, gain_out, node.bound), pair


def _gains(node: TreeNode, pair: Pair) -> tuple[float, float]:
    return pair[0].bound - node.bound, pair[1].bound - node.bound


def _product(gain_in: float, gain_out: float, bound: float) -> float:
    least = LEAST_GAIN * abs(bound)
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
