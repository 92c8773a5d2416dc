"""Data, conditions and search of a fit: what ``fit``, ``path`` and others share.

The data are read once. Everything learned from them (fill values, categories, means and
scales, features, and budget and C if they are chosen) is learned again in every fold of
a cross-validation, from its training rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..api.path import FrugalPath, frugal_path
from ..driver.options import PartSizes, SolveOptions
from ..driver.refit import with_refit
from ..driver.result import Result
from ..problem.problem import Problem
from ..tables import (
    Plan,
    Preparation,
    Table,
    TableError,
    Target,
    find_target,
    make_plan,
    read_table,
)
from ..tables.errors import listed
from ..tables.formats import ALL_OPEN, FormatRules
from ..tables.kinds import check_missing, check_wanted, missing_values
from .class_weights import ClassWeights
from .errors import UsageProblem
from .formats import check_names

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
    impute : bool
    """

    path: str
    table: Table
    plan: Plan
    target: Target
    impute: bool

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    def prepare(self, rows: np.ndarray | None = None) -> Preparation:
        """Learn from some rows, or from all, how to prepare them."""
        return Preparation.fit(
            self.table, self.plan, self.target.classes, impute=self.impute, rows=rows
        )

    def missing(self) -> dict[str, int]:
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
    impute: str | None = None,
    encoding: str | None = None,
    formats: FormatRules = ALL_OPEN,
) -> PreparedTable:
    """Read a table and decide what its columns are."""
    table = read_table(path, as_text=categorical, encoding=encoding, formats=formats)
    check_names(formats, table)
    found = find_target(table, target, positive)
    plan = make_plan(table, target, exclude=exclude, keep=keep, categorical=categorical)
    if impute is None:
        check_missing(table, plan)
    return PreparedTable(path, table, plan, found, impute is not None)


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
    """

    max_features: int | str | None = 5
    C: float | str = 1.0
    include: tuple[str, ...] = ()
    costs: dict[str, float] | None = None
    max_cost: float | None = None
    class_weight: ClassWeights | None = None
    refit_C: float | None = None

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

    def check(self, plan: Plan) -> None:
        """Compare with the columns of the data."""
        check_wanted(plan, "--include", self.include)
        if self.costs is None:
            return
        missing = [name for name in plan.kinds if name not in self.costs]
        if missing:
            raise TableError(
                f"--costs: no cost for {listed(missing)}; give every column a cost, or "
                "--exclude those without one."
            )

    def sides(self, preparation: Preparation) -> dict[str, Any]:
        """Costs and included features, feature by feature."""
        include = [j for name in self.include for j in preparation.of_column(name)]
        if isinstance(self.max_features, int) and len(include) > self.max_features:
            raise UsageProblem(
                f"--include needs {len(include)} features, more than --max-features "
                f"{self.max_features}; raise --max-features, or include fewer columns."
            )
        costs = None
        if self.costs is not None:
            origins = preparation.origins()
            costs = np.array([self.costs[one.name] for one, _ in origins])
        return {"include": include, "feature_costs": costs, "max_cost": self.max_cost}

    def problem(
        self, preparation: Preparation, X: np.ndarray, signs: np.ndarray
    ) -> Problem:
        """The problem of standardised data, which may be overwritten."""
        return Problem(
            X,
            signs,
            C=self.loss,
            sample_weight=self.weights_of(signs),
            max_features=self.budget,
            overwrite_X=True,
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
    def choosing_effort(self) -> str:
        """The effort for a choice of budget and C, where hundreds of models are fit."""
        return "normal" if self.effort == "thorough" else "fast"


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
        time_limit=search.time_limit,
        random_state=search.seed,
        n_jobs=search.n_jobs,
        sample_weight=conditions.weights_of(data.target.signs),
        **conditions.sides(preparation),
    )
