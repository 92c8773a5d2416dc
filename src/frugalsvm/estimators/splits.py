"""The folds of a cross-validation, checked before any work is done on them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from .folds import Split
from .samples import Samples


def make_splits(
    cv: Any, samples: Samples, params: dict[str, Any], stacklevel: int
) -> list[Split]:
    """Training and test samples of all folds.

    Parameters
    ----------
    cv : int, splitter or iterable of splits
    samples : Samples
    params : dict
        Parameters of the splitter besides data and labels.
    stacklevel : int
        Stack level of warnings, relative to this function.
    """
    given = _given(cv)
    if given is None:
        fewer = _fewer_folds(cv, samples.codes, stacklevel + 1)
        splitter = check_cv(fewer, samples.y, classifier=True)
        given = list(splitter.split(samples.X, samples.y, **params))
    if not given:
        raise ValueError("cv has no split; give at least one.")
    splits = [_split(k, one, samples.y.size) for k, one in enumerate(given)]
    n_classes = np.unique(samples.codes).size
    for k, (train, test) in enumerate(splits):
        _check_training(k, samples.part(train), n_classes)
        if test.size == 0:
            raise ValueError(
                f"the test part of fold {k} is empty, so that nothing can be scored; "
                "give a cv whose folds all have test samples."
            )
    return splits


def possible_folds(signs: np.ndarray, folds: int) -> int:
    """The number of folds that the rarer class allows; 0 if it allows none."""
    most = min(folds, *_counts(signs))
    return most if most >= 2 else 0


def stratified_splits(signs: np.ndarray, folds: int, seed: int) -> Iterator[Split]:
    """Shuffled folds with the same share of both classes, made one by one."""
    folding = StratifiedKFold(folds, shuffle=True, random_state=seed)
    yield from folding.split(np.zeros((signs.size, 1)), signs)


def _given(cv: Any) -> list[Any] | None:
    """Splits listed by the user; None if a splitter makes them."""
    is_list = isinstance(cv, Iterable) and not isinstance(cv, str)
    return list(cv) if is_list and not hasattr(cv, "split") else None


def _split(k: int, split: Any, n_samples: int) -> Split:
    """A split, possibly given by the user, as two arrays of indices."""
    try:
        train, test = split
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"fold {k} of cv must be a pair of arrays, the training and the test "
            f"samples, got {split!r}."
        ) from error
    return (
        _indices(f"the training part of fold {k}", train, n_samples),
        _indices(f"the test part of fold {k}", test, n_samples),
    )


def _indices(part: str, samples: Any, n_samples: int) -> np.ndarray:
    """Indices of samples, which may be given as a boolean mask."""
    indices = np.asarray(samples)
    if indices.dtype == bool and indices.shape == (n_samples,):
        return np.flatnonzero(indices)
    if indices.size == 0:
        return np.empty(0, dtype=np.intp)
    if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer):
        raise ValueError(
            f"{part} must be a list of row numbers or a boolean mask of all "
            f"{n_samples} rows, got an array of {indices.dtype} of shape "
            f"{indices.shape}."
        )
    wrong = indices[(indices < -n_samples) | (indices >= n_samples)]
    if wrong.size:
        raise ValueError(
            f"{part} has row {wrong[0]}, but X has {n_samples} rows (0 to "
            f"{n_samples - 1})."
        )
    return indices


def _check_training(k: int, part: Samples, n_classes: int) -> None:
    kinds = np.unique(part.codes[part.sample_weight > 0])
    if kinds.size < n_classes:
        has = "no samples to learn from"
        if kinds.size:
            has = f"samples of {kinds.size} of the {n_classes} classes only"
        if kinds.size == 1 and n_classes == 2:
            has = "samples of one class only"
        wanted = "both classes" if n_classes == 2 else "all classes"
        raise ValueError(
            f"the training part of fold {k} has {has}; give a cv whose folds have "
            f"{wanted}, or fewer folds."
        )


def _fewer_folds(cv: Any, codes: np.ndarray, stacklevel: int) -> Any:
    """Cut a number of folds to the size of the rarest class; leave any other cv."""
    counts = np.bincount(codes)
    rarer = int(counts[counts > 0].min())
    if not isinstance(cv, (int, np.integer)) or rarer < 2 or cv <= rarer:
        return cv
    which = "rarer" if np.count_nonzero(counts) == 2 else "rarest"
    warnings.warn(
        f"cv={cv} exceeds the samples of the {which} class; using {rarer} folds.",
        UserWarning,
        stacklevel=stacklevel,
    )
    return rarer


def _counts(signs: np.ndarray) -> tuple[int, int]:
    """Samples of the negative and of the positive class."""
    n_positive = int(np.count_nonzero(signs > 0))
    return signs.size - n_positive, n_positive
