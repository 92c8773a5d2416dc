"""From a file to a model: what ``fit``, ``path`` and ``alternatives`` share.

The data are read once. Everything learned from them (what to fill in, categories, means
and scales, features, and budget and C if they are chosen) is learned anew in every fold
of a cross-validation, from its training part alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..driver import run_interruptible
from ..effort import check_effort
from ..estimators import FrugalSVCCV
from ..estimators.choice import ScoredPath
from ..estimators.cross_validation import Samples, svm_on
from ..estimators.grid import AUTO_C
from ..portable.calibration import Sigmoid, fit_sigmoid
from ..problem import Problem
from ..progress import Callback
from ..result import Result
from ..tables import (
    Numbers,
    Plan,
    Preparation,
    Table,
    TableError,
    Target,
    find_target,
    make_plan,
    read_table,
)
from ..tables.errors import listed, unknown_column
from ..tables.kinds import check_missing, check_wanted, missing_values
from . import large
from .errors import UsageProblem

AUTO = "auto"
GAP_TOL = 1e-4
# Folds inside a training part that the probabilities are learned from.
INNER_FOLDS = 3


@dataclass(frozen=True)
class Data:
    """A table that was understood.

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
) -> Data:
    """Read a table and decide what its columns are."""
    table = read_table(path, as_text=categorical, encoding=encoding)
    found = find_target(table, target, positive)
    plan = make_plan(table, target, exclude=exclude, keep=keep, categorical=categorical)
    if impute is None:
        check_missing(table, plan)
    return Data(path, table, plan, found, impute is not None)


@dataclass(frozen=True)
class Conditions:
    """What a model has to satisfy.

    Attributes
    ----------
    max_features : int, None or "auto"
        None for no limit.
    C : float or "auto"
    include : tuple of str
        Columns whose features must be selected.
    costs : dict or None
        By column.
    max_cost : float or None
    """

    max_features: int | str | None = 5
    C: float | str = 1.0
    include: tuple[str, ...] = ()
    costs: dict[str, float] | None = None
    max_cost: float | None = None

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

    def check(self, plan: Plan) -> None:
        """Compare with the columns of the data."""
        check_wanted(plan, "--include", self.include)
        if self.costs is None:
            return
        missing = [name for name in plan.kinds if name not in self.costs]
        if missing:
            raise TableError(
                f"--costs: there is no cost for {listed(missing)}; give one for every "
                "column, or --exclude those without."
            )

    def sides(self, preparation: Preparation) -> dict[str, Any]:
        """Costs and included features, feature by feature."""
        include = [j for name in self.include for j in preparation.of_column(name)]
        if isinstance(self.max_features, int) and len(include) > self.max_features:
            raise UsageProblem(
                f"--include makes {len(include)} features, more than --max-features "
                f"{self.max_features}; raise it, or include fewer columns."
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
            max_features=self.budget,
            overwrite_X=True,
            **self.sides(preparation),
        )


@dataclass(frozen=True)
class Search:
    """How hard to look.

    Attributes
    ----------
    effort : str
    time_limit : float or None
    n_jobs : int
    seed : int
    """

    effort: str = "normal"
    time_limit: float | None = None
    n_jobs: int = 1
    seed: int = 0

    def run(
        self, problem: Problem, *, whole: bool = False, **options: Any
    ) -> tuple[Result, bool]:
        """Solve a problem; whether Ctrl-C was pressed meanwhile.

        Quick fits of very many rows go part by part, unless they are to be ``whole``.
        """
        if self.effort == "fast" and problem.n_samples > large.MANY and not whole:
            fit = large.LargeFit(problem, self, options.get("callback"))
            # A search alone proves nothing.
            prove = options.get("method") != "swap"
            return fit.run(GAP_TOL, options.get("certificate", False), prove)
        usual: dict[str, Any] = {
            "method": "auto", "effort": self.effort, "gap_tol": GAP_TOL,
            "time_limit": self.time_limit, "max_nodes": None, "initial_support": None,
            "method_options": None, "n_jobs": self.n_jobs, "random_state": self.seed,
            "verbose": 0, "callback": None, "certificate": False,
        }  # fmt: skip
        outcome = run_interruptible(problem, **(usual | options))
        return outcome.result, outcome.was_interrupted

    @property
    def choosing_effort(self) -> str:
        """The effort for a choice of budget and C, where hundreds of models are fit."""
        return "normal" if self.effort == "thorough" else "fast"


