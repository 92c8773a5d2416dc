"""Folds that cannot be trained on or scored are rejected with a clear message."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from frugalsvm import FrugalSVCCV
from frugalsvm.estimators.folds import Samples, make_splits
from tests.reference import random_data

ALL = np.arange(40)
NONE = np.empty(0, dtype=int)


@pytest.fixture(scope="module")
def data():
    return random_data(np.random.default_rng(0), 40, 4)


def splits_of(cv, data, weights=None):
    X, y = data
    weights = np.ones(y.size) if weights is None else weights
    return make_splits(cv, Samples(X, X, y, y, weights), {}, stacklevel=1)


@pytest.mark.parametrize(
    ("split", "words"),
    [
        ((ALL, NONE), "the test part of fold 1 is empty"),
        ((ALL, []), "the test part of fold 1 is empty"),
        ((ALL, np.zeros(40, dtype=bool)), "the test part of fold 1 is empty"),
        ((NONE, ALL), "the training part of fold 1 has no samples to learn from"),
        ((ALL, [40]), r"test part of fold 1 has row 40, but X has 40 rows \(0 to 39"),
        ((ALL, [0.5]), "test part of fold 1 must be a list of row numbers"),
        (([True], ALL), "training part of fold 1 must be a list of row numbers"),
        (([[0, 1]], ALL), "training part of fold 1 must be a list of row numbers"),
        (3, "fold 1 of cv must be a pair of arrays.*got 3"),
        ((ALL, ALL, ALL), "fold 1 of cv must be a pair of arrays"),
    ],
)
def test_bad_folds(data, split, words):
    with pytest.raises(ValueError, match=words):
        splits_of([(ALL, ALL), split], data)


def test_folds_of_one_class(data):
    _, y = data
    with pytest.raises(ValueError, match="fold 0 has samples of one class only"):
        splits_of([(np.flatnonzero(y > 0), ALL)], data)
    with pytest.raises(ValueError, match="fold 0 has samples of one class only"):
        splits_of([(ALL, ALL)], data, weights=(y > 0).astype(float))
    with pytest.raises(ValueError, match="cv has no split"):
        splits_of([], data)


def test_masks_and_lists_are_indices(data):
    mask = ALL < 30
    ((train, test),) = splits_of([(mask, (~mask).tolist())], data)
    np.testing.assert_array_equal(train, ALL[:30])
    np.testing.assert_array_equal(test, ALL[30:])
    expected = list(StratifiedKFold(4).split(*data))
    for ours, theirs in zip(splits_of(4, data), expected, strict=True):
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])


def test_an_empty_fold_is_seen_before_any_work(data):
    begun = []
    parts = [(ALL, ALL), (ALL, NONE)]
    model = FrugalSVCCV([1], [1.0], cv=parts, callback=begun.append)
    with pytest.raises(ValueError, match="test part of fold 1 is empty"):
        model.fit(*data)
    assert not begun
