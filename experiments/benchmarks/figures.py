"""The figures of README and documentation: what each is made of, and how.

A figure is a table, its first row the head, or a sentence, made from the results of one
or more benchmarks. Cells have the marks of reStructuredText: ``code``, **strong**.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from experiments.study.published import TABLE_7

from .bench_batched import PATIENCE
from .bench_blocks import summary
from .bench_seeds import MEDIAN_LOSS, WORST_LOSS
from .data import LARGE
from .results import Results, Row
from .tables import geometric_mean

Table = list[list[str]]

# Efforts are compared where thorough takes this many seconds.
LONG = 1.0
FASTER = " x faster"
NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
)  # fmt: skip
# Gaps up to this are proofs.
PROVED = 1e-4


class Figure(NamedTuple):
    """The names of results, and what is made of them."""

    results: tuple[str, ...]
    make: Callable[..., Table | str]


def two(value: float) -> str:
    """Two digits, without an exponent."""
    return f"{float(f'{value:.2g}'):,g}"


def times(ratios: Sequence[float], unit: str = "") -> str:
    """A geometric mean and the smallest of some ratios."""
    return f"{two(geometric_mean(ratios))}{unit} (smallest {two(min(ratios))})"


def values(rows: list[Row], name: str) -> list:
    """The different values of a column, in their order."""
    return list(dict.fromkeys(row[name] for row in rows))


# --- trees in batches -----------------------------------------------------------------


def batched(found: Results) -> Table:
    """Time ratios of trees in batches, and of the engine's own choice."""
    table = [
        ["data set", "C", "objective", f"gap after {found.settings['seconds']:g} s",
         "nodes/s, interior point", "nodes/s, batches", "ratio, batches", "ratio, auto"]
    ]  # fmt: skip
    for row in found.rows:
        gap = f"{100 * row['gap']:.2f} %" if row["gap"] > PROVED else "closed"
        ratios = [row[f"ratio, {name}"] for name in ("batched", "auto")]
        table.append(
            [row["set"], f"{row['C']:g}", f"{row['objective']:.6g}", gap,
             f"{row['nodes/s']:,.0f}", f"{row['nodes/s, batched']:,.0f}",
             *(f"under {1 / PATIENCE:g}" if one is None else two(one)
               for one in ratios)]
        )  # fmt: skip
    return table


# --- proved optima --------------------------------------------------------------------


def exact(found: Results) -> Table:
    """Solvers by their number of proofs and their time."""
    names = [name for name in ("COPT", "SCIP") if name in found.rows[0]]
    ours = _seconds(found.rows, "ours")
    table = [["", "proved", "mean time", "times ours", "smallest"]]
    for name in ("ours", *names):
        seconds = _seconds(found.rows, name)
        ratios = [their / own for their, own in zip(seconds, ours, strict=True)]
        proved = sum(row[name]["proved"] for row in found.rows)
        table.append([
            "frugalsvm" if name == "ours" else name,
            f"{proved} of {len(found.rows)}", f"{geometric_mean(seconds):.2f} s",
            *(["", ""] if name == "ours" else
              [two(geometric_mean(ratios)), two(min(ratios))]),
        ])  # fmt: skip
    return table


def groups(found: Results) -> Table:
    """Groups of columns beside SCIP, by data set."""
    table = [["data", "runs", "SCIP proves", "SCIP's time / ours", "smallest",
              "largest gap of ours"]]  # fmt: skip
    names = dict.fromkeys(row["set"] for row in found.rows)
    for name in (*names, "all"):
        rows = [row for row in found.rows if name in ("all", row["set"])]
        ratios = [row["ratio"] for row in rows]
        gaps = [1.0 - row["bound"] / row["objective"] for row in rows]
        proved = sum(row["SCIP"]["proved"] for row in rows)
        table.append([
            name, str(len(rows)), str(proved), two(geometric_mean(ratios)),
            two(min(ratios)), f"{100 * max(gaps):.2g} %",
        ])  # fmt: skip
    return table


