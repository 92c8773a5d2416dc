"""The variables behind encoded columns: from fitted encoders, or from names and values.

An encoder turns one variable into several columns. A fitted encoder says which columns
these are. Without it there are scikit-learn's names, such as ``cat__color_red``, and
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
    """For each output column of a fitted transformer, the input column it is made of.

    Raises
    ------
    ValueError
        If the transformer does not tell.
    """
    from sklearn.base import OneToOneFeatureMixin
    from sklearn.feature_selection import SelectorMixin

    if step is None or isinstance(step, str):
        # "passthrough".
        return np.arange(n_columns)
    if hasattr(step, "transformers_"):
        return _transformer_origins(step, n_columns)
    if hasattr(step, "steps"):
        columns = np.arange(n_columns)
        for _, inner in step.steps:
            columns = columns[origins(inner, columns.size)]
        return columns
    sizes = _output_sizes(step)
    if sizes is not None:
        return np.repeat(np.arange(n_columns), sizes)
    if isinstance(step, SelectorMixin):
        return np.flatnonzero(step.get_support())
    # FunctionTransformer may apply a function to columns one by one.
    is_function = hasattr(step, "inverse_func") and hasattr(step, "func")
    if isinstance(step, OneToOneFeatureMixin) or (
        is_function and (step.func is None or step.feature_names_out == "one-to-one")
    ):
        return np.arange(n_columns)
    return _origins_by_name(step)


def _output_sizes(step: Any) -> list[int] | None:
    """The number of output columns for each input of an encoder; None for others."""
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


def _origins_by_name(step: Any) -> np.ndarray:
    """Origins of a step that keeps some columns, such as an imputer, by their names."""
    inputs = getattr(step, "feature_names_in_", None)
    n = getattr(step, "n_features_in_", 0)
    names = [f"x{j}" for j in range(n)] if inputs is None else list(inputs)
    index = {name: j for j, name in enumerate(names)}
    outputs = []
    if hasattr(step, "get_feature_names_out"):
        outputs = list(step.get_feature_names_out(inputs))
    if not outputs or len(index) < len(names) or not set(outputs) <= index.keys():
        raise ValueError(
            f"cannot tell which columns {type(step).__name__} makes its output of; use "
            "encoders, scalers, imputers and selectors, or give groups as a dict from "
            "names to columns."
        )
    return np.array([index[name] for name in outputs], dtype=np.int64)


def _transformer_origins(step: Any, n_columns: int) -> np.ndarray:
    """Origins of the columns of a ColumnTransformer."""
    names = getattr(step, "feature_names_in_", None)
    n_outputs = sum(part.stop - part.start for part in step.output_indices_.values())
    sources = np.empty(n_outputs, dtype=np.int64)
    for name, transformer, selection in step.transformers_:
        outputs = step.output_indices_[name]
        if outputs.stop > outputs.start:
            columns = positions(selection, names, n_columns)
            sources[outputs] = columns[origins(transformer, columns.size)]
    return sources


def positions(selection: Any, names: Any, n_columns: int) -> np.ndarray:
    """Columns selected in a ColumnTransformer, by index."""
    all_columns = np.arange(n_columns)
    index = {} if names is None else {name: j for j, name in enumerate(names)}
    if isinstance(selection, slice):
        ends = [selection.start, selection.stop]
        if any(isinstance(end, str) for end in ends):
            # Both ends belong to a slice of names.
            first, last = (None if end is None else index[end] for end in ends)
            return all_columns[first : None if last is None else last + 1]
        return all_columns[selection]
    if isinstance(selection, (str, int)):
        selection = [selection]
    values = list(selection)
    if values and isinstance(values[0], str):
        return np.array([index[name] for name in values], dtype=np.int64)
    return all_columns[np.asarray(values, dtype=None if values else np.int64)]


# --- by name -------------------------------------------------------------------------


def groups_by_name(columns: FeatureNames, data: Any) -> dict[str, list[int]]:
    """Groups of one-hot columns by scikit-learn's names and their values.

    Parameters
    ----------
    columns : FeatureNames
    data : array or sparse matrix
        It may be scaled: only the equality of values matters.

    Returns
    -------
    dict
        From names of variables to columns. All others are on their own.

    Raises
    ------
    ValueError
        If there are no names, or they are ambiguous.
    """
    if not columns.has_names:
        raise ValueError(
            "feature_groups='auto' reads the names of columns, but X has none. In a "
            'pipeline, set_output(transform="pandas") keeps them (an encoder then '
            f"needs sparse_output=False); or {_ADVICE}."
        )
    codes, complete = _codes(columns.names, data)
    _refuse_nested(columns.names, complete)
    _refuse_incomplete(columns.names, codes, complete)
    return _by_variable(complete)


def whole_codes(names: Sequence[str], data: np.ndarray) -> dict[str, list[int]]:
    """The groups of complete codes; all other columns are on their own.

    Unlike ``groups_by_name``, it refuses nothing. Every column must vary: then a column
    is in one code at most.
    """
    return _by_variable(_codes(names, data)[1])


def _codes(
    names: Sequence[str], data: Any
) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Columns of which at most one is high in each row, and those where one always is.

    Both by their stems, the parts of their names that may be a variable's name.
    """
    stems = _stems(names)
    high = _high_rows(data, sorted({j for members in stems.values() for j in members}))
    codes: dict[str, list[int]] = {}
    complete: dict[str, list[int]] = {}
    for stem, candidates in stems.items():
        members = [j for j in candidates if j in high]
        n_high = np.sum([high[j] for j in members], axis=0) if members else np.zeros(1)
        if (n_high > 1).any() or sum(high[j].any() for j in members) < 2:
            continue
        codes[stem] = members
        if n_high.all():
            complete[stem] = members
    return codes, complete


