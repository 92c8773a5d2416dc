"""Files from the command line: Excel in and out, separators, samples in columns."""

import csv
import io
import json
import shlex

import numpy as np
import pytest

from frugalsvm.tables import read_table
from tests.cli.conftest import columns, write_csv

FAST = ("--effort", "fast", "--folds", "0")


def write_excel(path, *tables):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for k, table in enumerate(tables):
        sheet = book.create_sheet(f"table {k + 1}")
        sheet.append(list(table))
        for row in zip(
            *(np.asarray(one).tolist() for one in table.values()), strict=True
        ):
            sheet.append(row)
    book.save(path)
    return str(path)


def test_excel_and_csv_give_the_same_model(run, run_json, folder):
    table = columns()
    book = write_excel(folder / "data.xlsx", {"a": [1, 2]}, table)
    text = write_csv(folder / "data.csv", table)
    fit = ("-t", "state", "-k", "3", *FAST)
    sheet = ("--sheet", "table 2")
    found = run_json("fit", book, *sheet, *fit)
    assert found["features"] == run_json("fit", text, *fit)["features"]
    done = run(
        "fit", book, *sheet, *fit, "--model", "m.json", "--certificate", "proof.npz"
    )
    # The command that is shown works as it is.
    command = next(
        line for line in done.stdout.split("\n") if "frugalsvm verify" in line
    )
    run(*shlex.split(command)[1:])
    from_book = run_json("predict", "m.json", book, "--sheet", "2")["rows"]
    assert from_book == run_json("predict", "m.json", text)["rows"]
    assert "no sheet 'x'" in run("fit", book, *fit, "--sheet", "x", code=2).stderr


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_results_in_excel(run, fitted, folder, command):
    pytest.importorskip("openpyxl")
    data, model = fitted / "data.csv", fitted / "model.json"
    for name in ("out.xlsx", "out.csv"):
        run(command, model, data, "--id", "patient_id", "-o", name)
    one, two = read_table("out.xlsx"), read_table("out.csv")
    assert one.names == two.names
    for name in one.names:
        if name != "prediction":
            np.testing.assert_array_equal(
                one.columns[name].values, two.columns[name].values
            )


@pytest.mark.parametrize(
    ("separator", "decimal"), [(";", ","), ("\t", "."), (",", ",")]
)
def test_predictions_are_written_as_the_input(
    run, run_json, fitted, folder, separator, decimal
):
    table = columns()
    cells = {
        name: [str(one).replace(".", decimal) for one in table[name]]
        for name in ("patient_id", "age", "dose", "smoker", "noise", "colour")
    }
    path = write_csv(folder / "new.csv", cells, delimiter=separator)
    given = ("predict", fitted / "model.json", path, "--decimal", decimal)
    rows = list(csv.reader(io.StringIO(run(*given).stdout), delimiter=separator))
    assert rows[0] == ["row", "prediction", "score", "probability"]
    scores = [float(row[2].replace(decimal, ".")) for row in rows[1:]]
    assert scores == [one["score"] for one in run_json(*given)["rows"]]
    assert all(decimal in row[2] for row in rows[1:])


@pytest.fixture
def turned(folder):
    """A table whose columns are the samples, and their labels."""
    table = columns()
    names = [f"P{k}" for k in range(80)]
    rows = {"feature": ["age", "dose", "noise"]}
    for k, name in enumerate(names):
        rows[name] = [table[one][k] for one in rows["feature"]]
    write_csv(folder / "turned.csv", rows)
    order = np.random.default_rng(0).permutation(80)
    labels = {"who": np.array(names)[order], "state": table["state"][order]}
    write_csv(folder / "labels.csv", labels)
    plain = {name: table[name] for name in ("age", "dose", "noise", "state")}
    return write_csv(folder / "plain.csv", plain)


def test_samples_in_columns_with_labels_of_their_own(run, run_json, turned):
    fit = ("-t", "state", "-k", "2", *FAST)
    layout = ("--transpose", "--labels", "labels.csv")
    found = run_json("fit", "turned.csv", *layout, *fit)
    assert found["features"] == run_json("fit", turned, *fit)["features"]
    assert "labels of 80 of 80 samples from labels.csv" in found["data"]["remarks"]
    done = run(
        "fit",
        "turned.csv",
        *layout,
        *fit,
        "--model",
        "m.json",
        "--certificate",
        "p.npz",
    )
    command = next(
        line for line in done.stdout.split("\n") if "frugalsvm verify" in line
    )
    assert "--transpose --labels labels.csv" in command
    run(*shlex.split(command)[1:])
    rows = run_json("predict", "m.json", "turned.csv", "--transpose")["rows"]
    assert [one["feature"] for one in rows] == [f"P{k}" for k in range(80)]
    plain = run_json("predict", "m.json", turned)["rows"]
    assert [one["score"] for one in rows] == [one["score"] for one in plain]
    run("scorecard", "m.json", "turned.csv", *layout)
    for command in ("path", "alternatives"):
        found = run_json(command, "turned.csv", "-t", "state", *layout)
        assert json.dumps(found)
    done = run("fit", "turned.csv", *fit, code=2)
    assert "use --transpose, with --labels FILE" in done.stderr
    for command, file, labels in (
        ("predict", "m.json", ()), ("explain", "m.json", ()), ("verify", "p.npz", ()),
        ("verify", "p.npz", ("--labels", "labels.csv")),
    ):  # fmt: skip
        done = run(command, file, "turned.csv", *labels, code=1)
        assert "if the columns are the samples, use --transpose" in done.stderr


def test_samples_without_a_label(run, run_json, turned, folder):
    lines = (folder / "labels.csv").read_text().splitlines()
    (folder / "labels.csv").write_text("\n".join(lines[:-2]))
    fit = ("fit", "turned.csv", "--transpose", "--labels", "labels.csv", "-t", "state",
           *FAST)  # fmt: skip
    assert "missing in 2 rows of turned.csv" in run(*fit, code=1).stderr
    remarks = run_json(*fit, "--unlabelled", "drop")["data"]["remarks"]
    names = [line.split(",")[0] for line in lines[-2:]]
    shown = ", ".join(map(repr, sorted(names, key=lambda one: int(one[1:]))))
    assert f"samples without a label: {shown}" in remarks
    assert "2 rows without a target left out" in remarks
