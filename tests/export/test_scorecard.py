"""Scorecards: integer points, thresholds, and the accuracy they lose."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

from frugalsvm import PortableModel
from frugalsvm.export import Feature, Group, Sigmoid
from frugalsvm.export.statistics import NONE, Ranges, Values
from tests.export.models import data, fitted
from tests.markup import EVIL, parsed


@pytest.fixture(scope="module")
def card():
    model = PortableModel.from_estimator(fitted(4), *data())
    return model.to_scorecard(*data(), points=30)


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
    assert card.evaluation.accuracy == pytest.approx(accuracy)
    assert card.evaluation.accuracy_loss == pytest.approx(own - accuracy)
    n_changed = (card.predict(X) != card.model.predict(X)).sum()
    assert card.evaluation.n_changed == n_changed
    assert "On the 120 rows of the table given:" in str(card)
    assert f"Accuracy {100 * accuracy:.1f} %" in str(card)


def test_the_threshold_is_that_of_the_model(card):
    """Totals stand for scores, and those that the model calls positive are so here."""
    totals = np.arange(card.min_points, card.max_points + 1)
    positive = card.model.are_positive(card.score(totals))
    np.testing.assert_array_equal(positive, totals >= card.threshold)
    X, _ = data()
    scores = card.model.decision_function(X)
    assert np.corrcoef(card.score(card.total(X)), scores)[0, 1] > 0.9
    assert card.score(card.total(X)).mean() == pytest.approx(scores.mean(), abs=0.1)
    assert card.evaluation.changed < 0.08
    assert card.constant is None


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
    assert card.evaluation.balanced_accuracy == pytest.approx(balanced)
    assert f"\nBalanced accuracy {100 * balanced:.1f} %, " in str(card)
    card = rare(weights=False)[0].to_scorecard(X, y)
    assert f"\nAccuracy {100 * card.evaluation.accuracy:.1f} %" in str(card)


def test_a_card_of_one_class_says_so_first():
    for limit, label in ((99.0, "good"), (-99.0, "bad")):
        model, X, y = rare(limit)
        card = model.to_scorecard(X, y)
        assert card.constant == label
        words = f"Constant card, of no use: it predicts {label} for all 600 rows"
        assert str(card).startswith(words)
        assert f"any total: {label}" in str(card)
        assert words in card._repr_html_()
        assert "So does the model" in str(card)
        card = model.with_statistics(X, y).to_scorecard()
        assert card.constant == label
        assert f"it predicts {label} whatever the points" in str(card)


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


# --- made from the model, evaluated on tables ---------------------------------------


def test_a_card_does_not_depend_on_the_table():
    """Ranges, points and cutoff are those of the model on rows of any kind."""
    model, X, y = rare()
    kept = model.with_statistics(X, y)
    card = kept.to_scorecard()
    other = X.iloc[:300] * 3 + 1
    there = kept.to_scorecard(other, y[:300])
    assert there.evaluation.n_samples == 300
    for name in ("ranges", "threshold", "offset", "unit", "calibration"):
        assert getattr(card, name) == getattr(there, name)
    learned = kept.to_scorecard(other, y[:300], recalibrate=True)
    assert learned.ranges == card.ranges
    assert learned.threshold == card.threshold
    assert learned.calibration != card.calibration
    chances = learned.predict_proba(other)[:, 1]
    assert chances.mean() == pytest.approx((y[:300] == "bad").mean(), abs=0.01)
    assert "Probabilities are learned from the table given." in str(learned)
    assert "from the training rows" in str(there)


def test_the_rows_on_which_card_and_model_differ_are_kept():
    model, X, y = rare()
    kept = model.with_statistics(X, y)
    card = kept.to_scorecard()
    n = int((card.predict(X) != model.predict(X)).sum())
    assert n > 0
    assert kept.statistics.changed == n
    words = f"card and model differ on {n} rows ({n / 6:.1f} %)"
    assert f"statistics of 600 training rows; {words}." in str(card)
    assert card.evaluation is None
    # What is not known is not said.
    other = str(kept.to_scorecard(points=10, bins=3))
    assert f"with 100 points and 6 ranges, {words}. With 10 and 3 that is not" in other
    assert f"differ on {n} rows" in str(kept.to_scorecard(X, y)).split("On the 600")[1]


def test_a_table_shows_observed_rates_beside_probabilities():
    model, X, y = rare()
    card = model.with_statistics(X, y).to_scorecard(X, y)
    total, bad, one = card.total(X), y == "bad", card.evaluation
    assert sum(band.n_samples for band in one.bands) == 600 == one.all.n_samples
    assert one.all.observed == pytest.approx(bad.mean())
    assert card.threshold in [band.first for band in one.bands]
    for band in one.bands:
        inside = (total >= band.first) & (total <= band.last)
        assert band.n_samples == inside.sum()
        assert band.observed == pytest.approx(bad[inside].mean())
        chances = card.probability(total[inside])
        assert band.probability == pytest.approx(chances.mean())
    words = one.rows()[0]
    assert words[0] in str(card)
    assert words[3] in card._repr_html_()


def test_a_cutoff_that_is_not_one_half_has_a_reason():
    model, X, y = rare()
    card = model.with_statistics(X, y).to_scorecard()
    chance = 100 * card.probability(card.threshold)
    assert chance < 30
    words = (
        f"'bad' is predicted from a probability of {chance:.1f} % on, not from one half"
    )
    assert f"{words}: errors of the two classes had weights in the fit (balanced)." in (
        str(card)
    )
    kept = rare(-0.8)[0].with_statistics(X, y)
    assert "the model has the threshold -0.8 for its score" in str(kept.to_scorecard())
    kept = rare(weights=False)[0].with_statistics(X, y)
    assert "predicts by its score, not by a probability" in str(kept.to_scorecard())
    calibrated = replace(kept, calibration=Sigmoid(-1.0, 0.2))
    card = calibrated.to_scorecard()
    assert "one half" not in str(card)
    assert (
        card.probability(card.threshold) > 0.5 >= card.probability(card.threshold - 1)
    )
    assert "by the calibration of the model" in str(card)


def test_a_model_without_statistics_needs_a_table():
    model, X, y = rare()
    with pytest.raises(
        ValueError, match="keeps no statistics of its training rows, so"
    ):
        model.to_scorecard()
    card = model.to_scorecard(X, y)
    assert "the 600 rows of the table given, as the model keeps no" in str(card)
    assert "rows of the table given, which it was made from:" in str(card)
    assert card.ranges == model.with_statistics(X, y).to_scorecard().ranges
    with pytest.raises(ValueError, match="needs both X and y, or neither"):
        model.to_scorecard(X)
    with pytest.raises(ValueError, match="recalibrate needs X and y"):
        model.to_scorecard(recalibrate=True)
    with pytest.raises(ValueError, match="at least 10 rows"):
        model.to_scorecard(X[25:34], y[25:34])


def test_imputed_numbers_are_in_the_mean_of_their_range():
    """Three of four rows have no value and are imputed: the offset counts them."""
    x = np.where(np.arange(400) % 4, np.nan, np.arange(400.0))
    columns = [{"name": "x", "kind": "number", "fill": 300.0}]
    preparation = json.dumps({"columns": columns, "features": ["x"]})
    feature = Feature("x", 0, 200.0, 100.0, 1.0)
    model = PortableModel(
        (feature,), 0.0, (0, 1), 1, metadata={"preparation": preparation}
    )
    X, y = pd.DataFrame({"x": x}), np.arange(400) % 2
    kept = model.with_statistics(X, y)
    assert kept.statistics.missing == (300,)
    assert sum(kept.statistics.features[0].counts) == 100
    card = kept.to_scorecard()
    mean = model.decision_function(X).mean()
    assert card.score(card.total(X)).mean() == pytest.approx(mean, abs=0.03)


def test_a_rare_category_has_points():
    """A value that too few rows have for a bin is still known to the model."""
    colour = np.array(["red", "blue"] * 100, dtype=object)
    colour[:3] = "grey"
    encoder = OneHotEncoder(handle_unknown="ignore")
    X, y = pd.DataFrame({"c": colour}), np.arange(200) // 4 % 2
    pipeline = make_pipeline(encoder, LinearSVC()).fit(X, y)
    model = PortableModel.from_estimator(pipeline, X, y)
    (grey,) = [k for k, name in enumerate(model.names) if name == "c=grey"]
    assert model.statistics.features[grey].counts == (200,)
    card = model.to_scorecard()
    (part,) = [one for one in card.ranges if one.name == "c=grey"]
    assert part.limits == (0.5,)
    assert part.words() == ["no", "yes"]
    step = (part.points[1] - part.points[0]) * card.unit
    assert step == pytest.approx(model.coef[0, grey], abs=card.unit)


def test_probabilities_that_fall_with_the_score_are_refused():
    model, X, y = rare()
    kept = replace(model.with_statistics(X, y), calibration=Sigmoid(1.0, 0.0))
    with pytest.raises(ValueError, match="fall with its score"):
        kept.to_scorecard()


def test_more_points_and_bins_lose_less_accuracy():
    model = PortableModel.from_estimator(fitted(4))
    coarse = model.to_scorecard(*data(), points=3, bins=2)
    fine = model.to_scorecard(*data(), points=10_000, bins=100)
    assert fine.evaluation.changed < coarse.evaluation.changed
    assert fine.evaluation.changed < 0.05


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
    assert card.ranges[0] == Ranges("a", "mg", (1.0, 2.0), (0, 2, 4))
    assert card.ranges[1].points == (0,)
    assert card.ranges[1].words() == ["any"]
    assert card.ranges[0].words() == ["below 1", "1 to below 2", "2 or more"]
    assert "a [mg]" in str(card)
    frame = card.to_frame()
    assert frame["points"].tolist() == [0, 2, 4, 0]


def test_many_points_take_no_longer():
    """There are as many thresholds to try as there are totals, whatever the points."""
    X, y = data()
    model = PortableModel.from_estimator(fitted())
    few, many = (model.to_scorecard(X, y, points=p) for p in (10**4, 10**12))
    assert many.threshold == pytest.approx(few.threshold * 10**8, rel=1e-2)
    assert many.evaluation == few.evaluation._replace(
        bands=many.evaluation.bands, all=many.evaluation.all
    )


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
