"""Trees: threads, rise of bounds, nodes in batches, and the size of certificates."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from frugalsvm import Problem, Progress, Result, Status, solve, verify

from ..cells import Cell, cell
from ..datasets import LARGE, SMALL, DataSet, scaled
from ..experiment import Settings, benchmark
from ..statistics import geometric_mean
from ..store import Results, Row
from ..tables import Lines, columns, two
from ..tasks.synthetic import logistic_design
from .timing import grown, timed

# --- threads --------------------------------------------------------------------------

THREAD_C = 10.0
REPEATS = 2
# Data set, budget and limit of nodes: trees of more than 2,000 nodes.
THREAD_TREES = (
    ("wdbc", 5, None),
    ("wpbc", 5, None),
    ("wpbc", 10, None),
    ("ionosphere", 10, None),
    ("arrhythmia", 10, 2500),
    ("colorectal", 10, 3000),
)


def threads(data: DataSet, *, B: int, max_nodes: int | None) -> Row:
    """The best of two trees with one thread, and with two."""
    # Without restarts of the swap search, since the trees are compared.
    options = {"time_limit": 300, "method_options": {"patience": 0}}
    tree = partial(grown, data.problem(B, THREAD_C), **options)
    tree(n_jobs=2, max_nodes=100)
    runs = [
        [tree(n_jobs=n_jobs, max_nodes=max_nodes) for n_jobs in (1, 2)]
        for _ in range(REPEATS)
    ]
    single, double = (
        min(trees, key=lambda tree: tree.seconds) for trees in zip(*runs, strict=True)
    )
    return {
        "seconds": single.seconds,
        "nodes": single.counters["nodes"],
        "seconds, 2": double.seconds,
        "nodes, 2": double.counters["nodes"],
        "ratio": single.seconds / double.seconds,
    }


def thread_table(results: Results) -> Lines:
    """Trees with one thread and with two."""
    return columns(
        results.rows,
        {
            "tree": "{set}, B = {B}",
            "1 thread": "{seconds:.2f} s",
            "2 threads": "{seconds, 2:.2f} s",
            "time ratio": lambda row: f"{row['seconds'] / row['seconds, 2']:.1f}",
        },
    )


THREADS = benchmark(
    "threads",
    "Branch and bound, C = 10: one thread and two",
    f"Best of {REPEATS} runs each, without restarts of the swap search.",
    lambda settings: [
        cell("threads", name, B=B, max_nodes=nodes)
        for name, B, nodes in settings.chosen_rows(THREAD_TREES)[: settings.pick(3, 6)]
    ],
    [threads],
    figures={"threads": thread_table},
    sets=(*SMALL, *LARGE),
)


# --- rise of bounds -------------------------------------------------------------------

# Data set, C, B of the trees with expensive nodes.
DEAR = (("madelon", 1.0, 10), ("mfeat", 1.0, 10))
# Samples and features of the correlated Gaussian design, C = 1, B = 10.
DESIGN_SIZES = (500, 1000, 2000)


def tree(data: DataSet | None, *, B: int, C: float, size: int, seconds: float) -> Row:
    """The course of the bound of a tree that does not close, one thread."""
    if data is None:
        sample = logistic_design(size, size, 10, 0.9, 0)
        X = (sample.X - sample.X.mean(0)) / sample.X.std(0)
        problem = Problem(X, sample.y, C=C, max_features=B)
    else:
        problem = data.problem(B, C)
    grown(problem, time_limit=5.0, max_nodes=1)
    started = time.process_time()
    rise: list[tuple[float, float]] = []

    def note(progress: Progress) -> None:
        if not rise or progress.lower_bound > rise[-1][1]:
            rise.append((time.process_time() - started, progress.lower_bound))

    result = grown(problem, time_limit=seconds, callback=note)
    rise.append((time.process_time() - started, result.lower_bound))
    return {
        "objective": result.objective,
        "bound": rise[-1][1],
        "nodes": result.counters["nodes"],
        "nodes/s": result.counters["nodes"] / result.seconds,
        "rise": rise,
    }


def _tree_plan(settings: Settings, *, seconds: float, against: str) -> list[Cell]:
    trees = [(name, B, C, 0) for name, C, B in DEAR]
    trees += [("", 10, 1.0, n) for n in settings.pick(DESIGN_SIZES[:2], DESIGN_SIZES)]
    if not settings.quick:
        trees += [(name, B, 10.0, 0) for name in LARGE for B in (10, 20, 30)]
    return [
        cell("tree", name, B=B, C=C, size=size, seconds=seconds)
        for name, B, C, size in settings.chosen_rows(trees)
    ]


def _tree_rows(rows: list[Row], *, against: str, **_: Any) -> list[Row]:
    """Rows with the time to the last bound of an earlier run, by its time."""
    earlier = json.loads(Path(against).read_text())["rows"] if against else []
    instance = ("set", "B", "C", "size")
    for row in rows:
        for before in earlier:
            if all(row.get(key) == before.get(key) for key in instance):
                seconds, bound = before["rise"][-1]
                reached = min((t for t, b in row["rise"] if b >= bound), default=np.nan)
                row["time ratio"] = reached / seconds
    return rows


def _tree_note(rows: list[Row]) -> str:
    # None where the bound was not reached.
    ratios = [row["time ratio"] for row in rows if row.get("time ratio")]
    if not ratios:
        return "--with against=DIR/tree.json compares with an earlier run."
    return (
        f"Time ratio: mean {geometric_mean(ratios):.2f}, worst {max(ratios):.2f}, of "
        f"{len(ratios)}."
    )


TREE = benchmark(
    "tree",
    "How fast bounds rise: trees that do not close, one thread",
    "The time ratio is the processor time until the last bound of an earlier run is "
    "reached, as a fraction of the time that it took.",
    _tree_plan,
    [tree],
    options={"seconds": 60.0, "against": ""},
    rows=_tree_rows,
    note=_tree_note,
)


# --- nodes in batches -----------------------------------------------------------------

BATCH_BUDGET = 10
# Name and C: samples and features are hundreds to thousands, and most of them matter.
BATCH_TREES = (
    ("arrhythmia", 0.03),
    ("arrhythmia", 0.1),
    ("madelon", 0.03),
    ("madelon", 0.1),
)
# Data for which batches are not made: small working sets, wide data, few features.
ELSEWHERE = (("mfeat", 0.03), ("colorectal", 0.1), ("german", 0.1))
PLAIN = "interior-point"
RIVALS = ("batched", "auto")
# Stop after so many times the time of the interior point.
PATIENCE = 4


def batched(data: DataSet, *, C: float, seconds: float) -> Row:
    """The interior point for some seconds, and the others' time to its bound."""
    problem = data.problem(BATCH_BUDGET, C)
    support = solve(problem, method="swap", random_state=0, n_jobs=1).selected

    def tree(engine: str, **options: Any) -> Result:
        method_options = {"engine": engine, "patience": 0}
        start = {"initial_support": support, "method_options": method_options}
        return grown(problem, **start, **options)

    def until(
        engine: str, is_done: Callable[[Progress, float], bool]
    ) -> tuple[float, Result]:
        """The time of a tree until it is done, and its result."""
        started = time.process_time()

        def check(progress: Progress) -> bool:
            return is_done(progress, time.process_time() - started)

        return timed(lambda: tree(engine, callback=check))

    for engine in (PLAIN, *RIVALS):
        tree(engine, max_nodes=30)
    spent, plain = until(PLAIN, lambda _, t: t >= seconds)
    bound = plain.lower_bound
    row: Row = {
        "objective": plain.objective,
        "gap": plain.gap,
        "seconds": spent,
        "nodes/s": plain.counters["nodes"] / spent,
    }

    def is_reached(progress: Progress, t: float) -> bool:
        return progress.lower_bound >= bound or t >= PATIENCE * spent

    for name in RIVALS:
        took, result = until(name, is_reached)
        reached = result.status is Status.OPTIMAL or result.lower_bound >= bound
        row[f"nodes/s, {name}"] = result.counters["nodes"] / took
        row[f"seconds, {name}"] = took
        row[f"ratio, {name}"] = spent / took if reached else None
    return row


