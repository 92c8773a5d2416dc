"""Store: outcomes of cells in an SQLite file that recovers from damage.

One row per cell, each written in its own transaction. Every row has a digest; rows that
do not match their digest are ignored. A file that SQLite reports as broken is renamed,
and its intact rows are kept.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
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
    digest TEXT NOT NULL,
    stored TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
)
"""
_SELECT = "SELECT key, spec, outcome, digest FROM cells"
_INSERT = (
    "INSERT OR REPLACE INTO cells (key, spec, outcome, digest) VALUES (?, ?, ?, ?)"
)


class StoreNotUsable(RuntimeError):
    """The file cannot be opened, or belongs to something else."""


class CellStore:
    """Outcomes by key; a context manager that closes the file.

    Parameters
    ----------
    path : path
        The file; created if it does not exist.
    say : callable, default=print
        Called with messages about damage.
    """

    def __init__(self, path: str | Path, say: Callable[[str], object] = print):
        self.path = Path(path)
        self.damaged = 0
        self._say = say
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _opened(self.path)
        except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
            self._mend(error)

    def _mend(self, error: Exception) -> None:
        """Rename a broken file, and start a new one with its intact rows.

        Raises
        ------
        StoreNotUsable
            If it is not the file that is broken.
        """
        if not _is_damage(error):
            raise StoreNotUsable(
                f"The store {self.path} cannot be used ({error}); give another --store."
            ) from error
        aside = _free_name(self.path)
        self.path.replace(aside)
        for suffix in ("-journal", "-wal", "-shm"):
            # Journals of the broken file must not be applied to the new one.
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self._connection = _opened(self.path)
        rows = _sound_rows(aside)
        with self._connection:
            self._connection.executemany(_INSERT, rows)
        self._say(
            f"The store {self.path} is damaged ({error}); it is now {aside.name}. "
            f"{len(rows)} of its cells are kept, the others are computed again."
        )

    def _execute(self, statement: str, values: tuple[str, ...] = ()) -> Any:
        """Run a statement for its first row, and repeat it if the file was broken."""
        try:
            with self._connection:
                return self._connection.execute(statement, values).fetchone()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._connection.close()
            self._mend(error)
        with self._connection:
            return self._connection.execute(statement, values).fetchone()

    def get(self, spec: dict[str, Any]) -> CellOutcome | None:
        """The outcome of a cell, None if there is none or if it is damaged."""
        key = key_of(spec)
        row = self._execute(
            "SELECT spec, outcome, digest FROM cells WHERE key = ?", (key,)
        )
        if row is None:
            return None
        if _is_sound(key, *row) and row[0] == canonical(spec):
            return CellOutcome(**json.loads(row[1]))
        self.damaged += 1
        self._say(f"A damaged entry is computed again: {canonical(spec)[:120]} ...")
        return None

    def put(self, spec: dict[str, Any], outcome: CellOutcome) -> None:
        """Store an outcome atomically."""
        key, text = key_of(spec), canonical(spec)
        values = canonical(
            {"values": outcome.values, "seconds": outcome.seconds, "cpu": outcome.cpu}
        )
        self._execute(_INSERT, (key, text, values, _digest(key, text, values)))

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


def _connected(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, timeout=PATIENCE, uri=True)
    # Invalid text makes an entry damaged but is not an error.
    connection.text_factory = lambda data: data.decode(errors="replace")
    return connection


def _opened(path: Path) -> sqlite3.Connection:
    connection = _connected(f"{path.resolve().as_uri()}?mode=rwc")
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
            connection.execute(f"{_SELECT} LIMIT 1")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_damage(error: Exception) -> bool:
    """Whether an error means that the file itself is broken."""
    if isinstance(error, OSError):
        return False
    # The low byte of an SQLite error code is its kind.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF not in (
        sqlite3.SQLITE_AUTH, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM, sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    )  # fmt: skip


def _sound_rows(path: Path) -> list[tuple[str, str, str, str]]:
    """The intact rows of a broken file."""
    found = {}
    with closing(_connected(f"{path.resolve().as_uri()}?mode=ro")) as connection:
        # Without this SQLite cannot read truncated files.
        connection.execute("PRAGMA writable_schema = ON")
        # From both ends, since reading stops at the first broken page.
        for order in ("ASC", "DESC"):
            with suppress(sqlite3.Error, UnicodeDecodeError):
                for row in connection.execute(f"{_SELECT} ORDER BY rowid {order}"):
                    if _is_sound(*row):
                        found[row[0]] = row
    return list(found.values())


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _is_sound(key: Any, spec: Any, outcome: Any, digest: Any) -> bool:
    """Whether a row matches its digest."""
    is_text = all(isinstance(one, str) for one in (key, spec, outcome, digest))
    return is_text and _digest(key, spec, outcome) == digest


def _free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged{number}")).exists():
        number += 1
    return aside
