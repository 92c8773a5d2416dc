"""Python and SQL source: executed, it predicts like the model."""

import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frugalsvm import PortableModel
from frugalsvm.export import Feature, Sigmoid
from tests.export.models import data, fitted


def run(text):
    space = {}
    exec(text, space)
    return space


@pytest.mark.parametrize("method", [None, "sigmoid", "isotonic"])
def test_python_text_gives_the_same(method):
    X, _ = data()
    model = PortableModel.from_estimator(fitted(6, method))
    made = run(model.to_python())
    rows = X.to_dict("records")
    scores = np.array([made["decision"](row) for row in rows])
    # To the last bit: the same operations in the same order.
    np.testing.assert_array_equal(scores, model.decision_function(X))
    assert [made["predict"](row) for row in rows] == model.predict(X).tolist()
    if method is None:
        assert "probability" not in made
    else:
        np.testing.assert_allclose(
            [made["probability"](row) for row in rows],
            model.predict_proba(X)[:, 1],
            rtol=1e-12,
        )


def test_python_text_needs_no_package(tmp_path):
    model = PortableModel.from_estimator(fitted(6, "sigmoid"))
    file = tmp_path / "model.py"
    file.write_text(model.to_python(), encoding="utf-8")
    row = dict.fromkeys(model.names, 0.5)
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "import model\n"
        f"print(model.decision({row!r}).hex())\n"
        "assert not {'numpy', 'frugalsvm', 'sklearn'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], check=True, capture_output=True,
        text=True,
    )  # fmt: skip
    expected = model.decision_function(row)[0]
    assert float.fromhex(done.stdout) == expected


@given(st.text(min_size=1), st.text(), st.floats(-1e9, 1e9))
@settings(max_examples=100, deadline=None)
def test_user_text_is_escaped_in_any_field(name, label, value):
    model = PortableModel(
        (Feature(name, 0, 1.0, 2.0, 3.0),), 0.5, (label, label + "'"), 1
    )
    made = run(model.to_python())
    assert made["decision"]({name: value}) == pytest.approx(0.5 + 3 * (value - 1) / 2)
    assert made["CLASSES"] == (label, label + "'")


def test_extreme_scores_do_not_overflow():
    model = PortableModel(
        (Feature("a", 0, 0.0, 1.0, 1.0),), 0.0, (0, 1), 1, Sigmoid(-1.0, 0.0)
    )
    made = run(model.to_python())
    assert made["probability"]({"a": -1e9}) == 0.0
    assert made["probability"]({"a": 1e9}) == 1.0


@pytest.fixture
def database():
    """A table t with the data, and a row whose first feature is NULL."""
    X, _ = data()
    connection = sqlite3.connect(":memory:")
    columns = ", ".join('"' + name.replace('"', '""') + '" REAL' for name in X.columns)
    connection.execute(f"CREATE TABLE t ({columns})")
    marks = ", ".join("?" * X.shape[1])
    connection.executemany(f"INSERT INTO t VALUES ({marks})", X.to_numpy().tolist())
    connection.execute(f"INSERT INTO t VALUES ({marks})", [None] + [0.0] * 5)
    connection.create_function(
        "EXP", 1, lambda z: None if z is None else float(np.exp(z))
    )
    yield connection
    connection.close()


# SQLite takes all three kinds of quotes.
@pytest.mark.parametrize("dialect", ["ansi", "mysql"])
def test_sql_text_gives_the_same(database, dialect):
    X, _ = data()
    model = PortableModel.from_estimator(fitted(6, "sigmoid"))
    assert len(model.features) == 6

    def asked(what):
        text = model.to_sql(what, dialect=dialect)
        return [row[0] for row in database.execute(f"SELECT {text} FROM t")]

    *scores, unknown = asked("score")
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-9)
    assert unknown is None
    *found, unknown = asked("label")
    assert found == model.predict(X).tolist()
    assert unknown is None
    *chances, unknown = asked("probability")
    np.testing.assert_allclose(chances, model.predict_proba(X)[:, 1], rtol=1e-9)
    assert unknown is None


@pytest.mark.parametrize("what", ["score", "label", "probability"])
def test_sql_text_has_a_line_for_each_term(what):
    model = PortableModel.from_estimator(fitted(6, "sigmoid"))
    for line in model.to_sql(what).splitlines():
        assert sum(f'"{one.name}"' in line for one in model.features) <= 1


def test_integer_columns_are_not_divided_as_integers():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a INTEGER)")
    connection.execute("INSERT INTO t VALUES (3)")
    model = PortableModel((Feature("a", 0, 2.0, 2.0, -1.0),), -0.0, (0, 1), 1)
    found = connection.execute(f"SELECT {model.to_sql()} FROM t").fetchone()[0]
    assert found == -0.5


def test_names_and_labels_are_quoted_for_each_dialect():
    features = (Feature('a"b`c]d', 0, 0.0, 1e-300, 1.0),)
    model = PortableModel(features, 0.0, ("x", "it's \\"), 1)
    assert '"a""b`c]d"' in model.to_sql()
    assert '`a"b``c]d`' in model.to_sql(dialect="mysql")
    assert '[a"b`c]]d]' in model.to_sql(dialect="sqlserver")
    assert "1E-300" in model.to_sql()
    assert "'it''s \\'" in model.to_sql("label")
    assert "'it''s \\\\'" in model.to_sql("label", dialect="mysql")
    switch = PortableModel(features, 0.0, (False, True), 1)
    assert "THEN TRUE" in switch.to_sql("label")
    assert "THEN 1\n" in switch.to_sql("label", dialect="sqlserver")


def test_names_that_sql_does_not_allow_are_rejected():
    model = PortableModel((Feature("a", 0, 0.0, 1.0, 1.0),), 0.0, ("x", "y"), 1)
    with pytest.raises(ValueError, match="dialect must be one of 'ansi'"):
        model.to_sql(dialect="basic")
    with pytest.raises(ValueError, match="what must be 'score'"):
        model.to_sql("odds")
    with pytest.raises(ValueError, match="this one is not; create it from"):
        model.to_sql("probability")
    isotonic = PortableModel.from_estimator(fitted(2, "isotonic"))
    for what in ("label", "probability"):
        with pytest.raises(ValueError, match=r"isotonic one.*to_sql\('score'\)"):
            isotonic.to_sql(what)
    with pytest.raises(ValueError, match=r"dialect must be one of.*got \['ansi'\]"):
        model.to_sql(dialect=["ansi"])
    for name in ("", "a\0"):
        bad = PortableModel((Feature(name, 0, 0.0, 1.0, 1.0),), 0.0, (0, 1), 1)
        with pytest.raises(ValueError, match="not allow the column name"):
            bad.to_sql()
    bad = PortableModel(model.features, 0.0, ("x", "\0"), 1)
    with pytest.raises(ValueError, match="zero byte"):
        bad.to_sql("label")
