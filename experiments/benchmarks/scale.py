"""Scale: time and memory against samples, features, budget and density, beside peers.

Every case runs in a separate process, to measure its own peak of memory. Times are
processor times. A method that has reached the limit once is not tried on larger data of
the same kind.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..cells import Cell, cell
from ..experiment import Settings, benchmark
from ..store import ROOT, Results, Row
from ..tables import Lines, columns, two
from .timing import in_process

FIT = "FrugalSVC"
FAST = "FrugalSVC, fast"
NAMES = {
    "frugal": FIT,
    "fast": FAST,
    "longer": "FrugalSVC, longer",
    "linear": "LinearSVC",
    "RFE": "RFE, step 0.1",
    "L1": "L1-LinearSVC",
    "select": "SelectFromModel",
    "Clarabel": "Clarabel",
}
OURS = ("frugal", "fast", "longer")
# "longer" runs only when named: many times as long, for what the default has missed.
METHODS = tuple(name for name in NAMES if name != "longer")
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
    fixed: dict[str, Any]


def series(quick: bool) -> list[Series]:
    """All series; smaller ones for a quick run."""
    sizes = (10_000, 100_000, 300_000, 1_000_000)[: 2 if quick else 4]
    tall: dict[str, Any] = {"kind": "tall", "n": 100}
    ten = tall | {"B": 10}
    sparse: dict[str, Any] = {"kind": "text", "m": 20_000, "n": 20_000, "B": 20}
    texts: dict[str, Any] = {"kind": "text", "n": 50_000, "density": 1e-3, "B": 20}
    library: dict[str, Any] = {"kind": "library", "C": 10.0}
    many = 10_000 if quick else 100_000
    densities = (1e-4, 1e-3, 5e-3)[: 2 if quick else 3]
    budgets = (20,) if quick else (5, 20, 50)
    return [
        Series("samples", "m", sizes, ten),
        Series("samples, mixed features", "m", sizes, ten | {"kind": "mixed"}),
        Series("samples, blocks of features", "m", sizes, ten | {"kind": "blocks"}),
        Series("features", "n", sizes, {"kind": "wide", "m": 200, "B": 20}),
        Series("budget", "B", (5, 10, 20, 40), tall | {"m": many}),
        Series("density of sparse data", "density", densities, sparse),
        Series("texts", "m", (many,), texts),
        Series("TF-IDF of the standard library", "B", budgets, library),
    ]


def scale(
    data: None,
    *,
    series: str,
    value: float,
    method: str,
    case: str,
    seconds: float,
    needs: list[Row] | None = None,
) -> Row:
    """Time and memory of a case; no rows if it took too long or too much memory."""
    if needs and not needs[0]["rows"]:
        return {"rows": []}
    limit = OUR_TIMES * seconds if method in OURS else seconds
    outcome = _outcome(json.loads(case) | {"method": method, "limit": limit}, limit)
    if outcome is None:
        return {"rows": []}
    row = {key: outcome[key] for key in ("entries", "seconds", "fit", "peak")}
    row["peak / X"] = outcome["peak"] / outcome["X"]
    return {"rows": [row | {key: outcome.get(key) for key in ("objective", "gap")}]}


def _outcome(case: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    """The outcome of a case; None if the process was ended or took too long."""
    command = ["-m", "experiments.benchmarks.scale_case", json.dumps(case)]
    # The process ends itself after its seconds; a busy machine may need many more.
    try:
        process = in_process(command, timeout=10 * seconds + 300, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return None
    if process.returncode:
        # Not the code of a process that the limit ends.
        if process.returncode > 0:
            print(process.stderr.strip().splitlines()[-1:], file=sys.stderr)
        return None
    row = json.loads(process.stdout.splitlines()[-1])
    return row if row["seconds"] <= seconds else None


def _plan(settings: Settings, *, seconds: float) -> list[Cell]:
    """A chain of cells for each series and method: larger data need smaller ones."""
    cells = []
    for sizes in series(settings.quick):
        for method in settings.chosen(NAMES, METHODS) if settings.sets else METHODS:
            before: tuple[Cell, ...] = ()
            for size in sizes.values:
                target = cell(
                    "scale",
                    needs=before,
                    series=sizes.title,
                    value=size,
                    method=method,
                    case=json.dumps(sizes.fixed | {sizes.by: size}, sort_keys=True),
                    seconds=seconds,
                )
                cells.append(target)
                before = (target,)
    return cells


def _rows(rows: list[Row], **_: Any) -> list[Row]:
    """Rows with names of methods as in tables."""
    named = []
    for row in rows:
        first = {"series": row["series"], "value": row["value"]}
        first["method"] = NAMES[row["method"]]
        others = row.keys() - {*first, "case"}
        named.append(first | {key: row[key] for key in row if key in others})
    return named


def _exponents(rows: list[Row]) -> str:
    """Slopes of time and of the peak of memory against what is varied."""
    slopes_of = []
    for sizes in series(False):
        least = LEAST_ENTRIES if sizes.by in ("m", "n") else 0
        for method in NAMES.values():
            large = [
                row
                for row in rows
                if (row["series"], row["method"]) == (sizes.title, method)
                and row["entries"] >= least
            ]
            if len(large) < 2:
                continue
            logs = np.log([row["value"] for row in large])
            slopes = [
                np.polyfit(logs, np.log([max(r[key], 1e-3) for r in large]), 1)[0]
                for key in ("seconds", "peak")
            ]
            slopes_of.append(
                f"{sizes.title}, {method}: time ~ {sizes.by}^{slopes[0]:.2f}, peak ~ "
                f"{sizes.by}^{slopes[1]:.2f} ({len(large)} sizes)"
            )
    return "; ".join(slopes_of)


# --- tables ---------------------------------------------------------------------------

SELECTORS = (FIT, FAST, "RFE, step 0.1", "L1-LinearSVC", "SelectFromModel")


def _by_value(results: Results, title: str) -> dict[float, dict[str, Any]]:
    """Rows of a series by what is varied, and by method."""
    rows: dict[float, dict[str, Any]] = {}
    for row in results.rows:
        if row["series"] == title:
            value = row["value"]
            rows.setdefault(value, {"value": value})[row["method"]] = row
    return rows


def _spent(row: Row | None, memory: bool = False) -> str:
    """Seconds, MB that the fit adds, and the objective."""
    if row is None:
        return "gave up"
    megabytes = [f"{row['fit']:.0f} MB"] if memory else []
    value = row["objective"]
    goal = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return ", ".join([f"{row['seconds']:.1f} s", *megabytes, goal])


def _peak(row: Row) -> str:
    return two(row[FIT]["peak / X"])


# Columns of the selectors that stand beside each other.
BESIDE: dict[str, str | Callable[..., str]] = {
    FIT: lambda row: _spent(row[FIT]),
    "the same, fast": lambda row: _spent(row.get(FAST)),
    "RFE, step 0.1": lambda row: _spent(row.get("RFE, step 0.1")),
    "SelectFromModel": lambda row: _spent(row.get("SelectFromModel")),
}


def sample_table(results: Results) -> Lines:
    """Time and memory against the number of samples."""
    entries: dict[str, Any] = {
        "m": "{value:,}",
        "LinearSVC": "{LinearSVC[seconds]:.1f} s",
        FIT: "{FrugalSVC[seconds]:.1f} s",
        "ratio": lambda row: two(row[FIT]["seconds"] / row["LinearSVC"]["seconds"]),
        "peak / X, Linear": lambda row: two(row["LinearSVC"]["peak / X"]),
        "peak / X, ours": _peak,
        "gap": lambda row: f"{100 * row[FIT]['gap']:.1f} %",
    }
    return columns(_by_value(results, "samples").values(), entries)


def feature_table(results: Results) -> Lines:
    """Time and memory against the number of features."""
    entries: dict[str, Any] = {
        "n": "{value:,}",
        FIT: "{FrugalSVC[seconds]:.1f} s",
        "peak / X": _peak,
        "gap": lambda row: f"{100 * row[FIT]['gap']:.1f} %",
    }
    return columns(_by_value(results, "features").values(), entries)


def density_table(results: Results) -> Lines:
    """Time and objective against the density of sparse data."""
    entries: dict[str, Any] = {
        "density": lambda row: f"{100 * row['value']:g} %",
        "entries": lambda row: f"{round(row[FIT]['entries'], -3):,}",
        **BESIDE,
        "gap": lambda row: f"{100 * row[FIT]['gap']:.2f} %",
    }
    return columns(_by_value(results, "density of sparse data").values(), entries)


def budget_table(results: Results) -> Lines:
    """Time and objective against the budget."""
    entries: dict[str, Any] = {"B": "{value:g}", **BESIDE, "peak / X": _peak}
    entries["gap"] = lambda row: f"{two(100 * row[FIT]['gap'])} %"
    return columns(_by_value(results, "budget").values(), entries)


def text_table(results: Results) -> Lines:
    """Selectors on sparse texts."""
    [random] = _by_value(results, "texts").values()
    library = _by_value(results, "TF-IDF of the standard library")
    parts = [random, *library.values()]
    return [
        ["", "100,000 x 50,000", *(f"TF-IDF, B = {B:g}" for B in library)],
        *(
            [name, *(_spent(rows.get(name), memory=True) for rows in parts)]
            for name in SELECTORS
        ),
    ]


def selector_table(results: Results) -> Lines:
    """Selectors on dense data."""
    parts = [
        _by_value(results, "samples")[1_000_000],
        _by_value(results, "samples, mixed features")[100_000],
        _by_value(results, "features")[1_000_000],
    ]
    head = ["1,000,000 x 100, B = 10", "100,000 x 100, mixed"]
    return [
        ["", *head, "200 x 1,000,000, B = 20"],
        *([name, *(_spent(rows.get(name)) for rows in parts)] for name in SELECTORS),
    ]


SCALE = benchmark(
    "scale",
    "Scale: time and memory against the size of the data, C = 1, one thread",
    "Each case in a process of its own; ours may take five times the limit. --sets "
    "chooses methods instead of data sets; the method longer runs only then.",
    _plan,
    [scale],
    options={"seconds": 300.0},
    rows=_rows,
    note=_exponents,
    figures={
        "samples": sample_table,
        "features": feature_table,
        "density": density_table,
        "texts": text_table,
        "budget": budget_table,
        "selectors": selector_table,
    },
    sets=tuple(NAMES),
)
