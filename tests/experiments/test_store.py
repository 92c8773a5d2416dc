import sqlite3

import pytest

from experiments.cells import CellOutcome, cell
from experiments.store import CellStore, StoreNotUsable

SPEC = {"task": "count", "params": {"B": 3}}
OUTCOME = CellOutcome(
    {"objective": 1.5, "gap": float("inf"), "capped": False}, 2.0, 1.0
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "below" / "cells.sqlite"


def change(path, statement, *values):
    with sqlite3.connect(path) as connection:
        connection.execute(statement, values)
    connection.close()


def test_stored_outcomes_persist(path):
    with CellStore(path) as store:
        assert store.get(SPEC) is None
        store.put(SPEC, OUTCOME)
    with CellStore(path) as store:
        assert store.get(SPEC) == OUTCOME
        assert store.get(SPEC | {"params": {"B": 4}}) is None
        assert len(store) == 1


@pytest.mark.parametrize("where", ["head", "all"])
def test_a_damaged_file_is_put_aside(path, where):
    messages = []
    with CellStore(path) as store:
        store.put(SPEC, OUTCOME)
    data = bytearray(path.read_bytes())
    spoilt = slice(0, 60) if where == "head" else slice(100, len(data))
    data[spoilt] = b"\x5a" * len(data[spoilt])
    path.write_bytes(data)
    with CellStore(path, say=messages.append) as store:
        assert store.get(SPEC) is None
        store.put(SPEC, OUTCOME)
        assert store.get(SPEC) == OUTCOME
    assert path.with_name("cells.sqlite.damaged1").read_bytes() == bytes(data)
    assert "is broken" in messages[0]
    assert "cells.sqlite.damaged1" in messages[0]


def test_a_second_damaged_file_does_not_replace_the_first(path):
    path.parent.mkdir()
    for text in (b"not a database at all", b"nor is this one, really"):
        path.write_bytes(text)
        CellStore(path, say=lambda text: None).close()
    contents = {damaged.read_bytes() for damaged in path.parent.glob("*.damaged*")}
    assert contents == {b"not a database at all", b"nor is this one, really"}


def many(count=40):
    """Cells, enough for several pages of a file."""
    specs = [
        {"task": "count", "params": {"B": k}, "text": "x" * 300} for k in range(count)
    ]
    return [(spec, CellOutcome({"objective": k + 0.5})) for k, spec in enumerate(specs)]


def test_an_empty_file_is_a_new_store(path):
    path.parent.mkdir()
    path.touch()
    with CellStore(path, say=pytest.fail) as store:
        assert len(store) == 0


def test_a_store_locked_by_another_run(path, monkeypatch):
    monkeypatch.setattr("experiments.store.PATIENCE", 0.05)
    with CellStore(path) as store, sqlite3.connect(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreNotUsable, match="locked"):
            store.put(SPEC, OUTCOME)
        other.rollback()
    other.close()
    assert not list(path.parent.glob("*.damaged*"))


def test_two_may_write(path):
    with CellStore(path) as first, CellStore(path) as second:
        for k, (spec, outcome) in enumerate(many(6)):
            (first, second)[k % 2].put(spec, outcome)
        assert len(first) == len(second) == 6


def test_a_database_of_another_application_is_left_alone(path):
    path.parent.mkdir()
    change(path, "CREATE TABLE letters (text)")
    with pytest.raises(StoreNotUsable, match="another application"):
        CellStore(path)
    with sqlite3.connect(path) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
    assert tables == [("letters",)]


def test_keys_depend_on_all_that_matters():
    def spec(fingerprint="abc", **change):
        params = {"data": "wdbc", "limit": 5, "B": 3, "C": 1.0} | change
        return cell("method", **params).spec(lambda name: fingerprint)

    assert spec() == spec()
    others = [spec("abd"), spec(limit=6), spec(B=4), spec(needs=(cell("facts"),))]
    others += [spec(data="wbc"), spec(effort="fast"), spec(seed=1)]
    assert all(other != spec() for other in others)
    assert spec()["version"]
