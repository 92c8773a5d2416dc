"""Models of the command line: model.json with the preparation of its columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..export import InvalidModel, PortableModel
from ..export.content import Feature, Group, Proof, RefitProof
from ..export.lookups import BOOLEAN, MISSING_WORDS, NUMBER, truth
from ..export.lookups import places as places_of_values
from ..export.origins import (
    CLASS_WEIGHTS,
    PREPARATION,
    column_kinds,
    input_columns,
    read_origins,
    rows_without_value,
    takes_columns,
)
from ..export.statistics import LEAST, Values, are_values, places
from ..problem.solution import rounded
from ..run.words import by_class
from ..tables import Preparation, Table, TableError, read_table
from ..tables.columns import Texts, UnclearNumbers, check_clear, listed
from ..tables.excel import USUAL, Layout
from ..tables.formats import ALL_OPEN, FormatRules
from ..tables.prepared_columns import NumberColumn, as_texts
from .entry import package_version
from .options import check_names, combined

# Maximum number of rows that a warning lists.
N_ROWS = 8

if TYPE_CHECKING:
    # Predicting needs neither the solver nor Numba.
    from .choosing import Fit
    from .study import PreparedTable


def portable_model(
    fit: Fit, data: PreparedTable, *, command: str = ""
) -> PortableModel:
    """The model of a fit to a table, with the preparation that its columns need."""
    result, preparation = fit.result, fit.preparation
    columns = result.selected_columns.tolist()
    digests: list[str | None] = [None, None]
    if result.certificate is not None:
        arrays = result.certificate.arrays
        digests = [str(arrays["fingerprint"]), str(arrays["checksum"])]
    refit = result.refit
    about_weights = None
    if refit is not None:
        about_weights = RefitProof(refit.C, refit.objective, refit.lower_bound)
    metadata = {
        PREPARATION: preparation.restricted(columns).to_json(),
        "target": preparation.target,
        "C": repr(fit.conditions.chosen_C),
        "made by": f"frugalsvm {package_version()}",
    }
    weights = fit.conditions.class_weight
    if weights is not None and weights.is_weighted:
        metadata[CLASS_WEIGHTS] = (
            "balanced"
            if weights.is_balanced
            else ", ".join(
                f"{label}: {weight!r}"
                for label, weight in zip(
                    weights.labels, weights.fixed or (), strict=True
                )
            )
        )
    if fit.conditions.refit_C is not None:
        metadata["refit_C"] = repr(fit.conditions.refit_C)
    if command:
        metadata["command"] = command
    model = PortableModel(
        tuple(
            Feature(
                preparation.features[j],
                j,
                float(preparation.means[j]),
                float(preparation.scales[j]),
                float(fit.model.coef[j]),
            )
            for j in columns
        ),
        float(fit.model.intercept),
        preparation.classes,
        preparation.n_features,
        fit.calibration,
        Proof(
            result.objective,
            result.lower_bound,
            str(result.status),
            digests[0],
            digests[1],
            about_weights,
        ),
        metadata,
        *_groups_and_signs(fit, columns),
        _threshold(fit),
    )
    # Statistics of fewer rows would show them.
    return model if data.n_rows < 2 * LEAST else _with_statistics(model, fit, data)


def _with_statistics(
    model: PortableModel, fit: Fit, data: PreparedTable
) -> PortableModel:
    """The model with statistics of the rows of the fit."""
    columns, table = fit.result.selected_columns.tolist(), data.table
    small = fit.preparation.restricted(columns)
    found = small.values_of(table, model.names)
    origins = fit.preparation.origins()
    owners = [origins[j][0] for j in columns]
    values = np.empty((data.n_rows, len(columns)))
    gaps = np.empty(values.shape, dtype=bool)
    for k, (one, owner) in enumerate(zip(found.values(), owners, strict=True)):
        values[:, k] = one
        gaps[:, k] = owner.gaps(table.columns[owner.name])
    return model.with_values(values, gaps, data.target.positive.astype(np.intp))


def _threshold(fit: Fit) -> float | None:
    """Zero for a model with probabilities, which it would predict by otherwise."""
    if fit.threshold is None and fit.calibration is not None:
        return 0.0
    return fit.threshold


def _groups_and_signs(
    fit: Fit, columns: Sequence[int]
) -> tuple[tuple[Group, ...], dict[str, str]]:
    """Columns of several categories, and signs of weights, by feature."""
    names = fit.preparation.features
    labels = fit.conditions.labels(fit.preparation)
    members: dict[str, list[str]] = {}
    for j in columns:
        members.setdefault(labels[j], []).append(names[j])
    groups = [Group(k, tuple(some)) for k, some in members.items() if len(some) > 1]
    signs = fit.conditions.signs_of(fit.preparation)
    if signs is None:
        return tuple(groups), {}
    given = {names[j]: "+" if signs[j] > 0 else "-" for j in columns if signs[j]}
    return tuple(groups), given


@dataclass(frozen=True)
class LoadedModel:
    """A model.json, and how to prepare a table for it.

    Attributes
    ----------
    model : PortableModel
    preparation : Preparation or None
        None if the model was not made by the command line: then its features are
        numeric columns of the same names, or it prepares columns itself.
    """

    model: PortableModel
    preparation: Preparation | None

    def read(
        self,
        path: str,
        encoding: str | None = None,
        id_column: str | None = None,
        formats: FormatRules = ALL_OPEN,
        target: str | None = None,
        layout: Layout = USUAL,
        may_be_empty: bool = False,
    ) -> Table:
        """Read a table; categories and identifiers stay text.

        As a number, an account of 18 digits, or 007, would change. Number formats are
        those the model was fitted with, unless ``formats`` says otherwise.
        """
        texts = self._text_columns
        if id_column is not None and id_column not in self._number_columns:
            texts = {*texts, id_column}
        known = {} if self.preparation is None else self.preparation.format_rules
        rules = combined(known, formats, sorted(self._number_columns))
        needed = {*self._number_columns, *texts}
        needed |= {one for one in (id_column, target) if one is not None}
        table = read_table(
            path,
            as_text=texts,
            encoding=encoding,
            formats=rules,
            only=needed,
            layout=layout,
            words=self._words,
            may_be_empty=may_be_empty,
        )
        check_names(formats, table)
        return table

    @property
    def _number_columns(self) -> set[str]:
        if takes_columns(self.model):
            return column_kinds(self.model).keys() - self._text_columns
        if self.preparation is None:
            return set(self.model.names)
        return self.preparation.number_columns

    @property
    def _words(self) -> dict[str, Collection[str]]:
        """Words for missing values that are categories of the model."""
        if self.preparation is not None:
            return self.preparation.words
        known: dict[str, set[str]] = {}
        for origin in read_origins(self.model):
            levels = () if origin.lookup is None else origin.lookup.levels
            if words := set(MISSING_WORDS).intersection(levels):
                known.setdefault(origin.column, set()).update(words)
        return dict(known)

    @property
    def _text_columns(self) -> set[str]:
        if takes_columns(self.model):
            kinds = column_kinds(self.model)
            return {name for name, kind in kinds.items() if kind != NUMBER}
        return set() if self.preparation is None else self.preparation.text_columns

    def features(self, table: Table) -> dict[str, np.ndarray]:
        """Values of the model's features, as measured, by name."""
        if self.preparation is not None:
            return self.preparation.values_of(table, self.model.names)
        found = self._columns(table)
        if takes_columns(self.model):
            features = self.model.select(found)
            return dict(zip(self.model.names, features.T, strict=True))
        return found

    def _columns(self, table: Table) -> dict[str, np.ndarray]:
        """The columns that a model without a preparation takes, by name."""
        is_raw = takes_columns(self.model)
        kinds = column_kinds(self.model) if is_raw else {}
        found = {}
        for name in kinds if is_raw else self.model.names:
            column = table.column(name, "the model")
            check_clear({name: column}, table.source)
            if kinds.get(name, NUMBER) != NUMBER:
                found[name] = _values(as_texts(column), kinds[name] == BOOLEAN)
            else:
                # Gaps are left to a model that prepares columns itself.
                number = NumberColumn(name, np.nan if is_raw else None)
                found[name] = number.values(column, slice(None))[0]
        return found

    def without_wrong_cells(
        self, table: Table, strict: bool
    ) -> tuple[Table, dict[str, np.ndarray]]:
        """The table with gaps in place of cells that cannot be read.

        The masks, by column, are of these cells, of gaps that the model does not fill
        in, and, if ``strict``, of gaps and categories that the fit did not have.
        """
        wrong: dict[str, np.ndarray] = {}
        columns = dict(table.columns)
        needed = {*self._number_columns, *self._text_columns}
        for name, column in table.columns.items():
            if name not in needed or not isinstance(column, UnclearNumbers):
                continue
            if column.rest is not None:
                assert column.wrong is not None
                columns[name], wrong[name] = column.rest, column.wrong
        table = replace(table, columns=columns)
        masks = [*self._unfilled(table).items()]
        if strict and self.preparation is not None:
            masks += [
                (name, _mask(rows, table.n_rows))
                for name, rows in self.preparation.new_gaps(table).items()
            ]
        if strict:
            masks += [
                (name, _mask(rows, table.n_rows))
                for name, levels in self.unknown(table).items()
                for rows in levels.values()
            ]
        for name, mask in masks:
            wrong[name] = wrong.get(name, False) | mask
        return table, {name: wrong[name] for name in wrong if wrong[name].any()}

    def _unfilled(self, table: Table) -> dict[str, np.ndarray]:
        """Masks of the rows without a value that the model needs, by column."""
        if self.preparation is not None:
            return self.preparation.unfilled(table)
        if takes_columns(self.model):
            return rows_without_value(self.model, self._columns(table))
        return {
            name: NumberColumn(name).gaps(table.column(name, "the model"))
            for name in self.model.names
        }

    def unknown(self, table: Table) -> dict[str, dict[str, np.ndarray]]:
        """Rows with a category that the model does not know, by column and category."""
        if self.preparation is not None:
            return self.preparation.unknown(table)
        if not takes_columns(self.model):
            return {}
        columns = self._columns(table)
        unknown: dict[str, dict[str, np.ndarray]] = {}
        for origin in read_origins(self.model):
            # That of an indicator has no levels.
            if origin.lookup is not None and origin.lookup.levels:
                known = origin.lookup.levels
                rows = np.flatnonzero(
                    places_of_values(known, columns[origin.column]) == len(known)
                )
                names = columns[origin.column][rows].astype(str)
                unknown[origin.column] = {
                    name: rows[names == name] for name in np.unique(names).tolist()
                }
        return {name: levels for name, levels in unknown.items() if levels}

    def scores(self, values: Mapping[str, np.ndarray], n_rows: int) -> np.ndarray:
        """Scores of rows, in a column for each."""
        if not self.model.features:
            scores = rounded(
                self.model.intercepts, self.model.coef, self.model.intercepts
            )
            return np.tile(scores, (n_rows, 1))
        return self.model.scores(values)

    def by_class(self, name: str, values: np.ndarray) -> dict[str, np.ndarray]:
        """Columns of values for each score, by name."""
        return dict(zip(by_class(name, self.model.classes), values.T, strict=True))

    def contributions(self, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """What each feature adds to the scores, in a column for each."""
        return {
            one.name: np.outer((values[one.name] - one.mean) / one.scale, one.weight)
            for one in self.model.features
        }

    def by_group(self, parts: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The same, with one entry for the features of a group together."""
        owner = {
            name: one.name
            for one in self.model.groups
            for name in one.features
            if one.name not in parts
        }
        found: dict[str, np.ndarray] = {}
        for name, part in parts.items():
            key = owner.get(name, name)
            found[key] = found[key] + part if key in found else part
        return found

    def value_text(self, name: str, values: Mapping[str, np.ndarray], k: int) -> str:
        """The value of a feature, or that of a variable, in one row."""
        if name in values:
            return f"{values[name][k]:.6g}"
        group = next(one for one in self.model.groups if one.name == name)
        row = {one: values[one][k : k + 1] for one in group.features}
        if not are_values(group.features, row):
            return ""
        words = Values(group.name, group.features, ()).words()
        return words[int(places(group.features, row)[0])]

    def labels(self, scores: np.ndarray) -> np.ndarray:
        """Labels for scores."""
        return np.array(self.model.classes, dtype=object)[self.model.codes(scores)]

    def warnings(self, table: Table, numbers: np.ndarray | None = None) -> list[str]:
        """Warnings about a table, for the user.

        ``numbers`` are those of its rows, if it is part of another table.
        """
        if self.preparation is None:
            names = list(input_columns(self.model))
        else:
            names = [one.name for one in self.preparation.columns]
        words = self._said_twice(table, names)
        for name, rows in self._new_gaps(table, numbers).items():
            words.append(
                f"{name!r} has no value in {rows.size:,} row{'s' * (rows.size > 1)} "
                f"({row_list(rows)}), but had one in all rows of the fit; "
                f"{self._fill_words(name)}"
            )
        for name, levels in self.unknown(table).items():
            n_rows = sum(rows.size for rows in levels.values())
            shown = ", ".join(map(repr, list(levels)[:5]))
            words.append(
                f"{name!r} has values unknown to the model ({shown}) in "
                f"{n_rows:,} row{'s' * (n_rows > 1)}; they are treated {self._how}"
            )
        return words

    @property
    def _how(self) -> str:
        """How unknown categories are treated."""
        if self.preparation is None:
            return "as its encoder treats such values"
        return "as none of its categories"

    def _new_gaps(
        self, table: Table, numbers: np.ndarray | None
    ) -> dict[str, np.ndarray]:
        """Numbers of rows with a gap in a column that had none in the fit."""
        if self.preparation is None:
            return {}
        if numbers is None:
            numbers = np.arange(1, table.n_rows + 1)
        gaps = self.preparation.new_gaps(table)
        return {name: numbers[rows] for name, rows in gaps.items()}

    def refuse_new(self, table: Table) -> None:
        """Raise an error for gaps and categories that the fit did not have."""
        for name, rows in self._new_gaps(table, None).items():
            raise TableError(
                f"row {rows[0]:,} of {table.source} has no value in column "
                f"{name!r}, which had one in all rows of the fit; without --strict, "
                f"{self._fill_words(name)}."
            )
        for name, levels in self.unknown(table).items():
            first = min(int(rows[0]) for rows in levels.values())
            raise TableError(
                f"row {first + 1:,} of {table.source} has a value in column {name!r} "
                f"that the model does not know ({listed(list(levels))}); without "
                f"--strict, it is treated {self._how}."
            )

    def new_cells(self, table: Table, numbers: np.ndarray) -> dict[str, Any]:
        """Cells such as the fit did not have, for JSON, by numbers of rows.

        ``filled`` has the gaps in columns that had none, ``unknown`` the categories.
        """
        return {
            "filled": self._new_gaps(table, numbers),
            "unknown": {
                name: {level: numbers[rows] for level, rows in levels.items()}
                for name, levels in self.unknown(table).items()
            },
        }

    def _fill_words(self, name: str) -> str:
        assert self.preparation is not None
        (column,) = (one for one in self.preparation.columns if one.name == name)
        if isinstance(column, NumberColumn):
            return f"the median is taken, {column.fill:.6g}"
        return f"the most frequent category is taken, {column.fill!r}"

    @staticmethod
    def _said_twice(table: Table, names: Sequence[str]) -> list[str]:
        """Columns of the model that appear more than once in the table."""
        seconds = set(table.columns) - set(names)
        return [
            f"{name!r} appears more than once in {table.source}; the first one is used"
            for name in names
            if f"{name} (2)" in seconds
        ]


def _values(texts: Texts, is_boolean: bool) -> np.ndarray:
    """The values of a column of categories; None for gaps."""
    levels = map(truth, texts.levels) if is_boolean else texts.levels
    return np.array([*levels, None], dtype=object)[texts.codes]


def _mask(rows: np.ndarray, n_rows: int) -> np.ndarray:
    mask = np.zeros(n_rows, dtype=bool)
    mask[rows] = True
    return mask


def row_list(rows: np.ndarray) -> str:
    """The first numbers of rows."""
    shown = ", ".join(f"{k:,}" for k in rows[:N_ROWS].tolist())
    return f"row{'s' * (rows.size > 1)} {shown}{', ...' * (rows.size > N_ROWS)}"


def load_model(path: str) -> LoadedModel:
    """Read a model.json."""
    if Path(path).is_dir():
        raise TableError(f"{path} is a folder; give a model.json.")
    try:
        model = PortableModel.load(path)
    except InvalidModel as error:
        raise InvalidModel(
            f"{path} is not a model ({str(error).rstrip('.')}); write one with "
            "frugalsvm fit --model."
        ) from error
    text = model.metadata.get(PREPARATION)
    if text is None or takes_columns(model):
        return LoadedModel(model, None)
    preparation = Preparation.from_json(text)
    missing = set(model.names) - set(preparation.features)
    if missing:
        raise InvalidModel(
            f"{path}: feature {sorted(missing)[0]!r} has no preparation."
        )
    return LoadedModel(model, preparation)
