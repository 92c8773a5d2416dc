"""Number formats of other countries, from fit to predict and verify."""

import csv
import io
import json

import numpy as np
import pytest

from frugalsvm import Certificate, PortableModel
from frugalsvm.export import Feature

N = 60


def table(form, n=N, seed=0):
    """Rows whose class depends on income, formatted by a function; and a date."""
    rng = np.random.default_rng(seed)
    income = rng.integers(20_000, 80_000, n) + 0.5
    ratio = rng.random(n).round(3) * 20
    lines = ["datum;income;ratio;n;y"]
    for k in range(n):
        label = "rich" if income[k] > 45_000 else "poor"
        date = f"{k % 28 + 1:02d}.01.2020"
        cells = (date, form(income[k]), f"{ratio[k]:.4f}", k * k % 97, label)
        lines.append(";".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def german(value, digits=2):
    return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))


@pytest.fixture
def fitted_german(run, folder):
    (folder / "data.csv").write_text(table(german))
    done = run(
        "fit", "data.csv", "-t", "y", "-k", "2", "--folds", "0", "--effort", "fast",
        "--model", "model.json", "--certificate", "proof.npz",
    )  # fmt: skip
    return done


def predictions(done):
    separator = next(one for one in ";\t," if one in done.stdout.split("\n")[0])
    return list(csv.DictReader(io.StringIO(done.stdout), delimiter=separator))


def test_a_german_export(run, run_json, fitted_german, folder):
    fit = ("fit", "data.csv", "-t", "y", "--folds", "0", "--effort", "fast")
    german = {"income": {"decimal": ",", "thousands": "."}}
    assert run_json(*fit)["data"]["formats"] == german
    said = fitted_german.stderr
    assert "decimal commas and points between thousands, like 1.234,5: 'income'" in said
    assert "decimal points, like 1234.5: 'ratio'" in said
    assert "dropped datum: dates like '01.01.2020'" in said
    found = run_json("verify", "proof.npz", "data.csv")
    assert [one["name"] for one in found["features"]] == ["income", "ratio", "n"]
    mean = {one["name"]: one["mean"] for one in found["features"]}
    assert 20_000 < mean["income"] < 80_000
    assert 0 < mean["ratio"] < 20


def test_the_format_is_kept(fitted_german, folder):
    expected = {
        "income": {"decimal": ",", "thousands": "."},
        "ratio": {"decimal": ".", "thousands": None},
        "n": {"decimal": None, "thousands": None},
    }
    model = json.loads((folder / "model.json").read_text())
    proof = Certificate.load(folder / "proof.npz")
    for text in (model["metadata"]["preparation"], proof.preparation):
        for one in json.loads(text)["columns"]:
            assert one["format"] == expected[one["name"]]


def test_predict_reads_as_fit_did(run, fitted_german, folder):
    """45.000 keeps its value, whatever else is in the file."""
    for name, cell in {"a": "45.500,50", "b": "45.500", "c": "45500,5"}.items():
        (folder / f"{name}.csv").write_text(f"income;ratio;n\n{cell};1.5;3\n")
        (found,) = predictions(run("predict", "model.json", f"{name}.csv"))
        assert found["prediction"] == "rich"
    (folder / "d.csv").write_text("income;ratio;n\n45.500,5;1.5;3\n44.5;1.5;3\n")
    said = run("predict", "model.json", "d.csv", code=1).stderr
    assert "column 'income': row 2 has '44.5', which is not a number with decimal" in (
        said.lower()
    )
    # Unless options say that the file has another format.
    (folder / "e.csv").write_text("income;ratio;n\n45500.5;1.5;3\n")
    (found,) = predictions(run("predict", "model.json", "e.csv", "--decimal", "."))
    assert found["prediction"] == "rich"
    done = run("explain", "model.json", "e.csv", "--decimal", "income=point")
    assert "45500.5" in done.stdout


