"""Data, conditions and search settings of ``fit``, ``path`` and ``alternatives``.

The data are read once. Everything learned from them (fill values, categories, means and
scales, features, and budget and C if they are chosen) is learned again in every fold of
a cross-validation, from its training rows alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..estimators import Pace, pace_of, whole_codes
from ..export import OTHER
from ..problem import Problem
from ..run import Effort, check_effort, close_names
from ..solving import PartSizes, Result, SolveOptions, with_refit
from ..tables import (
    ALL_OPEN,
    INDICATOR,
    REFUSE,
    USUAL,
    CategoryColumn,
    FormatRules,
    Layout,
    Numbers,
    Plan,
    Preparation,
    PreparedColumn,
    Table,
    TableError,
    Target,
    as_texts,
    check_missing,
    check_requested,
    find_target,
    join_labels,
    labelled,
    listed,
    make_plan,
    missing_values,
    read_table,
)
from .class_weights import ClassWeights
from .options import check_names
from .session import UsageProblem

# --- Variables that are encoded in the file: a column of 0 and 1 for each category ----


@dataclass(frozen=True)
class CodedColumns:
    """Columns that are categories of a variable, and count as one feature.

    Attributes
    ----------
    columns : dict
        The columns of each variable.
    doubtful : dict
        The same for variables whose name another column has, too: their columns count
        one by one.
    """

    columns: dict[str, list[str]] = field(default_factory=dict)
    doubtful: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, plan: Plan) -> CodedColumns:
        """Find them by their names and their values in all rows, without the target."""
        flags = {
            name: column.values == 1.0
            for name, column in ((name, table.columns[name]) for name in plan.kinds)
            if isinstance(column, Numbers) and _are_flags(column.values)
        }
        if len(flags) < 2:
            return cls()
        names, taken = [*flags], {*plan.kinds, plan.target}
        codes = whole_codes(names, np.column_stack([*flags.values()]))
        columns = {name: [names[j] for j in indices] for name, indices in codes.items()}
        return cls(
            {name: columns[name] for name in columns if name not in taken},
            {name: columns[name] for name in columns if name in taken},
        )

    @property
    def variables(self) -> dict[str, str]:
        """The variable of each column that is a category."""
        return {
            column: variable
            for variable, columns in self.columns.items()
            for column in columns
        }


def _are_flags(values: np.ndarray) -> bool:
    """Whether all values are 0 or 1; the first thousand are enough for most columns."""
    return all(
        bool(np.isin(part, (0.0, 1.0)).all()) for part in (values[:1000], values)
    )


# --- Signs of the weights of numbers and of single categories -------------------------


def signed_name(column: PreparedColumn, level: str | None) -> str:
    """The name of a weight in --signs, that of a number or of a category."""
    return column.name if level is None else f"{column.name}={level}"


def check_signs(
    signs: Mapping[str, int], table: Table, plan: Plan, preparation: Preparation
) -> None:
    """Raise an error unless all names are those of numbers or single categories."""
    categorical = {
        column.name: column
        for column in preparation.columns
        if isinstance(column, CategoryColumn)
    }
    weights: dict[str, list[str]] = {name: [] for name in categorical}
    for column, level in preparation.origins():
        weights.setdefault(column.variable, []).append(signed_name(column, level))
    all_weights = {name for names in weights.values() for name in names}
    for name, sign in signs.items():
        if name in all_weights:
            continue
        if name in weights:
            first = weights[name][0] if weights[name] else name
            example = f"{first}={'+' if sign > 0 else '-'}"
            raise UsageProblem(
                f"--signs: {name!r} has categories, and a sign is about the weight of "
                f"one; give it for each that needs one, such as --signs {example!r}."
            )
        # Names may contain equals signs.
        for k, character in enumerate(name):
            is_level = character == "=" and name not in table.columns
            if is_level and name[:k] in categorical:
                variable = categorical[name[:k]]
                levels = as_texts(table.columns[variable.name]).levels
                raise UsageProblem(_no_weight(variable, name[k + 1 :], levels))
        check_requested(plan, "--signs", [name])


def _no_weight(column: CategoryColumn, level: str, levels: list[str]) -> str:
    """The reason why a category has no weight, and what to do."""
    if level in column.levels:
        other = f"{column.name}={column.shown[0]}"
        return (
            "--signs: of two categories only one has a weight: give a sign for "
            f"{other!r} instead, the opposite one."
        )
    if level in levels:
        return (
            f"--signs: {level!r} of {column.name!r} is in few rows and was merged with "
            f"others into {OTHER}; --min-level 1 keeps it, or give a sign for "
            f"'{column.name}={OTHER}'."
        )
    close = close_names(level, column.levels)
    hint = f"its categories are {listed(column.levels)}."
    if close:
        hint = f"did you mean {listed(close)}?"
    return f"--signs: {column.name!r} has no category {level!r}; {hint}"


# --- Data, conditions and search settings ---------------------------------------------

AUTO = "auto"


@dataclass(frozen=True)
class PreparedTable:
    """A table with its plan and target.

    Attributes
    ----------
    path : str
        Its name on the command line.
    table : Table
    plan : Plan
    target : Target
    missing : str
        How missing values are treated.
    layout : Layout
        Where the table is in the file.
    min_level : int
        Categories in fewer rows are merged.
    coded : CodedColumns
        The 0/1 columns that are categories of a variable.
    """

    path: str
    table: Table
    plan: Plan
    target: Target
    missing: str = INDICATOR
    layout: Layout = USUAL
    min_level: int = 1
    coded: CodedColumns = field(default_factory=CodedColumns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    def prepare(self, rows: np.ndarray | None = None) -> Preparation:
        """Learn from some rows, or from all, how to prepare them."""
        return Preparation.fit(
            self.table,
            self.plan,
            self.target.classes,
            missing=self.missing,
            min_level=self.min_level,
            rows=rows,
            codes=self.coded.variables,
        )

    def gaps(self) -> dict[str, int]:
        """Missing values by column."""
        return missing_values(self.table, self.plan)


def load_data(
    path: str,
    target: str,
    *,
    positive: str | None = None,
    exclude: tuple[str, ...] = (),
    keep: tuple[str, ...] = (),
    categorical: tuple[str, ...] = (),
    missing: str = INDICATOR,
    encoding: str | None = None,
    formats: FormatRules = ALL_OPEN,
    drops_unlabelled: bool = False,
    layout: Layout = USUAL,
    min_level: int = 1,
    is_split: bool = False,
) -> PreparedTable:
    """Read a table and decide what its columns are."""
    table = read_table(
        path, as_text=categorical, encoding=encoding, formats=formats, layout=layout
    )
    check_names(formats, table)
    table = join_labels(table, layout.labels, target)
    if drops_unlabelled:
        table = labelled(table, target)
    labels = find_target(table, target, positive)
    plan = make_plan(
        table,
        target,
        exclude=exclude,
        keep=keep,
        categorical=categorical,
        min_level=min_level,
    )
    if missing == REFUSE:
        check_missing(table, plan)
    coded = CodedColumns() if is_split else CodedColumns.of(table, plan)
    return PreparedTable(path, table, plan, labels, missing, layout, min_level, coded)


@dataclass(frozen=True)
class Conditions:
    """Budget, C and constraints of a model, by columns of the table.

    Attributes
    ----------
    max_features : int, None or "auto"
        None for no limit.
    C : float or "auto"
        The weight of the loss with which features are selected.
    refit_C : float or None
        The C of the weights of the selected features, if it was chosen; None for the
        same.
    include : tuple of str
        Columns whose features must be selected.
    costs : dict or None
        By column.
    max_cost : float or None
    class_weight : ClassWeights or None
        None if all rows count the same.
    signs : mapping from str to int
        Signs of weights, by column of numbers or by ``column=category``.
    is_split : bool
        Whether each category is a feature; else all of a variable are one.
    """

    max_features: int | str | None = 5
    C: float | str = 1.0
    include: tuple[str, ...] = ()
    costs: dict[str, float] | None = None
    max_cost: float | None = None
    class_weight: ClassWeights | None = None
    refit_C: float | None = None
    signs: Mapping[str, int] = field(default_factory=dict)
    is_split: bool = False

    @property
    def is_open(self) -> bool:
        """Whether budget or C are to be chosen."""
        return bool(self.open_parameters)

    @property
    def open_parameters(self) -> tuple[str, ...]:
        """Names of the parameters, among budget and C, that are to be chosen."""
        parameters = {"budget": self.max_features, "C": self.C}
        return tuple(name for name, value in parameters.items() if value == AUTO)

    @property
    def budget(self) -> int | None:
        """The budget, once it is chosen."""
        assert not isinstance(self.max_features, str)
        return self.max_features

    @property
    def chosen_C(self) -> float:
        """The C of the selection, once it is chosen."""
        return float(self.C)

    def weights_of(self, signs: np.ndarray) -> np.ndarray | None:
        """Weights of rows, learned from these rows; None if they count the same."""
        weights = self.class_weight
        return None if weights is None else weights.of_rows(signs)

    @property
    def is_weighted(self) -> bool:
        """Whether classes count differently."""
        return self.class_weight is not None and self.class_weight.is_weighted

    def class_weight_text(self, signs: np.ndarray) -> str:
        """Weights of the classes for people; empty if they count the same."""
        return "" if self.class_weight is None else self.class_weight.text(signs)

    @property
    def weights_C(self) -> float:
        """The C of the weights, once it is chosen."""
        return self.chosen_C if self.refit_C is None else self.refit_C

    def refitted(self, problem: Problem, result: Result) -> Result:
        """The result, with weights computed for ``refit_C`` if there is one."""
        if self.refit_C is None:
            return result
        return with_refit(problem, result, self.refit_C)

    def check(self, data: PreparedTable, preparation: Preparation) -> None:
        """Raise an error for columns that the data do not have, or without a cost."""
        variables = data.coded.columns
        columns = [name for name in self.include if name not in variables]
        check_requested(data.plan, "--include", columns)
        check_signs(self.signs, data.table, data.plan, preparation)
        if self.costs is None:
            return
        for variable, columns in variables.items():
            costs = {
                name: self.costs[name]
                for name in (variable, *columns)
                if name in self.costs
            }
            if len(set(costs.values())) > 1:
                text = ", ".join(f"{name} {cost:g}" for name, cost in costs.items())
                raise TableError(
                    f"--costs: the columns of {variable!r} count as one feature and "
                    f"have one cost, but it differs: {text}; give the same cost to "
                    "all, or use --split-categories."
                )
        missing = [
            column.name
            for column in preparation.columns
            if column.name not in self.costs and column.variable not in self.costs
        ]
        if missing:
            raise TableError(
                f"--costs: no cost for {listed(missing)}; give every column a cost, or "
                "--exclude those without one."
            )

    def labels(self, preparation: Preparation) -> list[str]:
        """The name of the feature of each prepared column."""
        if not self.is_split:
            return [column.variable for column, _ in preparation.origins()]
        labels = list(preparation.features)
        for j in np.flatnonzero(preparation.indicators).tolist():
            # An indicator follows its number, and is part of the same feature.
            labels[j] = labels[j - 1]
        return labels

    def names(self, preparation: Preparation) -> list[str]:
        """Names of the features, in the order in which a problem numbers them."""
        return list(dict.fromkeys(self.labels(preparation)))

    def constraints(self, preparation: Preparation) -> dict[str, Any]:
        """Groups, signs, costs and included features, as a problem takes them."""
        labels = self.labels(preparation)
        number = {name: g for g, name in enumerate(dict.fromkeys(labels))}
        columns = [column for column, _ in preparation.origins()]
        included = {
            label
            for label, column in zip(labels, columns, strict=True)
            if column.name in self.include or column.variable in self.include
        }
        include = [number[name] for name in number if name in included]
        if isinstance(self.max_features, int) and len(include) > self.max_features:
            raise UsageProblem(
                f"--include needs {len(include)} feature{'s' * (len(include) != 1)}, "
                f"more than --max-features "
                f"{self.max_features}; raise --max-features, or include fewer columns."
            )
        costs = None
        if self.costs is not None:
            # All columns of a feature cost the same, their own cost or the variable's.
            of_column = [
                self.costs.get(c.name, self.costs.get(c.variable)) for c in columns
            ]
            of_feature = dict(zip(labels, of_column, strict=True))
            costs = np.array([of_feature[name] for name in number])
        has_groups = len(number) < len(labels)
        return {
            "include": include,
            "feature_costs": costs,
            "max_cost": self.max_cost,
            "feature_groups": [number[name] for name in labels] if has_groups else None,
            "signs": self.signs_of(preparation),
        }

    def signs_of(self, preparation: Preparation) -> np.ndarray | None:
        """The sign of each weight; None if all are free."""
        if not self.signs:
            return None
        names = [signed_name(*origin) for origin in preparation.origins()]
        signs = np.array([self.signs.get(name, 0) for name in names])
        # A missing value may raise or lower the score, whatever the sign of the number.
        return np.where(preparation.indicators, 0, signs)

    def problem(
        self,
        preparation: Preparation,
        X: np.ndarray,
        signs: np.ndarray,
        overwrite_X: bool = True,
    ) -> Problem:
        """The problem of standardised data, which may be overwritten."""
        return Problem(
            X,
            signs,
            C=self.chosen_C,
            sample_weight=self.weights_of(signs),
            max_features=self.budget,
            overwrite_X=overwrite_X,
            **self.constraints(preparation),
        )


@dataclass(frozen=True)
class Search:
    """Search settings.

    Attributes
    ----------
    effort : str
    time_limit : float or None
        In seconds, for choice, search and proof together.
    n_jobs : int
    seed : int
    part_sizes : PartSizes
    """

    effort: str = "normal"
    time_limit: float | None = None
    n_jobs: int = 1
    seed: int = 0
    part_sizes: PartSizes = field(default_factory=PartSizes)

    @property
    def options(self) -> SolveOptions:
        """The settings as options of a solver."""
        return SolveOptions(
            effort=self.effort,
            time_limit=self.time_limit,
            n_jobs=self.n_jobs,
            random_state=self.seed,
            part_sizes=self.part_sizes,
        )

    def is_slow_for(self, n_rows: int) -> bool:
        """Whether another effort would be much quicker."""
        return n_rows > self.part_sizes.many and self.effort != "fast"

    @property
    def work(self) -> Effort:
        """How much work the effort allows."""
        return check_effort(self.effort)

    @property
    def choosing_effort(self) -> str:
        """The effort of a choice of budget and C, which fits hundreds of models."""
        return "normal" if self.effort == "thorough" else "fast"

    @property
    def pace(self) -> Pace:
        """The candidates that such a choice compares."""
        return pace_of(self.effort)
