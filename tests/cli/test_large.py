"""Quick fits of many rows, one part at a time; here the parts are small."""

import numpy as np
import pytest

from frugalsvm import Problem, solve, verify
from frugalsvm.cli import large
from frugalsvm.cli.study import GAP_TOL, Search
from frugalsvm.driver.result import Status


@pytest.fixture
def problem(monkeypatch):
    monkeypatch.setattr(large, "MANY", 1000)
    monkeypatch.setattr(large, "PART", 700)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3001, 8))
    y = np.where(X[:, :3] @ [2.0, -1.0, 1.0] + rng.normal(size=3001) > 0, 1.0, -1.0)
    # Sorted rows are the worst case for parts.
    order = np.argsort(y, kind="stable")
    return Problem(X[order], y[order], C=0.1, max_features=3), X[order], y[order]


def test_model_and_bound_are_nearly_those_of_the_whole(problem):
    whole = solve(problem[0], effort="fast", random_state=0)
    result, interrupted = Search("fast").run(problem[0], certificate=True)
    assert not interrupted
    assert result.method == "parts"
    np.testing.assert_array_equal(result.selected, whole.selected)
    assert result.objective == pytest.approx(whole.objective, rel=1e-6)
    assert 0 <= result.gap < 0.05
    assert result.lower_bound <= whole.objective
    checked = verify(result.certificate, *problem[1:], C=0.1, max_features=3)
    assert checked.lower_bound == pytest.approx(result.lower_bound)


def test_parts_without_the_rarer_class_prove_nothing(problem):
    """Three samples of one class, five parts; the whole still has a model."""
    _, X, y = problem
    few = np.flatnonzero(y > 0)[:3]
    for rows in (np.r_[few, np.flatnonzero(y < 0)], np.r_[np.flatnonzero(y < 0), few]):
        X_few, y_few = np.tile(X[rows], (2, 1))[:-3], np.tile(y[rows], 2)[:-3]
        for labels in (y_few, -y_few):
            made = Problem(X_few, labels, C=0.1, max_features=3)
            result, interrupted = Search("fast").run(made, certificate=True)
            assert not interrupted
            assert result.method == "parts"
            assert 0 < result.lower_bound <= result.objective
            checked = verify(result.certificate, X_few, labels, C=0.1, max_features=3)
            assert checked.lower_bound == pytest.approx(result.lower_bound)


def test_a_search_alone_proves_nothing(problem, monkeypatch):
    monkeypatch.setattr(large, "relax_natively", None)
    result, _ = Search("fast").run(problem[0], method="swap")
    assert result.method == "parts"
    assert result.lower_bound <= 0


def test_the_objective_is_that_of_all_rows(problem):
    fit = large.LargeFit(problem[0], Search("fast"))
    coef = np.zeros(8)
    coef[[1, 2]] = 1.5, -0.5
    found = fit._objective_of(coef, 0.25)
    exact = problem[0].objective(coef, 0.25)
    assert exact <= found <= exact * (1 + 1e-10)


def test_costs_and_included_features(problem):
    _, X, y = problem
    costs = np.array([9.0, 1, 1, 1, 1, 1, 1, 1])
    made = Problem(
        X, y, C=0.1, max_features=3, feature_costs=costs, max_cost=3.0, include=[7]
    )
    result, _ = Search("fast").run(made)
    assert 7 in result.selected
    assert 0 not in result.selected
    assert result.lower_bound <= result.objective


def test_an_interrupt_leaves_the_model_of_a_part(problem, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(large, "relax_natively", interrupted)
    result, was_interrupted = Search("fast").run(problem[0])
    assert was_interrupted
    assert result.status is Status.INTERRUPTED
    assert result.selected.size == 3
    assert result.lower_bound <= result.objective


def test_a_time_limit_ends_it(problem):
    seen = []
    search = Search("fast", time_limit=1e-9)
    result, _ = search.run(problem[0], callback=seen.append)
    assert result.status is Status.TIME_LIMIT
    assert seen[-1].objective == result.objective
    assert result.gap > GAP_TOL


def test_other_efforts_and_few_rows_are_done_in_one_piece(problem, monkeypatch):
    monkeypatch.setattr(large, "MANY", 3001)
    assert Search("fast").run(problem[0])[0].method == "auto"
    monkeypatch.setattr(large, "MANY", 10)
    assert Search("normal").run(problem[0], max_nodes=2)[0].method == "auto"
