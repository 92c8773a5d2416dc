"""Certificates of large trees: bytes of the file and time to verify, per leaf."""

import tempfile
import time
from pathlib import Path

from frugalsvm import Problem, solve, verify

from .data import load
from .tables import Table

BUDGET, C = 10, 0.03
# Name, engine and the part of the seconds that it gets.
TREES = (
    ("arrhythmia", "batched", 1.0), ("arrhythmia", "interior-point", 1.0),
    ("madelon", "interior-point", 1 / 3), ("german", "interior-point", 5.0),
)  # fmt: skip


def run(folder: Path, seconds: float, sets: list[str]) -> None:
    table = Table(
        f"Certificates, B={BUDGET}, C={C}, up to {seconds:g} s",
        ["data set", "engine", "gap [%]", "leaves", "points", "bytes/leaf", "ms/leaf",
         "MB, 500000", "min, 500000"],
        width=14,
    )  # fmt: skip
    for name, engine, part in TREES:
        if sets and name not in sets:
            continue
        X, y = load(folder, name)
        problem = Problem(X, y, C=C, max_features=BUDGET)
        result = solve(
            problem, method="branch-and-bound", certificate=True, n_jobs=1,
            random_state=0, time_limit=part * seconds,
            method_options={"engine": engine, "patience": 0},
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as path:
            file = Path(path) / "proof.npz"
            result.save_certificate(file)
            begin = time.process_time()
            proved = verify(file, X, y)
            spent = time.process_time() - begin
            size = file.stat().st_size / proved.n_leaves
        arrays = result.certificate.arrays
        points = sum(arrays[key].nbytes for key in arrays if key.startswith("point_"))
        each = spent / proved.n_leaves
        table.row(
            [name, engine, f"{100 * result.gap:.2f}", proved.n_leaves,
             f"{points / proved.n_leaves:.0f}", f"{size:.0f}", f"{1e3 * each:.2f}",
             f"{0.5 * size:.0f}", f"{5e5 / 60 * each:.1f}"]
        )  # fmt: skip
