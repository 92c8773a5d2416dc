"""Store: outcomes of cells in an SQLite file that survives what happens to it.

One row per cell, each written in a transaction of its own. Every row has a digest of
itself; what does not fit its digest is treated as if it had never been there. A file
that SQLite cannot read is put aside under another name.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from .cells import Outcome, canonical, key_of

# "FSVM" in ASCII, which tells our files from other databases.
APPLICATION = 0x4653564D
# Seconds to wait for another run that is writing.
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


class StoreNotUsable(RuntimeError):
    """The file cannot be opened, or belongs to something else."""


class Store:
    """Outcomes by key; a context that closes the file.

    Parameters
    ----------
    path : path
        The file; made if it is not there.
    say : callable, default=print
        Told what was found damaged.
    """

    def __init__(self, path: str | Path, say: Callable[[str], object] = print):
        self.path = Path(path)
        self.damaged = 0
        self._say = say
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _opened(self.path)
        except (sqlite3.OperationalError, OSError) as error:
            # Locked, or not to be opened: that is not damage.
            raise StoreNotUsable(
                f"The store {self.path} cannot be used ({error}); give another --store."
            ) from error
        except sqlite3.DatabaseError as error:
            self._put_aside(error)

    def _put_aside(self, error: Exception) -> None:
        """Give a broken file another name, and begin a new one."""
        aside = _free_name(self.path)
        self.path.replace(aside)
        for suffix in ("-journal", "-wal", "-shm"):
            # What belongs to the broken file must not be applied to the new one.
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self._say(
            f"The store {self.path} is damaged ({error}); it is now {aside.name}, and "
            "its cells are computed again."
        )
        self._connection = _opened(self.path)

    def get(self, spec: dict[str, Any]) -> Outcome | None:
        """The outcome of a cell, None if there is none or if it is damaged."""
        key = key_of(spec)
        try:
            row = self._connection.execute(
                "SELECT spec, outcome, digest FROM cells WHERE key = ?", (key,)
            ).fetchone()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            self._connection.close()
            self._put_aside(error)
            return None
        if row is None:
            return None
        if _is_sound(key, canonical(spec), *row):
            return Outcome(**json.loads(row[1]))
        self.damaged += 1
        self._say(f"A damaged entry is computed again: {canonical(spec)[:120]} ...")
        return None

    def put(self, spec: dict[str, Any], outcome: Outcome) -> None:
        """Keep an outcome: all of it, or nothing if the process dies meanwhile."""
        key, text = key_of(spec), canonical(spec)
        values = canonical(
            {"values": outcome.values, "seconds": outcome.seconds, "cpu": outcome.cpu}
        )
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO cells (key, spec, outcome, digest) "
                "VALUES (?, ?, ?, ?)",
                (key, text, values, _digest(key, text, values)),
            )

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
        (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise sqlite3.DatabaseError(state)
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if owner != APPLICATION and tables:
            raise StoreNotUsable(
                f"{path} is a database of something else; give another --store."
            )
        with connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _is_sound(key: str, wanted: str, spec: Any, outcome: Any, digest: Any) -> bool:
    """Whether a row is what was written, and of the cell that was asked for."""
    is_text = all(isinstance(one, str) for one in (spec, outcome, digest))
    return is_text and spec == wanted and _digest(key, spec, outcome) == digest


def _free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged{number}")).exists():
        number += 1
    return aside
