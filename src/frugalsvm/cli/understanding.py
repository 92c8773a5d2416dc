"""How a table was read, in words."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import Any

from ..export.lookups import OTHER, OWN_LEVEL
from ..run import words
from ..tables import Numbers, Preparation
from ..tables.columns import listed
from ..tables.formats import PLAIN, WHOLE
from ..tables.identifiers import rises_with_rows
from ..tables.prepared_columns import (
    CategoryColumn,
    NumberColumn,
    PreparedColumn,
    as_texts,
)
from .study import PreparedTable

# Maximum number of columns listed by name.
N_NAMED = 10


def describe_table(
    data: PreparedTable, preparation: Preparation, is_split: bool = False
) -> list[str]:
    """Lines that say what was read, dropped, encoded and imputed."""
    table, target = data.table, data.target
    n_columns = len(table.columns)
    first, second = target.classes
    n_first, n_second = target.counts
    size = f"{words.counted(table.n_rows, 'row')}, {words.counted(n_columns, 'column')}"
    lines = [f"{table.source}: {size}"]
    lines += [f"  {remark}" for remark in table.remarks]
    one_or_more = "row is" if n_second == 1 else "rows are"
    lines.append(
        f"  target {target.name}: {n_second:,} {one_or_more} {words.quote(second)} "
        f"(positive), {n_first:,} {words.quote(first)}"
    )
    if n_second > n_first and not target.is_given:
        lines.append(
            f"  (results are about {words.quote(second)}; use --positive "
            f"{shlex.quote(str(first))} if they should be about {words.quote(first)})"
        )
    lines += _dropped(data)
    lines += _rising(data)
    lines += _categories(data, preparation, is_split)
    lines += _coded(data)
    lines += _gaps(preparation)
    n_encoded, columns = preparation.n_features, preparation.columns
    n = n_encoded if is_split else n_counted(preparation)
    encoded = f", {n_encoded:,} columns with one for each category" * (n < n_encoded)
    each = ", each standardised (mean 0, standard deviation 1)"
    many = any(isinstance(x, CategoryColumn) and len(x.shown) > 1 for x in columns)
    if many or data.coded.columns:
        each = ", standardised (mean 0, variance 1, categories of a column together)"
    lines.append(f"  {words.counted(n, 'feature')}{encoded}{each}")
    return lines


def n_counted(preparation: Preparation) -> int:
    """Number of features if all categories of a variable are one."""
    return len({one.variable for one, _ in preparation.origins()})


def _dropped(data: PreparedTable) -> list[str]:
    dropped = data.plan.dropped
    lines = [f"  dropped {name}: {reason}" for name, reason in dropped[:N_NAMED]]
    if len(dropped) > N_NAMED:
        more = words.counted(len(dropped) - N_NAMED, "more column")
        lines.append(f"  dropped {more}")
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


def _categories(
    data: PreparedTable, preparation: Preparation, is_split: bool
) -> list[str]:
    columns = [one for one in preparation.columns if isinstance(one, CategoryColumn)]
    lines = []
    for one in columns[:N_NAMED]:
        levels = ", ".join(one.levels[:6]) + ", ..." * (len(one.levels) > 6)
        n = len(one.shown)
        counted = f" ({n} feature{'s' * (n != 1)})" if is_split else ""
        lines.append(f"  categories of {one.name}: {levels}{counted}")
    lines += _rare(data, columns)
    if len(columns) > N_NAMED:
        more = words.counted(len(columns) - N_NAMED, "more column")
        lines.append(f"  categories of {more}")
    if columns and is_split:
        lines.append("  (each value of a categorical column counts as one feature)")
    elif columns:
        lines.append("  (a categorical column counts as one feature)")
    return lines


def _rare(data: PreparedTable, columns: list[CategoryColumn]) -> list[str]:
    """The categories that were merged."""
    lines = []
    for one in columns:
        if one.has_other:
            texts = as_texts(data.table.columns[one.name]).levels
            merged = [text for text in texts if text not in one.levels]
            lines.append(
                f"  {OTHER} in {one.name}: {len(merged):,} categories in fewer than "
                f"{data.min_level:,} rows each ({listed(merged)}); --min-level 1 keeps "
                "them"
            )
    return lines[:N_NAMED]


def _coded(data: PreparedTable) -> list[str]:
    """Variables that have 0/1 columns in the file already."""
    columns, doubtful = data.coded.columns, data.coded.doubtful
    lines = [
        f"  {len(own):,} columns of 0 and 1 are categories of {name} and count as one "
        "feature; --split-categories counts each"
        for name, own in [*columns.items()][:N_NAMED]
    ]
    if len(columns) > N_NAMED:
        more = words.counted(len(columns) - N_NAMED, "more variable")
        lines.append(f"  and so are those of {more}")
    if doubtful:
        names = listed([*doubtful])
        lines.append(
            f"  columns of 0 and 1 that may be categories of {names} count one by one, "
            "since another column has that name"
        )
    return lines


def _gaps(preparation: Preparation) -> list[str]:
    """What became of missing values, with their counts."""
    found: dict[str, list[str]] = {}
    for one in preparation.columns:
        if one.n_gaps:
            found.setdefault(_treatment(one), []).append(f"{one.name} ({one.n_gaps:,})")
    lines = [
        f"  missing values {how}: {words.listed(names, N_NAMED)}"
        for how, names in found.items()
    ]
    if found:
        lines.append("  (--missing median or --missing refuse treats them otherwise)")
    return lines


def _treatment(column: PreparedColumn) -> str:
    """What became of the missing values of a column."""
    if isinstance(column, CategoryColumn):
        if column.fill == OWN_LEVEL:
            return "as a category of their own"
        return "as the most frequent category"
    if column.has_indicator:
        return "as the median, with an indicator in the same feature"
    return "as the median"


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
        "coded": data.coded.columns,
        "formats": {
            one.name: asdict(one.format)
            for one in preparation.columns
            if isinstance(one, NumberColumn) and one.format not in (None, PLAIN, WHOLE)
        },
        "missing": data.gaps(),
        "missing_as": data.missing,
        "features": preparation.n_features if is_split else n_counted(preparation),
        "encoded_columns": preparation.n_features,
    }