@dataclass(frozen=True)
class Fit:
    """A model, and how it came about.

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
    def weights(self) -> np.ndarray:
        """Weights per unit as measured."""
        return self.result.coef / self.preparation.scales

    @property
    def intercept(self) -> float:
        """The intercept for values as measured."""
        return self.result.intercept - float(self.weights @ self.preparation.means)


def fit_all(
    data: Data,
    conditions: Conditions,
    search: Search,
    *,
    folds: int,
    on_phase: Callable[[str], None],
    callback: Callback | None = None,
    certificate: bool = False,
) -> Fit:
    """Choose what is open, then fit all rows."""
    choice = None
    chosen = conditions.open_ones
    preparation = data.prepare()
    if conditions.is_open:
        on_phase("choosing budget and C by cross-validation")
        conditions, choice = choose(data, conditions, search, folds)
    on_phase("searching and proving")
    X = preparation.transform(data.table)
    problem = conditions.problem(preparation, X, data.target.signs)
    result, interrupted = search.run(
        problem, callback=callback, certificate=certificate
    )
    return Fit(preparation, result, conditions, choice, chosen, interrupted)


def choose(
    data: Data,
    conditions: Conditions,
    search: Search,
    folds: int,
    rows: np.ndarray | None = None,
) -> tuple[Conditions, ScoredPath]:
    """Choose budget and C on some rows by cross-validation inside them."""
    preparation = data.prepare(rows)
    X = preparation.transform(data.table, rows)
    labels = data.target.positive if rows is None else data.target.positive[rows]
    weights = AUTO_C if conditions.C == AUTO else [conditions.loss]
    budgets: Any = AUTO
    if conditions.max_features != AUTO:
        budgets = [
            X.shape[1] if conditions.max_features is None else conditions.max_features
        ]
    chooser = _Chooser(
        budgets,
        weights,
        cv=_splitter(labels, max(2, folds), search.seed),
        effort=search.choosing_effort,
        scale=True,
        n_jobs=search.n_jobs,
        random_state=search.seed,
        **conditions.sides(preparation),
    )
    chooser.source = (
        data,
        preparation,
        np.arange(data.n_rows) if rows is None else rows,
    )
    chooser.fit(X, labels)
    chosen: int | None = chooser.best_max_features_
    if conditions.max_features is None:
        chosen = None
    return (
        replace(conditions, max_features=chosen, C=chooser.best_C_),
        chooser.path_,
    )


class _Chooser(FrugalSVCCV):
    """FrugalSVCCV that prepares the table anew in each of its folds.

    What is filled in and the categories are learned from the training part of a fold,
    too, and not only means and scales.

    Attributes
    ----------
    source : tuple of Data, Preparation and ndarray of int
        The table, how all of its rows that are in use are prepared, and these rows.
    """

    source: tuple[Data, Preparation, np.ndarray]

    def _parts(
        self, samples: Samples, train: np.ndarray, test: np.ndarray
    ) -> tuple[Samples, Samples]:
        data, whole, rows = self.source
        own = data.prepare(rows[train])
        return (
            _prepared(samples.part(train), data, own, whole, rows[train]),
            _prepared(samples.part(test), data, own, whole, rows[test]),
        )


def _prepared(
    samples: Samples, data: Data, own: Preparation, whole: Preparation, rows: np.ndarray
) -> Samples:
    """Samples with the features of ``own``, in the places that they have in ``whole``.

    A category that is not there in a fold is a feature that does not vary.
    """
    place = {key: j for j, key in enumerate(_keys(whole))}
    known = [(k, place[key]) for k, key in enumerate(_keys(own)) if key in place]
    X = np.zeros((rows.size, whole.n_features), order="F")
    features = own.transform(data.table, rows)
    for k, j in known:
        X[:, j] = features[:, k]
    return replace(samples, X=X, data=X)


def _keys(preparation: Preparation) -> list[tuple[str, str | None]]:
    return [(column.name, level) for column, level in preparation.origins()]


# --- cross-validation ----------------------------------------------------------------


@dataclass(frozen=True)
class Validation:
    """What models said of rows that they had not seen.

    Attributes
    ----------
    folds : ndarray of int
        The fold of each row.
    scores : ndarray
    probabilities : ndarray or None
    selected : tuple of frozensets of str
        The features of each fold's model.
    chosen : tuple of (budget, C)
        Of each fold.
    """

    folds: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None
    selected: tuple[frozenset[str], ...]
    chosen: tuple[tuple[int | None, float], ...]

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.selected)

    def times_selected(self, feature: str) -> int:
        """In how many folds a feature was selected."""
        return sum(feature in one for one in self.selected)

    def calibration(self, positive: np.ndarray) -> Sigmoid:
        """What turns scores into probabilities, learned from all unseen rows."""
        return fit_sigmoid(self.scores, positive)


def possible_folds(target: Target, folds: int) -> int:
    """The number of folds, cut to the rows of the rarer class; 0 if there are none."""
    most = min(folds, *target.counts)
    return most if most >= 2 else 0


def cross_validate(
    data: Data,
    conditions: Conditions,
    search: Search,
    folds: int,
    *,
    on_fold: Callable[[int, int], None] = lambda k, n: None,
    probabilities: bool = False,
) -> Validation:
    """Repeat everything in every fold, and score the rows that were left out.

    The searches have the effort of the fit, but prove nothing.
    """
    if search.time_limit is not None:
        search = replace(search, time_limit=search.time_limit / folds)
    numbers = np.full(data.n_rows, -1)
    scores = np.zeros(data.n_rows)
    chances = np.zeros(data.n_rows) if probabilities else None
    selected, chosen = [], []
    for k, (train, test) in enumerate(splits(data.target, folds, search.seed)):
        on_fold(k + 1, folds)
        own = conditions
        if own.is_open:
            own, _ = choose(data, own, search, folds, train)
        preparation = data.prepare(train)
        model = _fold_model(data, own, search, preparation, train)
        numbers[test] = k
        scores[test] = _scores(preparation, data.table, test, *model)
        if chances is not None:
            sigmoid = _inner_sigmoid(data, own, preparation, train, model[0], search)
            chances[test] = sigmoid.probability(scores[test])
        names = preparation.features
        selected.append(frozenset(names[j] for j in np.flatnonzero(model[0])))
        chosen.append((own.budget, own.loss))
    return Validation(numbers, scores, chances, tuple(selected), tuple(chosen))


def _fold_model(
    data: Data,
    conditions: Conditions,
    search: Search,
    preparation: Preparation,
    train: np.ndarray,
) -> tuple[np.ndarray, float]:
    X = preparation.transform(data.table, train)
    problem = conditions.problem(preparation, X, data.target.signs[train])
    result, interrupted = search.run(problem, method="swap")
    if interrupted:
        raise KeyboardInterrupt
    return result.coef, result.intercept


def _scores(
    preparation: Preparation,
    table: Table,
    rows: np.ndarray,
    coef: np.ndarray,
    intercept: float,
) -> np.ndarray:
    used = np.flatnonzero(coef)
    return _features(preparation, table, rows, used) @ coef[used] + intercept


def _features(
    preparation: Preparation, table: Table, rows: np.ndarray, used: np.ndarray
) -> np.ndarray:
    """Some of the standardised features; only their columns are prepared."""
    small = preparation.restricted(used.tolist())
    place = {name: k for k, name in enumerate(small.features)}
    chosen = [place[preparation.features[j]] for j in used]
    return small.transform(table, rows)[:, chosen]


def _inner_sigmoid(
    data: Data,
    conditions: Conditions,
    preparation: Preparation,
    train: np.ndarray,
    coef: np.ndarray,
    search: Search,
) -> Sigmoid:
    """Probabilities for scores, learned inside the training part.

    Its features stay; their weights are learned from a part of it, and score the rest.
    """
    used = np.flatnonzero(coef)
    X = _features(preparation, data.table, train, used)
    positive = data.target.positive[train]
    signs = np.where(positive, 1.0, -1.0)
    scores = np.zeros(train.size)
    n_folds = min(INNER_FOLDS, int(positive.sum()), int((~positive).sum()))
    if used.size == 0 or n_folds < 2:
        return fit_sigmoid(scores, positive)
    for part, rest in _splitter(positive, n_folds, search.seed).split(X, positive):
        problem = Problem(X[part], signs[part], C=conditions.loss)
        model = svm_on(problem, np.arange(used.size))
        scores[rest] = X[rest] @ model.coef + model.intercept
    return fit_sigmoid(scores, positive)


def splits(
    target: Target, folds: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of all folds."""
    splitter = _splitter(target.positive, folds, seed)
    yield from splitter.split(np.zeros((target.positive.size, 1)), target.positive)


