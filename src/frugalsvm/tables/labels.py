"""Labels of samples from a table of their own, joined by the names of the samples."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from .columns import Column, Numbers, Table, Texts, check_usable
from .errors import TableError, listed, unknown_column
from .prepared_columns import as_texts
from .reading import read_table


def joined(
    table: Table, path: str | None, target: str, encoding: str | None = None
) -> Table:
    """A table with the target of a table of labels; the same if there is none.

    Samples are found by name: those of the table are in its first column, those of the
    labels in the column that has most of these names.
    """
    if path is None:
        return table
    labels = read_table(path, encoding=encoding)
    if target not in labels.columns:
        raise unknown_column(f"--target in {labels.source}", target, labels.names)
    if target in table.columns:
        raise TableError(
            f"both {table.source} and {labels.source} have a column {target!r}; leave "
            "out --labels, or rename one of them."
        )
    # Names are text, even if they look like numbers.
    others = [name for name in labels.names if name != target]
    labels = read_table(path, encoding=encoding, as_text=others)
    own = table.row_names or table.names[0]
    samples = _names(table.columns[own])
    place = _places(labels, others, samples, own, table.source)
    found = _taken(labels.columns[target], [place.get(one, -1) for one in samples])
    remarks = [*table.remarks, *_remarks(table, labels, samples, place)]
    columns = {**table.columns, target: found}
    return replace(table, columns=columns, remarks=remarks, row_names=own)


def _names(column: Column) -> list[str]:
    """The names in a column; empty where there is none."""
    if not isinstance(column, (Numbers, Texts)):
        return [""] * len(column)
    texts = as_texts(column)
    levels = [*texts.levels, ""]
    return [levels[k] for k in texts.codes.tolist()]


def _places(
    labels: Table, others: list[str], samples: list[str], own: str, source: str
) -> dict[str, int]:
    """The row of each name in the table of labels."""
    known, best, most = set(samples) - {""}, [""], 0
    for name in others:
        names = _names(labels.columns[name])
        n = len(known.intersection(names))
        if n > most:
            best, most = names, n
    if most == 0:
        first = _names(labels.columns[others[0]]) if others else []
        raise TableError(
            f"--labels: no column of {labels.source} has the names of the samples of "
            f"{source}, which are in column {own!r} ({listed(samples)}); the labels "
            f"have {listed(first)}."
        )
    twice = [name for name, n in Counter(best).items() if n > 1 and name in known]
    if twice:
        raise TableError(
            f"--labels: {labels.source} has {listed(twice)} more than once."
        )
    return {name: k for k, name in enumerate(best) if name}


def _taken(column: Column, rows: list[int]) -> Column:
    """Some rows of a column; -1 stands for a missing value."""
    check_usable({"": column}, "")
    places = np.array(rows, dtype=np.intp)
    if isinstance(column, Texts):
        return replace(column, codes=np.append(column.codes, -1)[places])
    if isinstance(column, Numbers):
        return Numbers(np.append(column.values, np.nan)[places], column.format)
    return column


def _remarks(
    table: Table, labels: Table, samples: list[str], place: dict[str, int]
) -> list[str]:
    bare = [name for name in samples if name not in place]
    known = set(samples)
    spare = [name for name in place if name not in known]
    n = len(samples) - len(bare)
    remarks = [f"labels of {n:,} of {len(samples):,} samples from {labels.source}"]
    if bare:
        remarks.append(f"samples without a label: {listed(bare)}")
    if spare:
        remarks.append(f"labels of no sample in {table.source}: {listed(spare)}")
    return remarks
