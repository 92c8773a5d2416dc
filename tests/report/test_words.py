from dataclasses import replace

import numpy as np
import pytest

from frugalsvm.report import (
    AlternativesSummary,
    BudgetPath,
    FeatureAlternatives,
    SelectedFeature,
    Verdict,
    headline,
    render,
    words,
)
from frugalsvm.report import words as proved
from tests.report import samples

MINUS, DASH = "\N{MINUS SIGN}", "\N{EN DASH}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.03123, "0.0312"),
        (-2.5, f"{MINUS}2.5"),
        (569.04, "569"),
        (1234.5, "1,234"),
        (98765.4, "98,765"),
        (3.2e7, "3.20e+07"),
        (2e-6, f"2.00e{MINUS}06"),
        (None, DASH),
        (np.nan, DASH),
        (np.inf, DASH),
    ],
)
def test_numbers(value, text):
    assert words.number(value) == text


def test_large_numbers_keep_the_digits_asked_for():
    assert words.number(4426.01046, 9) == "4,426.01046"
    assert words.signed(0.5) == "+0.5"
    assert words.signed(-0.5) == f"{MINUS}0.5"


@pytest.mark.parametrize("part", [0.0, 1e-9, 2.51e-5, 0.000052, 0.1, 0.347, 0.9999])
def test_bounds_are_rounded_to_the_safe_side(part):
    def read(text):
        return float(text.split("\N{NO-BREAK SPACE}")[0].replace(MINUS, "-")) / 100

    assert read(words.at_most(part)) >= part * (1 - 1e-9)
    assert read(words.at_most(part)) <= max(1.11 * part, (part > 0) * words.LEAST)
    assert read(words.at_least(part)) <= part * (1 + 1e-9)
    assert read(words.at_least(part)) >= 0.89 * part


def verdict(**changes):
    return replace(Verdict(4, 30, 100.0, 99.99, "optimal", 1.0, 5), **changes)


def test_a_proof_is_described_in_words():
    text = proved.proof(verdict())
    assert "no other choice of at most five features fits these data better" in text
    assert "by more than 0.01" in text
    exact = proved.proof(verdict(lower_bound=100.0))
    assert "fits these data better at this setting (C" in exact
    for one in (text, exact):
        assert one.endswith(
            "about the fit to these data, not about how often the model is right."
        )
    assert "with class weights" in proved.proof(verdict(class_weight="sick 9"))
    assert "accurate" not in text


@pytest.mark.parametrize("status", ["feasible", "time limit", "interrupted"])
@pytest.mark.parametrize("bound", [60.0, 0.5, 0.0, -np.inf])
def test_a_large_gap_does_not_sound_like_a_bad_model(status, bound):
    text = proved.proof(verdict(status=status, lower_bound=bound))
    assert "No better choice of at most five features was found" in text
    assert "how good the model is" in text
    assert "been proved that no other" not in text
    for word in ("bad", "poor", "fail", "inf", "nan"):
        assert word not in text
    assert proved.standing(verdict(status=status))[0] == "Best found"


def test_budgets_in_words():
    assert proved.budget(verdict(max_features=1)) == "at most one feature"
    assert proved.budget(verdict(max_features=None)) == "features"
    included = proved.budget(verdict(included=("age", "dose")))
    assert included == "at most five features with age, dose among them"
    assert proved.budget(verdict(max_cost=100.0)).endswith(
        "a total cost of at most 100"
    )


def test_a_class_that_is_a_number_gets_the_name_of_the_target():
    report = samples.whole(classes=("0", "1"))
    assert words.label(report, 1) == "diagnosis\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}1"
    assert words.label(samples.whole(), 1) == "malignant"
    assert words.label(samples.bare(), 1) == "1"


def test_mistakes_are_counted():
    confusion = np.array([[8, 0], [1, 3]])
    report = samples.whole()
    report = replace(report, validation=replace(report.validation, confusion=confusion))
    assert words.mistakes(report) == (
        "Of 4 “malignant” rows, 1 was missed. Of 8 “benign” rows, none was "
        "classified as “malignant”."
    )


