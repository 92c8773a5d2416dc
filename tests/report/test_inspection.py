import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from frugalsvm.report import inspect_table, inspection
from frugalsvm.report.inspection import is_constant, is_identifier


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
    half = np.arange(50) < 30
    assert "duplicate" not in kinds(
        inspect_table("ab", np.column_stack([column, holes]), half)
    )
    twice = inspect_table("ab", np.column_stack([holes, -2 * holes]), half)
    assert kinds(twice)["duplicate"] == ("a", "b")


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
    columns = np.stack([
        positive + generator.normal(size=300),
        # Ties count as ties.
        np.round(positive + generator.normal(size=300)),
        np.zeros(300),
    ])  # fmt: skip
    gaps = columns[0].copy()
    gaps[::5] = np.nan
    known = ~np.isnan(gaps)
    found = inspection._compared(np.vstack([columns, -columns[:2], gaps]), positive)
    aucs = [roc_auc_score(positive, one) for one in columns]
    aucs += [*aucs[:2], roc_auc_score(positive[known], gaps[known])]
    assert found.auc == pytest.approx(aucs)
    one_class = inspection._compared(columns, np.zeros(300, dtype=bool))
    assert one_class.auc.tolist() == [0.5] * 3


def test_many_columns_are_all_looked_at(generator):
    wide = generator.normal(size=(60, 20_000))
    wide[:, 19_999] = (np.arange(60) < 30) + 0.1 * generator.random(60)
    wide[:, 7] = 3 * wide[:, 15_000] + 1
    names = [f"c{j}" for j in range(20_000)]
    found = kinds(inspect_table(names, wide, np.arange(60) < 30))
    assert found == {"leak": ("c19999",), "duplicate": ("c7", "c15000")}


def test_of_many_rows_some_are_drawn(generator):
    n = 110_000
    late = generator.permutation(n) < 40
    delay = late + 0.5 * generator.random(n)
    other = generator.normal(size=n)
    # Nearly constant, but for rows that are not drawn, perhaps.
    flag = np.zeros(n)
    flag[:2] = 1.0
    ids = generator.permutation(n).astype(float)
    columns = {"delay": delay, "x": other, "2x": 2 * other, "flag": flag, "n": ids}
    rows = inspection.drawn_rows(late, 5)
    assert rows.size == 100_000
    assert late[rows].sum() == 40
    found = inspect_table(list(columns), np.column_stack([*columns.values()]), late)
    assert kinds(found) == {
        "leak": ("delay",), "id": ("n",), "duplicate": ("x", "2x"), "imbalance": (),
    }  # fmt: skip
    (text,) = [one.text for one in found if one.kind == "duplicate"]
    assert "in the 100,000 rows that were compared: x and 2x" in text


def test_categories_give_the_answer_away_together(generator):
    code = generator.integers(0, 9, 900)
    flags = (code[:, None] == np.arange(9)).astype(float)
    names = [f"code={k}" for k in range(9)]
    of = {"code": range(9)}
    assert kinds(inspect_table(names, flags, code % 2 == 0)).get("leak") is None
    found = inspect_table(names, flags, code % 2 == 0, categories=of)
    assert kinds(found)["leak"] == ("code",)
    chance = generator.random(900) < 0.5
    assert inspect_table(names, flags, chance, categories=of) == ()


def test_sentences_name_a_few_columns_only(generator):
    table = np.zeros((100, 20))
    found = inspect_table([f"c{j}" for j in range(20)], table, np.arange(100) < 50)
    text = found[0].text
    assert text == "c0, c1, c2, c3, c4 and 15 more are constant and cannot be selected."
    assert len(found[0].columns) == 20
