"""Commands: time and memory of ``frugalsvm fit``, in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..cells import cell, grid
from ..experiment import benchmark
from ..store import Row

# --- memory on a million rows ---------------------------------------------------------

N_ROWS, N_COLUMNS = 1_000_000, 20
# Rows written at a time.
PIECE = 100_000


def million(data: None, *, rows: int) -> Row:
    """Peaks of a fit, and of a process that only imports, beside the table's size."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.csv"
        _write_million(path, rows)
        idle = _peak(["info", "--json"])
        started = time.perf_counter()
        peak = _peak(["fit", str(path), "--target", "y", "--effort", "fast", "--quiet"])
        seconds = time.perf_counter() - started
    size = rows * (N_COLUMNS + 1) * 8 / 2**20
    return {
        "table [MB]": size,
        "peak [MB]": peak,
        "ratio": peak / size,
        "idle [MB]": idle,
        "seconds": seconds,
    }


def _write_million(path: Path, n_rows: int) -> None:
    """Random numbers, and a class that depends on four columns."""
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, PIECE):
        X = rng.normal(size=(PIECE, N_COLUMNS))
        score = X[:, :4] @ [1.0, -1.0, 0.5, 0.5] + rng.normal(size=PIECE)
        _write_table(path, X, score > 0, is_new=start == 0)


def _write_table(path: Path, X: np.ndarray, y: np.ndarray, is_new: bool = True) -> None:
    """Numbers and classes as CSV, or more rows of them."""
    names = ",".join([*(f"c{j}" for j in range(N_COLUMNS)), "y"])
    form = ["%.6g"] * N_COLUMNS + ["%d"]
    with open(path, "w" if is_new else "a") as file:
        header = {"header": names, "comments": ""} if is_new else {}
        np.savetxt(file, np.column_stack([X, y]), form, delimiter=",", **header)


def _command(arguments: list[str]) -> str:
    """The output of ``frugalsvm``."""
    command = [sys.executable, "-m", "frugalsvm", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _peak(arguments: list[str]) -> float:
    """Largest resident memory of a command in MB; it must be the largest so far."""
    import resource

    _command(arguments)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


MILLION = benchmark(
    "cli-million",
    "Memory of frugalsvm fit on a million rows of 20 columns",
    "The peak of a process, which should be at most 4 times the table in doubles.",
    lambda settings: [cell("million", rows=settings.pick(N_ROWS // 10, N_ROWS))],
    [million],
    sets=(),
)


# --- time of a fit with its report ----------------------------------------------------

# Rows and columns of the mixed table, besides the class.
N_MIXED, N_NUMBERS = 45_000, 9
# Categories of its other columns.
LEVELS = (12, 3, 4, 2, 2, 3, 12)
# Share of the rarer class, and of the values that are missing in two columns.
RARE, GAPS = 0.12, 0.04
# Rows of the table of numbers.
N_SMALL = 7_000
# Table and options of each case.
CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "numbers": ("numbers", ()),
    "numbers, with report": ("numbers", ("--report",)),
    "mixed": ("mixed", ()),
    "mixed, with report": ("mixed", ("--report",)),
    "mixed, -k auto --C auto, with report": (
        "mixed",
        ("-k", "auto", "--C", "auto", "--report"),
    ),
}


def fit_time(data: None, *, case: str, part: int) -> Row:
    """The time of a fit of a part of a table, and how good its model is."""
    table, options = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{table}.csv"
        if table == "numbers":
            _write_numbers(path, N_SMALL // part)
        else:
            _write_mixed(path, N_MIXED // part)
        report = [str(Path(folder) / "report.html")] if "--report" in options else []
        cpu, started = _children_seconds(), time.perf_counter()
        command = ["fit", str(path), *options, *report, "--target", "y"]
        output = _command([*command, "--json", "--quiet"])
        wall = time.perf_counter() - started
    content: dict[str, Any] = json.loads(output)
    return {
        "cpu": _children_seconds() - cpu,
        "wall": wall,
        "objective": content["proof"]["objective"],
        "gap": 100 * content["proof"]["gap"],
        "balanced_accuracy": content["cross_validation"]["balanced accuracy"]["mean"],
    }


def _children_seconds() -> float:
    """CPU seconds of all commands so far."""
    import resource

    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def _write_numbers(path: Path, n_rows: int) -> None:
    """Columns that share factors, and a class that depends on eight of them."""
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(n_rows, 5))
    X = factors @ rng.normal(size=(5, N_COLUMNS)) + rng.normal(size=(n_rows, N_COLUMNS))
    score = X[:, :8] @ np.linspace(1.0, 0.2, 8) + 2.0 * rng.normal(size=n_rows)
    _write_table(path, X, score > 0)


def _write_mixed(path: Path, n_rows: int) -> None:
    """Numbers with tails, seven columns of categories, gaps, and a rare class."""
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=(n_rows, N_NUMBERS))
    numbers[:, 1:4] = np.exp(numbers[:, 1:4])
    numbers[:, 4:] = np.round(3.0 * np.abs(numbers[:, 4:]))
    codes = [np.minimum(rng.geometric(2 / (n + 2), n_rows), n) - 1 for n in LEVELS]
    score = 0.8 * np.log(numbers[:, 2]) - 0.1 * numbers[:, 4] + 0.3 * numbers[:, 0]
    for code, n in zip(codes, LEVELS, strict=True):
        score += rng.normal(scale=0.5, size=n)[code]
    score += rng.logistic(scale=0.6, size=n_rows)
    rare = score > np.quantile(score, 1.0 - RARE)
    numbers[rng.random(n_rows) < GAPS, 1] = np.nan
    columns = [[f"{value:.4g}" for value in column] for column in numbers.T]
    columns[1] = ["" if value == "nan" else value for value in columns[1]]
    for k, code in enumerate(codes):
        names = np.array([f"level {chr(97 + level)}" for level in range(LEVELS[k])])
        texts = names[code]
        if k == 0:
            texts = np.where(rng.random(n_rows) < GAPS, "", texts)
        columns.append(texts.tolist())
    columns.append(["yes" if is_rare else "no" for is_rare in rare])
    heads = [f"n{j}" for j in range(N_NUMBERS)] + [f"k{j}" for j in range(len(LEVELS))]
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join([*heads, "y"]) + "\n")
        for cells in zip(*columns, strict=True):
            file.write(",".join(cells) + "\n")


TIME = benchmark(
    "cli-time",
    "Time of frugalsvm fit with its report, on tables like those that people have",
    "Numbers only, and numbers, categories and gaps with a rare class.",
    lambda settings: grid("fit time", case=CASES, part=settings.pick(10, 1)),
    [fit_time],
    sets=(),
)
