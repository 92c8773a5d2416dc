"""The data of a problem, regions and working sets, in the form for compiled code."""

from typing import NamedTuple

import numpy as np

# A stop flag that is never set.
NEVER = np.zeros(1, dtype=np.uint8)
# If every feature is one column, and if all weights are free.
NO_COLUMNS, NO_SIGNS = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int8)
for _array in (NO_COLUMNS, NO_SIGNS):
    # Like arrays of problems: otherwise kernels would compile again.
    _array.setflags(write=False)


class Data(NamedTuple):
    """The data that all tasks of a problem share.

    With several machines, SVMs that share their features, those of machine k are the
    k-th part of the columns and of the samples: column f is one of machine
    ``f // (n_columns / n_machines)``, and its row of A has the samples of that machine.

    Attributes
    ----------
    A : array (n_columns, m / n_machines)
        Signed columns of X, ``y_i x_ij``.
    norms : array (n_columns,)
        Upper bounds of the row norms.
    y, C : arrays (m,)
        Labels and positive weights.
    intercept : bool
        Whether a free intercept is fitted, one for each machine.
    costs : array (n,)
        Costs of the features.
    stop : array (1,)
        Compiled code ends once another thread sets this flag.
    starts, columns, signs : integer arrays
        See ``engine.columns.Columns``. Without groups, starts and columns are empty;
        without signs, signs are.
    n_machines : int
    """

    A: np.ndarray
    norms: np.ndarray
    y: np.ndarray
    C: np.ndarray
    intercept: bool
    costs: np.ndarray
    stop: np.ndarray
    starts: np.ndarray = NO_COLUMNS
    columns: np.ndarray = NO_COLUMNS
    signs: np.ndarray = NO_SIGNS
    n_machines: int = 1


class RegionArrays(NamedTuple):
    """A set of supports.

    Attributes
    ----------
    forced, free : integer arrays
        Features that are used, and those to choose from.
    k : int
        Maximum number of free features that may be chosen.
    budget : float
        Their maximum total cost; may be infinite.
    """

    forced: np.ndarray
    free: np.ndarray
    k: int
    budget: float


class WorkingSetArrays(NamedTuple):
    """The features and samples that a relaxation works on.

    Attributes
    ----------
    features : integer array
        Free features to work on; all others are left out.
    side : array (m,)
        0 for active samples; the others keep alpha = C (1) or alpha = 0 (-1).
    """

    features: np.ndarray
    side: np.ndarray
