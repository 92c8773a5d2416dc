"""Feature groups and signs: parameters parsed by name and by number.

A feature group is a set of columns that count as one feature, such as the levels of a
categorical variable. Budgets, costs, included and excluded features refer to groups,
signs to the weights of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..run.words import close_names, listed
from .feature_names import FeatureNames, as_array, named, warn_without_limit

# Accepted spellings of signs.
_SIGNS: dict[Any, int] = {"+": 1, "-": -1, "0": 0, 1: 1, -1: -1, 0: 0}
AUTO = "auto"

# The name of a group, or the index of a column without a name.
Label = str | int


class FeatureGroups:
    """The features of a table, by name and by number, and the signs of weights.

    Features are numbered in the order of their first columns, as in ``Problem``.

    Parameters
    ----------
    columns : FeatureNames
    labels : list of (str or int), default=None
        The label of each column's group; None if each column is a feature.
    signs : array of int8, default=None
        For each column; None if all weights are free.
    single : set of int, default=frozenset()
        Columns that are in no group. Their labels are placeholders; they are referred
        to by the names of the columns.
    """

    def __init__(
        self,
        columns: FeatureNames,
        labels: list[Label] | None = None,
        signs: np.ndarray | None = None,
        single: frozenset[int] = frozenset(),
    ):
        self._columns = columns
        self.signs = signs
        self.groups: np.ndarray | None = None
        self._labels: list[Label] = []
        if labels is not None:
            keys = [(j in single, label) for j, label in enumerate(labels)]
            numbers = {key: g for g, key in enumerate(dict.fromkeys(keys))}
            self.groups = np.array([numbers[key] for key in keys], dtype=np.int64)
            self._labels = [label for _, label in numbers]
            self._numbers = {
                label: g for (is_single, label), g in numbers.items() if not is_single
            }
        # Columns have indices, but a group's integer label is its name.
        self._are_numbered = labels is not None and not single and _are_ints(labels)

    @classmethod
    def of(
        cls,
        columns: FeatureNames,
        feature_groups: Any = None,
        signs: Any = None,
        data: Any = None,
    ) -> FeatureGroups:
        """Groups and signs parsed from parameters.

        Parameters
        ----------
        columns : FeatureNames
        feature_groups : array, dict, "auto" or None
            A label for each column, or the columns of each named group.
        signs : array, dict or None
        data : array or sparse matrix, default=None
            The columns, which "auto" needs.
        """
        labels, single = _labels_of(columns, feature_groups, data)
        groups = cls(columns, labels, None, single)
        groups.signs = groups._parse_signs(signs)
        return groups

    @property
    def are_columns(self) -> bool:
        """Whether each column is a feature of its own."""
        return self.groups is None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._columns.n_features if self.are_columns else len(self._labels)

    @property
    def names(self) -> list[str]:
        """Names of all features."""
        if self.are_columns:
            return self._columns.names
        return [self._name_of(label) for label in self._labels]

    def _name_of(self, label: Label) -> str:
        if isinstance(label, str):
            return label
        return f"group {label}" if self._are_numbered else self._columns.names[label]

    @property
    def names_by_column(self) -> list[str]:
        """The name of each column's feature."""
        if self.groups is None:
            return self.names
        names = self.names
        return [names[g] for g in self.groups.tolist()]

    def labels_of(self, features: np.ndarray) -> np.ndarray:
        """Names of features; numbers if columns or groups have none."""
        if self.are_columns:
            if not self._columns.has_names:
                return features
            names = self._columns.names
            return np.array([names[j] for j in features.tolist()], dtype=object)
        labels = [self._labels[g] for g in features.tolist()]
        kind = np.int64 if _are_ints(labels) else object
        return np.array(labels, dtype=kind)

    def columns_of(self, features: np.ndarray) -> np.ndarray:
        """The columns of features, in increasing order."""
        if self.groups is None:
            return features
        return np.flatnonzero(np.isin(self.groups, features))

    def features_of(self, mask: np.ndarray) -> np.ndarray:
        """The features that have a column in a mask."""
        columns = np.flatnonzero(mask)
        return columns if self.groups is None else np.unique(self.groups[columns])

    def constraints(
        self,
        feature_costs: Any,
        max_cost: float | None,
        include: Any,
        exclude: Any,
        stacklevel: int,
    ) -> dict[str, Any]:
        """Groups, signs, costs and features by number, as arguments of ``Problem``.

        ``stacklevel`` is the one for warnings, relative to this function.
        """
        warn_without_limit(feature_costs, max_cost, stacklevel + 1)
        return {
            "feature_groups": self.groups,
            "signs": self.signs,
            "feature_costs": self.costs(feature_costs),
            "max_cost": max_cost,
            "include": self.indices("include", include),
            "exclude": self.indices("exclude", exclude),
        }

    # --- features ----------------------------------------------------------------

    def indices(self, parameter: str, features: Any) -> np.ndarray:
        """Numbers of features given by name, by number, as a mask of columns or None.

        ``parameter`` is the name used in errors.
        """
        if self.are_columns or features is None:
            return self._columns.indices(parameter, features)
        if isinstance(features, str) or not isinstance(features, Iterable):
            raise ValueError(
                f"{parameter} must be a list of names of groups or columns, or a "
                f"boolean mask of columns, got {features!r}."
            )
        features = features if hasattr(features, "__len__") else list(features)
        mask = as_array(features)
        if mask.dtype == bool and mask.size:
            columns = self._columns.indices(parameter, features)
            return self._whole_groups(parameter, columns)
        numbers = [self._feature(parameter, feature) for feature in features]
        return np.array(numbers, dtype=np.int64)

    def costs(self, feature_costs: Any) -> Any:
        """Costs in the order of the features."""
        if self.are_columns or feature_costs is None:
            return self._columns.costs(feature_costs)
        by_name = named("feature_costs", feature_costs)
        if by_name is None:
            if as_array(feature_costs).shape != (self.n_features,):
                raise ValueError(
                    f"feature_costs must have one entry per feature "
                    f"({self.n_features}, with feature_groups), got "
                    f"{_shape_text(feature_costs)}; give a dict by the names of "
                    "groups."
                )
            return feature_costs
        costs: dict[int, Any] = {}
        for name, cost in by_name.items():
            feature = self._feature("feature_costs", name)
            if feature in costs:
                raise ValueError(
                    f"feature_costs has two costs for {self.names[feature]!r}; give "
                    "one for each feature."
                )
            costs[feature] = cost
        missing = [n for g, n in enumerate(self.names) if g not in costs]
        if missing:
            raise ValueError(
                f"feature_costs has no entry for {listed(missing, quoted=True)}; give "
                f"one for each of the {self.n_features} features."
            )
        return [costs[g] for g in range(self.n_features)]

    def _whole_groups(self, parameter: str, columns: np.ndarray) -> np.ndarray:
        """The groups that the columns of a mask make up."""
        assert self.groups is not None
        groups = np.unique(self.groups[columns])
        for g in groups.tolist():
            missing = np.setdiff1d(np.flatnonzero(self.groups == g), columns)
            if missing.size:
                raise ValueError(
                    f"{parameter} is a mask with a part of the group "
                    f"{self.names[g]!r} only: {self._columns.names[missing[0]]!r} is "
                    "missing. A group is taken as a whole; give names of groups."
                )
        return groups

    def _feature(self, parameter: str, feature: Any) -> int:
        """The number of a feature, given as the name of a group or of a column."""
        assert self.groups is not None
        if isinstance(feature, str):
            group = self._numbers.get(feature)
            column = self._columns.position(feature)
            if group is not None:
                if column is not None and self.groups[column] != group:
                    raise ValueError(
                        f"{parameter} has {feature!r}, the name of a group and of a "
                        "column outside it; give the group another name."
                    )
                return group
            if not self._columns.has(feature):
                raise ValueError(self._unknown(parameter, feature))
        elif self._are_numbered and isinstance(feature, (int, np.integer)):
            group = self._numbers.get(int(feature))
            if group is None or isinstance(feature, bool):
                raise ValueError(
                    f"{parameter} has {feature!r}, but the groups are "
                    f"{listed(self._labels)}."
                )
            return group
        # A column has to be the only one in its group.
        column = self._columns.index(parameter, feature)
        group = int(self.groups[column])
        size = np.count_nonzero(self.groups == group)
        if size > 1:
            raise ValueError(
                f"{parameter} has {self._columns.names[column]!r}, which is one of the "
                f"{size} columns of the group {self.names[group]!r}; give that name: a "
                "group is taken as a whole."
            )
        return group

    def _unknown(self, parameter: str, name: str) -> str:
        """The error message for an unknown name."""
        columns = self._columns.names if self._columns.has_names else []
        close = close_names(name, [*map(str, self._numbers), *columns])
        start = f"{parameter} has unknown feature {name!r}; "
        if close:
            return start + f"did you mean {listed(close, quoted=True)}?"
        return start + f"the features are {listed(self.names, quoted=True)}."

    # --- signs -------------------------------------------------------------------

    def _parse_signs(self, signs: Any) -> np.ndarray | None:
        """A sign for each column."""
        if signs is None:
            return None
        n = self._columns.n_features
        by_name = named("signs", signs)
        if by_name is None:
            if isinstance(signs, str) or as_array(signs).shape != (n,):
                raise ValueError(
                    f"signs must have one entry per column of X ({n}), got "
                    f"{_shape_text(signs)}; give 1, -1 or 0 for each, or a dict like "
                    "{'income': '+'}."
                )
            values = [_parse_sign(str(j), sign) for j, sign in enumerate(signs)]
            return np.array(values, dtype=np.int8)
        parsed = np.zeros(n, dtype=np.int8)
        for name, sign in by_name.items():
            parsed[self._signed_column(name, sign)] = _parse_sign(repr(name), sign)
        return parsed

    def _signed_column(self, name: Any, sign: Any) -> int:
        """The column whose weight gets a sign."""
        if self.groups is None or not isinstance(name, str):
            return self._columns.index("signs", name)
        group, column = self._numbers.get(name), self._columns.position(name)
        if group is None:
            return self._columns.index("signs", name)
        members = np.flatnonzero(self.groups == group)
        if members.size == 1 and column in (None, members[0]):
            return int(members[0])
        if column is not None:
            raise ValueError(
                f"signs has {sign!r} for {name!r}, the name of a group and of a column;"
                f" give the index of the column, {column}, if you mean that one."
            )
        example = self._columns.names[members[0]] if self._columns.has_names else 0
        raise ValueError(
            f"signs has {sign!r} for {name!r}, a group of {members.size} columns; a "
            "sign is about one weight. Give one for each column that needs it, such as "
            f"{{{example!r}: {sign!r}}}."
        )


