"""What columns contribute to a relaxation, if weights are limited in sign.

A column whose weight is free contributes its product ``c`` with alpha: its weight is
``z c``. If the weight may not be negative, it contributes ``max(0, c)``, which has a
kink. The barrier ``t log v`` smooths it: v maximises ``c v - 1/2 v^2 + t log v``, so

    v = (c + root) / 2,   dv/dc = v / root,   dv/dt = 1 / root,   root = sqrt(c^2 + 4 t)

and ``q``, which replaces ``c^2``, is twice that maximum, up to a term in t only. The
interior point lowers t together with its other barriers.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .arrays import copy_to, filled, new_vector
from .columns import sum_of_squares


class Admitted(NamedTuple):
    """The contributions of columns at a point.

    Attributes
    ----------
    v : array (p,)
        ``c`` itself, not a copy, if all weights are free.
    slope : array (p,)
        ``dv/dc``.
    q : array (p,)
        What replaces ``c^2``, or an empty array.
    v_rate, q_rate : arrays (p,)
        Their derivatives by the barrier, or empty arrays.
    barrier : array (1,)
    """

    v: np.ndarray
    slope: np.ndarray
    q: np.ndarray
    v_rate: np.ndarray
    q_rate: np.ndarray
    barrier: np.ndarray


@jit_new
def new_admitted(program, c):
    """The contributions of c; to be set by ``admit``."""
    p, size = program.n_columns, program.signs.shape[0]
    v = c if size == 0 else new_vector(p)
    return Admitted(
        v, filled(p, 1.0), new_vector(size), filled(size, 0.0), filled(size, 0.0),
        filled(1, 0.0),
    )  # fmt: skip


@jit
def admit(signs, c, admitted):
    """Set the contributions of columns with signs."""
    v, slope, q, v_rate, q_rate, barrier = admitted
    t = barrier[0]
    for f in range(signs.shape[0]):
        sign = signs[f]
        if sign == 0.0:
            v[f], q[f] = c[f], c[f] * c[f]
            continue
        own = sign * c[f]
        root = np.sqrt(own * own + 4.0 * t)
        size = 0.5 * (own + root) if own >= 0.0 else 2.0 * t / (root - own)
        # In units of the barrier: the logarithm needs a scale.
        log = np.log(size / np.sqrt(t))
        v[f], slope[f] = sign * size, size / root
        q[f] = size * size + 2.0 * size * (own - size) + 2.0 * t * (1.0 + log)
        v_rate[f], q_rate[f] = sign / root, 2.0 * log + 1.0


@jit
def worth(admitted, start, stop):
    """What a feature with these columns is worth: the sum of its q."""
    if admitted.q.shape[0] == 0:
        return sum_of_squares(admitted.v, start, stop)
    total = 0.0
    for f in range(start, stop):
        total += admitted.q[f]
    return total


@jit
def admit_exactly(signs, c, out):
    """Copy c, with zeros where the sign of a weight does not admit it."""
    copy_to(c, out)
    for f in range(signs.shape[0]):
        if signs[f] * c[f] < 0.0:
            out[f] = 0.0
