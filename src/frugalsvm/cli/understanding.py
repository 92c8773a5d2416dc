"""How a table was read, in words."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..output.identifiers import rises_with_rows
from ..runtime import words
from ..tables import Numbers, Preparation
from ..tables.errors import listed
from ..tables.formats import PLAIN, WHOLE
from ..tables.prepared_columns import CategoryColumn, NumberColumn
from .study import PreparedTable

# Maximum number of columns listed by name.
N_NAMED = 10


def understood(
    data: PreparedTable, preparation: Preparation, is_split: bool = False
) -> list[str]:
    """Lines that say what was read, dropped, encoded and imputed."""
    table, target = data.table, data.target
    n_columns = len(table.columns)
    first, second = target.classes
    n_first, n_second = target.counts
    lines = [f"{table.source}: {table.n_rows:,} rows, {n_columns:,} columns"]
    lines += [f"  {remark}" for remark in table.remarks]
    lines.append(
        f"  target {target.name}: {n_second:,} {second} (positive), {n_first:,} {first}"
    )
    lines += _dropped(data)
    lines += _rising(data)
    lines += _categories(preparation, is_split)
    gaps = data.missing()
    if gaps:
        shown = words.listed([f"{name} ({n:,})" for name, n in gaps.items()], N_NAMED)
        lines.append(
            "  missing values imputed (numbers: median, categories: most frequent): "
            f"{shown}"
        )
    n_encoded = preparation.n_features
    n = n_encoded if is_split else n_counted(preparation)
    encoded = f", {n_encoded:,} columns with one for each category" * (n < n_encoded)
    lines.append(
        f"  {n:,} features{encoded}, each standardised (mean 0, standard deviation 1)"
    )
    return lines


def n_counted(preparation: Preparation) -> int:
    """Number of features if a column of categories is one."""
    return len({one.name for one, _ in preparation.origins()})


def _dropped(data: PreparedTable) -> list[str]:
    dropped = data.plan.dropped
    lines = [f"  dropped {name}: {reason}" for name, reason in dropped[:N_NAMED]]
    if len(dropped) > N_NAMED:
        lines.append(f"  dropped {len(dropped) - N_NAMED:,} more columns")
    return lines


def _rising(data: PreparedTable) -> list[str]:
    """Columns in use that may be row numbers with gaps, or sort the rows."""
    names = []
    for name in data.plan.kinds:
        column = data.table.columns[name]
        if isinstance(column, Numbers) and rises_with_rows(column.values):
            names.append(name)
    if not names:
        return []
    return [
        f"  possibly row numbers, since the rows are sorted by them: {listed(names)}; "
        "use --exclude to drop them"
    ]


def _categories(preparation: Preparation, is_split: bool) -> list[str]:
    columns = [one for one in preparation.columns if isinstance(one, CategoryColumn)]
    lines = []
    for one in columns[:N_NAMED]:
        levels = ", ".join(one.levels[:6]) + ", ..." * (len(one.levels) > 6)
        n = len(one.shown)
        counted = f" ({n} feature{'s' * (n != 1)})" if is_split else ""
        lines.append(f"  categories of {one.name}: {levels}{counted}")
    if len(columns) > N_NAMED:
        lines.append(f"  categories of {len(columns) - N_NAMED:,} more columns")
    if columns and is_split:
        lines.append("  (each value of a categorical column counts as one feature)")
    elif columns:
        lines.append("  (a categorical column counts as one feature)")
    return lines


def as_dict(
    data: PreparedTable, preparation: Preparation, is_split: bool = False
) -> dict[str, Any]:
    """The same content for JSON."""
    first, second = data.target.classes
    return {
        "source": data.table.source,
        "rows": data.n_rows,
        "columns": len(data.table.columns),
        "remarks": data.table.remarks,
        "target": data.target.name,
        "classes": {"negative": first, "positive": second},
        "counts": {
            "negative": data.target.counts[0],
            "positive": data.target.counts[1],
        },
        "dropped": dict(data.plan.dropped),
        "categorical": {
            one.name: list(one.levels)
            for one in preparation.columns
            if isinstance(one, CategoryColumn)
        },
        "formats": {
            one.name: asdict(one.format)
            for one in preparation.columns
            if isinstance(one, NumberColumn) and one.format not in (None, PLAIN, WHOLE)
        },
        "missing": data.missing(),
        "features": preparation.n_features if is_split else n_counted(preparation),
        "encoded_columns": preparation.n_features,
    }
