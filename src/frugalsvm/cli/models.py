"""Models of the command line: model.json, with the preparation of its columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..export import (
    BOOLEAN,
    CLASS_WEIGHTS,
    LEAST,
    MISSING_WORDS,
    NUMBER,
    PREPARATION,
    Feature,
    Group,
    InvalidModel,
    PortableModel,
    Proof,
    RefitProof,
    Values,
    are_values,
    column_kinds,
    input_columns,
    level_indices,
    read_origins,
    rows_without_value,
    takes_columns,
    truth,
    value_indices,
)
from ..problem import rounded
from ..run import by_class
from ..tables import (
    ALL_OPEN,
    USUAL,
    FormatRules,
    Layout,
    NumberColumn,
    Preparation,
    Table,
    TableError,
    UnclearNumbers,
    as_texts,
    check_clear,
    listed,
    read_table,
)
from .entry import package_version
from .options import check_names, combined

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
    fingerprint = checksum = None
    if result.certificate is not None:
        arrays = result.certificate.arrays
        fingerprint, checksum = str(arrays["fingerprint"]), str(arrays["checksum"])
    refit = result.refit
    refit_proof = None
    if refit is not None:
        refit_proof = RefitProof(refit.C, refit.objective, refit.lower_bound)
    # A model with probabilities would predict by them without a threshold.
    has_probabilities = fit.calibration is not None
    threshold = 0.0 if fit.threshold is None and has_probabilities else fit.threshold
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
            fingerprint,
            checksum,
            refit_proof,
        ),
        metadata,
        *_groups_and_signs(fit, columns),
        threshold,
    )
    # Statistics of fewer rows would reveal their values.
    return model if data.n_rows < 2 * LEAST else _with_statistics(model, fit, data)


def _with_statistics(
    model: PortableModel, fit: Fit, data: PreparedTable
) -> PortableModel:
    """The model with statistics of the rows of the fit."""
    columns, table = fit.result.selected_columns.tolist(), data.table
    features = fit.preparation.restricted(columns).values_of(table, model.names)
    origins = fit.preparation.origins()
    values = np.empty((data.n_rows, len(columns)))
    gaps = np.empty(values.shape, dtype=bool)
    for k, (j, feature) in enumerate(zip(columns, features.values(), strict=True)):
        column = origins[j][0]
        values[:, k] = feature
        gaps[:, k] = column.gaps(table.columns[column.name])
    return model.with_values(values, gaps, data.target.positive.astype(np.intp))


def _groups_and_signs(
    fit: Fit, columns: Sequence[int]
) -> tuple[tuple[Group, ...], dict[str, str]]:
    """Groups of the features of one variable, and signs of weights by feature."""
    names = fit.preparation.features
    labels = fit.conditions.labels(fit.preparation)
    members: dict[str, list[str]] = {}
    for j in columns:
        members.setdefault(labels[j], []).append(names[j])
    groups = tuple(
        Group(label, tuple(features))
        for label, features in members.items()
        if len(features) > 1
    )
    signs = fit.conditions.signs_of(fit.preparation)
    if signs is None:
        return groups, {}
    return groups, {names[j]: "+" if signs[j] > 0 else "-" for j in columns if signs[j]}


@dataclass(frozen=True)
class LoadedModel:
    """A model.json, and how to prepare a table for it.

    Attributes
    ----------
    model : PortableModel
    preparation : Preparation or None
        None if the model was not written by the command line: its features are then
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
        allow_empty: bool = False,
    ) -> Table:
        """Read a table; categories and identifiers stay text.

        An account of 18 digits, or 007, would not be the same as a number. Number
        formats are those of the fit, unless ``formats`` says otherwise.
        """
        texts, numbers = self._text_columns, self._number_columns
        if id_column is not None and id_column not in numbers:
            texts = {*texts, id_column}
        stored = {} if self.preparation is None else self.preparation.format_rules
        rules = combined(stored, formats, sorted(numbers))
        needed = {*numbers, *texts}
        needed |= {name for name in (id_column, target) if name is not None}
        table = read_table(
            path,
            as_text=texts,
            encoding=encoding,
            formats=rules,
            only=needed,
            layout=layout,
            not_missing=self._not_missing,
            allow_empty=allow_empty,
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
    def _not_missing(self) -> dict[str, Collection[str]]:
        """Words for missing values that are categories of the model, by column."""
        if self.preparation is not None:
            return self.preparation.not_missing
        by_column: dict[str, set[str]] = {}
        for origin in read_origins(self.model):
            levels = () if origin.lookup is None else origin.lookup.levels
            if missing_texts := set(MISSING_WORDS).intersection(levels):
                by_column.setdefault(origin.column, set()).update(missing_texts)
        return dict(by_column)

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
        columns = self._columns(table)
        if takes_columns(self.model):
            features = self.model.select(columns)
            return dict(zip(self.model.names, features.T, strict=True))
        return columns

    def _columns(self, table: Table) -> dict[str, np.ndarray]:
        """The columns that a model without a preparation takes, by name."""
        is_raw = takes_columns(self.model)
        kinds = column_kinds(self.model) if is_raw else {}
        columns = {}
        for name in kinds if is_raw else self.model.names:
            column = table.column(name, "the model")
            check_clear({name: column}, table.source)
            if kinds.get(name, NUMBER) != NUMBER:
                texts = as_texts(column)
                is_boolean = kinds[name] == BOOLEAN
                levels = map(truth, texts.levels) if is_boolean else texts.levels
                # The code of a gap is -1.
                columns[name] = np.array([*levels, None], dtype=object)[texts.codes]
            else:
                # A model that prepares columns itself fills its gaps.
                number = NumberColumn(name, np.nan if is_raw else None)
                columns[name] = number.values(column, slice(None))[0]
        return columns

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
            if column.readable is not None:
                assert column.wrong is not None
                columns[name], wrong[name] = column.readable, column.wrong
        table = replace(table, columns=columns)
        for name, mask in self._unfilled(table).items():
            wrong[name] = wrong.get(name, False) | mask
        if strict:
            new = [*self._new_gaps(table).items()]
            new += [
                (name, rows)
                for name, levels in self.unknown(table).items()
                for rows in levels.values()
            ]
            for name, rows in new:
                mask = np.zeros(table.n_rows, dtype=bool)
                mask[rows] = True
                wrong[name] = wrong.get(name, False) | mask
        return table, {name: mask for name, mask in wrong.items() if mask.any()}

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
        """Rows with a category unknown to the model, by column and category."""
        if self.preparation is not None:
            return self.preparation.unknown(table)
        if not takes_columns(self.model):
            return {}
        columns = self._columns(table)
        unknown: dict[str, dict[str, np.ndarray]] = {}
        for origin in read_origins(self.model):
            # The lookup of an indicator has no levels.
            if origin.lookup is not None and origin.lookup.levels:
                levels, values = origin.lookup.levels, columns[origin.column]
                rows = np.flatnonzero(level_indices(levels, values) == len(levels))
                names = values[rows].astype(str)
                unknown[origin.column] = {
                    name: rows[names == name] for name in np.unique(names).tolist()
                }
        return {name: by_level for name, by_level in unknown.items() if by_level}

    def scores(self, values: Mapping[str, np.ndarray], n_rows: int) -> np.ndarray:
        """Scores of rows: a column for each score of the model."""
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
        """The contribution of each feature to the scores: a column for each score."""
        return {
            feature.name: np.outer(
                (values[feature.name] - feature.mean) / feature.scale, feature.weight
            )
            for feature in self.model.features
        }

    def by_group(self, parts: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Contributions, summed over the features of each group."""
        group_of = {
            name: group.name
            for group in self.model.groups
            for name in group.features
            if group.name not in parts
        }
        sums: dict[str, np.ndarray] = {}
        for name, part in parts.items():
            key = group_of.get(name, name)
            sums[key] = sums[key] + part if key in sums else part
        return sums

    def value_text(self, name: str, values: Mapping[str, np.ndarray], k: int) -> str:
        """The value of a feature, or of the variable of a group, in row ``k``."""
        if name in values:
            return f"{values[name][k]:.6g}"
        group = next(group for group in self.model.groups if group.name == name)
        row = {feature: values[feature][k : k + 1] for feature in group.features}
        if not are_values(group.features, row):
            return ""
        texts = Values(group.name, group.features, ()).words()
        return texts[int(value_indices(group.features, row)[0])]

    def labels(self, scores: np.ndarray) -> np.ndarray:
        """Labels for scores."""
        return np.array(self.model.classes, dtype=object)[self.model.codes(scores)]

    def warnings(self, table: Table, numbers: np.ndarray | None = None) -> list[str]:
        """Warnings about a table, for the user.

        ``numbers`` are the numbers of its rows, if it is a part of another table.
        """
        if numbers is None:
            numbers = np.arange(1, table.n_rows + 1)
        if self.preparation is None:
            names = list(input_columns(self.model))
        else:
            names = [column.name for column in self.preparation.columns]
        # The second column of a name is read as "name (2)".
        others = set(table.columns) - set(names)
        warnings = [
            f"{name!r} appears more than once in {table.source}; the first one is used"
            for name in names
            if f"{name} (2)" in others
        ]
        for name, rows in self._new_gaps(table).items():
            warnings.append(
                f"{name!r} has no value in {rows.size:,} row{'s' * (rows.size > 1)} "
                f"({row_list(numbers[rows])}), but had one in all rows of the fit; "
                f"{self._fill_text(name)}"
            )
        for name, levels in self.unknown(table).items():
            n_rows = sum(rows.size for rows in levels.values())
            examples = ", ".join(map(repr, list(levels)[:5]))
            warnings.append(
                f"{name!r} has values unknown to the model ({examples}) in {n_rows:,} "
                f"row{'s' * (n_rows > 1)}; they are treated {self._unknown_treatment}"
            )
        return warnings

    @property
    def _unknown_treatment(self) -> str:
        """How unknown categories are treated."""
        if self.preparation is None:
            return "as its encoder treats such values"
        return "as none of its categories"

    def _new_gaps(self, table: Table) -> dict[str, np.ndarray]:
        """Rows with a gap in a column that had none in the fit."""
        return {} if self.preparation is None else self.preparation.new_gaps(table)

    def refuse_new(self, table: Table) -> None:
        """Raise an error for gaps and categories that the fit did not have."""
        for name, rows in self._new_gaps(table).items():
            raise TableError(
                f"row {rows[0] + 1:,} of {table.source} has no value in column "
                f"{name!r}, which had one in all rows of the fit; without --strict, "
                f"{self._fill_text(name)}."
            )
        for name, levels in self.unknown(table).items():
            first = min(int(rows[0]) for rows in levels.values())
            raise TableError(
                f"row {first + 1:,} of {table.source} has a value in column {name!r} "
                f"that the model does not know ({listed(list(levels))}); without "
                f"--strict, it is treated {self._unknown_treatment}."
            )

    def new_cells(self, table: Table, numbers: np.ndarray) -> dict[str, Any]:
        """Numbers of rows with gaps or categories that the fit did not have, for JSON.

        ``filled`` has the gaps in columns that had none, ``unknown`` the categories.
        """
        gaps = self._new_gaps(table)
        return {
            "filled": {name: numbers[rows] for name, rows in gaps.items()},
            "unknown": {
                name: {level: numbers[rows] for level, rows in levels.items()}
                for name, levels in self.unknown(table).items()
            },
        }

    def _fill_text(self, name: str) -> str:
        """The value that replaces the gaps of a column."""
        assert self.preparation is not None
        (column,) = (x for x in self.preparation.columns if x.name == name)
        if isinstance(column, NumberColumn):
            return f"the median is taken, {column.fill:.6g}"
        return f"the most frequent category is taken, {column.fill!r}"


def row_list(numbers: np.ndarray) -> str:
    """The first eight numbers of rows, for a message."""
    text = ", ".join(f"{k:,}" for k in numbers[:8].tolist())
    return f"row{'s' * (numbers.size > 1)} {text}{', ...' * (numbers.size > 8)}"


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
