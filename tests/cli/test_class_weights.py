"""Rare classes: weights by name and by themselves, and models of one class."""

import csv
import json
from collections import Counter
from io import StringIO

import numpy as np
import pytest

from frugalsvm import Certificate, PortableModel
from frugalsvm.cli import study, validation
from frugalsvm.cli.class_weights import RARE, ClassWeights, parse_class_weight
from frugalsvm.cli.session import UsageProblem
from frugalsvm.estimators import cells
from frugalsvm.estimators.folds import FoldJob
from frugalsvm.tables import Target
from tests.cli.conftest import write_csv


def rare(n=200, n_sick=10, seed=0, signal=1.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    sick = np.arange(n) % (n // n_sick) == 0
    X[sick, :2] += signal
    return {
        **{name: X[:, j].round(4) for j, name in enumerate("abcde")},
        "state": np.where(sick, "sick", "well"),
    }


def target(n_first, n_second, classes=("sick", "well")):
    return Target("state", classes, np.arange(n_first + n_second) >= n_first)


@pytest.fixture
def table(folder):
    return write_csv(folder / "rare.csv", rare())


@pytest.fixture
def weak(folder):
    """A table in which giving up the rare class costs least."""
    return write_csv(folder / "weak.csv", rare(signal=0.2))


FIT = ("-t", "state", "-k", "3", "--folds", "2", "--effort", "fast")
NO_WEIGHTS = ("--class-weight", "none")


# --- what the option means ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("auto", "auto"),
        ("Balanced", "balanced"),
        (" none ", "none"),
        ("sick=10", {"sick": 10.0}),
        ("sick=10, well=0.5", {"sick": 10.0, "well": 0.5}),
        ("a=b=2,c=1", {"a=b": 2.0, "c": 1.0}),
        ("1=3,-1=1e-2", {"1": 3.0, "-1": 0.01}),
    ],
)
def test_weights_are_words_or_labels(text, given):
    assert parse_class_weight(text) == given


@pytest.mark.parametrize(
    "text", ["", "heavy", "sick", "sick=", "=3", "sick=0", "sick=-1", "sick=nan",
             "sick=inf", "sick=1,sick=2", "sick=1,", "sick=a,well=2"],
)  # fmt: skip
def test_bad_weights_are_usage_errors(text):
    with pytest.raises(UsageProblem, match="--class-weight"):
        parse_class_weight(text)


@pytest.mark.parametrize(
    ("n_sick", "n_well", "is_balanced"),
    [(33, 67, True), (1, 2, False), (34, 66, False), (67, 33, True), (50, 50, False)],
)
def test_auto_balances_below_a_third(n_sick, n_well, is_balanced):
    found = ClassWeights.of("auto", target(n_sick, n_well))
    assert found.is_balanced is is_balanced
    assert pytest.approx(2 / (3 * 2)) == RARE
    signs = target(n_sick, n_well).signs
    said = found.remark(signs)
    assert bool(said) is is_balanced
    if is_balanced:
        rarer = "sick" if n_sick < n_well else "well"
        assert f"because only 33.0 % of the rows are '{rarer}'" in said
        total = n_sick + n_well
        expected = np.where(signs > 0, total / (2 * n_well), total / (2 * n_sick))
        np.testing.assert_allclose(found.of_rows(signs), expected)
    else:
        assert found.of_rows(signs) is None


def test_weights_by_label_match_numbers_as_they_are_written():
    signs = np.array([-1.0, 1.0])
    for classes, text in (
        ((0, 1), "1.0=4"),
        ((0.5, 1.5), "1.50=4"),
        (("0", "1"), "1=4"),
    ):
        found = ClassWeights.of(parse_class_weight(text), target(5, 5, classes))
        assert found.of_rows(signs).tolist() == [1.0, 4.0]
    with pytest.raises(UsageProblem, match=r"'2' is no class of 'state'.*'0' and '1'"):
        ClassWeights.of({"2": 1.0}, target(5, 5, (0, 1)))


# --- fits -----------------------------------------------------------------------------


