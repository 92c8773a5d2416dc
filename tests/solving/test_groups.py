"""Groups of columns in results: what counts is the group, weights are per column."""

from __future__ import annotations

import numpy as np
import pytest

from frugalsvm import Problem, solve, verify
from frugalsvm.solving.options import PartSizes, SolveOptions
from frugalsvm.solving.polish import PrimalPoint, with_refit, without_ghosts
from frugalsvm.solving.result import Result, Status
from frugalsvm.solving.solver import run_or_raise


def _problem(**options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    y = np.where(X[:, 0] + X[:, 3] + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)
    labels = ["a", "b", "a", "c", "c", "b"]
    return Problem(X, y, max_features=2, feature_groups=labels, **options)


def _model(problem, coef):
    coef = np.array(coef, dtype=float)
    return PrimalPoint(coef, 0.0, problem.objective(coef, 0.0))


def test_groups_and_columns_of_ghosts_leave():
    problem = _problem(fit_intercept=False)
    model = _model(problem, [1.0, 1e-9, 1e-9, 0.5, 1e-9, 2e-9])
    limit = model.objective * (1.0 + 1e-6)
    found = without_ghosts(problem, model, limit, refit=False)
    # So do the small weights of a and c, whose groups are used in any case.
    assert found.coef.tolist() == [1.0, 0.0, 0.0, 0.5, 0.0, 0.0]


def test_included_groups_stay():
    problem = _problem(fit_intercept=False, include=[1])
    model = _model(problem, [1.0, 1e-9, 1e-9, 0.5, 1e-9, 2e-9])
    limit = model.objective * (1.0 + 1e-6)
    found = without_ghosts(problem, model, limit, refit=False)
    assert found.coef.tolist() == [1.0, 1e-9, 0.0, 0.5, 0.0, 2e-9]


def test_a_large_weight_keeps_its_group():
    problem = _problem(fit_intercept=False)
    model = _model(problem, [1.0, 0.7, 0.0, 0.0, 0.0, 1e-12])
    limit = model.objective * (1.0 + 1e-6)
    found = without_ghosts(problem, model, limit, refit=False)
    assert found.coef.tolist() == [1.0, 0.7, 0.0, 0.0, 0.0, 0.0]


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


LABELS = [0, 1, 0, 2, 2, 1, 3, 4, 4, 4]
SIGNS = [1, 0, -1, 0, 0, 1, 0, 0, 1, -1]


def _many(n=900):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 10))
    score = X[:, 0] + X[:, 3] - X[:, 4] + 0.5 * X[:, 6]
    return X, np.where(score + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def _obeys(coef):
    return (coef * SIGNS >= 0).all()


def test_runs_in_parts_with_groups_and_signs():
    X, y = _many()
    problem = Problem(X, y, max_features=2, feature_groups=LABELS, signs=SIGNS)
    options = SolveOptions(
        effort="fast", random_state=0, part_sizes=PartSizes(500, 300)
    )
    result = run_or_raise(problem, options)
    assert result.method == "parts"
    whole = solve(problem, random_state=0)
    assert result.selected.tolist() == whole.selected.tolist() == [0, 2]
    np.testing.assert_allclose(result.coef, whole.coef, atol=1e-3)
    assert _obeys(result.coef)
    assert result.lower_bound <= whole.objective * (1 + 1e-9)


def test_a_refit_keeps_groups_and_signs_and_is_proved():
    X, y = _many(120)
    problem = Problem(X, y, C=0.01, max_features=2, feature_groups=LABELS, signs=SIGNS)
    result = solve(problem, random_state=0, certificate=True)
    found = with_refit(problem, result, 3.0)
    assert _obeys(found.refit.coef)
    used = problem.columns.used(found.refit.coef)
    assert set(used.tolist()) <= set(found.selected.tolist())
    checked = verify(
        found.certificate, X, y, max_features=2, C=0.01, refit_C=3.0,
        feature_groups=LABELS, signs=SIGNS,
    )  # fmt: skip
    assert checked.refit is not None


def test_a_warm_start_is_for_the_same_features():
    X, y = _many(120)
    groups = Problem(X, y, max_features=2, feature_groups=LABELS)
    result = solve(groups, method="swap", random_state=0)
    again = solve(groups.with_budget(3), method="swap", warm=result, random_state=0)
    assert again.objective <= result.objective * (1 + 1e-6)
    with pytest.raises(ValueError, match=r"problem with 5 features, .* has 10"):
        solve(Problem(X, y, max_features=2), method="swap", warm=result)


def test_a_start_is_given_by_numbers_of_groups():
    X, y = _many(120)
    problem = Problem(X, y, max_features=2, feature_groups=LABELS)
    start = np.array([4, 1])
    found = solve(problem, method="relax-and-round", initial_support=start)
    assert found.selected.size <= 2
    with pytest.raises(ValueError, match="a feature outside 0 to 4"):
        solve(problem, initial_support=np.array([7]))
