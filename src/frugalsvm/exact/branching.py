"""Which feature to branch on.

A rule ranks the free features of a node when its relaxation is known, and later chooses
among those candidates: it returns the pair of children it prefers. Rules that look
ahead evaluate the children of several candidates; the others those of one. Choosing is
a generator of requests to the interior point, so that several nodes can be worked on
side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from threading import Lock
from typing import Any

import numpy as np

from .tree import TreeNode

Pair = tuple[TreeNode, TreeNode]
# Requests of the two children's relaxations; returns the pair.
Steps = Generator[Any, Any, Pair]
Evaluate = Callable[[int], Steps]

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

    def choose(self, node: TreeNode, evaluate: Evaluate) -> Steps:
        """Evaluate and return the children of the first candidate."""
        return (yield from evaluate(int(node.candidates[0])))


class ReducedCost(MostFractional):
    """The feature of largest ``c_j^2``: the one that costs most to forbid."""

    def rank(self, free: np.ndarray, z: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Candidates, largest square first."""
        return free[np.argsort(-squares[free], kind="stable")[:MAX_CANDIDATES]]


class Strong(MostFractional):
    """Look ahead: the candidate whose two children gain most, by their product."""

    def __init__(self, width: int = 6):
        self.width = width

    def choose(self, node: TreeNode, evaluate: Evaluate) -> Steps:
        """Evaluate the children of several candidates and return the best pair."""
        best, best_score = None, -np.inf
        for feature in node.candidates[: self.width]:
            pair = yield from evaluate(int(feature))
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
            if self._counts[feature] < self.trials:
                untried.append((feature, z))
                continue
            score = self._expected(feature, z, least)
            if score > best_score:
                best_score, best_feature, best_z = score, feature, z
        best_pair = None
        for feature, z in untried[: self.width]:
            score, pair = yield from self._try(node, feature, z, evaluate)
            if score > best_score:
                best_score, best_pair = score, pair
        if best_pair is None:
            _, best_pair = yield from self._try(node, best_feature, best_z, evaluate)
        return best_pair

    def _expected(self, feature: int, z: float, least: float) -> float:
        count = self._counts[feature]
        gain_in = self._in[feature] / count * (1.0 - z)
        gain_out = self._out[feature] / count * z
        return max(gain_in, least) * max(gain_out, least)

    def _try(
        self, node: TreeNode, feature: int, z: float, evaluate: Evaluate
    ) -> Generator[Any, Any, tuple[float, Pair]]:
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
