"""Dual points in files, where they are packed.

Most entries of a dual point are 0 or C_i. A packed point has a bit for each sample that
is at C_i, a bit for each that is between, and for the latter whole numbers of 32 bits,
in units of a power of two, which may differ from point to point. So an entry at C_i is
off by 2^-32 of itself at most, one between by 2^-32 of the largest of these. Where that
loses too much of a bound, as with a huge C, the numbers have the 53 bits of a double.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .reading import require

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
