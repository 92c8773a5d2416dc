"""Time of ``frugalsvm fit`` with its report, on tables like those that people have."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from .results import Row
from .tables import Table

# Rows and columns of the mixed table, besides the class.
N_ROWS, N_NUMBERS = 45_000, 9
# Categories of its other columns.
LEVELS = (12, 3, 4, 2, 2, 3, 12)
# Share of the rarer class, and of the values that are missing in two columns.
RARE, GAPS = 0.12, 0.04
# Rows and columns of the table of numbers.
N_SMALL, N_COLUMNS = 7_000, 20

# What is measured: name, table and options.
CASES = (
    ("numbers", "numbers", ()),
    ("numbers, with report", "numbers", ("--report",)),
    ("mixed", "mixed", ()),
    ("mixed, with report", "mixed", ("--report",)),
    ("mixed, -k auto --C auto, with report", "mixed",
     ("-k", "auto", "--C", "auto", "--report")),
)  # fmt: skip


def run(quick: bool) -> list[Row]:
    """Write two tables, fit them in processes of their own, and print the times."""
    rows = []
    table = Table(
        "Time of frugalsvm fit",
        ["case", "CPU [s]", "wall [s]", "objective", "gap [%]", "balanced accuracy"],
    )
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.csv" for name in ("numbers", "mixed")}
        write_numbers(paths["numbers"], N_SMALL // 10 if quick else N_SMALL)
        write_mixed(paths["mixed"], N_ROWS // 10 if quick else N_ROWS)
        for name, which, options in CASES:
            given = list(options)
            if "--report" in given:
                given.append(str(Path(folder) / "report.html"))
            row = {"case": name} | measured([str(paths[which]), *given])
            rows.append(row)
            cells = [row["case"]] + [
                f"{row[key]:.{digits}f}"
                for key, digits in (
                    ("cpu", 1), ("wall", 1), ("objective", 2), ("gap", 2),
                    ("balanced_accuracy", 4),
                )
            ]  # fmt: skip
            table.row(cells)
    return rows


def measured(arguments: list[str]) -> Row:
    """The time of a fit, and how good its model is."""
    before, started = used(), time.perf_counter()
    command = ["fit", *arguments, "--target", "y", "--json", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "frugalsvm", *command], check=True,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    wall, cpu = time.perf_counter() - started, used() - before
    found: dict[str, Any] = json.loads(done.stdout)
    return {
        "cpu": cpu,
        "wall": wall,
        "objective": found["proof"]["objective"],
        "gap": 100 * found["proof"]["gap"],
        "balanced_accuracy": found["cross_validation"]["balanced accuracy"]["mean"],
    }


def used() -> float:
    """CPU seconds of all commands so far."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def write_numbers(path: Path, n_rows: int) -> None:
    """Columns that share factors, and a class that depends on eight of them."""
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(n_rows, 5))
    X = factors @ rng.normal(size=(5, N_COLUMNS)) + rng.normal(size=(n_rows, N_COLUMNS))
    score = X[:, :8] @ np.linspace(1.0, 0.2, 8) + 2.0 * rng.normal(size=n_rows)
    names = ",".join([*(f"c{j}" for j in range(N_COLUMNS)), "y"])
    form = ["%.6g"] * N_COLUMNS + ["%d"]
    values = np.column_stack([X, score > 0])
    np.savetxt(path, values, form, delimiter=",", header=names, comments="")


def write_mixed(path: Path, n_rows: int) -> None:
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
    columns.append(["yes" if one else "no" for one in rare])
    heads = [f"n{j}" for j in range(N_NUMBERS)] + [f"k{j}" for j in range(len(LEVELS))]
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join([*heads, "y"]) + "\n")
        for cells in zip(*columns, strict=True):
            file.write(",".join(cells) + "\n")
