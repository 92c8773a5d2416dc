"""FrugalSVCCV: the choice, the folds, and scikit-learn's conventions."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import frugalsvm.api.path
from frugalsvm import FrugalSVC, FrugalSVCCV
from frugalsvm.api.validation.grid import budgets_of

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
    return FrugalSVCCV([1, 2, 4], [0.01, 1.0], scale=True, **QUICK).fit(*table)


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
    options = {"max_features": [1, 3], "C": [1.0], "scale": True, "cv": 3, **QUICK}
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
    model = FrugalSVCCV(cv=2, scale=True, **QUICK).fit(X, y)
    np.testing.assert_array_equal(model.path_.max_features, [1, 2, 3, 4, 5, 6, 8])
    np.testing.assert_allclose(model.path_.C, 10.0 ** np.arange(-3, 2))
    np.testing.assert_array_equal(budgets_of("auto", 100, 7), [8, 10, 12, 15, 20])
    np.testing.assert_array_equal(budgets_of("auto", 100, 30), [30])


def test_an_interrupted_fold_leaves_nothing(table, monkeypatch):
    """The third search is stopped halfway, as by Ctrl-C."""
    begun = []
    search = frugalsvm.api.path._search

    def interrupted(*arguments):
        begun.append(arguments)
        if len(begun) == 3:
            arguments[-1].interrupt()
        return search(*arguments)

    model = FrugalSVCCV([1, 2], [1.0], scale=True, **QUICK)
    model.fit(*table)
    monkeypatch.setattr(frugalsvm.api.path, "_search", interrupted)
    fresh = clone(model)
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
    monkeypatch.setattr(frugalsvm.api.path, "_search", lambda *_: begun.append(1))
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

    model = FrugalSVCCV([1], [1.0], scoring=moody, scale=True, **QUICK)
    assert model.fit(*table).best_score_ > 0.5
    assert len(calls) == 6
