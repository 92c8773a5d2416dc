"""Scorecards: integer points, thresholds, and the accuracy they lose."""

import numpy as np
import pandas as pd
import pytest

from frugalsvm import PortableModel
from frugalsvm.output.portable import Feature, Group
from frugalsvm.output.portable.points import NONE, Ranges, Values
from frugalsvm.output.portable.scorecard import _limits, _threshold
from tests.output.portable.models import data, fitted
from tests.runtime.test_markup import EVIL, parsed


@pytest.fixture(scope="module")
def card():
    return PortableModel.from_estimator(fitted(4)).to_scorecard(*data(), points=30)


def test_points_are_small_integers_from_zero(card):
    for one in card.ranges:
        assert min(one.points) == 0
        assert all(isinstance(value, int) for value in one.points)
        assert len(one.points) == len(one.limits) + 1
        assert all(a != b for a, b in zip(one.points, one.points[1:], strict=False))
    assert abs(card.max_points - 30) <= 4


def test_points_follow_the_weights(card):
    """Points rise with a feature whose weight is positive, and fall otherwise."""
    signs = {one.name: np.sign(one.weight) for one in card.model.features}
    for one in card.ranges:
        assert (signs[one.name] * np.diff(one.points) > 0).all()


def test_totals_computed_by_hand(card):
    X, _ = data()
    row = X.iloc[[0]]
    by_hand = 0
    for one in card.ranges:
        value = row[one.name].iloc[0]
        by_hand += one.points[sum(value >= limit for limit in one.limits)]
    assert card.total(row)[0] == by_hand
    label = card.classes[by_hand >= card.threshold]
    assert card.predict(row)[0] == label
    assert card.predict_proba(row)[0, 1] == card.probability(by_hand)


def test_the_loss_is_counted(card):
    X, y = data()
    accuracy = (card.predict(X) == y).mean()
    own = (card.model.predict(X) == y).mean()
    assert card.accuracy == pytest.approx(accuracy)
    assert card.accuracy_loss == pytest.approx(own - accuracy)
    assert card.changed == pytest.approx(
        (card.predict(X) != card.model.predict(X)).mean()
    )
    assert f"{100 * accuracy:.1f} % on 120 samples" in str(card)


def test_the_threshold_is_the_one_most_like_the_model(card):
    X, _ = data()
    total, own = card.total(X), card.model.predict(X) == card.classes[1]
    best = min(((total >= t) != own).mean() for t in range(-1, 40))
    assert card.changed == pytest.approx(best)
    assert card.constant is None


def test_a_threshold_is_the_middle_of_equals():
    total, own = np.array([0, 4, 10, 20]), np.array([False, False, True, True])
    assert _threshold(total, own) == 7
    # More than 20 agrees with as many, but leaves all on one side.
    assert _threshold(total, np.array([False, False, True, False])) == 7
    assert _threshold(total, np.array([False, True, False, True])) == 15
    assert _threshold(total, np.zeros(4, bool)) == 21
    assert _threshold(total, ~np.zeros(4, bool)) == 0
    # Whatever the points say, there are rows on both sides.
    assert _threshold(total, np.array([True, False, False, False])) == 15
    assert _threshold(total, np.array([True, True, True, False])) == 2
    assert _threshold(np.full(4, 3), np.array([True, False, False, False])) == 4


