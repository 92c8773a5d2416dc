import json

import numpy as np
import pytest

from frugalsvm import Certificate, Problem, solve, verify
from frugalsvm.tables import Preparation, find_target, read_table
from tests.checker.forging import sealed
from tests.cli.conftest import columns, write_csv


def test_the_proof_matches_its_table(run, run_json, fitted):
    proof, data = fitted / "proof.npz", fitted / "data.csv"
    done = run("verify", proof, data)
    assert "proved: " in done.stdout
    assert "+1 is 'sick', -1 is 'well'" in done.stdout
    assert "smoker=yes" in done.stdout
    found = run_json("verify", proof, data)
    assert found["valid"]
    model = json.loads((fitted / "model.json").read_text())
    assert found["fingerprint"] == model["proof"]["certificate"]["fingerprint"]
    assert found["checksum"] == model["proof"]["certificate"]["checksum"]
    assert found["objective"] == pytest.approx(model["proof"]["objective"])
    assert found["standardised_to"] <= 1e-9
    means = {one["name"]: one["mean"] for one in found["features"]}
    for one in model["features"]:
        # To the last bit.
        assert means[one["name"]] == one["mean"]


def test_of_many_columns_a_few_are_listed(run, folder):
    rng = np.random.default_rng(0)
    table = {f"x{j}": rng.normal(size=80).round(3) for j in range(20)}
    table["x0"][::7] = np.nan
    states = np.where(table["x17"] + 0.2 * rng.normal(size=80) > 0, "a", "b")
    path = write_csv(folder / "many.csv", table | {"state": states})
    run("fit", path, "-t", "state", "-k", "1", "--folds", "0", "--missing", "median",
        "--effort", "fast", "--certificate", "proof.npz")  # fmt: skip
    done = run("verify", "proof.npz", path)
    assert "The proof is for 20 columns" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows if row and row[0].startswith("x")] == [
        "x17", "x0", "x1", "x2", "x3", "x4",
    ]  # fmt: skip
    assert "and 14 more (--all); selected: x17" in done.stdout
    rows = run("verify", "proof.npz", path, "--all").stdout.splitlines()
    assert [row.split()[0] for row in rows if row.startswith("x")] == list(table)


def test_the_plain_checker_takes_the_file(fitted):
    certificate = Certificate.load(fitted / "proof.npz")
    preparation = Preparation.from_json(certificate.preparation)
    table = read_table(fitted / "data.csv", as_text=preparation.text_columns)
    signs = find_target(table, "state", preparation.classes[1]).signs
    found = verify(fitted / "proof.npz", preparation.transform(table), signs, C=1.0)
    assert found.lower_bound <= found.objective


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: {"age": [t["age"][0] + 1e-9, *t["age"][1:]]}, "other data"),
        (lambda t: {"age": [t["age"][0] + 1, *t["age"][1:]]}, "do not standardise"),
        (lambda t: {"state": t["state"][::-1]}, "other data"),
        (lambda t: {"smoker": t["smoker"][::-1]}, "other data"),
        (lambda t: {"state": ["ill", *t["state"][1:]]}, "expected the classes"),
        (lambda t: {"age": ["", *t["age"][1:]]}, "it has 1 missing values"),
        (lambda t: {"state": ["", *t["state"][1:]]}, "80 rows, but the table has 79"),
    ],
)
def test_other_tables_are_rejected(run, fitted, folder, change, words):
    table = columns()
    path = write_csv(folder / "other.csv", table | change(table))
    assert words in run("verify", fitted / "proof.npz", path, code=1).stderr


def test_order_of_columns_and_other_columns_do_not_matter(run, fitted, folder):
    table = columns()
    other = {name: table[name] for name in reversed(table)} | {"extra": ["x"] * 80}
    path = write_csv(folder / "other.csv", other)
    run("verify", fitted / "proof.npz", path)


def grouped(fitted, folder, labels, signs):
    """A proof for the same features with groups and signs."""
    known = Certificate.load(fitted / "proof.npz")
    preparation = Preparation.from_json(known.preparation)
    table = read_table(fitted / "data.csv", as_text=preparation.text_columns)
    y = find_target(table, "state", preparation.classes[1]).signs
    problem = Problem(
        preparation.transform(table), y, max_features=2, signs=signs,
        feature_groups=labels(preparation),
    )  # fmt: skip
    result = solve(problem, certificate=True)
    path = folder / "grouped.npz"
    result.certificate.with_preparation(known.preparation).save(path)
    return path, preparation


