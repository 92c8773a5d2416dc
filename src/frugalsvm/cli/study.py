"""Data, conditions and search of a fit: what ``fit``, ``path`` and others share.

The data are read once. Everything learned from them (fill values, categories, means and
scales, features, and budget and C if they are chosen) is learned again in every fold of
a cross-validation, from its training rows alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..estimators.encoded_columns import whole_codes
from ..estimators.grid import Pace, pace_of
from ..estimators.path import FrugalPath, frugal_path
from ..export.lookups import OTHER
from ..problem.problem import Problem
from ..run.stopping import Effort, check_effort
from ..run.words import close_names
from ..solving.options import PartSizes, SolveOptions
from ..solving.polish import with_refit
from ..solving.result import Result
from ..tables import (
    Numbers,
    Plan,
    Preparation,
    Table,
    TableError,
    Target,
    find_target,
    labelled,
    make_plan,
    read_table,
)
from ..tables.columns import INDICATOR, REFUSE, listed
from ..tables.excel import USUAL, Layout
from ..tables.formats import ALL_OPEN, FormatRules
from ..tables.kinds import check_missing, check_requested, missing_values
from ..tables.prepared_columns import CategoryColumn, PreparedColumn, as_texts
from ..tables.target import join_labels
from .class_weights import ClassWeights
from .options import check_names
from .session import UsageProblem

# --- Variables that have a column of 0 and 1 for each category in the file already ----

# Values that are looked at first.
N_FIRST = 1000


@dataclass(frozen=True)
class Coded:
    """Which columns are categories of a variable, and count as one feature.

    Attributes
    ----------
    columns : dict
        The columns of each variable.
    doubtful : dict
        The same for names that another column has: these columns count one by one.
    """

    columns: dict[str, list[str]] = field(default_factory=dict)
    doubtful: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, plan: Plan) -> Coded:
        """Find them by names and values in all rows; the target has no part in it."""
        flags = {
            name: column.values == 1.0
            for name, column in ((name, table.columns[name]) for name in plan.kinds)
            if isinstance(column, Numbers) and _are_flags(column.values)
        }
        if len(flags) < 2:
            return cls()
        names, taken = [*flags], {*plan.kinds, plan.target}
        found = {
            variable: [names[j] for j in own]
            for variable, own in whole_codes(
                names, np.column_stack([*flags.values()])
            ).items()
        }
        return cls(
            {name: own for name, own in found.items() if name not in taken},
            {name: own for name, own in found.items() if name in taken},
        )

    @property
    def variables(self) -> dict[str, str]:
        """The variable of each column that is a category."""
        return {one: name for name, own in self.columns.items() for one in own}


def _are_flags(values: np.ndarray) -> bool:
    """Whether all values are 0 or 1; the first ones mostly tell."""
    return all(
        bool(np.isin(some, (0.0, 1.0)).all()) for some in (values[:N_FIRST], values)
    )


# --- Signs of weights by name: those of numbers and of single categories --------------


def signed_name(column: PreparedColumn, level: str | None) -> str:
    """What the weight of a number or of a category is called in --signs."""
    return column.name if level is None else f"{column.name}={level}"


def check_signs(
    signs: Mapping[str, int], table: Table, plan: Plan, preparation: Preparation
) -> None:
    """Raise an error unless signs are those of numbers and of single categories."""
    known = {signed_name(*one) for one in preparation.origins()}
    categorical = {
        one.name: one for one in preparation.columns if isinstance(one, CategoryColumn)
    }
    weights: dict[str, list[str]] = {name: [] for name in categorical}
    for one in preparation.origins():
        weights.setdefault(one[0].variable, []).append(signed_name(*one))
    for name, sign in signs.items():
        if name in known:
            continue
        if name in weights:
            raise UsageProblem(_whole_variable(name, weights[name], sign))
        # Names may contain equals signs.
        places = [k for k, one in enumerate(name) if one == "="]
        for k in places:
            if name[:k] in categorical and name not in table.columns:
                column = categorical[name[:k]]
                levels = as_texts(table.columns[column.name]).levels
                raise UsageProblem(_no_weight(column, name[k + 1 :], levels))
        check_requested(plan, "--signs", [name])


def _whole_variable(name: str, weights: list[str], sign: int) -> str:
    example = f"{weights[0]}={'+' if sign > 0 else '-'}" if weights else ""
    return (
        f"--signs: {name!r} has categories, and a sign is about the weight of "
        f"one; give it for each that needs one, such as --signs {example!r}."
    )


def _no_weight(column: CategoryColumn, level: str, levels: list[str]) -> str:
    """Why there is no weight for a category."""
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
    hint = (
        f"did you mean {listed(close)}?"
        if close
        else (f"its categories are {listed(column.levels)}.")
    )
    return f"--signs: {column.name!r} has no category {level!r}; {hint}"


# --- Data, conditions and search of a fit: what ``fit``, ``path`` and others share ----

AUTO = "auto"


@dataclass(frozen=True)
class PreparedTable:
    """A table with its plan and target.

    Attributes
    ----------
    path : str
        As it was given.
    table : Table
    plan : Plan
    target : Target
    missing : str
        What becomes of missing values.
    layout : Layout
        Where in the file the table is.
    min_level : int
        Categories in fewer rows are merged.
    coded : Coded
        The 0/1 columns that are categories of a variable.
    """

    path: str
    table: Table
    plan: Plan
    target: Target
    missing: str = INDICATOR
    layout: Layout = USUAL
    min_level: int = 1
    coded: Coded = field(default_factory=Coded)

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
    found = find_target(table, target, positive)
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
    coded = Coded() if is_split else Coded.of(table, plan)
    return PreparedTable(path, table, plan, found, missing, layout, min_level, coded)


@dataclass(frozen=True)
class Conditions:
    """What a model has to satisfy.

    Attributes
    ----------
    max_features : int, None or "auto"
        None for no limit.
    C : float or "auto"
        Of the loss; it selects the features.
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
        Of the weights of columns of numbers and of categories, as ``column=category``.
    is_split : bool
        Whether each category is a feature of its own; else all of a variable are one.
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
        return bool(self.open_ones)

    @property
    def open_ones(self) -> tuple[str, ...]:
        """Which of budget and C are to be chosen."""
        given = {"budget": self.max_features, "C": self.C}
        return tuple(name for name, value in given.items() if value == AUTO)

    @property
    def budget(self) -> int | None:
        """The budget, once it is chosen."""
        assert not isinstance(self.max_features, str)
        return self.max_features

    @property
    def loss(self) -> float:
        """C, once it is chosen."""
        return float(self.C)

    def weights_of(self, signs: np.ndarray) -> np.ndarray | None:
        """Weights of rows, learned from these rows; None if they count the same."""
        given = self.class_weight
        return None if given is None else given.of_rows(signs)

    @property
    def is_weighted(self) -> bool:
        """Whether classes count differently."""
        return self.class_weight is not None and self.class_weight.is_weighted

    def weight_words(self, signs: np.ndarray) -> str:
        """Weights of the classes for people; empty if they count the same."""
        return "" if self.class_weight is None else self.class_weight.words(signs)

    @property
    def weight_loss(self) -> float:
        """The C of the weights, once it is chosen."""
        return self.loss if self.refit_C is None else self.refit_C

    def refitted(self, problem: Problem, result: Result) -> Result:
        """The result, with the weights for the C of the weights if it was chosen."""
        if self.refit_C is None:
            return result
        return with_refit(problem, result, self.refit_C)

    def check(self, data: PreparedTable, preparation: Preparation) -> None:
        """Compare with the columns of the data."""
        plan = data.plan
        variables = data.coded.columns
        columns = [name for name in self.include if name not in variables]
        check_requested(plan, "--include", columns)
        check_signs(self.signs, data.table, plan, preparation)
        if self.costs is None:
            return
        for variable, own in variables.items():
            given = {
                one: self.costs[one] for one in (variable, *own) if one in self.costs
            }
            if len(set(given.values())) > 1:
                words = ", ".join(f"{one} {cost:g}" for one, cost in given.items())
                raise TableError(
                    f"--costs: the columns of {variable!r} count as one feature and "
                    f"have one cost, but it differs: {words}; give the same cost to "
                    "all, or use --split-categories."
                )
        missing = [
            one.name
            for one in preparation.columns
            if one.name not in self.costs and one.variable not in self.costs
        ]
        if missing:
            raise TableError(
                f"--costs: no cost for {listed(missing)}; give every column a cost, or "
                "--exclude those without one."
            )

    def labels(self, preparation: Preparation) -> list[str]:
        """For each column that is prepared, the name of its feature."""
        origins = preparation.origins()
        if not self.is_split:
            return [one.variable for one, _ in origins]
        labels = list(preparation.features)
        for j in np.flatnonzero(preparation.indicators).tolist():
            # With its number.
            labels[j] = labels[j - 1]
        return labels

    def names(self, preparation: Preparation) -> list[str]:
        """Names of the features, in the order in which a problem numbers them."""
        return list(dict.fromkeys(self.labels(preparation)))

    def sides(self, preparation: Preparation) -> dict[str, Any]:
        """Groups, signs, costs and included features, as a problem takes them."""
        labels = self.labels(preparation)
        number = {name: g for g, name in enumerate(dict.fromkeys(labels))}
        origins = preparation.origins()
        # Of each feature, one of its columns.
        first = {labels[j]: origins[j][0] for j in reversed(range(len(labels)))}
        wanted = {
            label
            for label, (one, _) in zip(labels, origins, strict=True)
            if one.name in self.include or one.variable in self.include
        }
        include = [number[name] for name in number if name in wanted]
        if isinstance(self.max_features, int) and len(include) > self.max_features:
            raise UsageProblem(
                f"--include needs {len(include)} feature{'s' * (len(include) != 1)}, "
                f"more than --max-features "
                f"{self.max_features}; raise --max-features, or include fewer columns."
            )
        costs = None
        if self.costs is not None:
            costs = np.array([self._cost(first[name]) for name in number])
        has_groups = len(number) < len(labels)
        return {
            "include": include,
            "feature_costs": costs,
            "max_cost": self.max_cost,
            "feature_groups": [number[one] for one in labels] if has_groups else None,
            "signs": self.signs_of(preparation),
        }

    def _cost(self, column: PreparedColumn) -> float:
        """The cost of a column, given for itself or for its variable."""
        assert self.costs is not None
        cost = self.costs.get(column.name)
        return self.costs[column.variable] if cost is None else cost

    def signs_of(self, preparation: Preparation) -> np.ndarray | None:
        """The sign of each weight; None if all are free."""
        if not self.signs:
            return None
        names = [signed_name(*one) for one in preparation.origins()]
        signs = np.array([self.signs.get(name, 0) for name in names])
        # That a value is missing may mean anything.
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
            C=self.loss,
            sample_weight=self.weights_of(signs),
            max_features=self.budget,
            overwrite_X=overwrite_X,
            **self.sides(preparation),
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
        """The same for the driver."""
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
        """The effort for a choice of budget and C, where hundreds of models are fit."""
        return "normal" if self.effort == "thorough" else "fast"

    @property
    def pace(self) -> Pace:
        """What such a choice compares."""
        return pace_of(self.effort)


def budget_path(
    X: np.ndarray,
    data: PreparedTable,
    conditions: Conditions,
    preparation: Preparation,
    budgets: list[int],
    search: Search,
) -> FrugalPath:
    """Solutions along budgets on all rows, which are given as standardised."""
    return frugal_path(
        X,
        data.target.signs,
        max_features=budgets,
        C=conditions.loss,
        effort=search.effort,
        total_time_limit=search.time_limit,
        random_state=search.seed,
        n_jobs=search.n_jobs,
        sample_weight=conditions.weights_of(data.target.signs),
        **conditions.sides(preparation),
    )