def exact_ratio(found: Results) -> str:
    """How many times as long COPT takes."""
    theirs, ours = _seconds(found.rows, "COPT"), _seconds(found.rows, "ours")
    return two(geometric_mean(theirs) / geometric_mean(ours))


def _seconds(rows: list[Row], name: str) -> list[float]:
    return [row[name]["seconds"] for row in rows]


def instances(found: Results) -> Table:
    """Time to a proved optimum, instance by instance."""
    names = [name for name in ("COPT", "SCIP") if name in found.rows[0]]
    table = [["data set", "B", "C", "optimum", "frugalsvm [s]",
              *(f"{name} [s]" for name in names)]]  # fmt: skip
    for row in found.rows:
        cells = [_limited(row[name]) for name in ("ours", *names)]
        head = [row["set"], f"{row['B']}", f"{row['C']:g}", f"{row['objective']:.6g}"]
        table.append([*head, *cells])
    return table


def _limited(run: Row) -> str:
    seconds = f"{run['seconds']:.2f}"
    return seconds if run["proved"] else f"more than {run['seconds']:.0f}"


def proof(found: Results, peer: str = "") -> Table:
    """Gaps by data set and C, ours or those of another solver."""
    weights = values(found.rows, "C")
    table = [["gap [%]", *(f"C = {C:g}" for C in weights)]]
    for name in values(found.rows, "set"):
        own = [row for row in found.rows if row["set"] == name]
        table.append([name, *(_gap(row, peer) for row in own)])
    return table


def _gap(row: Row, peer: str) -> str:
    if peer and peer not in row["peers"]:
        return ""
    gap = row["peers"][peer] if peer else row["gap"]
    if gap is None:
        return "none"
    if gap > PROVED:
        return f"{100 * gap:.1f}"
    return "proved" if peer else f"proved, {row['seconds']:.1f} s"


# --- speed ----------------------------------------------------------------------------


def speed(
    exact: Results, threads: Results, support: Results, perspective: Results
) -> Table:
    """One row for each task and peer."""
    n, limit = len(exact.rows), exact.settings["seconds"]
    ours = _seconds(exact.rows, "ours")
    task = (
        "proved optimum to 1e-4, 9 data sets x (B, C) = (3, 1), (5, 10), (10, 10), "
        f"{n} instances, {limit:g} s, one thread"
    )
    table = [["task", "peer", "result"]]
    for name, words in (("COPT", "COPT (perspective MISOCP)"), ("SCIP", "SCIP (same)")):
        if name in exact.rows[0]:
            theirs = _seconds(exact.rows, name)
            ratios = [their / own for their, own in zip(theirs, ours, strict=True)]
            proved = [sum(row[key]["proved"] for row in exact.rows)
                      for key in (name, "ours")]  # fmt: skip
            table.append([
                task, words, f"{times(ratios, FASTER)}, our certificate included; "
                f"proves {proved[0]} of {n}, we {proved[1]}",
            ])  # fmt: skip
            task = ""
    gains = [row["seconds"] / row["seconds, 2"] for row in threads.rows]
    fits = [row["libsvm"] / row["ours"] for row in support.rows]
    relaxed = [
        min(row["primal"], row["dual"]) / row["ours"] for row in perspective.rows
    ]
    return [
        *table,
        [f"trees of more than 2,000 nodes, {len(gains)} instances, two threads",
         "one thread", times(gains, FASTER)],
        ["SVM on 5 to 30 given features, 15 data sets, relative gap 1e-8",
         "libsvm (``SVC``, tol 1e-5)", times(fits, FASTER)],
        ["relaxation DSCoP, relative gap 1e-6, 6 large data sets x B = 10, 20, 30",
         "Clarabel, direct API, better of primal and dual", times(relaxed, FASTER)],
    ]  # fmt: skip


