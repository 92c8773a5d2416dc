"""Stores: outcomes of cells in an SQLite file, and rows of benchmarks as JSON.

One row of SQLite per cell, each written in its own transaction, so that a run may be
killed. A file that SQLite reports as broken is renamed, and a new one is begun.

The rows of a complete benchmark are a file ``NAME.json``, with all that is needed to
judge them: code, date, machine, versions, options. Those in ``experiments/results`` are
under version control: tables of README and documentation are made of them.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import itertools
import json
import math
import os
import platform
import sqlite3
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from frugalsvm.problem.certificate import write_whole

from .cells import CellOutcome, as_json, key_of

# "FSVM" in ASCII, which identifies store files.
APPLICATION = 0x4653564D
# Seconds to wait while another run is writing.
PATIENCE = 60.0

ROOT = Path(__file__).parents[1]
#: The folder of the results that README and documentation quote.
FOLDER = Path(__file__).with_name("results")
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "clarabel",
    "pyscipopt",
    "coptpy",
    "abess",
    "dask",
)
# Digits that are kept of a number.
DIGITS = 8

Row = dict[str, Any]

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
            self._connection = _open(self.path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise _not_usable(self.path, error) from error
            # Earlier files that were broken are still there.
            names = (f"{self.path.name}.damaged{k}" for k in itertools.count(1))
            paths = map(self.path.with_name, names)
            aside = next(path for path in paths if not path.exists())
            self.path.replace(aside)
            self._connection = _open(self.path)
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
        values = as_json(
            {"values": outcome.values, "seconds": outcome.seconds, "cpu": outcome.cpu}
        )
        self._execute(_INSERT, (key_of(spec), as_json(spec), values))

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


def _open(path: Path) -> sqlite3.Connection:
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
    except BaseException:
        connection.close()
        raise
    return connection


def _not_usable(path: Path, error: Exception) -> StoreNotUsable:
    return StoreNotUsable(
        f"The store {path} cannot be used ({error}); give another --store."
    )


# --- results --------------------------------------------------------------------------


@dataclass(frozen=True)
class Results:
    """A complete run of a benchmark."""

    # The last one that had changed the library.
    commit: str
    date: str
    machine: str
    versions: dict[str, str]
    settings: dict[str, Any]
    rows: list[Row]

    @property
    def where(self) -> str:
        """Date, commit and machine, as a sentence for tables."""
        return f"Measured on {self.date} at commit {self.commit}, {self.machine}."


def of_this_run(
    rows: Sequence[Row], settings: dict[str, Any], note: str, code: str
) -> Results:
    """Rows with the code, the machine and the versions of this process.

    The code is what ``commit`` said when the run began.
    """
    text = ", ".join(part for part in (machine(), note) if part)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Results(code, date, text, versions(), settings, list(rows))


def write(name: str, results: Results, folder: Path = FOLDER) -> Path | None:
    """Write the file; None if that would lose a peer which is not installed here."""
    path = folder / f"{name}.json"
    if path.exists() and set(read(name, folder).versions) - set(results.versions):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    # One row a line, so that a difference shows what has changed.
    head = [
        f" {json.dumps(field.name)}: {json.dumps(getattr(results, field.name))}"
        for field in fields(Results)
        if field.name != "rows"
    ]
    rows = [f"  {json.dumps(plain(row))}" for row in results.rows]
    body = ",\n".join([*head, ' "rows": [\n' + ",\n".join(rows) + "\n ]"])
    write_text(path, f"{{\n{body}\n}}\n")
    return path


def write_text(path: Path, text: str) -> None:
    """Write a file atomically."""
    write_whole(path, lambda file: file.write(text.encode()))


def read(name: str, folder: Path = FOLDER) -> Results:
    """The results of a benchmark."""
    return Results(**json.loads((folder / f"{name}.json").read_text("utf-8")))


def plain(value: Any) -> Any:
    """A value that JSON knows, without digits that nobody needs."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


# --- where a run took place -----------------------------------------------------------


def git(*arguments: str) -> str | None:
    """The output of git without the newline; None if it fails."""
    process = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return process.stdout.strip() if process.returncode == 0 else None


def commit() -> str:
    """The last commit that changed the library, and whether it was changed since."""
    last = git("log", "-1", "--format=%h", "--abbrev=10", "--", "src/frugalsvm")
    changed = git("status", "--porcelain", "--", "src/frugalsvm")
    if not last:
        return "unknown"
    return f"{last} and changes" if changed else last


def machine() -> str:
    """Cores, their kind and the memory."""
    kind = platform.machine().replace("_", "-")
    cpu = Path("/proc/cpuinfo")
    flags = set(cpu.read_text().split()) if cpu.exists() else set()
    text = f"{os.cpu_count()} cores, {kind}"
    for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")):
        if flag in flags:
            text += f" ({name})"
            break
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        text += f", {memory / 2**30:.0f} GB"
    return text


def versions() -> dict[str, str]:
    """Python and the packages that are installed."""
    installed = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            installed[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return installed
