"""Tables whose columns are the samples, and labels in a file of their own."""

import numpy as np
import pandas as pd
import pytest

from frugalsvm.tables import TableError, find_target, make_plan, read_table
from frugalsvm.tables.excel import Layout
from frugalsvm.tables.target import join_labels

TURNED = Layout(is_transposed=True)
GENES = "gene,S1,S2,S3,S4\nA,1.5,2,3,4\nB,0.1,,0.3,0.4\nkind,x,y,x,y\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="genes.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_columns_become_rows(file):
    table = read_table(file(GENES), layout=TURNED)
    assert table.names == ["gene", "A", "B", "kind"]
    assert table.n_rows == 4
    np.testing.assert_array_equal(table.columns["A"].values, [1.5, 2, 3, 4])
    np.testing.assert_array_equal(table.columns["B"].values, [0.1, np.nan, 0.3, 0.4])
    assert table.columns["kind"].levels == ["x", "y"]
    assert table.row_names == "gene"
    plan = make_plan(table, "kind")
    assert plan.dropped == (("gene", "names of the rows"),)
    assert find_target(table, "kind").counts == (2, 2)


@pytest.mark.parametrize(
    "text",
    [
        # As R writes it, without a name above the names.
        "S1,S2\nA,1.5,2\nB,3,4\n",
        ",S1,S2\nA,1.5,2\nB,3,4\n",
        "\tS1\tS2\nA\t1.5\t2\nB\t3\t4\n",
        ";S1;S2\nA;1,5;2\nB;3;4\n",
    ],
)
def test_headers_and_separators(file, text):
    table = read_table(file(text), layout=TURNED)
    assert table.names == ["sample", "A", "B"]
    assert table.columns["sample"].levels == ["S1", "S2"]
    assert table.columns["A"].values.tolist() == [1.5, 2]


def test_names_of_samples_are_text(file):
    table = read_table(file("gene,001,002\nA,1,2\n"), layout=TURNED)
    assert table.columns["gene"].levels == ["001", "002"]


def test_equal_names_of_features_are_told_apart(file):
    table = read_table(file("gene,S1,S2\nA,1,2\nA,3,4\n"), layout=TURNED)
    assert table.names == ["gene", "A", "A (2)"]
    assert "'A' appears more than once" in table.remarks[0]


def test_a_table_without_rows_cannot_be_turned(file):
    with pytest.raises(TableError, match="no rows below the names"):
        read_table(file("gene,S1,S2\n"), layout=TURNED)


def test_excel_is_turned_with_its_types(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["gene", "S1", "S2"], ["A", 1.234, 5], ["kind", "x", "y"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx", layout=TURNED)
    assert table.columns["A"].values.tolist() == [1.234, 5]
    assert table.columns["kind"].levels == ["x", "y"]


def test_labels_are_joined_by_name(file):
    table = read_table(file(GENES), layout=TURNED)
    labels = file("n;who;state\n1;S3;ill\n2;S1;well\n3;S9;ill\n4;S4;ill\n", "l.csv")
    found = join_labels(table, labels, "state")
    target = found.columns["state"]
    assert [target.levels[k] if k >= 0 else None for k in target.codes] == [
        "well", None, "ill", "ill",
    ]  # fmt: skip
    assert found.remarks == [
        "labels of 3 of 4 samples from l.csv",
        "samples without a label: 'S2'",
        "labels of no sample in genes.csv: 'S9'",
    ]
    with pytest.raises(TableError, match=r"missing in 1 row .* --unlabelled drop"):
        find_target(found, "state")
    assert join_labels(table, None, "state") is table


def test_labels_may_be_numbers_of_samples_with_numbers(file):
    named = Layout(labels="l.csv")
    rows = file("id,x\n1,0.5\n2,0.25\n3,0.125\n", "rows.csv")
    table = read_table(rows, layout=named)
    found = join_labels(table, file("id,y\n3,1\n1,0\n2,1\n", "l.csv"), "y")
    assert found.columns["y"].values.tolist() == [0, 1, 1]
    assert make_plan(found, "y").kinds == {"x": "number"}


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "parquet"])
def test_names_of_samples_are_compared_as_text(file, tmp_path, suffix):
    """As numbers, 1e3 and 1000 would be one sample, and 1.50 would be 1.5."""
    names, rows = ["1e3", "1000", "1.50", "007"], tmp_path / f"rows.{suffix}"
    frame = pd.DataFrame({"id": names, "x": [0.5, 0.25, 0.125, 0]})
    if suffix == "csv":
        frame.to_csv(rows, index=False)
    elif suffix == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(rows, index=False)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(rows)
    labels = file("id,y\n1000,1\n1.50,3\n007,4\n1e3,2\n7,5\n1.5,6\n", "l.csv")
    table = read_table(rows, layout=Layout(labels=labels))
    found = join_labels(table, labels, "y")
    assert found.columns["y"].values.tolist() == [2, 1, 3, 4]


@pytest.mark.parametrize(
    ("text", "target", "words"),
    [
        ("who,state\nP1,a\n", "state", "no column of l.csv has the names of the"),
        ("who,state\nS1,a\nS1,b\n", "state", "has 'S1' more than once"),
        ("who,kind\nS1,a\n", "kind", "both genes.csv and l.csv have a column 'kind'"),
        ("who,state\nS1,a\n", "stat", "--target in l.csv: no column 'stat'"),
    ],
)
def test_labels_that_do_not_fit(file, text, target, words):
    table = read_table(file(GENES), layout=TURNED)
    with pytest.raises(TableError, match=words):
        join_labels(table, file(text, "l.csv"), target)


def test_a_missing_target_may_be_a_question_of_direction(file):
    many = ",".join(f"S{k}" for k in range(9))
    rows = "\n".join(f"G{j}," + ",".join("123456789") for j in range(5))
    with pytest.raises(TableError, match=r"looks like names of features.*--transpose"):
        find_target(read_table(file(f"gene,{many}\n{rows}\n")), "state")
    with pytest.raises(TableError, match=r"first column has 'kind'.*use --transpose"):
        find_target(read_table(file(GENES)), "kind")
    with pytest.raises(TableError) as failure:
        find_target(read_table(file("a,b\n1,2\n2,3\n")), "y")
    assert "--transpose" not in str(failure.value)


def test_a_turned_table_is_recognised_by_a_missing_feature(tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text("gene,s1,s2\nTP53,1.5,2\nMYC,3,4.5\n")
    turned = read_table(path)
    with pytest.raises(TableError, match=r"'TP53'.*use --transpose"):
        turned.column("TP53", "the model")
    with pytest.raises(TableError) as error:
        turned.column("KRAS", "the model")
    assert "--transpose" not in str(error.value)