def swap(found: Results) -> Table:
    """Objectives beside those of other selectors, refitted."""
    seconds = found.settings["seconds"]
    return [
        ["peer", f"objective after at most {seconds:g} s"],
        ["RFE + exact refit", _lower(found.rows, "RFE")],
        ["L1-``LinearSVC`` + exact refit", _lower(found.rows, "L1")],
    ]


def _lower(rows: list[Row], peer: str) -> str:
    ratios = [row[peer] / row["ours"] for row in rows]
    won = sum(ratio > 1 for ratio in ratios)
    return (
        f"lower on {won} of {len(rows)}; theirs is {min(ratios):.4g} to "
        f"{two(max(ratios))} times ours"
    )


def threads(found: Results) -> Table:
    """Trees with one thread and with two."""
    return [
        ["tree", "1 thread", "2 threads", "time ratio"],
        *(
            [f"{row['set']}, B = {row['B']}",
             f"{row['seconds']:.2f} s", f"{row['seconds, 2']:.2f} s",
             f"{row['seconds'] / row['seconds, 2']:.1f}"]
            for row in found.rows
        ),
    ]  # fmt: skip


def effort(found: Results) -> Table:
    """What fast and normal save, and what they lose."""
    long = [row for row in found.rows if row["thorough"]["seconds"] > LONG]
    table = [
        ["effort", f"times as fast as thorough ({len(long)} long runs)", "longest",
         "objective above thorough's: median", "large data sets", "worst"]
    ]  # fmt: skip
    for name in ("fast", "normal"):
        ratios = [row["thorough"]["seconds"] / row[name]["seconds"] for row in long]
        losses = [_loss(row, name) for row in found.rows]
        large = [_loss(row, name) for row in found.rows if row["set"] in LARGE]
        longest = max(row[name]["seconds"] for row in found.rows)
        table.append([
            f"``{name}``", times(ratios), f"{longest:.1f} s",
            f"{100 * np.median(losses):.1f} %", f"{100 * np.median(large):.1f} %",
            f"{100 * max(losses):.1f} %",
        ])  # fmt: skip
    return table


def _loss(row: Row, name: str) -> float:
    return row[name]["objective"] / row["thorough"]["objective"] - 1.0


def cv(found: Results) -> Table:
    """FrugalSVCCV beside GridSearchCV over FrugalSVC: processor times, objectives."""
    return [
        ["data set", "effort", "times as fast", "worse by more than 0.1 %", "better",
         "worst"],
        *(
            [row["set"], row["effort"], two(row["ratio"]),
             f"{row['worse']} of {row['of']}", f"{row['better']}",
             f"{two(100 * row['worst'])} %"]
            for row in found.rows
        ),
    ]  # fmt: skip


# --- quality of what is found ---------------------------------------------------------


def seeds(found: Results) -> Table:
    """Worst and median of the seeds, above the best known [%]."""
    budgets = values(found.rows, "B")
    table = [["data set", "C", *(f"B = {B}" for B in budgets)]]
    for name in values(found.rows, "set"):
        for C in values(found.rows, "C"):
            own = [row for row in found.rows if (row["set"], row["C"]) == (name, C)]
            table.append([name, f"{C:g}", *(
                f"{100 * max(row['losses']):.2f} / {100 * np.median(row['losses']):.2f}"
                for row in own
            )])  # fmt: skip
    return table


def seeds_summary(found: Results) -> str:
    """On how many instances worst and median seed are near the best known."""
    worst = sum(max(row["losses"]) <= WORST_LOSS for row in found.rows)
    median = sum(np.median(row["losses"]) <= MEDIAN_LOSS for row in found.rows)
    return (
        f"The worst of {_number(found.settings['seeds'])} seeds is within "
        f"{100 * WORST_LOSS:g} % of the best known support on {worst} of "
        f"{len(found.rows)} instances, the\nmedian seed within "
        f"{100 * MEDIAN_LOSS:g} % on {median}."
    )


