"""Table 5: CoP, H-KS, and CoP* that starts from H-KS. Figure 2: their gaps."""

from __future__ import annotations

from typing import Any

from frugalsvm.runtime.progress import relative_gap

from ..cells import Cell, Outcomes
from ..charts import bars
from ..published import TABLE_3, TABLE_4, TABLE_6
from ..published import TABLE_5 as PUBLISHED
from ..report import Figure, ReportTable, StudyReport
from ..sources import LARGE
from ..statistics import mean, rounded
from ..study import Settings, Study, marked, value
from . import common

COLUMNS = (
    "data", "B", "CoP", "CoP paper", "H-KS", "H-KS paper", "CoP*", "CoP* paper", "d_f",
    "d_f paper",
)  # fmt: skip
METHODS = {"CoP": common.co_p, "H-KS": common.h_ks, "CoP*": common.co_p_star}


def _plan(settings: Settings) -> list[Cell]:
    return [
        make(settings, name, B)
        for name, B in common.scip_instances(settings)
        for make in METHODS.values()
    ]


def _improvement(alone: Any, started: Any) -> float | None:
    """Improvement of the objective by the start, in percent."""
    if alone is None or started is None:
        return None
    return round(100.0 * (alone - started) / alone, 1)


def _report(settings: Settings, outcomes: Outcomes) -> StudyReport:
    rows = []
    for name, B in common.scip_instances(settings):
        row: list[Any] = [name, B]
        plain = {}
        for method, make in METHODS.items():
            own = make(settings, name, B)
            plain[method] = outcomes[own].values.get("objective")
            row += [
                value(outcomes, own, "objective"),
                PUBLISHED.printed(name, B, method),
            ]
        row += [_improvement(plain["CoP"], plain["CoP*"])]
        rows.append([*row, PUBLISHED.printed(name, B, "d_f")])
    title = "Objectives, and the improvement d_f [%] of CoP* over CoP; C = 10"
    return StudyReport(
        [ReportTable(title, COLUMNS, rows)],
        notes=[
            "CoP* is CoP by SCIP, started from the solution of H-KS; the time of H-KS "
            "is not part of its limit. d_f is empty where CoP alone finds no solution."
        ],
    )


TABLE_5 = Study(
    "table5",
    "Table 5: kernel search as a start for CoP",
    "CoP, H-KS, and CoP* (CoP from the solution of H-KS) with the improvement d_f.",
    _plan,
    _report,
    PUBLISHED.label,
    tuple(METHODS),
)


def _gap_plan(settings: Settings) -> list[Cell]:
    cells = [
        common.co_p(settings, name, B) for name, B in common.scip_instances(settings)
    ]
    for name, B in common.instances(settings):
        cells += [common.h_ks(settings, name, B), common.relaxed(settings, name, B)]
    return cells


def _own_cells(settings: Settings, name: str) -> tuple[list[Cell], list[Cell]]:
    """Cells for the two computed gaps of a data set."""
    programs = [common.co_p(settings, name, B) for B in common.BUDGETS]
    searches = [
        make(settings, name, B)
        for B in common.BUDGETS
        for make in (common.h_ks, common.relaxed)
    ]
    return programs, searches


def _gaps(settings: Settings, outcomes: Outcomes, name: str) -> list[float | None]:
    """Mean gaps over B of one data set: two computed and the published ones."""
    ours: list[list[float]] = [[], []]
    paper: list[list[float]] = [[], []]
    for B in common.BUDGETS:
        cop = outcomes.get(common.co_p(settings, name, B))
        if cop is not None:
            ours[0].append(cop.values.get("gap", 1.0))
        search = outcomes[common.h_ks(settings, name, B)].values
        bound = outcomes[common.relaxed(settings, name, B)].values.get("bound")
        if search.get("objective") is not None and bound is not None:
            ours[1].append(relative_gap(search["objective"], bound))
        paper[0].append(TABLE_3.value(name, B, "CoP MipGap") or 0.0)
        printed = TABLE_4.value(name, B, "H-KS ObjFun") or 1.0
        paper[1].append(relative_gap(printed, TABLE_6.value(name, B, "DSCoP") or 0.0))
    return [mean(values) for values in (*ours, *paper)]


def _gap_report(settings: Settings, outcomes: Outcomes) -> StudyReport:
    names = settings.chosen(LARGE)
    series = (
        "CoP, SCIP", "H-KS to DSCoP", "CoP, Gurobi (paper)", "H-KS to DSCoP (paper)",
    )  # fmt: skip
    found = {name: _gaps(settings, outcomes, name) for name in names}
    rows = []
    for name in names:
        row: list[Any] = [rounded(one, 3) for one in found[name]]
        for k, cells in enumerate(_own_cells(settings, name)):
            row[k] = marked(outcomes, cells, row[k])
        rows.append([name, *row])
    values = {one: [found[name][k] for name in names] for k, one in enumerate(series)}
    title = "Mean gaps over B, as fractions; C = 10"
    return StudyReport(
        [ReportTable(title, ("data", *series), rows)],
        [Figure(title, lambda: bars(names, values, "gap"))],
        [
            "The paper's source has no numbers of this figure: its columns are "
            "computed from Tables 3, 4 and 6. Marked are means with cells that ended "
            "at their limit."
        ],
    )


FIGURE_2 = Study(
    "figure2",
    "Figure 2: the gap of CoP, and of H-KS to DSCoP",
    "MIP gap of CoP by SCIP against the gap of H-KS to DSCoP, means over B.",
    _gap_plan,
    _gap_report,
    "fig:gaps comparison",
    ("CoP", "H-KS", "DSCoP"),
)
