import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from frugalsvm import PortableModel
from frugalsvm.export import Feature
from tests.cli.conftest import columns, write_csv


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_are_those_of_the_model(run, fitted):
    done = run("predict", fitted / "model.json", fitted / "data.csv")
    found = rows(done.stdout)
    assert len(found) == 80
    assert found[0].keys() == {"row", "prediction", "score", "probability"}
    hits = [
        one["prediction"] == truth
        for one, truth in zip(found, columns()["state"], strict=True)
    ]
    assert np.mean(hits) > 0.85
    chances = [float(one["probability"]) for one in found]
    assert all(
        (p > 0.5) == (one["prediction"] == "sick")
        for p, one in zip(chances, found, strict=True)
    )


def test_columns_in_any_order_with_others_and_ids(run, fitted, folder):
    table = columns(seed=1)
    del table["state"]
    shuffled = {name: table[name] for name in sorted(table)} | {"extra": ["x"] * 80}
    path = write_csv(folder / "new.csv", shuffled)
    model = fitted / "model.json"
    done = run("predict", model, path, "--id", "patient_id", "-o", "out.csv")
    assert done.stdout == ""
    found = rows((folder / "out.csv").read_text())
    assert [int(one["patient_id"]) for one in found] == table["patient_id"].tolist()
    other = write_csv(folder / "other.csv", table)
    again = rows(run("predict", model, other).stdout)
    assert [one["score"] for one in again] == [one["score"] for one in found]


def test_rows_with_unknown_and_missing_values(run, fitted, folder):
    table = columns()
    model = fitted / "model.json"
    path = write_csv(folder / "new.csv", table | {"smoker": ["pipe"] * 80})
    assert (
        "values unknown to the model ('pipe') in 80 rows"
        in run("predict", model, path).stderr
    )
    path = write_csv(folder / "new.csv", table | {"age": ["", *table["age"][1:]]})
    done = run("predict", model, path)
    assert "'age' has no value in 1 row (row 1), but had one in all rows" in done.stderr
    done = run("predict", model, path, "--strict", code=1)
    assert "row 1 of new.csv has no value in column 'age'" in done.stderr
    path = write_csv(folder / "new.csv", table | {"age": ["old", *table["age"][1:]]})
    assert "row 1 has 'old'" in run("predict", model, path, code=1).stderr
    del table["age"], table["dose"]
    path = write_csv(folder / "new.csv", table)
    assert "has no columns 'age', 'dose'" in run("predict", model, path, code=1).stderr
    assert (
        "--id: no column"
        in run("predict", model, fitted / "data.csv", "--id", "nobody", code=2).stderr
    )


def test_json_and_standard_input(run_json, fitted):
    text = (fitted / "data.csv").read_text()
    found = run_json("predict", fitted / "model.json", "-", stdin=text)["rows"]
    assert len(found) == 80
    assert found[3]["row"] == 4
    assert isinstance(found[3]["score"], float)


@pytest.mark.parametrize("content", ["{}", "no json", '{"format": "frugalsvm-model"}'])
def test_files_that_are_not_models(run, folder, fitted, content):
    (folder / "model.json").write_text(content)
    done = run("predict", "model.json", fitted / "data.csv", code=1)
    assert "model.json is not a model" in done.stderr


def test_a_forged_preparation_is_rejected(run, folder, fitted):
    content = json.loads((fitted / "model.json").read_text())
    content["metadata"]["preparation"] = "{}"
    (folder / "model.json").write_text(json.dumps(content))
    done = run("predict", "model.json", fitted / "data.csv", code=1)
    assert "preparation" in done.stderr


def test_models_from_python(run, folder, fitted):
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    frame = pd.DataFrame(columns())[["age", "dose"]]
    estimator = LogisticRegression().fit(frame, columns()["state"])
    PortableModel.from_estimator(estimator).save(folder / "model.json")
    found = rows(run("predict", "model.json", fitted / "data.csv").stdout)
    scores = [float(one["score"]) for one in found]
    np.testing.assert_allclose(scores, estimator.decision_function(frame), atol=1e-7)


def test_contributions_add_up(run, run_json, fitted, folder):
    model, data = fitted / "model.json", fitted / "data.csv"
    found = run_json("explain", model, data)
    for one in found["rows"]:
        total = found["intercept"] + sum(one["contributions"].values())
        assert total == pytest.approx(one["score"], abs=1e-7)
    done = run("explain", model, data, "--row", "3", "--row", "5")
    assert "row 3: " in done.stdout
    assert "row 5: " in done.stdout
    assert "row 4: " not in done.stdout
    assert "smoker=yes" in done.stdout
    assert "70 more rows" in run("explain", model, data).stdout
    run("explain", model, data, "-o", "all.csv")
    table = rows((folder / "all.csv").read_text())
    assert len(table) == 80
    assert float(table[0]["age"]) == pytest.approx(
        found["rows"][0]["contributions"]["age"]
    )
    assert (
        "the table has only 80 rows"
        in run("explain", model, data, "--row", "81", code=2).stderr
    )


