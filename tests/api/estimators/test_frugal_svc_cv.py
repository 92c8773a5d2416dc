"""FrugalSVCCV: the choice, the folds, and scikit-learn's conventions."""

import logging
import pickle
import signal
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from frugalsvm import FrugalSVC, FrugalSVCCV, verify
from frugalsvm.api.path import GridSearch
from frugalsvm.api.validation import cells
from frugalsvm.api.validation.choice import Choice
from frugalsvm.api.validation.grid import budgets_of, weights_of

QUICK = {"effort": "fast", "random_state": 0}


def expected_failures(estimator):
    """Before 1.7 the check draws the two classes of its two data sets differently."""
    name = "check_sample_weight_equivalence_on_dense_data"
    is_old = sklearn.__version__.startswith("1.6.")
    return {name: "mended in scikit-learn 1.7"} if is_old else {}


@parametrize_with_checks(
    [
        FrugalSVCCV([1, 2], [0.1, 1.0], **QUICK),
        FrugalSVCCV([2], [1.0], scale=True, refit_C=[0.1, 1.0], cv=3, **QUICK),
        FrugalSVCCV([1], [1.0], scale=False, refit_C="same", cv=3, **QUICK),
        FrugalSVCCV(),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(
        120, 8, n_informative=4, n_redundant=0, flip_y=0.05, random_state=3
    )
    # Columns of different size, so that scaling matters.
    X = pd.DataFrame(X * 10.0 ** np.arange(-2, 6), columns=list("abcdefgh"))
    return X, np.where(y == 1, "yes", "no")


@pytest.fixture(scope="module")
def fitted(table):
    return FrugalSVCCV(
        [1, 2, 4], [0.03, 1.0], refit_C="same", scoring="accuracy", **QUICK
    ).fit(*table)


def test_folds_agree_with_pipelines_fitted_fold_by_fold(fitted, table):
    X, y = table
    splits = list(StratifiedKFold(5).split(X, y))
    results = fitted.cv_results_
    for t, params in enumerate(results["params"]):
        for k, (train, test) in enumerate(splits):
            model = make_pipeline(StandardScaler(), FrugalSVC(**params, **QUICK))
            model.fit(X.iloc[train], y[train])
            expected = model[-1].objective_
            assert results[f"split{k}_objective"][t] <= expected * 1.001
            if results[f"split{k}_objective"][t] >= expected * (1 - 1e-5):
                score = model.score(X.iloc[test], y[test])
                assert results[f"split{k}_test_score"][t] == pytest.approx(score)


def test_results_match_the_splits(fitted):
    results = fitted.cv_results_
    scores = np.array([results[f"split{k}_test_score"] for k in range(5)])
    np.testing.assert_allclose(results["mean_test_score"], scores.mean(axis=0))
    np.testing.assert_allclose(
        results["se_test_score"], scores.std(axis=0, ddof=1) / np.sqrt(5)
    )
    assert fitted.n_splits_ == 5
    best = results["params"][fitted.best_index_]
    assert best == {"max_features": fitted.best_max_features_, "C": fitted.best_C_}
    assert results["mean_test_score"][fitted.best_index_] == fitted.best_score_
    rank = results["rank_test_score"]
    assert rank[np.argmax(results["mean_test_score"])] == rank.min() == 1


def test_the_scaler_is_folded_back(fitted, table):
    X, y = table
    scaled = StandardScaler().fit_transform(X)
    alone = FrugalSVC(fitted.best_max_features_, fitted.best_C_, **QUICK)
    alone.fit(scaled, y)
    assert fitted.objective_ == pytest.approx(alone.objective_, rel=1e-6)
    np.testing.assert_allclose(
        fitted.decision_function(X), alone.decision_function(scaled), atol=1e-4
    )
    assert fitted.lower_bound_ <= alone.objective_ * (1 + 1e-9)


def test_the_path_is_that_of_all_data(fitted):
    path = fitted.path_
    assert path.objectives.shape == (2, 3)
    assert (np.diff(path.objectives, axis=1) <= 1e-7).all()
    assert (path.lower_bounds <= path.objectives * (1 + 1e-9)).all()
    i, j = path.best
    assert path.C[i] == fitted.best_C_
    assert path.max_features[j] == fitted.best_max_features_
    assert path.objectives[i, j] <= fitted.objective_
    assert path.lower_bounds[i, j] >= fitted.lower_bound_
    assert path.score_mean[i, j] == fitted.best_score_
    frame = path.to_frame()
    assert len(frame) == 6
    assert frame["is_best"].sum() == 1
    header, *lines = str(path).splitlines()
    assert "score" in header
    assert [line.endswith("*") for line in lines] == frame["is_best"].tolist()


def test_the_path_has_a_short_repr(fitted):
    text = repr(fitted.path_)
    assert text.startswith("ScoredPath(2 C, 3 budgets, best C=")


def test_selection_frequency_counts_folds(fitted):
    frequency = fitted.selection_frequency_
    assert frequency.shape == (8,)
    assert frequency.sum() <= fitted.best_max_features_ + 1e-9
    np.testing.assert_allclose(frequency * 5, np.round(frequency * 5))


def test_two_C(table):
    X, y = table
    model = FrugalSVCCV([2], [0.01, 1.0], scale=True, refit_C=[0.1, 10.0], **QUICK)
    model.fit(X, y)
    assert len(model.cv_results_["params"]) == 4
    assert model.best_refit_C_ in (0.1, 10.0)
    assert model.best_C_ in (0.01, 1.0)
    assert "refit C" in str(model.path_)
    chosen = model.get_support()
    # The weights are those of the SVM on the selected features with the other C.
    scaled = StandardScaler().fit_transform(X)
    alone = FrugalSVC(None, model.best_refit_C_).fit(scaled[:, chosen], y)
    np.testing.assert_allclose(
        model.decision_function(X),
        alone.decision_function(scaled[:, chosen]),
        atol=1e-4,
    )
    assert model.objective_ == model.result_.objective


def test_scoring_by_name_and_by_function(table):
    X, y = table
    options = {"max_features": [1, 3], "C": [1.0], "refit_C": "same", "cv": 3, **QUICK}
    named = FrugalSVCCV(scoring="roc_auc", **options).fit(X, y)
    calls = []

    def area(model, X, y):
        calls.append((list(X.columns), model.get_support().sum(), model.max_features))
        return roc_auc_score(y, model.decision_function(X))

    own = FrugalSVCCV(scoring=area, **options).fit(X, y)
    np.testing.assert_allclose(
        own.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"]
    )
    assert own.score(X, y) == get_scorer("roc_auc")(own, X, y)
    assert calls[0][0] == list("abcdefgh")
    assert {call[1] for call in calls} <= {1, 2, 3}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"scoring": ["accuracy", "roc_auc"]}, "scoring must be one score"),
        ({"scoring": {"a": "accuracy"}}, "scoring must be one score"),
        ({"scoring": lambda *_: {"a": 1.0}}, "one number"),
        ({"max_features": 3}, "max_features must be a list"),
        ({"max_features": [-1]}, "got -1"),
        ({"max_features": []}, "at least one budget"),
        ({"max_features": "all"}, "max_features must be a list"),
        ({"C": [0.0]}, "C must hold positive numbers, got 0.0"),
        ({"C": [None]}, "C must hold positive numbers, got None"),
        ({"C": 1.0}, "C must be a list"),
        ({"refit_C": "other"}, "refit_C must be"),
        ({"rule": "two-se"}, "rule must be"),
        ({"effort": "little"}, "effort must be"),
        ({"include": ["z"]}, "unknown feature 'z'"),
        ({"include": ["a", "b"], "max_features": [1, 2]}, "include has 2 features"),
        ({"cv": []}, "no split"),
    ],
)
def test_bad_parameters_are_explained(table, parameters, words):
    options = {"max_features": [1], "C": [1.0], "cv": 3, **QUICK}
    with pytest.raises(ValueError, match=words):
        FrugalSVCCV(**(options | parameters)).fit(*table)


