"""Classify the columns of a table: numbers, categories, or nothing to learn from.

Every column that is dropped gets a reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..export.lookups import why_unclear
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
    are_survey_weights,
    has_groups,
    is_id_name,
    is_weight_name,
    numbers_rows,
    says_subjects,
)
from .text_table import shortened

# --- Columns of numbers in which a few other cells are left, which would pass for text

# Fraction of the cells that are numbers in such a column.
LEAST_SHARE = 0.9
# Up to this number of distinct numbers may be codes of categories.
MOST_CODES = 20
# Maximum number of columns, and of cells in each, that an error describes.
N_COLUMNS, N_CELLS = 5, 3
# What makes texts of numbers.
SIGNS = "%$€£¥"
# Lines that may follow the header line to describe the columns.
N_HEADERS = 2
# Strings that may be numbers, and codes like 007.
_MAY_BE = re.compile(r"[-+]?[.,]?[0-9]")
_CODE = re.compile(r"0[0-9]+")


def check_strays(columns: Mapping[str, Texts], source: str) -> None:
    """Raise an error that names columns of numbers with a few other cells.

    Parameters
    ----------
    columns : mapping from names to Texts
    source : str
        Name of their file.
    """
    found = {name: _strays(one) for name, one in columns.items()}
    strays = {name: levels for name, levels in found.items() if levels is not None}
    if not strays:
        return
    words = [_words(name, columns[name], levels) for name, levels in strays.items()]
    more = len(words) - N_COLUMNS
    raise TableError(
        f"{source} has columns of numbers that a few other cells turn into text: "
        + "; ".join(words[:N_COLUMNS])
        + (f"; and {more:,} more column{'s' * (more > 1)}" if more > 0 else "")
        + f". Correct these cells{_how({k: columns[k] for k in strays}, strays)}, or "
        "empty them if the values are missing; --exclude NAME drops a column, "
        "--categorical NAME takes it as categories."
    )


def _how(columns: Mapping[str, Texts], strays: Mapping[str, np.ndarray]) -> str:
    """What to do about such cells, if they tell."""
    cells = [columns[name].levels[k] for name, levels in strays.items() for k in levels]
    if any(one.endswith("%") for one in cells):
        return " (remove the % signs)"
    last = max(int(_rows(columns[name], levels)[-1]) for name, levels in strays.items())
    if last < N_HEADERS:
        return " (delete the lines below the header line that describe the columns)"
    return ""


def sign_of_numbers(column: Texts) -> str:
    """The sign that numbers have in most cells of a text column; empty if none."""
    for sign in SIGNS:
        texts = [one.removeprefix(sign).removesuffix(sign) for one in column.levels]
        if texts != list(column.levels):
            texts = [one.strip() for one in texts]
            if _is_most(column, _are_numbers(texts)):
                return sign
    return ""


def _strays(column: Texts) -> np.ndarray | None:
    """The levels that are no numbers, in a column of numbers; None if it is none."""
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
        [_MAY_BE.match(one) is not None and are_all_numbers([one]) for one in texts],
        dtype=bool,
    )


def _words(name: str, column: Texts, strays: np.ndarray) -> str:
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


# --- Classify the columns of a table: numbers, categories, or nothing to learn from ---

NUMBER, CATEGORY = "number", "category"
# Maximum number of values of a text column that is taken as categorical in any case, of
# one with short texts and few rare values, and of one that the user calls categorical.
# Each value is a feature.
MAX_LEVELS, MANY_LEVELS, MOST_LEVELS = 20, 60, 1000
# A category in fewer rows is rare; two or more are merged into one.
MIN_LEVEL = 5
# Fraction of the rows in rare values, and mean length of the texts, of such a column.
MOST_RARE, MOST_LENGTH = 0.1, 30
# What columns are that name the rows, or the persons in them.
IDENTIFIERS, ROW_NAMES = "identifiers", "names of the rows"
# Maximum number of cells in all features of such a column.
MOST_CELLS = 10**8
# Maximum number of features that all text columns of a table may have together if any
# of them has more than the least number of values.
MANY_FEATURES = 5000
DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
    r"|\d{1,2}[ -]?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ -]?\d{2,4})"
    r"([T ]\d{1,2}:\d{2}.*)?",
    re.IGNORECASE,
)
# Number of strings that are compared with the date pattern.
N_DATES = 1000
# A spread below this fraction of the mean is lost to rounding in standardisation.
LEAST_SPREAD = 1e-6
# Larger values, and smaller spreads, overflow or underflow when squared.
LARGEST, SMALLEST_SPREAD = 1e50, 1e-50


@dataclass(frozen=True)
class Plan:
    """Which columns are used, and how.

    Attributes
    ----------
    kinds : dict
        ``"number"`` or ``"category"`` by column, in the order of the table.
    dropped : tuple of (column, reason)
    target : str
    repeated : tuple of str
        Columns, in use or not, of which each value stands for a person or sample that
        has several rows, by its name.
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
    """Decide how to use the columns of a table.

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
    asked = (("exclude", exclude), ("keep", keep), ("categorical", categorical))
    for option, names in asked:
        for name in names:
            if name not in table.columns:
                raise unknown_column(f"--{option}", name, table.names)
            if option == "exclude" and name == target:
                raise WrongRequest(f"--exclude: {name!r} is the target.")
    wanted = {name: table.columns[name] for name in (*keep, *categorical)}
    check_usable(wanted, table.source)
    columns = table.columns.items()
    used = {
        name: one
        for name, one in columns
        if name not in (target, *exclude) and not isinstance(one, UnusableColumn)
    }
    check_clear(
        used,
        table.source,
        ". Alternatively, use --categorical to read them as text, or --exclude to "
        "drop them",
    )
    texts = {
        name: one
        for name, one in used.items()
        if isinstance(one, Texts) and name not in (table.row_names, *keep, *categorical)
    }
    named = {name: one for name, one in texts.items() if not is_id_name(name)}
    check_strays(named, table.source)
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
        rule = _LevelRule(name in (*keep, *categorical), most, min_level)
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
        if name != target and _repeats(name, column, reasons.get(name, ""))
    ]
    weights = [
        name
        for name in kinds
        if is_weight_name(name)
        and isinstance(column := table.columns[name], Numbers)
        and are_survey_weights(name, column.values)
    ]
    return Plan(kinds, tuple(dropped), target, tuple(repeated), tuple(weights))


def _repeats(name: str, column: Column, reason: str) -> bool:
    """Whether a column has persons or samples that are in several rows."""
    if not isinstance(column, (Numbers, Texts)):
        return False
    known = ~column.missing
    if isinstance(column, Texts):
        n_different = len(column.levels)
    else:
        values = column.values[known]
        if not np.isfinite(values).all() or (values != np.round(values)).any():
            return False
        n_different = np.unique(values).size
    n_known = int(known.sum())
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
    """When a text column is categorical: if it is wanted, or has few enough values."""

    is_wanted: bool
    most: int
    min_level: int


def _judge(name: str, column: Column, keep: bool, rule: _LevelRule) -> tuple[str, str]:
    """The kind of a column, and the reason to drop it, or an empty string."""
    if isinstance(column, UnusableColumn):
        return NUMBER, column.reason
    if column.missing.all():
        return NUMBER, "empty"
    if isinstance(column, Numbers):
        return NUMBER, _why_not_numbers(name, column.values, keep)
    assert isinstance(column, Texts)
    return CATEGORY, _why_not_texts(name, column, rule)


def _why_not_numbers(name: str, values: np.ndarray, keep: bool) -> str:
    known = values[~np.isnan(values)]
    infinite = int(np.isinf(known).sum())
    if infinite:
        raise TableError(
            f"column {name!r} has {infinite:,} infinite "
            f"value{'s' * (infinite > 1)}; remove these rows, or drop the column "
            f"(--exclude {name!r})."
        )
    low, high = known.min(), known.max()
    if low == high and known.size < values.size:
        return f"constant ({low:g}) but for gaps; --categorical uses these"
    if low == high:
        return f"constant ({low:g})"
    if max(abs(low), abs(high)) > LARGEST:
        raise TableError(
            f"column {name!r} has values up to {max(abs(low), abs(high)):g}, too large "
            f"to compute with; change its unit, or use --exclude {name!r}."
        )
    if high - low < SMALLEST_SPREAD:
        return f"varies by only {high - low:g}, too little to compute with"
    if high - low < LEAST_SPREAD * max(abs(low), abs(high)):
        return f"hardly varies ({low:.9g} to {high:.9g}); subtract {low:g} first"
    if keep or (known != np.round(known)).any():
        return ""
    if _are_days(known):
        return f"dates like {int(known[0])}; convert them to days or years"
    if numbers_rows(name, known):
        counts = f"{np.unique(known).size:,} different numbers in {known.size:,} rows"
        return f"{IDENTIFIERS} ({counts}); --keep uses them anyway"
    return ""


def _are_days(known: np.ndarray) -> bool:
    """Whether integers are dates like 20240131."""
    if known.min() < 18000101 or known.max() > 22001231:
        return False
    days = known.astype(np.int64)
    month, day = days // 100 % 100, days % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _why_not_texts(name: str, column: Texts, rule: _LevelRule) -> str:
    levels = column.levels
    if len(levels) == 1 and not column.missing.any():
        return f"constant ({levels[0]!r})"
    if rule.is_wanted:
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
    if column.are_dates or _are_dates(levels):
        return f"dates like {levels[0]!r}; convert them to days or years"
    sign = sign_of_numbers(column)
    if sign:
        return f"numbers with a {sign} sign; remove the {sign} signs to use them"
    return _why_not_levels(name, column, rule) or why_unclear(levels)


def _why_not_levels(name: str, column: Texts, rule: _LevelRule) -> str:
    """Why texts are too many, too long or too rare to be categories, if they are."""
    levels = column.levels
    rows = np.bincount(column.codes[column.codes >= 0], minlength=len(levels))
    n_known = int(rows.sum())
    if len(levels) <= min(MAX_LEVELS, max(2, n_known / 2)):
        return ""
    counts = f"{len(levels):,} different values in {n_known:,} rows"
    is_id = len(levels) > DIFFERENT * n_known and is_id_name(name)
    if is_id or says_subjects(name, len(levels)):
        return f"{IDENTIFIERS} ({counts}); --keep uses them anyway"
    if len(levels) > 0.9 * n_known and not any(" " in one for one in levels[:100]):
        return f"{IDENTIFIERS} ({counts})"
    use = "use --categorical to treat it as categories"
    if sum(map(len, levels)) > MOST_LENGTH * len(levels):
        return f"free text ({counts}); {use}"
    rare = rows < rule.min_level
    # One alone is not merged.
    n_left = int((~rare).sum()) + 1 if rare.sum() > 1 else len(levels)
    # Whoever merges larger ones, too, does not want the column to be dropped for it.
    in_rare = float(rows[rows < min(rule.min_level, MIN_LEVEL)].sum()) / n_known
    if n_left <= rule.most and in_rare <= MOST_RARE:
        return ""
    share = f", {100 * in_rare:.0f} % of the rows in rare ones" * (in_rare > MOST_RARE)
    return f"too many categories ({counts}{share}); {use}"


def many_levels(n_rows: int, n_columns: int) -> int:
    """Maximum number of categories by default, in tables with so many text columns."""
    n_columns = max(1, n_columns)
    by_cells = MOST_CELLS // max(1, n_rows * n_columns)
    most = min(MANY_LEVELS, MANY_FEATURES // n_columns, by_cells)
    return max(MAX_LEVELS, most)


def most_levels(n_rows: int) -> int:
    """Maximum number of categories in a column with ``n_rows`` rows."""
    return max(MAX_LEVELS, min(MOST_LEVELS, MOST_CELLS // max(1, n_rows)))


def _are_dates(levels: list[str]) -> bool:
    some = levels[:N_DATES]
    hits = sum(DATE.fullmatch(one) is not None for one in some)
    return hits >= 0.9 * len(some)


def check_wanted(plan: Plan, option: str, names: Collection[str]) -> None:
    """Raise an error if a requested column is dropped or does not exist."""
    reasons = dict(plan.dropped)
    known = [*plan.kinds, *reasons]
    for name in names:
        if name == plan.target:
            raise WrongRequest(f"{option}: {name!r} is the target.")
        if name in reasons:
            raise WrongRequest(
                f"{option} {name!r}: this column is dropped: {reasons[name]}."
            )
        if name not in plan.kinds:
            raise unknown_column(option, name, known)