def batch_table(results: Results) -> Lines:
    """Time ratios of trees in batches, and of the engine's own choice."""

    def gap(row: Row) -> str:
        return f"{100 * row['gap']:.2f} %" if row["gap"] > 1e-4 else "closed"

    def ratio(row: Row, engine: str) -> str:
        share = row[f"ratio, {engine}"]
        return f"under {1 / PATIENCE:g}" if share is None else two(share)

    return columns(
        results.rows,
        {
            "data set": "{set}",
            "C": "{C:g}",
            "objective": "{objective:.6g}",
            f"gap after {results.settings['seconds']:g} s": gap,
            "nodes/s, interior point": "{nodes/s:,.0f}",
            "nodes/s, batches": "{nodes/s, batched:,.0f}",
            "ratio, batches": partial(ratio, engine="batched"),
            "ratio, auto": partial(ratio, engine="auto"),
        },
    )


BATCHED = benchmark(
    "batched",
    "Nodes in batches and one at a time: processor time to the same bound",
    "All trees begin with the incumbent of one swap search; none searches beside the "
    "tree. The interior point has a fixed time; a ratio is that time divided by what "
    "the batch engine, or the choice between the two, takes to its bound.",
    lambda settings, seconds: [
        cell("batched", name, C=C, seconds=seconds)
        for name, C in settings.chosen_rows(
            settings.pick(BATCH_TREES, BATCH_TREES + ELSEWHERE)
        )
    ],
    [batched],
    options={"seconds": 60.0},
    figures={"batched": batch_table},
    sets=("german", *LARGE),
)