def test_costs_and_names_are_passed_on(table):
    X, y = table
    costs = pd.Series(dict.fromkeys("hgfedcba", 1.0)) + pd.Series({"a": 4.0}).reindex(
        list("abcdefgh"), fill_value=0.0
    )
    model = FrugalSVCCV(
        [3], [1.0], scale=True, include=["b"], exclude=["c"], feature_costs=costs,
        max_cost=3.0, cv=3, **QUICK,
    ).fit(X, y)  # fmt: skip
    chosen = set(model.get_feature_names_out())
    assert "b" in chosen
    assert not chosen & {"a", "c"}
    np.testing.assert_array_equal(model.selection_frequency_[[0, 1, 2]], [0, 1, 0])
    used = list(X.columns[np.flatnonzero(model.coef_[0])])
    np.testing.assert_array_equal(model.predict(X[used]), model.predict(X))


def test_groups_stay_together(table):
    X, y = table
    groups = np.arange(120) // 10
    options = {"max_features": [2], "C": [1.0], "scale": True, **QUICK}
    by_group = FrugalSVCCV(cv=GroupKFold(3), **options).fit(X, y, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    given = FrugalSVCCV(cv=splits, **options).fit(X, y)
    np.testing.assert_array_equal(
        by_group.cv_results_["mean_test_score"], given.cv_results_["mean_test_score"]
    )
    with pytest.raises(TypeError, match="fit got 'age'"):
        FrugalSVCCV(**options).fit(X, y, age=groups)


def test_metadata_are_routed(table):
    X, y = table
    weights = np.random.default_rng(0).integers(1, 4, 120).astype(float)
    groups = np.arange(120) // 10
    options = {"max_features": [2], "C": [1.0], "scale": True, **QUICK}
    seen = []

    def weighted(y, scores, sample_weight=None):
        seen.append(sample_weight)
        return roc_auc_score(y, scores, sample_weight=sample_weight)

    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(weighted, response_method="decision_function")
        scorer.set_score_request(sample_weight=True)
        model = FrugalSVCCV(cv=GroupKFold(3), scoring=scorer, **options)
        model.set_fit_request(sample_weight=True)
        model.fit(X, y, sample_weight=weights, groups=groups)
        assert all(some is not None for some in seen)
        # Through a pipeline, too.
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, clone(model))
        pipeline.fit(X, y, sample_weight=weights, groups=groups)
        plain = FrugalSVCCV(cv=GroupKFold(3), **options)
        plain.fit(X, y, sample_weight=weights, groups=groups)
    without = FrugalSVCCV(cv=GroupKFold(3), **options)
    without.fit(X, y, sample_weight=weights, groups=groups)
    assert plain.best_score_ == without.best_score_


