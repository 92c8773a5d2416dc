"""FrugalSVCCV that is bounded and watched: Ctrl-C, time limits, callbacks, lines."""

import logging
import signal
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from frugalsvm import FrugalSVCCV
from frugalsvm.estimators import cells
from frugalsvm.estimators.grid_search import GridSearch
from tests.estimators.conftest import QUICK


@pytest.fixture
def stop_after(monkeypatch):
    """A function that does something to a search after some steps; it lists them."""
    begin = GridSearch.begin

    def start(n_steps, how):
        begun = []

        def step(self, *arguments, **options):
            begun.append(arguments)
            if len(begun) == n_steps + 1:
                how(self)
            return begin(self, *arguments, **options)

        monkeypatch.setattr(GridSearch, "begin", step)
        return begun

    return start


def press_ctrl_c(search):
    search.stop.interrupt()


def test_an_interrupt_before_any_cell_is_finished_leaves_nothing(table, stop_after):
    """The third search is stopped halfway, as by Ctrl-C."""
    model = FrugalSVCCV([1, 2], [1.0], **QUICK).fit(*table)
    for on_interrupt in ("raise", "return"):
        begun = stop_after(2, press_ctrl_c)
        fresh = clone(model).set_params(on_interrupt=on_interrupt)
        with pytest.raises(KeyboardInterrupt):
            fresh.fit(*table)
        assert len(begun) == 3
        assert not hasattr(fresh, "cv_results_")
        assert not hasattr(fresh, "coef_")
    # An earlier model still predicts, from its own columns.
    X, y = table
    labels = model.predict(X)
    begun.clear()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X.iloc[:, ::-1].iloc[:, :5], np.where(y == "yes", 7, 3))
    np.testing.assert_array_equal(model.predict(X), labels)


def check_only(model, table, budgets):
    """Only these budgets are finished in all folds, and the model is one of them."""
    X, y = table
    tried = model.path_.max_features
    done = np.isin(tried, budgets)
    np.testing.assert_array_equal(np.isfinite(model.path_.score_mean[0]), done)
    assert model.best_max_features_ in budgets
    assert 0 < model.get_support().sum() <= model.best_max_features_
    assert model.score(X, y) > 0.6
    assert np.isfinite(model.best_score_)
    assert 0 <= model.lower_bound_ <= model.objective_ * (1 + 1e-9)
    by_rank = np.argsort(model.cv_results_["rank_test_score"], kind="stable")
    assert model.cv_results_["param_max_features"][by_rank[0]] in budgets


def test_ctrl_c_keeps_the_best_of_what_all_folds_have(table, stop_after):
    options = {"max_features": [1, 2, 4], "cv": 3, **QUICK}
    for on_interrupt in ("raise", "return"):
        # Two budgets on three folds, and the third one on the first fold.
        stop_after(7, press_ctrl_c)
        model = FrugalSVCCV(on_interrupt=on_interrupt, **options)
        if on_interrupt == "raise":
            with pytest.raises(KeyboardInterrupt, match="is kept"):
                model.fit(*table)
        else:
            assert model.fit(*table) is model
        check_only(model, table, [1, 2])


def test_a_signal_between_two_cells(table):
    def press(progress):
        if progress.n_done == 7:
            signal.raise_signal(signal.SIGINT)

    model = FrugalSVCCV([1, 2, 4], cv=3, callback=press, **QUICK)
    with pytest.raises(KeyboardInterrupt, match="is kept"):
        model.fit(*table)
    check_only(model, table, [1, 2])
    assert model.status_ in ("interrupted", "optimal")


def test_ctrl_c_in_a_scorer(table):
    calls = []

    def scorer(model, X, y):
        calls.append(1)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return (model.predict(X) == y).mean()

    model = FrugalSVCCV(
        [1, 2, 4], [1.0], refit_C="same", cv=3, scoring=scorer, scale=True,
        on_interrupt="return", **QUICK,
    )  # fmt: skip
    check_only(model.fit(*table), table, [1, 2])


def test_ctrl_c_in_the_final_fit(table, monkeypatch):
    exchange, done = GridSearch.exchange, []

    def interrupted(self):
        done.append(1)
        if len(done) == 4:
            press_ctrl_c(self)
            self.was_interrupted = True
        return exchange(self)

    monkeypatch.setattr(GridSearch, "exchange", interrupted)
    model = FrugalSVCCV([1, 2], cv=3, **QUICK)
    with pytest.raises(KeyboardInterrupt, match="is kept"):
        model.fit(*table)
    check_only(model, table, [1, 2])


