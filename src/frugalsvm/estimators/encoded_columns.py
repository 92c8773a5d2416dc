"""The variables behind encoded columns: from fitted encoders, or from names and values.

An encoder makes several columns of one variable. Which columns these are is known once
it is fitted. Without it there are scikit-learn's names, such as ``cat__color_red``, and
the values: the columns of a one-hot code have two values, and one of them is high in
every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..run.words import listed
from .feature_names import FeatureNames

# Between the name of a transformer and that of a column, and before a category.
_STEP, _LEVEL = "__", "_"
# Rows that are looked at first: most columns of numbers end there.
_FIRST_ROWS = 1000
_ADVICE = (
    "give feature_groups=frugalsvm.encoded_groups(encoder) with the fitted encoder, or "
    "a dict from names to columns"
)


def encoded_groups(encoder: Any) -> list[str]:
    """The variable behind each column that a fitted encoder makes.

    Parameters
    ----------
    encoder : fitted transformer
        :class:`~sklearn.preprocessing.OneHotEncoder`,
        :class:`~sklearn.preprocessing.KBinsDiscretizer`, steps that keep or select
        columns, such as scalers, or a
        :class:`~sklearn.compose.ColumnTransformer` or a pipeline of such.

    Returns
    -------
    list of str
        For each column of its output the name of the input column: ``feature_groups``
        for :class:`~frugalsvm.FrugalSVC` and others.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from frugalsvm import encoded_groups
    >>> encoder = OneHotEncoder().fit([["red", "S"], ["green", "M"], ["blue", "M"]])
    >>> encoded_groups(encoder)
    ['x0', 'x0', 'x0', 'x1', 'x1']
    """
    names = _input_names(encoder)
    return [names[j] for j in origins(encoder, len(names)).tolist()]


def _input_names(encoder: Any) -> list[str]:
    """Names of the columns that a transformer was fitted to."""
    first = encoder
    while hasattr(first, "steps") and not hasattr(first, "feature_names_in_"):
        first = first.steps[0][1]
    names = getattr(first, "feature_names_in_", None)
    if names is not None:
        return [str(name) for name in names]
    if not hasattr(first, "n_features_in_"):
        raise ValueError(
            f"{type(encoder).__name__} is not fitted, or does not say how many columns "
            "it takes; fit it first."
        )
    return [f"x{j}" for j in range(int(first.n_features_in_))]


def origins(step: Any, n_columns: int) -> np.ndarray:
    """For each column that a fitted transformer makes, the column it is made of.

    Raises
    ------
    ValueError
        If that is not known of this kind of transformer.
    """
    from sklearn.base import OneToOneFeatureMixin
    from sklearn.feature_selection import SelectorMixin

    if step is None or isinstance(step, str):
        # "passthrough".
        return np.arange(n_columns)
    if hasattr(step, "transformers_"):
        return _of_parts(step, n_columns)
    if hasattr(step, "steps"):
        columns = np.arange(n_columns)
        for _, one in step.steps:
            columns = columns[origins(one, columns.size)]
        return columns
    sizes = _sizes(step)
    if sizes is not None:
        return np.repeat(np.arange(n_columns), sizes)
    if isinstance(step, SelectorMixin):
        return np.flatnonzero(step.get_support())
    if isinstance(step, OneToOneFeatureMixin) or _keeps_columns(step):
        return np.arange(n_columns)
    return _by_names(step)


def _sizes(step: Any) -> list[int] | None:
    """How many columns an encoder makes of each; None if it is not one."""
    categories = getattr(step, "categories_", None)
    if categories is not None and hasattr(step, "drop_idx_"):
        rare = getattr(step, "infrequent_categories_", [None] * len(categories))
        dropped = step.drop_idx_
        return [
            len(levels)
            - (0 if rare[i] is None else len(rare[i]) - 1)
            - (dropped is not None and dropped[i] is not None)
            for i, levels in enumerate(categories)
        ]
    if hasattr(step, "n_bins_"):
        is_ordinal = step.encode == "ordinal"
        return [1 if is_ordinal else int(n) for n in step.n_bins_]
    return None


def _keeps_columns(step: Any) -> bool:
    """Whether a step applies a function to columns one by one."""
    is_function = hasattr(step, "inverse_func") and hasattr(step, "func")
    if not is_function:
        return False
    return step.func is None or step.feature_names_out == "one-to-one"


def _by_names(step: Any) -> np.ndarray:
    """The columns of a step that keeps some, such as an imputer, by their names."""
    given = getattr(step, "feature_names_in_", None)
    n = getattr(step, "n_features_in_", 0)
    names = [f"x{j}" for j in range(n)] if given is None else list(given)
    place = {name: j for j, name in enumerate(names)}
    made = []
    if hasattr(step, "get_feature_names_out"):
        made = list(step.get_feature_names_out(given))
    if not made or len(place) < len(names) or not set(made) <= place.keys():
        raise ValueError(
            f"cannot tell which columns {type(step).__name__} makes its output of; use "
            "encoders, scalers, imputers and selectors, or give groups as a dict from "
            "names to columns."
        )
    return np.array([place[name] for name in made], dtype=np.int64)


def _of_parts(step: Any, n_columns: int) -> np.ndarray:
    """The columns behind those of a ColumnTransformer."""
    names = getattr(step, "feature_names_in_", None)
    made = sum(one.stop - one.start for one in step.output_indices_.values())
    found = np.empty(made, dtype=np.int64)
    for name, one, chosen in step.transformers_:
        at = step.output_indices_[name]
        if at.stop > at.start:
            columns = positions(chosen, names, n_columns)
            found[at] = columns[origins(one, columns.size)]
    return found


def positions(chosen: Any, names: Any, n_columns: int) -> np.ndarray:
    """Columns chosen in a ColumnTransformer, by index."""
    all_columns = np.arange(n_columns)
    place = {} if names is None else {name: j for j, name in enumerate(names)}
    if isinstance(chosen, slice):
        ends = [chosen.start, chosen.stop]
        if any(isinstance(end, str) for end in ends):
            # Both ends belong to a slice of names.
            first, last = (None if end is None else place[end] for end in ends)
            return all_columns[first : None if last is None else last + 1]
        return all_columns[chosen]
    if isinstance(chosen, (str, int)):
        chosen = [chosen]
    values = list(chosen)
    if values and isinstance(values[0], str):
        return np.array([place[name] for name in values], dtype=np.int64)
    return all_columns[np.asarray(values, dtype=None if values else np.int64)]


# --- by name -------------------------------------------------------------------------


def groups_by_name(columns: FeatureNames, data: Any) -> dict[str, list[int]]:
    """Groups of one-hot columns by scikit-learn's names and their values.

    Parameters
    ----------
    columns : FeatureNames
    data : array or sparse matrix
        Perhaps scaled: only which values are equal counts.

    Returns
    -------
    dict
        From names of variables to columns. All others are on their own.

    Raises
    ------
    ValueError
        If there are no names, or several readings of them.
    """
    if not columns.are_given:
        raise ValueError(
            "feature_groups='auto' reads the names of columns, but X has none. In a "
            'pipeline, set_output(transform="pandas") keeps them (an encoder then '
            f"needs sparse_output=False); or {_ADVICE}."
        )
    found, complete = _codes(columns.names, data)
    _refuse_nested(columns.names, complete)
    _refuse_incomplete(columns.names, found, complete)
    return _by_variable(complete)


def whole_codes(names: Sequence[str], data: np.ndarray) -> dict[str, list[int]]:
    """The same without refusing any: what is not clearly a code stays on its own.

    Every column must vary: then a column is in one code at most.
    """
    return _by_variable(_codes(names, data)[1])


def _codes(
    names: Sequence[str], data: Any
) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Columns of which at most one is high in each row, and those where one always is.

    Both by the parts of their names that may be a variable's.
    """
    stems = _stems(names)
    high = _high_rows(data, sorted({j for own in stems.values() for j in own}))
    found: dict[str, list[int]] = {}
    complete: dict[str, list[int]] = {}
    for stem, members in stems.items():
        own = [j for j in members if j in high]
        n_high = np.sum([high[j] for j in own], axis=0) if own else np.zeros(1)
        if (n_high > 1).any() or sum(high[j].any() for j in own) < 2:
            continue
        found[stem] = own
        if n_high.all():
            complete[stem] = own
    return found, complete


