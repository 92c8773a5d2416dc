"""Figures of benchmarks as files: ``results/NAME.json``, one for each benchmark.

A benchmark returns its rows, numbers by name. ``python -m benchmarks`` writes those of
a complete run, and what is needed to judge them: code, date, machine, versions,
settings. ``figures.py`` makes the tables of README and documentation from these files.
"""

import datetime
import importlib.metadata
import json
import math
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from frugalsvm.problem.files import write_whole

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).with_name("results")
PACKAGES = (
    "numpy", "scipy", "scikit-learn", "numba", "clarabel", "pyscipopt", "coptpy",
    "abess", "dask",
)  # fmt: skip
# Digits that are kept of a number.
DIGITS = 8

Row = dict[str, Any]


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
    words = ", ".join(part for part in (machine(), note) if part)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Results(code, date, words, versions(), settings, list(rows))


def write(name: str, results: Results, folder: Path = FOLDER) -> Path | None:
    """Write the file; None if that would lose a peer which is not installed here."""
    path = folder / f"{name}.json"
    if path.exists() and set(read(name, folder).versions) - set(results.versions):
        return None
    folder.mkdir(exist_ok=True)
    # One row a line, so that a difference shows what has changed.
    head = [f" {json.dumps(field.name)}: {json.dumps(getattr(results, field.name))}"
            for field in fields(Results) if field.name != "rows"]  # fmt: skip
    rows = [f"  {json.dumps(_plain(row))}" for row in results.rows]
    body = ",\n".join([*head, ' "rows": [\n' + ",\n".join(rows) + "\n ]"])
    write_whole(path, lambda file: file.write(f"{{\n{body}\n}}\n".encode()))
    return path


def read(name: str, folder: Path = FOLDER) -> Results:
    return Results(**json.loads((folder / f"{name}.json").read_text("utf-8")))


def _plain(value: Any) -> Any:
    """A value that JSON knows, without digits that nobody needs."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


# --- where a run took place -----------------------------------------------------------


def git(*arguments: str) -> str | None:
    """What git prints, without the newline; None if it fails."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else None


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
    known = set(cpu.read_text().split()) if cpu.exists() else set()
    words = f"{os.cpu_count()} cores, {kind}"
    for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")):
        if flag in known:
            words += f" ({name})"
            break
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        words += f", {memory / 2**30:.0f} GB"
    return words


def versions() -> dict[str, str]:
    """Python and the packages that are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
