"""Table 6: DSCoP against the root bounds of BigMP and CoP."""

from __future__ import annotations

from ..cells import Cell, Outcomes
from ..published import TABLE_6 as PUBLISHED
from ..report import ReportTable, StudyReport
from ..study import Settings, Study, value
from . import common

COLUMNS = (
    "data", "B", "DSCoP", "DSCoP paper", "off %", "BigMP", "BigMP paper", "CoP",
    "CoP paper", "SVM", "M",
)  # fmt: skip


def _roots(settings: Settings, name: str, B: int) -> dict[str, Cell]:
    """Cells of SCIP, for the budgets of the grid."""
    if (name, B) not in common.scip_instances(settings):
        return {}
    return {model: common.root(settings, name, B, model) for model in ("BigMP", "CoP")}


def _plan(settings: Settings) -> list[Cell]:
    cells = []
    for name, B in common.instances(settings):
        cells += [
            common.relaxed(settings, name, B),
            common.relaxed(settings, name, B, "SVM"),
            *_roots(settings, name, B).values(),
        ]
    return cells


def _report(settings: Settings, outcomes: Outcomes) -> StudyReport:
    rows = []
    for name, B in common.instances(settings):
        roots = _roots(settings, name, B)
        ours = value(outcomes, common.relaxed(settings, name, B), "bound")
        printed = PUBLISHED.value(name, B, "DSCoP")
        is_number = isinstance(ours, float) and printed
        off = round(100 * (ours / printed - 1), 2) if is_number else None
        row = [name, B, ours, PUBLISHED.printed(name, B, "DSCoP"), off]
        for model in ("BigMP", "CoP"):
            own = roots.get(model)
            row += [
                None if own is None else value(outcomes, own, "bound"),
                PUBLISHED.printed(name, B, model),
            ]
        big = roots.get("BigMP")
        row += [
            value(outcomes, common.relaxed(settings, name, B, "SVM"), "bound"),
            None if big is None else value(outcomes, big, "M"),
        ]
        rows.append(row)
    return StudyReport(
        [
            ReportTable(
                "Bounds before branching, ours and published; C = 10", COLUMNS, rows
            )
        ],
        notes=[
            "DSCoP and SVM are recomputed from dual points. BigMP and CoP are what "
            "SCIP claims at its root. The box relaxation of CoP is SVM, and so is that "
            "of BigMP for large M. M is the largest weight that dual points allow a "
            "solution as good as that of a fast swap search (tight bound problems)."
        ],
    )


TABLE_6 = Study(
    "table6",
    "Table 6: lower bounds at the root",
    "DSCoP by our kernel against the root bounds of BigMP and CoP by SCIP.",
    _plan,
    _report,
    PUBLISHED.label,
    ("DSCoP", "BigMP", "CoP"),
)
