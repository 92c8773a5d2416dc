"""From a file to a model: what ``fit``, ``path`` and ``alternatives`` share.

The data are read once. Everything learned from them (fill values, categories, means and
scales, features, and budget and C if they are chosen) is learned again in every fold of
a cross-validation, from its training rows alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..api.path import FrugalPath, frugal_path
from ..api.validation.choice import DEFAULT_RULE, Choice, ScoredPath
from ..api.validation.final_fit import FinalFit
from ..api.validation.folds import FoldJob, fold_seeds, run_folds
from ..api.validation.grid import GridFold, GridWork, budgets_of, weights_of
from ..api.validation.models import Linear
from ..api.validation.samples import ProblemMaker, Samples
from ..api.validation.scoring import BalancedAccuracy
from ..api.validation.splits import possible_folds, stratified_splits
from ..driver.options import PartSizes, SolveOptions
from ..driver.refit import with_refit
from ..driver.result import Result
from ..driver.solving import run_interruptible
from ..problem.problem import Problem
from ..runtime.parallel import Shared
from ..runtime.progress import Callback
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
# The gap at which the fit of all rows is finished.
GAP_TOL = SolveOptions().gap_tol


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


@dataclass(frozen=True)
class Fit:
    """A model, and how it was obtained.

    Attributes
    ----------
    preparation : Preparation
    result : Result
        In standardised units.
    conditions : Conditions
        With the budget and the C that were chosen.
    choice : ScoredPath or None
        What they were chosen from, if they were.
    chosen : tuple of str
        Which of "budget" and "C" were chosen.
    was_interrupted : bool
    """

    preparation: Preparation
    result: Result
    conditions: Conditions
    choice: ScoredPath | None = None
    chosen: tuple[str, ...] = ()
    was_interrupted: bool = False

    @property
    def model(self) -> Linear:
        """The weights that predict, in standardised units."""
        return Linear.of(self.result)

    @property
    def weights(self) -> np.ndarray:
        """Weights per unit as measured."""
        return self.model.coef / self.preparation.scales

    @property
    def intercept(self) -> float:
        """The intercept for values as measured."""
        return self.model.intercept - float(self.weights @ self.preparation.means)


def fit_all(
    data: PreparedTable,
    conditions: Conditions,
    search: Search,
    *,
    folds: int,
    on_phase: Callable[[str], None],
    callback: Callback | None = None,
    certificate: bool = False,
) -> Fit:
    """Choose budget and C if they are open, then fit all rows."""
    choice = None
    chosen = conditions.open_ones
    preparation = data.prepare()
    if conditions.is_open:
        on_phase("choosing feature limit and C by cross-validation")
        conditions, choice = _chosen_on_all(data, conditions, search, folds)
    on_phase("searching and proving")
    X = preparation.transform(data.table)
    problem = conditions.problem(preparation, X, data.target.signs)
    options = replace(search.options, callback=callback, certificate=certificate)
    result, interrupted = run_interruptible(problem, options)
    result = conditions.refitted(problem, result)
    return Fit(preparation, result, conditions, choice, chosen, interrupted)


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


def _chosen_on_all(
    data: PreparedTable, conditions: Conditions, search: Search, folds: int
) -> tuple[Conditions, ScoredPath]:
    """Budget and C chosen on all rows, and what they were chosen from."""
    return choose(data, conditions, search, folds).on_all()


def choose(
    data: PreparedTable,
    conditions: Conditions,
    search: Search,
    folds: int,
    rows: np.ndarray | None = None,
) -> GridChoice:
    """Choose budget and C on some rows by cross-validation inside them."""
    preparation = data.prepare(rows)
    X = preparation.transform(data.table, rows)
    used = np.arange(data.n_rows) if rows is None else rows
    positive = data.target.positive[used]
    possible = possible_folds(positive, max(2, folds))
    if possible == 0:
        rarer = min(int(positive.sum()), int((~positive).sum()))
        raise TableError(
            f"the rarer class has only {rarer} row{'s' * (rarer != 1)}, but choosing "
            "the feature limit and C needs at least 2; give both "
            "(--max-features 5 --C 1)."
        )
    samples = Samples(X, X, positive, np.where(positive, 1.0, -1.0), np.ones(used.size))
    splits = stratified_splits(positive, possible, search.seed)
    work = _grid_work(conditions, search, preparation)
    seeds = fold_seeds(search.seed)
    jobs = (
        FoldJob(
            k,
            train,
            test,
            seeds.spawn(1)[0],
            conditions.weights_of(samples.signs[train]),
        )
        for k, (train, test) in enumerate(splits)
    )
    found = run_folds(
        work, samples, jobs, preparation=TableFolds(data, preparation, used),
        n_jobs=search.n_jobs,
    )  # fmt: skip
    return GridChoice(
        conditions, search, work, samples, found, Choice.of(found, DEFAULT_RULE), seeds
    )


def _grid_work(
    conditions: Conditions, search: Search, preparation: Preparation
) -> GridWork:
    """What every fold of a choice does."""
    sides = conditions.sides(preparation)
    included = np.unique(np.array(sides["include"], dtype=np.int64))
    n = preparation.n_features
    budgets: Any = AUTO
    if conditions.max_features != AUTO:
        given = conditions.max_features
        budgets = [n if given is None else given]
    # A C that is given does both: it selects the features and gives their weights.
    given_C = ([conditions.C], "same")
    return GridWork(
        budgets_of(budgets, n, included.size),
        *weights_of(*((AUTO, AUTO) if conditions.C == AUTO else given_C)),
        search.choosing_effort,
        ProblemMaker(sides, scale=True),
        BalancedAccuracy(),
    )


@dataclass(frozen=True)
class GridChoice:
    """Budget and C, chosen by cross-validation.

    Attributes
    ----------
    given : Conditions
        With what was to be chosen.
    search : Search
    work : GridWork
    samples : Samples
    folds : list of GridFold
    choice : Choice
    seeds : SeedSequence
    """

    given: Conditions
    search: Search
    work: GridWork
    samples: Samples
    folds: list[GridFold]
    choice: Choice
    seeds: np.random.SeedSequence

    @property
    def conditions(self) -> Conditions:
        """With the budget and the C that were chosen."""
        return self._chosen(self.choice)

    def on_all(self) -> tuple[Conditions, ScoredPath]:
        """What was chosen, and the scores with objectives on all rows; fits these."""
        options = {"gap_tol": GAP_TOL, "n_jobs": self.search.n_jobs}
        final = FinalFit(self.work, DEFAULT_RULE, options)
        weight = self.given.weights_of(self.samples.signs)
        if weight is None:
            weight = self.samples.sample_weight
        fitted = final.run(self.samples, weight, self.folds, self.choice, self.seeds)
        if fitted.was_interrupted:
            raise KeyboardInterrupt
        return self._chosen(fitted.choice), fitted.path

    def _chosen(self, choice: Choice) -> Conditions:
        i, j, r = choice.key
        refit = self.work.refit_weights
        budget: int | None = int(self.work.budgets[j])
        if self.given.max_features is None:
            budget = None
        return replace(
            self.given,
            max_features=budget,
            C=float(self.work.weights[i]),
            refit_C=None if refit is None else float(refit[r]),
        )


@dataclass(frozen=True)
class TableFolds:
    """Prepares the table again in each fold of a choice.

    Fill values and categories, not only means and scales, are learned from the training
    rows of a fold.

    Attributes
    ----------
    data : PreparedTable
    whole : Preparation
        Of all rows in use.
    rows : ndarray of int
        These rows.
    """

    data: PreparedTable
    whole: Preparation
    rows: np.ndarray

    def for_fold(self, data: Shared[Samples], train: np.ndarray) -> Shared[Samples]:
        """All samples with the features of the training rows, where ``whole`` has them.

        A category that is missing in a fold becomes a constant feature.
        """
        own = self.data.prepare(self.rows[train])
        place = {key: j for j, key in enumerate(_keys(self.whole))}
        known = [(k, place[key]) for k, key in enumerate(_keys(own)) if key in place]
        X = np.zeros((self.rows.size, self.whole.n_features), order="F")
        features = own.transform(self.data.table, self.rows)
        for k, j in known:
            X[:, j] = features[:, k]
        return Shared(replace(data.value, X=X, data=X))


def _keys(preparation: Preparation) -> list[tuple[str, str | None]]:
    return [(column.name, level) for column, level in preparation.origins()]
