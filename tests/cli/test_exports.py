"""SQL, Python and ONNX agree with predict, also for missing values and padded text."""

import csv
import io
import itertools
import math
import sqlite3

import numpy as np
import pytest

from frugalsvm import PortableModel
from frugalsvm.export import Feature, Sigmoid
from tests.cli.conftest import columns, write_csv
from tests.commands import command

AGES = ["", 31.0, 64.0]
DOSES = ["", 2.5, 8.0]
# Stripped texts that stand for a missing value.
GAPS = ("", "NA", "?")
TEXTS = ["", " ", "\t", "yes", "yes ", " no\u00a0", "no", "never seen", "NA", "? "]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Models that fill in missing values, or learn from them, and one that does not."""
    folder = tmp_path_factory.mktemp("exports")
    full = columns()
    holes = {name: list(values) for name, values in full.items()}
    for k, name in enumerate(("age", "dose", "smoker")):
        holes[name][5 + k :: 9] = [""] * len(holes[name][5 + k :: 9])
    made = {}
    for name, table, options in (
        ("filled", holes, ("--missing", "median")),
        ("calibrated", holes, ("--missing", "median", "--calibrate")),
        ("gaps", holes, ()),
        ("plain", full, ("--missing", "refuse")),
    ):
        path = write_csv(folder / f"{name}.csv", table)
        model = str(folder / f"{name}.json")
        done = command(
            "fit", path, "-t", "state", "--include", "smoker", "--include", "age",
            "--include", "dose", "-k", "3", "--folds", "3", "--effort", "fast",
            "--model", model, *options,
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        made[name] = model
    return made


ROWS = list(itertools.product(AGES, DOSES, TEXTS))


def predicted(run, model, rows, folder):
    table = dict(zip(("age", "dose", "smoker"), zip(*rows, strict=True), strict=True))
    path = write_csv(folder / "rows.csv", table)
    found = csv.DictReader(io.StringIO(run("predict", model, path).stdout))
    return [(one["prediction"], float(one["score"])) for one in found]


def complete(row):
    return all(str(one).strip() not in GAPS for one in row)


def python_rows(run, model, rows, gap):
    space = {}
    exec(run("export", model, "--to", "python").stdout, space)
    given = [
        {"age": gap if a == "" else a, "dose": gap if d == "" else d, "smoker": s}
        for a, d, s in rows
    ]
    return [(space["predict"](one), space["decision"](one)) for one in given]


def sql_rows(run, model, rows):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (age REAL, dose REAL, smoker TEXT)")
    given = [(a if a != "" else None, d if d != "" else None, s) for a, d, s in rows]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", given)
    score, label = (
        run("export", model, "--to", "sql", "--what", what).stdout
        for what in ("score", "label")
    )
    found = connection.execute(f"SELECT {label}, {score} FROM t").fetchall()
    connection.close()
    return found


def check_same(found, expected):
    found = list(found)
    assert [label for label, _ in found] == [label for label, _ in expected]
    np.testing.assert_allclose(
        [score for _, score in found], [score for _, score in expected], rtol=1e-12
    )


@pytest.mark.parametrize("name", ["filled", "calibrated", "gaps"])
def test_exports_impute_as_predict_does(run, models, folder, name):
    model = models[name]
    expected = predicted(run, model, ROWS, folder)
    check_same(python_rows(run, model, ROWS, None), expected)
    check_same(python_rows(run, model, ROWS, math.nan), expected)
    check_same(sql_rows(run, model, ROWS), expected)


def test_a_model_without_imputation_gives_no_label(run, models, folder):
    model = models["plain"]
    known = [row for row in ROWS if complete(row)]
    expected = iter(predicted(run, model, known, folder))
    expected = [next(expected) if complete(row) else (None, None) for row in ROWS]
    for found in (
        python_rows(run, model, ROWS, None),
        python_rows(run, model, ROWS, math.nan),
        python_rows(run, model, ROWS, math.inf),
        sql_rows(run, model, ROWS),
    ):
        gaps = [k for k, row in enumerate(ROWS) if not complete(row)]
        assert all(found[k] == (None, None) for k in gaps)
        rest = [k for k in range(len(ROWS)) if k not in gaps]
        check_same([found[k] for k in rest], [expected[k] for k in rest])


def onnx_rows(model, X):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.SerializeToString())
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X}), strict=True))


@pytest.mark.parametrize("name", ["filled", "calibrated", "plain"])
def test_onnx_imputes_missing_values_or_gives_no_label(run, models, folder, name):
    onnx = pytest.importorskip("onnx")
    run("export", models[name], "--to", "onnx", "-o", "model.onnx")
    model = PortableModel.load(models[name])
    (smoker,) = (k for k, one in enumerate(model.names) if one.startswith("smoker"))
    hits = [
        math.nan if s.strip() in GAPS else float(s.strip(" \u00a0") == "yes")
        for _, _, s in ROWS
    ]
    assert model.names[smoker] == "smoker=yes"
    values = {
        "age": [math.nan if a == "" else a for a, _, _ in ROWS],
        "dose": [math.nan if d == "" else d for _, d, _ in ROWS],
        "smoker=yes": hits,
    }
    X = np.column_stack([values[one] for one in model.names])
    found = onnx_rows(onnx.load("model.onnx"), X)
    if name == "plain":
        gaps = np.isnan(X).any(axis=1)
        assert np.isnan(found["score"][gaps]).all()
        assert (found["label"][gaps] == "").all()
        np.testing.assert_array_equal(found["label"][~gaps], model.predict(X[~gaps]))
        return
    expected = predicted(run, models[name], ROWS, folder)
    check_same(
        list(zip(found["label"].tolist(), found["score"].tolist(), strict=True)),
        expected,
    )


@pytest.mark.parametrize(
    ("classes", "none"),
    [
        (("", "x"), "no class"),
        ((0, 1), -(2**63)),
        ((False, True), -(2**63)),
        ((0.5, 1.5), math.nan),
    ],
)
@pytest.mark.parametrize("calibration", [None, Sigmoid(-1.0, 0.1)])
def test_the_label_of_a_missing_value_is_not_a_class(classes, none, calibration):
    pytest.importorskip("onnx")
    features = (Feature("a", 0, 0.0, 1.0, 1.0),)
    model = PortableModel(features, 0.0, classes, 1, calibration)
    X = np.array([[-1.0], [1.0], [math.nan], [math.inf], [-math.inf]])
    found = onnx_rows(model.to_onnx(), X)
    first, second, *rest = found["label"].tolist()
    assert (first, second) == classes
    np.testing.assert_array_equal(rest, [none] * 3)
    assert np.isnan(found["score"][2:]).all()


def test_the_label_of_a_score_that_overflows_is_not_a_class():
    pytest.importorskip("onnx")
    model = PortableModel((Feature("a", 0, 0.0, 1e-200, 1e200),), 0.0, ("n", "y"), 1)
    assert model.predict([[1e-99]]) == "y"
    found = onnx_rows(model.to_onnx(), np.array([[1.0], [-1.0], [0.0], [1e-99]]))
    assert found["label"].tolist() == ["", "", "n", "y"]
    assert np.isnan(found["score"]).tolist() == [True, True, False, False]


@pytest.mark.parametrize("scale", [3.0, 1e-30])
def test_a_single_feature_is_in_double_precision(scale):
    pytest.importorskip("onnx")
    model = PortableModel((Feature("a", 0, 0.2, scale, 1.0 / 3.0),), 0.0, (0, 1), 1)
    X = np.array([[1.0], [-1.0 / 7.0]])
    score = onnx_rows(model.to_onnx(), X)["score"]
    np.testing.assert_allclose(score, model.decision_function(X), rtol=1e-14)


@pytest.mark.parametrize("label", [2**63, -(2**63), 2**70])
def test_classes_beyond_64_bits_are_rejected_by_onnx(label):
    pytest.importorskip("onnx")
    model = PortableModel((Feature("a", 0, 0.0, 1.0, 1.0),), 0.0, (label, 1), 1)
    with pytest.raises(ValueError, match=f"class {label} (needs more|is reserved)"):
        model.to_onnx()


@pytest.mark.parametrize("dialect", ["mysql", "sqlserver"])
def test_other_dialects_strip_in_their_own_way(run, models, dialect):
    text = run("export", models["plain"], "--to", "sql", "--dialect", dialect).stdout
    way = {"mysql": "REGEXP_REPLACE(`smoker`", "sqlserver": "TRIM(N' "}[dialect]
    assert way in text
    assert "NULLIF(" in text


def test_numbers_that_are_categories_may_be_numbers_in_the_data_base(run, folder):
    table = columns() | {"code": np.tile([1, 2, 3, 3], 20)}
    table["state"] = np.where(table["code"] == 3, "sick", table["state"])
    path = write_csv(folder / "data.csv", table)
    run("fit", path, "-t", "state", "--categorical", "code", "--include", "code", "-k",
        "1", "--folds", "0", "--effort", "fast", "--model", "model.json")  # fmt: skip
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (code)")
    given = [(3,), ("3 ",), (3.0,), ("3.00",), (2,), ("03",)]
    connection.executemany("INSERT INTO t VALUES (?)", given)
    text = run("export", "model.json", "--to", "sql").stdout
    found = [row[0] for row in connection.execute(f"SELECT {text} FROM t")]
    assert len(set(found[:4])) == 1
    assert found[0] not in found[4:]
    space = {}
    exec(run("export", "model.json", "--to", "python").stdout, space)
    scores = [space["decision"]({"code": one}) for (one,) in given]
    assert scores == pytest.approx(found)


TYPED = {
    "double": [1.0, 2.0, 2.5],
    "truth": [False, True, True],
    "whole": [1, 2, -3],
    "namibia": ["NA", "DE", "ZA"],
}


@pytest.mark.parametrize("name", list(TYPED))
def test_typed_categories_are_the_same_in_exports_and_predict(run, folder, name):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    values = TYPED[name] * 20
    table = {"x": np.arange(60) % 7 / 7.0, "c": values}
    table["y"] = [int(one == TYPED[name][1]) for one in values]
    parquet.write_table(pyarrow.table(table), "data.parquet")
    run("fit", "data.parquet", "-t", "y", "--categorical", "c", "-k", "2", "--folds",
        "0", "--effort", "fast", "--model", "model.json")  # fmt: skip
    loaded = PortableModel.load("model.json")
    code: dict = {}
    exec(loaded.to_python(), code)
    base = sqlite3.connect(":memory:")
    base.execute("create table t (x real, c)")
    rows = list(zip(table["x"].tolist(), values, strict=True))
    base.executemany("insert into t values (?, ?)", rows)
    given = csv.DictReader(
        io.StringIO(run("predict", "model.json", "data.parquet").stdout)
    )
    expected = [(int(one["prediction"]), float(one["score"])) for one in given]
    check_same(
        base.execute(f"select {loaded.to_sql('label')}, {loaded.to_sql()} from t"),
        expected,
    )
    named = [{"x": x, "c": c} for x, c in rows]
    check_same(
        [(code["predict"](one), code["decision"](one)) for one in named], expected
    )


@pytest.mark.parametrize("classes", [("a", "b"), ("NA", "b")])
@pytest.mark.parametrize("counts", [(20, 20, 10, 10), (2, 24, 24, 10), (2, 30, 2, 26)])
def test_a_word_for_missing_may_be_a_category_beside_gaps(
    run, run_json, folder, counts, classes
):
    """NA is Namibia in all tables, also in those of text, and if it is a rare one."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    values = np.repeat(np.array(["NA", "DE", "None", None], object), counts)
    rng = np.random.default_rng(0)
    values = rng.permutation(values)
    x = rng.normal(size=60)
    target = np.where((values == "NA") | (x > 0.3), *classes)
    table = pd.DataFrame({"x": x, "c": values, "y": target})
    table.to_parquet("data.parquet")
    table.to_csv("data.csv", index=False)
    run(
        "fit",
        "data.parquet",
        "-t",
        "y",
        "-k",
        "2",
        "--folds",
        "0",
        "--effort",
        "fast",
        "--include",
        "c",
        "--model",
        "m.json",
        "--certificate",
        "p.npz",
    )
    for data in ("data.parquet", "data.csv"):
        assert "is a valid proof" in run("verify", "p.npz", data).stdout
    typed = run_json("predict", "m.json", "data.parquet")["rows"]
    assert run_json("predict", "m.json", "data.csv")["rows"] == typed
    code: dict = {}
    exec(PortableModel.load("m.json").to_python(), code)
    scores = [code["decision"](one) for one in table.astype(object).to_dict("records")]
    np.testing.assert_allclose(scores, [one["score"] for one in typed])


