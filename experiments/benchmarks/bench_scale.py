"""Time and memory against samples, features, budget and density, beside peers.

Every case runs in a separate process, to measure its own peak of memory. Times are
processor times. A method that has reached the limit once is not tried on larger data of
the same kind.
"""

import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np

from .results import Row
from .tables import Table

# "longer" runs only when named: many times as long, for what the default has missed.
METHODS = ("frugal", "fast", "linear", "RFE", "L1", "select", "Clarabel")
NAMES = {
    "frugal": "FrugalSVC",
    "fast": "FrugalSVC, fast",
    "longer": "FrugalSVC, longer",
    "linear": "LinearSVC",
    "RFE": "RFE, step 0.1",
    "L1": "L1-LinearSVC",
    "select": "SelectFromModel",
    "Clarabel": "Clarabel",
}
# Ours may take this multiple of the others' limit, to see how long it takes.
OUR_TIMES = 5
# Exponents in samples and features are fitted from this many entries on: before,
# constants count.
LEAST_ENTRIES = 1e7


class Series(NamedTuple):
    """Cases that differ in one size."""

    title: str
    by: str
    values: tuple[float, ...]
    rest: dict[str, Any]


def series(quick: bool) -> list[Series]:
    many = 100_000 if quick else 1_000_000
    m = (10_000, 100_000, 300_000, 1_000_000)
    n = (10_000, 100_000, 300_000, 1_000_000)
    words = (1e-4, 1e-3, 5e-3)
    return [
        Series("samples", "m", tuple(v for v in m if v <= many),
               {"kind": "tall", "n": 100, "B": 10}),
        Series("samples, mixed features", "m",
               tuple(v for v in m if v <= many), {"kind": "mixed", "n": 100, "B": 10}),
        Series("samples, blocks of features", "m",
               tuple(v for v in m if v <= many), {"kind": "blocks", "n": 100, "B": 10}),
        Series("features", "n", tuple(v for v in n if v <= many),
               {"kind": "wide", "m": 200, "B": 20}),
        Series("budget", "B", (5, 10, 20, 40),
               {"kind": "tall", "m": 10_000 if quick else 100_000, "n": 100}),
        Series("density of sparse data", "density", words[: 2 if quick else 3],
               {"kind": "text", "m": 20_000, "n": 20_000, "B": 20}),
        Series("texts", "m", (10_000,) if quick else (100_000,),
               {"kind": "text", "n": 50_000, "density": 1e-3, "B": 20}),
        Series("TF-IDF of the standard library", "B", (20,) if quick else (5, 20, 50),
               {"kind": "library", "C": 10.0}),
    ]  # fmt: skip


def run(quick: bool, seconds: float, methods: list[str]) -> list[Row]:
    chosen = methods or list(METHODS)
    print(f"at most {seconds:g} s for each fit of others; C = 1, one thread")
    rows: list[Row] = []
    for one in series(quick):
        rows += _run_series(one, seconds, chosen)
    return rows


def _run_series(one: Series, seconds: float, methods: list[str]) -> list[Row]:
    rest = ", ".join(f"{name} = {value}" for name, value in one.rest.items())
    table = Table(
        f"Scale: {one.title} ({rest})",
        [one.by, "method", "time [s]", "/ LinearSVC", "peak / X", "peak [MB]",
         "fit [MB]", "objective", "gap [%]"],
        width=8,
    )  # fmt: skip
    found: dict[str, list[tuple[float, dict[str, Any]]]] = {m: [] for m in methods}
    gone: set[str] = set()
    for value in one.values:
        unit = None
        # LinearSVC first: it is the unit of the others.
        for method in sorted(methods, key=lambda name: name != "linear"):
            if method in gone:
                continue
            case = one.rest | {one.by: value, "method": method}
            ours = method in ("frugal", "fast", "longer")
            row = run_case(case, OUR_TIMES * seconds if ours else seconds)
            if row is None:
                gone.add(method)
                table.row([f"{value:g}", NAMES[method], "gave up", *[""] * 6])
                continue
            unit = row["seconds"] if method == "linear" else unit
            found[method].append((value, row))
            table.row(_cells(one, value, method, row, unit))
    for method, rows in found.items():
        _print_exponents(one, method, rows)
    return [
        {"series": one.title, "value": value, "method": NAMES[method],
         "seconds": row["seconds"], "entries": row["entries"], "fit": row["fit"],
         "peak / X": row["peak"] / row["X"],
         "objective": row.get("objective"), "gap": row.get("gap")}
        for method, rows in found.items()
        for value, row in rows
    ]  # fmt: skip


def _cells(
    one: Series, value: float, method: str, row: dict[str, Any], unit: float | None
) -> list[str]:
    return [
        f"{value:g}", NAMES[method], f"{row['seconds']:.1f}",
        "" if unit is None else f"{row['seconds'] / max(unit, 1e-3):.1f}",
        f"{row['peak'] / row['X']:.2f}", f"{row['peak']:.0f}",
        f"{row['fit']:.0f}",
        f"{row['objective']:.6g}" if "objective" in row else "",
        f"{100 * row['gap']:.2f}" if "gap" in row else "",
    ]  # fmt: skip


def _print_exponents(
    one: Series, method: str, rows: list[tuple[float, dict[str, Any]]]
) -> None:
    """Slopes of time and of the peak of memory against what is varied."""
    least = LEAST_ENTRIES if one.by in ("m", "n") else 0
    large = [(value, row) for value, row in rows if row["entries"] >= least]
    if len(large) < 2:
        return
    sizes = np.log([value for value, _ in large])
    words = []
    for name, values in (
        ("time", [row["seconds"] for _, row in large]),
        ("peak", [row["peak"] for _, row in large]),
    ):
        slope = np.polyfit(sizes, np.log(np.maximum(values, 1e-3)), 1)[0]
        words.append(f"{name} ~ {one.by}^{slope:.2f}")
    print(f"{NAMES[method]}: {', '.join(words)} ({len(large)} sizes)")


def run_case(case: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    """Time and memory of a case; None if it took too long or too much."""
    order = json.dumps(case | {"limit": seconds})
    # The process ends itself after its seconds; a busy machine may need many more.
    try:
        done = subprocess.run(
            [sys.executable, "-m", "experiments.benchmarks.scale_case", order],
            capture_output=True,
            text=True,
            timeout=10 * seconds + 300,
            check=False,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        # Not the one that the limit ends.
        if done.returncode > 0:
            print(done.stderr.strip().splitlines()[-1:], file=sys.stderr)
        return None
    row = json.loads(done.stdout.splitlines()[-1])
    return row if row["seconds"] <= seconds else None