def _number(value: int) -> str:
    return NUMBERS[value] if value < len(NUMBERS) else str(value)


def published(swap: Results) -> Table:
    """Objectives beside the best ones that the paper reports after an hour."""
    seconds = swap.settings["seconds"]
    table = [["", "B", f"frugalsvm, at most {seconds:g} s", "paper, 3600 s"]]
    for name in ("arrhythmia", "madelon", "mfeat"):
        own = [row for row in swap.rows if row["set"] == name]
        pairs = [_compared(row) for row in own]
        budgets = " / ".join(str(row["B"]) for row in own)
        table.append(
            [name, budgets, *(" / ".join(p) for p in zip(*pairs, strict=True))]
        )
    return table


def _compared(row: Row) -> tuple[str, str]:
    """Both objectives; the lower one is strong, unless the paper's digits hide it."""
    columns = ("CoP* ObjFun", "Exact KS ObjFun")
    printed = [TABLE_7.printed(row["set"], row["B"], column) for column in columns]
    theirs = min(printed, key=float)
    ours = f"{row['ours']:.2f}" if row["ours"] > 1 else f"{row['ours']:.4f}"
    if round(row["ours"], 2) < float(theirs):
        return f"**{ours}**", theirs
    return ours, f"**{theirs}**" if round(row["ours"], 2) > float(theirs) else theirs


def blocks(found: Results) -> Table:
    """Efforts on problems with correlated blocks."""
    table = [["effort", "best known found", "above it, mean of all", "mean CPU",
              "longest"]]  # fmt: skip
    for effort in values(found.rows, "effort"):
        above, hits, n_runs = summary(found.rows, effort)
        seconds = [row["seconds"] for row in found.rows if row["effort"] == effort]
        table.append([
            f"``{effort}``", f"{hits} of {n_runs} runs", f"{100 * above:.1f} %",
            f"{np.mean(seconds):.2f} s", f"{max(seconds):.1f} s",
        ])  # fmt: skip
    return table


# --- alternatives ---------------------------------------------------------------------


def enumeration(found: Results) -> Table:
    """Lists of WDBC beside enumeration."""
    return [
        ["B", "C", "tolerance [%]", "models", "list [s]", "enumeration [s]", "ratio",
         "proof [s]", "verify [s]"],
        *(
            [f"{row['B']}", f"{row['C']:g}", "1", f"{row['models']}",
             f"{row['seconds']:.2f}", f"{row['enumeration']:,.0f}",
             f"{row['seconds'] / row['enumeration']:.3g}", f"{row['proof']:.2f}",
             f"{row['verify']:.2f}"]
            for row in found.rows if row["table"] == "enumeration"
        ),
    ]  # fmt: skip


def alternatives(found: Results) -> Table:
    """How many models there are, and how far lists are complete."""
    return [
        ["data set", "n", "B", "C", "models at 1 %", "at 5 %", "at 10 %", "seconds",
         "complete up to [%]"],
        *(
            [row["set"], f"{row['n']}", f"{row['B']}", f"{row['C']:g}",
             *(_at_least(count) for count in row["models"]), f"{row['seconds']:.1f}",
             f"{100 * row['complete up to']:.3g}"]
            for row in found.rows
            if row["table"] == "how far" and row["B"] < row["n"]
        ),
    ]  # fmt: skip


def _at_least(count: str) -> str:
    number, *more = count.split(maxsplit=1)
    return f"≥ {number}" if more else number


# --- prediction -----------------------------------------------------------------------

# The group of data sets like those of genomics.
WIDE = "more features than samples"


def predict(found: Results, budget: int) -> Table:
    """Balanced accuracy by data set and peer."""
    rows = _kind(found, "set", budget)
    peers = values(rows, "peer")
    table = [["data set", "samples", "features", *peers]]
    for name in values(rows, "set"):
        own = {row["peer"]: row for row in rows if row["set"] == name}
        first = next(iter(own.values()))
        table.append([name, f"{first['m']:,}", f"{first['n']:,}", *(
            f"{own[peer]['balanced_accuracy']:.3f}" if peer in own else ""
            for peer in peers
        )])  # fmt: skip
    return table