# --- certificates ---------------------------------------------------------------------

CERTIFICATE_BUDGET, CERTIFICATE_C = 10, 0.03
# Name, engine and the part of the seconds that it gets.
CERTIFICATE_TREES = (
    ("arrhythmia", "batched", 1.0),
    ("arrhythmia", "interior-point", 1.0),
    ("madelon", "interior-point", 1 / 3),
    ("german", "interior-point", 5.0),
)


def certificates(data: DataSet, *, engine: str, part: float, seconds: float) -> Row:
    """Bytes of the file and time to verify it, per leaf and for half a million."""
    result = grown(
        data.problem(CERTIFICATE_BUDGET, CERTIFICATE_C),
        certificate=True,
        time_limit=part * seconds,
        method_options={"engine": engine, "patience": 0},
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "proof.npz"
        result.save_certificate(file)
        spent, proof = timed(lambda: verify(file, scaled(data.X), data.y))
        size = file.stat().st_size / proof.n_leaves
    assert result.certificate is not None
    arrays = result.certificate.arrays
    points = sum(arrays[key].nbytes for key in arrays if key.startswith("point_"))
    return {
        "gap": result.gap,
        "leaves": proof.n_leaves,
        "bytes of points/leaf": points / proof.n_leaves,
        "bytes/leaf": size,
        "ms/leaf": 1e3 * spent / proof.n_leaves,
        "MB, 500000": 0.5 * size,
        "min, 500000": 5e5 / 60 * spent / proof.n_leaves,
    }


CERTIFICATES = benchmark(
    "certificates",
    f"Certificates of large trees, B = {CERTIFICATE_BUDGET}, C = {CERTIFICATE_C:g}",
    "Bytes of the file and time to verify, per leaf and for half a million leaves.",
    lambda settings, seconds: [
        cell("certificates", name, engine=engine, part=part, seconds=seconds)
        for name, engine, part in settings.chosen_rows(CERTIFICATE_TREES)
    ],
    [certificates],
    options={"seconds": 60.0},
    sets=("german", *LARGE),
)
