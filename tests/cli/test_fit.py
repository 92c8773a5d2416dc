import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from frugalsvm import FrugalSVC, PortableModel
from frugalsvm.cli.fit import Files, Run
from frugalsvm.cli.options import DataOptions
from frugalsvm.cli.session import Session
from frugalsvm.cli.study import Conditions, Search, load_data
from frugalsvm.solving.options import PartSizes
from frugalsvm.tables import Preparation
from tests.cli.conftest import columns, write_csv

FAST = ("-t", "state", "--effort", "fast", "--folds", "3")


def test_it_reports_how_it_read_the_table_and_the_result(run, data):
    done = run("fit", data, *FAST, "-k", "3", "--positive", "sick")
    for words in (
        "80 rows, 8 columns", " rows are 'sick' (positive), ",
        "dropped patient_id: identifiers", "dropped visit: dates like '2024-01-11'",
        "categories of colour: blue, green",
        "counts as one feature", "standardised",
    ):  # fmt: skip
        assert words in done.stderr
    for words in (
        "smoker=yes", "age", "dose", "weight per unit", "a positive score means 'sick'",
        "cross-validated accuracy", "AUC", "encoding, scaling, feature selection",
        "Proved: no linear SVM with at most 3 features and C = 1",
    ):  # fmt: skip
        assert words in done.stdout


def test_weights_in_both_units_give_the_same_scores(run_json, data):
    found = run_json("fit", data, *FAST, "-k", "3")
    features = {one["name"]: one for one in found["features"]}
    assert set(features) == {"age", "dose", "smoker=yes"}
    table = columns()
    values = {
        "age": table["age"], "dose": table["dose"],
        "smoker=yes": (table["smoker"] == "yes").astype(float),
    }  # fmt: skip
    raw = found["intercept"] + sum(features[n]["weight"] * values[n] for n in values)
    standard = found["standardised_intercept"] + sum(
        features[n]["standardised_weight"]
        * (values[n] - features[n]["mean"])
        / features[n]["scale"]
        for n in values
    )
    np.testing.assert_allclose(raw, standard)
    assert found["data"]["classes"] == {"negative": "sick", "positive": "well"}
    assert np.mean((standard > 0) == (table["state"] == "well")) > 0.85
    assert found["cross_validation"]["folds"] == 3
    assert sum(map(sum, found["cross_validation"]["confusion"])) == 80
    assert found["cross_validation"]["AUC"]["mean"] > 0.8


@pytest.fixture
def preparations(monkeypatch):
    """For each preparation that a command learns, its rows (None: all) and itself."""
    learned, fit = [], Preparation.fit.__func__

    def noted(cls, *arguments, rows=None, **options):
        preparation = fit(cls, *arguments, rows=rows, **options)
        learned.append((rows, preparation))
        return preparation

    monkeypatch.setattr(Preparation, "fit", classmethod(noted))
    return learned


def test_folds_repeat_imputation_encoding_and_scaling(folder, preparations, run):
    """Everything learned in a fold is learned from its training rows."""
    table = columns()
    table["age"] = ["", *table["age"][1:]]
    table["colour"] = ["", *table["colour"][1:]]
    path = write_csv(folder / "gaps.csv", table)
    run("fit", path, *FAST, "-k", "2", "--missing", "median")
    parts = [(rows, made) for rows, made in preparations if rows is not None]
    assert len(parts) == 3
    assert all(50 <= rows.size <= 54 for rows, _ in parts)
    assert all(made.columns[0].fill is not None for _, made in parts)
    means = [made.means[0] for _, made in preparations]
    assert len(set(means)) == 4


def test_auto_chooses_budget_and_C_in_every_fold(run_json, data):
    found = run_json("fit", data, *FAST, "-k", "auto", "--C", "auto")
    assert found["chosen_by_cross_validation"]
    assert 1 <= found["max_features"] <= 7
    assert found["C"] == 0.03
    assert 0.003 <= found["refit_C"] <= 30
    chosen = found["cross_validation"]["chosen"]
    assert len(chosen) == 3
    assert all(one["C"] > 0 for one in chosen)


