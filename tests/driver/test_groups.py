"""Groups of columns in results: what counts is the group, weights are per column."""

from __future__ import annotations

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.driver.ghosts import PrimalPoint, without_ghosts
from frugalsvm.driver.result import Result, Status


def _problem(**options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    y = np.where(X[:, 0] + X[:, 3] + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)
    labels = ["a", "b", "a", "c", "c", "b"]
    return Problem(X, y, max_features=2, feature_groups=labels, **options)


def _model(problem, coef):
    coef = np.array(coef, dtype=float)
    return PrimalPoint(coef, 0.0, problem.objective(coef, 0.0))


def test_a_group_of_ghosts_leaves_as_a_whole():
    problem = _problem(fit_intercept=False)
    model = _model(problem, [1.0, 1e-9, 1e-9, 0.5, 1e-9, 2e-9])
    limit = model.objective * (1.0 + 1e-6)
    found = without_ghosts(problem, model, limit, refit=False)
    # The small weights of a and c stay: their groups are used in any case.
    assert found.coef.tolist() == [1.0, 0.0, 1e-9, 0.5, 1e-9, 0.0]


def test_included_groups_stay():
    problem = _problem(fit_intercept=False, include=[1])
    model = _model(problem, [1.0, 1e-9, 1e-9, 0.5, 1e-9, 2e-9])
    limit = model.objective * (1.0 + 1e-6)
    assert without_ghosts(problem, model, limit, refit=False) is model


def test_a_large_weight_keeps_its_group():
    problem = _problem(fit_intercept=False)
    model = _model(problem, [1.0, 0.7, 0.0, 0.0, 0.0, 1e-12])
    limit = model.objective * (1.0 + 1e-6)
    assert without_ghosts(problem, model, limit, refit=False) is model


def _result(groups):
    coef = np.array([1.0, 0.0, 0.0, 0.5, 0.0, 0.0])
    selected = np.array([0, 3]) if groups is None else np.array([0, 2])
    return Result(
        1.0, 0.9, selected, coef, 0.0, Status.FEASIBLE, "swap", 0.1,
        groups=None if groups is None else np.array(groups),
    )  # fmt: skip


def test_a_result_counts_groups():
    result = _result([0, 1, 0, 2, 2, 1])
    assert result.n_features == 3
    assert result.selected_columns.tolist() == [0, 2, 3, 4]
    assert "features=2 of 3" in repr(result)
    assert "2 of 3" in str(result)
    page = result.to_html(["a1", "b1", "a2", "c1", "c2", "b2"])
    assert "2 of 3 features" in page
    assert "a2" in page
    assert "c2" in page
    assert "b1" not in page
    with pytest.raises(ValueError, match=r"names has 3 entries, but there are 6 col"):
        result.to_html(["a", "b", "c"])


def test_without_groups_columns_are_features():
    result = _result(None)
    assert result.n_features == 6
    assert result.selected_columns.tolist() == [0, 3]
    assert "features=2 of 6" in repr(result)
