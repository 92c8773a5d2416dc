"""What fitted transformers of scikit-learn do with the columns of a table.

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

from ..estimators.encoded_columns import positions
from .lookups import NUMBER, OTHER, OWN_LEVEL, TEXT, Level, Lookup, is_gap, kind_of
from .origins import Origin, input_columns, read_origins

if TYPE_CHECKING:
    from .model import PortableModel

# --- Features as functions of one column each, while transformers are followed --------

GAP = float("nan")


@dataclass(frozen=True)
class Term:
    """A feature: ``(value - mean) / scale`` for a value that a column determines.

    Attributes
    ----------
    column : int
    name : str
    fill : object
        For the column itself: what replaces a gap, by default nothing.
    values : Codes or None
        For an encoded column: the value for each of its levels.
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
        That of the levels; None if there are none.
    levels : tuple
    values : tuple
    unknown, gap : object
        The values for other values of the column, and for a gap.
    """

    kind: str | None
    levels: tuple[Level, ...]
    values: tuple[Any, ...]
    unknown: Any
    gap: Any

    def map(self, to: Callable[[Any], Any]) -> Codes:
        """With other values; an error stays one."""

        def mapped(value: Any) -> Any:
            return None if value is None else to(value)

        values = tuple(map(mapped, self.values))
        return replace(
            self, values=values, unknown=mapped(self.unknown), gap=mapped(self.gap)
        )


def origins_of(
    used: Sequence[Term], terms: Sequence[Term], names: Sequence[str]
) -> list[Origin] | None:
    """Where the used features come from; None if they are just columns of numbers."""
    places = [one.column for one in used]
    is_plain = all(one.values is None and is_gap(one.fill) for one in used)
    if is_plain and len(set(places)) == len(places):
        return None
    kinds = {one.column: NUMBER for one in terms}
    for one in terms:
        if one.values is not None and one.values.kind is not None:
            kinds[one.column] = one.values.kind
    return [_origin(one, names[one.column], kinds[one.column]) for one in used]


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
    values = [_real(one, column) for one in codes.values]
    ends = (_real(one, column) for one in (codes.unknown, codes.gap))
    return Origin(column, lookup=Lookup.of_values(kind, codes.levels, values, *ends))


def _real(value: Any, column: str) -> float | None:
    """A number, or None for none."""
    if value is None or is_gap(value):
        return None
    if kind_of(value) == TEXT:
        raise ValueError(
            f"the pipeline leaves text in column {column!r}, {value!r}; encode it by "
            "OneHotEncoder or OrdinalEncoder."
        )
    return float(value)


# --- What fitted transformers of scikit-learn do with the columns of a table ----------

# The place of gaps that have a code of their own.
_OWN_CODE = -1


def terms_of(transformers: Sequence[Any], names: Sequence[str]) -> list[Term]:
    """The features that transformers make of the columns of a table, in turn."""
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
        replace(one, mean=one.mean + one.scale * m, scale=one.scale * s)
        for one, m, s in zip(terms, mean.tolist(), scale.tolist(), strict=True)
    ]


def _of_parts(step: ColumnTransformer, terms: list[Term]) -> list[Term]:
    found: dict[int, list[Term]] = {}
    names = getattr(step, "feature_names_in_", None)
    for name, one, chosen in step.transformers_:
        at = step.output_indices_[name]
        if at.stop > at.start:
            places = positions(chosen, names, len(terms))
            found[at.start] = _after(one, [terms[j] for j in places.tolist()])
    return [term for start in sorted(found) for term in found[start]]


def _of_steps(step: Pipeline, terms: list[Term]) -> list[Term]:
    for _, one in step.steps:
        terms = _after(one, terms)
    return terms


def _selected(step: Any, terms: list[Term]) -> list[Term]:
    return [terms[j] for j in np.flatnonzero(step.get_support()).tolist()]


def _mean_and_scale(step: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(step, FunctionTransformer) and step.func is None:
        return np.zeros(n), np.ones(n)
    if isinstance(step, StandardScaler):
        # It may have means that it does not use.
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
    found = [
        _filled(term, value)
        for term, value in zip(terms, step.statistics_.tolist(), strict=True)
        # Columns without any value are dropped; None is one.
        if step.keep_empty_features or value is None or not is_gap(value)
    ]
    indicator = getattr(step, "indicator_", None)
    return found if indicator is None else found + _indicators(indicator, terms)


def _filled(term: Term, value: Any) -> Term:
    if term.values is not None:
        shifted = value if kind_of(value) == TEXT else term.mean + term.scale * value
        codes = term.values.map(lambda one: shifted if is_gap(one) else one)
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
        codes = term.values.map(lambda one: float(is_gap(one)))
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
    """The categories of a column in an encoder, and the codes of rare ones.

    ``places`` are the positions of levels among the categories that remain after rare
    ones are merged; ``gap`` is that of a gap, and ``other`` that of the rare ones, or
    None.
    """

    levels: tuple[Level, ...]
    places: tuple[int | None, ...]
    gap: int | None
    other: int | None
    n_left: int


def _categories(step: Any, j: int, name: str) -> _Categories:
    """The categories of column ``j``.

    An ordinal encoder has a code of its own for NaN; None is a category for it.
    """
    known = _plain(step.categories_[j])
    rare = _rare(step, j)
    is_rare = [any(_same(one, other) for other in rare) for one in known]
    gaps = [k for k, one in enumerate(known) if is_gap(one)]
    if len(gaps) > 1:
        raise ValueError(
            f"{type(step).__name__} has two kinds of gaps in {name!r}, None and NaN; "
            "write them in one way, e.g. table.fillna(numpy.nan), and fit again."
        )
    has_own_code = isinstance(step, OrdinalEncoder) and any(
        known[k] is not None for k in gaps
    )
    kept = [k for k in range(len(known)) if not is_rare[k]]
    if has_own_code:
        kept = [k for k in kept if k not in gaps]
    place = {k: i for i, k in enumerate(kept)}
    other = len(kept) if rare else None
    found = [place.get(k, other) for k in range(len(known))]
    levels = [k for k in range(len(known)) if k not in gaps]
    return _Categories(
        tuple(known[k] for k in levels),
        tuple(found[k] for k in levels),
        (_OWN_CODE if has_own_code else found[gaps[0]]) if gaps else None,
        other,
        len(kept) + (other is not None),
    )


def _plain(values: np.ndarray) -> list[Any]:
    """Categories as Python's values; NumPy's tolist makes integers of dates."""
    return list(values) if values.dtype.kind in "mM" else values.tolist()


def _rare(step: Any, j: int) -> list[Any]:
    if not getattr(step, "_infrequent_enabled", False):
        return []
    found = step.infrequent_categories_[j]
    return [] if found is None else list(found)


def _same(one: Any, other: Any) -> bool:
    return (is_gap(one) and is_gap(other)) or bool(one == other)


def _coded(term: Term, known: _Categories, code: Callable[[Any], Any]) -> Codes:
    """The codes of a column, for the code of each place: None for an unknown value."""
    place = dict(zip(known.levels, known.places, strict=True))

    def coded(value: Any) -> Any:
        if is_gap(value):
            return code(known.gap)
        return code(place.get(value))

    if (term.mean, term.scale) != (0.0, 1.0):
        raise ValueError(
            f"{term.name!r} is scaled before it is encoded; encode it as it is in the "
            "table."
        )
    if term.values is not None:
        return term.values.map(coded)
    if known.gap is not None and not is_gap(term.fill):
        raise ValueError(
            f"{term.name!r} is imputed, and its encoder knows gaps that were not (None "
            "beside NaN); write gaps in one way, e.g. table.fillna(numpy.nan)."
        )
    kind = _kind(known.levels, term.name)
    values = tuple(code(one) for one in known.places)
    return Codes(kind, known.levels, values, code(None), coded(term.fill))


def _kind(levels: Sequence[Level], name: str) -> str | None:
    kinds = {kind_of(one) for one in levels}
    if not kinds:
        return None
    (kind, *more) = kinds
    if more or kind is None:
        odd = next((one for one in levels if kind_of(one) is None), levels[0])
        raise ValueError(
            f"the categories of {name!r} must be all text, all numbers or all truth "
            f"values, got {odd!r} of type {type(odd).__name__} among them; convert the "
            "column."
        )
    return kind


def _one_hot(step: OneHotEncoder, terms: list[Term]) -> list[Term]:
    found = []
    for j, term in enumerate(terms):
        known = _categories(step, j, term.name)
        dropped = _dropped(step, j, known)
        for place in range(known.n_left):
            if place != dropped:
                code = _one_hot_code(step, known, place)
                name = f"{term.name}={_level_name(known, place)}"
                found.append(Term(term.column, name, values=_coded(term, known, code)))
    return found


def _dropped(step: OneHotEncoder, j: int, known: _Categories) -> int | None:
    if step.drop_idx_ is None or step.drop_idx_[j] is None:
        return None
    k = int(step.drop_idx_[j])
    value = _plain(step.categories_[j])[k]
    if is_gap(value):
        return known.gap
    return dict(zip(known.levels, known.places, strict=True))[value]


def _one_hot_code(
    step: OneHotEncoder, known: _Categories, place: int
) -> Callable[[Any], Any]:
    def code(at: int | None) -> float | None:
        if at is None and step.handle_unknown == "error":
            return None
        if at is None and step.handle_unknown != "ignore":
            at = known.other
        return float(at == place)

    return code


def _level_name(known: _Categories, place: int) -> str:
    if place == known.other:
        return OTHER
    if place == known.gap:
        return OWN_LEVEL
    return str(known.levels[known.places.index(place)])


def _ordinal(step: OrdinalEncoder, terms: list[Term]) -> list[Term]:
    found = []
    for j, term in enumerate(terms):
        known = _categories(step, j, term.name)
        codes = _coded(term, known, _ordinal_code(step, known))
        found.append(Term(term.column, f"{term.name} code", values=codes))
    return found


def _ordinal_code(step: OrdinalEncoder, known: _Categories) -> Callable[[Any], Any]:
    def code(at: int | None) -> float | None:
        if at == _OWN_CODE:
            return float(step.encoded_missing_value)
        if at is not None:
            return float(at)
        return None if step.handle_unknown == "error" else float(step.unknown_value)

    return code


class TableColumns(TransformerMixin, BaseEstimator):
    """A fitted transformer: from the columns of a table to the features of a model.

    Parameters
    ----------
    model : PortableModel
        One whose input is the columns of a table.
    """

    def __init__(self, model: PortableModel):
        self.model = model
        columns = input_columns(model)
        self.n_features_in_ = len(columns)
        if any(name != f"x{place}" for name, place in columns.items()):
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
    place = {name: k for k, name in enumerate(input_columns(step.model))}
    pairs = zip(step.model.names, read_origins(step.model), strict=True)
    return [_of_origin(terms[place[one.column]], name, one) for name, one in pairs]


def _of_origin(term: Term, name: str, origin: Origin) -> Term:
    look = origin.lookup
    if look is None:
        return Term(term.column, name, GAP if origin.fill is None else origin.fill)
    numbers = [None if is_gap(one) else one for one in look.table().tolist()]
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