def columns_of(preparation):
    return [one.name for one, _ in preparation.origins()]


def test_groups_and_signs_are_shown_by_name(run, run_json, fitted, folder):
    names = list(Preparation.from_json(
        Certificate.load(fitted / "proof.npz").preparation).features)  # fmt: skip
    signs = np.zeros(len(names), dtype=int)
    signs[names.index("age")] = 1
    proof, preparation = grouped(fitted, folder, columns_of, signs)
    done = run("verify", proof, fitted / "data.csv", "--all")
    assert f"of {len(preparation.columns)} feature groups of {len(names)}" in (
        " ".join(done.stdout.split())
    )
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert " not negative" in lines["age"]
    assert " colour" in lines["colour=blue"]
    assert "group" in lines["column"]
    assert "weight" in lines["column"]
    found = run_json("verify", proof, fitted / "data.csv")
    levels = [name for name in names if name.startswith("colour=")]
    assert levels in found["feature_groups"]
    assert ["age"] in found["feature_groups"]
    assert sum(map(len, found["feature_groups"])) == len(names)
    assert found["signs"] == {"age": "+"}
    sources = dict(zip(names, columns_of(preparation), strict=True))
    assert 0 < len({sources[name] for name in found["selected"]}) <= 2


def test_groups_that_are_no_columns_have_numbers(run, fitted, folder):
    def halves(preparation):
        return np.arange(preparation.n_features) // 2

    proof, _ = grouped(fitted, folder, halves, None)
    text = run("verify", proof, fitted / "data.csv").stdout
    assert " group 0" in text
    assert "not negative" not in text


def test_the_size_of_groups_is_compared_first(run, fitted, folder, no_work):
    certificate = Certificate.load(fitted / "proof.npz")
    n = certificate.arrays["groups"].size
    made = sealed(certificate.arrays, groups=np.arange(n + 3).clip(max=n - 1))
    Certificate(made).save(folder / "forged.npz")
    done = run("verify", folder / "forged.npz", fitted / "data.csv", code=1)
    assert f"is for {n + 3} columns, but the table has {n}" in done.stderr


def forged(fitted, folder, **change):
    """A proof with a changed preparation and a valid checksum."""
    certificate = Certificate.load(fitted / "proof.npz")
    content = json.loads(certificate.preparation) | change
    certificate.with_preparation(json.dumps(content)).save(folder / "forged.npz")
    return "forged.npz"


def test_forged_preparations_are_rejected(run, fitted, folder):
    certificate = Certificate.load(fitted / "proof.npz")
    content = json.loads(certificate.preparation)
    data = fitted / "data.csv"
    means = [one * (1 + 1e-13) for one in content["means"]]
    proof = forged(fitted, folder, means=means)
    assert "other data" in run("verify", proof, data, code=1).stderr
    proof = forged(fitted, folder, scales=[2 * one for one in content["scales"]])
    assert "do not standardise" in run("verify", proof, data, code=1).stderr
    proof = forged(fitted, folder, classes=content["classes"][::-1])
    assert "other data" in run("verify", proof, data, code=1).stderr
    proof = forged(fitted, folder, target="visit")
    assert "expected the classes" in run("verify", proof, data, code=1).stderr


@pytest.fixture
def no_work(monkeypatch):
    """Nothing may be computed from the table."""
    for name in ("check_standard", "transform"):
        monkeypatch.setattr(
            Preparation, name, lambda *_: pytest.fail("features were computed")
        )


def with_levels(fitted, folder, levels, **arrays):
    """A proof whose preparation has other categories of one column."""
    certificate = Certificate.load(fitted / "proof.npz")
    content = json.loads(certificate.preparation)
    for one in content["columns"]:
        if one["name"] == "colour":
            one["levels"], one["fill"] = levels, None
    names = []
    for column in content["columns"]:
        if column["kind"] == "number":
            names.append(column["name"])
        else:
            # The first of two categories is zero.
            known = column["levels"][len(column["levels"]) == 2 :]
            names += [f"{column['name']}={level}" for level in known]
    content |= {"features": names, "means": [0.0] * len(names)}
    content |= {"scales": [1.0] * len(names)}
    alone = {"costs": np.ones(len(names)), "groups": np.arange(len(names))}
    made = sealed(certificate.arrays, **alone | arrays)
    proof = Certificate(made).with_preparation(json.dumps(content))
    proof.save(folder / "forged.npz")
    return "forged.npz"


