"""Classify the columns of a table: numbers, categories, or nothing to learn from.

Every column that is dropped gets a reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..export import why_unclear
from .columns import (
    Column,
    Numbers,
    Table,
    TableError,
    Texts,
    UnusableColumn,
    WrongRequest,
    check_clear,
    check_usable,
    unknown_column,
)
from .formats import are_all_numbers
from .identifiers import (
    DIFFERENT,
    are_subjects,
    are_survey_weights,
    has_groups,
    is_id_name,
    is_weight_name,
    numbers_rows,
)
from .text_table import shortened

# --- Columns of numbers that a few other cells turn into text -------------------------

# Minimum fraction of the cells that are numbers in such a column.
LEAST_SHARE = 0.9
# Up to this number of distinct numbers may be codes of categories.
MOST_CODES = 20
# Maximum number of columns, and of cells in each, that an error describes.
N_COLUMNS, N_CELLS = 5, 3
# Signs that turn numbers into text.
SIGNS = "%$€£¥"
# Beginnings of numbers, and codes like 007.
_NUMBER_START = re.compile(r"[-+]?[.,]?[0-9]")
_CODE = re.compile(r"0[0-9]+")


def check_strays(columns: Mapping[str, Texts], source: str) -> None:
    """Raise an error that names columns of numbers with a few other cells.

    Parameters
    ----------
    columns : mapping from names to Texts
    source : str
        Name of their file.
    """
    strays = {
        name: levels
        for name, column in columns.items()
        if (levels := _strays(column)) is not None
    }
    if not strays:
        return
    descriptions = [
        _description(name, columns[name], levels) for name, levels in strays.items()
    ]
    more = len(descriptions) - N_COLUMNS
    raise TableError(
        f"{source} has columns of numbers that a few other cells turn into text: "
        + "; ".join(descriptions[:N_COLUMNS])
        + (f"; and {more:,} more column{'s' * (more > 1)}" if more > 0 else "")
        + f". Correct these cells{_correction(columns, strays)}, or empty them if the "
        "values are missing; --exclude NAME drops a column, --categorical NAME takes "
        "it as categories."
    )


def _correction(columns: Mapping[str, Texts], strays: Mapping[str, np.ndarray]) -> str:
    """A hint how to correct such cells, if they allow one."""
    cells = [columns[name].levels[k] for name, levels in strays.items() for k in levels]
    if any(cell.endswith("%") for cell in cells):
        return " (remove the % signs)"
    last = max(int(_rows(columns[name], levels)[-1]) for name, levels in strays.items())
    # Up to two lines below the header line may describe the columns.
    if last < 2:
        return " (delete the lines below the header line that describe the columns)"
    return ""


def sign_of_numbers(column: Texts) -> str:
    """The sign that numbers have in most cells of a text column; empty if none."""
    for sign in SIGNS:
        texts = [level.removeprefix(sign).removesuffix(sign) for level in column.levels]
        if texts != list(column.levels) and _is_most(
            column, _are_numbers([text.strip() for text in texts])
        ):
            return sign
    return ""


def _strays(column: Texts) -> np.ndarray | None:
    """The few levels that are no numbers in a column of numbers; else None."""
    if len(column.levels) <= MOST_CODES:
        return None
    numbers = _are_numbers(column.levels)
    if numbers.all() or not _is_most(column, numbers):
        return None
    if any(_CODE.fullmatch(column.levels[k]) for k in np.flatnonzero(numbers)):
        return None
    return np.flatnonzero(~numbers)


def _is_most(column: Texts, numbers: np.ndarray) -> bool:
    """Whether numbers are most of the cells, and too many to be codes."""
    if numbers.sum() <= MOST_CODES:
        return False
    codes = column.codes[column.codes >= 0]
    return bool(numbers[codes].sum() >= LEAST_SHARE * codes.size)


def _are_numbers(texts: list[str]) -> np.ndarray:
    return np.array(
        [bool(_NUMBER_START.match(text)) and are_all_numbers([text]) for text in texts],
        dtype=bool,
    )


def _description(name: str, column: Texts, strays: np.ndarray) -> str:
    rows = _rows(column, strays)
    n_known = int((column.codes >= 0).sum())
    cells = [
        f"{shortened(column.levels[column.codes[k]])!r} in row {k + 1:,}"
        for k in rows[:N_CELLS].tolist()
    ]
    shown = ", ".join(cells) + ", ..." * (rows.size > N_CELLS)
    return (
        f"{name!r} has {n_known - rows.size:,} numbers and {rows.size:,} other "
        f"cell{'s' * (rows.size > 1)} ({shown})"
    )


def _rows(column: Texts, levels: np.ndarray) -> np.ndarray:
    """The rows that have some of the levels."""
    return np.flatnonzero(np.isin(column.codes, levels))


# --- Kinds of columns -----------------------------------------------------------------

NUMBER, CATEGORY = "number", "category"
# Maximum number of values of a text column that is taken as categorical in any case, of
# one with short texts and few rare values, and of one that the user calls categorical.
# Each value is a feature.
MAX_LEVELS, MANY_LEVELS, MOST_LEVELS = 20, 60, 1000
# A category in fewer rows is rare; two or more are merged into one.
MIN_LEVEL = 5
# Maximum fraction of the rows in rare values of a column with many values.
MOST_RARE = 0.1
# Reasons to drop a column.
IDENTIFIERS, ROW_NAMES = "identifiers", "names of the rows"
# Maximum number of cells in all features of text columns.
MOST_CELLS = 10**8
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
    r"|\d{1,2}[ -]?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ -]?\d{2,4})"
    r"([T ]\d{1,2}:\d{2}.*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Plan:
    """The kinds of the columns in use, and the reasons to drop the others.

    Attributes
    ----------
    kinds : dict
        ``"number"`` or ``"category"`` by column, in the order of the table.
    dropped : tuple of (column, reason)
    target : str
    repeated : tuple of str
        Columns, in use or not, whose values are persons or samples with several rows,
        judged by their names.
    weights : tuple of str
        Columns in use that look like weights of rows in a survey.
    """

    kinds: dict[str, str]
    dropped: tuple[tuple[str, str], ...]
    target: str
    repeated: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()

    @property
    def categories(self) -> list[str]:
        """The categorical columns."""
        return [name for name, kind in self.kinds.items() if kind == CATEGORY]


def make_plan(
    table: Table,
    target: str,
    *,
    exclude: Collection[str] = (),
    keep: Collection[str] = (),
    categorical: Collection[str] = (),
    min_level: int = MIN_LEVEL,
) -> Plan:
    """Decide which columns of a table to use, and how.

    Parameters
    ----------
    table : Table
    target : str
        The column to predict.
    exclude : collection of str, default=()
        Columns to drop.
    keep : collection of str, default=()
        Columns to use even if they look like identifiers or dates.
    categorical : collection of str, default=()
        Columns to use as categories, even if they look numeric.
    min_level : int, default=5
        Categories in fewer rows will be merged into one.

    Returns
    -------
    Plan
    """
    options = {"exclude": exclude, "keep": keep, "categorical": categorical}
    for option, names in options.items():
        for name in names:
            if name not in table.columns:
                raise unknown_column(f"--{option}", name, table.names)
            if option == "exclude" and name == target:
                raise WrongRequest(f"--exclude: {name!r} is the target.")
    requested = (*keep, *categorical)
    check_usable({name: table.columns[name] for name in requested}, table.source)
    columns = table.columns.items()
    usable = {
        name: column
        for name, column in columns
        if name not in (target, *exclude) and not isinstance(column, UnusableColumn)
    }
    check_clear(
        usable,
        table.source,
        ". Alternatively, use --categorical to read them as text, or --exclude to "
        "drop them",
    )
    texts = {
        name: column
        for name, column in usable.items()
        if isinstance(column, Texts) and name not in (table.row_names, *requested)
    }
    check_strays(
        {name: column for name, column in texts.items() if not is_id_name(name)},
        table.source,
    )
    most = many_levels(table.n_rows, len(texts))
    kinds: dict[str, str] = {}
    dropped = []
    for name, column in columns:
        if name == target:
            continue
        if name in exclude:
            # It is not inspected at all, so that bad columns can be excluded.
            dropped.append((name, "excluded by --exclude"))
            continue
        if name == table.row_names:
            dropped.append((name, ROW_NAMES))
            continue
        rule = _LevelRule(name in requested, most, min_level)
        kind, reason = _judge(name, column, name in keep, rule)
        if reason:
            dropped.append((name, reason))
        else:
            kinds[name] = kind
    if not kinds:
        why = "; ".join(f"{name}: {reason}" for name, reason in dropped[:5])
        raise TableError(
            f"{table.source} has no usable column apart from the target"
            + (f" ({why})." if why else ".")
        )
    reasons = dict(dropped)
    repeated = [
        name
        for name, column in columns
        if name != target and _is_repeated(name, column, reasons.get(name, ""))
    ]
    weights = [
        name
        for name in kinds
        if is_weight_name(name)
        and isinstance(column := table.columns[name], Numbers)
        and are_survey_weights(name, column.values)
    ]
    return Plan(kinds, tuple(dropped), target, tuple(repeated), tuple(weights))


def _is_repeated(name: str, column: Column, reason: str) -> bool:
    """Whether the values of a column are persons or samples with several rows."""
    if not isinstance(column, (Numbers, Texts)):
        return False
    observed = ~column.missing
    if isinstance(column, Texts):
        n_different = len(column.levels)
    else:
        values = column.values[observed]
        if not np.isfinite(values).all() or (values != np.round(values)).any():
            return False
        n_different = np.unique(values).size
    n_known = int(observed.sum())
    if has_groups(name, n_different, n_known):
        return True
    is_id = reason.startswith(IDENTIFIERS) and is_id_name(name)
    return n_different < n_known and (is_id or reason == ROW_NAMES)


def check_missing(table: Table, plan: Plan) -> None:
    """Raise an error that names the columns with missing values, if any."""
    gaps = missing_values(table, plan)
    if not gaps:
        return
    names = [f"{name} ({n:,})" for name, n in gaps.items()]
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8:,} more" * (len(names) > 8))
    raise TableError(
        f"missing values in {len(gaps):,} column{'s' * (len(gaps) > 1)} of "
        f"{table.source}: {shown}. Without --missing refuse they are filled in; or "
        "drop the columns (--exclude NAME), or remove the rows."
    )


def missing_values(table: Table, plan: Plan) -> dict[str, int]:
    """Number of missing values in each column in use, by name."""
    counts = {name: int(table.columns[name].missing.sum()) for name in plan.kinds}
    return {name: n for name, n in counts.items() if n}


class _LevelRule(NamedTuple):
    """A text column is categorical if the user says so, or if it has few values."""

    is_requested: bool
    most: int
    min_level: int


def _judge(name: str, column: Column, keep: bool, rule: _LevelRule) -> tuple[str, str]:
    """The kind of a column, and the reason to drop it, or an empty string."""
    if isinstance(column, UnusableColumn):
        return NUMBER, column.reason
    if column.missing.all():
        return NUMBER, "empty"
    if isinstance(column, Numbers):
        return NUMBER, _why_drop_numbers(name, column.values, keep)
    assert isinstance(column, Texts)
    return CATEGORY, _why_drop_texts(name, column, rule)


def _why_drop_numbers(name: str, values: np.ndarray, keep: bool) -> str:
    observed = values[~np.isnan(values)]
    infinite = int(np.isinf(observed).sum())
    if infinite:
        raise TableError(
            f"column {name!r} has {infinite:,} infinite "
            f"value{'s' * (infinite > 1)}; remove these rows, or drop the column "
            f"(--exclude {name!r})."
        )
    low, high = observed.min(), observed.max()
    if low == high and observed.size < values.size:
        return f"constant ({low:g}) but for gaps; --categorical uses these"
    if low == high:
        return f"constant ({low:g})"
    # Larger values, and smaller spreads, overflow or underflow when squared.
    if max(abs(low), abs(high)) > 1e50:
        raise TableError(
            f"column {name!r} has values up to {max(abs(low), abs(high)):g}, too large "
            f"to compute with; change its unit, or use --exclude {name!r}."
        )
    if high - low < 1e-50:
        return f"varies by only {high - low:g}, too little to compute with"
    # A smaller spread is lost to rounding when it is standardised.
    if high - low < 1e-6 * max(abs(low), abs(high)):
        return f"hardly varies ({low:.9g} to {high:.9g}); subtract {low:g} first"
    if keep or (observed != np.round(observed)).any():
        return ""
    if _are_days(observed):
        return f"dates like {int(observed[0])}; convert them to days or years"
    if numbers_rows(name, observed):
        n_different = np.unique(observed).size
        counts = f"{n_different:,} different numbers in {observed.size:,} rows"
        return f"{IDENTIFIERS} ({counts}); --keep uses them anyway"
    return ""


def _are_days(values: np.ndarray) -> bool:
    """Whether integers are dates like 20240131."""
    if values.min() < 18000101 or values.max() > 22001231:
        return False
    days = values.astype(np.int64)
    month, day = days // 100 % 100, days % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _why_drop_texts(name: str, column: Texts, rule: _LevelRule) -> str:
    levels = column.levels
    if len(levels) == 1 and not column.missing.any():
        return f"constant ({levels[0]!r})"
    if rule.is_requested:
        most = most_levels(len(column))
        if len(levels) > most:
            raise TableError(
                f"column {name!r} has {len(levels):,} different values, each of which "
                f"would be a feature; at most {most:,} are allowed here. Merge the "
                f"rare ones into one, or drop the column (--exclude {name!r})."
            )
        unclear = why_unclear(levels)
        if unclear:
            raise TableError(
                f"column {name!r} cannot be categorical: {unclear}, or drop the column "
                f"(--exclude {name!r})."
            )
        return ""
    sample = levels[:1000]
    n_dates = sum(_DATE.fullmatch(level) is not None for level in sample)
    if column.are_dates or n_dates >= 0.9 * len(sample):
        return f"dates like {levels[0]!r}; convert them to days or years"
    sign = sign_of_numbers(column)
    if sign:
        return f"numbers with a {sign} sign; remove the {sign} signs to use them"
    return _why_no_categories(name, column, rule) or why_unclear(levels)


def _why_no_categories(name: str, column: Texts, rule: _LevelRule) -> str:
    """Why texts are too many, too long or too rare to be categories, if they are."""
    levels = column.levels
    rows = np.bincount(column.codes[column.codes >= 0], minlength=len(levels))
    n_known = int(rows.sum())
    if len(levels) <= min(MAX_LEVELS, max(2, n_known / 2)):
        return ""
    counts = f"{len(levels):,} different values in {n_known:,} rows"
    is_id = len(levels) > DIFFERENT * n_known and is_id_name(name)
    if is_id or are_subjects(name, len(levels)):
        return f"{IDENTIFIERS} ({counts}); --keep uses them anyway"
    if len(levels) > 0.9 * n_known and not any(" " in level for level in levels[:100]):
        return f"{IDENTIFIERS} ({counts})"
    use = "use --categorical to treat it as categories"
    if sum(map(len, levels)) > 30 * len(levels):
        return f"free text ({counts}); {use}"
    rare = rows < rule.min_level
    # A single rare value is not merged.
    n_merged = int((~rare).sum()) + 1 if rare.sum() > 1 else len(levels)
    # A user who merges more frequent values does not want to lose the column for it.
    in_rare = float(rows[rows < min(rule.min_level, MIN_LEVEL)].sum()) / n_known
    if n_merged <= rule.most and in_rare <= MOST_RARE:
        return ""
    share = f", {100 * in_rare:.0f} % of the rows in rare ones" * (in_rare > MOST_RARE)
    return f"too many categories ({counts}{share}); {use}"


def many_levels(n_rows: int, n_columns: int) -> int:
    """Maximum number of categories by default, in tables with so many text columns."""
    n_columns = max(1, n_columns)
    by_cells = MOST_CELLS // max(1, n_rows * n_columns)
    # All text columns together have at most 5000 features.
    return max(MAX_LEVELS, min(MANY_LEVELS, 5000 // n_columns, by_cells))


def most_levels(n_rows: int) -> int:
    """Maximum number of categories in a column with ``n_rows`` rows."""
    return max(MAX_LEVELS, min(MOST_LEVELS, MOST_CELLS // max(1, n_rows)))


def check_requested(plan: Plan, option: str, names: Collection[str]) -> None:
    """Raise an error if a requested column is dropped or does not exist."""
    reasons = dict(plan.dropped)
    for name in names:
        if name == plan.target:
            raise WrongRequest(f"{option}: {name!r} is the target.")
        if name in reasons:
            raise WrongRequest(
                f"{option} {name!r}: this column is dropped: {reasons[name]}."
            )
        if name not in plan.kinds:
            raise unknown_column(option, name, [*plan.kinds, *reasons])
