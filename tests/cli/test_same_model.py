"""The command line and Python give the same model for the same data and settings."""

import numpy as np
import pytest

from frugalsvm import FrugalSVC
from frugalsvm.tables import Preparation, find_target, make_plan, read_table
from tests.cli.conftest import write_csv


def prepared(path):
    """The features of a table, their preparation, and the mask of the positive rows."""
    table = read_table(path)
    target = find_target(table, "state")
    preparation = Preparation.fit(table, make_plan(table, "state"), target.classes)
    return preparation.transform(table), preparation, target.positive


def assert_same(found, model, features):
    """``found`` is the output of the command, ``model`` was fitted in Python."""
    coef = np.zeros(len(features))
    for one in found["features"]:
        coef[features.index(one["name"])] = one["standardised_weight"]
    np.testing.assert_array_equal(coef, model.coef_[0])
    assert found["standardised_intercept"] == model.intercept_[0]
    proof = found["proof"]
    assert proof["objective"] == model.objective_
    assert proof["lower_bound"] == model.lower_bound_
    assert proof["status"] == model.status_


@pytest.mark.parametrize("effort", ["fast", "normal"])
def test_the_same_model(run_json, data, effort):
    found = run_json(
        "fit", data, "-t", "state", "-k", "2", "--C", "0.3", "--effort", effort,
        "--include", "noise", "--folds", "0", "--seed", "5",
    )  # fmt: skip
    X, preparation, y = prepared(data)
    groups = [column.name for column, _ in preparation.origins()]
    model = FrugalSVC(
        2, 0.3, effort=effort, include=["noise"], feature_groups=groups, random_state=5
    )
    model.fit(X, y)
    assert_same(found, model, list(preparation.features))


def test_the_same_model_of_many_rows(run_json, folder):
    """So many that a quick fit is done in parts."""
    rng = np.random.default_rng(0)
    n = 200_001
    X = rng.normal(2.0, 3.0, size=(n, 3)).round(3)
    y = np.where(X @ [1.0, -0.5, 0.1] + rng.normal(size=n) > 1.2, "sick", "well")
    columns = {f"x{j}": X[:, j].tolist() for j in range(3)} | {"state": y.tolist()}
    path = write_csv(folder / "long.csv", columns)
    found = run_json(
        "fit", path, "-t", "state", "-k", "2", "--effort", "fast", "--folds", "0",
        "--seed", "5",
    )  # fmt: skip
    X, preparation, y = prepared(path)
    model = FrugalSVC(2, effort="fast", random_state=5)
    model.fit(X, y)
    assert model.result_.method == "parts"
    assert_same(found, model, list(preparation.features))
