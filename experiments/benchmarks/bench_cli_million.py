"""Memory of ``frugalsvm fit`` on a million rows of 20 columns."""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from .tables import Table

N_ROWS, N_COLUMNS = 1_000_000, 20
# Rows written at a time.
PIECE = 100_000
# Maximum peak, as a multiple of the table in doubles.
LIMIT = 4.0


def run(quick: bool) -> None:
    """Write a table, fit it in a separate process, and print its peak."""
    n_rows = N_ROWS // 10 if quick else N_ROWS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.csv"
        write_table(path, n_rows)
        base = peak_of(["info", "--json"])
        started = time.perf_counter()
        command = ["fit", str(path), "--target", "y", "--effort", "fast", "--quiet"]
        peak = peak_of(command)
        seconds = time.perf_counter() - started
    size = n_rows * (N_COLUMNS + 1) * 8 / 2**20
    table = Table(
        "Memory of frugalsvm fit",
        ["rows", "table [MB]", "peak [MB]", "ratio", "idle [MB]", "time [s]"],
    )
    cells = [f"{n_rows:,}", f"{size:.0f}", f"{peak:.0f}", f"{peak / size:.2f}"]
    table.row([*cells, f"{base:.0f}", f"{seconds:.0f}"])
    print(f"Target: at most {LIMIT:g}; 'idle' is a process that only imports.")


def write_table(path: Path, n_rows: int) -> None:
    """Random numbers, and a class that depends on four columns."""
    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        names = [f"c{j}" for j in range(N_COLUMNS)]
        file.write(",".join([*names, "y"]) + "\n")
        for _ in range(0, n_rows, PIECE):
            X = rng.normal(size=(PIECE, N_COLUMNS))
            score = X[:, :4] @ [1.0, -1.0, 0.5, 0.5] + rng.normal(size=PIECE)
            form = ["%.6g"] * N_COLUMNS + ["%d"]
            np.savetxt(file, np.column_stack([X, score > 0]), form, delimiter=",")


def peak_of(arguments: list[str]) -> float:
    """Largest resident memory of a command in MB; it must be the largest so far."""
    subprocess.run(
        [sys.executable, "-m", "frugalsvm", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
