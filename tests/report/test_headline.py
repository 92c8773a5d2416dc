"""The headline: whole numbers that add up, and words that say what they mean."""

import numpy as np
import pytest

from frugalsvm.report import (
    CrossValidation,
    DataWarning,
    ErrorCosts,
    Score,
    ScoreThreshold,
    cross_validation_of,
    headline,
)
from frugalsvm.report.held_out import Tally

NAMES = headline.Names("'good'", "'bad'")


def found(confusion, *scores):
    return CrossValidation(np.array(confusion), scores, 5)


def said(confusion, *scores, threshold=None, is_weighted=False):
    return headline.quality(found(confusion, *scores), NAMES, threshold, is_weighted)


def test_what_is_caught_and_missed():
    text = said([[650, 120], [70, 160]])
    assert text[0] == (
        "Of 100 rows like these, 23 are 'bad': the model catches 16 of them and misses "
        "7. Of the 77 that are 'good', it calls 12 'bad' by mistake."
    )
    assert text[1] == (
        "Always saying 'good' would be right for 77 of 100; the model is right for 81."
    )
    assert text[-1].endswith("rows that the model had not seen (five folds).")


@pytest.mark.parametrize("seed", range(50))
def test_the_numbers_add_up(seed):
    random = np.random.default_rng(seed)
    confusion = random.integers(0, 10 ** random.integers(1, 5), size=(2, 2))
    confusion[0, 0] += 1
    (tally,) = Tally.of(confusion)
    scale = tally.n_rows / confusion.sum()
    parts = (tally.n_caught, tally.n_missed, tally.n_false)
    assert min(parts) >= 0
    assert tally.n_false <= tally.n_negative
    assert abs(tally.n_right - scale * confusion.trace()) <= 1.0
    assert abs(tally.n_missed - scale * confusion[1, 0]) <= 1.0
    assert abs(tally.n_false - scale * confusion[0, 1]) <= 1.5
    assert tally.n_right == tally.n_rows - tally.n_missed - tally.n_false
    assert tally.is_all == (tally.n_rows == confusion.sum())


def test_rare_classes_and_small_tables_have_other_numbers_of_rows():
    assert Tally.of(np.array([[9800, 100], [40, 60]]))[0].n_rows == 1000
    assert Tally.of(np.array([[99_900, 50], [20, 30]]))[0].n_rows == 10_000
    assert Tally.of(np.array([[390, 4], [3, 3]])) == (Tally(400, 6, 3, 4, True),)
    assert said([[20, 4], [3, 13]])[0].startswith("Of the 40 rows, 16 are 'bad'")
    assert "misses all of them" in said([[90, 0], [10, 0]])[0]
    assert "it calls none 'bad' by mistake" in said([[90, 0], [10, 0]])[0]


def test_all_and_none_are_said_only_where_it_is_so():
    text = said([[14_600, 0], [10, 855]])
    assert "misses 1." in text[0]
    assert "calls none 'bad'" in text[0]
    assert text[1].endswith("of 1,000; the model is right for 999.")
    random = np.random.default_rng(0)
    for _ in range(200):
        confusion = random.integers(0, 3, size=(2, 2)) * 10 ** random.integers(
            0, 6, size=(2, 2)
        )
        if not confusion.sum():
            continue
        text = said(confusion)
        assert ("catches all" in text[0]) <= (confusion[1, 0] == 0)
        assert ("misses all" in text[0]) <= (confusion[1, 1] == 0)
        assert ("calls none" in text[0]) <= (confusion[0, 1] == 0)


def test_a_threshold_is_compared_in_the_same_number_of_rows():
    zero = ScoreThreshold(0.5, None, None, np.array([[7_699, 1], [1_200, 1_100]]))
    text = said([[7_000, 700], [700, 1_600]], threshold=zero)
    assert text[0].startswith("Of the 10,000 rows")
    assert "would miss 1,200 and call 1 'bad' by mistake" in text[2]