def test_a_pipeline_may_have_a_word_for_missing_as_a_category(run_json, folder):
    pd = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.impute import MissingIndicator
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.svm import LinearSVC

    table = pd.DataFrame(
        {"c": pd.Series(["NA", "DE", np.nan, "ZA"] * 10, dtype=object)}
    )
    encode = make_column_transformer(
        (OneHotEncoder(), ["c"]), (MissingIndicator(), ["c"])
    )
    pipeline = make_pipeline(encode, LinearSVC()).fit(table, table["c"] == "NA")
    PortableModel.from_estimator(pipeline).save("m.json")
    table.to_csv("data.csv", index=False)
    found = [one["score"] for one in run_json("predict", "m.json", "data.csv")["rows"]]
    np.testing.assert_allclose(found, pipeline.decision_function(table))


def test_numbers_that_other_programs_write_differently_are_no_categories(run, folder):
    table = columns() | {"code": np.tile([0.1, 1e22, 0.30000000000000004, 3], 20)}
    path = write_csv(folder / "data.csv", table)
    done = run("fit", path, "-t", "state", "--categorical", "code", code=1)
    assert "programs write the number '0.30000000000000004' in another" in done.stderr
    table["code"] = np.tile(["1", "1.0", "2", "3"], 20)
    path = write_csv(folder / "data.csv", table)
    done = run("fit", path, "-t", "state", "--categorical", "code", code=1)
    assert "'1' and '1.0' are the same number" in done.stderr


