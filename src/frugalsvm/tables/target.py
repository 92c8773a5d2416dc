"""Target: the column to predict, with two classes."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ..export import STRIPPED
from .columns import (
    Column,
    Numbers,
    Table,
    TableError,
    Texts,
    UnknownColumn,
    WrongRequest,
    check_clear,
    check_usable,
    listed,
    transpose_hint,
    unknown_column,
)
from .prepared_columns import as_texts
from .reading import read_table

Label = str | int | float
# Doubles represent all whole numbers up to this one exactly.
LARGEST_WHOLE = 2**53 - 1
# A target with more values is not taken for one of classes.
MOST_CLASSES = 20
# Words for no in languages where they may follow those for yes in the alphabet.
NO = {"no", "nein", "nee", "nej", "nei", "nem", "hayir", "hay\u0131r", "нет"}


@dataclass(frozen=True, eq=False)
class Target:
    """The two classes of the rows.

    Attributes
    ----------
    name : str
    classes : tuple of two labels
        A positive score means the second class. Numbers stay numbers.
    positive : ndarray of bool
        Whether a row is of the second class.
    is_given : bool
        Whether the user said which class is the second.
    """

    name: str
    classes: tuple[Label, Label]
    positive: np.ndarray
    is_given: bool = False

    @property
    def signs(self) -> np.ndarray:
        """+1 for the second class, -1 for the first."""
        return np.where(self.positive, 1.0, -1.0)

    @property
    def counts(self) -> tuple[int, int]:
        """Rows of the first and of the second class."""
        n = int(self.positive.sum())
        return self.positive.size - n, n


def find_target(table: Table, name: str, positive: str | None = None) -> Target:
    """The target of a table.

    Parameters
    ----------
    table : Table
    name : str
    positive : str, default=None
        The class that a positive score means; several other classes become one, called
        ``not`` this one. None takes the larger number, or the last class in
        alphabetical order, unless it is a word for no and the other is not.

    Returns
    -------
    Target

    Raises
    ------
    TableError
        Unless there are two classes, or more and ``positive``, and each row has a
        class.
    """
    if name not in table.columns:
        error = unknown_column("--target", name, table.names)
        hints = [transpose_hint(table, [name])]
        for remark in table.remarks:
            if remark.startswith("sheet"):
                hints.append(f" This is {remark}.")
        raise UnknownColumn(f"{error}{''.join(hints)}")
    column = table.columns[name]
    check_clear({name: column}, table.source)
    n_missing = int(column.missing.sum())
    labels, codes = _labels(column)
    if n_missing and n_missing < len(column):
        raise TableError(
            f"the target {name!r} is missing in {n_missing:,} "
            f"row{'s' * (n_missing > 1)} of {table.source}; --unlabelled drop leaves "
            "such rows out (you can pass them to predict later)."
        )
    if any(isinstance(label, float) and np.isinf(label) for label in labels):
        raise TableError(
            f"the target {name!r} has infinite values; classes must be names or finite "
            "numbers."
        )
    if len(labels) > 2 and positive is not None:
        return _one_against_rest(name, labels, codes, _index(name, labels, positive))
    if len(labels) != 2:
        raise TableError(_wrong_number(name, labels, len(column)))
    if positive is None:
        second = _default_second(labels)
    else:
        second = _index(name, labels, positive)
    classes = labels[1 - second], labels[second]
    return Target(name, classes, codes == second, positive is not None)


def _one_against_rest(
    name: str, labels: list[Label], codes: np.ndarray, index: int
) -> Target:
    """One class of several against all others, which become one class.

    Both are text, since labels are of one type.
    """
    second = str(labels[index])
    others = f"not {second}"
    if others in labels:
        raise TableError(
            f"the target {name!r} has a class {others!r}, which is what all classes "
            f"but {second!r} would be called; rename it."
        )
    return Target(name, (others, second), codes == index, True)


def labelled(table: Table, name: str) -> Table:
    """The rows of a table that have a target, with a remark if some have not."""
    column = table.columns.get(name)
    if column is None or not column.missing.any() or column.missing.all():
        return table
    n = int(column.missing.sum())
    remark = f"{n:,} row{'s' * (n > 1)} without a target left out"
    return replace(table.some_rows(~column.missing), remarks=[*table.remarks, remark])


def known_target(
    table: Table, name: str, classes: tuple[Label, Label], what: str = "target"
) -> Target:
    """The target of a table whose classes are already known.

    A first class called ``not x`` that no row has stands for all rows that are not x.
    """
    column = table.column(name, what)
    check_clear({name: column}, table.source)
    labels, codes = _labels(column)
    first, second = classes
    if first == f"not {second}" and first not in labels and not column.missing.any():
        is_second = np.array([_matches(str(second), label) for label in labels], bool)
        return Target(name, classes, is_second[codes])
    strange = [str(label) for label in labels if label not in classes]
    if strange or column.missing.any():
        problem = f"has {listed(strange)}" if strange else "has missing values"
        raise TableError(
            f"column {name!r} of {table.source} {problem}; expected the classes "
            f"{listed([str(label) for label in classes])}."
        )
    is_second = np.array([label == second for label in labels], dtype=bool)
    return Target(name, classes, is_second[codes])


def _labels(column: Column) -> tuple[list[Label], np.ndarray]:
    """The sorted labels, and for each row the position of its label."""
    if isinstance(column, Texts):
        return list(column.levels), column.codes
    assert isinstance(column, Numbers)
    values, codes = np.unique(column.values, return_inverse=True)
    values = values[~np.isnan(values)]
    if np.isinf(values).any():
        return [float(v) for v in values.tolist()], codes
    whole = bool((values == np.round(values)).all())
    if whole and (np.abs(values) > LARGEST_WHOLE).any():
        raise TableError(
            f"the target has whole numbers beyond {LARGEST_WHOLE:,}, which may not be "
            "distinct as doubles; use names or smaller numbers for the classes."
        )
    return [int(v) if whole else float(v) for v in values.tolist()], codes


def _default_second(labels: list[Label]) -> int:
    """The index of the positive one of two classes if the user names none."""
    first, second = (str(label).lower() for label in labels)
    says_no = second in NO or (first, second) == ("j", "n")
    return 0 if says_no and first not in NO else 1


def _index(name: str, labels: list[Label], positive: str) -> int:
    """The index of the class that the user calls positive."""
    for k, label in enumerate(labels):
        if _matches(positive.strip(STRIPPED), label):
            return k
    problem = f"--positive: {name!r} has no class {positive!r}"
    if len(labels) > MOST_CLASSES:
        raise PositiveError(f"{problem}; it has {_too_many(labels)}.")
    names = listed([str(label) for label in labels])
    raise PositiveError(f"{problem}; its classes are {names}.")


def _too_many(labels: list[Label]) -> str:
    return (
        f"{len(labels):,} different values, not two classes; convert it to a yes/no "
        "column"
    )


class PositiveError(WrongRequest):
    """The requested positive class does not exist."""


def _matches(text: str, label: Label) -> bool:
    if isinstance(label, str):
        return text == label
    try:
        return float(text) == label
    except ValueError:
        return False


def _wrong_number(name: str, labels: list[Label], n_rows: int) -> str:
    shown = listed([str(label) for label in labels])
    if not labels:
        return f"the target {name!r} is empty."
    if len(labels) == 1:
        return (
            f"the target {name!r} has only one class ({shown}) in {n_rows:,} "
            f"row{'s' * (n_rows > 1)}; a classifier needs rows of both classes."
        )
    if len(labels) > MOST_CLASSES:
        return f"the target {name!r} has {_too_many(labels)}."
    return (
        f"the target {name!r} has {len(labels)} classes ({shown}), but must have "
        f"two: --positive {shlex.quote(str(labels[-1]))} fits that class against all "
        "others, and so on for each; in Python, FrugalSVC fits all classes on the same "
        "features."
    )


# --- Labels of samples from another table, joined by the names of the samples ---------


def join_labels(
    table: Table, path: str | None, target: str, encoding: str | None = None
) -> Table:
    """A table with the target from a table of labels; the same table without a path.

    Samples are matched by name: the table has their names in its first column, the
    table of labels in the column that has most of them.
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
    key = table.row_names or table.names[0]
    samples = _names(table.columns[key])
    row_of = _rows_by_name(labels, others, samples, key, table.source)
    rows = np.array([row_of.get(name, -1) for name in samples], dtype=np.intp)
    return replace(
        table,
        columns={**table.columns, target: _take_rows(labels.columns[target], rows)},
        remarks=[*table.remarks, *_remarks(table, labels, samples, row_of)],
        row_names=key,
    )


