"""How results are displayed."""

from dataclasses import replace

import numpy as np
import pytest

from frugalsvm import Problem, frugal_path, solve
from frugalsvm.solving.result import Status
from tests.markup import EVIL, parsed
from tests.reference import random_data


@pytest.fixture(scope="module")
def result():
    X, y = random_data(np.random.default_rng(3), 60, 12)
    return solve(Problem(X, y, max_features=3), random_state=0, certificate=True)


def test_repr_is_one_short_line(result):
    text = repr(result)
    assert len(text) < 120
    assert "\n" not in text
    for part in ("optimal", f"{result.objective:.6g}", "3 of 12"):
        assert part in text


def test_html_has_features_weights_and_the_bound(result):
    page = parsed(result._repr_html_())
    for j in result.selected:
        assert f"x{j}" in page.text
        assert f"{result.coef[j]:+.4g}" in page.text
    assert f"{result.lower_bound:.6g}" in page.text
    assert "svg" in page.tags


def test_names_are_text(result):
    page = parsed(result.to_html([EVIL] * 12))
    assert "script" not in page.tags
    assert page.text.count(EVIL) == 3


def test_there_must_be_one_name_per_feature(result):
    with pytest.raises(ValueError, match=r"names has 2 entries.*12 features"):
        result.to_html(["a", "b"])


def test_a_path_has_a_short_repr():
    X, y = random_data(np.random.default_rng(3), 40, 10)
    path = frugal_path(X, y, max_features=[1, 3], C=[0.1, 1.0], random_state=0)
    assert len(repr(path)) < 120
    assert "2 budgets from 1 to 3" in repr(path)


def test_chance_of_improvement_is_the_rule_of_succession(result):
    assert result.chance_of_improvement == 0.0
    open_ = replace(result, status=Status.FEASIBLE)
    since = open_.counters["restarts since the best"]
    assert open_.chance_of_improvement == 1.0 / (since + 2)
    assert replace(open_, counters={}).chance_of_improvement is None