def test_the_number_of_folds_is_reduced_to_the_rarer_class(table):
    X, y = table
    rows = np.r_[np.flatnonzero(y == "yes")[:3], np.flatnonzero(y == "no")[:20]]
    model = FrugalSVCCV([1], [1.0], scale=True, **QUICK)
    with pytest.warns(UserWarning, match="using 3 folds"):
        model.fit(X.iloc[rows], y[rows])
    assert model.n_splits_ == 3
    sorted_ = np.argsort(y)
    with pytest.raises(ValueError, match="fold 0 has samples of one class"):
        clone(model).set_params(cv=KFold(2)).fit(X.iloc[sorted_], y[sorted_])


def test_processes_give_the_same(table, fitted):
    again = clone(fitted).set_params(n_jobs=2).fit(*table)
    for name in ("mean_test_score", "split3_objective"):
        np.testing.assert_array_equal(again.cv_results_[name], fitted.cv_results_[name])
    np.testing.assert_allclose(again.coef_, fitted.coef_)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(table[0]), fitted.predict(table[0]))


def test_auto_grids(table):
    X, y = table
    model = FrugalSVCCV(cv=2, **QUICK).fit(X, y)
    np.testing.assert_array_equal(model.path_.max_features, [1, 2, 3, 4, 5, 6, 8])
    np.testing.assert_array_equal(model.path_.C, [0.03])
    refit = np.unique(model.cv_results_["param_refit_C"])
    np.testing.assert_allclose(refit[[0, -1]], [0.003, 30.0])
    assert refit.size == 9
    assert model.best_refit_C_ in refit
    # One C that does both is chosen from a grid.
    weights, refit = weights_of("auto", "same")
    np.testing.assert_allclose(weights, 10.0 ** np.arange(-3, 2))
    assert refit is None
    np.testing.assert_array_equal(budgets_of("auto", 100, 7), [8, 10, 12, 15, 20])
    np.testing.assert_array_equal(budgets_of("auto", 100, 30), [30])