def rare(threshold=None, weights=True):
    """A model that calls a third of the samples "bad", of which one in 30 is."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=600), "b": rng.normal(size=600)})
    bad = np.arange(600) % 30 == 0
    X.loc[bad, "a"] += 1.0
    features = (Feature("a", 0, 0.0, 1.0, 1.0), Feature("b", 1, 0.0, 1.0, 0.1))
    metadata = {"class weights": "balanced"} if weights else {}
    model = PortableModel(
        features, -0.5, ("good", "bad"), 2, metadata=metadata, threshold=threshold
    )
    return model, X, np.where(bad, "bad", "good")


@pytest.mark.parametrize("threshold", [None, -0.8, 0.7])
@pytest.mark.parametrize("points", [3, 100])
def test_a_card_decides_as_the_model_does(threshold, points):
    model, X, y = rare(threshold)
    card = model.to_scorecard(X, y, points=points, bins=10)
    own = (model.predict(X) == "bad").mean()
    if points == 100:
        assert (card.predict(X) == "bad").mean() == pytest.approx(own, abs=0.08)
    assert card.constant is None
    assert 0 < card.threshold <= card.max_points


def test_balanced_accuracy_is_shown_where_classes_have_weights():
    model, X, y = rare()
    card = model.to_scorecard(X, y)
    called, bad = card.predict(X) == "bad", y == "bad"
    balanced = (called[bad].mean() + (~called[~bad]).mean()) / 2
    assert card.balanced_accuracy == pytest.approx(balanced)
    assert f"balanced accuracy {100 * balanced:.1f} % on 600 samples" in str(card)
    card = rare(weights=False)[0].to_scorecard(X, y)
    assert f"\naccuracy {100 * card.accuracy:.1f} %" in str(card)


def test_a_card_of_one_class_says_so_first():
    for limit, label in ((99.0, "good"), (-99.0, "bad")):
        model, X, y = rare(limit)
        card = model.to_scorecard(X, y)
        assert card.constant == label
        words = f"Constant card, of no use: it predicts {label} for all 600 samples"
        assert str(card).startswith(words)
        assert f"any total: {label}" in str(card)
        assert words in card._repr_html_()
        assert "So does the model" in str(card)


def test_points_that_are_too_coarse_say_so():
    """One point for many features of small weights: each rounds to none."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 9)), columns=list("abcdefghi"))
    features = tuple(Feature(name, j, 0.0, 1.0, 1.0) for j, name in enumerate(X))
    model = PortableModel(features, 0.0, ("no", "yes"), 9)
    card = model.to_scorecard(X, rng.permutation(["no", "yes"] * 50), points=1)
    assert card.max_points == 0
    assert card.constant is not None
    assert "too coarse: try more points or bins" in str(card)


def test_more_points_and_bins_lose_less_accuracy():
    model = PortableModel.from_estimator(fitted(4))
    coarse = model.to_scorecard(*data(), points=3, bins=2)
    fine = model.to_scorecard(*data(), points=10_000, bins=100)
    assert fine.changed < coarse.changed
    assert fine.changed < 0.03


def test_probabilities_rise_with_points(card):
    chances = card.probability(np.arange(card.max_points + 1))
    assert (np.diff(chances) > 0).all()
    X, y = data()
    positive = y == card.classes[1]
    assert card.predict_proba(X)[:, 1].mean() == pytest.approx(
        positive.mean(), abs=0.02
    )


def test_few_values_have_a_range_each():
    X = pd.DataFrame({"a": [0, 0, 1, 1, 2, 2] * 5, "b": [5.0] * 30})
    y = np.array([0, 0, 0, 1, 1, 1] * 5)
    features = (Feature("a", 0, 0.0, 1.0, 2.0, "mg"), Feature("b", 1, 0.0, 1.0, 1.0))
    card = PortableModel(features, -7.0, (0, 1), 2).to_scorecard(X, y, points=4)
    assert card.ranges[0] == Ranges("a", "mg", (0.5, 1.5), (0, 2, 4))
    assert card.ranges[1].points == (0,)
    assert card.ranges[1].words() == ["any"]
    assert card.ranges[0].words() == ["below 0.5", "0.5 to below 1.5", "1.5 or more"]
    assert "a [mg]" in str(card)
    frame = card.to_frame()
    assert frame["points"].tolist() == [0, 2, 4, 0]


def test_limits_are_round_where_they_can_be():
    values = np.random.default_rng(0).normal(size=500)
    assert all(float(f"{limit:.3g}") == limit for limit in _limits(values, 5))
    far = 1e9 + values
    limits = _limits(far, 5)
    assert limits.size == 4
    counts = np.bincount(np.searchsorted(limits, far, side="right"))
    assert (counts > 50).all()
    # Most values are the same: no range is empty.
    heavy = np.r_[np.zeros(400), np.arange(1.0, 101.0)]
    place = np.searchsorted(_limits(heavy, 5), heavy, side="right")
    assert (np.bincount(place) > 0).all()


def test_a_value_that_most_samples_have_is_no_end():
    values = np.append(np.zeros(90), np.arange(10.0))
    np.testing.assert_array_equal(_limits(values, 5), [1.0])


def test_many_points_take_no_longer():
    """There are as many thresholds to try as there are totals, whatever the points."""
    X, y = data()
    model = PortableModel.from_estimator(fitted())
    few, many = (model.to_scorecard(X, y, points=p) for p in (10**4, 10**12))
    assert many.threshold == pytest.approx(few.threshold * 10**8, rel=1e-2)
    assert many.accuracy == few.accuracy