def _stems(names: Sequence[str]) -> dict[str, list[int]]:
    """Columns by the parts of their names that may be a variable's name."""
    stems: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        start = name.find(_STEP) + len(_STEP) if _STEP in name[1:] else 0
        at = name.find(_LEVEL, start + 1)
        while 0 < at < len(name) - 1:
            stems.setdefault(name[:at], []).append(j)
            at = name.find(_LEVEL, at + 1)
    return {stem: members for stem, members in stems.items() if len(members) > 1}


def _high_rows(data: Any, columns: Sequence[int]) -> dict[int, np.ndarray]:
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
    for j in columns:
        column = data[:, [j]]
        values = np.ravel(column.toarray() if hasattr(column, "toarray") else column)
        if _n_values(values[:_FIRST_ROWS]) <= 2 and _n_values(values) <= 2:
            high[j] = values > values.min()
    return high


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
    codes: dict[str, list[int]],
    complete: dict[str, list[int]],
) -> None:
    """Refuse columns that may be a code with one category left out, or no code."""
    complete_columns = {j for members in complete.values() for j in members}
    for stem, members in codes.items():
        if not complete_columns.issuperset(members):
            j = next(i for i in members if i not in complete_columns)
            raise ValueError(
                f"feature_groups='auto' can read {names[j]!r} in two ways: as "
                f"{_reading(names, stem, members, j)}, of which one is left out, or "
                f"as a feature of its own; {_ADVICE}."
            )


def _reading(names: Sequence[str], stem: str, members: Iterable[int], j: int) -> str:
    others = [names[i] for i in members if i != j]
    level = names[j][len(stem) + 1 :]
    return f"category {level!r} of {stem!r} (with {listed(others, 3, quoted=True)})"


def _by_variable(groups: dict[str, list[int]]) -> dict[str, list[int]]:
    """One name for each group: the longest that its columns share."""
    longest = {tuple(groups[stem]): stem for stem in sorted(groups, key=len)}
    short = {members: stem.split(_STEP, 1)[-1] for members, stem in longest.items()}
    # Two transformers may have a variable of the same name.
    names = short if len(set(short.values())) == len(short) else longest
    return {names[members]: list(members) for members in longest}
