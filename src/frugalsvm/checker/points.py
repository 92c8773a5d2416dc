"""Dual points in files, where they are packed, and the machines that they belong to.

Most entries of a dual point are 0 or C_i. A packed point has a bit for each sample that
is at C_i, a bit for each that is between, and for the latter whole numbers of 32 bits,
in units of a power of two, which may differ from point to point. So an entry at C_i is
off by 2^-32 of itself at most, one between by 2^-32 of the largest of these. Where that
loses too much of a bound, as with a huge C, the numbers have the 53 bits of a double.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .arithmetic import objective_bound, repair, square_bounds, sum_of, sum_slack
from .reading import require
from .statement import fingerprint
from .table import SparseColumns, TableRows, times

# Bits of an entry between 0 and C, for each type of the steps.
STEP_BITS = {np.uint32: 32, np.uint64: 53}
# Exponents of the unit: no entry underflows or overflows.
GRIDS = (-1000, 900)
# Number of ones in each byte.
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(
    axis=1, dtype=np.uint8
)


class PackedPoint(NamedTuple):
    """A dual point with few entries other than 0 and C.

    Attributes
    ----------
    full, between : arrays of bytes
        A bit for each sample, the first of a byte being the highest: whether it is at
        C, and whether it is neither there nor at zero.
    steps : array of uint32 or uint64
        The entries between, in units of ``2 ** grid``.
    grid : int
    """

    full: np.ndarray
    between: np.ndarray
    steps: np.ndarray
    grid: int


def pack(
    alpha: np.ndarray, C: np.ndarray, step: type[np.unsignedinteger] = np.uint32
) -> PackedPoint:
    """The packed point closest to one with ``0 <= alpha <= C``."""
    bits = STEP_BITS[step]
    # As close to C as the last bit of an entry between.
    full = alpha >= C * (1.0 - 0.5**bits)
    below = np.where(full, 0.0, alpha)
    _, exponent = math.frexp(float(below.max(initial=0.0)))
    grid = max(exponent - bits, GRIDS[0])
    steps = np.minimum(np.rint(np.ldexp(below, -grid)), 2.0**bits - 1)
    between = steps > 0
    return PackedPoint(
        np.packbits(full), np.packbits(between), steps[between].astype(step), grid
    )


def unpack(point: PackedPoint, C: np.ndarray) -> np.ndarray:
    """All entries of a packed point; they may exceed C by rounding."""
    alpha = np.where(np.unpackbits(point.full, count=C.size), C, 0.0)
    between = np.unpackbits(point.between, count=C.size).view(bool)
    alpha[between] = np.ldexp(point.steps.astype(np.float64), point.grid)
    return alpha


class StoredPoints:
    """The checked dual points of a certificate.

    Indexing unpacks a point, whose entries may exceed C; C has the entries of all
    samples and machines.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], C: np.ndarray):
        self._C = C
        self._grid, self._steps = arrays["point_grid"], arrays["point_steps"]
        count, width = self._grid.size, -(-C.size // 8)
        full, between = arrays["point_full"], arrays["point_between"]
        for name, bits in (("point_full", full), ("point_between", between)):
            require(
                bits.size == count * width,
                f"{name} does not have {width:,} bytes for each of {count:,} points",
            )
        self._full = full.reshape(count, width)
        self._between = between.reshape(count, width)
        unused = (1 << (-C.size % 8)) - 1
        for name, last in (
            ("point_full", self._full[:, -1]),
            ("point_between", self._between[:, -1]),
        ):
            require(not (last & unused).any(), f"{name} has bits of no sample")
        require(
            not (full & between).any(), "a sample is both in point_full and between"
        )
        ones = _ONES[self._between].sum(axis=1, dtype=np.int64)
        self._start = np.concatenate([[0], np.cumsum(ones)])
        require(
            self._start[-1] == self._steps.size,
            f"point_steps has {self._steps.size:,} of {self._start[-1]:,} entries",
        )
        require(self._steps.all(), "point_steps has a zero")
        low, high = GRIDS
        require(
            ((self._grid >= low) & (self._grid <= high)).all(),
            f"point_grid has numbers other than {low} to {high}",
        )

    def __len__(self) -> int:
        return self._grid.size

    def __getitem__(self, index: int) -> np.ndarray:
        steps = self._steps[self._start[index] : self._start[index + 1]]
        point = PackedPoint(
            self._full[index], self._between[index], steps, int(self._grid[index])
        )
        return unpack(point, self._C)


# --- Machines: the binary SVMs of a problem, which share their features and samples ---
#
# For two classes there is one machine. For several there is one for each class, with
# that class against all others. A machine has the columns of X times its labels for its
# data; since labels are -1 and 1, no product is rounded otherwise if the dual point has
# the labels instead. So all machines share the data.


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