def test_words_never_round_a_limit():
    assert Ranges("a", None, (1.23456789,), (0, 1)).words()[0] == "below 1.23456789"


def test_pages_escape():
    X = pd.DataFrame({EVIL: [0.0, 1.0] * 10})
    model = PortableModel((Feature(EVIL, 0, 0.5, 1.0, 2.0, EVIL),), 0.0, ("a", EVIL), 1)
    page = parsed(model.to_scorecard(X, ["a", EVIL] * 10)._repr_html_())
    assert "script" not in page.tags
    assert EVIL in page.text


def test_bad_arguments(card):
    X, y = data()
    model = card.model
    with pytest.raises(ValueError, match="points must be an integer >= 1, got 0"):
        model.to_scorecard(X, y, points=0)
    with pytest.raises(ValueError, match=r"bins must be an integer >= 2, got 2\.5"):
        model.to_scorecard(X, y, bins=2.5)
    with pytest.raises(ValueError, match=r"each of the 120 samples, got shape \(3,\)"):
        model.to_scorecard(X, y[:3])
    with pytest.raises(ValueError, match="y has label 'what'"):
        model.to_scorecard(X, ["what", *y[1:]])
    with pytest.raises(ValueError, match="both classes"):
        model.to_scorecard(X, [y[0]] * 120)


def of_colours(signs=None):
    """A model of a number and a variable of three values, and samples of it."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "blue", "green"], 200)
    X = pd.DataFrame({f"c={k}": (colour == k) * 1.0 for k in ("blue", "green", "red")})
    X["size"] = rng.normal(size=200)
    weights = {"c=blue": 0.2, "c=green": -0.9, "c=red": 1.0, "size": 1.5}
    model = PortableModel(
        tuple(
            Feature(name, j, float(X[name].mean()), float(X[name].std()), weight)
            for j, (name, weight) in enumerate(weights.items())
        ),
        0.1, ("no", "yes"), 4,
        groups=(Group("c", ("c=blue", "c=green", "c=red")),), signs=signs or {},
    )  # fmt: skip
    noisy = model.decision_function(X) + 0.5 * rng.normal(size=200) > 0
    return model, X, np.where(noisy, "yes", "no")


def test_a_variable_has_points_for_its_values():
    model, X, y = of_colours()
    card = model.to_scorecard(X, y)
    values = next(one for one in card.ranges if isinstance(one, Values))
    assert len(card.ranges) == 2
    assert values.words() == ["blue", "green", "red", NONE]
    assert values.points[1] == 0
    assert min(values.points[:3]) == 0
    size = next(one for one in card.ranges if one.name == "size")
    unknown = X.iloc[:3].assign(**dict.fromkeys(values.features, 0.0))
    for rows in (X, unknown):
        place = np.argmax(
            np.column_stack([rows[list(values.features)], rows["size"] * 0 + 0.5]),
            axis=1,
        )
        by_hand = np.array(values.points)[place] + size.of(rows["size"].to_numpy())
        np.testing.assert_array_equal(card.total(rows), by_hand)
    # Points keep the differences of the model's scores.
    rows = X.iloc[:1]
    scores, totals = {}, {}
    for name in (*values.features, None):
        row = rows.assign(**dict.fromkeys(values.features, 0.0))
        if name is not None:
            row[name] = 1.0
        scores[name] = model.decision_function(row)[0]
        totals[name] = card.total(row)[0]
    per_point = np.polyfit(list(totals.values()), list(scores.values()), 1)[0]
    for name, score in scores.items():
        expected = (score - scores["c=green"]) / per_point
        assert totals[name] - totals["c=green"] == pytest.approx(expected, abs=1.1)
    assert "any other value" in str(card)
    assert card._repr_html_()


def test_values_keep_their_signs():
    """Weights inside a group that have signs are not moved."""
    model, X, y = of_colours({"c=red": "+"})
    card = model.to_scorecard(X, y)
    assert all(isinstance(one, Ranges) for one in card.ranges)
    assert len(card.ranges) == 4


def test_groups_of_numbers_have_ranges():
    model, X, y = of_colours()
    X = X + 0.25
    assert all(isinstance(one, Ranges) for one in model.to_scorecard(X, y).ranges)
