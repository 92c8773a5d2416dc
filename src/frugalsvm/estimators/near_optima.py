"""near_optimal: list all choices of features within a tolerance of the optimum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..problem.certificate import Certificate
from ..problem.problem import Problem
from ..run import compilation
from ..run.stopping import StopCondition
from ..run.supervision import Hold, supervise
from ..run.threads import single_threaded_blas
from ..solving.options import SolveOptions, check_limits, n_threads
from ..solving.result import Result, Status
from ..solving.solver import ensure_batches, rehearse, run_interruptible
from ..tree.branch_and_bound import TreeOptions
from ..tree.listing import ListedSupport, Listing, ListingTree, Threshold, solve_support
from ..tree.proof import ProvedList, build_certificate
from . import parameters
from .alternatives import COMPLETE, SAME, NearOptimal
from .exchanges import ExchangeTrials, bounds_without
from .feature_groups import FeatureGroups
from .feature_names import FeatureNames
from .parameters import signs_of_labels

# Relative allowance of the first cutoff.
SLACK = 1e-6
# Memory limit of the nodes.
MAX_BYTES = 4e9

# The SVM on a support, and the feature sets that lead to it.
Group = tuple[ListedSupport, list[ListedSupport]]


class _Request(NamedTuple):
    """A problem, and how much of its list is asked for."""

    problem: Problem
    names: list[str]
    tolerance: float
    limit: int
    max_nodes: float
    n_jobs: int
    keep_proof: bool


def near_optimal(
    X: ArrayLike | Problem,
    y: ArrayLike | None = None,
    *,
    max_features: int | None = 5,
    C: float = 1.0,
    tolerance: float = 0.01,
    limit: int = 10_000,
    sample_weight: ArrayLike | None = None,
    feature_costs: Any = None,
    max_cost: float | None = None,
    include: Iterable[int | str] | None = None,
    exclude: Iterable[int | str] | None = None,
    feature_groups: Any = None,
    signs: Any = None,
    fit_intercept: bool = True,
    feature_names: Sequence[str] | None = None,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    certificate: bool = False,
    warm: Result | None = None,
) -> NearOptimal:
    """List all choices of features whose objective is within a tolerance of the best.

    The list holds the sets of ``max_features`` features (with costs: the sets to which
    no feature can be added) whose SVM has an objective of at most ``1 + tolerance``
    times the smallest one. A set whose SVM has zero weights is listed once, as its
    support; a weight counts as zero if dropping the feature raises the objective by
    less than a relative 1e-9. Otherwise, smaller sets within the tolerance are not
    listed: adding features never makes the objective worse, so all their supersets of
    ``max_features`` features are in the list. See :meth:`NearOptimal.minimal` for the
    smallest sets.

    The method is branch and bound with a cutoff above the best objective by the
    tolerance, so no support within the tolerance is lost. Before that, single features
    of the best model are exchanged for others, so the list has these substitutes even
    if a limit stops the tree early.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or Problem
        Data; they are not scaled. A :class:`Problem` has its own budgets and C; none of
        its parameters may be given as well.
    y : array-like of shape (n_samples,)
        Labels; the larger one of two counts as +1. More than two classes share their
        features, as in :class:`FrugalSVC`.
    max_features : int or None, default=5
    C : float, default=1.0
    tolerance : float, default=0.01
        Relative to the best objective; 0 for the optimum and its ties.
    limit : int, default=10_000
        Maximum length of the list. The best sets are kept, and ``complete_up_to`` is
        the tolerance up to which none is missing.
    sample_weight, feature_costs, max_cost, include, exclude, fit_intercept
        As in :class:`Problem`; features by index, name or mask, costs by name, too.
    feature_groups, signs
        As in :class:`FrugalSVC`: what counts as one feature, and which weights must not
        be negative or positive.
    feature_names : sequence of str, default=None
        Names of all columns (of all features of a Problem); by default the columns of a
        data frame, else x0, x1 and so on. If the columns of X have no names, features
        may be given by these names.
    time_limit : float, default=None
        Seconds; None for no limit. When time is up, the models found so far are
        returned, and ``complete_up_to`` says how far the list is complete. Ctrl-C has
        the same effect. In an incomplete list, features are called indispensable only
        if that is proved.
    max_nodes : int, default=None
        Maximum number of nodes of the tree.
    n_jobs : int, default=None
        Threads, as in joblib. A complete list does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the search for a first solution; a complete list does not depend on it.
    certificate : bool, default=False
        Keep a proof that nothing is missing, for :func:`frugalsvm.verify`.
    warm : Result, default=None
        Result of a fit of the same problem, from which the list begins; by default, a
        first solution is searched for.

    Returns
    -------
    NearOptimal

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from frugalsvm import near_optimal
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = near_optimal(StandardScaler().fit_transform(X), y, max_features=5)
    >>> models.complete, len(models)
    (True, 4)
    """
    is_number = isinstance(tolerance, Real) and not isinstance(tolerance, bool)
    if not (is_number and 0 <= float(tolerance) < np.inf):
        raise ValueError(
            f"tolerance must be a number >= 0, got {tolerance!r}; 0.01 is 1 %."
        )
    parameters.integer(1).check("limit", limit)
    parameters.BOOLEAN.check("fit_intercept", fit_intercept)
    parameters.BOOLEAN.check("certificate", certificate)
    check_limits(0.0, time_limit, max_nodes)
    if isinstance(X, Problem):
        arguments = {
            "y": y,
            "sample_weight": sample_weight,
            "feature_costs": feature_costs,
            "max_cost": max_cost,
            "include": include,
            "exclude": exclude,
            "feature_groups": feature_groups,
            "signs": signs,
        }
        _check_alone(max_features, C, fit_intercept, arguments)
        problem, names = X, [f"x{j}" for j in range(X.n_features)]
        if feature_names is not None:
            names = _checked_names(feature_names, X.n_features)
    else:
        problem, names = _problem(
            X,
            y,
            feature_names,
            sample_weight,
            feature_groups,
            signs,
            (feature_costs, max_cost, include, exclude),
            max_features=max_features,
            C=C,
            fit_intercept=fit_intercept,
        )
    request = _Request(
        problem,
        names,
        float(tolerance),
        int(limit),
        np.inf if max_nodes is None else int(max_nodes),
        n_threads(n_jobs),
        certificate,
    )
    start, spent, was_interrupted = warm, 0.0, False
    with Hold() as hold:
        if start is None:
            # The rest of the time is for the tree.
            search_limit = None if time_limit is None else 0.8 * time_limit
            options = SolveOptions(
                method="swap",
                effort="fast",
                random_state=random_state,
                n_jobs=n_jobs,
                time_limit=search_limit,
            )
            start, was_interrupted = run_interruptible(problem, options, hold)
            spent = start.seconds
        _check_start(problem, start)
        compilation.ensure("near_optimal", _warm_up)
        ensure_batches(problem, TreeOptions())
        seconds_left = None if time_limit is None else max(0.0, time_limit - spent)
        stop = StopCondition(seconds_left)
        if was_interrupted:
            stop.interrupt()
        hold.begin()
        alternatives, _ = supervise(partial(_run, request, start, spent, stop), stop)
    return alternatives


def _run(
    request: _Request, start: Result, spent: float, stop: StopCondition
) -> NearOptimal:
    """Grow the tree and collect its list; ``start`` took ``spent`` seconds."""
    problem = request.problem
    listing = Listing(Threshold(request.tolerance), request.limit)
    # SVMs are inexact, and the start must not be missed.
    listing.threshold.lower_cutoff(start.objective * (1.0 + SLACK))
    listing.add(_first(problem, start))
    watching = problem.watching(stop.flag)
    tree = ListingTree(
        watching,
        listing,
        stop.should_stop,
        max_nodes=request.max_nodes,
        max_bytes=MAX_BYTES,
        n_jobs=request.n_jobs,
        keep_proof=request.keep_proof,
    )
    exchanges = ExchangeTrials(watching, listing, stop.should_stop)
    bounds: dict[int, float] = {}
    with single_threaded_blas():
        exchanges.run()
        tree.run()
        if not tree.is_complete:
            # Once more, in case the tree has found a better model.
            exchanges.run()
            listing.cut(listing.limit)
            bounds = bounds_without(watching, tree, stop.should_stop)
    return _collect(
        request,
        tree,
        stop,
        seconds=spent + stop.seconds,
        n_exchanges=exchanges.n_tried,
        _bounds_without=bounds,
        _substitutes=exchanges.substitutes,
    )


def _collect(
    request: _Request, tree: ListingTree, stop: StopCondition, **more: Any
) -> NearOptimal:
    """The supports listed by a tree, and its proof about all others."""
    problem, tolerance = request.problem, request.tolerance
    proved, complete = tree.proved, tree.is_complete
    sets = tree.listing.supports()
    groups = _by_support(problem, _largest(sets))
    # Sets that are not leaves belong to open nodes, which the bound covers.
    leaves = [model.bound for model in sets if model.bound > -np.inf]
    lower_bound = min([proved, *leaves])
    # A model that is part of another leaves the list, even if it was the best one.
    best = max(tree.listing.best, groups[0][0].objective)
    proof = None
    if request.keep_proof:
        proof = _certificate(problem, groups, lower_bound, tree)
    return NearOptimal(
        supports=[model.support for model, _ in groups],
        coefs=[_by_class(problem, model) for model, _ in groups],
        intercepts=np.array([model.intercept for model, _ in groups]),
        objectives=np.array([model.objective for model, _ in groups]),
        complete=complete,
        # Rounded down.
        complete_up_to=tolerance if complete else proved / best * (1 - 1e-15) - 1,
        tolerance=tolerance,
        threshold=tree.listing.last,
        lower_bound=lower_bound,
        status=_status(complete, tree, stop),
        n_nodes=tree.n_nodes,
        feature_names=request.names,
        problem=problem,
        certificate=proof,
        _sets=tuple(whole for _, whole in groups),
        _ruled_out=tree.ruled_out,
        **more,
    )


def _by_support(problem: Problem, sets: list[ListedSupport]) -> list[Group]:
    """Supports with the feature sets that lead to them, best first."""
    groups: dict[tuple[int, ...], Group] = {}
    for whole in sets:
        model = _without_zeros(problem, whole)
        groups.setdefault(model.key, (model, []))[1].append(whole)
    return sorted(groups.values(), key=lambda group: (group[0].objective, group[0].key))


def _status(complete: bool, tree: ListingTree, stop: StopCondition) -> str:
    if complete:
        return COMPLETE
    if stop.interrupted:
        return str(Status.INTERRUPTED)
    limits = {"nodes": Status.NODE_LIMIT, "memory": Status.MEMORY_LIMIT}
    if tree.hit_limit is not None:
        return str(limits[tree.hit_limit])
    if tree.listing.is_cut and len(tree.frontier) == 0:
        return "limit"
    # If no limit stopped it, SVMs were not accurate enough to prove more.
    return str(Status.TIME_LIMIT if stop.out_of_time else Status.FEASIBLE)


def _check_start(problem: Problem, start: Result) -> None:
    """Raise a ValueError unless a result may belong to the problem."""
    # Features that are included may have no weight.
    support = np.union1d(start.selected, problem.include).astype(np.int64)
    if start.n_features != problem.n_features or not problem.admits(support):
        raise ValueError(
            "warm is a result for other features or budgets; give one of a fit of the "
            "same problem."
        )


def _first(problem: Problem, start: Result) -> ListedSupport:
    """The initial solution, which is always listed."""
    support = np.union1d(start.selected, problem.include).astype(np.int64)
    coef = start.coef.ravel()[problem.columns.of(support)]
    lengths = problem.columns.lengths(support, coef)
    return ListedSupport(
        support, coef, start.intercept, start.objective, -np.inf, lengths
    )


def _largest(sets: list[ListedSupport]) -> list[ListedSupport]:
    """The sets that are not part of another: leaves need not be maximal."""
    maximal: list[ListedSupport] = []
    holders: dict[int, set[int]] = {}
    for subset in sorted(sets, key=lambda subset: -subset.support.size):
        supersets = [holders.get(j, set()) for j in subset.key]
        if supersets:
            is_part = bool(set.intersection(*sorted(supersets, key=len)))
        else:
            is_part = bool(maximal)
        if not is_part:
            for j in subset.key:
                holders.setdefault(j, set()).add(len(maximal))
            maximal.append(subset)
    return sorted(maximal, key=lambda subset: (subset.objective, subset.key))


def _without_zeros(problem: Problem, whole: ListedSupport) -> ListedSupport:
    """The model on the support of a set: its features whose weights are not zero."""
    lengths = whole.lengths
    droppable = ~np.isin(whole.support, problem.include)
    # Dropping a feature raises the objective by at least half its squared weight.
    small = droppable & (0.5 * lengths**2 <= SAME * whole.objective)
    model = whole
    for feature in whole.support[small][np.argsort(lengths[small], kind="stable")]:
        smaller, _ = solve_support(problem, model.support[model.support != feature])
        if smaller.objective <= whole.objective * (1.0 + SAME):
            model = smaller
    return model


def _by_class(problem: Problem, model: ListedSupport) -> np.ndarray:
    """The weights of a model, in a row for each of more than two classes."""
    if problem.n_machines == 1:
        return model.coef
    return problem.blocks(model.support, model.coef).reshape(problem.n_machines, -1)


def _certificate(
    problem: Problem, groups: list[Group], lower_bound: float, tree: ListingTree
) -> Certificate:
    """The proof that every other set of features is worse."""
    columns = problem.columns
    supports, coefs, intercepts = [], [], []
    for model, sets in groups:
        coef = np.zeros(problem.n_columns)
        coef[columns.of(model.support)] = model.coef
        for whole in sets:
            supports.append(whole.support)
            coefs.append(coef[columns.of(whole.support)])
            intercepts.append(model.intercept)
    best = groups[0][0]
    coef = np.zeros(problem.n_columns)
    coef[columns.of(best.support)] = best.coef
    return build_certificate(
        problem,
        coef,
        best.intercept,
        best.objective,
        lower_bound,
        tree.frontier.nodes,
        alternatives=ProvedList(supports, coefs, intercepts, tree.proved),
    )


def _warm_up(stop: StopCondition) -> None:
    """List the supports of a tiny problem, so that all code is compiled."""
    problem = compilation.tiny_problem()
    # Not by solve, whose own warm-up would wait for the end of this one.
    start = rehearse("swap", stop)
    names = [""] * problem.n_features
    request = _Request(problem, names, 0.1, 100, 20, 1, True)
    _run(request, start, start.seconds, stop)


# --- user input ----------------------------------------------------------------------


def _check_alone(
    max_features: Any, C: Any, fit_intercept: bool, arguments: dict[str, Any]
) -> None:
    """Refuse arguments that repeat what the Problem already has."""
    pairs = ((max_features, 5), (C, 1.0), (fit_intercept, True))
    # Arguments may be arrays, which cannot be compared to a number.
    are_defaults = all(np.ndim(x) == 0 and x == default for x, default in pairs)
    names = [name for name, x in arguments.items() if x is not None]
    if names or not are_defaults:
        raise ValueError(
            f"{', '.join(names) or 'max_features, C or fit_intercept'} cannot be given "
            "with a Problem, which has its own; see Problem.with_budget and "
            "Problem.with_C."
        )


def _problem(
    X: Any,
    y: Any,
    feature_names: Sequence[str] | None,
    sample_weight: ArrayLike | None,
    feature_groups: Any,
    signs: Any,
    constraints: tuple[Any, Any, Any, Any],
    **settings: Any,
) -> tuple[Problem, list[str]]:
    """The problem of some data, and the names of its features.

    If the columns have no names, features may be given by ``feature_names``.
    """
    if y is None:
        raise ValueError("y must be given: one label for each row of X.")
    labels = signs_of_labels(y)
    columns, names = FeatureNames.of(X), None
    if feature_names is not None:
        names = _checked_names(feature_names, columns.n_features)
        if not columns.has_names:
            columns = FeatureNames(np.array(names, dtype=object), columns.n_features)
    features = FeatureGroups.of(columns, feature_groups, signs, X)
    problem = Problem(
        X,
        labels,
        sample_weight=sample_weight,
        **features.constraints(*constraints, stacklevel=4),
        **settings,
    )
    return problem, names if names and features.are_columns else features.names


def _checked_names(names: Sequence[str], n_features: int) -> list[str]:
    if isinstance(names, str) or not hasattr(names, "__len__"):
        raise ValueError(
            f"feature_names must be a list of names, one for each feature, got "
            f"{names!r}."
        )
    if len(names) != n_features:
        raise ValueError(
            f"feature_names has {len(names)} entries, but there are "
            f"{n_features} features; give one for each."
        )
    return [str(name) for name in names]