def test_the_weights_of_a_chosen_C_are_those_of_all_outputs(run, run_json, data):
    """They are the SVM on the selected features with the C that was chosen for them."""
    found = run_json(
        "fit", data, *FAST, "-k", "2", "--C", "auto", "--model", "m.json",
        "--certificate", "p.npz", "--report", "r.html",
    )  # fmt: skip
    assert f"C = {found['refit_C']:g}, chosen by" in found["proof"]["words"]
    model = PortableModel.load("m.json")
    assert model.metadata["C"] == "0.03"
    assert float(model.metadata["refit_C"]) == found["refit_C"]
    weights = {one["name"]: one["standardised_weight"] for one in found["features"]}
    assert {one.name: one.weight for one in model.features} == weights
    assert model.intercept == pytest.approx(found["standardised_intercept"])
    table = load_data(data, "state")
    preparation = table.prepare()
    X = preparation.transform(table.table)
    used = [preparation.features.index(name) for name in weights]
    alone = FrugalSVC(None, found["refit_C"]).fit(X[:, used], table.target.positive)
    np.testing.assert_allclose(alone.coef_[0], list(weights.values()), rtol=1e-4)
    run("verify", "p.npz", data)
    assert "C of the weights chosen by cross-validation" in Path("r.html").read_text()


def test_model_and_certificate_are_written(fitted):
    model = PortableModel.load(fitted / "model.json")
    assert model.classes == ("well", "sick")
    assert model.calibration is not None
    assert model.proof.fingerprint
    assert "preparation" in model.metadata
    assert sorted(one.name for one in fitted.iterdir()) == [
        "data.csv", "model.json", "proof.npz",
    ]  # fmt: skip


def test_include_exclude_and_costs(run_json, folder, data):
    found = run_json(
        "fit", data, *FAST, "-k", "2", "--include", "noise", "--exclude", "age"
    )
    names = [one["name"] for one in found["features"]]
    assert "noise" in names
    assert "age" not in names
    assert found["data"]["dropped"]["age"] == "excluded by --exclude"
    costs = {"column": ["age", "dose", "noise", "smoker", "colour"]}
    costs["cost"] = [10, 1, 1, 1, 1]
    prices = write_csv(folder / "costs.csv", costs)
    cheap = run_json("fit", data, *FAST, "--costs", prices, "--max-cost", "3")
    assert "age" not in [one["name"] for one in cheap["features"]]
    costs = {"column": ["age"], "cost": [1]}
    prices = write_csv(folder / "few.csv", costs)
    found = run_json("fit", data, *FAST, "--costs", prices, "--max-cost", "3", code=1)
    assert "no cost for 'dose', 'noise'" in found["error"]


def test_the_same_seed_gives_the_same_model(run_json, data):
    first, second = (run_json("fit", data, *FAST, "--seed", "5") for _ in range(2))
    for one in (first, second):
        one.pop("seconds")
    assert first == second


def test_standard_input_and_quiet(run, data):
    with open(data) as file:
        done = run("fit", "-", *FAST, "--folds", "0", "-q", stdin=file.read())
    assert done.stderr == ""
    assert "Proved" in done.stdout
    assert "cross-validated" not in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-t", "stat"], "did you mean 'state'"),
        (["-t", "state", "-k", "many"], "--max-features must be a number"),
        (["-t", "state", "--C", "0"], "--C must be a positive number"),
        (["-t", "state", "--effort", "huge"], "--effort must be one of"),
        (["-t", "state", "--positive", "ill"], "its classes are 'sick', 'well'"),
        (["-t", "state", "--exclude", "aeg"], "did you mean 'age'"),
        (["-t", "state", "--max-cost", "3"], "must be given together"),
        (["-t", "state", "--model", "."], "is a folder"),
        (["-t", "state", "--model", "no/where.json"], "folder no does not exist"),
        (["-t", "state", "--model", "a", "--report", "a"], "the same name"),
        (["-t", "state", "--calibrate", "--folds", "0"], "--calibrate needs"),
        (["-t", "state", "--time-limit", "-1"], "--time-limit must be"),
        (["-t", "state", "--jobs", "0"], "--jobs must be"),
        (["-t", "state", "--folds", "1"], "--folds must be at least 2"),
        (["-t", "state", "-k", "0"], "from 1 on, auto or all, got '0'"),
        (
            ["-t", "state", "--include", "colour", "-k", "2", "--split-categories"],
            "needs 3 features",
        ),
        (["-t", "state", "--signs", "age"], "--signs must look like income=+,age=-"),
        (["-t", "state", "--signs", "agee=+"], "did you mean 'age'"),
        (["-t", "state", "--signs", "age=+,age=-"], "'age' has both signs"),
        (["-t", "state", "--levels", "largest"], "--levels must be smallest or mean"),
        (
            ["-t", "state", "--levels", "mean", "--split-categories"],
            "remove --split-categories",
        ),
        (
            ["-t", "state", "--levels", "mean", "--signs", "colour=red=+"],
            "leave out one of the two",
        ),
    ],
)
def test_bad_usage_is_one_clear_line(run, data, options, words):
    done = run("fit", data, *options, code=2)
    assert words in done.stderr
    lines = [one for one in done.stderr.splitlines() if one.startswith("error: ")]
    assert len(lines) == 1
    assert "Traceback" not in done.output


