"""Models that predict one class say so first."""

import numpy as np
import pytest

from frugalsvm import Problem, solve
from frugalsvm.solving.constant import (
    ConstantModel,
    NeverPredicted,
    constant_sign,
    sign_of,
)
from tests.reference import rare


@pytest.mark.parametrize(
    ("scores", "sign"), [([1, 2], 1), ([-1, -2], -1), ([0, 0], -1), ([0, 1], None)]
)
def test_the_sign_of_all_predictions(scores, sign):
    assert sign_of(np.array(scores, dtype=float)) == sign


def test_predictions_are_those_of_the_weights_on_the_data_as_given():
    rng = np.random.default_rng(0)
    # Large means are subtracted inside.
    X = rng.normal(size=(30, 3)) + [0.0, 1e6, -50.0]
    y = np.where(np.arange(30) < 15, 1.0, -1.0)
    problem = Problem(X, y)
    for _ in range(20):
        coef = rng.normal(size=3) * (rng.random(3) < 0.6)
        intercept = float(-np.quantile(X @ coef, rng.choice([-0.0, 0.5, 1.0])))
        intercept += rng.choice([-1.0, 1.0]) * 1e-3
        expected = sign_of(X @ coef + intercept)
        assert constant_sign(problem, coef, intercept) == expected


def test_a_result_leads_with_it():
    X, y = rare()
    result = solve(Problem(X, y, max_features=5), random_state=0)
    assert result.constant == -1
    assert result.verdict.startswith("constant model, of no use: it predicts -1")
    assert str(result).startswith("verdict      constant model")
    assert repr(result).startswith("Result(constant model -1, optimal")
    page = result.to_html()
    assert 0 < page.index("constant model") < page.index("<table")
    balanced = np.where(y > 0, 10.0, 10 / 19)
    other = Problem(X, y, sample_weight=balanced, max_features=5)
    other = solve(other, random_state=0)
    assert other.constant is None
    assert "constant" not in str(other) + other.to_html()


def test_the_remedy_has_the_numbers_of_the_data():
    positive = np.arange(200) < 10
    model = ConstantModel.of(-1, positive, ("well", "sick"), 0.5, False, "row")
    assert (model.label, model.n_label, model.n_other) == ("well", 190, 10)
    assert "all 200 training rows, though 10 are 'sick'" in model.verdict
    assert "Only 10 of 200 rows are 'sick'" in model.remedy
    assert "class_weight='balanced', which counts each 'sick' 10 times" in model.remedy
    assert "each 'well' 0.526 times" in model.remedy
    assert "C=5 instead of 0.5" in model.remedy
    assert "--class-weight balanced" in model.message
    assert "--class-weight balanced" in model.command_line_remedy
    assert "--C 5 instead of 0.5" in model.command_line_remedy
    assert "class_weight" not in model.command_line_remedy


def test_labels_are_quoted_and_single_rows_counted():
    positive = np.arange(120) < 1
    model = ConstantModel.of(-1, positive, ("it's", "no class 0"), 1.0, False)
    assert model.verdict.endswith(
        "it predicts \"it's\" for all 120 training samples, though 1 is 'no class 0'"
    )
    assert "Only 1 of 120 samples is 'no class 0'" in model.remedy
    words = NeverPredicted("no class 0", 1, 120, 1.0).message
    assert "never predicts 'no class 0' for its 120" in words
    assert "though 1 of them is of that class" in words


def test_weights_are_no_remedy_where_there_are_some_or_no_rare_class():
    positive = np.arange(200) < 10
    weighted = ConstantModel.of(-1, positive, (0, 1), 1.0, True)
    even = ConstantModel.of(1, np.arange(200) < 100, (0, 1), 1.0, False)
    for model in (weighted, even):
        assert "class" not in model.remedy
        assert "C=10 instead of 1" in model.remedy
    nothing = ConstantModel.of(1, positive, (0, 1), 1.0, False, has_budget=False)
    assert nothing.remedy == "The budget allows no features: raise it."
    assert ConstantModel.of(None, positive, (0, 1), 1.0, False) is None
