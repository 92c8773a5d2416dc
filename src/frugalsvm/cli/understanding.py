"""Description of how a table was read."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import Any

from ..export import OTHER, OWN_LEVEL
from ..run import counted, listed, quote
from ..tables import (
    PLAIN,
    WHOLE,
    CategoryColumn,
    NumberColumn,
    Numbers,
    Preparation,
    PreparedColumn,
    as_texts,
    rises_with_rows,
)
from .study import PreparedTable

# Maximum number of columns listed by name.
N_NAMED = 10


def describe_table(
    data: PreparedTable, preparation: Preparation, is_split: bool = False
) -> list[str]:
    """Lines about rows, target, and dropped, encoded and imputed columns."""
    table, target = data.table, data.target
    n_columns = len(table.columns)
    first, second = target.classes
    n_first, n_second = target.counts
    size = f"{counted(table.n_rows, 'row')}, {counted(n_columns, 'column')}"
    lines = [f"{table.source}: {size}"]
    lines += [f"  {remark}" for remark in table.remarks]
    rows_are = "row is" if n_second == 1 else "rows are"
    lines.append(
        f"  target {target.name}: {n_second:,} {rows_are} {quote(second)} (positive), "
        f"{n_first:,} {quote(first)}"
    )
    if n_second > n_first and not target.is_given:
        lines.append(
            f"  (results are about {quote(second)}; use --positive "
            f"{shlex.quote(str(first))} if they should be about {quote(first)})"
        )
    dropped = data.plan.dropped
    lines += [f"  dropped {name}: {reason}" for name, reason in dropped[:N_NAMED]]
    if len(dropped) > N_NAMED:
        lines.append(f"  dropped {counted(len(dropped) - N_NAMED, 'more column')}")
    # Columns in use that may be row numbers with gaps, or sort the rows.
    rising = [
        name
        for name in data.plan.kinds
        if isinstance(column := table.columns[name], Numbers)
        and rises_with_rows(column.values)
    ]
    if rising:
        lines.append(
            "  possibly row numbers, since the rows are sorted by them: "
            f"{listed(rising, quoted=True)}; use --exclude to drop them"
        )
    lines += _categories(data, preparation, is_split)
    lines += _coded(data)
    lines += _gaps(preparation)
    n_encoded, columns = preparation.n_features, preparation.columns
    n = n_encoded if is_split else _n_variables(preparation)
    encoded = f", {n_encoded:,} columns with one for each category" * (n < n_encoded)
    each = ", each standardised (mean 0, standard deviation 1)"
    many = any(isinstance(x, CategoryColumn) and len(x.shown) > 1 for x in columns)
    if many or data.coded.columns:
        each = ", standardised (mean 0, variance 1, categories of a column together)"
    lines.append(f"  {counted(n, 'feature')}{encoded}{each}")
    return lines


def _n_variables(preparation: Preparation) -> int:
    """Number of features if all categories of a variable count as one."""
    return len({column.variable for column, _ in preparation.origins()})


def _categories(
    data: PreparedTable, preparation: Preparation, is_split: bool
) -> list[str]:
    columns = [x for x in preparation.columns if isinstance(x, CategoryColumn)]
    lines, merges = [], []
    for column in columns[:N_NAMED]:
        levels = ", ".join(column.levels[:6]) + ", ..." * (len(column.levels) > 6)
        n = len(column.shown)
        n_features = f" ({n} feature{'s' * (n != 1)})" if is_split else ""
        lines.append(f"  categories of {column.name}: {levels}{n_features}")
    for column in columns:
        if column.has_other:
            texts = as_texts(data.table.columns[column.name]).levels
            merged = [text for text in texts if text not in column.levels]
            names = listed(merged, quoted=True)
            merges.append(
                f"  {OTHER} in {column.name}: {len(merged):,} categories in fewer than "
                f"{data.min_level:,} rows each ({names}); --min-level 1 keeps them"
            )
    lines += merges[:N_NAMED]
    if len(columns) > N_NAMED:
        more = counted(len(columns) - N_NAMED, "more column")
        lines.append(f"  categories of {more}")
    if columns and is_split:
        lines.append("  (each value of a categorical column counts as one feature)")
    elif columns:
        lines.append("  (a categorical column counts as one feature)")
    return lines


def _coded(data: PreparedTable) -> list[str]:
    """Variables that are 0/1 columns in the file."""
    variables, doubtful = data.coded.columns, data.coded.doubtful
    lines = [
        f"  {len(columns):,} columns of 0 and 1 are categories of {name} and count as "
        "one feature; --split-categories counts each"
        for name, columns in [*variables.items()][:N_NAMED]
    ]
    if len(variables) > N_NAMED:
        more = counted(len(variables) - N_NAMED, "more variable")
        lines.append(f"  and so are those of {more}")
    if doubtful:
        names = listed([*doubtful], quoted=True)
        lines.append(
            f"  columns of 0 and 1 that may be categories of {names} count one by one, "
            "since another column has that name"
        )
    return lines


def _gaps(preparation: Preparation) -> list[str]:
    """The treatment of missing values, with their counts."""
    by_treatment: dict[str, list[str]] = {}
    for column in preparation.columns:
        if column.n_gaps:
            text = f"{column.name} ({column.n_gaps:,})"
            by_treatment.setdefault(_treatment(column), []).append(text)
    lines = [
        f"  missing values {treatment}: {listed(names, N_NAMED)}"
        for treatment, names in by_treatment.items()
    ]
    if lines:
        lines.append("  (--missing median or --missing refuse treats them otherwise)")
    return lines


def _treatment(column: PreparedColumn) -> str:
    """The treatment of the missing values of a column."""
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
    """The description for JSON."""
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
            column.name: list(column.levels)
            for column in preparation.columns
            if isinstance(column, CategoryColumn)
        },
        "coded": data.coded.columns,
        "formats": {
            column.name: asdict(column.format)
            for column in preparation.columns
            if isinstance(column, NumberColumn)
            and column.format not in (None, PLAIN, WHOLE)
        },
        "missing": data.gaps(),
        "missing_as": data.missing,
        "features": preparation.n_features if is_split else _n_variables(preparation),
        "encoded_columns": preparation.n_features,
    }
