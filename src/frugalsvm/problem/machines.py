"""StackedData: the samples of several machines, one after the other.

Several *machines*, SVMs that share the features they may use, are one problem: machine
k has labels, weights and an intercept of its own, and a column of its own for each
column of X. With its columns and samples numbered after those of machine k - 1, a
feature is a group of columns, and all that is said of groups applies. For more than two
classes, machine k is class k against all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..checker import SparseColumns
from ..engine.columns import Columns
from .data import SignedData
from .sources import FEWER, check_room
from .validation import freeze


@dataclass(frozen=True, eq=False)
class StackedData:
    """Features and labels of several machines; it has the interface of ``SignedData``.

    Attributes
    ----------
    parts : tuple of SignedData
        Those of the machines, whose matrices are parts of ``A``.
    own : Columns
        The columns of X, and their signs, for one machine.
    A : array (n_machines * n_columns, n_samples of X)
        The signed columns of the first machine, then those of the second, and so on.
    y : array (n_machines * n_samples of X,)
    """

    parts: tuple[SignedData, ...]
    own: Columns
    A: np.ndarray
    y: np.ndarray

    # Not held by a source.
    source = None
    cache = None

    @classmethod
    def copied(
        cls,
        X: np.ndarray,
        labels: np.ndarray,
        kept: np.ndarray,
        fit_intercept: bool,
        own: Columns,
    ) -> StackedData:
        """Data as one matrix for each machine; ``labels`` has a column for each."""
        n_samples, n_machines = labels.shape
        check_room(
            8.0 * n_machines * X[kept].size,
            f"a copy of X {X.shape} for each of {n_machines} classes",
            FEWER,
        )
        ones = np.ones(n_samples)
        once = SignedData.copied(X, ones, kept, fit_intercept, overwrite=False)
        return cls.of(once, np.ascontiguousarray(labels.T), own)

    @classmethod
    def of(cls, once: SignedData, labels: np.ndarray, own: Columns) -> StackedData:
        """The data of all machines, given those with labels of 1."""
        n_machines, n = len(labels), once.n_columns
        A = np.empty((n_machines * n, once.n_samples))
        parts = []
        for k, y in enumerate(labels):
            rows = A[k * n : (k + 1) * n]
            np.multiply(once.A, y, out=rows)
            unshifted = {j: row * y for j, row in once.unshifted.items()}
            parts.append(
                SignedData(
                    freeze(y), once.fit_intercept, once.shift, freeze(rows),
                    unshifted=unshifted, known_norms=once.norms,
                )
            )  # fmt: skip
        return cls(tuple(parts), own, freeze(A), freeze(labels.ravel()))

    @property
    def n_machines(self) -> int:
        """Number of machines."""
        return len(self.parts)

    @property
    def fit_intercept(self) -> bool:
        """Whether each machine has a free intercept."""
        return self.parts[0].fit_intercept

    @property
    def n_columns(self) -> int:
        """Number of columns of all machines."""
        return len(self.A)

    @property
    def n_samples(self) -> int:
        """Number of samples of all machines."""
        return self.y.size

    @cached_property
    def shift(self) -> np.ndarray:
        """What is subtracted from each column."""
        return freeze(np.concatenate([part.shift for part in self.parts]))

    @cached_property
    def norms(self) -> np.ndarray:
        """Upper bounds of the Euclidean norms of the rows."""
        return freeze(np.concatenate([part.norms for part in self.parts]))

    @cached_property
    def useful(self) -> np.ndarray:
        """Mask of the columns that can improve a solution."""
        return freeze(np.concatenate([part.useful for part in self.parts]))

    def by_machine(self, values: np.ndarray) -> np.ndarray:
        """Values of all columns, or of all samples, one row for each machine."""
        return values.reshape(self.n_machines, -1)

    def signed_blocks(self) -> Iterator[np.ndarray | SparseColumns]:
        """The columns of X without labels and shifts: sparse, or block by block."""
        first = self.parts[0]
        for block in first.signed_blocks():
            if isinstance(block, SparseColumns):
                yield block.times(first.y)
            else:
                yield block * first.y

    def unshifted_intercept(
        self, coef: np.ndarray, intercepts: np.ndarray
    ) -> np.ndarray:
        """The intercepts for X, given those for A."""
        pairs = zip(self.parts, self.by_machine(coef), intercepts, strict=True)
        return np.array([part.unshifted_intercept(w, float(b)) for part, w, b in pairs])