LARGE = [1e120, -1e101, math.inf, 99.0]


def test_numbers_beyond_limits_count_as_missing_everywhere(run, models, folder):
    rows = [(age, 2.5, "yes") for age in LARGE]
    text = predicted(run, models["filled"], rows, folder)
    assert text[0] == text[1] == text[2] != text[3]
    assert text[0] == predicted(run, models["filled"], [("", 2.5, "yes")], folder)[0]
    code: dict = {}
    exec(run("export", models["filled"], "--to", "python").stdout, code)
    for row, (label, score) in zip(rows, text, strict=True):
        named = dict(zip(("age", "dose", "smoker"), row, strict=True))
        assert code["decision"](named) == pytest.approx(score)
        assert code["predict"](named) == label
    write_csv(folder / "rows.csv", {"age": [1e120], "dose": [1.0], "smoker": ["no"]})
    done = run("predict", models["plain"], "rows.csv", code=1)
    assert "'age' has the value 1e+120" in done.stderr
    code = {}
    exec(run("export", models["plain"], "--to", "python").stdout, code)
    assert code["predict"]({"age": 1e120, "dose": 1.0, "smoker": "no"}) is None


@pytest.mark.parametrize("kind", ["text", ""])
def test_columns_of_texts_get_no_label_in_sqlite(run, models, folder, kind):
    """There '-0.5' is above all numbers, or below some: no value replaces it."""
    rows = [
        (age, dose, "yes") for age in ("-0.5", "1.25", "31", "") for dose in (2.5, 8.0)
    ]
    base = sqlite3.connect(":memory:")
    base.execute(f"create table t (age {kind}, dose real, smoker text)")
    base.executemany("insert into t values (?, ?, ?)", rows)
    for model in ("filled", "plain"):
        label = run("export", models[model], "--to", "sql", "--what", "label").stdout
        found = [
            one for (one,) in base.execute(f"select {label.strip().rstrip(';')} from t")
        ]
        assert found == [None] * len(rows)
