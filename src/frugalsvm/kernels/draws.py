"""Random numbers that depend only on the seed, not on the thread."""

import numpy as np

from ._jit import jit

_ELEVEN, _THIRTEEN = np.uint64(11), np.uint64(13)
_SEVEN, _SEVENTEEN = np.uint64(7), np.uint64(17)


@jit
def draw(state):
    """A number in [0, 1), by Marsaglia's xorshift; the state must not be zero."""
    x = state[0]
    x ^= x << _THIRTEEN
    x ^= x >> _SEVEN
    x ^= x << _SEVENTEEN
    state[0] = x
    return (x >> _ELEVEN) * 2.0**-53
