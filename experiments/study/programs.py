"""The programs BigMP and CoP: Tables 3, 5 and 6, and Figure 2."""

from __future__ import annotations

from typing import Any

from ..cells import Cell, Outcomes
from ..charts import bars
from ..datasets import LARGE
from ..experiment import Experiment, Settings, marked, value
from ..published import TABLE_3 as PRINTED_3
from ..published import TABLE_4 as PRINTED_4
from ..published import TABLE_5 as PRINTED_5
from ..published import TABLE_6 as PRINTED_6
from ..report import Chart, Report
from ..statistics import mean, relative_gap, rounded
from ..tables import ReportTable
from . import instances

# --- Table 3: both under a time limit -------------------------------------------------


MODELS = {"BigMP": instances.big_mp, "CoP": instances.co_p}


def _limit_plan(settings: Settings) -> list[Cell]:
    return [
        make(settings, name, B)
        for name, B in instances.scip_instances(settings)
        for make in MODELS.values()
    ]


def _limit_report(settings: Settings, outcomes: Outcomes) -> Report:
    rows = []
    for name, B in instances.scip_instances(settings):
        row: dict[str, Any] = {"data": name, "B": B}
        for model, make in MODELS.items():
            target = make(settings, name, B)
            row[model] = value(outcomes, target, "objective")
            row[f"{model} paper"] = PRINTED_3.printed(name, B, f"{model} ObjFun")
            row[f"{model} gap"] = value(outcomes, target, "gap")
            row[f"{model} gap paper"] = PRINTED_3.printed(name, B, f"{model} MipGap")
        row["M"] = value(outcomes, instances.big_mp(settings, name, B), "M")
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
    _limit_plan,
    _limit_report,
    PRINTED_3.label,
    tuple(MODELS),
)


# --- Table 5: kernel search as a start; Figure 2: gaps --------------------------------


START_METHODS = {
    "CoP": instances.co_p,
    "H-KS": instances.h_ks,
    "CoP*": instances.co_p_star,
}


def _start_plan(settings: Settings) -> list[Cell]:
    return [
        make(settings, name, B)
        for name, B in instances.scip_instances(settings)
        for make in START_METHODS.values()
    ]


def _improvement(alone: Any, started: Any) -> float | None:
    """Improvement of the objective by the start, in percent."""
    if alone is None or started is None:
        return None
    return round(100.0 * (alone - started) / alone, 1)


def _start_report(settings: Settings, outcomes: Outcomes) -> Report:
    rows = []
    for name, B in instances.scip_instances(settings):
        row: dict[str, Any] = {"data": name, "B": B}
        plain = {}
        for method, make in START_METHODS.items():
            target = make(settings, name, B)
            plain[method] = outcomes[target].values.get("objective")
            row[method] = value(outcomes, target, "objective")
            row[f"{method} paper"] = PRINTED_5.printed(name, B, method)
        row["d_f"] = _improvement(plain["CoP"], plain["CoP*"])
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
    _start_plan,
    _start_report,
    PRINTED_5.label,
    tuple(START_METHODS),
)


def _gap_plan(settings: Settings) -> list[Cell]:
    cells = [
        instances.co_p(settings, name, B)
        for name, B in instances.scip_instances(settings)
    ]
    for name, B in instances.instances(settings):
        cells += [
            instances.h_ks(settings, name, B),
            instances.relaxed(settings, name, B),
        ]
    return cells


def _own_cells(settings: Settings, name: str) -> tuple[list[Cell], list[Cell]]:
    """Cells for the two computed gaps of a data set."""
    programs = [instances.co_p(settings, name, B) for B in instances.BUDGETS]
    searches = [
        make(settings, name, B)
        for B in instances.BUDGETS
        for make in (instances.h_ks, instances.relaxed)
    ]
    return programs, searches


def _gaps(settings: Settings, outcomes: Outcomes, name: str) -> list[float | None]:
    """Mean gaps over B of one data set: two computed and the published ones."""
    ours: list[list[float]] = [[], []]
    paper: list[list[float]] = [[], []]
    for B in instances.BUDGETS:
        cop = outcomes.get(instances.co_p(settings, name, B))
        if cop is not None:
            ours[0].append(cop.values.get("gap", 1.0))
        search = outcomes[instances.h_ks(settings, name, B)].values
        bound = outcomes[instances.relaxed(settings, name, B)].values.get("bound")
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
        for k, cells in enumerate(_own_cells(settings, name)):
            row[k] = marked(outcomes, cells, row[k])
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


def _roots(settings: Settings, name: str, B: int) -> dict[str, Cell]:
    """Cells of SCIP, for the budgets of the grid."""
    if (name, B) not in instances.scip_instances(settings):
        return {}
    return {
        model: instances.root(settings, name, B, model) for model in ("BigMP", "CoP")
    }


def _root_plan(settings: Settings) -> list[Cell]:
    cells = []
    for name, B in instances.instances(settings):
        cells += [
            instances.relaxed(settings, name, B),
            instances.relaxed(settings, name, B, "SVM"),
            *_roots(settings, name, B).values(),
        ]
    return cells


def _root_report(settings: Settings, outcomes: Outcomes) -> Report:
    rows = []
    for name, B in instances.instances(settings):
        roots = _roots(settings, name, B)
        ours = value(outcomes, instances.relaxed(settings, name, B), "bound")
        printed = PRINTED_6.value(name, B, "DSCoP")
        is_number = isinstance(ours, float) and printed
        row = {"data": name, "B": B, "DSCoP": ours}
        row["DSCoP paper"] = PRINTED_6.printed(name, B, "DSCoP")
        row["off %"] = round(100 * (ours / printed - 1), 2) if is_number else None
        for model in ("BigMP", "CoP"):
            target = roots.get(model)
            row[model] = target and value(outcomes, target, "bound")
            row[f"{model} paper"] = PRINTED_6.printed(name, B, model)
        svm = instances.relaxed(settings, name, B, "SVM")
        row["SVM"] = value(outcomes, svm, "bound")
        row["M"] = value(outcomes, roots["BigMP"], "M") if roots else None
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
    _root_plan,
    _root_report,
    PRINTED_6.label,
    ("DSCoP", "BigMP", "CoP"),
)