@pytest.mark.parametrize("command", ["predict", "explain", "scorecard"])
@pytest.mark.parametrize("name", ["smoker", "age"])
def test_a_missing_column_is_named(run, fitted, folder, command, name):
    table = columns()
    del table[name]
    path = write_csv(folder / "new.csv", table)
    done = run(command, fitted / "model.json", path, code=1)
    assert f"new.csv has no column {name!r}; it needs the columns" in done.stderr


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "parquet"])
def test_a_header_alone_gets_a_header(run, run_json, fitted, folder, suffix):
    frame = pd.DataFrame(columns()).head(0)
    if suffix == "csv":
        frame.to_csv("new.csv", index=False)
    elif suffix == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel("new.xlsx", index=False)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet("new.parquet")
    model, new = fitted / "model.json", f"new.{suffix}"
    assert run("predict", model, new).stdout == "row,prediction,score,probability\n"
    assert run_json("predict", model, new, "--skip-bad-rows")["rows"] == []
    run("predict", model, new, "--id", "patient_id", "--strict", "-o", "out.xlsx")
    assert "no rows below it" in run("explain", model, new, code=1).stderr
    frame.drop(columns="age").to_csv("other.csv", index=False)
    assert "no column 'age'" in run("predict", model, "other.csv", code=1).stderr


def with_wrong_cells(folder):
    """The rows of the fit, four of them with a cell that cannot be used."""
    table = columns() | {"smoker": ["pipe", *columns()["smoker"][1:]]}
    table["age"] = ["", "old", *table["age"][2:]]
    table["dose"] = [*table["dose"][:5], "7;5", "<5", *table["dose"][7:]]
    table["noise"] = ["bad"] * 80
    return write_csv(folder / "new.csv", table)


def test_rows_with_a_wrong_cell_may_be_skipped(run, run_json, fitted, folder):
    model, path = fitted / "model.json", with_wrong_cells(folder)
    assert "row 2 has 'old'" in run("predict", model, path, code=1).stderr
    expected = run_json("predict", model, fitted / "data.csv")["rows"]
    found = run_json("predict", model, path, "--skip-bad-rows")
    assert found["skipped"] == {"age": [2], "dose": [6, 7]}
    assert found["filled"] == {"age": [1]}
    assert found["unknown"] == {"smoker": {"pipe": [1]}}
    for k, (one, other) in enumerate(zip(found["rows"], expected, strict=True)):
        if k in (1, 5, 6):
            nothing = {"prediction": None, "score": None, "probability": None}
            assert one == {"row": k + 1} | nothing
        elif k > 0:
            assert one == other
    done = run("predict", model, path, "--skip-bad-rows", "--strict")
    assert "4 of 80 rows have no prediction, because of wrong cells: " in done.stderr
    assert "'dose' in rows 6, 7" in done.stderr
    lines = done.stdout.splitlines()
    assert [lines[k] for k in (1, 2, 6, 7)] == ["1,,,", "2,,,", "6,,,", "7,,,"]
    assert not any(line.endswith(",") for line in [*lines[3:6], *lines[8:]])
    write_csv(folder / "bad.csv", {**columns(), "age": ["?", *["old"] * 79]})
    found = run_json("predict", model, "bad.csv", "--skip-bad-rows", "--strict")
    assert found["skipped"] == {"age": list(range(1, 81))}
    # A question of the format of all cells is still one.
    write_csv(folder / "bad.csv", {**columns(), "age": ["1.234,5", *["1,234.5"] * 79]})
    run("predict", model, "bad.csv", "--skip-bad-rows", "--decimal", "age=,")
    write_csv(folder / "none.csv", {**columns(), "age": [f"{k}%" for k in range(80)]})
    found = run_json("predict", model, "none.csv", "--skip-bad-rows")
    assert len(found["skipped"]["age"]) == 80


def test_wrong_cells_of_a_workbook(run_json, fitted, folder):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    table = columns() | {"smoker": ["=A1", *columns()["smoker"][1:]]}
    table["age"] = [*table["age"][:3], "old", "=1+1", *table["age"][5:]]
    book.active.append(list(table))
    for row in zip(*table.values(), strict=True):
        book.active.append([x.item() if hasattr(x, "item") else x for x in row])
    book.save("new.xlsx")
    found = run_json("predict", fitted / "model.json", "new.xlsx", "--skip-bad-rows")
    assert found["skipped"] == {"age": [4, 5], "smoker": [1]}
    expected = run_json("predict", fitted / "model.json", fitted / "data.csv")["rows"]
    assert found["rows"][5:] == expected[5:]