def _stems(names: Sequence[str]) -> dict[str, list[int]]:
    """Columns by the parts of their names that may be a variable's."""
    stems: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        start = name.find(_STEP) + len(_STEP) if _STEP in name[1:] else 0
        at = name.find(_LEVEL, start + 1)
        while 0 < at < len(name) - 1:
            stems.setdefault(name[:at], []).append(j)
            at = name.find(_LEVEL, at + 1)
    return {stem: members for stem, members in stems.items() if len(members) > 1}


def _high_rows(data: Any, tried: Sequence[int]) -> dict[int, np.ndarray]:
    """In which rows a column has the larger of two values, for those that have two.

    A column of one value has it nowhere: it is a category that does not occur.
    """
    if hasattr(data, "tocsc"):
        data = data.tocsc()
    elif hasattr(data, "columns"):
        data = np.asarray(data)
    elif not isinstance(data, np.ndarray):
        raise ValueError(
            f"feature_groups='auto' needs data in memory; {_ADVICE} instead."
        )
    high = {}
    for j in tried:
        values = _column(data, j)
        if _n_values(values[:_FIRST_ROWS]) <= 2 and _n_values(values) <= 2:
            high[j] = values > values.min()
    return high


def _column(data: Any, j: int) -> np.ndarray:
    column = data[:, [j]]
    return np.ravel(column.toarray() if hasattr(column, "toarray") else column)


