"""Tight proofs: every leaf is bounded by the dual optimum of its support.

Only leaves with the best support are as low as the optimum, so if one of them is lost
or overrated the proof claims too much. Trees of the solver stop a tolerance below the
optimum and would hide that.
"""

from __future__ import annotations

import numpy as np

from .layout import Entry, Node, Point, Tree
from .machines import n_machines_of, reference_of
from .reference import Stated, varying


class DualPool:
    """Dual points of the SVMs on all kinds of supports, found once."""

    def __init__(self, stated: Stated):
        self.stated = stated.kept()
        self._reference = reference_of(stated)
        self.n_machines = n_machines_of(stated)
        # For the samples of all machines, one after the other.
        self.C = np.tile(self.stated.C, self.n_machines)
        self._found: dict[tuple[int, ...], Point] = {}

    def point(self, support: tuple[int, ...]) -> Point:
        if support not in self._found:
            alpha = np.array(self._reference.dual_point(support))
            used = np.flatnonzero(alpha)
            self._found[support] = (used.tolist(), alpha[used].tolist())
        samples, values = self._found[support]
        return list(samples), list(values)

    def any_point(self, rng) -> Point:
        """An optimal point of some support, all of C, or noise."""
        C = self.C
        kind = rng.integers(4)
        if kind < 2:
            n = self.stated.n_features
            return self.point(tuple(np.flatnonzero(rng.random(n) < 0.5).tolist()))
        values = C if kind == 2 else C * rng.random(C.size)
        return list(range(C.size)), values.tolist()


def strong_list(rng, pool: DualPool) -> list[Entry]:
    """Some of the largest supports, with the weights of their dual points."""
    stated = pool.stated
    listed = []
    useful = {*varying(stated), *stated.include}
    for support in sorted({tuple(sorted(useful & {*s})) for s in stated.supports()}):
        if rng.random() < 0.5:
            samples, values = pool.point(support)
            alpha = np.zeros(pool.C.size)
            alpha[samples] = values
            signed = alpha.reshape(pool.n_machines, -1) * np.atleast_2d(stated.y.T)
            w = signed @ stated.X[:, stated.columns(support)]
            w[w * stated.signs_of(support) < 0] = 0.0
            listed.append((list(support), w.ravel().tolist(), [0.0] * len(w)))
    return listed


def strong_tree(rng, pool: DualPool) -> Tree:
    """A tree that is split until every leaf has one largest support."""
    stated = pool.stated
    tree = Tree([], [])
    decided = stated.include + stated.exclude
    free = [j for j in varying(stated) if j not in decided]
    _grow(rng, pool, tree, Node(-1, -1, False, -1), stated.include, free)
    return tree


def _grow(rng, pool, tree: Tree, node: Node, forced, free) -> None:
    tree.nodes.append(node)
    at = len(tree.nodes) - 1
    stated = pool.stated
    free = [j for j in free if stated.admits((*forced, j))]
    if stated.admits((*forced, *free)) or not stated.admits(forced):
        support = tuple(sorted((*forced, *free)))
        node.point = tree.add_point(pool.point(support))
        return
    split = int(rng.choice(free))
    rest = [j for j in free if j != split]
    for inside in rng.permutation([True, False]).tolist():
        below = (*forced, split) if inside else forced
        _grow(rng, pool, tree, Node(at, split, inside, -1), below, rest)


def strengthen(rng, pool: DualPool, tree: Tree) -> None:
    """Give every leaf and fixing of a tree, however wrong, the best points it can have.

    A gap in the checker shows only if the other bounds of the proof are good.
    """
    stated = pool.stated
    start = stated.include, set(varying(stated)) - {*stated.include, *stated.exclude}
    sets = {-1: start}
    for t, node in enumerate(tree.nodes):
        forced, free = sets.get(node.parent, start)
        if t > 0:
            forced = (*forced, node.feature) if node.inside else forced
            free = free - {node.feature}
        if node.fixings:
            node.fixing_point = tree.add_point(_best_point(rng, pool, forced, free))
            forced = (*forced, *(j for j in node.fixings if j >= 0))
            free = free - {j if j >= 0 else ~j for j in node.fixings}
        sets[t] = forced, free
    for t in tree.leaves():
        tree.nodes[t].point = tree.add_point(_best_point(rng, pool, *sets[t]))


def _best_point(rng, pool: DualPool, forced, free: set[int]) -> Point:
    """The dual point of some largest support with the forced features."""
    n = pool.stated.n_features
    support = {j for j in forced if 0 <= j < n}
    for j in rng.permutation(sorted(free)).tolist():
        if 0 <= j < n and pool.stated.admits((*support, j)):
            support.add(j)
    return pool.point(tuple(sorted(support)))
