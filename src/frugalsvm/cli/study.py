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

from ..estimators.pace import Pace, pace_of
from ..estimators.path import FrugalPath, frugal_path
from ..problem.problem import Problem
from ..run.effort import Effort, check_effort
from ..solving.options import PartSizes, SolveOptions
from ..solving.refit import with_refit
from ..solving.result import Result
from ..tables import (
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
from ..tables.errors import listed
from ..tables.formats import ALL_OPEN, FormatRules
from ..tables.gaps import INDICATOR, REFUSE
from ..tables.kinds import check_missing, check_wanted, missing_values
from ..tables.labels import joined
from ..tables.layout import USUAL, Layout
from ..tables.prepared_columns import PreparedColumn
from .class_weights import ClassWeights
from .coded import Coded
from .errors import UsageProblem
from .formats import check_names
from .signs import check_signs, signed_name

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
            self.table, self.plan, self.target.classes, missing=self.missing,
            min_level=self.min_level, rows=rows, codes=self.coded.variables,
        )  # fmt: skip

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
    table = joined(table, layout.labels, target)
    if drops_unlabelled:
        table = labelled(table, target)
    found = find_target(table, target, positive)
    plan = make_plan(
        table, target, exclude=exclude, keep=keep, categorical=categorical,
        min_level=min_level,
    )  # fmt: skip
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
        check_wanted(plan, "--include", columns)
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
            one.name for one in preparation.columns
            if one.name not in self.costs and one.variable not in self.costs
        ]  # fmt: skip
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
