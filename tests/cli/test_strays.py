"""Cells that are no numbers in columns of numbers, and numbers of persons."""

import numpy as np
import pytest

from tests.cli.conftest import columns, write_csv

FAST = ("--effort", "fast", "--folds", "0")
FIT = ("-t", "state", "-k", "2", *FAST)


def with_cells(column, **cells):
    """Values, some of which are replaced; rows are counted from 1."""
    found = [*column]
    for row, text in cells.items():
        found[int(row[1:]) - 1] = text
    return found


def test_lone_points_are_missing_in_fit_predict_and_verify(run, run_json, folder):
    table = columns()
    table["age"] = with_cells(table["age"], r3="", r40="", r41="")
    empty = write_csv(folder / "empty.csv", table)
    table["age"] = with_cells(table["age"], r3=".", r40=".", r41=".")
    points = write_csv(folder / "points.csv", table)
    files = ("--model", "m.json", "--certificate", "p.npz", "--include", "age")
    done = run("fit", points, *FIT, *files)
    assert "a lone '.' is a missing value in 'age'" in done.stderr
    assert "with an indicator in the same feature: age (3)" in done.stderr
    fitted = run_json("fit", points, *FIT)
    assert fitted["features"] == run_json("fit", empty, *FIT)["features"]
    predicted = [run_json("predict", "m.json", one)["rows"] for one in (points, empty)]
    assert predicted[0] == predicted[1]
    for one in (points, empty):
        assert run_json("verify", "p.npz", one)["valid"]
    # One table may have a single row.
    (folder / "one.csv").write_text("age,dose,smoker,noise\n.,5,yes,1\n")
    assert len(run_json("predict", "m.json", "one.csv")["rows"]) == 1


@pytest.mark.parametrize("cell", ["c", "13.49%"])
def test_a_stray_cell_is_refused_with_its_row_and_what_to_do(run, folder, cell):
    table = columns()
    table["age"] = with_cells(table["age"], r7=cell)
    data = write_csv(folder / "data.csv", table)
    error = run("fit", data, *FIT, code=1).stderr
    assert f"'age' has 79 numbers and 1 other cell ({cell!r} in row 7)" in error
    assert ("remove the % signs" in error) is ("%" in cell)
    run("fit", data, *FIT, "--exclude", "age")
    done = run("fit", data, *FIT, "--categorical", "age")
    assert "categories of age: " in done.stderr
    clean = write_csv(folder / "clean.csv", columns())
    run("fit", clean, *FIT, "--include", "age", "--model", "m.json")
    error = run("predict", "m.json", data, code=1).stderr
    assert f"row 7 has {cell!r}" in error
    assert ("; remove the % signs." in error) is ("%" in cell)


def test_persons_in_several_rows_are_said(run, folder):
    table = columns()
    table["subject_id"] = [1000 + 7 * (k % 60) for k in range(80)]
    data = write_csv(folder / "data.csv", table)
    done = run("fit", data, *FIT)
    assert "dropped subject_id: identifiers (60 different numbers" in done.stderr
    assert "'subject_id' repeats: rows with the same one belong" in done.stderr
    done = run("fit", data, *FIT, "--keep", "subject_id")
    assert "dropped subject_id" not in done.stderr
    assert "'subject_id' repeats: rows with the same one belong" in done.stderr
    done = run("fit", data, *FIT, "--exclude", "subject_id")
    assert "'subject_id' repeats: rows with the same one belong" in done.stderr
    done = run("path", data, *FIT[:2], "--budgets", "1-2", "--folds", "2")
    assert "'subject_id' repeats: rows with the same one belong" in done.stderr


def test_survey_weights_are_said(run, run_json, folder):
    weights = np.random.default_rng(0).lognormal(5, 1.5, 80).round(2)
    data = write_csv(folder / "data.csv", columns() | {"weight": weights})
    for words in (
        run_json("fit", data, *FIT)["warnings"],
        run_json("path", data, *FIT[:2], "--budgets", "1", "--folds", "0")["warnings"],
        run_json("alternatives", data, *FIT[:2], "-k", "1")["warnings"],
    ):
        (word,) = [one for one in words if "'weight'" in one]
        assert "looks like weights of a survey" in word
        assert "--exclude 'weight' leaves it out" in word
        assert "sample_weight" in word
    done = run("fit", data, *FIT, "--exclude", "weight")
    assert "weights of a survey" not in done.stderr
