"""path, alternatives, scorecard, export, info and warmup."""

import json
import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from frugalsvm import PortableModel
from tests.cli.conftest import columns, write_csv


def test_path(run, run_json, data, folder):
    options = ("path", data, "-t", "state", "--budgets", "1-4,99", "--folds", "3")
    found = run_json(*options)
    assert [one["max_features"] for one in found["path"]] == [1, 2, 3, 4]
    objectives = [one["objective"] for one in found["path"]]
    assert objectives == sorted(objectives, reverse=True)
    assert all(one["lower_bound"] <= one["objective"] for one in found["path"])
    assert all(0.4 < one["accuracy"] <= 1 for one in found["path"])
    assert found["one_standard_error"] in (1, 2, 3, 4)
    done = run(*options, "--report", "path.html")
    assert "within one standard error" in done.stdout
    assert done.stdout.count("█") > 4
    assert (folder / "path.html").read_text().rstrip().endswith("</html>")
    assert (
        "--budgets must look like"
        in run("path", data, "-t", "state", "--budgets", "few", code=2).stderr
    )
    none = run_json("path", data, "-t", "state", "--budgets", "2", "--folds", "0")
    assert none["path"][0]["accuracy"] is None


def test_a_path_fits_a_terminal_of_80_columns(run, folder, set_width):
    table = columns()
    shown_names = {
        "age": "age of the patient at admission",
        "dose": "dose of the drug per day in milligrams",
        "noise": "noise in the ward during the night",
    }
    table = {shown_names.get(name, name): values for name, values in table.items()}
    path = write_csv(folder / "long.csv", table)
    set_width(80)
    shown = run("path", path, "-t", "state", "--budgets", "1,5", "--folds", "3").stdout
    assert max(map(len, shown.splitlines())) <= 80
    # The last table; a name may be broken between its words only.
    changes = " ".join(shown.rpartition("budget")[2].split())
    for name in (*shown_names.values(), "smoker"):
        assert f"+{name}" in changes


def test_ctrl_c_leaves_the_path_on_all_rows(run_json, data, folder, ctrl_c_at):
    from frugalsvm.cli.path import FoldPath

    ctrl_c_at(FoldPath, "run")
    options = ("-t", "state", "--budgets", "1-2", "--report", "path.html")
    found = run_json("path", data, *options, code=130)
    assert found["interrupted"]
    assert [one["max_features"] for one in found["path"]] == [1, 2]
    assert found["one_standard_error"] is None
    assert (folder / "path.html").exists()


def test_alternatives(run, run_json, data, folder):
    options = ("alternatives", data, "-t", "state", "-k", "3")
    found = run_json(*options, "--tolerance", "5%")
    assert found["complete"]
    assert found["tolerance"] == 0.05
    assert found["models"][0]["excess"] == 0
    roles = {one["feature"]: one["role"] for one in found["roles"]}
    assert roles["age"] == "indispensable"
    done = run(*options, "--certificate", "all.npz")
    assert "Proved: no choice of features is missing" in done.stdout
    assert "listed and their subsets" in run("verify", "all.npz", data).stdout
    for options, words in (
        (("--tolerance", "much"), "--tolerance must look like"),
        (("--max-features", "auto"), "must be a number here"),
    ):
        done = run("alternatives", data, "-t", "state", *options, code=2)
        assert words in done.stderr


def test_incomplete_alternatives_state_what_is_proved(run, run_json, data):
    options = ("alternatives", data, "-t", "state", "-k", "3", "--time-limit", "0")
    found = run_json(*options)
    assert not found["complete"]
    assert found["status"] == "time limit"
    assert found["indispensable"] == []
    assert {one["role"] for one in found["roles"]} == {"in all found"}
    assert "larger --time-limit or a smaller --tolerance" in found["explanation"]
    shown = " ".join(run(*options).stdout.split())
    assert "No feature is proved to be indispensable." in shown
    assert "in all found" in shown
    cut = run_json(*options[:-4], "-k", "2", "--tolerance", "40%", "--limit", "1")
    assert cut["status"] == "limit"
    assert cut["indispensable"] == ["dose"]
    assert "larger --limit" in cut["explanation"]


