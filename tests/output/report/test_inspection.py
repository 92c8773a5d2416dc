import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from frugalsvm.output.report import inspect_table
from frugalsvm.output.report.inspection import (
    duplicates,
    is_constant,
    is_identifier,
    separation,
)


@pytest.fixture
def generator():
    return np.random.default_rng(0)


def kinds(found):
    return {one.kind: one.columns for one in found}


def test_clean_data_give_no_warnings(generator):
    table = generator.normal(size=(200, 5))
    assert inspect_table(list("abcde"), table, generator.random(200) < 0.4) == ()


def test_everything_is_found(generator):
    positive = np.arange(400) % 25 == 0
    clean = generator.normal(size=400)
    columns = {
        "age": clean,
        "age in months": 12 * clean + 3,
        "outcome code": positive + 0.001 * generator.normal(size=400),
        "patient_id": generator.permutation(10_000)[:400],
        "row": np.arange(400),
        "site": np.full(400, 3.0),
        "income": 1e6 * generator.normal(size=400),
    }
    found = kinds(
        inspect_table(list(columns), np.column_stack([*columns.values()]), positive)
    )
    assert found["leak"] == ("outcome code",)
    assert found["id"] == ("patient_id", "row")
    assert found["duplicate"] == ("age", "age in months")
    assert found["constant"] == ("site",)
    assert found["imbalance"] == ()
    assert found["few"] == ()
    assert found["scales"][1] == "income"


def test_the_most_serious_comes_first(generator):
    positive = np.arange(100) % 2 == 0
    table = np.column_stack([np.zeros(100), positive])
    assert [one.kind for one in inspect_table(["a", "b"], table, positive)] == [
        "leak", "constant"
    ]  # fmt: skip


def test_missing_values_are_no_constants_and_no_duplicates(generator):
    column = generator.normal(size=50)
    holes = column.copy()
    holes[::7] = np.nan
    assert not is_constant(holes)
    assert is_constant(np.array([np.nan, 2.0, 2.0]))
    assert is_constant(np.array([np.nan, np.nan]))
    assert duplicates(np.column_stack([column, holes]), [0, 1]) == []
    assert duplicates(np.column_stack([holes, -2 * holes]), [0, 1]) == [(0, 1)]


@pytest.mark.parametrize(
    ("name", "is_id"),
    [
        ("id", True), ("patient_id", True), ("PatientID", True), ("customer no", True),
        ("Unnamed: 0", True), ("weight", False), ("acid", False), ("width", False),
        ("paid", False), ("humid", False), ("PID", True), ("rownames", True),
        ("row.names", True), ("subjectid", True), ("NO2", False), ("model", False),
        ("number of rooms", False), ("key", True), ("id_type", True),
    ],
)  # fmt: skip
def test_names_of_identifiers(generator, name, is_id):
    numbers = generator.permutation(1000)[:200].astype(float)
    assert is_identifier(name, numbers) is is_id


def test_consecutive_numbers_are_identifiers_whatever_their_name():
    assert is_identifier("weight", np.arange(100.0))
    assert is_identifier("weight", np.arange(100.0)[::-1])
    assert is_identifier("weight", np.delete(np.arange(100.0), [3, 50, 51]))
    assert not is_identifier("weight", np.arange(100.0) + 0.5)
    assert not is_identifier("weight", np.arange(10.0))
    assert not is_identifier("id", np.arange(100.0) % 7)


def test_separation_is_the_auc(generator):
    positive = generator.random(300) < 0.5
    column = positive + generator.normal(size=300)
    auc = roc_auc_score(positive, column)
    assert separation(column, positive) == pytest.approx(auc)
    assert separation(-column, positive) == pytest.approx(auc)
    assert separation(column, np.zeros(300, dtype=bool)) == 0.5


def test_many_columns_and_rows_are_quick(generator):
    wide = generator.normal(size=(60, 3000))
    assert inspect_table([f"c{j}" for j in range(3000)], wide, np.arange(60) < 30) == ()


def test_sentences_name_a_few_columns_only(generator):
    table = np.zeros((100, 20))
    found = inspect_table([f"c{j}" for j in range(20)], table, np.arange(100) < 50)
    text = found[0].text
    assert text == "c0, c1, c2, c3, c4 and 15 more are constant and cannot be selected."
    assert len(found[0].columns) == 20