def predict_mean(found: Results, budget: int, group: str = "all sets") -> Table:
    """Means over data sets, and differences in points with corrected intervals."""
    return [
        ["", "sets", "balanced accuracy", "AUC", "features", "CPU in s",
         "ours, same sets", "ours less", "+/-"],
        *(
            [row["peer"], f"{row['sets']}", f"{row['balanced_accuracy']:.3f}",
             f"{row['auc']:.3f}", f"{row['features']:.1f}", f"{row['seconds']:.2f}",
             f"{row['ours_on_these']:.3f}", f"{100 * row['ours_less']:+.2f}",
             f"{100 * row['half_width']:.2f}"]
            for row in _kind(found, "group", budget) if row["group"] == group
        ),
    ]  # fmt: skip


def predict_summary(found: Results, group: str = "all sets") -> Table:
    """Mean balanced accuracy of those that took part on all of them, by budget."""
    rows = [row for row in found.rows
            if row["kind"] == "group" and row["group"] == group]  # fmt: skip
    n_sets = max(row["sets"] for row in rows)
    budgets = values(rows, "B")
    table = [[f"balanced accuracy, mean of {n_sets} data sets",
              *(f"B = {B}" for B in budgets)]]  # fmt: skip
    for peer in values([row for row in rows if row["sets"] == n_sets], "peer"):
        own = [row["balanced_accuracy"] for row in rows if row["peer"] == peer]
        table.append([peer, *(f"{value:.3f}" for value in own)])
    return table


def _kind(found: Results, kind: str, budget: int) -> list[Row]:
    return [row for row in found.rows if (row["kind"], row["B"]) == (kind, budget)]


# --- several classes ------------------------------------------------------------------


def classes(found: Results, weights: str) -> Table:
    """Balanced accuracy by data set, budget and selector, with one kind of weights.

    Those of a multinomial regression stand beside the squared hinge.
    """
    kinds = [weights] if weights == "hinge" else [weights, "multinomial"]
    rows = [row for row in _of_kind(found, "set") if row["weights"] in kinds]
    peers = list(dict.fromkeys((row["selector"], row["weights"]) for row in rows))
    names = [who if kind in kinds[:1] else f"{who}, {kind}" for who, kind in peers]
    table = [["data", "classes", "samples", "features", "B", *names]]
    for key in dict.fromkeys((row["set"], row["B"]) for row in rows):
        own = {(row["selector"], row["weights"]): row for row in rows
               if (row["set"], row["B"]) == key}  # fmt: skip
        first = next(iter(own.values()))
        table.append([
            key[0], f"{first['classes']}", f"{first['m']:,}", f"{first['n']:,}",
            f"{key[1]}", *(f"{own[peer]['score']:.3f}" for peer in peers),
        ])  # fmt: skip
    return table


def classes_differences(found: Results) -> Table:
    """Where FrugalSVCCV is ahead of a peer, or behind it, beyond the interval."""
    table = [["data", "B", "peer", "weights", "FrugalSVCCV less [points]", "+/-"]]
    for row in _of_kind(found, "set"):
        if row["half_width"] < abs(row["ours_less"]):
            table.append([
                row["set"], f"{row['B']}", row["selector"], row["weights"],
                f"{100 * row['ours_less']:+.1f}", f"{100 * row['half_width']:.1f}",
            ])  # fmt: skip
    return table


def classes_proofs(found: Results) -> Table:
    """Time to proved optima of several classes, beside SCIP."""
    table = [["data", "B", "optimum", "ours", "SCIP", "SCIP's gap"]]
    for row in _of_kind(found, "proof"):
        scip = row["SCIP"]
        gap = 1 - scip["bound"] / scip["objective"]
        table.append([
            row["set"], f"{row['B']}", f"{row['objective']:.3f}",
            f"{row['seconds']:.2f} s",
            f"{scip['seconds']:.1f} s" + ("" if scip["proved"] else " (limit)"),
            f"{100 * gap:.2g} %",
        ])  # fmt: skip
    return table


