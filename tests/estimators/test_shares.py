"""A time limit that the budgets of a choice share, on a clock that tests move."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from frugalsvm import FrugalSVCCV
from frugalsvm.estimators import cells
from frugalsvm.estimators.grid import FoldSearch
from frugalsvm.run import stopping
from frugalsvm.search.path_search import PathSearch

BUDGETS = [1, 2, 3, 4, 5, 6]
# Seconds that a search takes if nothing cuts it short.
LONG = 100


class Clock:
    """Stands still unless it is moved."""

    now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def table():
    X, y = make_classification(60, 8, n_informative=4, n_redundant=0, random_state=3)
    return pd.DataFrame(X), y


@pytest.fixture
def clock(monkeypatch):
    """Searches take 100 seconds on it, or until they have to end."""
    clock, begin = Clock(), PathSearch.begin

    def slow(self, index, seeds):
        begin(self, index, seeds)
        for _ in range(LONG):
            if self._is_late():
                break
            clock.now += 1.0

    monkeypatch.setattr(stopping, "time", clock)
    monkeypatch.setattr(PathSearch, "begin", slow)
    return clock


def choice(table, time_limit, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model = FrugalSVCCV(
            BUDGETS, cv=3, effort="fast", random_state=0, time_limit=time_limit,
            **options,
        ).fit(*table)  # fmt: skip
    compared = np.isfinite(model.path_.score_mean[0])
    return model.path_.max_features[compared].tolist(), [
        str(one.message) for one in caught
    ]


@pytest.mark.parametrize("most_bytes", [cells.MOST_BYTES, 0])
def test_every_budget_gets_a_share(table, clock, monkeypatch, most_bytes):
    monkeypatch.setattr(cells, "MOST_BYTES", most_bytes)
    # The first budget takes 300 seconds of the 600, and five others would take 1500.
    compared, caught = choice(table, 600.0 / cells.SHARE_OF_FOLDS)
    assert compared == BUDGETS
    assert "the searches of 5 pairs" in caught[0]


def test_enough_time_cuts_nothing_short(table, clock):
    compared, caught = choice(table, 2 * 3 * len(BUDGETS) * LONG / cells.SHARE_OF_FOLDS)
    assert compared == BUDGETS
    assert "the searches of" not in " ".join(caught)


def test_cells_are_spread_as_far_as_their_time_goes():
    assert cells._spread(np.zeros(3), 0.0) == [0, 1, 2]
    seconds = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert cells._spread(seconds, np.inf) == [0, 1, 2, 3, 4]
    assert cells._spread(seconds, 8.0) == [2, 4]
    assert cells._spread(seconds, 7.0) == [4]
    assert cells._spread(seconds, 3.5) == [2]
    assert cells._spread(seconds, 0.5) == [0]


def test_budgets_are_spread_if_there_is_no_time_for_all(table, clock, monkeypatch):
    score = FoldSearch._score

    def slow(self, index, solution):
        score(self, index, solution)
        clock.now += 10.0

    monkeypatch.setattr(FoldSearch, "_score", slow)
    # The first one takes 330 seconds, of which 30 to score. Others have at least as
    # much time as scoring for their search, and more with their budget: 90 and 110.
    compared, caught = choice(table, (330.0 + 205.0) / cells.SHARE_OF_FOLDS)
    assert compared == [1, 4, 6]
    assert "3 of 6 pairs" in caught[0]
