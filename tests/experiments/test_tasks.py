"""Tasks, compared with scikit-learn and enumeration."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from experiments.datasets import DataSet, DatasetSource, scaled
from experiments.tasks import methods, selection, synthetic, validation


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 6)) * [1, 10, 1, 2, 1, 1] + 3
    y = np.where(X[:, 0] + X[:, 1] / 10 + 0.5 * rng.normal(size=50) > 3.3, 1.0, -1.0)
    return DataSet("made up", X, y)


def svm_objective(X, y, C):
    svm = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
    losses = np.maximum(0, 1 - y * svm.decision_function(X))
    return 0.5 * (svm.coef_**2).sum() + C * losses.sum()


def test_programs_and_methods_find_the_best_of_all_pairs(data):
    X = scaled(data.X)
    best = min(svm_objective(X[:, p], data.y, 1.0) for p in combinations(range(6), 2))
    start = methods.method(data, limit=20, method="swap", effort="fast", B=2, C=1.0)
    tree = methods.method(data, limit=20, method="branch-and-bound", B=2, C=1.0)
    assert tree["objective"] == pytest.approx(best, rel=1e-4)
    assert not tree["capped"]
    for model in ("BigMP", "CoP", "CoP*"):
        needs = None if model == "CoP" else [start]
        values = methods.program(data, limit=20, model=model, B=2, C=1.0, needs=needs)
        assert values["objective"] == pytest.approx(best, rel=1e-4)
        assert values["gap"] <= 2e-4
        if model != "CoP*":
            root = methods.root_bound(
                data, limit=20, model=model, B=2, C=1.0, needs=needs
            )
            assert root["bound"] <= best * (1 + 1e-4)


def test_a_program_out_of_time_is_capped(data):
    values = methods.program(data, limit=1e-3, model="CoP", B=2, C=1.0)
    assert values["capped"]
    assert values["gap"] == 1.0


@pytest.mark.parametrize("model", ["l2", "l1", "l2 KS", "l1 KS", "auto", "fast"])
def test_a_fold_without_a_budget_is_the_plain_svm(data, model):
    X, y, X_test, y_test = validation.fold_parts(data, 1, 5)
    values = validation.fold(data, limit=20, model=model, B=6, C=1.0, fold=1, folds=5)
    assert len(y_test) == 10
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    plain = SVC(kernel="linear", C=1.0).fit(X, y).score(X_test, y_test)
    # The l1 norm has another solution, not far away.
    assert abs(values["accuracy"] - 100 * plain) <= (10.1 if "l1" in model else 1e-9)


def test_splits_are_seeded_and_stratified(data):
    first, again, other = (validation.split_parts(data, s, 0.2) for s in (0, 0, 1))
    np.testing.assert_array_equal(first[0], again[0])
    assert not np.array_equal(first[0], other[0])
    assert len(first[3]) == 10


def test_the_papers_choice_of_alpha():
    def model(features, train):
        return {"features": features, "train": train}

    models = [model(0, 99), model(2, 80), model(4, 85), model(5, 85), model(9, 95)]
    assert validation.papers_choice(models, 5)["features"] == 4
    assert validation.papers_choice(models[:1] + models[4:], 5)["features"] == 9
    assert validation.papers_choice(models[:1], 5) is None


def test_the_elastic_net_on_a_split(data):
    values = validation.split_en(data, limit=60, B=2, C=10.0, seed=0, test_size=0.2)
    assert values["tried"] == 11
    assert values["alpha"] in validation.ALPHAS
    assert 0 < values["features"] <= 2
    assert values["train"] > 60
    fs = validation.split_fs(data, limit=60, B=2, C=10.0, seed=0, test_size=0.2)
    assert fs["features"] == 2
    short = validation.split_en(data, limit=1e-6, B=2, C=10.0, seed=0, test_size=0.2)
    assert short["capped"]
    assert short["tried"] == 1


@pytest.mark.parametrize("method", selection.installed_methods())
def test_a_peer_respects_its_budget_and_learns(data, method):
    values = selection.nested(
        data,
        limit=60,
        method=method,
        B=2,
        fold=0,
        folds=3,
        repeat=0,
        inner=2,
        Cs=(0.1, 10.0),
    )
    assert len(values["support"]) <= 2
    assert {0, 1} >= set(values["support"])
    assert values["accuracy"] > 60
    assert values["C"] in (0.1, 10.0)
    assert not values["capped"]


def test_a_peer_out_of_time_has_tried_fewer_values(data):
    values = selection.nested(
        data,
        limit=1e-6,
        method="SelectKBest",
        B=2,
        fold=0,
        folds=3,
        repeat=0,
        inner=2,
        Cs=(0.1, 10.0),
    )
    assert values["capped"]
    assert values["C"] == 0.1


def test_without_features_the_majority_class_is_predicted():
    X = np.zeros((9, 2))
    y = np.array([1.0] * 6 + [-1.0] * 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(selection.SELECTORS, "RFE", lambda *_: np.empty(0, dtype=int))
        support, rule = selection.fitted("RFE", X, y, 1, 1.0)
    assert support.size == 0
    assert set(rule(X)) == {1.0}


def test_the_logistic_design():
    sample = synthetic.logistic_design(4000, 40, 4, 0.6, 0)
    correlation = np.corrcoef(sample.X.T)
    assert correlation[5, 6] == pytest.approx(0.6, abs=0.05)
    assert correlation[5, 7] == pytest.approx(0.36, abs=0.06)
    np.testing.assert_array_equal(sample.support, [0, 10, 20, 30])
    fitted = LogisticRegression(C=1e3).fit(sample.X[:, sample.support], sample.y)
    np.testing.assert_allclose(fitted.coef_[0], 1.0, atol=0.25)


def test_the_hinge_design():
    sample = synthetic.hinge_design(2000, 50, 5, 0.3, 1)
    np.testing.assert_allclose((sample.X**2).mean(axis=0), 1.0)
    # Neighbours share rho of one of them: 0.3 / (1 + 0.09), but for the first.
    assert np.corrcoef(sample.X[:, 8:10].T)[0, 1] == pytest.approx(0.3 / 1.09, abs=0.06)
    # Without noise, the true features separate the classes.
    plain = SVC(kernel="linear", C=1e4).fit(sample.X[:, sample.support], sample.y)
    assert plain.score(sample.X[:, sample.support], sample.y) > 0.995


@pytest.mark.parametrize("method", ["auto", "L1 LinearSVC"])
def test_recovery_is_counted(method):
    values = synthetic.design(
        None,
        limit=30,
        kind="hinge",
        m=300,
        n=20,
        k=3,
        rho=0.3,
        seed=0,
        C=10.0,
        method=method,
    )
    assert values["recovered"] == pytest.approx(100.0)
    assert values["objective"] == pytest.approx(values["true objective"], rel=1e-5)


def test_facts_list_differences(folder):
    values = methods.facts(DatasetSource(str(folder)).load("wdbc"))
    assert (values["m"], values["n"], values["constant"]) == (40, 5, 0)
    assert "shape" in values["differences"]
