"""Data sets: read, checked, and downloaded through a stub of OpenML."""

import hashlib
import io
import json
import os
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from experiments import datasets
from experiments.catalogue import CATALOGUE, DatasetInfo, OpenMLPart
from experiments.datasets import DatasetNotFound, LabelledTable, read_table, write_table

DATA = os.environ.get("FRUGALSVM_DATA")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path, empty_cache):
    """An empty folder and an empty cache."""
    monkeypatch.setenv("FRUGALSVM_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return tmp_path


class Server:
    """OpenML's responses to scikit-learn: descriptions in JSON and tables in ARFF."""

    def __init__(self, tables):
        self.tables = tables
        self.asked = []

    def __call__(self, request, *_, **__):
        url = request.full_url
        self.asked.append(url)
        data_id = int(url.rstrip("/").split("/")[-1])
        answer = self.tables[data_id]
        if "/features/" in url:
            answer = json.dumps({"data_features": {"feature": answer["features"]}})
        elif "/json/data/" in url:
            answer = json.dumps({"data_set_description": answer["description"]})
        else:
            answer = answer["arff"]
        reply = io.BytesIO(answer.encode())
        reply.info = lambda: {}
        return reply


def openml_table(data_id, columns, labels, classes):
    """A set as OpenML has it; ``columns`` are lists of numbers, texts or None."""
    names = [f"V{j + 1}" for j in range(len(columns))]
    nominal = [any(isinstance(v, str) for v in column) for column in columns]
    lines = ["@RELATION test"]
    for name, column, is_nominal in zip(names, columns, nominal, strict=True):
        # Not in the order of their indices, which is allowed.
        kinds = ",".join(reversed(column)) if is_nominal else ""
        lines.append(f"@ATTRIBUTE {name} " + (f"{{{kinds}}}" if is_nominal else "REAL"))
    lines += [f"@ATTRIBUTE Class {{{','.join(classes)}}}", "@DATA"]
    for row in zip(*columns, labels, strict=True):
        lines.append(",".join("?" if v is None else str(v) for v in row))
    arff = "\n".join(lines) + "\n"
    features = [
        {
            "index": str(j),
            "name": name,
            "is_target": str(name == "Class").lower(),
            "data_type": "nominal" if kind else "numeric",
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for j, (name, kind) in enumerate(
            [*zip(names, nominal, strict=True), ("Class", True)]
        )
    ]
    description = {
        "id": str(data_id),
        "name": "test",
        "version": "1",
        "format": "ARFF",
        "status": "active",
        "default_target_attribute": "Class",
        "url": f"https://www.openml.org/data/v1/download/{data_id}",
        "file_id": str(data_id),
        "description": "",
        "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
    }
    return {"arff": arff, "features": features, "description": description}


def catalogued(monkeypatch, X, y, openml, name="tiny"):
    """Make a table one of ours."""
    info = DatasetInfo(
        name,
        "Tiny",
        1,
        (*X.shape, 50, 50),
        X.shape,
        (int(np.sum(y < 0)), int(np.sum(y > 0))),
        ("bad", "good"),
        "nowhere",
        datasets.digest(X, y),
        openml=openml,
    )
    monkeypatch.setitem(CATALOGUE, name, info)
    return info


def serve(monkeypatch, tables):
    server = Server(tables)
    connect(monkeypatch, server)
    return server


def connect(monkeypatch, openml):
    """Let a function answer instead of OpenML."""
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", openml)


X6 = np.array([[1.5, 2.0], [3.0, 4.0], [5.0, 6.0], [0.1, 8.0]])
Y6 = np.array([-1.0, 1.0, 1.0, -1.0])


def test_a_download_is_converted_and_cached(monkeypatch, home):
    """A constant column, a row with a missing value and surplus rows are dropped."""
    columns = [
        [1.5, 3.0, None, 5.0, 0.1, 9.0],
        [7.0] * 6,
        ["2", "4", "1", "6", "8", "9"],
    ]
    labels = ["b", "g", "g", "g", "b", "b"]
    part = OpenMLPart(
        4711, ("g",), first_rows=5, drop_columns=(1,), drop_missing="rows"
    )
    catalogued(monkeypatch, X6, Y6, (part,))
    server = serve(monkeypatch, {4711: openml_table(4711, columns, labels, ["b", "g"])})
    first = datasets.load("tiny")
    np.testing.assert_array_equal(first.X, X6)
    np.testing.assert_array_equal(first.y, Y6)
    assert first.names == ["V1", "V3"]
    assert (home / "cache/frugalsvm/tiny.csv.gz").is_file()
    n_asked = len(server.asked)
    again = datasets.load("tiny")
    np.testing.assert_array_equal(again.X, X6)
    assert len(server.asked) == n_asked > 0


def test_parts_are_joined_and_columns_with_missing_values_dropped(monkeypatch):
    first = openml_table(1, [[1.5, 3, 5, 0.1]], ["1", "2", "10", "1"], ["1", "2", "10"])
    second = openml_table(
        2,
        [[None, 1, 1, 1], ["2", "4", "6", "8"]],
        ["1", "2", "10", "1"],
        ["1", "2", "10"],
    )
    parts = (OpenMLPart(1, ("2", "10")), OpenMLPart(2, drop_missing="columns"))
    catalogued(monkeypatch, X6, Y6, parts)
    serve(monkeypatch, {1: first, 2: second})
    table = datasets.load("tiny")
    np.testing.assert_array_equal(table.X, X6)
    np.testing.assert_array_equal(table.y, Y6)
    assert table.names == ["1_V1", "2_V2"]


@pytest.mark.parametrize(
    ("columns", "labels", "message"),
    [
        ([[1.5, 3, 5], [2, 4, 6]], "bgg", r"shape \(3, 2\) instead of \(4, 2\)"),
        ([[1.5, 3, 5, 0.1], [2, 4, 6, 8]], "bbgb", "class counts"),
        ([[1.5, 3, 5, 0.1], [2, 4, 6, 8.1]], "bggb", "SHA-256"),
    ],
)
def test_another_table_is_not_accepted(monkeypatch, home, columns, labels, message):
    catalogued(monkeypatch, X6, Y6, (OpenMLPart(7, ("g",)),))
    serve(monkeypatch, {7: openml_table(7, columns, list(labels), ["b", "g"])})
    with pytest.raises(
        DatasetNotFound, match=f"table on OpenML differs from ours: {message}"
    ):
        datasets.load("tiny")
    assert not (home / "cache").exists()


def test_a_damaged_download_is_not_accepted(monkeypatch):
    catalogued(monkeypatch, X6, Y6, (OpenMLPart(7, ("g",)),))
    table = openml_table(7, [[1.5, 3, 5, 0.1], [2, 4, 6, 8]], list("bggb"), ["b", "g"])
    table["arff"] = table["arff"].replace("1.5", "1.6")
    serve(monkeypatch, {7: table})
    with pytest.raises(DatasetNotFound, match="md5 checksum"):
        datasets.load("tiny")


def test_offline_the_message_says_which_file_is_expected_where(monkeypatch, home):
    def unreachable(*_, **__):
        raise URLError("no route to host")

    connect(monkeypatch, unreachable)
    with pytest.raises(DatasetNotFound) as caught:
        datasets.load("ionosphere")
    message = str(caught.value)
    for text in (
        "no route to host",
        f"ionosphere.csv.gz in {home / 'data'}",
        str(home / "cache" / "frugalsvm"),
        "FRUGALSVM_DATA",
        "351 rows",
        "33 columns",
        "126 rows",
        "UCI Ionosphere",
    ):
        assert text in message


@pytest.mark.parametrize(
    "name", ["wpbc", "cleveland", "german", "wholesale", "colorectal", "dlbcl"]
)
def test_data_sets_without_a_source_are_reported(name):
    with pytest.raises(DatasetNotFound, match=rf"no automatic source.*{name}.csv.gz"):
        datasets.load(name)


def test_downloads_can_be_declined(monkeypatch):
    server = serve(monkeypatch, {})
    with pytest.raises(DatasetNotFound, match="download_missing is False"):
        datasets.load("madelon", download_missing=False)
    assert server.asked == []


def test_a_file_of_the_user_comes_first(monkeypatch, home):
    catalogued(monkeypatch, X6, Y6, ())
    table = LabelledTable(X6, Y6, ["a, b", "c"])
    write_table(
        home / "cache/frugalsvm/tiny.csv.gz", LabelledTable(2 * X6, Y6, ["x", "y"])
    )
    with pytest.warns(UserWarning, match="not the table behind our published figures"):
        np.testing.assert_array_equal(datasets.load("tiny").X, 2 * X6)
    write_table(home / "data/tiny.csv.gz", table)
    table = datasets.load("tiny")
    assert table.names == ["a, b", "c"]
    write_table(home / "mine/tiny.csv.gz", LabelledTable(X6, Y6, ["p", "q"]))
    other = datasets.load("tiny", data_home=home / "mine")
    assert other.names == ["p", "q"]


def test_files_keep_every_digit(home):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) * 10.0 ** rng.integers(-20, 20, (20, 3))
    write_table(
        home / "t.csv.gz", LabelledTable(X, np.tile([-1.0, 1.0], 10), list("abc"))
    )
    assert list(home.glob("t.*")) == [home / "t.csv.gz"]
    np.testing.assert_array_equal(read_table(home / "t.csv.gz").X, X)


def test_files_that_are_no_data_sets_are_rejected(monkeypatch, home):
    catalogued(monkeypatch, X6, Y6, ())
    write_table(home / "data/tiny.csv.gz", LabelledTable(X6, 2 * Y6, ["a", "b"]))
    with pytest.raises(ValueError, match="target must be -1 or 1"):
        datasets.load("tiny")
    with pytest.raises(ValueError, match=r"name must be one of \['wdbc'"):
        datasets.load("iris")


def test_digests_are_of_numbers_not_of_their_signs_of_zero_or_layout():
    X = np.array([[0.0, 1.0], [2.0, 3.0]])
    y = np.array([1.0, -1.0])
    same = datasets.digest(np.asfortranarray(np.where(X == 0, -0.0, X)), y)
    assert datasets.digest(X, y) == same
    assert datasets.digest(X, -y) != same
    assert datasets.digest(X.reshape(1, 4), y) != same


def test_wdbc_needs_no_file():
    table = datasets.load("wdbc")
    np.testing.assert_array_equal(table.X, load_breast_cancer().data)
    assert datasets.digest(table.X, table.y) == CATALOGUE["wdbc"].sha256


@pytest.mark.skipif(not DATA, reason="needs the data sets: FRUGALSVM_DATA")
@pytest.mark.parametrize("name", CATALOGUE)
def test_our_copies_match_the_catalogue(name):
    table = datasets.load(name, data_home=DATA, download_missing=False)
    assert datasets.digest(table.X, table.y) == CATALOGUE[name].sha256
    assert table.X.shape == CATALOGUE[name].shape


def test_files_beside_a_data_set(home):
    data = datasets.DatasetSource(str(home)).load("wdbc")
    with pytest.raises(DatasetNotFound, match=r"no .*raw\.csv\.gz or .*raw\.csv\.gz\."):
        data.companion("raw")
    path = home / "raw.csv.gz"
    path.touch()
    assert data.companion("raw") == path
