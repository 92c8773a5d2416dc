"""The data of a problem, and what is asked about them, as compiled code takes them."""

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


class RegionArrays(NamedTuple):
    """A set of supports.

    Attributes
    ----------
    forced, free : integer arrays
        Features that are used, and those among which to choose.
    k : int
        How many of the free ones may be chosen.
    budget : float
        What they may cost together; may be infinite.
    """

    forced: np.ndarray
    free: np.ndarray
    k: int
    budget: float


class ActiveSet(NamedTuple):
    """The part of a relaxation that is solved.

    Attributes
    ----------
    features : integer array
        The working set of free features; the others are left out.
    side : array (m,)
        0 for samples to solve on; the others keep alpha = C (1) or alpha = 0 (-1).
    """

    features: np.ndarray
    side: np.ndarray
