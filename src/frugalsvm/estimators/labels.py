"""Labels of classes as -1 and +1, for functions that are no estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ..problem.validation import check_unmasked
from .models import signs_of


def signs_of_labels(y: Any) -> np.ndarray:
    """Labels as -1 and +1, in a column for each of more than two classes.

    Of two classes the second is +1, in sorted order.
    """
    check_unmasked("y", y)
    labels = np.asarray(y)
    if _has_missing(labels):
        raise ValueError("y has missing labels (NaN or None); drop these rows first.")
    try:
        classes = np.unique(labels)
    except TypeError as error:
        kinds = sorted({type(one).__name__ for one in labels.ravel()})
        raise ValueError(
            f"y must have labels of one type, got {' and '.join(kinds)}."
        ) from error
    # Of measured numbers each would be a class.
    check_classification_targets(labels)
    if classes.size < 2:
        raise ValueError(f"y must have two classes or more, got {classes.size}.")
    return signs_of(np.searchsorted(classes, labels), classes.size)


def _has_missing(labels: np.ndarray) -> bool:
    try:
        # Missing values are None or not equal to themselves.
        missing = bool((labels != labels).any())
        return missing or (labels.dtype == object and None in labels.ravel().tolist())
    except TypeError:
        # pandas.NA compares to NA, not to a boolean.
        return True