def test_a_model_that_is_no_better_than_guessing_is_told_so():
    def score(name, mean, low):
        return Score(name, mean, 0.02, low, 2 * mean - low)

    confusion = [[70, 7], [10, 13]]
    assert "chance" in " ".join(said(confusion, score("accuracy", 0.83, 0.74)))
    assert "no better" in " ".join(said(confusion, score("accuracy", 0.7, 0.6)))
    clear = " ".join(said(confusion, score("accuracy", 0.83, 0.78)))
    assert "chance" not in clear
    assert "no better" not in clear
    balanced = score("balanced accuracy", 0.55, 0.45)
    weighted = " ".join(said([[50, 27], [3, 20]], balanced, is_weighted=True))
    assert "right less often because the classes have weights" in weighted
    assert "better than guessing cannot be told" in weighted


def test_a_threshold_by_costs():
    threshold = ScoreThreshold(
        -0.5, 0.2, ErrorCosts(1.0, 5.0), np.array([[72, 5], [11, 12]])
    )
    text = said([[65, 12], [7, 16]], threshold=threshold)[2]
    assert "called 'bad' if its score is above" in text
    assert "a probability of 0.2" in text
    assert "would miss 11 and call 5 'bad' by mistake" in text
    # 12 + 5 * 7 = 47, 5 + 5 * 11 = 60; always bad costs 77, always good 115.
    assert "cost 47, against 60 with a threshold of zero and 77 for always" in text
    assert text.endswith("always saying 'bad'.")


def test_serious_warnings_come_first_and_harmless_ones_not_at_all():
    data = [
        DataWarning("scales", "scales"), DataWarning("few", "few"),
        DataWarning("leak", "leak"), DataWarning("constant", "constant"),
    ]  # fmt: skip
    assert headline.all_warnings(data, ["late"]) == ["leak", "late", "few"]
    assert headline.first_warnings(["a"] * 3) == (["a"] * 3, 0)
    assert headline.first_warnings(["a"] * 9) == (["a"] * 5, 4)


def test_an_interval_of_an_auc_contains_the_true_one_usually():
    """Twenty rows of a class, scores that overlap: 95 in 100 intervals should."""
    random, hits, n = np.random.default_rng(0), 0, 100
    truth, folds = np.arange(200) < 20, np.arange(200) % 5
    for _ in range(n):
        scores = random.normal(size=200) + 2.5 * truth
        auc = cross_validation_of(truth, scores - 1.0, folds).score("AUC")
        assert 0.0 <= auc.low <= auc.mean <= auc.high <= 1.0
        hits += auc.low <= 0.9615 <= auc.high
    assert 0.87 * n <= hits < n


def test_intervals_shrink_with_rows_and_are_open_where_all_is_right():
    random, widths = np.random.default_rng(1), []
    for n in (100, 400, 1600):
        truth = np.arange(n) % 2 == 0
        scores = random.normal(size=n) + truth
        made = cross_validation_of(truth, scores - 0.5, np.arange(n) // 2 % 5)
        widths.append([one.high - one.low for one in made.scores])
    assert (np.diff(widths, axis=0) < 0).all()
    perfect = cross_validation_of(truth, np.where(truth, 1.0, -1.0), np.arange(n) % 5)
    for one in perfect.scores:
        assert one.mean == one.high == pytest.approx(1.0)
        assert one.low < 0.999


def test_the_variance_of_an_auc_is_that_of_delong():
    """Worked by hand: placements 1, 3/4 and 1/2 over 1, 1/2 and so on."""
    truth = np.array([1, 1, 0, 0], dtype=bool)
    auc = cross_validation_of(truth, [3.0, 1.0, 2.0, 0.0], np.zeros(4)).score("AUC")
    # Placements are 1 and 1/2 in both classes: the variance is 2 * (1/8) / 2 = 1/8.
    count = 0.75 * 0.25 / 0.125
    z = 1.96**2 / count
    half = 1.96 * np.sqrt(0.1875 / count + z / (4 * count)) / (1 + z)
    assert auc.mean == 0.75
    assert auc.low == pytest.approx((0.75 + z / 2) / (1 + z) - half)
