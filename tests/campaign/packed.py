"""Ways to forge packed dual points: their bits, steps, units and number."""

from __future__ import annotations

import numpy as np

from .generator import chance
from .layout import PACKED


def change_packed(rng, arrays, source):
    """Packed points with other bits, steps and units, with more or fewer of them."""
    new = {name: np.array(arrays[name]) for name in PACKED}
    for _ in range(rng.integers(1, 4)):
        rng.choice(PACKED_CHANGES)(rng, new)
    return {**arrays, **new}


def _move_bit(rng, new):
    """A sample is no longer between, or now is, and its step goes or comes."""
    bits, full = (np.unpackbits(new[f"point_{one}"]) for one in ("between", "full"))
    # Another change may have made one of them shorter.
    size = min(bits.size, full.size)
    if not size:
        return
    at = int(rng.integers(size))
    before = min(int(bits[:at].sum()), max(new["point_steps"].size - 1, 0))
    bits[at] ^= 1
    new["point_between"] = np.packbits(bits)
    if chance(rng, 0.8):
        full[at] = 0
    if chance(rng, 0.2):
        full[at] = 1
    new["point_full"] = np.packbits(full)
    if not chance(rng, 0.8):
        return
    if bits[at]:
        step = rng.integers(2**32, dtype=np.uint32)
        new["point_steps"] = np.insert(new["point_steps"], before, step)
    elif new["point_steps"].size:
        new["point_steps"] = np.delete(new["point_steps"], before)


def _flip_bits(rng, new):
    """Bits of samples, or of none: those at the ends of points."""
    name = str(rng.choice(["point_full", "point_full", "point_between"]))
    if new[name].size:
        at = rng.integers(new[name].size, size=rng.choice([1, 1, 5]))
        new[name][at] ^= np.uint8(1) << rng.integers(8, size=at.size, dtype=np.uint8)


def _exchange_bits(rng, new):
    """All bits of both kinds, or all bits of one."""
    if chance(rng, 0.5):
        new["point_full"], new["point_between"] = (
            new["point_between"], new["point_full"]
        )  # fmt: skip
    else:
        new["point_full"] = ~new["point_between"]


def _other_steps(rng, new):
    """Steps that are least, largest or in another order."""
    steps = new["point_steps"]
    if steps.size:
        some = rng.random(steps.size) < rng.choice([0.1, 1.0])
        odd = rng.choice(np.array([0, 1, 2**31, 2**32 - 1], dtype=np.uint32))
        other = [np.where(some, odd, steps), rng.permutation(steps), steps[:-1]]
        new["point_steps"] = other[rng.integers(3)].astype(steps.dtype)


def _other_grid(rng, new):
    """Other units: a little, and as far as numbers go."""
    grid = new["point_grid"].astype(np.int64)
    if grid.size:
        at = rng.integers(grid.size)
        near = grid[at] + rng.choice([-1, 1, 3, 40])
        grid[at] = rng.choice([near, rng.choice([-1000, -1001, 900, 901, 2**31 - 1])])
        new["point_grid"] = grid.astype(np.int32)


def _other_count(rng, new):
    """One point less, or one that appears twice, in some of the arrays."""
    count = max(new["point_grid"].size, 1)
    for name in ("point_full", "point_between", "point_grid"):
        if chance(rng, 0.9):
            width = new[name].size // count
            last = new[name][new[name].size - width :]
            new[name] = np.append(new[name], last)


PACKED_CHANGES = (
    _move_bit, _move_bit, _flip_bits, _exchange_bits, _other_steps, _other_grid,
    _other_count,
)  # fmt: skip