def test_a_rare_class_is_balanced_and_said(run, run_json, table, folder):
    done = run("fit", table, *FIT, "--report", "r.html", "--model", "m.json",
               "--certificate", "p.npz")  # fmt: skip
    assert (
        "class weights: balanced, because only 5.0 % of the rows are 'sick' "
        "('sick' counts 10, 'well' counts 0.5263)" in done.output
    )
    weights = "('sick' counts 10, 'well' counts 0.5263)"
    assert f"class weights balanced {weights}," in done.output
    assert "cross-validated balanced accuracy" in done.output
    page = (folder / "r.html").read_text()
    assert "<dt>Class weights</dt><dd>balanced (&#39;sick&#39; counts 10" in page
    assert "0.5 is guessing, 1 is perfect" in page
    metadata = json.loads((folder / "m.json").read_text())["metadata"]
    assert metadata["class weights"] == "balanced"
    # The certificate proves the weighted problem, for the command and from Python.
    weights = Certificate.load("p.npz").arrays["weights"]
    np.testing.assert_allclose(np.unique(weights), [200 / 380, 10.0])
    checked = run_json("verify", "p.npz", table)
    fitted = run_json("fit", table, *FIT)
    assert checked["objective"] == pytest.approx(fitted["proof"]["objective"])
    assert fitted["constant"] is None
    assert fitted["class_weight"] == {
        "option": "auto",
        "kind": "balanced",
        "weights": {"sick": 10.0, "well": pytest.approx(200 / 380)},
    }
    assert sum(map(sum, fitted["cross_validation"]["confusion"])) == 200


def test_weights_by_name_are_those_of_the_problem(run, run_json, table):
    fitted = run_json(
        "fit", table, *FIT, "--class-weight", "sick=7,well=2", "--certificate", "p.npz"
    )
    weights = Certificate.load("p.npz").arrays["weights"]
    np.testing.assert_allclose(np.unique(weights), [2.0, 7.0])
    assert fitted["class_weight"]["weights"] == {"sick": 7.0, "well": 2.0}
    assert fitted["class_weight"]["kind"] == "fixed"
    run("verify", "p.npz", table)
    done = run("fit", table, *FIT, "--class-weight", "ill=7", code=2)
    assert "'ill' is no class of 'state'" in done.output


def test_a_third_of_the_rows_is_not_rare(run, run_json, folder):
    table = write_csv(folder / "even.csv", rare(n=60, n_sick=20))
    done = run("fit", table, *FIT)
    assert "class weights" not in done.output
    assert "cross-validated accuracy" in done.output
    assert run_json("fit", table, *FIT)["class_weight"]["kind"] == "none"


def test_path_and_alternatives_take_weights(run, run_json, table):
    path = ("-t", "state", "--budgets", "1-2", "--folds", "2")
    assert "balanced accuracy" in run("path", table, *path).output
    weighted = run_json("path", table, *path)
    plain = run_json("path", table, *path, "--class-weight", "none")
    assert weighted["class_weight"]["kind"] == "balanced"
    assert (weighted["score"], plain["score"]) == ("balanced accuracy", "accuracy")
    fitted = run_json("fit", table, "-t", "state", "-k", "2", "--folds", "0")
    assert weighted["path"][1]["objective"] == pytest.approx(
        fitted["proof"]["objective"], rel=1e-3
    )
    assert plain["path"][1]["objective"] < 0.5 * weighted["path"][1]["objective"]
    found = run_json("alternatives", table, "-t", "state", "-k", "2", "--certificate",
                     "all.npz")  # fmt: skip
    assert found["class_weight"]["kind"] == "balanced"
    assert found["models"][0]["objective"] == pytest.approx(
        fitted["proof"]["objective"], rel=1e-3
    )
    done = run("path", table, *path, "--class-weight", "sick", code=2)
    assert "--class-weight must be" in done.output


def test_folds_learn_the_weights_from_their_training_rows(folder):
    path = write_csv(folder / "rare.csv", rare())
    data = study.load_data(path, "state")
    signs = data.target.signs
    weights = ClassWeights.of("balanced", data.target)
    conditions = study.Conditions(2, 1.0, class_weight=weights)
    # Half of the rare rows, a tenth of the others.
    rare_rows, others = np.flatnonzero(signs < 0), np.flatnonzero(signs > 0)
    train = np.sort(np.r_[rare_rows[:5], others[:19]])
    job = FoldJob(0, train, np.setdiff1d(np.arange(signs.size), train))
    problem = validation.TableFold.of(data, job).problem(conditions)
    expected = np.where(signs[train] > 0, 24 / (2 * 19), 24 / (2 * 5))
    np.testing.assert_allclose(problem.weights, expected)


