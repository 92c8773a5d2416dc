"""Estimators with more than two classes: one against the rest on shared features."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold

from frugalsvm import (
    ConstantModelWarning,
    FrugalSVC,
    FrugalSVCCV,
    NeverPredictedWarning,
    Problem,
    frugal_path,
    near_optimal,
    solve,
    stability_selection,
    verify,
)
from tests.classes import one_against_rest
from tests.reference import brute_force

NAMES = np.array(["setosa", "alba", "nigra"])
# Their order, and so that of the rows of coef_.
SORTED = ["alba", "nigra", "setosa"]
COLUMNS = [f"x{j}" for j in range(7)]


@pytest.fixture(scope="module")
def data():
    """Three classes told apart by the features 1 and 4."""
    rng = np.random.default_rng(6)
    codes = rng.integers(3, size=75)
    X = rng.normal(size=(75, 7))
    X[:, 1] += 2.0 * (codes == 0) - 2.0 * (codes == 1)
    X[:, 4] += 2.0 * (codes == 2)
    return pd.DataFrame(X, columns=COLUMNS), NAMES[codes]


@pytest.fixture(scope="module")
def model(data):
    return FrugalSVC(2, 0.1, random_state=0).fit(*data)


def optimum_of(X, y, budget, C, **given):
    problem = Problem(X, one_against_rest(y), C=C, max_features=budget, **given)
    return brute_force(problem)


def same_model(one, other, atol=1e-5):
    np.testing.assert_array_equal(one.get_support(), other.get_support())
    np.testing.assert_allclose(one.coef_, other.coef_, atol=atol)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)


# --- what a model is ------------------------------------------------------------------


def test_a_model_has_a_row_for_each_class(data, model):
    X, y = data
    assert model.classes_.tolist() == SORTED
    assert model.coef_.shape == (3, 7)
    assert model.intercept_.shape == (3,)
    assert model.get_support(indices=True).tolist() == [1, 4]
    assert model.selected_groups_.tolist() == ["x1", "x4"]
    assert model.n_features_in_ == 7
    optimum, support = optimum_of(X, y, 2, 0.1)
    assert support.tolist() == [1, 4]
    assert model.objective_ == pytest.approx(optimum, rel=1e-4)
    assert model.lower_bound_ <= optimum * (1 + 1e-12)
    scores = model.decision_function(X)
    expected = X.to_numpy() @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(scores, expected, atol=1e-7)
    largest = np.array(SORTED)[scores.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X), largest)
    # Columns that are not used need not be there.
    np.testing.assert_array_equal(model.predict(X[["x4", "x1"]]), largest)
    assert model.score(X, y) == np.mean(largest == y) > 0.8
    assert model.transform(X).shape == (75, 2)
    result = model.result_
    np.testing.assert_array_equal(result.coef, model.coef_)
    np.testing.assert_array_equal(result.intercept, model.intercept_)
    assert str(result)


def test_numbers_as_labels_and_their_order(data, model):
    X, y = data
    codes = np.searchsorted(SORTED, y)
    # The second class comes first.
    labels = np.array([20, -3, 100])[codes]
    other = FrugalSVC(2, 0.1, random_state=0).fit(X, labels)
    assert other.classes_.tolist() == [-3, 20, 100]
    np.testing.assert_allclose(other.coef_, model.coef_[[1, 0, 2]], atol=1e-5)
    expected = np.array([20, -3, 100])[np.searchsorted(SORTED, model.predict(X))]
    np.testing.assert_array_equal(other.predict(X), expected)


@pytest.mark.parametrize(
    "form", [sparse.csr_matrix, sparse.csc_array, np.asfortranarray, np.float32]
)
def test_other_forms_of_data_give_the_same_model(data, form):
    X, y = data
    X = X.to_numpy().astype(np.float32).astype(float)
    same_model(
        FrugalSVC(2, 0.1, random_state=0).fit(form(X), y),
        FrugalSVC(2, 0.1, random_state=0).fit(X, y),
    )


def test_pickles_are_the_same_model(data, model):
    X, _ = data
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.decision_function(X), model.decision_function(X)
    )
    assert again.summary().equals(model.summary())
    assert again.summary().attrs == model.summary().attrs
    pages = [one._repr_html_().split("frugalsvm-report")[1] for one in (again, model)]
    assert pages[0] == pages[1]


def test_two_classes_are_a_problem_with_one_column_of_labels_bit_for_bit(data):
    X, y = data
    signs = np.where(y == "nigra", 1.0, -1.0)
    model = FrugalSVC(2, 0.1, random_state=0).fit(X, signs)
    result = solve(Problem(X, signs, C=0.1, max_features=2), random_state=0)
    np.testing.assert_array_equal(model.coef_, result.coef[None])
    np.testing.assert_array_equal(model.intercept_, [result.intercept])
    assert model.objective_ == result.objective
    assert model.lower_bound_ == result.lower_bound
    assert model.decision_function(X).shape == (75,)


# --- weights --------------------------------------------------------------------------


def test_a_sample_of_weight_two_is_two_samples_and_one_of_zero_is_none(data):
    X, y = data
    X = X.to_numpy()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = FrugalSVC(2, 0.1, random_state=0, gap_tol=1e-8)
    weighted.fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(len(y)), weights)
    repeated = FrugalSVC(2, 0.1, random_state=0, gap_tol=1e-8).fit(X[rows], y[rows])
    same_model(weighted, repeated, atol=1e-4)


@pytest.mark.parametrize("class_weight", ["balanced", {"alba": 0.5, "nigra": 3.0}])
def test_class_weights_multiply_the_weights_of_samples(data, class_weight):
    X, y = data
    kept = (y != "nigra") | (np.arange(len(y)) % 4 == 0)
    X, y = X[kept], y[kept]
    model = FrugalSVC(2, 0.1, class_weight=class_weight, random_state=0).fit(X, y)
    factors = class_weight
    if class_weight == "balanced":
        factors = {name: len(y) / (3 * np.sum(y == name)) for name in SORTED}
    weights = np.array([factors.get(name, 1.0) for name in y])
    same_model(
        model, FrugalSVC(2, 0.1, random_state=0).fit(X, y, sample_weight=weights)
    )
    optimum, _ = optimum_of(X, y, 2, 0.1, sample_weight=weights)
    assert model.objective_ == pytest.approx(optimum, rel=1e-4)


def test_a_class_without_weight_is_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="class"):
        FrugalSVC(2).fit(X, y, sample_weight=(y != "alba").astype(float))


def test_weights_with_a_C_of_their_own(data):
    X, y = data
    model = FrugalSVC(2, 0.02, refit_C=5.0, random_state=0, certificate=True).fit(X, y)
    support = model.get_support(indices=True)
    alone = [
        FrugalSVC(None, 5.0, random_state=0, gap_tol=1e-8).fit(
            X.iloc[:, support], np.where(y == name, 1, 0)
        )
        for name in SORTED
    ]
    expected = [one.coef_[0] for one in alone]
    np.testing.assert_allclose(model.coef_[:, support], expected, atol=1e-3)
    value = sum(one.objective_ for one in alone)
    assert model.refit_objective_ == pytest.approx(value, rel=1e-6)
    assert model.refit_lower_bound_ <= model.refit_objective_
    proved = verify(model.result_.certificate, X, y)
    assert proved.refit.objective == pytest.approx(value, rel=1e-6)
    assert proved.refit.lower_bound == pytest.approx(value, rel=1e-6)


# --- features -------------------------------------------------------------------------


def test_groups_costs_and_givens(data):
    X, y = data
    groups = {"pair": ["x0", "x4"], "rest": ["x2", "x3"]}
    model = FrugalSVC(2, 0.1, feature_groups=groups, random_state=0).fit(X, y)
    assert model.selected_groups_.tolist() == ["pair", "x1"]
    assert model.get_support(indices=True).tolist() == [0, 1, 4]
    optimum, _ = optimum_of(X, y, 2, 0.1, feature_groups=[0, 1, 2, 2, 0, 3, 4])
    assert model.objective_ == pytest.approx(optimum, rel=1e-4)
    costs = dict.fromkeys(COLUMNS, 1.0) | {"x1": 5.0}
    model = FrugalSVC(
        None, 1.0, feature_costs=costs, max_cost=2.0, include=["x6"], exclude=["x0"],
        random_state=0,
    ).fit(X, y)  # fmt: skip
    assert set(model.selected_groups_) == {"x4", "x6"}
    assert (model.coef_[:, [0, 1, 2, 3, 5]] == 0).all()


def test_signs_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="signs are for two classes, but y has 3"):
        FrugalSVC(2, signs={"x1": "+"}).fit(X, y)


@pytest.mark.parametrize("method", ["local-search", "kernel-search", "exact"])
def test_methods_of_the_paper_are_refused(data, method):
    with pytest.raises(ValueError, match="more than two classes"):
        FrugalSVC(2, method=method).fit(*data)


# --- classes that are never predicted -------------------------------------------------


def test_classes_that_are_never_predicted_are_named():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 5)), np.repeat(["a", "b", "c", "d"], [28, 28, 2, 2])
    X[:, 0] += 3.0 * (y == "a")
    with pytest.warns(NeverPredictedWarning) as caught:
        model = FrugalSVC(1, 0.1, random_state=0).fit(X, y)
    assert [one.filename for one in caught] == [__file__] * 2
    for one, name in zip(caught, "cd", strict=True):
        words = str(one.message)
        assert f"never predicts {name!r} for its 60 training samples" in words
        assert "2 of them are of that class" in words
        assert "class_weight='balanced'" in words
    assert set(model.predict(X)) == {"a", "b"}
    assert model.result_.never == (2, 3)
    for page in (model._repr_html_(), pickle.loads(pickle.dumps(model))._repr_html_()):
        assert "never predicts &#x27;c&#x27;" in page.split("frugalsvm-report")[1]


def test_a_model_of_all_classes_is_not_warned_of(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error", NeverPredictedWarning)
        warnings.simplefilter("error", ConstantModelWarning)
        model = FrugalSVC(2, 0.1, random_state=0).fit(*data)
    assert model.result_.never == ()
    assert "never predicts" not in model._repr_html_().split("frugalsvm-report")[1]


# --- tables ---------------------------------------------------------------------------


def test_summaries_have_a_column_for_each_class(data, model):
    frame = model.summary()
    assert set(frame.index) == {"x1", "x4"}
    weights = frame[[f"weight_{name}" for name in SORTED]].loc[["x1", "x4"]]
    np.testing.assert_array_equal(weights.to_numpy().T, model.coef_[:, [1, 4]])
    assert frame.attrs["intercept"] == model.intercept_.tolist()
    X = data[0][frame.index].to_numpy()
    lengths = np.sqrt((model.coef_[:, [1, 4]] ** 2).sum(axis=0))
    lengths = pd.Series(lengths, ["x1", "x4"])[frame.index].to_numpy()
    np.testing.assert_allclose(frame["standardised_weight"], lengths * X.std(axis=0))
    assert frame["variance_share"].sum() == pytest.approx(1.0)
    page = model._repr_html_().split("frugalsvm-report")[1]
    assert all(name in page for name in [*SORTED, "x1", "x4"])


# --- cross-validation, paths, lists, stability ----------------------------------------


def test_cross_validation_chooses_the_features_that_matter(data):
    X, y = data
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model = FrugalSVCCV([1, 2, 4], C=[0.05, 0.5], cv=cv, random_state=0).fit(X, y)
    assert model.coef_.shape == (3, 7)
    assert {"x1", "x4"} <= set(model.selected_groups_)
    assert model.best_max_features_ in (2, 4)
    assert balanced_accuracy_score(y, model.predict(X)) > 0.8
    # With a scorer of scikit-learn, which sees classifiers of three classes.
    scored = FrugalSVCCV(
        [1, 2], C=[0.5], refit_C="same", cv=cv, scoring="accuracy", scale=False,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    values = []
    for train, test in cv.split(X, y):
        one = FrugalSVC(2, 0.5, random_state=0).fit(X.iloc[train], y[train])
        values.append(one.score(X.iloc[test], y[test]))
    table = pd.DataFrame(scored.cv_results_)
    rows = table[table["param_max_features"] == 2]
    assert rows["mean_test_score"].iloc[0] == pytest.approx(np.mean(values), abs=1e-9)


def test_paths_take_a_column_of_labels_for_each_class(data, model):
    X, y = data
    path = frugal_path(
        X, one_against_rest(y), max_features=[1, 2], C=0.1, random_state=0
    )
    result = {budget: one for _, budget, one in path}[2]
    np.testing.assert_allclose(result.coef, model.coef_, atol=1e-5)


def test_lists_of_labels_are_those_of_the_problem(data, model):
    X, y = data
    options = {"max_features": 2, "C": 0.1, "tolerance": 0.2, "random_state": 0}
    found = near_optimal(X, y, **options, certificate=True)
    Y = one_against_rest(y)
    same = near_optimal(
        Problem(X, Y, C=0.1, max_features=2), tolerance=0.2, random_state=0
    )
    assert found.complete
    np.testing.assert_array_equal(found.objectives, same.objectives)
    assert found.objectives[0] == pytest.approx(model.objective_, rel=1e-4)
    assert found.intercepts.shape == (len(found.supports), 3)
    for support, coef in zip(found.supports, found.coefs, strict=True):
        assert coef.shape == (3, support.size)
    assert str(found)
    assert found._repr_html_()
    assert len(found.to_frame()) == len(found.supports)
    assert set(found.indispensable) <= {"x1", "x4"}
    threshold = verify(found.certificate, X, y).alternatives.threshold
    assert threshold >= found.objectives[0] * 1.2 * (1 - 1e-9)


def test_stable_features_are_those_that_matter(data):
    X, y = data
    model = FrugalSVC(2, 0.1, method="swap")
    found = stability_selection(model, X, y, n_pairs=2, random_state=0)
    assert found.masks.shape == (4, 7)
    assert sorted(found.stable(1.0)) == ["x1", "x4"]