def classes_growth(found: Results) -> Table:
    """Processor time by the number of classes."""
    return [
        ["classes", "relaxation", "node"],
        *(
            [f"{row['classes']}", f"{1e3 * row['relaxation']:.0f} ms",
             f"{1e3 * row['node']:.1f} ms"]
            for row in _of_kind(found, "growth")
        ),
    ]  # fmt: skip


def classes_default(found: Results) -> str:
    """All digits with ten features and the defaults."""
    (row,) = _of_kind(found, "default")
    return (
        f"All ten digits, ten features, defaults, two threads: {row['seconds']:.0f} s "
        f"({row['cpu']:.0f} s of processor time), gap {100 * row['gap']:.0f} %."
    )


def _of_kind(found: Results, kind: str) -> list[Row]:
    return [row for row in found.rows if row["kind"] == kind]


# --- size of the data -----------------------------------------------------------------


FIT = "FrugalSVC"
FAST = "FrugalSVC, fast"
SELECTORS = (FIT, FAST, "RFE, step 0.1", "L1-LinearSVC", "SelectFromModel")


def _by_value(found: Results, series: str) -> dict[float, dict[str, Row]]:
    """Rows of a series by what is varied, and by method."""
    rows: dict[float, dict[str, Row]] = {}
    for row in found.rows:
        if row["series"] == series:
            rows.setdefault(row["value"], {})[row["method"]] = row
    return rows


def _spent(row: Row | None, memory: bool = False) -> str:
    """Seconds, MB that the fit adds, and the objective."""
    if row is None:
        return "gave up"
    words = [f"{row['fit']:.0f} MB"] if memory else []
    value = row["objective"]
    goal = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return ", ".join([f"{row['seconds']:.1f} s", *words, goal])


def samples(found: Results) -> Table:
    """Time and memory against the number of samples."""
    table = [["m", "LinearSVC", FIT, "ratio", "peak / X, Linear", "peak / X, ours",
              "gap"]]  # fmt: skip
    for m, rows in _by_value(found, "samples").items():
        ours, linear = rows[FIT], rows["LinearSVC"]
        table.append([
            f"{m:,}", f"{linear['seconds']:.1f} s", f"{ours['seconds']:.1f} s",
            two(ours["seconds"] / linear["seconds"]), two(linear["peak / X"]),
            two(ours["peak / X"]), f"{100 * ours['gap']:.1f} %",
        ])  # fmt: skip
    return table


def features(found: Results) -> Table:
    """Time and memory against the number of features."""
    return [
        ["n", FIT, "peak / X", "gap"],
        *(
            [f"{n:,}", f"{rows[FIT]['seconds']:.1f} s", two(rows[FIT]["peak / X"]),
             f"{100 * rows[FIT]['gap']:.1f} %"]
            for n, rows in _by_value(found, "features").items()
        ),
    ]  # fmt: skip


def density(found: Results) -> Table:
    """Time and objective against the density of sparse data."""
    names = (FIT, FAST, "RFE, step 0.1", "SelectFromModel")
    table = [["density", "entries", FIT, "the same, fast", *names[2:], "gap"]]
    for part, rows in _by_value(found, "density of sparse data").items():
        table.append([
            f"{100 * part:g} %", f"{round(rows[FIT]['entries'], -3):,}",
            *(_spent(rows.get(name)) for name in names),
            f"{100 * rows[FIT]['gap']:.2f} %",
        ])  # fmt: skip
    return table