def test_directions():
    report = samples.whole()
    texts = [words.direction(report, one) for one in report.features]
    assert texts[0] == "higher values point to “malignant”"
    assert texts[2] == "higher values point to “benign”"
    assert texts[3] == "this value points to “malignant”"
    assert words.change_per_unit(report.features[0]) == "+0.0041 per mm²"
    assert "2.35 per standard deviation (569" in words.change_per_deviation(
        report.features[0]
    )


def test_alternatives_state_how_certain_they_are():
    sure = AlternativesSummary(0.01, 0.01, 4, ())
    assert "proved that there is no other" in words.alternatives(sure)
    partly = words.alternatives(replace(sure, complete_up_to=0.00567))
    assert "among those searched" in partly
    assert "0.56" in partly
    unsure = words.alternatives(replace(sure, complete_up_to=-0.2))
    assert "There may be many more" in unsure
    assert words.alternatives(replace(sure, n_models=1)).startswith("One choice")


def test_paths_in_words():
    budgets = np.array([1, 2, 3])
    scores = np.array([0.7, 0.9, 0.92])

    def said(*given, **more):
        return words.path(
            replace(samples.bare(), path=BudgetPath(budgets, *given, **more))
        )

    assert "needs 3 features; 2 features reach 90" in said(2, scores=scores)
    assert "; 1 feature reaches 70" in said(1, scores=scores)
    assert "has the best mean accuracy" in said(3, scores=scores)
    # Nothing is known of the score of another number.
    assert "best" not in said(9, scores=scores)
    assert "depends on the number" in said(None, scores=scores)
    assert "may use up to 6 features and uses four." in said(6)
    text = said(4)
    assert "may use up to 4 features." in text
    assert "only the objective" in text
    assert "frugalsvm path cross-validates" in text


def test_substitutes_of_a_feature():
    one = FeatureAlternatives("a", "replaceable", 2, tuple("bcdefg"))
    assert words.replacements(one) == "b, c, d, e and 2 more"
    assert "several" in words.replacements(replace(one, replaced_by=()))
    assert words.replacements(FeatureAlternatives("a", "indispensable", 3)) == ""


def test_features_that_are_allowed_but_not_used():
    assert proved.unused(4, 4, 0.0, "optimal") == ""
    assert proved.unused(0, 4, 0.0, "optimal") == ""
    assert proved.unused(4, None, 0.0, "optimal") == ""
    assert proved.unused(4, 6, 1e-4, "optimal").startswith(
        "Four of the six allowed are used: more features would not fit these data "
        "better by more than 0.01"
    )
    assert proved.unused(1, 2, 0.3, "time limit") == (
        "One of the two allowed is used: no better choice with more features was found."
    )


def test_without_a_bound_there_are_no_numbers():
    verdict = Verdict(3, 30, 46.0, -np.inf, "time limit", 1.0, 6)
    assert words.at_most(verdict.gap) == "unknown"
    assert proved.bound(verdict) == "none"
    path = BudgetPath(
        np.array([1, 2]), 2, np.array([3.0, 2.0]), np.array([-np.inf, 1.0])
    )
    report = samples.whole(verdict=verdict, path=path)
    page = render(report)
    assert "inf" not in page.replace("information", "").replace("influential", "")


def test_what_counts_as_a_feature_is_said_only_if_it_is_known():
    one = SelectedFeature(
        "smoker=yes", 1.0, 0.5, kind="category", column="smoker", category="yes"
    )
    report = replace(samples.bare(), features=(one,))
    assert words.counting(report) == ""
    whole = words.counting(replace(report, split_categories=False))
    assert whole == "A column of categories is one feature, however many it has."
    each = words.counting(replace(report, split_categories=True))
    assert each == "Each value of a column of categories counts as a feature."


def test_what_was_not_checked_is_not_called_fine():
    data = replace(samples.data(), warnings=None)
    assert "not checked" in words.checked(data)
    assert "No problems" not in render(samples.whole(data=data))
    assert "No problems" in words.checked(samples.data())
    drawn = replace(samples.data(), n_compared=100)
    assert words.checked(drawn).endswith("compared in 100 rows, drawn from 300.")


def test_a_report_without_held_out_rows_says_so():
    assert "was not checked" in headline.unseen(samples.bare())
    assert "accuracy with up to" in headline.unseen(samples.whole(validation=None))