def test_the_choice_of_C_has_weights_in_its_folds(run_json, table, monkeypatch):
    seen = []
    make = cells.FoldSearch.__init__

    def watched(self, work, data, job, stop):
        seen.append((job.loss_weight, data.value.signs[job.train]))
        make(self, work, data, job, stop)

    monkeypatch.setattr(cells.FoldSearch, "__init__", watched)
    run_json("fit", table, *FIT[:-4], "--folds", "2", "--effort", "fast", "-k", "auto")
    assert seen
    for weight, signs in seen:
        for sign in (-1.0, 1.0):
            own = signs == sign
            np.testing.assert_allclose(weight[own], signs.size / (2 * own.sum()))


# --- models that predict one class ----------------------------------------------------


def test_a_constant_model_leads_everything_and_has_its_exit_code(run, weak, folder):
    files = ("--report", "r.html", "--model", "m.json", "--certificate", "p.npz")
    done = run("fit", weak, *FIT, *NO_WEIGHTS, *files, code=3)
    first = next(line for line in done.stdout.split("\n") if line.strip())
    assert first.startswith("Constant model, of no use: it predicts 'well' for all 200")
    assert "try --class-weight balanced, which counts each 'sick' 10" in done.stdout
    assert "--C 10 instead of 1" in done.stdout
    assert "no AUC" in done.stdout
    assert "AUC 0" not in done.stdout
    page = (folder / "r.html").read_text()
    lead = page.split('class="lead')[1]
    words = "Constant model, of no use: it predicts &#39;well&#39;"
    assert lead.startswith(f' alert">{words}')
    assert "ROC" not in page
    assert "scores above" not in page
    assert json.loads((folder / "m.json").read_text())["features"] == []
    assert Certificate.load("p.npz").arrays["selected"].size == 0
    run("verify", "p.npz", weak)
    run("fit", weak, *FIT, *NO_WEIGHTS, "--allow-constant")
    run("fit", weak, *FIT)


def test_a_model_of_small_weights_may_be_constant_and_have_an_order(run_json, table):
    found = run_json("fit", table, *FIT, *NO_WEIGHTS, "--C", "0.001", code=3)
    assert found["constant"]["class"] == "well"
    assert len(found["features"]) == 3
    assert found["cross_validation"]["AUC"]["mean"] > 0.7


def test_a_constant_model_in_json(run_json, run, weak):
    found = run_json("fit", weak, *FIT, *NO_WEIGHTS, code=3)
    assert found["constant"]["class"] == "well"
    assert "--class-weight balanced" in found["constant"]["words"]
    assert found["proof"]["words"].startswith("Constant model")
    assert found["features"] == []
    assert found["errors"] == []
    assert "AUC" not in found["cross_validation"]
    done = run("fit", weak, *FIT, *NO_WEIGHTS, "--json", code=3)
    assert "warning: constant model" in done.stderr


def predictions(run, model, data):
    """How often ``predict`` says each class."""
    done = run("predict", model, data)
    return Counter(row["prediction"] for row in csv.DictReader(StringIO(done.stdout)))


def test_probabilities_do_not_change_who_is_predicted(run, run_json, weak, folder):
    """Not even if they never reach one half."""
    plain = run_json("fit", weak, *FIT, "--model", "m.json")
    usual = predictions(run, "m.json", weak)
    found = run_json("fit", weak, *FIT, "--calibrate", "--model", "m.json")
    assert found["constant"] is None
    assert found["threshold"] is None
    assert found["cross_validation"]["words"] == plain["cross_validation"]["words"]
    model = PortableModel.load("m.json")
    assert model.threshold == 0.0
    assert set(usual) == {"sick", "well"}
    assert predictions(run, "m.json", weak) == usual
    rows = csv.DictReader(StringIO(run("predict", "m.json", weak).stdout))
    chances = {float(row["probability"]) > 0.5 for row in rows}
    assert len(chances) == 1
    scores = run_json("predict", "m.json", weak)["rows"]
    counted = Counter("well" if one["score"] > 0 else "sick" for one in scores)
    assert counted == usual
    assert "one half" not in run("fit", weak, *FIT, "--calibrate").output


def test_probabilities_of_a_constant_model(run_json, weak):
    found = run_json("fit", weak, *FIT, *NO_WEIGHTS, "--calibrate", code=3)
    assert found["constant"]["words"].startswith("constant model, of no use")


def test_the_exit_codes_are_in_the_help(run):
    text = " ".join(run("fit", "--help").output.replace("│", " ").split())
    assert "--allow-constant" in text
    assert "The exit code is 3" in text