def _names(column: Column) -> list[str]:
    """The names in a column; empty where one is missing."""
    if not isinstance(column, (Numbers, Texts)):
        return [""] * len(column)
    texts = as_texts(column)
    levels = [*texts.levels, ""]
    return [levels[k] for k in texts.codes.tolist()]


def _rows_by_name(
    labels: Table, others: list[str], samples: list[str], key: str, source: str
) -> dict[str, int]:
    """The row of each name in the table of labels."""
    distinct, best, most = set(samples) - {""}, [""], 0
    for name in others:
        names = _names(labels.columns[name])
        n = len(distinct.intersection(names))
        if n > most:
            best, most = names, n
    if most == 0:
        first = _names(labels.columns[others[0]]) if others else []
        raise TableError(
            f"--labels: no column of {labels.source} has the names of the samples of "
            f"{source}, which are in column {key!r} ({listed(samples)}); the labels "
            f"have {listed(first)}."
        )
    repeated = [name for name, n in Counter(best).items() if n > 1 and name in distinct]
    if repeated:
        raise TableError(
            f"--labels: {labels.source} has {listed(repeated)} more than once."
        )
    return {name: k for k, name in enumerate(best) if name}


def _take_rows(column: Column, rows: np.ndarray) -> Column:
    """Some rows of a column; -1 stands for a missing value."""
    check_usable({"": column}, "")
    if isinstance(column, Texts):
        return replace(column, codes=np.append(column.codes, -1)[rows])
    if isinstance(column, Numbers):
        return Numbers(np.append(column.values, np.nan)[rows], column.format)
    return column


def _remarks(
    table: Table, labels: Table, samples: list[str], row_of: dict[str, int]
) -> list[str]:
    unlabelled = [name for name in samples if name not in row_of]
    distinct = set(samples)
    unmatched = [name for name in row_of if name not in distinct]
    n = len(samples) - len(unlabelled)
    remarks = [f"labels of {n:,} of {len(samples):,} samples from {labels.source}"]
    if unlabelled:
        remarks.append(f"samples without a label: {listed(unlabelled)}")
    if unmatched:
        remarks.append(f"labels of no sample in {table.source}: {listed(unmatched)}")
    return remarks