def test_without_a_target_the_option_is_named(run, data):
    assert "--target" in run("fit", data, code=2).output


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"state": ["sick"] * 80}, "only one class"),
        ({"state": ["a", "b", "c", "d"] * 20}, "4 classes"),
        (
            {"state": [""] + ["a"] * 40 + ["b"] * 39},
            "is missing in 1 row of data.csv",
        ),
        ({"age": ["inf"] + [1, 2, 3] * 26 + [4]}, "1 infinite value;"),
    ],
)
def test_bad_data_is_one_clear_line(run, folder, change, words):
    path = write_csv(folder / "data.csv", columns() | change)
    done = run("fit", path, "-t", "state", code=1)
    assert words in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("a,b,state\n", "no rows"),
        ("a,b,state\n1,2,yes\n", "only one class"),
    ],
)
def test_nearly_empty_files(run, folder, content, words):
    (folder / "data.csv").write_text(content)
    assert words in run("fit", "data.csv", "-t", "state", code=1).stderr


def test_a_missing_file_and_a_traceback_on_request(run, folder):
    done = run("fit", "none.csv", "-t", "y", code=1)
    assert "file not found: none.csv" in done.stderr
    assert "Traceback" in run("fit", "none.csv", "-t", "y", "--debug", code=1).output


def test_two_rows_of_a_class_make_two_folds_and_one_makes_none(run, folder):
    content = "a,b,y\n" + "".join(f"{k},{k * k % 7},{int(k > 17)}\n" for k in range(20))
    (folder / "data.csv").write_text(content)
    options = ("fit", "data.csv", "-t", "y", "--effort", "fast", "--keep", "a")
    assert "2 folds" in run(*options).stderr
    (folder / "data.csv").write_text(content.replace("18,2,1\n", "18,2,0\n"))
    assert "no cross-validation" in run(*options).stderr


def test_many_columns_are_not_all_listed(run, folder):
    rng = np.random.default_rng(0)
    table = {f"c{j}": rng.normal(size=12).round(2) for j in range(10_000)}
    table |= {f"k{j}": [1] * 12 for j in range(50)}
    table["y"] = [0, 1] * 6
    path = write_csv(folder / "wide.csv", table)
    done = run("fit", path, "-t", "y", "-k", "2", "--effort", "fast", "--folds", "0")
    assert "dropped 40 more columns" in done.stderr
    assert len(done.output.splitlines()) < 40


def test_very_many_rows_have_a_hint(capsys, data):
    source = DataOptions(data, "state")
    for effort, has_hint in (("normal", True), ("fast", False)):
        search = Search(effort, part_sizes=PartSizes(many=50, part=70))
        Run(Session(), Files(), search, 0).start(source, Conditions(1))
        hint = "--effort fast is quicker"
        assert (hint in capsys.readouterr().err) == has_hint


def test_names_with_terminal_escape_codes(run, folder):
    table = columns()
    table["\x1b[31mred[bold]\nline"] = table.pop("age")
    path = write_csv(folder / "data.csv", table)
    done = run("fit", path, *FAST, "-k", "3")
    assert "\x1b[31m" not in done.output
    assert "\\x1b[31mred[bold]\\nline" in done.output


def test_the_report_is_written_whole(run, data, folder):
    done = run("fit", data, *FAST, "-k", "2", "--report", "out.html")
    assert "report written to out.html" in done.stderr
    text = (folder / "out.html").read_text()
    assert text.lstrip().lower().startswith("<!doctype html>")
    assert "</html>" in text


def test_ctrl_c_while_cross_validating_shows_and_saves_the_model(
    run, data, folder, ctrl_c_at
):
    from frugalsvm.cli import validation

    ctrl_c_at(validation, "run_or_raise")
    done = run("fit", data, *FAST, "-k", "2", "--model", "m.json", code=130)
    assert "interrupted: this is the best model found so far" in done.stderr
    assert "Proved" in done.stdout
    assert json.loads((folder / "m.json").read_text())["features"]