# --- parsing of parameters -----------------------------------------------------------


def _labels_of(
    columns: FeatureNames, feature_groups: Any, data: Any
) -> tuple[list[Label] | None, frozenset[int]]:
    """The label of each column, and the columns that are in no group."""
    if feature_groups is None:
        return None, frozenset()
    if isinstance(feature_groups, str):
        if feature_groups != AUTO:
            raise ValueError(
                "feature_groups must be an array of labels, a dict from names to "
                f"columns, 'auto' or None, got {feature_groups!r}."
            )
        from .encoded_columns import groups_by_name

        feature_groups = groups_by_name(columns, data)
    if isinstance(feature_groups, Mapping):
        return _from_dict(columns, feature_groups)
    return _from_labels(columns, feature_groups), frozenset()


def _from_dict(
    columns: FeatureNames, groups: Mapping[Any, Any]
) -> tuple[list[Label], frozenset[int]]:
    """Labels from the columns of each group; other columns are on their own."""
    owner: dict[int, str] = {}
    for name, members in groups.items():
        if not isinstance(name, str):
            raise ValueError(
                f"feature_groups has the name {name!r}; names of groups are strings. "
                "For numbers, give an array with one label per column."
            )
        if isinstance(members, str):
            raise ValueError(
                f"feature_groups[{name!r}] must be a list of columns, got {members!r}; "
                "the dict maps names of groups to lists of columns."
            )
        indices = columns.indices(f"feature_groups[{name!r}]", members).tolist()
        if not indices:
            raise ValueError(
                f"feature_groups[{name!r}] has no columns; give at least one."
            )
        for j in dict.fromkeys(indices):
            if j in owner:
                raise ValueError(
                    f"feature_groups has column {_label(columns, j)} in two groups, "
                    f"{owner[j]!r} and {name!r}; a column belongs to one."
                )
            owner[j] = name
    single = frozenset(range(columns.n_features)) - owner.keys()
    labels: list[Label] = [
        # A number, if two columns have the same name.
        owner.get(j, j if columns.position(name) != j else name)
        for j, name in enumerate(columns.names)
    ]
    return labels, single