def test_sizes_are_compared_first(run, fitted, folder, no_work):
    data, many = fitted / "data.csv", [f"c{k}" for k in range(100_000)]
    proof = with_levels(fitted, folder, many, costs=np.ones(6), groups=np.arange(6))
    done = run("verify", proof, data, code=1)
    assert "is for 6 columns, but the table has 100," in done.stderr
    table = {name: column[:50] for name, column in columns().items()}
    path = write_csv(folder / "short.csv", table)
    done = run("verify", fitted / "proof.npz", path, code=1)
    assert "is for 80 rows, but the table has 50" in done.stderr


def test_categories_that_no_row_has_are_rejected(run, fitted, folder, no_work):
    """Each would take memory for all rows, and none is in a valid preparation."""
    data, many = fitted / "data.csv", [f"c{k}" for k in range(100_000)]
    proof = with_levels(fitted, folder, many)
    assert (
        "100,000 categories in column 'colour'"
        in run("verify", proof, data, code=1).stderr
    )
    proof = with_levels(fitted, folder, ["blue", "green", "pink", "red"])
    assert "has no value 'pink'" in run("verify", proof, data, code=1).stderr


def test_a_preparation_cannot_claim_a_proof(run, fitted, folder):
    """A category that no row has is a constant: the proof would be valid."""
    line = "proved: 9.99 <= optimum"
    content = json.loads(Certificate.load(fitted / "proof.npz").preparation)
    column = next(one for one in content["columns"] if one["name"] == "colour")
    column["levels"].append(f"x\n{line}")
    column["fill"] = f"x\n{line}"
    place = content["features"].index("colour=red") + 1
    content["features"].insert(place, f"colour=x\n{line}")
    content["means"].insert(place, 0.0)
    content["scales"].insert(place, 1.0)
    preparation = Preparation.from_json(json.dumps(content))
    table = read_table(fitted / "data.csv", as_text=preparation.text_columns)
    signs = find_target(table, "state", preparation.classes[1]).signs
    problem = Problem(preparation.transform(table), signs, max_features=2)
    proof = solve(problem, method="swap", certificate=True).certificate
    proof.with_preparation(preparation.to_json()).save(folder / "forged.npz")
    done = run("verify", "forged.npz", fitted / "data.csv", code=1)
    assert line in done.output
    assert not any(one.startswith(line) for one in done.output.splitlines())


def test_many_repeated_columns_are_rejected(run, fitted, folder):
    column = {"name": "age", "kind": "number", "fill": None}
    n = 100_000
    proof = forged(
        fitted, folder, columns=[column] * n, features=["age"] * n, means=[0] * n,
        scales=[1] * n,
    )  # fmt: skip
    done = run("verify", proof, fitted / "data.csv", code=1)
    assert "a column appears twice" in done.stderr


def test_a_changed_byte_of_the_preparation_is_noticed(run, fitted, folder):
    arrays = dict(Certificate.load(fitted / "proof.npz").arrays)
    note = arrays["preparation"].copy()
    note[10] ^= 1
    np.savez(folder / "bad.npz", **(arrays | {"preparation": note}))
    done = run("verify", "bad.npz", fitted / "data.csv", code=1)
    assert "damaged or changed" in done.stderr


def test_other_wrong_files(run, fitted, folder):
    data = fitted / "data.csv"
    assert "file not found" in run("verify", "none.npz", data, code=1).stderr
    assert "invalid certificate" in run("verify", data, data, code=1).stderr
    arrays = dict(Certificate.load(fitted / "proof.npz").arrays)
    del arrays["preparation"]
    from frugalsvm.checker import checksum

    arrays["checksum"] = np.array(checksum(arrays))
    np.savez(folder / "plain.npz", **arrays)
    assert "from Python" in run("verify", "plain.npz", data, code=1).stderr
    done = run("verify", fitted / "proof.npz", data, "-t", "colour", code=1)
    assert "is for the target 'state'" in done.stderr
