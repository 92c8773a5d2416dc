"""The data of a problem as compiled code takes them."""

from typing import NamedTuple

import numpy as np

# A flag that nobody sets.
NEVER = np.zeros(1, dtype=np.uint8)


class Data(NamedTuple):
    """What all tasks of a problem have in common.

    Attributes
    ----------
    A : array (n, m)
        Signed features, ``y_i x_ij``.
    norms : array (n,)
        Upper bounds of the row norms.
    y, C : arrays (m,)
        Labels and positive weights.
    intercept : bool
        Whether a free intercept is fitted.
    costs : array (n,)
        Costs of the features.
    stop : array (1,)
        Compiled code comes to an end once another thread sets it.
    """

    A: np.ndarray
    norms: np.ndarray
    y: np.ndarray
    C: np.ndarray
    intercept: bool
    costs: np.ndarray
    stop: np.ndarray