def test_scorecard(run, run_json, fitted):
    model, data = fitted / "model.json", fitted / "data.csv"
    done = run("scorecard", model, data, "--points", "20", "--bins", "3")
    assert "points or more: sick" in done.stdout
    assert "percentage points" in done.stdout
    found = run_json("scorecard", model, data, "-t", "state")
    assert found["evaluation"]["accuracy"] > 0.8
    assert found["training_rows"] == found["evaluation"]["rows"] == 80
    assert found["training_rows_changed"] == found["evaluation"]["changed"]
    assert {one["feature"] for one in found["ranges"]} == {"age", "dose", "smoker=yes"}
    assert (
        "no column 'stat'" in run("scorecard", model, data, "-t", "stat", code=2).stderr
    )


def test_a_scorecard_is_that_of_the_model_on_any_table(run, run_json, fitted, folder):
    """It is evaluated on other rows, and changes by no more than that."""
    model = fitted / "model.json"
    other = write_csv(folder / "other.csv", columns(300, seed=1))
    card, there = run_json("scorecard", model), run_json("scorecard", model, other)
    assert card["evaluation"] is None
    assert there.pop("evaluation")["rows"] == 300
    assert {**card, "evaluation": None} == {**there, "evaluation": None}
    learned = run_json("scorecard", model, other, "--recalibrate")
    assert learned["probabilities_from"] == other
    assert learned["ranges"] == card["ranges"]
    assert learned["threshold"] == card["threshold"]
    assert learned["probabilities"] != card["probabilities"]
    done = " ".join(run("scorecard", model).stdout.split())
    n = card["training_rows_changed"]
    assert (
        f"its statistics of 80 training rows; card and model differ on {n} row" in done
    )
    done = " ".join(run("scorecard", model, other).stdout.split())
    assert "points rows probability observed" in done
    assert "On the 300 rows of" in done
    done = run("scorecard", model, "--recalibrate", code=2)
    assert "--recalibrate needs a table" in done.stderr


def test_a_model_without_statistics_needs_a_table(run, fitted, folder):
    model = replace(PortableModel.load(fitted / "model.json"), statistics=None)
    model.save(folder / "bare.json")
    done = run("scorecard", "bare.json", code=2)
    assert "bare.json keeps no statistics of its training rows; give a table" in (
        done.stderr
    )
    write_csv(folder / "other.csv", columns(100, seed=1))
    done = " ".join(run("scorecard", "bare.json", "other.csv").stdout.split())
    assert "the 100 rows of other.csv, as the model keeps no statistics" in done
    assert "On the 100 rows of other.csv, which it was made from:" in done


def test_a_fit_keeps_statistics_with_gaps(run, folder):
    table = columns(100)
    table["dose"] = table["dose"].astype(object)
    table["dose"][:30] = ""
    write_csv(folder / "gaps.csv", table)
    run("fit", "gaps.csv", "-t", "state", "-k", "3", "--effort", "fast", "--folds", "0",
        "--exclude", "visit", "--model", "m.json")  # fmt: skip
    model = PortableModel.load("m.json")
    missing = dict(zip(model.names, model.statistics.missing, strict=True))
    assert missing["dose"] == 30
    known = dict(zip(model.names, model.statistics.features, strict=True))
    assert sum(known["dose"].counts) == 70
    assert model.statistics.n_rows == sum(model.statistics.classes) == 100


def scores_by_table(run_json, fitted, data):
    found = run_json("predict", fitted / "model.json", data)["rows"]
    return [one["score"] for one in found]


def test_sql_takes_the_columns_of_the_table(run, run_json, fitted):
    text = run("export", fitted / "model.json", "--to", "sql").stdout
    wanted = scores_by_table(run_json, fitted, fitted / "data.csv")
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (age REAL, dose REAL, smoker TEXT)")
    table = columns()
    cells = zip(*(table[name] for name in ("age", "dose", "smoker")), strict=True)
    base.executemany(
        "INSERT INTO t VALUES (?, ?, ?)",
        [(float(a), float(d), str(s)) for a, d, s in cells],
    )
    found = [row[0] for row in base.execute(f"SELECT {text} FROM t")]
    np.testing.assert_allclose(found, wanted)
    label = run(
        "export", fitted / "model.json", "--to", "sql", "--what", "label"
    ).stdout
    assert base.execute(f"SELECT {label} FROM t").fetchone()[0] in ("sick", "well")
    for option in ("--dialect", "--what"):
        done = run("export", fitted / "model.json", "--to", "sql", option, "x", code=2)
        assert f"{option} must be one of" in done.stderr