def _splitter(positive: np.ndarray, folds: int, seed: int) -> Any:
    from sklearn.model_selection import StratifiedKFold

    rarer = int(min(positive.sum(), (~positive).sum()))
    if rarer < 2:
        raise TableError(
            f"the rarer class has {rarer} row; at least 2 are needed to choose budget "
            "and C: give both (--max-features 5 --C 1)."
        )
    return StratifiedKFold(min(folds, rarer), shuffle=True, random_state=seed)


# --- what users give -----------------------------------------------------------------


def parse_budget(text: str) -> int | str | None:
    """A number of features, "auto", or "all" for no limit."""
    if text in (AUTO, "all"):
        return AUTO if text == AUTO else None
    try:
        budget = int(text)
    except ValueError:
        budget = -1
    if budget < 0:
        raise UsageProblem(
            f"--max-features must be a number of features, auto or all, got {text!r}."
        )
    return budget


def parse_C(text: str) -> float | str:
    """A positive number or "auto"."""
    if text == AUTO:
        return AUTO
    try:
        C = float(text)
    except ValueError:
        C = -1.0
    if not 1e-15 <= C <= 1e15:
        raise UsageProblem(f"--C must be a positive number or auto, got {text!r}.")
    return C


def parse_budgets(text: str, most: int) -> list[int]:
    """Budgets like "1-20" or "1,2,5,10-15", as far as there are features."""
    budgets: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        try:
            low = int(first)
            high = int(last) if dash else low
        except ValueError:
            low, high = 1, 0
        if not 0 <= low <= high:
            raise UsageProblem(
                f"--budgets must be like 1-20 or 1,2,5,10, got {text!r}."
            )
        budgets |= set(range(low, min(high, most) + 1))
    if not budgets:
        budgets = {most}
    return sorted(budgets)


