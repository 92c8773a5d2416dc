"""What FrugalSVCCV is scored by: scorers, metadata, rare classes, constant models."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics import get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVCCV
from frugalsvm.estimators.choice import Choice
from tests.estimators.conftest import QUICK


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
        return replace(found, cell=(0, 0), refit=refit)

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
def test_scorers_of_probabilities_are_rejected_before_any_work(table, scoring):
    begun = []
    model = FrugalSVCCV(
        [1], [1.0], scoring=scoring, scale=True, callback=begun.append, **QUICK
    )
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
