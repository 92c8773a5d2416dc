"""Feature groups and signs on estimators, paths and lists of alternatives."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from frugalsvm import (
    FrugalSVC,
    FrugalSVCCV,
    Problem,
    encoded_groups,
    frugal_path,
    near_optimal,
    solve,
)

NAMES = ["age", "red", "green", "blue", "size", "small", "large", "height"]
GROUPS = {"colour": ["red", "green", "blue"], "fit": ["small", "large"]}
FEATURES = ["age", "colour", "size", "fit", "height"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(80, 8)), columns=NAMES)
    score = X["red"] - X["blue"] + 1.5 * X["age"] + 0.3 * X["large"] + 0.3 * X["size"]
    return X, np.where(score + rng.normal(size=80) > 0, "yes", "no")


def best_by_enumeration(X, y, budget, C, signs=None):
    """Objective and groups of the best model, one SVM for each choice of groups."""
    members = {name: GROUPS.get(name, [name]) for name in FEATURES}
    found = {}
    for chosen in combinations(FEATURES, budget):
        columns = [name for one in chosen for name in members[one]]
        own = {k: v for k, v in (signs or {}).items() if k in columns}
        problem = Problem(
            X[columns], np.where(y == "yes", 1.0, -1.0), C=C,
            signs=[{"+": 1, "-": -1}.get(own.get(name), 0) for name in columns],
        )  # fmt: skip
        found[chosen] = solve(problem, random_state=0).objective
    best = min(found, key=found.get)
    return found[best], best


@pytest.mark.parametrize("signs", [None, {"age": "-", "blue": "+", "large": "+"}])
@pytest.mark.parametrize("budget", [1, 2, 3])
def test_the_budget_counts_groups(data, budget, signs):
    X, y = data
    model = FrugalSVC(
        budget, 0.1, feature_groups=GROUPS, signs=signs, random_state=0
    ).fit(X, y)
    objective, best = best_by_enumeration(X, y, budget, 0.1, signs)
    assert model.status_ == "optimal"
    assert model.objective_ == pytest.approx(objective, rel=2e-4)
    assert model.lower_bound_ <= objective * (1 + 1e-9)
    assert set(model.selected_groups_) <= set(best)
    assert len(model.selected_groups_) <= budget
    columns = [
        name for one in model.selected_groups_ for name in GROUPS.get(one, [one])
    ]
    assert sorted(X.columns[model.get_support()]) == sorted(columns)
    assert model.coef_.shape == (1, 8)
    assert model.n_features_in_ == 8
    assert not model.coef_[0][~model.get_support()].any()
    for name, sign in (signs or {}).items():
        weight = model.coef_[0, NAMES.index(name)]
        assert weight >= 0 if sign == "+" else weight <= 0
    # A group may have more columns than the budget.
    if budget == 1:
        assert list(model.selected_groups_) in (["colour"], ["age"])


def test_ways_to_say_the_same(data):
    X, y = data
    options = {"max_features": 2, "C": 0.1, "random_state": 0}
    first = FrugalSVC(**options, feature_groups=GROUPS, signs={"age": "+"}).fit(X, y)
    labels = [0, 1, 1, 1, 2, 3, 3, 4]
    signs = np.array([1, 0, 0, 0, 0, 0, 0, 0])
    second = FrugalSVC(**options, feature_groups=labels, signs=signs)
    second.fit(X.to_numpy(), y)
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert first.selected_groups_.tolist() == ["age", "colour"]
    assert second.selected_groups_.tolist() == [0, 1]
    y_signs = np.where(y == "yes", 1.0, -1.0)
    problem = Problem(
        X, y_signs, C=0.1, max_features=2, feature_groups=labels, signs=signs
    )
    result = solve(problem, random_state=0)
    np.testing.assert_array_equal(result.coef, first.coef_[0])
    np.testing.assert_array_equal(result.selected, [0, 1])
    np.testing.assert_array_equal(result.selected_columns, [0, 1, 2, 3])


def test_constraints_are_about_groups(data):
    X, y = data
    options = {"C": 0.1, "feature_groups": GROUPS, "random_state": 0}
    model = FrugalSVC(2, include=["fit"], exclude=["colour"], **options).fit(X, y)
    assert model.selected_groups_.tolist() == ["age", "fit"]
    assert model.get_support(indices=True).tolist() == [0, 5, 6]
    costs = {"age": 1.0, "colour": 10.0, "size": 1.0, "fit": 2.0, "height": 1.0}
    model = FrugalSVC(None, feature_costs=costs, max_cost=3.0, **options).fit(X, y)
    assert sum(costs[name] for name in model.selected_groups_) <= 3.0
    start = FrugalSVC(2, initial_support=["colour", "height"], **options).fit(X, y)
    assert start.selected_groups_.tolist() == ["age", "colour"]
    with pytest.raises(ValueError, match="one of the 3 columns of the group 'colour'"):
        FrugalSVC(2, include=["red"], **options).fit(X, y)
    with pytest.raises(
        ValueError, match="include has 2 features but max_features is 1"
    ):
        FrugalSVC(1, include=["colour", "fit"], **options).fit(X, y)


def test_groups_that_are_included_are_in_the_support_as_a_whole(data):
    X, y = data
    X = X.assign(small=0.0)
    model = FrugalSVC(
        2, 0.1, include=["fit"], feature_groups=GROUPS, random_state=0
    ).fit(X, y)
    assert model.get_support()[[5, 6]].all()
    assert "fit" in model.selected_groups_


def test_without_groups_selected_groups_are_columns(data):
    X, y = data
    model = FrugalSVC(2, 0.1, random_state=0).fit(X, y)
    assert model.selected_groups_.tolist() == list(X.columns[model.get_support()])
    model = FrugalSVC(2, 0.1, random_state=0).fit(X.to_numpy(), y)
    np.testing.assert_array_equal(
        model.selected_groups_, model.get_support(indices=True)
    )


def test_weights_with_a_C_of_their_own_keep_groups_and_signs(data):
    X, y = data
    model = FrugalSVC(
        2, 0.05, refit_C=3.0, feature_groups=GROUPS, signs={"red": "-"}, random_state=0
    ).fit(X, y)
    assert len(model.selected_groups_) <= 2
    assert model.coef_[0, 1] <= 0
    assert model.refit_lower_bound_ <= model.refit_objective_ * (1 + 1e-12)


def test_signs_that_forbid_everything_leave_a_constant(data):
    X, y = data
    truth = np.where(y == "yes", 1.0, -1.0)
    wrong = -np.sign([np.corrcoef(X[name], truth)[0, 1] for name in NAMES])
    with pytest.warns(UserWarning, match="constant model"):
        model = FrugalSVC(3, 1e-4, signs=wrong, random_state=0).fit(X, y)
    assert not model.coef_.any()
    assert model.selected_groups_.size == 0


def test_clones_pickles_and_a_second_fit(data):
    X, y = data
    model = FrugalSVC(2, 0.1, feature_groups=GROUPS, random_state=0)
    assert clone(model).get_params()["feature_groups"] == GROUPS
    fitted = pickle.loads(pickle.dumps(model.fit(X, y)))
    assert fitted.selected_groups_.tolist() == ["age", "colour"]
    assert list(fitted.set_output(transform="pandas").transform(X)) == NAMES[:4]
    fitted.set_params(feature_groups=None).fit(X, y)
    assert fitted.get_support().sum() == 2


def test_summaries_show_all_columns_of_a_group(data):
    X, y = data
    model = FrugalSVC(2, 0.1, feature_groups=GROUPS, random_state=0).fit(X, y)
    summary = model.summary()
    assert set(summary.index) == {"age", "red", "green", "blue"}
    assert summary.loc["red", "group"] == "colour"
    assert summary.loc["age", "group"] == "age"
    assert "2 of 5 features" in model._repr_html_()
    assert "group" not in FrugalSVC(2, 0.1).fit(X, y).summary()


def mixed():
    rng = np.random.default_rng(5)
    town = rng.choice(["north", "old_town", "east"], 150)
    X = pd.DataFrame({"age": rng.normal(size=150), "town": town})
    X["income"] = rng.normal(size=150)
    score = 2.0 * (town == "north") + X["income"] + 0.3 * rng.normal(size=150)
    return X, np.where(score > 1, 1, 0)


@pytest.mark.parametrize("scaled", [False, True])
def test_encoders_in_a_pipeline(scaled):
    X, y = mixed()
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["town"]), remainder="passthrough"
    )
    steps = [encoder, StandardScaler()] if scaled else [encoder]
    options = {"max_features": 2, "C": 0.3, "random_state": 0}
    auto = make_pipeline(*steps, FrugalSVC(**options, feature_groups="auto"))
    auto.set_output(transform="pandas").fit(X, y)
    assert auto[-1].selected_groups_.tolist() == ["town", "remainder__income"]
    groups = encoded_groups(auto[:-1])
    assert groups == ["town", "town", "town", "age", "income"]
    given = FrugalSVC(**options, feature_groups=groups).fit(auto[:-1].transform(X), y)
    assert given.selected_groups_.tolist() == ["town", "income"]
    np.testing.assert_array_equal(given.coef_, auto[-1].coef_)


def test_a_choice_by_cross_validation_counts_groups(data):
    X, y = data
    model = FrugalSVCCV(
        [1, 2], [0.1], cv=3, feature_groups=GROUPS, signs={"height": "+"},
        include=["colour"], random_state=0,
    ).fit(X, y)  # fmt: skip
    assert "colour" in model.selected_groups_
    assert len(model.selected_groups_) <= model.best_max_features_
    frequency = dict(zip(NAMES, model.selection_frequency_, strict=True))
    assert frequency["red"] == frequency["green"] == frequency["blue"] == 1.0
    assert frequency["small"] == frequency["large"]
    scored = FrugalSVCCV(
        "auto", [0.1], cv=3, scoring="roc_auc", feature_groups=GROUPS, random_state=0
    ).fit(X, y)
    # Budgets go up to the number of groups.
    assert scored.cv_results_["param_max_features"].max() == 5


def test_paths_are_about_groups(data):
    X, y = data
    y = np.where(y == "yes", 1, -1)
    path = frugal_path(
        X, y, max_features=[1, 2, 3], C=0.1, feature_groups=GROUPS,
        signs={"age": "-"}, method="auto", random_state=0,
    )  # fmt: skip
    for t, budget in enumerate([1, 2, 3]):
        result = path.results[0][t]
        assert result.selected.size <= budget
        assert set(path.names_of(result)) <= set(FEATURES)
        assert result.coef[0] <= 0
        objective, _ = best_by_enumeration(
            X, np.where(y > 0, "yes", "no"), budget, 0.1, {"age": "-"}
        )
        assert path.objectives[0, t] == pytest.approx(objective, rel=1e-3)


def test_alternatives_are_choices_of_groups(data):
    X, y = data
    found = near_optimal(
        X, y, max_features=2, C=0.1, tolerance=0.3, feature_groups=GROUPS,
        signs={"blue": "-"},
    )  # fmt: skip
    assert found.complete
    objectives = {}
    for pair in combinations(FEATURES, 2):
        members = [name for one in pair for name in GROUPS.get(one, [one])]
        problem = Problem(
            X[members], np.where(y == "yes", 1.0, -1.0), C=0.1,
            signs=[-1 if name == "blue" else 0 for name in members],
        )  # fmt: skip
        objectives[pair] = solve(problem, random_state=0).objective
    limit = 1.3 * min(objectives.values())
    expected = {pair for pair, value in objectives.items() if value <= limit}
    listed = {tuple(found.feature_names[j] for j in one) for one in found.supports}
    assert {tuple(sorted(one)) for one in listed} == {
        tuple(sorted(one)) for one in expected
    }
    for support, coef in zip(found.supports, found.coefs, strict=True):
        assert coef.size == found.problem.columns.of(support).size
    assert set(found.indispensable) <= set(FEATURES)
    assert "colour" in str(found)
