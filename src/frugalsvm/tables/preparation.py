"""Preparation: how the columns of a table become standardised features.

It is learned from some rows (medians, categories, means, scales) and applied to others.
Models and certificates store it as JSON, so that the same numbers can be reproduced to
the last bit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from reprlib import repr as brief
from types import MappingProxyType
from typing import Any

import numpy as np

from ..export import MISSING_WORDS, OTHER, parse
from ..run import different
from .columns import REFUSE, Table, TableError, check_clear, listed, transpose_hint
from .formats import DECIMALS, GROUPS, FormatRule, NumberFormat
from .kinds import CATEGORY, NUMBER, Plan
from .prepared_columns import (
    STANDARD_TOL,
    CategoryColumn,
    NumberColumn,
    PreparedColumn,
    check_code,
    common_scale,
    deviation,
    learn_column,
    moments,
)


@dataclass(frozen=True, eq=False)
class Preparation:
    """The rules by which columns of a table become standardised features.

    Attributes
    ----------
    columns : tuple of NumberColumn or CategoryColumn
    features : tuple of str
        Names of the features; all different.
    means, scales : ndarray of shape (n_features,)
        A feature is ``(value - mean) / scale``. All categories of a variable have the
        same scale: their variances add up to 1, the variance of a number.
    target : str
    classes : tuple of two labels
    target_format : NumberFormat or None
        The format of the classes in text tables, if they are numbers and it was stored.
    """

    columns: tuple[PreparedColumn, ...]
    features: tuple[str, ...]
    means: np.ndarray
    scales: np.ndarray
    target: str
    classes: tuple[Any, Any]
    target_format: NumberFormat | None = None

    @classmethod
    def fit(
        cls,
        table: Table,
        plan: Plan,
        classes: tuple[Any, Any],
        *,
        missing: str = REFUSE,
        min_level: int = 1,
        rows: np.ndarray | None = None,
        codes: Mapping[str, str] = MappingProxyType({}),
    ) -> Preparation:
        """Learn from some rows of a table, or from all.

        Parameters
        ----------
        table : Table
        plan : Plan
        classes : tuple of two labels
        missing : {"indicator", "median", "refuse"}, default="refuse"
            The treatment of missing values; see ``MODES`` in the module ``columns``.
        min_level : int, default=1
            Categories in fewer rows are merged into one, if there are two or more.
        rows : ndarray of int, default=None
        codes : mapping from str to str, default={}
            The variables of columns of 0 and 1 that are categories, by column.

        Returns
        -------
        Preparation
        """
        selection: Any = slice(None) if rows is None else rows
        columns = tuple(
            learn_column(
                name,
                kind,
                table.columns[name],
                selection,
                missing,
                min_level,
                codes.get(name),
            )
            for name, kind in plan.kinds.items()
        )
        names = [feature for column in columns for feature in column.features()]
        pairs = [
            moments(values)
            for column in columns
            for values in column.values(table.columns[column.name], selection)
        ]
        means, scales = np.array(pairs).reshape(-1, 2).T.copy()
        preparation = cls(
            columns,
            tuple(different(names)),
            means,
            scales,
            plan.target,
            classes,
            getattr(table.columns.get(plan.target), "format", None),
        )
        for features, block in preparation.blocks():
            if block[0].has_categories:
                scales[features] = common_scale(means[features].tolist())
        return preparation

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)

    def of_variable(self, name: str) -> list[int]:
        """The positions of a variable's features."""
        origins = self.origins()
        return [j for j, (column, _) in enumerate(origins) if column.variable == name]

    def origins(self) -> list[tuple[PreparedColumn, str | None]]:
        """The column of each feature, and its category if it stands for one."""
        pairs: list[tuple[PreparedColumn, str | None]] = []
        for column in self.columns:
            if isinstance(column, CategoryColumn):
                pairs += [(column, level) for level in column.shown]
            else:
                pairs += [(column, None)] * len(column.features())
        return pairs

    def blocks(self) -> list[tuple[list[int], list[PreparedColumn]]]:
        """The features and columns of each variable."""
        features: dict[str, list[int]] = {}
        columns: dict[str, list[PreparedColumn]] = {}
        for j, (column, _) in enumerate(self.origins()):
            features.setdefault(column.variable, []).append(j)
        for column in self.columns:
            columns.setdefault(column.variable, []).append(column)
        return [(features.get(name, []), block) for name, block in columns.items()]

    @property
    def indicators(self) -> np.ndarray:
        """Mask of the features that are 1 where a number is missing."""
        # The indicator of a number is the second feature of its column.
        columns = [column for column, _ in self.origins()]
        return np.array(
            [
                isinstance(column, NumberColumn) and j > 0 and columns[j - 1] is column
                for j, column in enumerate(columns)
            ],
            dtype=bool,
        )

    def transform(self, table: Table, rows: np.ndarray | None = None) -> np.ndarray:
        """The standardised features of some rows of a table, or of all.

        Parameters
        ----------
        table : Table
        rows : ndarray of int, default=None

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            In column-major order, so that access by feature is fast.
        """
        data = self.values(table, rows).T
        for j in range(self.n_features):
            data[j] -= self.means[j]
            data[j] /= self.scales[j]
        return data.T

    def values(self, table: Table, rows: np.ndarray | None = None) -> np.ndarray:
        """The features before they are standardised, of some rows or of all."""
        n_rows = table.n_rows if rows is None else len(rows)
        data = np.empty((self.n_features, n_rows))
        for j, values in enumerate(self._features(table, rows)):
            data[j] = values
        return data.T

    def feature_of(self, table: Table) -> Callable[[int], np.ndarray]:
        """A function that computes a feature of all rows before it is standardised."""
        columns = [column for column, _ in self.origins()]
        first = {column.name: j for j, column in reversed([*enumerate(columns)])}

        def values(j: int) -> np.ndarray:
            column = columns[j]
            features = column.values(table.columns[column.name], slice(None))
            return next(islice(features, j - first[column.name], None))

        return values

    def values_of(self, table: Table, names: Collection[str]) -> dict[str, np.ndarray]:
        """Some features before they are standardised, by name."""
        needed = set(names)
        values_by_name = {
            name: values
            for name, values in zip(
                self.features, self._features(table, None), strict=True
            )
            if name in needed
        }
        return {name: values_by_name[name] for name in names}

    def _features(self, table: Table, rows: np.ndarray | None) -> Iterator[np.ndarray]:
        """All features in order, before they are standardised."""
        selection: Any = slice(None) if rows is None else rows
        self.check_columns(table)
        for column in self.columns:
            yield from column.values(table.columns[column.name], selection)

    def check_columns(self, table: Table) -> None:
        """Raise an error that names columns that are missing or ambiguous."""
        names = [column.name for column in self.columns]
        missing = [name for name in names if name not in table.columns]
        if missing:
            raise TableError(
                f"{table.source} has no column{'s' * (len(missing) > 1)} "
                f"{listed(missing)}; it needs the columns {listed(names)}."
                f"{transpose_hint(table, missing)}"
            )
        check_clear({name: table.columns[name] for name in names}, table.source)

    def unfilled(self, table: Table) -> dict[str, np.ndarray]:
        """Masks of the rows with a missing value, by column, where it is an error."""
        self.check_columns(table)
        return {
            column.name: column.gaps(table.columns[column.name])
            for column in self.columns
            if column.fill is None
        }

    def unknown(self, table: Table) -> dict[str, dict[str, np.ndarray]]:
        """Rows with an unknown category, by column and category."""
        self.check_columns(table)
        rows = {
            column.name: column.unknown(table.columns[column.name])
            for column in self.columns
            if isinstance(column, CategoryColumn)
        }
        return {name: levels for name, levels in rows.items() if levels}

    def new_gaps(self, table: Table) -> dict[str, np.ndarray]:
        """Rows with a missing value, for each column without any in the fit."""
        self.check_columns(table)
        rows = {
            column.name: np.flatnonzero(column.gaps(table.columns[column.name]))
            for column in self.columns
            if column.n_gaps == 0 and column.fill is not None
        }
        return {name: rows for name, rows in rows.items() if rows.size}

    def check_standard(self, table: Table) -> float:
        """Check that the features have mean 0 and variance 1.

        The categories of a variable have variance 1 together.

        Returns
        -------
        float
            The largest deviation.

        Raises
        ------
        TableError
            If the deviation is too large.
        """
        self.check_columns(table)
        worst = 0.0
        for features, columns in self.blocks():
            name = columns[0].variable
            check_code(columns, table)
            off = deviation(
                (
                    values
                    for column in columns
                    for values in column.values(table.columns[column.name], slice(None))
                ),
                self.means[features].tolist(),
                self.scales[features].tolist(),
                columns[0].has_categories,
            )
            if not off <= STANDARD_TOL:
                raise TableError(
                    f"the stored means and scales of {name!r} do not standardise "
                    f"these data: they are off by {off:.3g}."
                )
            worst = max(worst, off)
        return worst

    def check_learned(self, table: Table) -> None:
        """Check that a fit to a table treats categories and missing values like this.

        Raises
        ------
        TableError
            If a text is none of the categories, if a category that is merged with
            others is more frequent than one that is not, or if the number of missing
            values or their replacement is not that of a fit.
        """
        self.check_columns(table)
        for column in self.columns:
            why = column.why_not_learned(table.columns[column.name])
            if why:
                raise TableError(
                    f"a fit to {table.source} does not make these features of column "
                    f"{column.name!r}: {why}."
                )

    def restricted(self, features: Collection[int]) -> Preparation:
        """The preparation of only those columns that some of the features need."""
        origins = self.origins()
        needed = {origins[j][0].name for j in features}
        indices = [j for j in range(self.n_features) if origins[j][0].name in needed]
        return replace(
            self,
            columns=tuple(column for column in self.columns if column.name in needed),
            features=tuple(self.features[j] for j in indices),
            means=self.means[indices],
            scales=self.scales[indices],
        )

    @property
    def needed(self) -> set[str]:
        """Names of the columns and of the target."""
        return {self.target, *(column.name for column in self.columns)}

    @property
    def text_columns(self) -> set[str]:
        """Names of the columns to read as text."""
        return {column.name for column in self._category_columns()}

    @property
    def number_columns(self) -> set[str]:
        """Names of the columns to read as numbers."""
        return {column.name for column in self._number_columns()}

    def _category_columns(self) -> list[CategoryColumn]:
        return [column for column in self.columns if isinstance(column, CategoryColumn)]

    def _number_columns(self) -> list[NumberColumn]:
        return [column for column in self.columns if isinstance(column, NumberColumn)]

    @property
    def not_missing(self) -> dict[str, Collection[str]]:
        """Words for missing values that are texts in some columns, by column."""
        labels = [label for label in self.classes if label in MISSING_WORDS]
        texts: dict[str, Collection[str]] = {
            column.name: column.not_missing for column in self._category_columns()
        }
        texts[self.target] = tuple(labels)
        return {name: strings for name, strings in texts.items() if strings}

    @property
    def format_rules(self) -> dict[str, FormatRule]:
        """The number formats of columns, as far as they were stored."""
        formats = {column.name: column.format for column in self._number_columns()}
        formats[self.target] = self.target_format
        return {
            name: FormatRule.of(format)
            for name, format in formats.items()
            if format is not None
        }

    # --- JSON --------------------------------------------------------------------

    def to_json(self) -> str:
        """JSON text, with all digits of the numbers."""
        columns: list[dict[str, Any]] = []
        entry: dict[str, Any]
        for column in self.columns:
            if isinstance(column, CategoryColumn):
                levels = list(column.levels)
                entry = {"name": column.name, "kind": CATEGORY, "levels": levels}
                if column.has_other:
                    entry["other"] = True
                if not set(column.not_missing) <= set(levels):
                    entry["words"] = list(column.not_missing)
            else:
                entry = {"name": column.name, "kind": NUMBER}
                if column.format is not None:
                    entry["format"] = asdict(column.format)
                if column.has_indicator:
                    entry["indicator"] = True
                if column.code_of is not None:
                    entry["code of"] = column.code_of
            entry["fill"] = column.fill
            if column.n_gaps:
                entry["gaps"] = column.n_gaps
            columns.append(entry)
        content = {
            "columns": columns,
            "features": list(self.features),
            "means": self.means.tolist(),
            "scales": self.scales.tolist(),
            "target": self.target,
            "classes": list(self.classes),
        }
        if self.target_format is not None:
            content["target format"] = asdict(self.target_format)
        return json.dumps(content, ensure_ascii=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Preparation:
        """Read the output of :meth:`to_json`, which is fully checked.

        Raises
        ------
        TableError
            If it is malformed.
        """
        try:
            return _checked(parse(text))
        except TableError:
            raise
        except (
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            # An integer of hundreds of digits.
            OverflowError,
            RecursionError,
        ) as error:
            raise TableError(f"the preparation cannot be read: {error!r}.") from error


# --- Checks of untrusted JSON ---------------------------------------------------------


def _checked(content: Any) -> Preparation:
    columns = tuple(_column(column) for column in content["columns"])
    features = tuple(_text(name) for name in content["features"])
    means = np.array([_real(mean) for mean in content["means"]], dtype=np.float64)
    scales = np.array([_real(scale) for scale in content["scales"]], dtype=np.float64)
    first, second = (_label(label) for label in content["classes"])
    names = [column.name for column in columns]
    _require(len(set(names)) == len(names), "a column appears twice")
    coded = {column.variable for column in columns if column.variable != column.name}
    _require(coded.isdisjoint(names), "a variable has the name of a column")
    _require(means.size == scales.size == len(features), "its lengths differ")
    expected = _feature_names(columns, sum(map(len, features)))
    _require(expected == features, "its features do not match its columns")
    _require(bool((scales > 0).all()), "a scale is not positive")
    _require(type(first) is type(second) and first != second, "its classes are wrong")
    _require(content["target"] not in names, "the target is one of its columns")
    return Preparation(
        columns,
        features,
        means,
        scales,
        _text(content["target"]),
        (first, second),
        _format(content.get("target format")),
    )


def _feature_names(
    columns: Sequence[PreparedColumn], length: int
) -> tuple[str, ...] | None:
    """Names of the features of columns; None if their total length exceeds ``length``.

    A long name with many categories would become far more text than the file has.
    """
    for column in columns:
        n = len(column.shown) if isinstance(column, CategoryColumn) else 1
        length -= len(column.name) * n
    if length < 0:
        return None
    return tuple(different([name for column in columns for name in column.features()]))


def _column(content: Any) -> PreparedColumn:
    name, fill, n_gaps = _text(content["name"]), content["fill"], content.get("gaps", 0)
    is_count = isinstance(n_gaps, int) and not isinstance(n_gaps, bool)
    _require(is_count and n_gaps >= 0, f"{brief(n_gaps)} is not a number of rows")
    if content["kind"] == NUMBER:
        has_indicator = content.get("indicator", False)
        _require(isinstance(has_indicator, bool), "an indicator is not true or false")
        _require(not has_indicator or fill is not None, "an indicator has no number")
        format = _format(content.get("format"))
        number = None if fill is None else _real(fill)
        code_of = content.get("code of")
        _require(not has_indicator or code_of is None, "a category has an indicator")
        _require(code_of != "", "a variable has no name")
        variable = None if code_of is None else _text(code_of)
        return NumberColumn(name, number, format, n_gaps, has_indicator, variable)
    _require(content["kind"] == CATEGORY, f"unknown kind {brief(content['kind'])}")
    levels = tuple(_text(level) for level in content["levels"])
    _require(len(set(levels)) == len(levels), f"{brief(name)} repeats a category")
    _require(
        fill is None or fill in levels,
        f"the fill value of {brief(name)} is not one of its categories",
    )
    not_missing = content.get("words") or [
        level for level in levels if level in MISSING_WORDS
    ]
    _require(
        set(not_missing) <= set(MISSING_WORDS), "a word does not mean a missing value"
    )
    has_other = content.get("other", False)
    _require(
        has_other is False or (has_other is True and OTHER in levels),
        f"{brief(name)} has no category {OTHER}",
    )
    return CategoryColumn(name, levels, fill, tuple(not_missing), n_gaps, has_other)


def _format(content: Any) -> NumberFormat | None:
    if content is None:
        return None
    decimal, thousands = content["decimal"], content["thousands"]
    _require(decimal in (None, *DECIMALS), f"{decimal!r} is not a decimal separator")
    groups = [None, *(group for group in GROUPS if group != decimal)]
    _require(thousands in groups, f"{thousands!r} is not a thousands separator")
    return NumberFormat(decimal, thousands)


def _require(condition: bool, reason: str) -> None:
    if not condition:
        raise TableError(f"the preparation is invalid: {reason}.")


def _text(value: Any) -> str:
    _require(isinstance(value, str), f"{brief(value)} is not text")
    return value


def _label(value: Any) -> Any:
    is_label = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    _require(is_label, f"{brief(value)} is not a label")
    return value


def _real(value: Any) -> float:
    is_real = isinstance(value, (int, float)) and not isinstance(value, bool)
    _require(is_real and math.isfinite(value), f"{brief(value)} is not a number")
    return float(value)
