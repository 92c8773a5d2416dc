"""Tables 1 and 2: the data."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...datasets import CATALOGUE
from ..cells import Cell, Outcomes, cell
from ..report import ReportTable, StudyReport
from ..sources import LARGE, SMALL
from ..study import Settings, Study

COLUMNS = (
    "data", "paper m", "paper n", "paper %", "m", "n", "%", "constant", "remark",
)  # fmt: skip


def _plan(names: tuple[str, ...], settings: Settings) -> list[Cell]:
    return [cell("facts", name) for name in settings.chosen(names)]


def _remarks(name: str, found: dict[str, Any]) -> str:
    """Differences of a data set from the paper's, and from the reference copy."""
    info = CATALOGUE[name]
    m, n, first, second = info.paper
    remarks = [info.remark, found["differences"]]
    if (found["m"], found["n"]) != (m, n):
        remarks.insert(0, "different shape")
    if found["shares"] == [second, first] and first != second:
        remarks.insert(0, "classes swapped")
    elif found["shares"] != [first, second]:
        remarks.insert(0, "different class proportions")
    return "; ".join(filter(None, remarks))


TITLE = "m, n and class proportions, as printed and in our copies"


def _report(
    names: tuple[str, ...], settings: Settings, outcomes: Outcomes
) -> StudyReport:
    rows = []
    for name in settings.chosen(names):
        m, n, first, second = CATALOGUE[name].paper
        row: list[Any] = [name, m, n, f"{first}/{second}"]
        found = outcomes[cell("facts", name)].values
        if "shares" in found:
            shares = "/".join(map(str, found["shares"]))
            row += [found["m"], found["n"], shares, found["constant"]]
            row += [_remarks(name, found)]
        else:
            row += [None, None, None, None, "failed"]
        rows.append(row)
    return StudyReport(
        [ReportTable(TITLE, COLUMNS, rows)],
        notes=["Constant columns count; nothing is scaled here."],
    )  # fmt: skip


def _study(number: int, words: str, label: str, names: tuple[str, ...]) -> Study:
    return Study(
        f"table{number}",
        f"Table {number}: {words}",
        "The data: as described in the paper, and our copies.",
        partial(_plan, names),
        partial(_report, names),
        label,
    )


TABLE_1 = _study(1, "First small datasets", "table:small_datasets", SMALL)
TABLE_2 = _study(2, "Second large datasets", "table:big_datasets", LARGE)
