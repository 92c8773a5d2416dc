"""Store: outcomes of cells in an SQLite file.

One row per cell, each written in its own transaction, so that a run may be killed. A
file that SQLite reports as broken is renamed, and a new one is begun.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from .cells import CellOutcome, canonical, key_of

# "FSVM" in ASCII, which identifies store files.
APPLICATION = 0x4653564D
# Seconds to wait while another run is writing.
PATIENCE = 60.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY,
    spec TEXT NOT NULL,
    outcome TEXT NOT NULL,
    stored TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
)
"""
_SELECT = "SELECT outcome FROM cells WHERE key = ?"
_INSERT = "INSERT OR REPLACE INTO cells (key, spec, outcome) VALUES (?, ?, ?)"


class StoreNotUsable(RuntimeError):
    """The file cannot be opened, or belongs to something else."""


class CellStore:
    """Outcomes by key; a context manager that closes the file.

    Parameters
    ----------
    path : path
        The file; created if it does not exist.
    say : callable, default=print
        Called with a message if the file is broken.
    """

    def __init__(self, path: str | Path, say: Callable[[str], object] = print):
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _opened(self.path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise _not_usable(self.path, error) from error
            aside = _free_name(self.path)
            self.path.replace(aside)
            self._connection = _opened(self.path)
            say(
                f"The store {self.path} is broken ({error}); it is now {aside.name}, "
                "and all cells are computed again."
            )
        except OSError as error:
            raise _not_usable(self.path, error) from error

    def get(self, spec: dict[str, Any]) -> CellOutcome | None:
        """The outcome of a cell, or None."""
        row = self._execute(_SELECT, (key_of(spec),))
        return None if row is None else CellOutcome(**json.loads(row[0]))

    def put(self, spec: dict[str, Any], outcome: CellOutcome) -> None:
        """Store an outcome atomically."""
        values = canonical(
            {"values": outcome.values, "seconds": outcome.seconds, "cpu": outcome.cpu}
        )
        self._execute(_INSERT, (key_of(spec), canonical(spec), values))

    def _execute(self, statement: str, values: tuple[str, ...]) -> Any:
        try:
            with self._connection:
                return self._connection.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise _not_usable(self.path, error) from error

    def __len__(self) -> int:
        (count,) = self._connection.execute("SELECT COUNT(*) FROM cells").fetchone()
        return int(count)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE)
    try:
        # Includes the index of the keys, without which entries would not be found.
        (state,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if state != "ok":
            raise sqlite3.DatabaseError(state)
        # In this order: a concurrent run signs the file before it creates a table.
        (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        if owner != APPLICATION and tables:
            raise StoreNotUsable(
                f"{path} belongs to another application; give another --store."
            )
        with connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(_SCHEMA)
            _drop_digests(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _drop_digests(connection: sqlite3.Connection) -> None:
    """Rows of older stores have one."""
    columns = connection.execute("SELECT name FROM pragma_table_info('cells')")
    if ("digest",) in columns.fetchall():
        connection.execute("ALTER TABLE cells DROP COLUMN digest")


def _not_usable(path: Path, error: Exception) -> StoreNotUsable:
    return StoreNotUsable(
        f"The store {path} cannot be used ({error}); give another --store."
    )


def _free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged{number}")).exists():
        number += 1
    return aside
