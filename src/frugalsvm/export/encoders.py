"""Fitted transformers of scikit-learn as functions of the columns of a table.

Each feature that they make is followed back to one column: it is the column itself,
with a replacement for gaps, or a number for each of its values. Scalers become a mean
and a scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from ..estimators import positions
from .lookups import NUMBER, OTHER, OWN_LEVEL, TEXT, Level, Lookup, is_gap, kind_of
from .origins import Origin, input_columns, read_origins

if TYPE_CHECKING:
    from .model import PortableModel

# Replaces a gap where nothing else does.
GAP = float("nan")


@dataclass(frozen=True)
class Term:
    """A feature: ``(value - mean) / scale`` for a value that a column determines.

    Attributes
    ----------
    column : int
    name : str
    fill : object
        For the column itself: the replacement for a gap, by default none.
    values : Codes or None
        For an encoded column: the value of each of its levels.
    mean, scale : float
    """

    column: int
    name: str
    fill: Any = GAP
    values: Codes | None = None
    mean: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True)
class Codes:
    """Values by levels; None where a transformer raises an error.

    Attributes
    ----------
    kind : str or None
        Kind of the levels; None if there are none.
    levels : tuple
    values : tuple
    unknown, gap : object
        The values for unknown values of the column, and for a gap.
    """

    kind: str | None
    levels: tuple[Level, ...]
    values: tuple[Any, ...]
    unknown: Any
    gap: Any

    def map(self, to: Callable[[Any], Any]) -> Codes:
        """Codes with other values; errors remain."""

        def mapped(value: Any) -> Any:
            return None if value is None else to(value)

        values = tuple(map(mapped, self.values))
        return replace(
            self, values=values, unknown=mapped(self.unknown), gap=mapped(self.gap)
        )


def origins_of(
    selected: Sequence[Term], terms: Sequence[Term], names: Sequence[str]
) -> list[Origin] | None:
    """Origins of selected features; None if all are plain columns of numbers."""
    columns = [term.column for term in selected]
    is_plain = all(term.values is None and is_gap(term.fill) for term in selected)
    if is_plain and len(set(columns)) == len(columns):
        return None
    kinds = {term.column: NUMBER for term in terms}
    for term in terms:
        if term.values is not None and term.values.kind is not None:
            kinds[term.column] = term.values.kind
    return [_origin(term, names[term.column], kinds[term.column]) for term in selected]


def _origin(term: Term, column: str, kind: str) -> Origin:
    is_other = term.values is None and kind == TEXT
    if is_other or (term.values is not None and term.values.kind not in (None, kind)):
        raise ValueError(
            f"column {column!r} is used as {kind} and as something else; encode it in "
            "one way."
        )
    if term.values is None:
        fill = None if is_gap(term.fill) else _real(term.fill, column)
        return Origin(column, fill=fill)
    codes = term.values
    values = [_real(value, column) for value in codes.values]
    ends = (_real(value, column) for value in (codes.unknown, codes.gap))
    return Origin(column, lookup=Lookup.of_values(kind, codes.levels, values, *ends))


def _real(value: Any, column: str) -> float | None:
    """A number; None for a gap."""
    if value is None or is_gap(value):
        return None
    if kind_of(value) == TEXT:
        raise ValueError(
            f"the pipeline leaves text in column {column!r}, {value!r}; encode it by "
            "OneHotEncoder or OrdinalEncoder."
        )
    return float(value)


# Stands for the code of gaps in an ordinal encoder.
_GAP_CODE = -1


def terms_of(transformers: Sequence[Any], names: Sequence[str]) -> list[Term]:
    """The features after a sequence of transformers of the columns of a table."""
    terms = [Term(j, name) for j, name in enumerate(names)]
    for step in transformers:
        terms = _after(step, terms)
    return terms


def _after(step: Any, terms: list[Term]) -> list[Term]:
    """The features after a transformer."""
    if step is None or isinstance(step, str):
        return [] if step == "drop" else terms
    for kind, follow in _KINDS:
        if isinstance(step, kind):
            return follow(step, terms)
    mean, scale = _mean_and_scale(step, len(terms))
    # ((x - m1) / s1 - m2) / s2 = (x - (m1 + s1 m2)) / (s1 s2)
    return [
        replace(term, mean=term.mean + term.scale * m, scale=term.scale * s)
        for term, m, s in zip(terms, mean.tolist(), scale.tolist(), strict=True)
    ]


def _of_parts(step: ColumnTransformer, terms: list[Term]) -> list[Term]:
    parts: dict[int, list[Term]] = {}
    names = getattr(step, "feature_names_in_", None)
    for name, transformer, chosen in step.transformers_:
        outputs = step.output_indices_[name]
        if outputs.stop > outputs.start:
            columns = positions(chosen, names, len(terms))
            inputs = [terms[j] for j in columns.tolist()]
            parts[outputs.start] = _after(transformer, inputs)
    return [term for start in sorted(parts) for term in parts[start]]


def _of_steps(step: Pipeline, terms: list[Term]) -> list[Term]:
    for _, transformer in step.steps:
        terms = _after(transformer, terms)
    return terms


def _selected(step: Any, terms: list[Term]) -> list[Term]:
    return [terms[j] for j in np.flatnonzero(step.get_support()).tolist()]


def _mean_and_scale(step: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(step, FunctionTransformer) and step.func is None:
        return np.zeros(n), np.ones(n)
    if isinstance(step, StandardScaler):
        # It may have means without using them.
        mean = step.mean_ if step.with_mean else None
        return _or(mean, 0.0, n), _or(step.scale_, 1.0, n)
    if isinstance(step, RobustScaler):
        return _or(step.center_, 0.0, n), _or(step.scale_, 1.0, n)
    clips = getattr(step, "clip", False)
    if isinstance(step, MaxAbsScaler) and not clips:
        return np.zeros(n), step.scale_
    if isinstance(step, MinMaxScaler) and not clips:
        return -step.min_ / step.scale_, 1.0 / step.scale_
    raise ValueError(
        f"{type(step).__name__} cannot be expressed by means, scales and weights of "
        "columns; supported are StandardScaler, RobustScaler, MinMaxScaler and "
        "MaxAbsScaler (without clip), OneHotEncoder, OrdinalEncoder, SimpleImputer, "
        "MissingIndicator, feature selectors, and a ColumnTransformer or a Pipeline of "
        "these. Apply it to the table beforehand, and fit a pipeline without it."
    )


def _or(values: Any, otherwise: float, n: int) -> np.ndarray:
    return np.full(n, otherwise) if values is None else np.asarray(values, float)


# --- gaps ----------------------------------------------------------------------------


def _imputed(step: SimpleImputer, terms: list[Term]) -> list[Term]:
    _check_gaps(step)
    imputed = [
        _filled(term, value)
        for term, value in zip(terms, step.statistics_.tolist(), strict=True)
        # Columns without any value are dropped; None is a value.
        if step.keep_empty_features or value is None or not is_gap(value)
    ]
    indicator = getattr(step, "indicator_", None)
    return imputed if indicator is None else imputed + _indicators(indicator, terms)


def _filled(term: Term, value: Any) -> Term:
    if term.values is not None:
        shifted = value if kind_of(value) == TEXT else term.mean + term.scale * value
        codes = term.values.map(lambda code: shifted if is_gap(code) else code)
        return replace(term, values=codes)
    if not is_gap(term.fill):
        return term
    is_scaled = (term.mean, term.scale) != (0.0, 1.0)
    return replace(term, fill=term.mean + term.scale * value if is_scaled else value)


def _indicators(step: MissingIndicator, terms: list[Term]) -> list[Term]:
    _check_gaps(step)
    return [_indicator(terms[j]) for j in step.features_.tolist()]


def _indicator(term: Term) -> Term:
    name = f"{term.name} missing"
    if term.values is not None:
        codes = term.values.map(lambda code: float(is_gap(code)))
        return Term(term.column, name, values=codes)
    gap = float(is_gap(term.fill))
    return Term(term.column, name, values=Codes(None, (), (), 0.0, gap))


def _check_gaps(step: Any) -> None:
    if not is_gap(step.missing_values):
        raise ValueError(
            f"{type(step).__name__} replaces {step.missing_values!r}, and a portable "
            "model knows gaps only as NaN or None; replace it by NaN in the table, and "
            "fit again with missing_values=numpy.nan."
        )


# --- categories ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Categories:
    """The categories of a column in an encoder.

    ``codes`` are the positions of levels among the categories after rare ones are
    merged; ``gap`` is the code of a gap, ``other`` that of rare categories, or None.
    """

    levels: tuple[Level, ...]
    codes: tuple[int | None, ...]
    gap: int | None
    other: int | None
    n_codes: int


def _categories(step: Any, j: int, name: str) -> _Categories:
    """The categories of column ``j``.

    An ordinal encoder has a separate code for NaN, but None is a category.
    """
    levels = _plain(step.categories_[j])
    rare = None
    if getattr(step, "_infrequent_enabled", False):
        rare = step.infrequent_categories_[j]
    rare = [] if rare is None else list(rare)
    is_rare = [
        any((is_gap(level) and is_gap(other)) or bool(level == other) for other in rare)
        for level in levels
    ]
    gaps = [k for k, level in enumerate(levels) if is_gap(level)]
    if len(gaps) > 1:
        raise ValueError(
            f"{type(step).__name__} has two kinds of gaps in {name!r}, None and NaN; "
            "write them in one way, e.g. table.fillna(numpy.nan), and fit again."
        )
    has_gap_code = isinstance(step, OrdinalEncoder) and any(
        levels[k] is not None for k in gaps
    )
    remaining = [k for k in range(len(levels)) if not is_rare[k]]
    if has_gap_code:
        remaining = [k for k in remaining if k not in gaps]
    code_of = {k: i for i, k in enumerate(remaining)}
    other = len(remaining) if rare else None
    codes = [code_of.get(k, other) for k in range(len(levels))]
    no_gaps = [k for k in range(len(levels)) if k not in gaps]
    return _Categories(
        tuple(levels[k] for k in no_gaps),
        tuple(codes[k] for k in no_gaps),
        (_GAP_CODE if has_gap_code else codes[gaps[0]]) if gaps else None,
        other,
        len(remaining) + (other is not None),
    )


def _plain(values: np.ndarray) -> list[Any]:
    """Categories as Python values, but dates, of which tolist makes integers."""
    return list(values) if values.dtype.kind in "mM" else values.tolist()


def _coded(
    term: Term, categories: _Categories, value_of: Callable[[Any], Any]
) -> Codes:
    """The values of a column, from the value of each code; None is an unknown level."""
    codes = dict(zip(categories.levels, categories.codes, strict=True))

    def coded(value: Any) -> Any:
        if is_gap(value):
            return value_of(categories.gap)
        return value_of(codes.get(value))

    if (term.mean, term.scale) != (0.0, 1.0):
        raise ValueError(
            f"{term.name!r} is scaled before it is encoded; encode it as it is in the "
            "table."
        )
    if term.values is not None:
        return term.values.map(coded)
    if categories.gap is not None and not is_gap(term.fill):
        raise ValueError(
            f"{term.name!r} is imputed, and its encoder knows gaps that were not (None "
            "beside NaN); write gaps in one way, e.g. table.fillna(numpy.nan)."
        )
    kind = _kind(categories.levels, term.name)
    values = tuple(value_of(code) for code in categories.codes)
    return Codes(kind, categories.levels, values, value_of(None), coded(term.fill))


def _kind(levels: Sequence[Level], name: str) -> str | None:
    kinds = {kind_of(level) for level in levels}
    if not kinds:
        return None
    (kind, *more) = kinds
    if more or kind is None:
        odd = next((level for level in levels if kind_of(level) is None), levels[0])
        raise ValueError(
            f"the categories of {name!r} must be all text, all numbers or all truth "
            f"values, got {odd!r} of type {type(odd).__name__} among them; convert the "
            "column."
        )
    return kind


def _one_hot(step: OneHotEncoder, terms: list[Term]) -> list[Term]:
    features = []
    for j, term in enumerate(terms):
        categories = _categories(step, j, term.name)
        dropped = _dropped(step, j, categories)
        for code in range(categories.n_codes):
            if code != dropped:
                name = f"{term.name}={_level_name(categories, code)}"
                flags = _coded(term, categories, _one_hot_value(step, categories, code))
                features.append(Term(term.column, name, values=flags))
    return features


def _dropped(step: OneHotEncoder, j: int, categories: _Categories) -> int | None:
    if step.drop_idx_ is None or step.drop_idx_[j] is None:
        return None
    k = int(step.drop_idx_[j])
    value = _plain(step.categories_[j])[k]
    if is_gap(value):
        return categories.gap
    return dict(zip(categories.levels, categories.codes, strict=True))[value]


def _one_hot_value(
    step: OneHotEncoder, categories: _Categories, category: int
) -> Callable[[Any], Any]:
    def value_of(code: int | None) -> float | None:
        if code is None and step.handle_unknown == "error":
            return None
        if code is None and step.handle_unknown != "ignore":
            code = categories.other
        return float(code == category)

    return value_of


def _level_name(categories: _Categories, code: int) -> str:
    if code == categories.other:
        return OTHER
    if code == categories.gap:
        return OWN_LEVEL
    return str(categories.levels[categories.codes.index(code)])


def _ordinal(step: OrdinalEncoder, terms: list[Term]) -> list[Term]:
    def value_of(code: int | None) -> float | None:
        if code == _GAP_CODE:
            return float(step.encoded_missing_value)
        if code is not None:
            return float(code)
        return None if step.handle_unknown == "error" else float(step.unknown_value)

    features = []
    for j, term in enumerate(terms):
        codes = _coded(term, _categories(step, j, term.name), value_of)
        features.append(Term(term.column, f"{term.name} code", values=codes))
    return features


class TableColumns(TransformerMixin, BaseEstimator):
    """A fitted transformer: from the columns of a table to the features of a model.

    Parameters
    ----------
    model : PortableModel
        Its input is the columns of a table.
    """

    def __init__(self, model: PortableModel):
        self.model = model
        columns = input_columns(model)
        self.n_features_in_ = len(columns)
        if any(name != f"x{index}" for name, index in columns.items()):
            self.feature_names_in_ = np.array(list(columns), dtype=object)

    def fit(self, X: Any, y: Any = None) -> TableColumns:
        """Nothing is learned."""
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The features of the rows of a table."""
        return self.model.select(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features."""
        return np.array(self.model.names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _of_table(step: TableColumns, terms: list[Term]) -> list[Term]:
    """The features of a portable model, from :meth:`PortableModel.to_pipeline`."""
    index = {name: k for k, name in enumerate(input_columns(step.model))}
    pairs = zip(step.model.names, read_origins(step.model), strict=True)
    return [
        _of_origin(terms[index[origin.column]], name, origin) for name, origin in pairs
    ]


def _of_origin(term: Term, name: str, origin: Origin) -> Term:
    look = origin.lookup
    if look is None:
        return Term(term.column, name, GAP if origin.fill is None else origin.fill)
    numbers = [None if is_gap(number) else number for number in look.table().tolist()]
    kind = look.kind if look.levels else None
    codes = Codes(kind, look.levels, tuple(numbers[:-2]), *numbers[-2:])
    return Term(term.column, name, values=codes)


_KINDS: tuple[tuple[type, Callable[[Any, list[Term]], list[Term]]], ...] = (
    (ColumnTransformer, _of_parts),
    (Pipeline, _of_steps),
    (SelectorMixin, _selected),
    (SimpleImputer, _imputed),
    (MissingIndicator, _indicators),
    (OneHotEncoder, _one_hot),
    (OrdinalEncoder, _ordinal),
    (TableColumns, _of_table),
)
