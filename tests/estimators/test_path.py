"""Paths: monotone, valid, and no worse than separate fits."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import frugalsvm.solving.solver
from frugalsvm import Problem, frugal_path, solve
from frugalsvm.estimators.path import _Clock, _Row
from frugalsvm.solving.options import SolveOptions
from tests.reference import brute_force, random_data


@pytest.fixture(scope="module")
def data():
    return random_data(np.random.default_rng(3), 40, 10)


@pytest.mark.parametrize("method", ["swap", "auto"])
def test_objectives_and_bounds_against_enumeration(data, method):
    X, y = data
    path = frugal_path(
        X, y, max_features=range(1, 5), C=[0.1, 2.0], method=method, random_state=0
    )
    assert path.objectives.shape == (2, 4)
    for C, budget, result in path:
        problem = Problem(X, y, C=C, max_features=budget)
        assert problem.admits(result.selected)
        optimum, _ = brute_force(problem)
        row, column = np.flatnonzero(path.C == C)[0], budget - 1
        assert path.objectives[row, column] == pytest.approx(optimum, rel=1e-4)
        assert path.lower_bounds[row, column] <= optimum * (1 + 1e-9)
        assert path.lower_bounds[row, column] >= result.lower_bound


def test_everything_is_monotone_in_the_budget(data):
    X, y = random_data(np.random.default_rng(5), 50, 40)
    path = frugal_path(
        X, y, max_features=[8, 2, 5, 2, 12], C=[1.0, 10.0], random_state=0,
        method_options={"patience": 0},
    )  # fmt: skip
    np.testing.assert_array_equal(path.max_features, [2, 5, 8, 12])
    assert (np.diff(path.objectives, axis=1) <= 1e-7 * path.objectives[:, :1]).all()
    assert (np.diff(path.lower_bounds, axis=1) <= 0).all()
    assert (path.gaps >= 0).all()


def test_a_budget_is_no_worse_than_a_smaller_one(monkeypatch):
    """Even if a run has given up a millionth with features that hardly matter."""
    X, y = random_data(np.random.default_rng(5), 50, 10)
    options = SolveOptions(method="swap", random_state=0, effort="fast")
    row = _Row(
        Problem(X, y, max_features=3), np.array([2, 3]), options, _Clock(None, 2)
    )
    row.ascend([])
    smaller, larger = row.results
    worse = smaller.objective * (1 + 5e-7)
    row.results[1] = replace(larger, objective=worse, coef=smaller.coef * 0.0)
    monkeypatch.setattr(_Row, "_try_from", lambda *_: None)
    row.spread()
    assert row.results[1].objective == smaller.objective
    np.testing.assert_array_equal(row.results[1].coef, smaller.coef)
    np.testing.assert_array_equal(row.results[1].selected, smaller.selected)
    assert row.results[1].lower_bound == larger.lower_bound


def test_neighbours_help():
    """One descent per budget: with neighbours it ends no higher than alone."""
    X, y = random_data(np.random.default_rng(7), 60, 80)
    options = {"method_options": {"patience": 0}, "random_state": 0}
    path = frugal_path(X, y, max_features=range(3, 9), C=1.0, **options)
    alone = [
        solve(Problem(X, y, max_features=b), method="swap", **options).objective
        for b in range(3, 9)
    ]
    assert (path.objectives[0] <= np.array(alone) * (1 + 1e-9)).all()
    assert (path.objectives[0] < np.array(alone) * (1 - 1e-4)).any()


def test_labels_are_taken_as_the_estimators_do(data):
    X, y = data
    options = {"max_features": [1, 2], "random_state": 0}
    expected = frugal_path(X, y, **options)
    for labels in (np.where(y > 0, "yes", "no"), (y > 0).tolist(), (y > 0) + 4):
        path = frugal_path(X, labels, **options)
        np.testing.assert_array_equal(path.objectives, expected.objectives)
        found, wanted = path.results[0][1], expected.results[0][1]
        np.testing.assert_array_equal(found.coef, wanted.coef)
    three = np.where(X[:, 0] > 1, "c", np.where(y > 0, "b", "a"))
    signs = np.where(three[:, np.newaxis] == ["a", "b", "c"], 1.0, -1.0)
    np.testing.assert_array_equal(
        frugal_path(X, three, **options).objectives,
        frugal_path(X, signs, **options).objectives,
    )


def test_labels_that_are_no_classes_are_rejected(data):
    X, y = data
    with pytest.raises(ValueError, match="two classes or more, got 1"):
        frugal_path(X, ["yes"] * len(y), max_features=[1])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        frugal_path(X, X[:, 0], max_features=[1])


def test_it_prints_as_a_table(data):
    path = frugal_path(*data, max_features=[1, 2], random_state=0)
    header, *lines, note = str(path).splitlines()
    assert header.split() == ["C", "budget", "objective", "bound", "gap"]
    assert len(lines) == 2
    assert lines[1].split()[:2] == ["1", "2"]
    assert note.startswith("gap: the most that another choice could gain")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"max_features": []}, "at least one budget"),
        ({"max_features": [1, -2]}, "got -2"),
        ({"max_features": [1.5]}, "got 1.5"),
        ({"max_features": [1], "C": []}, "at least one number"),
        ({"max_features": 3}, "must be a list of budgets, got 3"),
        ({"max_features": "auto"}, "must be a list of budgets, got 'auto'"),
        ({"max_features": [1], "C": [0.0, 1.0]}, "positive numbers, got 0.0"),
        ({"max_features": [1], "C": ["a"]}, "positive numbers, got 'a'"),
        ({"max_features": [1], "C": [[0.1]]}, r"positive numbers, got \[0.1\]"),
        ({"max_features": [1], "initial_support": [0]}, "initial_support"),
        ({"max_features": [1], "method_options": 3}, "method_options must be a dict"),
        ({"max_features": [1], "random_state": "a"}, "random_state must be"),
        ({"max_features": [1], "n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_arguments(data, arguments, words):
    with pytest.raises(ValueError, match=words):
        frugal_path(*data, **arguments)


def test_ctrl_c_ends_the_path(data, monkeypatch):
    """The second run is stopped as by Ctrl-C: no third one begins."""
    begun = []
    run = frugalsvm.solving.solver.run_interruptible

    def interrupted(*arguments, **options):
        begun.append(arguments)
        outcome = run(*arguments, **options)
        return outcome._replace(was_interrupted=len(begun) == 2)

    monkeypatch.setattr(frugalsvm.solving.solver, "run_interruptible", interrupted)
    with pytest.raises(KeyboardInterrupt):
        frugal_path(*data, max_features=range(1, 5), random_state=0)
    assert len(begun) == 2


def test_costs_and_features_by_name_against_enumeration(data):
    X, y = data
    names = [f"f{j}" for j in range(10)]
    table = pd.DataFrame(X, columns=names)
    costs = np.arange(1.0, 11.0)
    # In another order: names count.
    by_name = pd.Series(costs, index=names).sort_values(ascending=False)
    path = frugal_path(
        table, y, max_features=[2, 4], C=[0.5], feature_costs=by_name, max_cost=12.0,
        include=["f4"], exclude=[name == "f0" for name in names], random_state=0,
    )  # fmt: skip
    assert path.feature_names == names
    for _, budget, result in path:
        problem = Problem(
            X, y, C=0.5, max_features=budget, feature_costs=costs, max_cost=12.0,
            include=[4], exclude=[0],
        )  # fmt: skip
        optimum, _ = brute_force(problem)
        assert result.objective == pytest.approx(optimum, rel=1e-4)
        assert problem.admits(np.union1d(result.selected, [4]))
        assert path.names_of(result) == [names[j] for j in result.selected]
    # The cost budget is binding here.
    free, _ = brute_force(
        Problem(X, y, C=0.5, max_features=4, include=[4], exclude=[0])
    )
    assert path.objectives[0, 1] > free * (1 + 1e-3)


def test_missing_names(data):
    X, y = data
    table = pd.DataFrame(X, columns=[f"length {j}" for j in range(10)])
    with pytest.raises(ValueError, match="did you mean 'length 3'"):
        frugal_path(table, y, max_features=[1], include=["lenght 3"])
    with pytest.raises(ValueError, match="X has no column names"):
        frugal_path(X, y, max_features=[1], exclude=["length 3"])
    with pytest.raises(ValueError, match=r"a list of feature indices.*got 3"):
        frugal_path(X, y, max_features=[1], exclude=3)
    with pytest.warns(UserWarning, match="without max_cost limits nothing") as caught:
        path = frugal_path(X, y, max_features=[1], feature_costs=[1] * 10, include=None)
    assert caught[0].filename == __file__
    assert path.feature_names[9] == "x9"


def test_unknown_options(data):
    with pytest.raises(TypeError, match="'foo', which solve does not take"):
        frugal_path(*data, max_features=[1], foo=1)
