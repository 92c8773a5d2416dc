"""Dives: now and then a tree goes straight down to its leaves, where solutions are."""

from __future__ import annotations

from .node import Node
from .parameters import DEFAULTS, TreeParameters


class Diving:
    """Decides which nodes are followed to the bottom."""

    def __init__(self, parameters: TreeParameters = DEFAULTS):
        self._parameters = parameters
        self._n_taken = self._n_dived = 0

    def follow(
        self, parent: Node, children: list[Node], is_allowed: bool
    ) -> Node | None:
        """The first open child if the parent is in a dive, or if one is due."""
        assert parent.branching_data is not None
        self._n_taken += 1
        if not (parent.branching_data.dives or self._is_due()):
            return None
        if not (is_allowed and children):
            return None
        child = children[0]
        assert child.branching_data is not None
        child.branching_data.dives = True
        self._n_dived += 1
        return child

    def _is_due(self) -> bool:
        parameters = self._parameters
        few = self._n_dived <= parameters.dive_fraction * self._n_taken
        return self._n_taken % parameters.dive_period == 0 and few
