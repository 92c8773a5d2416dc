"""Expansion of an open node into two evaluated children."""

from __future__ import annotations

import numpy as np

from .branching import Pair
from .evaluation import Evaluation
from .node import Node
from .node_solver import NodeSolver


class Expansion:
    """Evaluates the children that the branching rule proposes, and picks a pair.

    Parameters
    ----------
    solver : NodeSolver
    node : Node
        An open one.

    Attributes
    ----------
    pair : tuple of two Nodes, or None
        The children that replace the node, once no evaluations are pending.
    """

    def __init__(self, solver: NodeSolver, node: Node):
        self.node = node
        self.pair: Pair | None = None
        self._solver = solver
        self._free = node.region(solver.problem, solver.root).free
        self._proposal = solver.rule.propose(node, solver.incumbent.cutoff)
        self._pairs: dict[int, Pair] = {}
        self._pending: dict[int, tuple[Evaluation, Evaluation]] = {}
        self._evaluate(self._proposal.features)

    def due(self) -> list[Evaluation]:
        """The evaluations that await a result; none once there is a pair."""
        while self.pair is None:
            waiting = [
                evaluation
                for both in self._pending.values()
                for evaluation in both
                if evaluation.request is not None
            ]
            if waiting:
                return waiting
            self._choose()
        return []

    def _evaluate(self, features: list[int]) -> None:
        """Start to evaluate the children of some features."""
        for feature in features:
            rest = self._free[self._free != feature]
            self._pending[feature] = (
                self._begin(self.node.child(feature, True), rest),
                self._begin(self.node.child(feature, False), rest),
            )

    def _begin(self, child: Node, rest: np.ndarray) -> Evaluation:
        assert self.node.branching_data is not None
        region = self._solver.region_of(child.forced, rest)
        return Evaluation(
            self._solver, child, region, self.node.branching_data.working_set
        )

    def _choose(self) -> None:
        """Called when all children are evaluated: pick a pair, or try the favourite."""
        rule = self._solver.rule
        for feature, (inside, outside) in self._pending.items():
            pair = inside.node, outside.node
            rule.learn(self.node, feature, pair)
            self._pairs[feature] = pair
        self._pending.clear()
        self.pair = rule.pick(self.node, self._proposal, self._pairs)
        if self.pair is None:
            self._evaluate([self._proposal.favourite])