def _from_labels(columns: FeatureNames, feature_groups: Any) -> list[Label]:
    """Labels given as an array, or as a Series by the names of the columns."""
    n = columns.n_features
    values = columns.aligned("feature_groups", feature_groups)
    if values is None:
        values = feature_groups
    if isinstance(values, str) or as_array(values).shape != (n,):
        raise ValueError(
            f"feature_groups must have one label per column of X ({n}), got "
            f"{_shape_text(values)}; columns of the same label are one feature."
        )
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    labels: list[Label] = []
    for j, label in enumerate(values):
        plain = label.item() if isinstance(label, np.generic) else label
        if isinstance(plain, float) and plain.is_integer():
            plain = int(plain)
        if isinstance(plain, bool) or not isinstance(plain, (str, int)):
            raise ValueError(
                f"feature_groups has the label {label!r} for column "
                f"{_label(columns, j)}; labels are names or integers, one for every "
                "column."
            )
        labels.append(plain)
    if len({type(label) for label in labels}) > 1:
        raise ValueError(
            "feature_groups has names and numbers as labels; give labels of one kind."
        )
    return labels


def _parse_sign(column: str, value: Any) -> int:
    """A sign as 1, -1 or 0."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or not isinstance(plain, (str, int, float)):
        plain = None
    if plain not in _SIGNS:
        raise ValueError(
            f"signs has {value!r} for column {column}; a sign is '+' or 1 (weight not "
            "negative), '-' or -1 (not positive), or 0 (free)."
        )
    return _SIGNS[plain]


def _are_ints(labels: list[Label]) -> bool:
    return all(isinstance(label, int) for label in labels)


def _label(columns: FeatureNames, j: int) -> str:
    return repr(columns.names[j]) if columns.has_names else str(j)


def _shape_text(value: Any) -> str:
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return repr(value)
    array = as_array(value)
    return f"shape {array.shape}" if array.ndim != 1 else f"{array.size}"
