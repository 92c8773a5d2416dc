"""Target: the column that is to be predicted, with two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .columns import Column, Numbers, Table, Texts, check_clear
from .errors import TableError, listed

Label = str | int | float
# Doubles hold each whole number up to this one.
LARGEST_WHOLE = 2**53 - 1


@dataclass(frozen=True, eq=False)
class Target:
    """The two classes of the rows.

    Attributes
    ----------
    name : str
    classes : tuple of two labels
        Positive scores mean the second one. Numbers stay numbers.
    positive : ndarray of bool
        Whether a row is of the second class.
    """

    name: str
    classes: tuple[Label, Label]
    positive: np.ndarray

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
        The class that positive scores mean. None takes the larger number, or the later
        one in the alphabet.

    Returns
    -------
    Target

    Raises
    ------
    TableError
        Unless there are exactly two classes and every row has one.
    """
    column = table.column(name, "--target")
    check_clear({name: column}, table.source)
    n_missing = int(column.missing.sum())
    labels, codes = _labels(column)
    if n_missing and n_missing < len(column):
        raise TableError(
            f"{n_missing:,} rows of {table.source} have no {name!r}, the target; "
            "remove them first (they can be given to predict later)."
        )
    if any(isinstance(one, float) and np.isinf(one) for one in labels):
        raise TableError(
            f"the target {name!r} has infinite values; a class has a name or a number."
        )
    if len(labels) != 2:
        raise TableError(_wrong_number(name, labels, len(column)))
    which = 1 if positive is None else _place(name, labels, positive)
    first, second = labels[1 - which], labels[which]
    return Target(name, (first, second), codes == which)


def known_target(
    table: Table, name: str, classes: tuple[Label, Label], what: str = "target"
) -> Target:
    """The target of a table whose classes are known already."""
    column = table.column(name, what)
    check_clear({name: column}, table.source)
    labels, codes = _labels(column)
    strange = [str(one) for one in labels if one not in classes]
    if strange or column.missing.any():
        problem = f"has {listed(strange)}" if strange else "has missing values"
        raise TableError(
            f"column {name!r} of {table.source} {problem}; the model knows "
            f"{listed([str(one) for one in classes])}."
        )
    is_positive = np.array([one == classes[1] for one in labels], dtype=bool)
    return Target(name, classes, is_positive[codes])


def _labels(column: Column) -> tuple[list[Label], np.ndarray]:
    """The labels in order, and for each row the place of its label."""
    if isinstance(column, Texts):
        return list(column.levels), column.codes
    assert isinstance(column, Numbers)
    known, codes = np.unique(column.values, return_inverse=True)
    known = known[~np.isnan(known)]
    if np.isinf(known).any():
        return [float(v) for v in known.tolist()], codes
    whole = bool((known == np.round(known)).all())
    if whole and (np.abs(known) > LARGEST_WHOLE).any():
        raise TableError(
            f"the target has whole numbers beyond {LARGEST_WHOLE:,}, which cannot be "
            "told apart for certain; give the classes names, or smaller numbers."
        )
    return [int(v) if whole else float(v) for v in known.tolist()], codes


def _place(name: str, labels: list[Label], positive: str) -> int:
    for k, label in enumerate(labels):
        if positive.strip() == str(label) or _is_number(positive, label):
            return k
    words = " and ".join(repr(str(one)) for one in labels)
    raise PositiveError(
        f"--positive: {name!r} has no class {positive!r}; its classes are {words}."
    )


class PositiveError(TableError):
    """The class that was asked for is not there."""


def _is_number(text: str, label: Label) -> bool:
    if isinstance(label, str):
        return False
    try:
        return float(text) == label
    except ValueError:
        return False


def _wrong_number(name: str, labels: list[Label], n_rows: int) -> str:
    shown = listed([str(one) for one in labels])
    if not labels:
        return f"the target {name!r} is empty."
    if len(labels) == 1:
        return (
            f"the target {name!r} has one class only ({shown}) in {n_rows:,} "
            f"row{'s' * (n_rows > 1)}; a classifier needs rows of two classes."
        )
    if len(labels) > 20:
        return (
            f"the target {name!r} has {len(labels):,} different values, not two "
            "classes; make a column that says yes or no."
        )
    return (
        f"the target {name!r} has {len(labels)} classes ({shown}); a model separates "
        "two: make a column with one class against the others, or keep two of them."
    )
