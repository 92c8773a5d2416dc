"""The programs BigMP and CoP: Tables 3, 5 and 6, and Figure 2."""

from __future__ import annotations

from typing import Any

from ..cells import Cell, Outcomes
from ..charts import bars
from ..datasets import LARGE
from ..experiment import Experiment, Settings, marked, value
from ..published import PUBLISHED
from ..report import Chart, Report
from ..statistics import mean, relative_gap, rounded
from ..tables import ReportTable
from .instances import (
    BUDGETS,
    TableCells,
    column_cell,
    flat,
    instances,
    relaxed,
    root,
    scip_instances,
    table_cells,
)

# --- Table 3: both under a time limit -------------------------------------------------

PRINTED_3, PRINTED_4, PRINTED_5, PRINTED_6 = (PUBLISHED[k] for k in (3, 4, 5, 6))
MODELS = ("BigMP", "CoP")


def _limit_cells(settings: Settings) -> TableCells:
    return table_cells(settings, scip_instances(settings), MODELS)


def _limit_report(settings: Settings, outcomes: Outcomes) -> Report:
    rows = []
    for (name, B), cells in _limit_cells(settings).items():
        row: dict[str, Any] = {"data": name, "B": B}
        for model, target in cells.items():
            row[model] = value(outcomes, target, "objective")
            row[f"{model} paper"] = PRINTED_3.printed(name, B, f"{model} ObjFun")
            row[f"{model} gap"] = value(outcomes, target, "gap")
            row[f"{model} gap paper"] = PRINTED_3.printed(name, B, f"{model} MipGap")
        row["M"] = value(outcomes, cells["BigMP"], "M")
        rows.append(row)
    title = (
        "Objectives and gaps of BigMP and CoP: SCIP, and Gurobi as published; C = 10"
    )
    return Report(
        [ReportTable.of(title, rows)],
        notes=[
            "Objectives are those of the SVM on the features that SCIP selects; a gap "
            "is a fraction of it, 1 where there is no solution or no bound. The limit "
            "includes the time to build the program. M is the largest weight that dual "
            "points allow a solution as good as that of a fast swap search; the paper "
            "does not say which M it uses."
        ],
    )


TABLE_3 = Experiment(
    "table3",
    "Table 3: BigMP and CoP on the large data sets",
    "Both programs by SCIP under a time limit, objective and gap; the paper's limit is "
    "3600 s, its solver Gurobi.",
    lambda settings: flat(_limit_cells(settings)),
    _limit_report,
    PRINTED_3.label,
    MODELS,
)


# --- Table 5: kernel search as a start; Figure 2: gaps --------------------------------

START_METHODS = ("CoP", "H-KS", "CoP*")


def _start_cells(settings: Settings) -> TableCells:
    return table_cells(settings, scip_instances(settings), START_METHODS)


def _start_report(settings: Settings, outcomes: Outcomes) -> Report:
    rows = []
    for (name, B), cells in _start_cells(settings).items():
        row: dict[str, Any] = {"data": name, "B": B}
        for method, target in cells.items():
            row[method] = value(outcomes, target, "objective")
            row[f"{method} paper"] = PRINTED_5.printed(name, B, method)
        alone, started = (
            outcomes[cells[method]].values.get("objective")
            for method in ("CoP", "CoP*")
        )
        if alone is None or started is None:
            row["d_f"] = None
        else:
            row["d_f"] = round(100.0 * (alone - started) / alone, 1)
        row["d_f paper"] = PRINTED_5.printed(name, B, "d_f")
        rows.append(row)
    title = "Objectives, and the improvement d_f [%] of CoP* over CoP; C = 10"
    return Report(
        [ReportTable.of(title, rows)],
        notes=[
            "CoP* is CoP by SCIP, started from the solution of H-KS; the time of H-KS "
            "is not part of its limit. d_f is empty where CoP alone finds no solution."
        ],
    )


TABLE_5 = Experiment(
    "table5",
    "Table 5: kernel search as a start for CoP",
    "CoP, H-KS, and CoP* (CoP from the solution of H-KS) with the improvement d_f.",
    lambda settings: flat(_start_cells(settings)),
    _start_report,
    PRINTED_5.label,
    START_METHODS,
)


def _search_cells(settings: Settings, name: str, B: int) -> list[Cell]:
    return [column_cell(settings, "H-KS", name, B), relaxed(settings, name, B)]


def _gap_plan(settings: Settings) -> list[Cell]:
    cells = flat(table_cells(settings, scip_instances(settings), ["CoP"]))
    for pair in instances(settings):
        cells += _search_cells(settings, *pair)
    return cells