def test_verify_reads_as_fit_did(run, fitted_german, folder):
    text = (folder / "data.csv").read_text()
    lines = text.splitlines()
    cells = lines[1].split(";")
    cells[1] = cells[1].replace(".", "").replace(",", ".")
    (folder / "other.csv").write_text(
        "\n".join([lines[0], ";".join(cells), *lines[2:]])
    )
    said = run("verify", "proof.npz", "other.csv", code=1).stderr
    assert "row 1 has" in said
    assert "proved" not in said


def test_ambiguous_columns_are_rejected_with_both_readings(run, run_json, folder):
    (folder / "data.csv").write_text(table(lambda value: german(value, 0)))
    fit = ("fit", "data.csv", "-t", "y", "-k", "2", "--folds", "0", "--effort", "fast")
    # The other columns have decimal points, and so has this one.
    assert run_json(*fit)["features"]
    head, *lines = table(lambda value: german(value, 0)).splitlines()
    lines = [f"{line};{k * k % 31},5" for k, line in enumerate(lines)]
    (folder / "data.csv").write_text("\n".join([f"{head};share", *lines]))
    said = run(*fit, code=1).stderr
    assert "with decimal points but" in said
    assert "--decimal" in said
    mean = {}
    for sign in (".", ","):
        found = run_json(*fit, "--decimal", f"income={sign}", "-k", "1")
        (one,) = found["features"]
        mean[sign] = one["mean"]
        assert one["name"] == "income"
    assert mean[","] == pytest.approx(1000 * mean["."])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--decimal", ";"), "--decimal must be one of point, comma"),
        (("--thousands", "dot"), "--thousands must be one of"),
        (("--decimal", ",", "--thousands", ","), "they must differ"),
        (("--decimal", ",", "--decimal", "."), "two different values for 'the file'"),
        (("--decimal", "nothing=,"), "no column 'nothing'"),
    ],
)
def test_invalid_formats(run, data, options, words):
    done = run("fit", data, "-t", "state", "--folds", "0", *options, code=2)
    assert words in done.stderr


def test_the_table_of_a_fit_verifies_and_predicts(run, folder):
    """Whole numbers written with zeros, as a feature and as classes."""
    rng = np.random.default_rng(0)
    a, y = rng.integers(20, 60, N), rng.integers(1, 3, N)
    lines = [f"{a[k] + 9 * y[k]}.000;{k % 7};{y[k]}.000" for k in range(N)]
    (folder / "data.csv").write_text("\n".join(["a;b;y", *lines]) + "\n")
    fit = ("fit", "data.csv", "-t", "y", "-k", "1", "--folds", "0", "--effort", "fast")
    files = ("--model", "model.json", "--certificate", "proof.npz")
    run(*fit, *files, "--decimal", ".")
    run("verify", "proof.npz", "data.csv")
    assert len(predictions(run("predict", "model.json", "data.csv"))) == N


def test_a_proof_is_checked_against_a_table_in_another_format(run, folder):
    """In another country's format, given by options."""
    (folder / "data.csv").write_text(table(german))
    run(
        "fit", "data.csv", "-t", "y", "-k", "2", "--folds", "0", "--effort", "fast",
        "--certificate", "proof.npz",
    )  # fmt: skip
    (folder / "other.csv").write_text(table(lambda value: f"{value:.2f}"))
    done = run("verify", "proof.npz", "other.csv", code=1)
    assert "--decimal" in done.stderr
    run("verify", "proof.npz", "other.csv", "--decimal", "income=.")
    done = run("verify", "proof.npz", "other.csv", "--decimal", "cost=.", code=2)
    assert "no column 'cost'" in done.stderr


def test_models_of_python_read_plain_numbers(run, folder):
    """The file has no evidence against decimal points, and the model has no format."""
    model = PortableModel((Feature("x", 0, 0.0, 1.0, 1.0),), 0.0, (0, 1), 1)
    model.save(folder / "model.json")
    (folder / "data.csv").write_text("id,x\n1,1.234\n2,5.678\n")
    scores = [
        float(p["score"].replace(",", "."))
        for p in predictions(run("predict", "model.json", "data.csv"))
    ]
    assert scores == [1.234, 5.678]
    (folder / "data.csv").write_text("id;x\n1;1.234\n2;5.678\n")
    assert "1234" in run("predict", "model.json", "data.csv", code=1).stderr