def stopped_after(n_steps, how):
    """``GridSearch.begin`` that does something to the search after some steps."""
    begun, begin = [], GridSearch.begin

    def step(self, *arguments):
        begun.append(arguments)
        if len(begun) == n_steps + 1:
            how(self)
        return begin(self, *arguments)

    return begun, step


def press_ctrl_c(search):
    search.stop.interrupt()


def test_an_interrupt_before_any_cell_is_finished_leaves_nothing(table, monkeypatch):
    """The third search is stopped halfway, as by Ctrl-C."""
    model = FrugalSVCCV([1, 2], [1.0], **QUICK).fit(*table)
    for on_interrupt in ("raise", "return"):
        begun, step = stopped_after(2, press_ctrl_c)
        monkeypatch.setattr(GridSearch, "begin", step)
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


def test_ctrl_c_keeps_the_best_of_what_all_folds_have(table, monkeypatch):
    options = {"max_features": [1, 2, 4], "cv": 3, **QUICK}
    for on_interrupt in ("raise", "return"):
        # Two budgets on three folds, and the third one on the first fold.
        _, step = stopped_after(7, press_ctrl_c)
        monkeypatch.setattr(GridSearch, "begin", step)
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


def test_a_time_limit_takes_what_all_folds_have(table, monkeypatch):
    options = {"max_features": [1, 2, 4], "cv": 3, **QUICK}
    with pytest.warns(ConvergenceWarning, match="1 of 3 pairs of budget and C"):
        model = FrugalSVCCV(time_limit=0, **options).fit(*table)
    check_only(model, table, [1])
    assert model.best_index_ < 9

    def time_is_up(search):
        search.stop.limit(0.0)

    _, step = stopped_after(7, time_is_up)
    monkeypatch.setattr(GridSearch, "begin", step)
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
    assert model.n_splits_ == 3
    if n_jobs is None:
        # All folds of a cell come before the next cell.
        assert [one.fold for one in seen] == [0, 1, 2] * 4
    # The best C of the weights; what cells exchange later may change it.
    scores = model.cv_results_["split0_test_score"][:9]
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
    assert lines[-1].endswith("(6 of 6)")


def test_the_certificate_of_the_final_fit(table):
    X, y = table
    model = FrugalSVCCV([2], [0.1], certificate=True, cv=3, **QUICK).fit(X, y)
    signs = np.where(y == "yes", 1.0, -1.0)
    # It takes the data as they were given, and standardises them.
    proof = verify(
        model.result_.certificate, X, signs, C=0.1, refit_C=model.best_refit_C_
    )
    assert proof.objective == pytest.approx(model.objective_)
    assert proof.refit.objective == pytest.approx(model.refit_objective_)
    assert proof.lower_bound == pytest.approx(model.lower_bound_, rel=1e-6)
    plain = FrugalSVCCV([2], [0.1], cv=3, **QUICK).fit(X, y)
    assert plain.result_.certificate is None


