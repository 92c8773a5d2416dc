"""Partial sorting: the smallest of very many values."""

from __future__ import annotations

import numpy as np

# Up to this many values, sorting all of them is as quick.
SORTED_UP_TO = 1000


def smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Positions of the smallest values in increasing order, with stable ties.

    The same as ``np.argsort(values, kind="stable")[:count]``.
    """
    if values.shape[0] <= SORTED_UP_TO or count >= values.shape[0] or count < 1:
        return np.argsort(values, kind="stable")[:count]
    limit = np.partition(values, count - 1)[count - 1]
    if np.isnan(limit):
        return np.argsort(values, kind="stable")[:count]
    near = np.flatnonzero(values <= limit)
    return near[np.argsort(values[near], kind="stable")[:count]]
