"""Tables 1 and 2: the data."""

from __future__ import annotations

from functools import partial

from ...datasets import CATALOGUE
from ..cells import Cell, Outcomes, cell
from ..report import Report, Table
from ..sources import LARGE, SMALL
from ..study import Settings, Study

COLUMNS = (
    "data", "paper m", "paper n", "paper %", "m", "n", "%", "constant", "remark",
)  # fmt: skip


def _plan(names: tuple[str, ...], settings: Settings) -> list[Cell]:
    return [cell("facts", name) for name in settings.chosen(names)]


def _report(names: tuple[str, ...], settings: Settings, outcomes: Outcomes) -> Report:
    rows = []
    for name in settings.chosen(names):
        info = CATALOGUE[name]
        m, n, first, second = info.paper
        found = outcomes[cell("facts", name)].values
        shares = found["shares"]
        remarks = [info.remark, found["differences"]]
        if (found["m"], found["n"]) != (m, n):
            remarks.insert(0, "another shape")
        if shares == [second, first] and first != second:
            remarks.insert(0, "classes in the other order")
        elif shares != [first, second]:
            remarks.insert(0, "other class shares")
        rows.append(
            [name, m, n, f"{first}/{second}", found["m"], found["n"],
             "/".join(map(str, shares)), found["constant"],
             "; ".join(filter(None, remarks))]
        )  # fmt: skip
    return Report(
        [Table("m, n and class shares, as printed and of the copies at hand", COLUMNS,
               rows)],
        notes=["Constant columns count; nothing is scaled here."],
    )  # fmt: skip


def _study(number: int, words: str, label: str, names: tuple[str, ...]) -> Study:
    return Study(
        f"table{number}",
        f"Table {number}: {words}",
        "The data: what the paper says of them, and what is at hand.",
        partial(_plan, names),
        partial(_report, names),
        label,
    )


TABLE_1 = _study(1, "First small datasets", "table:small_datasets", SMALL)
TABLE_2 = _study(2, "Second large datasets", "table:big_datasets", LARGE)