def test_the_method_of_the_final_fit(table):
    model = FrugalSVCCV([2], method="relax-and-round", cv=3, **QUICK).fit(*table)
    assert model.result_.method == "relax-and-round"
    with pytest.raises(ValueError, match="method must be one of"):
        FrugalSVCCV([2], method="other", **QUICK).fit(*table)


def test_an_initial_support_is_a_start_of_the_final_fit(table, monkeypatch):
    given = []
    run = GridSearch.run

    def watched(self, seeds=None):
        given.append(seeds)
        return run(self, seeds)

    monkeypatch.setattr(GridSearch, "run", watched)
    options = {"include": ["a"], "cv": 3, **QUICK}
    FrugalSVCCV([2, 3], initial_support=["g", "c"], **options).fit(*table)
    (seeds,) = given
    # Three folds, and the features that fit beside the included one.
    assert [len(some) for some in seeds.values()] == [4, 4]
    assert seeds[0, 0][-1].tolist() == [0, 6]
    assert seeds[0, 1][-1].tolist() == [0, 2, 6]
    with pytest.raises(ValueError, match="unknown feature 'z'"):
        FrugalSVCCV([2], initial_support=["z"], **options).fit(*table)


def test_dense_data_are_scaled_and_sparse_data_are_not(table):
    X, y = table
    options = {"max_features": [2], "cv": 3, **QUICK}
    auto, on = (
        FrugalSVCCV(scale=scale, **options).fit(X, y) for scale in ("auto", True)
    )
    np.testing.assert_array_equal(auto.coef_, on.coef_)
    sparse = csr_matrix(StandardScaler().fit_transform(X))
    auto, off = (
        FrugalSVCCV(scale=scale, **options).fit(sparse, y) for scale in ("auto", False)
    )
    np.testing.assert_array_equal(auto.coef_, off.coef_)
    assert get_tags(auto).input_tags.sparse
    on = FrugalSVCCV(scale=True, **options)
    assert not get_tags(on).input_tags.sparse
    with pytest.raises(ValueError, match="would make the sparse X dense"):
        on.fit(sparse, y)
    with pytest.raises(ValueError, match="scale must be True or False or 'auto'"):
        FrugalSVCCV(scale="yes", **options).fit(X, y)


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_the_defaults_choose_sensibly(unit):
    """Six of twelve features count, each one a little, in small units or in large ones.

    In the small ones, the powers of ten from 0.001 to 10 without a scaler are all too
    small: accuracies of one half, of which the rule of one standard error takes the
    first, 0.001 and one feature.
    """
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1200, 12))
    y = X[:, :6] @ [1, -1, 1, -1, 1, -1] + 1.5 * rng.normal(size=1200) > 0
    rest = np.arange(1200) >= 200
    good = FrugalSVC(6, 1.0, **QUICK).fit(X[~rest], y[~rest]).score(X[rest], y[rest])
    assert good > 0.8
    X = unit * X
    model = FrugalSVCCV(**QUICK).fit(X[~rest], y[~rest])
    assert model.score(X[rest], y[rest]) > good - 0.03
    assert model.best_max_features_ >= 4
    old = FrugalSVCCV(
        rule="one-se", scale=False, refit_C="same", scoring="accuracy", **QUICK
    ).fit(X[~rest], y[~rest])
    if unit < 1:
        assert old.best_max_features_ == 1
        assert old.score(X[rest], y[rest]) < 0.6


