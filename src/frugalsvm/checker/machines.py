"""Machines: the binary SVMs of a problem, which share their features and samples.

For two classes there is one machine. For several there is one for each class, with that
class against all others. A machine has the columns of X times its labels for its data;
since labels are -1 and 1, no product is rounded otherwise if the dual point has the
labels instead. So all machines share the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .arithmetic import objective_bound, repair, square_bounds, sum_of, sum_slack
from .statement import fingerprint
from .table import SparseColumns, TableRows, times


@dataclass(frozen=True, eq=False)
class Machines:
    """The machines of a problem and their samples, those of positive weight.

    Attributes
    ----------
    rows : ndarray or TableRows
        The columns of X, one row each.
    classes : ndarray of int
        The class of each sample: 0, 1, ... in the order of the labels.
    n_classes : int
    """

    rows: np.ndarray | TableRows
    classes: np.ndarray
    n_classes: int = 2

    @cached_property
    def signs(self) -> np.ndarray:
        """The labels in each machine, one row each."""
        alone = np.arange(self.n_classes) if self.n_classes > 2 else np.array([1])
        return np.where(self.classes == alone[:, None], 1.0, -1.0)

    @property
    def count(self) -> int:
        """Number of machines."""
        return len(self.signs)

    def fingerprint(self) -> str:
        """The fingerprint of these samples."""
        rows = self.rows
        parts = [rows] if isinstance(rows, np.ndarray) else rows.parts()
        if self.count > 1:
            return fingerprint(parts, self.classes)
        signs = self.signs[0]
        return fingerprint((times(part, signs) for part in parts), signs)

    def objective(
        self, C: np.ndarray, columns: np.ndarray, coef: np.ndarray, b: np.ndarray
    ) -> float:
        """Upper bound of the sum of the objectives; infinite or NaN on overflow.

        ``coef`` has the weights of all columns in the first machine, then those in the
        second, and so on; ``b`` has one intercept for each.
        """
        rows, weights = self.rows[columns], coef.reshape(self.count, columns.size)
        machines = zip(self.signs, weights, b.tolist(), strict=True)
        values = [objective_bound(rows * s, s, C, w, b_k) for s, w, b_k in machines]
        return float(sum_of(values) * sum_slack(self.count))

    def point(self, alpha: np.ndarray, C: np.ndarray, balance: bool) -> np.ndarray:
        """A dual point near ``alpha`` that is exactly feasible, a row for each machine.

        In ``alpha`` the points of the machines follow each other.
        """
        return repair(alpha.reshape(self.signs.shape), self.signs, C, balance)

    def squares(
        self,
        A: np.ndarray | SparseColumns,
        norms: np.ndarray,
        alpha: np.ndarray,
        accurate: bool,
        sides: np.ndarray | None,
    ) -> np.ndarray:
        """Upper bounds of ``c_j^2``, summed over all machines.

        ``A`` has rows of the data, which may be centred, and ``norms`` bounds of their
        norms. Sparse columns are for products that are not accurate.
        """
        total = np.zeros(norms.size)
        for point in self.signs * alpha:
            total += square_bounds(A, norms, point, accurate, sides)
        return total * sum_slack(self.count)