def test_a_time_limit_takes_what_all_folds_have(table, stop_after):
    options = {"max_features": [1, 2, 4], "cv": 3, **QUICK}
    with pytest.warns(ConvergenceWarning, match="1 of 3 pairs of budget and C"):
        model = FrugalSVCCV(time_limit=0, **options).fit(*table)
    check_only(model, table, [1])
    assert model.best_index_ < 9

    def time_is_up(search):
        search.stop.limit(0.0)

    stop_after(7, time_is_up)
    with pytest.warns(ConvergenceWarning, match="2 of 3 pairs.*Raise time_limit"):
        model = FrugalSVCCV(time_limit=1000, **options).fit(*table)
    check_only(model, table, [1, 2])


def test_a_time_limit_of_folds_that_run_one_by_one(table, monkeypatch):
    options = {"max_features": [1, 2], "cv": 3, **QUICK}
    with pytest.warns(ConvergenceWarning, match="1 of 2 pairs"):
        parallel = FrugalSVCCV(time_limit=0, n_jobs=2, **options).fit(*table)
    check_only(parallel, table, [1])
    # As if they were too large to be in memory together.
    monkeypatch.setattr(cells, "MOST_BYTES", 0)
    with pytest.warns(ConvergenceWarning, match="1 of 2 pairs"):
        large = FrugalSVCCV(time_limit=0, **options).fit(*table)
    check_only(large, table, [1])
    np.testing.assert_array_equal(
        large.cv_results_["split1_test_score"],
        parallel.cv_results_["split1_test_score"],
    )


def test_limits_that_are_not_reached_change_nothing(table):
    options = {"max_features": [1, 3], "cv": 3, **QUICK}
    free = FrugalSVCCV(**options).fit(*table)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = FrugalSVCCV(
            time_limit=1000, callback=lambda _: False, **options
        ).fit(*table)  # fmt: skip
    np.testing.assert_array_equal(model.coef_, free.coef_)
    for name, values in free.cv_results_.items():
        np.testing.assert_array_equal(model.cv_results_[name], values)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_callback_sees_every_cell(table, n_jobs):
    seen = []
    model = FrugalSVCCV(
        [1, 3], [0.1, 1.0], cv=3, callback=seen.append, n_jobs=n_jobs, **QUICK
    ).fit(*table)
    assert [one.n_done for one in seen] == list(range(1, 13))
    assert {one.n_total for one in seen} == {12}
    assert {(one.fold, one.max_features, one.C) for one in seen} == {
        (k, B, C) for k in range(3) for B in (1, 3) for C in (0.1, 1.0)
    }
    assert (np.diff([one.seconds for one in seen]) >= 0).all()
    assert seen[0].seconds_left > seen[-1].seconds_left == 0.0
    assert model.n_splits_ == 3
    if n_jobs is None:
        # All folds of a cell come before the next cell.
        assert [one.fold for one in seen] == [0, 1, 2] * 4
    # The best C of the weights; what cells exchange later may change it.
    scores = model.cv_results_["split0_test_score"][:5]
    assert seen[0].score == pytest.approx(scores.max())


def test_the_callback_may_stop(table):
    options = {"max_features": [1, 2, 4], "cv": 3, **QUICK}
    with warnings.catch_warnings():
        # It is the user's own will.
        warnings.simplefilter("error", ConvergenceWarning)
        model = FrugalSVCCV(callback=lambda one: one.n_done >= 7, **options)
        check_only(model.fit(*table), table, [1, 2])
        # The first cell is finished in all folds nevertheless.
        seen = []
        model = FrugalSVCCV(callback=lambda one: not seen.append(one), **options)
        check_only(model.fit(*table), table, [1])
    assert len(seen) == 3


def test_verbose_logs_a_line_per_cell_and_fold(table, caplog):
    with caplog.at_level(logging.INFO, "frugalsvm"):
        FrugalSVCCV([1, 2], cv=3, verbose=1, **QUICK).fit(*table)
    lines = [line for line in caplog.messages if "fold" in line]
    assert len(lines) == 6
    assert "fold 2 of 3" in lines[1]
    assert "budget 1" in lines[1]
    assert "score 0." in lines[1]
    assert lines[-1].endswith("(6 of 6, about 0s left)")