@pytest.fixture(scope="module")
def rare():
    """One in twenty is positive."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 6))
    score = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=600)
    return X, (score > np.quantile(score, 0.95)).astype(int)


@pytest.mark.parametrize("rule", ["one-se", "best"])
@pytest.mark.parametrize("scoring", [None, "accuracy", "roc_auc"])
def test_a_rare_class_is_not_overlooked(rare, rule, scoring):
    X, y = rare
    for refit_C in ("auto", "same"):
        model = FrugalSVCCV(
            [1, 2], rule=rule, scoring=scoring, refit_C=refit_C, **QUICK
        ).fit(X, y)
        assert np.unique(model.predict(X)).size == 2
        assert 0.01 < model.predict(X).mean() < 0.1


def test_a_final_model_that_is_constant_gives_way(rare, monkeypatch):
    """What no fold has shown is noticed at the end."""
    X, y = rare
    of, barred = Choice.of, []

    def blind(folds, rule, known=()):
        """Two features at the smallest C, unless that is known to be constant."""
        found = of(folds, rule, known)
        barred.append(set(known))
        if known:
            return found
        refit = found.refit.copy()
        refit[0, 0] = 0
        return replace(found, place=(0, 0), refit=refit)

    monkeypatch.setattr(Choice, "of", blind)
    model = FrugalSVCCV([1, 2], [0.001, 1.0], refit_C=[0.001, 1.0], **QUICK).fit(X, y)
    assert barred == [set(), {(0, 0, 0)}]
    assert np.unique(model.predict(X)).size == 2
    assert model.best_refit_C_ == 1.0
    best = model.cv_results_["params"][model.best_index_]
    assert best["refit_C"] == 1.0
    assert model.best_score_ == model.cv_results_["mean_test_score"][model.best_index_]


def test_noise_may_have_a_constant_model():
    """Nothing is better than chance, and so nothing is refused."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 10 == 0
    model = FrugalSVCCV([1], [0.001], refit_C="same", **QUICK).fit(X, y)
    assert np.unique(model.predict(X)).size == 1
    assert model.best_score_ == 0.5


def test_balanced_accuracy_chooses_and_accuracy_scores(rare):
    X, y = rare
    weights = np.random.default_rng(0).integers(1, 4, y.size).astype(float)
    options = {"max_features": [1, 2], "cv": 3, **QUICK}
    model = FrugalSVCCV(**options).fit(X, y)
    named = FrugalSVCCV(scoring="balanced_accuracy", **options).fit(X, y)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"]
    )
    assert model.score(X, y) == (model.predict(X) == y).mean()
    assert named.score(X, y) == get_scorer("balanced_accuracy")(named, X, y)
    model.fit(X, y, sample_weight=weights)
    named.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"]
    )


def test_the_summary_describes_the_data_as_given(fitted, table):
    X, _ = table
    summary = fitted.summary()
    features = fitted.get_support(indices=True)
    assert set(summary.index) == {str(X.columns[j]) for j in features}
    np.testing.assert_allclose(
        summary["standardised_weight"].to_numpy(),
        [
            fitted.coef_[0, X.columns.get_loc(name)] * X[name].std(ddof=0)
            for name in summary.index
        ],
    )


def test_scorers_without_weights(table):
    X, y = table
    scorer = make_scorer(lambda truth, labels: np.mean(truth == labels))
    model = FrugalSVCCV([1], [1.0], scoring=scorer, scale=True, **QUICK)
    assert model.fit(X, y, sample_weight=np.ones(len(y))).best_score_ > 0.5


def needs_probabilities(model, X, y):
    return model.predict_proba(X)[:, 1].mean()


@pytest.mark.parametrize(
    "scoring", ["neg_log_loss", "neg_brier_score", needs_probabilities]
)
def test_scorers_of_probabilities_are_rejected_before_any_work(
    table, monkeypatch, scoring
):
    begun = []
    monkeypatch.setattr(GridSearch, "begin", lambda *_: begun.append(1))
    model = FrugalSVCCV([1], [1.0], scoring=scoring, scale=True, **QUICK)
    with pytest.raises(ValueError, match=r"predict_proba.*CalibratedClassifierCV"):
        model.fit(*table)
    assert not begun


def test_the_trial_of_a_scorer_does_not_reject_others(table):
    """A trial model may have no score; fitted ones have one."""
    calls = []

    def moody(model, X, y):
        calls.append(model)
        if len(calls) == 1:
            raise ZeroDivisionError
        return model.score(X, y)

    model = FrugalSVCCV([1], [1.0], scoring=moody, refit_C="same", **QUICK)
    assert model.fit(*table).best_score_ > 0.5
    assert len(calls) == 6
