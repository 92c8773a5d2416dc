"""What a proof file may choose is printed, or compared with the table."""

import json

import numpy as np
import pytest

from frugalsvm import Certificate, Problem, near_optimal, solve
from frugalsvm.tables import Preparation, read_table
from frugalsvm.tables.prepared_columns import NumberColumn, common_scale, moments
from frugalsvm.tables.target import known_target
from tests.checker.forging import sealed
from tests.cli.conftest import write_csv
from tests.commands import command

N = 120
FIT = ("-t", "state", "-k", "2", "--folds", "0", "--missing", "indicator",
       "--min-level", "8", "--effort", "fast")  # fmt: skip


def columns():
    """Two useful columns, one with a few rare categories, one with gaps."""
    rng = np.random.default_rng(3)
    names = ["red", "blue", "green", "pink", "grey", "mauve"]
    colour = rng.permutation(np.repeat(names, [36, 30, 24, 20, 6, 4]))
    dose, noise = rng.normal(size=(2, N)).round(3)
    score = 2.0 * (colour == "red") - 1.5 * (colour == "pink") + 1.5 * dose
    state = np.where(score + 0.3 * rng.normal(size=N) > 0.3, "sick", "well")
    gaps = np.where(np.arange(N) % 7 == 0, "", noise.astype(str))
    return {"colour": colour, "dose": dose, "noise": gaps, "other": 5 * rng.random(N),
            "state": state}  # fmt: skip


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A folder with a table and a true preparation of it."""
    folder = tmp_path_factory.mktemp("honest")
    data, proof = write_csv(folder / "data.csv", columns()), str(folder / "proof.npz")
    done = command("fit", data, *FIT, "--certificate", proof)
    assert done.exit_code == 0, done.output
    return folder


def remade(honest, change=None, make=None, **arguments):
    """A valid proof for the numbers of another preparation of the table."""
    note = json.loads(Certificate.load(honest / "proof.npz").preparation)
    if change is not None:
        change({one["name"]: one for one in note["columns"]}, note)
    note["features"] = names = _features(note)
    note |= {"means": [0.0] * len(names), "scales": [1.0] * len(names)}
    plain = Preparation.from_json(json.dumps(note))
    table = read_table(
        honest / "data.csv", as_text=plain.text_columns, only=plain.needed
    )
    found = np.array([moments(values) for values in plain.values(table).T])
    for own, some in plain.blocks():
        if some[0].has_categories:
            found[own, 1] = common_scale(found[own, 0].tolist())
    note |= dict(zip(("means", "scales"), found.T.tolist(), strict=True))
    preparation = Preparation.from_json(json.dumps(note))
    variables = [one.variable for one, _ in preparation.origins()]
    arguments["feature_groups"] = np.unique(variables, return_inverse=True)[1]
    X = preparation.transform(table)
    y = known_target(table, "state", ("sick", "well")).signs
    problem = Problem(X, y, max_features=2, **arguments)
    result = (make or solve)(problem, certificate=True, random_state=0)
    proof = result.certificate.with_preparation(preparation.to_json())
    proof.save(honest / "remade.npz")
    return str(honest / "remade.npz"), str(honest / "data.csv")


def _features(note):
    from frugalsvm.tables.preparation import _column

    return [name for one in note["columns"] for name in _column(one).features()]


def test_an_honest_proof_says_how_features_were_made(run, run_json, honest):
    proof, data = remade(honest)
    for file in (proof, honest / "proof.npz"):
        text = run("verify", file, data).stdout
        assert "categories merged as (other): colour: grey, mauve" in text
        assert "missing values were imputed by: noise: " in text
        assert "not used" not in text
    found = run_json("verify", proof, data)
    assert found["remarks"]["categories merged as (other)"] == ["colour: grey, mauve"]
    assert found["C"] == {"sick": 1.0, "well": 1.0}
    assert (found["include"], found["exclude"], found["costs"]) == ([], [], {})


def no_red(columns, note):
    columns["colour"].update(levels=["blue", "green"], fill=None, other=False)


def red_merged(columns, note):
    columns["colour"].update(levels=["green", "grey", "(other)"], fill="(other)")


def gaps_unsaid(columns, note):
    columns["noise"].update(fill=1000.0, gaps=0, indicator=False)


def gaps_by_another_number(columns, note):
    columns["noise"].update(fill=1000.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (no_red, "'grey' is none of the categories"),
        (red_merged, "'red' is merged with others, but the rarer 'grey' is not"),
        (gaps_unsaid, "it has 18 missing values"),
        (gaps_by_another_number, "it has 18 missing values, to be replaced by "),
    ],
)
def test_features_that_no_fit_makes_are_refused(run, honest, change, words):
    done = run("verify", *remade(honest, change), code=1)
    assert words in done.stderr
    assert "proved" not in done.output


def test_columns_that_are_not_used_are_named(run, run_json, honest):
    def without_dose(columns, note):
        note["columns"] = [one for one in note["columns"] if one["name"] != "dose"]

    files = remade(honest, without_dose)
    text = run("verify", *files).stdout
    assert "columns of the table that are not used: dose" in text
    found = run_json("verify", *files)["remarks"]
    assert found["columns of the table that are not used"] == ["dose"]


def test_rows_of_a_class_count_the_same(run, run_json, honest):
    weights = np.where(np.arange(N) % 2, 1.0, 1e-3)
    done = run("verify", *remade(honest, sample_weight=weights), code=1)
    assert "rows of sick count differently, from 0.001 to 1" in done.stderr
    dropped = np.where(np.arange(N) % 2, 1.0, 0.0)
    done = run("verify", *remade(honest, sample_weight=dropped), code=1)
    assert "from 0 to 1" in done.stderr
    sick = columns()["state"] == "sick"
    files = remade(honest, sample_weight=np.where(sick, 2.5, 1.0))
    assert "C: 2.5 for 'sick', 1.0 for 'well'" in run("verify", *files).stdout
    assert run_json("verify", *files)["C"] == {"sick": 2.5, "well": 1.0}


def test_costs_and_forced_features_are_named(run, run_json, honest):
    files = remade(
        honest, feature_costs=[1.0, 9.5, 2.0, 3.0], max_cost=8.0, include=[2],
        exclude=[3],
    )  # fmt: skip
    found = run_json("verify", *files)
    assert found["costs"] == {"colour": 1.0, "dose": 9.5, "noise": 2.0, "other": 3.0}
    assert (found["include"], found["exclude"]) == (["noise"], ["other"])
    lines = run("verify", *files, "--all").stdout.splitlines()
    dose = next(line for line in lines if line.startswith("dose"))
    other = next(line for line in lines if line.startswith("other"))
    assert " 9.5" in dose
    assert "may not be in" in other
    assert any("noise missing" in line and "must be in" in line for line in lines)


def test_the_listed_choices_are_named(run, run_json, honest):
    def listing(problem, **options):
        return near_optimal(problem, tolerance=0.3, **options)

    files = remade(honest, make=listing)
    sets = run_json("verify", *files)["listed"]
    assert ["colour", "dose"] in [sorted(one["features"]) for one in sets]
    text = run("verify", *files).stdout
    assert "  colour, dose (" in text


def test_a_scaling_beside_a_preparation_is_refused(run, honest):
    arrays = Certificate.load(honest / "proof.npz").arrays
    n = arrays["groups"].size
    made = sealed(arrays, mean=np.zeros(n), scale=np.ones(n))
    np.savez(honest / "scaled.npz", **made)
    done = run("verify", honest / "scaled.npz", honest / "data.csv", code=1)
    assert "it has both a preparation and a scaling" in done.stderr
    assert "proved" not in done.output


def test_columns_with_a_common_scale_are_named(run, folder):
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, N)
    table = {f"kind_{k}": (kind == k).astype(int) for k in range(3)}
    table["dose"] = rng.normal(size=N).round(3)
    table["state"] = np.where(table["dose"] + (kind == 1) > 0, "a", "b")
    data = write_csv(folder / "coded.csv", table)
    run("fit", data, "-t", "state", "-k", "2", "--folds", "0", "--effort", "fast",
        "--certificate", "coded.npz")  # fmt: skip
    text = run("verify", "coded.npz", data).stdout
    words = "columns that are categories of one variable: kind: kind_0, kind_1, kind_2"
    assert words in text


def test_other_formats_of_numbers_are_named(run, folder):
    rng = np.random.default_rng(1)
    dose = rng.normal(size=N).round(3)
    table = {
        "dose": [f"{x:.3f}".replace(".", ",") for x in dose],
        "noise": rng.normal(size=N).round(3),
        "state": np.where(dose + 0.1 * rng.normal(size=N) > 0, "a", "b"),
    }
    data = write_csv(folder / "commas.csv", table, delimiter=";")
    run("fit", data, "-t", "state", "-k", "1", "--folds", "0", "--effort", "fast",
        "--decimal", "dose=,", "--certificate", "commas.npz")  # fmt: skip
    text = run("verify", "commas.npz", data).stdout
    assert "numbers with decimal commas: dose" in text


def test_the_most_frequent_category_is_the_replacement(honest):
    """Of a column of categories with gaps, as of one of numbers."""
    from frugalsvm.tables.prepared_columns import learn_column
    from tests.tables.tables import made

    colours = ["red"] * 5 + ["blue"] * 3 + ["grey", "mauve", None]
    column = made(c=colours).columns["c"]
    for mode, least in (("median", 1), ("indicator", 1), ("median", 3), ("median", 9)):
        one = learn_column("c", "category", column, slice(None), mode, least)
        assert one.why_not_learned(column) == ""
    usual = learn_column("c", "category", column, slice(None), "median", 3)
    for change in ({"fill": "blue"}, {"n_gaps": 0}, {"n_gaps": 2}):
        other = type(usual)(**vars(usual) | change)
        assert "it has 1 missing values" in other.why_not_learned(column)
    assert NumberColumn("c").why_not_learned(column) == ""
