"""Preparation: how the columns of a table become standardised features.

It is learned from some rows (medians, categories, means, scales) and applied to others.
It is stored as JSON in models and certificates, so that the same numbers can be
reproduced to the last bit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from reprlib import repr as brief
from types import MappingProxyType
from typing import Any

import numpy as np

from ..export.lookups import MISSING_WORDS, OTHER
from ..export.schema import parse
from ..run.words import different
from .columns import REFUSE, Table, TableError, check_clear, listed, turned_words
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
    learned,
    moments,
)


@dataclass(frozen=True, eq=False)
class Preparation:
    """How the columns of a table become standardised features.

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
        How the classes are written in text tables, if they are numbers and the format
        was stored.
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
            What becomes of missing values; see ``gaps``.
        min_level : int, default=1
            Categories in fewer rows are merged into one, if they are two or more.
        rows : ndarray of int, default=None
        codes : mapping from str to str, default={}
            The variables of columns of 0 and 1 that are categories, by column.

        Returns
        -------
        Preparation
        """
        some: Any = slice(None) if rows is None else rows
        columns = tuple(
            learned(
                name,
                kind,
                table.columns[name],
                some,
                missing,
                min_level,
                codes.get(name),
            )
            for name, kind in plan.kinds.items()
        )
        features = tuple(different([x for one in columns for x in one.features()]))
        found = [
            moments(x)
            for one in columns
            for x in one.values(table.columns[one.name], some)
        ]
        means, scales = np.array(found).reshape(-1, 2).T.copy()
        made = cls(
            columns,
            features,
            means,
            scales,
            plan.target,
            classes,
            getattr(table.columns.get(plan.target), "format", None),
        )
        for own, some_columns in made.blocks():
            if some_columns[0].has_categories:
                scales[own] = common_scale(means[own].tolist())
        return made

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)

    def of_variable(self, name: str) -> list[int]:
        """The positions of a variable's features."""
        return [j for j, (one, _) in enumerate(self.origins()) if one.variable == name]

    def origins(self) -> list[tuple[PreparedColumn, str | None]]:
        """For each feature, its column, and its category if it has one."""
        pairs: list[tuple[PreparedColumn, str | None]] = []
        for one in self.columns:
            if isinstance(one, CategoryColumn):
                pairs += [(one, level) for level in one.shown]
            else:
                pairs += [(one, None)] * len(one.features())
        return pairs

    def blocks(self) -> list[tuple[list[int], list[PreparedColumn]]]:
        """The features and columns of each variable."""
        features: dict[str, list[int]] = {}
        columns: dict[str, list[PreparedColumn]] = {}
        for j, (one, _) in enumerate(self.origins()):
            features.setdefault(one.variable, []).append(j)
        for one in self.columns:
            columns.setdefault(one.variable, []).append(one)
        return [(features.get(name, []), some) for name, some in columns.items()]

    @property
    def indicators(self) -> np.ndarray:
        """Mask of the features that say where a number is missing."""
        # They follow that of the number.
        origins = [one for one, _ in self.origins()]
        return np.array(
            [
                isinstance(one, NumberColumn) and j > 0 and origins[j - 1] is one
                for j, one in enumerate(origins)
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
        n_rows = table.n_rows if rows is None else len(rows)
        data = np.empty((self.n_features, n_rows))
        for j, values in enumerate(self._raw(table, rows)):
            np.subtract(values, self.means[j], out=data[j])
            data[j] /= self.scales[j]
        return data.T

    def values(self, table: Table, rows: np.ndarray | None = None) -> np.ndarray:
        """The features before they are standardised, of some rows or of all."""
        n_rows = table.n_rows if rows is None else len(rows)
        data = np.empty((self.n_features, n_rows))
        for j, values in enumerate(self._raw(table, rows)):
            data[j] = values
        return data.T

    def feature_of(self, table: Table) -> Callable[[int], np.ndarray]:
        """A function that returns a feature before it is standardised, of all rows."""
        columns = [one for one, _ in self.origins()]
        first = {one.name: j for j, one in reversed([*enumerate(columns)])}

        def values(j: int) -> np.ndarray:
            column = columns[j]
            made = column.values(table.columns[column.name], slice(None))
            return next(islice(made, j - first[column.name], None))

        return values

    def values_of(self, table: Table, names: Collection[str]) -> dict[str, np.ndarray]:
        """Some features before they are standardised, by name."""
        made, needed = (
            zip(self.features, self._raw(table, None), strict=True),
            set(names),
        )
        found = {name: values for name, values in made if name in needed}
        return {name: found[name] for name in names}

    def _raw(self, table: Table, rows: np.ndarray | None) -> Any:
        some: Any = slice(None) if rows is None else rows
        self.check_columns(table)
        for one in self.columns:
            yield from one.values(table.columns[one.name], some)

    def check_columns(self, table: Table) -> None:
        """Raise an error that names columns that are missing or ambiguous."""
        missing = [one.name for one in self.columns if one.name not in table.columns]
        if missing:
            raise TableError(
                f"{table.source} has no column{'s' * (len(missing) > 1)} "
                f"{listed(missing)}; it needs the columns "
                f"{listed([one.name for one in self.columns])}."
                f"{turned_words(table, missing)}"
            )
        used = {one.name: table.columns[one.name] for one in self.columns}
        check_clear(used, table.source)

    def unfilled(self, table: Table) -> dict[str, np.ndarray]:
        """Masks of the rows with a gap, by column, where that is an error."""
        self.check_columns(table)
        return {
            one.name: one.gaps(table.columns[one.name])
            for one in self.columns
            if one.fill is None
        }

    def unknown(self, table: Table) -> dict[str, dict[str, np.ndarray]]:
        """Rows with an unknown category, by column and category."""
        self.check_columns(table)
        found = {
            one.name: one.unknown(table.columns[one.name])
            for one in self.columns
            if isinstance(one, CategoryColumn)
        }
        return {name: levels for name, levels in found.items() if levels}

    def new_gaps(self, table: Table) -> dict[str, np.ndarray]:
        """Rows with a gap, by column, for those that had none in the fit."""
        self.check_columns(table)
        found = {
            one.name: np.flatnonzero(one.gaps(table.columns[one.name]))
            for one in self.columns
            if one.n_gaps == 0 and one.fill is not None
        }
        return {name: rows for name, rows in found.items() if rows.size}

    def check_standard(self, table: Table) -> float:
        """Check that the features have mean 0 and variance 1.

        The categories of a variable have it together.

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
        for own, columns in self.blocks():
            name = columns[0].variable
            check_code(columns, table)
            off = deviation(
                (
                    x
                    for one in columns
                    for x in one.values(table.columns[one.name], slice(None))
                ),
                self.means[own].tolist(),
                self.scales[own].tolist(),
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
            If a text is none of the categories, if one that is merged with others is
            more frequent than a category, or if missing values are not as many as
            stored or have another replacement than a fit gives them.
        """
        self.check_columns(table)
        for one in self.columns:
            why = one.why_not_learned(table.columns[one.name])
            if why:
                raise TableError(
                    f"a fit to {table.source} does not make these features of column "
                    f"{one.name!r}: {why}."
                )

    def restricted(self, features: Collection[int]) -> Preparation:
        """Only the columns that some of the features need."""
        origins = self.origins()
        needed = {origins[j][0].name for j in features}
        kept = [j for j in range(self.n_features) if origins[j][0].name in needed]
        return replace(
            self,
            columns=tuple(one for one in self.columns if one.name in needed),
            features=tuple(self.features[j] for j in kept),
            means=self.means[kept],
            scales=self.scales[kept],
        )

    @property
    def needed(self) -> set[str]:
        """The columns, and the target."""
        return {self.target, *(one.name for one in self.columns)}

    @property
    def text_columns(self) -> set[str]:
        """Columns to read as text."""
        return {one.name for one in self.columns if isinstance(one, CategoryColumn)}

    @property
    def number_columns(self) -> set[str]:
        """Columns to read as numbers."""
        return {one.name for one in self.columns if isinstance(one, NumberColumn)}

    @property
    def words(self) -> dict[str, Collection[str]]:
        """Words for missing values that are texts in some columns."""
        columns = [
            column for column in self.columns if isinstance(column, CategoryColumn)
        ]
        words = {column.name: column.words for column in columns} | {
            self.target: tuple(
                label for label in self.classes if label in MISSING_WORDS
            )
        }
        return {name: some for name, some in words.items() if some}

    @property
    def format_rules(self) -> dict[str, FormatRule]:
        """How the numbers of columns are written, if that was stored."""
        formats = {
            one.name: one.format
            for one in self.columns
            if isinstance(one, NumberColumn)
        } | {self.target: self.target_format}
        return {
            name: FormatRule.of(one) for name, one in formats.items() if one is not None
        }

    # --- JSON --------------------------------------------------------------------

    def to_json(self) -> str:
        """As JSON text; numbers are written without any loss."""
        columns: list[dict[str, Any]] = []
        for one in self.columns:
            if isinstance(one, CategoryColumn):
                levels = list(one.levels)
                columns.append({"name": one.name, "kind": CATEGORY, "levels": levels})
                if one.has_other:
                    columns[-1]["other"] = True
                if not set(one.words) <= set(levels):
                    columns[-1]["words"] = list(one.words)
            else:
                columns.append({"name": one.name, "kind": NUMBER})
                if one.format is not None:
                    columns[-1]["format"] = asdict(one.format)
                if one.has_indicator:
                    columns[-1]["indicator"] = True
                if one.code_of is not None:
                    columns[-1]["code of"] = one.code_of
            columns[-1]["fill"] = one.fill
            if one.n_gaps:
                columns[-1]["gaps"] = one.n_gaps
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
        """Read the output of :meth:`to_json`; its form is fully checked.

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
            # Raised for an integer of hundreds of digits.
            OverflowError,
            RecursionError,
        ) as error:
            raise TableError(f"the preparation cannot be read: {error!r}.") from error


# --- reading untrusted files ---------------------------------------------------------


def _checked(content: Any) -> Preparation:
    columns = tuple(_column(one) for one in content["columns"])
    features = tuple(_text(one) for one in content["features"])
    means = np.array([_real(one) for one in content["means"]], dtype=np.float64)
    scales = np.array([_real(one) for one in content["scales"]], dtype=np.float64)
    first, second = (_label(one) for one in content["classes"])
    names = [one.name for one in columns]
    _require(len(set(names)) == len(names), "a column appears twice")
    coded = {one.variable for one in columns if one.variable != one.name}
    _require(coded.isdisjoint(names), "a variable has the name of a column")
    _require(means.size == scales.size == len(features), "its lengths differ")
    made = _made(columns, sum(map(len, features)))
    _require(made == features, "its features do not match its columns")
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


def _made(columns: Sequence[PreparedColumn], length: int) -> tuple[str, ...] | None:
    """Names of the features of columns; None if their total length exceeds ``length``.

    A long name with many categories would make far more text than the file has.
    """
    for one in columns:
        n = len(one.shown) if isinstance(one, CategoryColumn) else 1
        length -= len(one.name) * n
    if length < 0:
        return None
    return tuple(different([name for one in columns for name in one.features()]))


def _column(content: Any) -> PreparedColumn:
    name, fill, n_gaps = _text(content["name"]), content["fill"], content.get("gaps", 0)
    is_count = isinstance(n_gaps, int) and not isinstance(n_gaps, bool)
    _require(is_count and n_gaps >= 0, f"{brief(n_gaps)} is not a number of rows")
    if content["kind"] == NUMBER:
        has_indicator = content.get("indicator", False)
        _require(isinstance(has_indicator, bool), "an indicator is not true or false")
        _require(not has_indicator or fill is not None, "an indicator has no number")
        written = _format(content.get("format"))
        number = None if fill is None else _real(fill)
        code_of = content.get("code of")
        _require(not has_indicator or code_of is None, "a category has an indicator")
        _require(code_of != "", "a variable has no name")
        variable = None if code_of is None else _text(code_of)
        return NumberColumn(name, number, written, n_gaps, has_indicator, variable)
    _require(content["kind"] == CATEGORY, f"unknown kind {brief(content['kind'])}")
    levels = tuple(_text(one) for one in content["levels"])
    _require(len(set(levels)) == len(levels), f"{brief(name)} repeats a category")
    _require(
        fill is None or fill in levels,
        f"the fill value of {brief(name)} is not one of its categories",
    )
    words = content.get("words") or [one for one in levels if one in MISSING_WORDS]
    _require(set(words) <= set(MISSING_WORDS), "a word does not mean a missing value")
    has_other = content.get("other", False)
    _require(
        has_other is False or (has_other is True and OTHER in levels),
        f"{brief(name)} has no category {OTHER}",
    )
    return CategoryColumn(name, levels, fill, tuple(words), n_gaps, has_other)


def _format(content: Any) -> NumberFormat | None:
    if content is None:
        return None
    decimal, thousands = content["decimal"], content["thousands"]
    _require(decimal in (None, *DECIMALS), f"{decimal!r} is not a decimal separator")
    groups = [None, *(one for one in GROUPS if one != decimal)]
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