def test_ctrl_c_before_there_is_a_model(run, data, ctrl_c_at):
    from frugalsvm.cli import choosing as fitting

    ctrl_c_at(fitting, "run_interruptible")
    done = run("fit", data, *FAST, code=130)
    assert "interrupted before a result was found" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-k", "2", "--C", "auto"], "with at most 2 features and C = 0.03 has"),
        (["-k", "auto", "--C", "1"], "(feature limit chosen by cross-validation)"),
        (
            ["-k", "auto", "--class-weight", "balanced"],
            "(feature limit chosen by cross-validation), class weights balanced (",
        ),
        (["-k", "auto", "--C", "auto"], "(feature limit chosen by cross-validation)"),
        (["-k", "all"], "no linear SVM with C = 1 has"),
    ],
)
def test_the_proof_lines_name_what_was_chosen(run_json, data, options, words):
    found = run_json(
        "fit", data, "-t", "state", "--effort", "fast", *options, "--folds", "0"
    )
    assert words in found["proof"]["words"]


def test_the_command_that_verifies_can_be_pasted(run, folder):
    path = write_csv(folder / "my data; reboot.csv", columns())
    proof = str(folder / "proof $(x).npz")
    done = run("fit", path, *FAST[:4], "--folds", "0", "--certificate", proof)
    command = shlex.join(["frugalsvm", "verify", proof, path])
    assert command in done.stdout.replace("\n", "")


def test_choosing_prepares_the_table_in_every_inner_fold(folder, preparations, run):
    """With auto, inner folds learn from their own training parts, and nothing else."""
    table = columns()
    table["age"] = ["", "", *table["age"][2:]]
    # A category that some training parts do not have.
    table["colour"] = ["rare", *table["colour"][1:]]
    path = write_csv(folder / "gaps.csv", table)
    run("fit", path, *FAST, "-k", "auto", "--missing", "median")
    # 3 folds inside all rows, and 3 inside each of the 3 training parts of 53 rows.
    seen = [(80 if rows is None else rows.size, made) for rows, made in preparations]
    outer = [made for n, made in seen if 52 <= n <= 54]
    inside = [made for n, made in seen if 34 <= n <= 37]
    assert len(outer) >= 3 + 3
    assert len(inside) == 9
    assert len({made.columns[0].fill for made in inside}) > 3
    assert len({made.n_features for made in inside}) == 2


def test_missing_probabilities_are_reported(run, folder):
    table = {"a": [1, 2, 3, 4, 9], "b": [2, 3, 1, 7, 9], "state": [*"xxxxz"]}
    path = write_csv(folder / "few.csv", table)
    done = run("fit", path, *FAST, "--calibrate", "--quiet", "--model", "m.json")
    assert "the model has no probabilities" in done.stderr
    assert PortableModel.load("m.json").calibration is None


def test_the_headline_comes_first_and_its_numbers_are_fields(run, run_json, data):
    options = ("fit", data, *FAST, "--folds", "3", "--positive", "sick")
    done = run(*options)
    assert done.stdout.lstrip().startswith("Of the 80 rows, 49 are 'sick': the model")
    found = run_json(*options)["cross_validation"]
    (kept, flagged), (missed, caught) = found["confusion"]
    per_100 = found["per_100"]
    assert per_100["caught"] == pytest.approx(caught / 0.8)
    assert per_100["flagged"] == pytest.approx(flagged / 0.8)
    assert per_100["right"] == pytest.approx((kept + caught) / 0.8)
    assert per_100["missed"] == pytest.approx(missed / 0.8)
    assert per_100["larger_class"] == "sick"
    assert found["words"][0] in done.stdout
    auc = found["AUC"]
    assert 0 <= auc["low"] <= auc["mean"] <= auc["high"] <= 1


def test_warnings_stand_before_the_result(run, run_json, folder):
    table = columns()
    table["after"] = [float(one == "sick") for one in table["state"]]
    data = write_csv(folder / "leak.csv", table)
    done = run("fit", data, *FAST, "--folds", "3", "-q", "--report", "out.html")
    words = "after alone separates the classes almost perfectly"
    assert f"warning: {words}" in done.stderr
    page = Path("out.html").read_text(encoding="utf-8")
    assert page.index(words) < page.index("The model predicts")
    found = run_json("fit", data, *FAST, "--folds", "0")
    assert found["warnings"][0].startswith(words)