@pytest.mark.parametrize("unknown", ["error", "ignore"])
def test_wrong_cells_of_a_pipeline(run, run_json, folder, unknown):
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.svm import LinearSVC

    frame = pd.DataFrame({"c": ["a", "b", "d"] * 10, "x": np.arange(30.0) % 7})
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown=unknown), ["c"]), ("passthrough", ["x"])
    )
    pipeline = make_pipeline(encode, LinearSVC()).fit(frame, np.arange(30) % 4 > 1)
    PortableModel.from_estimator(pipeline).save("m.json")
    (folder / "new.csv").write_text("c,x\na,1\nzz,2\nb,x\nb,\nb,3\n")
    found = run_json("predict", "m.json", "new.csv", "--skip-bad-rows")
    if unknown == "error":
        assert found["skipped"] == {"x": [3, 4], "c": [2]}
        assert found["unknown"] == {}
    else:
        assert found["skipped"] == {"x": [3, 4]}
        assert found["unknown"] == {"c": {"zz": [2]}}
    scores = pipeline.decision_function(pd.DataFrame({"c": ["a", "b"], "x": [1.0, 3]}))
    assert [found["rows"][k]["score"] for k in (0, 4)] == pytest.approx(scores.tolist())
    (folder / "none.csv").write_text("c,x\n")
    assert run("predict", "m.json", "none.csv").stdout == "row,prediction,score\n"


def test_a_repeated_column_is_reported(run, fitted, folder):
    path = folder / "new.csv"
    path.write_text("age,dose,smoker,age\n50,5,yes,60\n")
    done = run("predict", fitted / "model.json", path)
    assert "'age' appears more than once in new.csv; the first one" in done.stderr


def scored_loans(run, folder):
    """A model on columns named like output columns, and its rows."""
    table = columns()
    table = {
        "score": table["age"], "intercept": table["dose"],
        "prediction": [f"00{10**17 + k}" for k in range(80)], "state": table["state"],
    }  # fmt: skip
    path = write_csv(folder / "loans.csv", table)
    options = ("-t", "state", "--effort", "fast", "--folds", "0", "--model", "m.json")
    run("fit", path, *options)
    return table, path


def test_columns_named_like_output_columns_are_renamed(run, run_json, folder):
    table, path = scored_loans(run, folder)
    done = run("explain", "m.json", path, "--id", "prediction", "-o", "all.csv")
    assert "written to all.csv" in done.stderr
    for one in rows((folder / "all.csv").read_text()):
        parts = [
            float(one[f"{name} (contribution)"]) for name in ("score", "intercept")
        ]
        total = float(one["intercept"]) + sum(parts)
        assert total == pytest.approx(float(one["score"]), abs=1e-7)
        assert one["prediction"] in ("sick", "well")
    found = run_json("predict", "m.json", path, "--id", "prediction")["rows"]
    assert [one["prediction (id)"] for one in found] == table["prediction"]
    found = run_json("explain", "m.json", path, "--id", "score")["rows"]
    assert [one["score (id)"] for one in found] == table["score"].tolist()


def test_identifiers_stay_as_they_are_written(run, folder):
    """As numbers, 18 digits would be rounded, and leading zeros lost."""
    table, path = scored_loans(run, folder)
    found = rows(run("predict", "m.json", path, "--id", "prediction").stdout)
    assert [one["prediction (id)"] for one in found] == table["prediction"]


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_json_and_a_file(run, run_json, fitted, folder, command):
    model, data = fitted / "model.json", fitted / "data.csv"
    assert len(run_json(command, model, data, "-o", "out.csv")["rows"]) == 80
    assert len(rows((folder / "out.csv").read_text())) == 80
    assert len(run_json(command, model, data, "-o", "-")["rows"]) == 80


def test_names_cannot_control_the_terminal(run, folder):
    table = {"\x1b[31mage": columns()["age"], "state": columns()["state"]}
    path = write_csv(folder / "data.csv", table)
    options = ("--effort", "fast", "--folds", "0", "--model", "m.json")
    done = run("fit", path, "-t", "state", *options)
    shown = run("explain", "m.json", path, "--row", "1")
    assert "\x1b" not in done.output + shown.output
    assert r"\x1b[31mage" in shown.stdout


def test_features_beyond_the_first_are_summed_up(run, folder):
    features = tuple(Feature(f"x{j}", j, 0.0, 1.0, 1.0 + j) for j in range(100))
    model = PortableModel(features, 0.5, ("no", "yes"), 100)
    model.save(folder / "model.json")
    write_csv(folder / "rows.csv", {name: [1.0] for name in model.names})
    found = run("explain", "model.json", "rows.csv").stdout
    lines = [line.split() for line in found.splitlines()]
    assert [line[0] for line in lines if line[:1] == ["x70"]] == ["x70"]
    assert not any(line[:1] == ["x69"] for line in lines)
    (rest,) = (line for line in lines if line[:2] == ["70", "more"])
    # 1 + 2 + ... + 70
    assert "+2485.0000" in rest
