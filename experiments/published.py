"""The numbers that the paper prints in Section 5, as data with their labels.

Transcribed from the paper's source into ``published.toml``, figure by figure as
printed; ``alpha`` of EN-SVM as "2^9". Tables 1 and 2 are in ``catalogue.toml``. The
source has no numbers for the figures. Times are seconds on an Apple M1, MipGap is a
fraction, d_f a percentage, ACC percentages.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: A row of a published table: a data set, and the budget where the table has one.
Row = tuple[str, int | None]


@dataclass(frozen=True)
class PublishedTable:
    """One table of the paper."""

    number: int
    # In the paper's source.
    label: str
    columns: tuple[str, ...]
    # By data set and budget; entries as printed.
    rows: dict[Row, tuple[str, ...]]

    def printed(self, name: str, budget: int | None, column: str) -> str:
        """An entry as printed; empty if the table has no such row."""
        row = self.rows.get((name, budget))
        return "" if row is None else row[self.columns.index(column)]

    def value(self, name: str, budget: int | None, column: str) -> float | None:
        """An entry as a number; None if the table has no such row."""
        text = self.printed(name, budget, column)
        if not text:
            return None
        base, _, power = text.partition("^")
        return float(base) ** float(power) if power else float(base)

    def half_unit(self, name: str, budget: int | None, column: str) -> float:
        """Half a unit of the last printed digit: the possible rounding error."""
        _, _, decimals = self.printed(name, budget, column).partition(".")
        return 0.5 * 10.0 ** -len(decimals)


def _table(number: int, content: dict[str, Any]) -> PublishedTable:
    columns = tuple(content["columns"])
    rows: dict[Row, tuple[str, ...]] = {}
    for line in content["rows"].strip().splitlines():
        name, *entries = line.split()
        budget = int(entries.pop(0)) if len(entries) > len(columns) else None
        if len(entries) != len(columns):
            raise ValueError(f"Table {number}: {line!r} has too few entries.")
        rows[name, budget] = tuple(entries)
    return PublishedTable(number, content["label"], columns, rows)


_TABLES = tomllib.loads(Path(__file__).with_name("published.toml").read_text("utf-8"))
#: All published tables by number.
PUBLISHED = {
    number: _table(number, _TABLES[f"table_{number}"]) for number in range(3, 10)
}
