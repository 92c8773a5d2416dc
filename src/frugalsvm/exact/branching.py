"""Which feature to branch on.

A rule ranks the free features of a node when its relaxation is known, and later chooses
among those candidates: it returns the pair of children it prefers. Rules that look
ahead evaluate the children of several candidates; the others those of one.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from .tree import TreeNode

Pair = tuple[TreeNode, TreeNode]
Evaluate = Callable[[int], Pair]

# Candidates a node keeps; those that look-ahead rules try.
MAX_CANDIDATES = 12
# A gain below this part of the bound counts as this much: products need it.
LEAST_GAIN = 1e-6


class MostFractional:
    """The feature whose z is closest to one half."""

    def rank(self, free: np.ndarray, z: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Candidates, most fractional first."""
        fractionality = np.minimum(z[free], 1.0 - z[free])
        return free[np.argsort(-fractionality, kind="stable")[:MAX_CANDIDATES]]

    def choose(self, node: TreeNode, evaluate: Evaluate) -> Pair:
        """Evaluate and return the children of the first candidate."""
        return evaluate(int(node.candidates[0]))


class ReducedCost(MostFractional):
    """The feature of largest ``c_j^2``: the one that costs most to forbid."""

    def rank(self, free: np.ndarray, z: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Candidates, largest square first."""
        return free[np.argsort(-squares[free], kind="stable")[:MAX_CANDIDATES]]


class Strong(MostFractional):
    """Look ahead: the candidate whose two children gain most, by their product."""

    def __init__(self, width: int = 6):
        self.width = width

    def choose(self, node: TreeNode, evaluate: Evaluate) -> Pair:
        """Evaluate the children of several candidates and return the best pair."""
        best, best_score = None, -np.inf
        for feature in node.candidates[: self.width]:
            pair = evaluate(int(feature))
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
        self._sums = np.zeros((2, n_features))
        self._counts = np.zeros(n_features, dtype=np.int64)
        self._lock = Lock()

    def choose(self, node: TreeNode, evaluate: Evaluate) -> Pair:
        """Return the best pair among the tried candidates and the best average."""
        features, z = node.candidates, node.shares
        counts = self._counts[features]
        tried: list[tuple[float, Pair]] = []
        for t in np.flatnonzero(counts < self.trials)[: self.width]:
            tried.append(self._try(node, int(features[t]), float(z[t]), evaluate))
        best = max(tried, key=lambda pair: pair[0]) if tried else (-np.inf, None)
        known = counts >= self.trials
        if known.any():
            scores = np.where(known, self._expected(node, features, z), -np.inf)
            t = int(np.argmax(scores))
            if scores[t] > best[0]:
                return self._try(node, int(features[t]), float(z[t]), evaluate)[1]
        assert best[1] is not None
        return best[1]

    def _expected(
        self, node: TreeNode, features: np.ndarray, z: np.ndarray
    ) -> np.ndarray:
        counts = np.maximum(self._counts[features], 1)
        gain_in = self._sums[1, features] / counts * (1.0 - z)
        gain_out = self._sums[0, features] / counts * z
        return _product(gain_in, gain_out, node.bound)

    def _try(
        self, node: TreeNode, feature: int, z: float, evaluate: Evaluate
    ) -> tuple[float, Pair]:
        pair = evaluate(feature)
        gain_in, gain_out = _gains(node, pair)
        with self._lock:
            self._sums[1, feature] += gain_in / max(1.0 - z, 0.05)
            self._sums[0, feature] += gain_out / max(z, 0.05)
            self._counts[feature] += 1
        return float(_product(gain_in, gain_out, node.bound)), pair


def _gains(node: TreeNode, pair: Pair) -> tuple[float, float]:
    return pair[0].bound - node.bound, pair[1].bound - node.bound


def _product(gain_in, gain_out, bound):
    least = LEAST_GAIN * abs(bound)
    return np.maximum(gain_in, least) * np.maximum(gain_out, least)


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
