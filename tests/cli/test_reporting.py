"""The content that the command line puts into a report."""

import numpy as np
import pytest

from frugalsvm.cli import reporting
from frugalsvm.cli.choosing import fit_all
from frugalsvm.cli.study import Conditions, Search, load_data
from frugalsvm.cli.validation import cross_validate
from frugalsvm.report import render
from tests.cli.conftest import columns, write_csv

EVIL = "<script>alert('x')</script>"


@pytest.fixture
def made(folder):
    """A report of a table with missing values and a malicious name."""
    table = columns()
    table["age"] = ["", *table["age"][1:]]
    table["smoker"] = ["", *table["smoker"][1:]]
    table[EVIL] = table.pop("dose")
    table["colour"] = [EVIL if one == "red" else one for one in table["colour"]]
    path = write_csv(folder / "data.csv", table)
    data = load_data(path, "state", missing="median")
    conditions, search = Conditions(3, 1.0), Search("fast")
    fit = fit_all(
        data, conditions, search, folds=3, on_phase=lambda words: None, certificate=True
    )
    validation = cross_validate(data, conditions, search, 3, probabilities=True)
    more = reporting.extras(data, fit, search, lambda words: None)
    arguments = (data, fit, validation, more, 7, "frugalsvm fit", "proof.npz")
    report = reporting.report_of(*arguments)
    return fit, report, render(report)


def test_all_sections_are_filled(made):
    fit, report, _ = made
    for name in (
        "validation", "path", "alternatives", "progress", "certificate", "data",
        "reproduction",
    ):  # fmt: skip
        assert getattr(report, name) is not None, name
    assert report.verdict.max_features == 3
    assert report.validation.calibration is not None
    assert report.validation.confusion.sum() == 80
    assert report.path.chosen == 3
    assert report.certificate.command.startswith("frugalsvm verify proof.npz ")
    assert report.reproduction.seed == 7
    assert "numpy" in report.reproduction.versions
    names = [one.name for one in report.features]
    chosen = fit.result.selected_columns.tolist()
    assert names == [fit.preparation.features[j] for j in chosen]


def test_the_data_are_described(made):
    data = made[1].data
    assert dict(data.dropped).keys() == {"patient_id", "visit"}
    assert dict(data.imputed) == {"age": 1, "smoker": 1}
    assert "the most frequent category" in data.imputation
    assert dict(data.encoded) == {"smoker": 2, "colour": 3}


def test_categories_know_their_column(made):
    smoker = next(one for one in made[1].features if one.name == "smoker=yes")
    assert (smoker.kind, smoker.column, smoker.category) == (
        "category",
        "smoker",
        "yes",
    )


def test_names_and_values_are_escaped(made):
    assert EVIL not in made[2]
    assert "&lt;script&gt;" in made[2]


def test_a_path_respects_costs(folder):
    table = columns()
    table["dose"] = [1e6 * float(one) for one in table["dose"]]
    path = write_csv(folder / "data.csv", table)
    data = load_data(path, "state")
    costs = {"age": 5.0, "dose": 1.0, "noise": 1.0, "smoker": 1.0, "colour": 1.0}
    conditions = Conditions(3, 1.0, costs=costs, max_cost=2.0)
    fit = fit_all(
        data, conditions, Search("fast"), folds=3, on_phase=lambda words: None
    )
    more = reporting.extras(data, fit, Search("fast"), lambda words: None)
    # With the costs, larger feature limits do not help.
    path = more["path"]
    assert path.budgets.size > 2
    allowed = path.objectives[path.budgets >= 2]
    assert np.ptp(allowed) <= 1e-6 * allowed[0]
    free = fit_all(
        data, Conditions(3, 1.0), Search("fast"), folds=3, on_phase=lambda words: None
    )
    assert free.result.objective < allowed.min()
    report = reporting.report_of(data, fit, None, more, 7, "frugalsvm fit", None)
    [scales] = [one for one in report.data.warnings if one.kind == "scales"]
    assert "were standardised" in scales.text