def _n_values(values: np.ndarray) -> int:
    """1, 2, or 3 for more."""
    low, high = values.min(), values.max()
    if low == high:
        return 1
    return 2 if ((values == low) | (values == high)).all() else 3


def _refuse_nested(names: Sequence[str], groups: dict[str, list[int]]) -> None:
    """Refuse a column that may belong to two variables."""
    owner: dict[int, str] = {}
    for stem in sorted(groups, key=len):
        for j in groups[stem]:
            other = owner.setdefault(j, stem)
            if groups[other] != groups[stem]:
                raise ValueError(
                    f"feature_groups='auto' can read {names[j]!r} in two ways: as "
                    f"{_reading(names, other, groups[other], j)}, or as "
                    f"{_reading(names, stem, groups[stem], j)}; {_ADVICE}."
                )


def _refuse_incomplete(
    names: Sequence[str],
    found: dict[str, list[int]],
    complete: dict[str, list[int]],
) -> None:
    """Refuse columns that may be a code with one category left out, or no code."""
    known = {j for own in complete.values() for j in own}
    for stem, own in found.items():
        if not known.issuperset(own):
            j = next(one for one in own if one not in known)
            raise ValueError(
                f"feature_groups='auto' can read {names[j]!r} in two ways: as "
                f"{_reading(names, stem, own, j)}, of which one is left out, or as a "
                f"feature of its own; {_ADVICE}."
            )


def _reading(names: Sequence[str], stem: str, members: Iterable[int], j: int) -> str:
    others = [names[i] for i in members if i != j]
    level = names[j][len(stem) + 1 :]
    return f"category {level!r} of {stem!r} (with {listed(others, 3, quoted=True)})"


def _by_variable(groups: dict[str, list[int]]) -> dict[str, list[int]]:
    """One name for each group: the longest that its columns share."""
    longest = {tuple(own): stem for stem, own in sorted(groups.items(), key=_length)}
    short = {own: stem.split(_STEP, 1)[-1] for own, stem in longest.items()}
    # Two transformers may have a variable of the same name.
    is_clear = len(set(short.values())) == len(short)
    return {(short if is_clear else longest)[own]: list(own) for own in longest}


def _length(item: tuple[str, list[int]]) -> int:
    return len(item[0])