def test_sql_has_probabilities_only_if_the_model_has(run, data):
    run("fit", data, "-t", "state", "--folds", "0", "--model", "m.json")
    done = run("export", "m.json", "--to", "sql", "--what", "probability", code=2)
    assert "--calibrate" in done.stderr


def test_python_takes_the_columns_of_the_table(run, run_json, fitted, folder):
    run("export", fitted / "model.json", "--to", "python", "-o", "score.py")
    module = {}
    exec((folder / "score.py").read_text(), module)
    table = columns()
    names = ("age", "dose", "smoker")
    found = [
        module["decision"](dict(zip(names, row, strict=True)))
        for row in zip(*(table[name] for name in names), strict=True)
    ]
    # To the last bit.
    assert found == scores_by_table(run_json, fitted, fitted / "data.csv")


def test_exports_impute_missing_values(run, run_json, folder):
    table = columns()
    gaps = {name: ["", *table[name][1:]] for name in ("age", "dose", "smoker")}
    path = write_csv(folder / "gaps.csv", table | gaps)
    run(
        "fit", path, "-t", "state", "-k", "3", "--missing", "median",
        "--effort", "fast", "--folds", "0", "--model", "m.json",
    )  # fmt: skip
    wanted = run_json("predict", "m.json", path)["rows"][0]["score"]
    module = {}
    exec(run("export", "m.json", "--to", "python").stdout, module)
    nothing = dict.fromkeys(("age", "dose", "smoker", "noise", "colour"))
    assert module["decision"](nothing) == wanted
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (age REAL, dose REAL, smoker TEXT, colour TEXT)")
    base.execute("INSERT INTO t VALUES (NULL, NULL, NULL, NULL)")
    text = run("export", "m.json", "--to", "sql").stdout
    assert base.execute(f"SELECT {text} FROM t").fetchone()[0] == pytest.approx(wanted)


def test_onnx(run, fitted, folder):
    assert (
        "give a file"
        in run("export", fitted / "model.json", "--to", "onnx", code=2).stderr
    )
    try:
        import onnx  # noqa: F401
    except ImportError:
        done = run(
            "export", fitted / "model.json", "--to", "onnx", "-o", "m.onnx", code=1
        )
        assert "onnx" in done.stderr
        assert not (folder / "m.onnx").exists()
        return
    run("export", fitted / "model.json", "--to", "onnx", "-o", "m.onnx")
    assert (folder / "m.onnx").stat().st_size > 100


def test_info(run, run_json):
    assert "scikit-learn" in run("info").stdout
    found = run_json("info")
    assert "native" in found["solvers"]
    assert found["versions"]["frugalsvm"]
    assert found["cores"] >= 1


def test_warmup(run_json, monkeypatch):
    from frugalsvm.cli import all_kernels as warmup

    folders = iter([("somewhere",), ()])
    monkeypatch.setattr(
        warmup, "warmup", lambda: warmup.Warmup(1, 2, 3.0, next(folders))
    )
    assert run_json("warmup")["folders"] == ["somewhere"]
    run_json("warmup", code=1)


def test_every_command_has_examples_and_the_common_options(run):
    commands = (
        "fit", "path", "alternatives", "predict", "explain", "scorecard", "export",
        "verify", "demo", "warmup", "info",
    )  # fmt: skip
    listed = run("--help").stdout
    for one in commands:
        assert one in listed
        text = run(one, "--help").stdout
        assert f"frugalsvm {one}" in text.split("Examples:")[1]
        for option in ("--json", "--quiet", "--seed", "--debug"):
            assert option in text


def test_a_quiet_demo_as_json(run):
    options = ("demo", "--effort", "fast", "--json")
    quiet = run(*options, "--quiet")
    assert json.loads(quiet.stdout)["gap"] >= 0
    assert quiet.stderr == ""
    # What it says is no JSON.
    loud = run(*options)
    assert loud.stdout == quiet.stdout
    assert "Proved" in loud.stderr


def test_seeds_are_those_that_all_parts_take(run, data):
    done = run("fit", data, "-t", "state", "--seed", str(2**32), code=2)
    assert "--seed" in done.output
