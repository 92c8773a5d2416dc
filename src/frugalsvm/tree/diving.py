"""Dives: now and then a tree goes straight down to its leaves, where solutions are."""

from __future__ import annotations

from .node import Node

# Nodes between the starts of two dives.
DIVE_PERIOD = 64
# Maximum fraction of nodes in dives, which are long with many features.
DIVE_FRACTION = 0.15


class Diving:
    """Decides which nodes are followed to the bottom."""

    def __init__(self) -> None:
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
        few = self._n_dived <= DIVE_FRACTION * self._n_taken
        return self._n_taken % DIVE_PERIOD == 0 and few