def budget(found: Results) -> Table:
    """Time and objective against the budget."""
    names = (FIT, FAST, "RFE, step 0.1", "SelectFromModel")
    table = [["B", FIT, "the same, fast", *names[2:], "peak / X", "gap"]]
    for B, rows in _by_value(found, "budget").items():
        table.append([
            f"{B:g}", *(_spent(rows.get(name)) for name in names),
            two(rows[FIT]["peak / X"]), f"{two(100 * rows[FIT]['gap'])} %",
        ])  # fmt: skip
    return table


def texts(found: Results) -> Table:
    """Selectors on sparse texts."""
    [random] = _by_value(found, "texts").values()
    library = _by_value(found, "TF-IDF of the standard library")
    columns = [random, *library.values()]
    return [
        ["", "100,000 x 50,000", *(f"TF-IDF, B = {B:g}" for B in library)],
        *(
            [name, *(_spent(rows.get(name), memory=True) for rows in columns)]
            for name in SELECTORS
        ),
    ]


def selectors(found: Results) -> Table:
    """Selectors on dense data."""
    columns = [
        _by_value(found, "samples")[1_000_000],
        _by_value(found, "samples, mixed features")[100_000],
        _by_value(found, "features")[1_000_000],
    ]
    return [
        ["", "1,000,000 x 100, B = 10", "100,000 x 100, mixed",
         "200 x 1,000,000, B = 20"],
        *([name, *(_spent(rows.get(name)) for rows in columns)] for name in SELECTORS),
    ]  # fmt: skip


def distributed(found: Results) -> Table:
    """What travels between a client and its workers."""
    left_out = ("make blocks", "a product", "a gather", "wall")
    names = [name for name in found.rows[0] if name not in left_out]
    return [
        names,
        *([_traffic(name, row[name]) for name in names] for row in found.rows),
    ]


def _traffic(name: str, value: int | str) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value} s" if name == "CPU at home" else value


FIGURES = {
    "batched": Figure(("batched",), batched),
    "exact": Figure(("exact",), exact),
    "exact-ratio": Figure(("exact",), exact_ratio),
    "instances": Figure(("exact",), instances),
    "groups": Figure(("groups",), groups),
    "proof": Figure(("proof",), proof),
    "proof-scip": Figure(("proof",), lambda found: proof(found, "SCIP")),
    "speed": Figure(("exact", "threads", "support", "perspective"), speed),
    "swap": Figure(("swap",), swap),
    "threads": Figure(("threads",), threads),
    "effort": Figure(("effort",), effort),
    "cv": Figure(("cv",), cv),
    "seeds": Figure(("seeds",), seeds),
    "seeds-summary": Figure(("seeds",), seeds_summary),
    "published": Figure(("swap",), published),
    "blocks": Figure(("blocks",), blocks),
    "enumeration": Figure(("alternatives",), enumeration),
    "alternatives": Figure(("alternatives",), alternatives),
    "classes-hinge": Figure(("classes",), lambda found: classes(found, "hinge")),
    "classes-squared": Figure(
        ("classes",), lambda found: classes(found, "squared hinge")
    ),
    "classes-differences": Figure(("classes",), classes_differences),
    "classes-proofs": Figure(("classes",), classes_proofs),
    "classes-growth": Figure(("classes",), classes_growth),
    "classes-default": Figure(("classes",), classes_default),
    "predict-5": Figure(("predict",), lambda found: predict(found, 5)),
    "predict-10": Figure(("predict",), lambda found: predict(found, 10)),
    "predict-mean-5": Figure(("predict",), lambda found: predict_mean(found, 5)),
    "predict-mean-10": Figure(("predict",), lambda found: predict_mean(found, 10)),
    "predict-summary": Figure(("predict",), predict_summary),
    "predict-wide": Figure(("predict",), lambda found: predict_summary(found, WIDE)),
    "samples": Figure(("scale",), samples),
    "features": Figure(("scale",), features),
    "density": Figure(("scale",), density),
    "texts": Figure(("scale",), texts),
    "budget": Figure(("scale",), budget),
    "selectors": Figure(("scale",), selectors),
    "distributed": Figure(("distributed",), distributed),
}
