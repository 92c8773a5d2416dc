"""FrugalSVC: a linear SVM on at most ``max_features`` features, for scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from ..problem.options import METHOD_NAMES
from ..run.monitor import Callback
from ..run.stopping import EFFORTS
from ..run.supervision import Hold
from ..solving.result import Result, Status
from . import parameters
from .base import BudgetedClassifier, all_or_nothing, check_sample_weight
from .models import codes_of
from .parameters import Constraint


class FrugalSVC(BudgetedClassifier):
    r"""Linear support vector classifier with a hard limit on the number of features.

    Minimises

    .. math::

        \tfrac12 \|w\|_2^2 + C \sum_i \max(0, 1 - y_i (w^\top x_i + b))
        \quad\text{s.t.}\quad \|w\|_0 \le \texttt{max_features}

    and returns the model with a lower bound on this minimum. Data are not scaled: if
    features differ in scale, put a scaler before the classifier in a pipeline.

    More than two classes share the budget: the sum of the objectives of one such SVM
    for each class, against all others, is minimised, with the same features in all.

    Parameters
    ----------
    max_features : int or None, default=10
        Maximum number of features the model may use. None for no limit, 0 for a
        constant classifier.
    C : float, default=1.0
        Weight of the hinge loss, between 1e-15 and 1e15. (C times the weight of a
        sample may lie between 1e-30 and 1e30.)
    refit_C : float or None, default=None
        C for the weights of the selected features, if it should differ from the one
        that selects them: small C select well and are quickly proved, larger ones often
        predict better. ``coef_``, ``intercept_`` and predictions are then those of the
        SVM on the selected features with this C.
    method : str, default="auto"
        ``relax-and-round`` rounds the conic relaxation; ``swap`` improves that by
        exchanging features, with restarts; ``branch-and-bound`` goes on until the
        optimum is proved; ``auto`` does the same within its effort. The paper's
        algorithms are ``local-search``, ``kernel-search``, ``heuristic`` and ``exact``.
    effort : {"fast", "normal", "thorough"}, default="normal"
        How much work ``auto`` and ``swap`` do; the other methods have their own
        stopping rules. ``fast`` has few restarts and no tree, which suits grid
        searches; with ``auto``, it does dense data of more than 200,000 samples in
        parts, to save memory and time. ``thorough`` has more of both than ``normal``,
        and goes on for minutes with a tree that is likely to close by then. Explicit
        limits and ``method_options`` take precedence.
    gap_tol : float, default=1e-4
        Relative gap between objective and bound at which the run ends.
    time_limit : float or None, default=None
        Limit in seconds. By default effort is measured in work and not in time, so that
        the same data and ``random_state`` give the same model on any machine.
    max_nodes : int or None, default=None
        Maximum number of nodes of the tree. None for no limit or, with ``auto``, for
        the limit of the effort.
    feature_costs : array-like of shape (n_features,) or dict, default=None
        Positive cost of each feature. A dict or a Series with names is aligned with the
        columns of X by name, everything else is taken in the order of the columns.
    max_cost : float or None, default=None
        Maximum total cost of the selected features; can be combined with
        ``max_features``.
    include, exclude : sequences of int, str or bool, or None, default=()
        Features that must, and must not, be selected: indices, names when X is a data
        frame, or a mask with one entry per feature; a mask that is a Series with names
        is aligned with the columns. Included features count against the budgets and are
        in ``get_support`` even if their weight is zero.
    feature_groups : array-like of shape (n_columns,), dict or "auto", default=None
        Columns that count as one feature, such as the levels of a categorical variable:
        a label for each column, or a dict from names of groups to their columns (all
        others are on their own). "auto" finds the columns of one-hot encoders by
        scikit-learn's names and by their values, see :func:`encoded_groups` for a
        fitted encoder. Budgets, costs, ``include``, ``exclude`` and
        ``initial_support`` then refer to groups by name, and to columns only if they
        are on their own. By default each column is a feature.
    signs : array-like of shape (n_columns,) or dict, default=None
        "+" or 1 for a weight that must not be negative, "-" or -1 for one that must not
        be positive, 0 for a free one: for each column, or by the names of those that
        have one. Positive scores mean ``classes_[1]``. For two classes only.
    class_weight : dict or "balanced", default=None
        Multipliers of C by class.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalised.
    initial_support : sequence of int or str, default=None
        Features to start the search from.
    method_options : dict, default=None
        Options of the method: see :class:`~frugalsvm.search.restarts.SwapOptions` for
        ``swap``, :class:`~frugalsvm.tree.branch_and_bound.TreeOptions` for
        ``branch-and-bound`` and ``auto``,
        :class:`~frugalsvm.paper.algorithms.kernel_search.LocalSearchOptions`,
        :class:`~frugalsvm.paper.algorithms.kernel_search.KernelSearchOptions`,
        :class:`~frugalsvm.paper.algorithms.heuristic.HeuristicOptions` and
        :class:`~frugalsvm.paper.algorithms.exact_procedure.ExactOptions` for those of
        the paper.
    n_jobs : int, default=None
        Number of threads. With more than one, the tree is searched in an order that
        depends on timing, so that runs stopped early may differ.
    random_state : int, RandomState or None, default=None
        Seed of the search.
    verbose : int, default=0
        Above 0, log progress.
    callback : callable, default=None
        Called with a :class:`~frugalsvm.Progress` after every improvement and every
        pair of nodes. If it returns True, the fit ends with the best model so far.
    certificate : bool, default=False
        Keep the proof of the bound: ``result_.save_certificate(path)`` writes it,
        :func:`frugalsvm.verify` checks it.
    on_interrupt : {"raise", "return"}, default="raise"
        What Ctrl-C does. Either way, the estimator keeps the best model so far. With
        "raise", KeyboardInterrupt is raised, so that cross-validation and other loops
        around the fit stop, too; with "return", the fit returns.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, in a row for each of more than two classes; at most ``max_features``
        columns are not zero, or belong to at most so many groups.
    selected_groups_ : ndarray
        The selected features: names of groups and columns, or numbers if they have no
        names. ``get_support`` is about columns: all of these groups.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_ : ndarray of shape (n_classes,)
        Labels; with two of them, positive decisions mean ``classes_[1]``.
    objective_ : float
        Objective of the model; with ``refit_C``, of the weights for ``C``.
    lower_bound_ : float
        Proved lower bound on the objective of every model within the budget, for ``C``.
    gap_ : float
        Relative gap between the two.
    refit_objective_, refit_lower_bound_ : float
        Only with ``refit_C``: objective of the model for that C, and a proved lower
        bound on that of every model with these features.
    status_ : str
        ``optimal`` if the gap is at most ``gap_tol``. Otherwise ``feasible`` if the
        method finished or its effort was spent, ``node limit``, ``time limit``,
        ``memory limit``, ``interrupted`` or ``solver failed``.
    result_ : Result
        The full result, with history, counters and the dual point of the bound.
    n_iter_ : int
        SVM solves of the search.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from frugalsvm import FrugalSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = FrugalSVC(max_features=2, random_state=0).fit(scale(X), y)
    >>> clf.get_support(indices=True)
    array([22, 24])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "max_features": parameters.optional(parameters.integer(0)),
        "C": parameters.POSITIVE,
        "refit_C": parameters.optional(parameters.POSITIVE),
        "method": parameters.one_of(METHOD_NAMES),
        "effort": parameters.one_of(EFFORTS),
        "gap_tol": parameters.LIMIT,
        "time_limit": parameters.optional(parameters.LIMIT),
        "max_nodes": parameters.optional(parameters.integer(1)),
        "feature_costs": parameters.optional(parameters.COSTS),
        "max_cost": parameters.optional(parameters.LIMIT),
        "include": parameters.optional(parameters.LIST),
        "exclude": parameters.optional(parameters.LIST),
        "feature_groups": parameters.optional(parameters.GROUPS),
        "signs": parameters.optional(parameters.COSTS),
        "class_weight": parameters.CLASS_WEIGHT,
        "fit_intercept": parameters.BOOLEAN,
        "initial_support": parameters.optional(parameters.LIST),
        "method_options": parameters.optional(parameters.OPTIONS),
        "n_jobs": parameters.N_JOBS,
        "random_state": parameters.RANDOM_STATE,
        "verbose": parameters.VERBOSE,
        "callback": parameters.optional(parameters.FUNCTION),
        "certificate": parameters.BOOLEAN,
        "on_interrupt": parameters.one_of(("raise", "return")),
    }

    def __init__(
        self,
        max_features: int | None = 10,
        C: float = 1.0,
        *,
        refit_C: float | None = None,
        method: str = "auto",
        effort: str = "normal",
        gap_tol: float = 1e-4,
        time_limit: float | None = None,
        max_nodes: int | None = None,
        feature_costs: ArrayLike | Mapping[str, float] | None = None,
        max_cost: float | None = None,
        include: Sequence[int | str | bool] | None = (),
        exclude: Sequence[int | str | bool] | None = (),
        feature_groups: ArrayLike | Mapping[str, Sequence[int | str]] | None = None,
        signs: ArrayLike | Mapping[str | int, str | int] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        fit_intercept: bool = True,
        initial_support: Sequence[int | str] | None = None,
        method_options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        certificate: bool = False,
        on_interrupt: str = "raise",
    ) -> None:
        self.max_features = max_features
        self.C = C
        self.refit_C = refit_C
        self.method = method
        self.effort = effort
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.max_nodes = max_nodes
        self.feature_costs = feature_costs
        self.max_cost = max_cost
        self.include = include
        self.exclude = exclude
        self.feature_groups = feature_groups
        self.signs = signs
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.initial_support = initial_support
        self.method_options = method_options
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.certificate = certificate
        self.on_interrupt = on_interrupt

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data. Sparse matrices and large tables are not copied: see
            :class:`~frugalsvm.Problem`.
        y : array-like of shape (n_samples,)
            Labels of two or more classes. More than two are fitted one against the
            rest, by as many SVMs that share their features.
        sample_weight : array-like of shape (n_samples,), default=None
            Multipliers of C; samples of weight zero are dropped.

        Returns
        -------
        self

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, unless ``on_interrupt="return"``. All attributes are then set
            to the best model so far.

        Warns
        -----
        ConvergenceWarning
            If ``time_limit`` or ``max_nodes`` ended the fit with a gap above
            ``gap_tol``. There is no warning if the effort ended it.
        ConstantModelWarning
            If the model predicts one class for all training samples.
        NeverPredictedWarning
            For each of more than two classes that it predicts for none of them.
        """
        with Hold() as hold:
            with all_or_nothing(self):
                outcome = self._fit(X, y, sample_weight, hold)
            was_interrupted = outcome.was_interrupted or hold.count > 0
        if was_interrupted and self.on_interrupt == "raise":
            raise KeyboardInterrupt("the best model so far is kept")
        self._warn_of_limit(outcome.result)
        self._warn_if_constant(stacklevel=2)
        return self

    def _fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        hold: Hold,
    ) -> Any:
        from ..problem.problem import Problem
        from ..solving.options import SolveOptions
        from ..solving.polish import with_refit
        from ..solving.solver import run_interruptible

        data, labels, signs = self._check_data(X, y, sample_weight)
        weights = self._weights(data, labels, sample_weight)
        problem = Problem(
            data,
            signs,
            C=self.C,
            sample_weight=weights,
            max_features=self.max_features,
            **self._problem_constraints(data, stacklevel=4),
        )
        options = self.get_params(deep=False) | {"initial_support": self._start()}
        outcome = run_interruptible(problem, SolveOptions.among(options), hold)
        if self.refit_C is not None:
            refitted = with_refit(problem, outcome.result, self.refit_C)
            outcome = outcome._replace(result=refitted)
        self._included = self._features.columns_of(np.array(problem.include))
        self._set_fit(outcome.result)
        C = self.C if self.refit_C is None else self.refit_C
        mask, result = weights > 0, outcome.result
        self._set_constant(result.constant, result.never, codes_of(signs)[mask], C)
        # Free its copy of the data before the next step.
        del problem
        self._set_moments(data, check_sample_weight(sample_weight, data) * mask)
        return outcome

    def _warn_of_limit(self, result: Result) -> None:
        """Warn if the user's limit ended the fit."""
        limits = {Status.TIME_LIMIT: "time_limit", Status.NODE_LIMIT: "max_nodes"}
        if result.status in limits:
            name = limits[result.status]
            warnings.warn(
                f"{name}={getattr(self, name)} ended the fit: {result.verdict}, which "
                f"is above gap_tol={self.gap_tol:g}. Raise {name} to search on.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _set_fit(self, result: Result) -> None:
        """Set the attributes of the fitted estimator."""
        self._set_result(result)
        weights = result if result.refit is None else result.refit
        self.coef_ = np.atleast_2d(weights.coef)
        self.intercept_ = np.atleast_1d(weights.intercept)
        self._set_selected()
        self.n_iter_ = max(1, result.counters.get("SVM solves", 1))
