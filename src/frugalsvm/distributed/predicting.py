"""Lazy predictions for dask arrays, chunk by chunk."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from ..estimators.summary import dense_columns
from ..problem.ties import rounded


def check_features(X: Any, n_features: int) -> None:
    """Raise an error unless a dask array has the features of the model."""
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(
            f"X has shape {X.shape}, but the model expects {n_features} features as "
            "columns."
        )


def scores_of(X: Any, coef: np.ndarray, intercept: float, is_single: bool) -> Any:
    """Scores of the samples of a dask array."""
    check_features(X, coef.size)
    used = np.flatnonzero(coef)
    if used.size == 0:
        # A column of weight zero, which provides the number of samples.
        used = np.array([0])
    return da.blockwise(
        _scores, "i", X[:, used], "ij", concatenate=True, coef=coef[used],
        intercept=intercept, is_single=is_single, dtype=np.float64, meta=np.empty(0),
    )  # fmt: skip


def labels_of(scores: Any, classes: np.ndarray) -> Any:
    """Labels for a dask array of scores."""
    return scores.map_blocks(
        _labels, classes=classes, dtype=classes.dtype, meta=classes[:0]
    )


def _scores(X: Any, coef: np.ndarray, intercept: float, is_single: bool) -> np.ndarray:
    scores = dense_columns(X, np.arange(coef.size)) @ coef + intercept
    return np.asarray(rounded(scores, coef, intercept, is_single=is_single))


def _labels(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    return classes[(scores > 0).astype(np.intp)]
