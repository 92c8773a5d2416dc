"""Parquet files, read column by column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from .columns import Column, Numbers, Table, UnusableColumn, in_order
from .errors import TableError, listed
from .source import MOST_UNPACKED, TableFile


def read_parquet(
    source: TableFile,
    as_text: Collection[str],
    only: Collection[str] | None,
    names_samples: bool,
) -> Table:
    """Read the columns in ``only``, or all; the others are marked as unusable.

    If the first column has the names of the samples, it is read as text.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise TableError(
            f"{source.name} is a Parquet file; install pyarrow to read it (pip install "
            "pyarrow), or save the table as CSV."
        ) from error
    try:
        return _read(source, parquet, as_text, only, names_samples)
    except TableError:
        raise
    except (ArrowException, OSError) as error:
        raise TableError(f"{source.name} cannot be read as Parquet: {error}") from error


def _read(
    source: TableFile,
    parquet: Any,
    as_text: Collection[str],
    only: Collection[str] | None,
    names_samples: bool,
) -> Table:
    file = parquet.ParquetFile(source.open())
    schema = file.schema_arrow
    twice = [name for name, n in Counter(schema.names).items() if n > 1]
    if twice:
        raise TableError(
            f"{source.name} has several columns with the same name: {listed(twice)}."
        )
    if not schema.names:
        raise TableError(f"{source.name} has no columns.")
    n_rows = file.metadata.num_rows
    if names_samples:
        as_text = {*as_text, schema.names[0]}
        only = None if only is None else {*only, schema.names[0]}
    reasons = {one.name: _why_not(one, only) for one in schema}
    used = [name for name, reason in reasons.items() if not reason]
    _check_size(source, file.metadata, used)
    # Each distinct string is then in memory only once.
    texts = [one.name for one in schema if _is_string(one.type)]
    file = parquet.ParquetFile(source.open(), read_dictionary=texts)
    columns: dict[str, Column] = {}
    for name, reason in reasons.items():
        if reason:
            columns[name] = UnusableColumn(n_rows, reason)
            continue
        # One at a time, to save memory.
        columns[name] = _column(file.read([name]).column(name), name in as_text)
        if len(columns[name]) != n_rows:
            raise TableError(f"{source.name} is damaged: its columns differ in length.")
    return Table(columns, n_rows, source.name, [])


def _why_not(field: Any, only: Collection[str] | None) -> str:
    """Why a column is not read; empty if it is."""
    import pyarrow.types as kinds

    if only is not None and field.name not in only:
        return "not needed"
    if kinds.is_nested(field.type):
        return f"its cells are no single values ({str(field.type)[:40]})"
    return ""


def _check_size(source: TableFile, metadata: Any, used: Collection[str]) -> None:
    """Raise an error if columns need far more memory than the file's length."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    n_rows = max(metadata.num_rows, sum(max(0, one.num_rows) for one in groups))
    size = 8 * n_rows * len(used)
    wanted = set(used)
    # A column of single values has its own name as its path.
    paths = [metadata.schema.column(j).path for j in range(metadata.num_columns)]
    places = [j for j, path in enumerate(paths) if path in wanted]
    for group in groups:
        for j in places:
            size += max(0, group.column(j).total_uncompressed_size)
    if size > source.most_unpacked:
        raise TableError(
            f"{source.name} unpacks to more than {MOST_UNPACKED} times its size "
            f"({n_rows:,} rows of {len(used):,} columns); if this is intended, keep "
            "only the columns that are needed, or save the table as CSV."
        )


def _is_string(kind: Any) -> bool:
    import pyarrow.types as kinds

    return kinds.is_string(kind) or kinds.is_large_string(kind)


def _column(array: Any, as_text: bool) -> Column:
    """A column of pyarrow."""
    import pyarrow.types as kinds
    from pandas import factorize

    kind = array.type
    is_number = kinds.is_integer(kind) or kinds.is_floating(kind)
    if (is_number or kinds.is_decimal(kind)) and not as_text:
        return Numbers(
            array.cast("float64", safe=False).to_pandas().to_numpy(dtype=np.float64)
        )
    if kinds.is_dictionary(kind):
        cells = array.unify_dictionaries().to_pandas().array
        codes, places = factorize(np.asarray(cells.codes))
        named = [None if k < 0 else cells.categories[k] for k in places]
    else:
        # So that whole numbers in columns with gaps become 1, not 1.0.
        codes, named = factorize(array.to_pandas(integer_object_nulls=True))
    levels = [None if one is None else _named(one) for one in named]
    return in_order(codes.astype(np.int32), levels, bool(kinds.is_temporal(kind)))


def _named(value: Any) -> str:
    """A value as the name of a category: a number as exports name it, 1.0 as 1."""
    is_real = isinstance(value, (float, np.floating))
    return f"{float(value):.15g}" if is_real else str(value)