def _gaps(settings: Settings, outcomes: Outcomes, name: str) -> list[float | None]:
    """Mean gaps over B of one data set: two computed and the published ones."""
    ours: list[list[float]] = [[], []]
    paper: list[list[float]] = [[], []]
    for B in BUDGETS:
        cop = outcomes.get(column_cell(settings, "CoP", name, B))
        if cop is not None:
            ours[0].append(cop.values.get("gap", 1.0))
        cells = _search_cells(settings, name, B)
        search, relaxation = (outcomes[target].values for target in cells)
        bound = relaxation.get("bound")
        if search.get("objective") is not None and bound is not None:
            ours[1].append(relative_gap(search["objective"], bound))
        paper[0].append(PRINTED_3.value(name, B, "CoP MipGap") or 0.0)
        printed = PRINTED_4.value(name, B, "H-KS ObjFun") or 1.0
        paper[1].append(relative_gap(printed, PRINTED_6.value(name, B, "DSCoP") or 0.0))
    return [mean(values) for values in (*ours, *paper)]


def _gap_report(settings: Settings, outcomes: Outcomes) -> Report:
    names = settings.chosen(LARGE)
    series = (
        "CoP, SCIP",
        "H-KS to DSCoP",
        "CoP, Gurobi (paper)",
        "H-KS to DSCoP (paper)",
    )
    gaps = {name: _gaps(settings, outcomes, name) for name in names}
    rows = []
    for name in names:
        row: list[Any] = [rounded(gap, 3) for gap in gaps[name]]
        programs = [column_cell(settings, "CoP", name, B) for B in BUDGETS]
        searches = [c for B in BUDGETS for c in _search_cells(settings, name, B)]
        row[0] = marked(outcomes, programs, row[0])
        row[1] = marked(outcomes, searches, row[1])
        rows.append([name, *row])
    values = {
        title: [gaps[name][k] for name in names] for k, title in enumerate(series)
    }
    title = "Mean gaps over B, as fractions; C = 10"
    return Report(
        [ReportTable(title, ("data", *series), rows)],
        [Chart(title, lambda: bars(names, values, "gap"))],
        [
            "The paper's source has no numbers of this figure: its columns are "
            "computed from Tables 3, 4 and 6. Marked are means with cells that ended "
            "at their limit."
        ],
    )


FIGURE_2 = Experiment(
    "figure2",
    "Figure 2: the gap of CoP, and of H-KS to DSCoP",
    "MIP gap of CoP by SCIP against the gap of H-KS to DSCoP, means over B.",
    _gap_plan,
    _gap_report,
    "fig:gaps comparison",
    ("CoP", "H-KS", "DSCoP"),
)


# --- Table 6: bounds at the root ------------------------------------------------------


def _root_cells(settings: Settings) -> TableCells:
    """DSCoP and SVM, and the programs for the budgets of SCIP's grid."""
    cells: TableCells = {}
    for pair in instances(settings):
        cells[pair] = {m: relaxed(settings, *pair, m) for m in ("DSCoP", "SVM")}
        if pair in scip_instances(settings):
            cells[pair] |= {model: root(settings, *pair, model) for model in MODELS}
    return cells


def _root_report(settings: Settings, outcomes: Outcomes) -> Report:
    rows = []
    for (name, B), cells in _root_cells(settings).items():
        ours = value(outcomes, cells["DSCoP"], "bound")
        printed = PRINTED_6.value(name, B, "DSCoP")
        is_number = isinstance(ours, float) and printed
        row = {"data": name, "B": B, "DSCoP": ours}
        row["DSCoP paper"] = PRINTED_6.printed(name, B, "DSCoP")
        row["off %"] = round(100 * (ours / printed - 1), 2) if is_number else None
        for model in MODELS:
            target = cells.get(model)
            row[model] = target and value(outcomes, target, "bound")
            row[f"{model} paper"] = PRINTED_6.printed(name, B, model)
        row["SVM"] = value(outcomes, cells["SVM"], "bound")
        row["M"] = value(outcomes, cells["BigMP"], "M") if "BigMP" in cells else None
        rows.append(row)
    return Report(
        [ReportTable.of("Bounds before branching, ours and published; C = 10", rows)],
        notes=[
            "DSCoP and SVM are recomputed from dual points. BigMP and CoP are what "
            "SCIP claims at its root. The box relaxation of CoP is SVM, and so is that "
            "of BigMP for large M. M is the largest weight that dual points allow a "
            "solution as good as that of a fast swap search (tight bound problems)."
        ],
    )


TABLE_6 = Experiment(
    "table6",
    "Table 6: lower bounds at the root",
    "DSCoP by our kernel against the root bounds of BigMP and CoP by SCIP.",
    lambda settings: flat(_root_cells(settings)),
    _root_report,
    PRINTED_6.label,
    ("DSCoP", "BigMP", "CoP"),
)