def parse_share(text: str) -> float:
    """A tolerance like "1%" or "0.01"."""
    try:
        value = float(text.strip().rstrip("%"))
    except ValueError:
        value = -1.0
    share = value / 100 if text.strip().endswith("%") else value
    if not 0 <= share < 100:
        raise UsageProblem(f"--tolerance must be like 1% or 0.01, got {text!r}.")
    return share


def check_search(
    effort: str, time_limit: float | None, jobs: int = 1, folds: int = 0
) -> None:
    """Raise an error unless effort, time limit, threads and folds make sense."""
    if jobs == 0:
        raise UsageProblem("--jobs must be a number of threads, or -1 for all; got 0.")
    if folds == 1:
        raise UsageProblem("--folds must be at least 2, or 0 for none; got 1.")
    try:
        check_effort(effort)
    except ValueError as error:
        raise UsageProblem(f"--{error}") from error
    if time_limit is not None and not time_limit >= 0:
        raise UsageProblem(f"--time-limit must be seconds >= 0, got {time_limit!r}.")


def read_costs(path: str) -> dict[str, float]:
    """Costs of columns: a table of names and numbers."""
    table = read_table(path)
    texts = [
        name for name, one in table.columns.items() if not isinstance(one, Numbers)
    ]
    numbers = [name for name in table.names if name not in texts]
    if len(texts) != 1 or len(numbers) != 1:
        raise TableError(
            f"--costs: {table.source} must have two columns, the names of the columns "
            f"and their costs; it has {listed(table.names)}."
        )
    words: Any = table.columns[texts[0]]
    costs: Any = table.columns[numbers[0]]
    names = [words.levels[k] if k >= 0 else "" for k in words.codes.tolist()]
    values = costs.values.tolist()
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"--costs: {twice!r} stands twice in {table.source}.")
    for name, value in zip(names, values, strict=True):
        if not 0 < value < np.inf:
            raise TableError(
                f"--costs: the cost of {name!r} must be a positive number, got "
                f"{value:g}."
            )
    return dict(zip(names, values, strict=True))


def check_costs(costs: dict[str, float] | None, data: Data) -> None:
    """Raise an error for a cost of what is no column."""
    for name in costs or {}:
        if name not in data.table.columns:
            raise unknown_column("--costs", name, data.table.names)
