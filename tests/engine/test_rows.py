"""RowCache keeps the most recently used rows."""

import pickle

import numpy as np

from frugalsvm.engine.source import RowCache

DATA = np.arange(50.0).reshape(10, 5)


class Gatherer:
    def __init__(self):
        self.asked = []

    def __call__(self, features):
        self.asked += features.tolist()
        return DATA[features]


def test_rows_are_fetched_once():
    cache, fetch = RowCache(), Gatherer()
    for features in ([3, 1], [1, 2, 3], [2, 1]):
        rows = cache.get(np.array(features), 5, fetch)
        np.testing.assert_array_equal(rows, DATA[features])
    assert fetch.asked == [3, 1, 2]
    assert cache.n_bytes == 3 * 40


def test_the_oldest_rows_are_dropped():
    cache, fetch = RowCache(max_bytes=120), Gatherer()
    cache.get(np.array([0, 1, 2]), 5, fetch)
    cache.get(np.array([0, 3]), 5, fetch)
    assert cache.n_bytes == 120
    cache.get(np.array([0, 2, 3]), 5, fetch)
    assert fetch.asked == [0, 1, 2, 3]
    cache.get(np.array([1]), 5, fetch)
    assert fetch.asked == [0, 1, 2, 3, 1]


def test_rows_that_are_too_long_are_not_kept():
    cache, fetch = RowCache(max_bytes=39), Gatherer()
    for _ in range(2):
        np.testing.assert_array_equal(cache.get(np.array([4]), 5, fetch), DATA[[4]])
    assert fetch.asked == [4, 4]
    assert cache.n_bytes == 0


def test_returned_rows_are_copies():
    cache, fetch = RowCache(), Gatherer()
    cache.get(np.array([1]), 5, fetch)[:] = 7.0
    np.testing.assert_array_equal(cache.get(np.array([1]), 5, fetch), DATA[[1]])
    np.testing.assert_array_equal(DATA[1], np.arange(5.0, 10.0))


def test_pickles_do_not_contain_rows():
    cache, fetch = RowCache(120), Gatherer()
    cache.get(np.array([1]), 5, fetch)
    sent = pickle.loads(pickle.dumps(cache))
    assert (sent.max_bytes, sent.n_bytes) == (120, 0)
