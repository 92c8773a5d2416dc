"""FrugalSVCCV: FrugalSVC with budget and C chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from ..problem.options import METHOD_NAMES
from ..run.stopping import EFFORTS
from ..run.supervision import Hold
from . import parameters
from .base import all_or_nothing, check_sample_weight
from .cells import SHARE_OF_FOLDS, ChoiceCallback, Watch, WatchedFolds, watched_folds
from .choice import DEFAULT_RULE, RULES, Choice
from .final_fit import BudgetedChoice, FinalFit
from .folds import ProblemMaker, Samples, fold_seeds, make_splits
from .grid import is_word
from .models import codes_of
from .parameters import Constraint
from .scoring import part_of


class FrugalSVCCV(BudgetedChoice):
    """FrugalSVC with budget and C chosen by cross-validation.

    Each fold is fitted for all budgets and C together, with solutions passed on as warm
    starts. This is faster than a grid search. On some folds the features may be
    slightly worse or better than those of :class:`FrugalSVC`, so a score depends a
    little on the other budgets and C in the lists. Finally, a model with the chosen
    budget and C is fitted to all data.

    Parameters
    ----------
    max_features : list of int or "auto", default="auto"
        Budgets to choose from. "auto" means 1, 2, 3, 4, 5, 6, 8, 10, 12, 15 and 20, up
        to the number of features, and all features if there are fewer than 20. With
        ``effort="fast"``, 4, 6, 10 and 15 are left out.
    C : list of float or "auto", default="auto"
        Weights of the loss to choose from, which select the features. "auto" means
        0.03 alone (0.3 with more than two classes), for standardised data: the weights
        of the selected features get a C of their own (``refit_C``), and then other
        constants, rules and a choice by cross-validation score no better, but take
        longer. With ``refit_C="same"``, "auto" means the powers of ten from 0.001 to
        10. Time grows with C.
    cv : int, splitter or iterable of splits, default=5
        As in scikit-learn. An integer is reduced to the number of samples of the
        rarer class.
    scoring : str or callable, default=None
        The score by which budget and C are chosen, as in scikit-learn; one only. None
        for balanced accuracy, in which rare classes count as much as others, weighted
        by ``sample_weight``. (:meth:`score` then returns the accuracy, as everywhere in
        scikit-learn.)
    rule : {"best", "one-se"}, default="best"
        ``best`` takes the best mean score. ``one-se`` takes the fewest features whose
        mean score is within one standard error of the best: fewer features for a score
        that may be lower by two or three points if there are 200 samples, which is why
        it is not the default. With both, ties go to fewer features, then to the better
        score, and then to the middle of the values of C that score the same. Models
        that predict one class for all samples are not chosen if another is better than
        chance by its own standard error.
    effort : {"fast", "normal", "thorough"}, default="normal"
        How much work goes into the searches, see :class:`FrugalSVC`. Only the final fit
        uses a tree, if the effort includes one. With "fast", searches in folds are
        rough, and fewer budgets and C are compared.
    scale : bool or "auto", default="auto"
        Standardise features within each fold, and for the final fit; ``coef_`` and
        ``intercept_`` are for the data as they are given. Objective, bound and gap
        refer to the standardised data. "auto" standardises dense data and leaves
        sparse data as they are, since centring would make them dense.
    refit_C : "same", list of float or "auto", default="auto"
        The C used to compute the weights of the selected features; it costs one SVM
        each, and no new selection. For each budget and C the one with the best mean
        score is used. "auto" means nine values from 0.003 to 30, five of them with
        ``effort="fast"``; "same" the C that selected the features.
    gap_tol : float, default=1e-4
        Relative gap at which the final fit is finished.
    method : str, default="auto"
        Method of the final fit, see :class:`FrugalSVC`. Folds use swap search.
    time_limit : float or None, default=None
        Limit in seconds of the whole fit; three quarters are for the folds. If it ends
        them, the best of the budgets and C that are finished in all folds is taken; the
        first one always is. They share the time.
    initial_support : sequence of int or str, default=None
        Features to start the final fit from, besides those that the folds selected.
    feature_costs, max_cost, include, exclude, feature_groups, signs, class_weight, \
    fit_intercept
        See :class:`FrugalSVC`; ``class_weight="balanced"`` refers to the training part
        of a fold.
    n_jobs : int, default=None
        Number of folds run in parallel by joblib, and threads of the final fit.
    random_state : int, RandomState or None, default=None
        Seed of the searches. (A splitter has its own.)
    verbose : int, default=0
        Above 0, log a line for each budget and C on each fold, and progress of the
        final fit.
    callback : callable, default=None
        Called with a :class:`~frugalsvm.ChoiceProgress` after each budget and C on each
        fold. If it returns True, the fit ends with the best of the budgets and C that
        are finished in all folds. With ``n_jobs`` above 1 it is called for a fold when
        that is done, and cannot end the others.
    certificate : bool, default=False
        Keep the proof of the final fit's bounds, see :class:`FrugalSVC`: of the
        selection at ``best_C_``, and of the weights at ``best_refit_C_``. It is checked
        with the X of the fit, even if the fit scaled it.
    on_interrupt : {"raise", "return"}, default="raise"
        What Ctrl-C does. Either way, the estimator keeps the best model so far, if a
        budget and C is finished in all folds (else KeyboardInterrupt is raised and
        nothing changes; likewise if folds run in other processes). With "raise",
        KeyboardInterrupt is raised then, too; with "return", the fit returns.

    Attributes
    ----------
    best_max_features_ : int
        The chosen budget.
    best_C_ : float
        The C that selected the features.
    best_refit_C_ : float
        The C used to compute the weights; the same with ``refit_C="same"``.
    best_score_ : float
        Mean score of the choice over the folds.
    best_index_ : int
        Its index in ``cv_results_``.
    cv_results_ : dict of arrays
        As in :class:`~sklearn.model_selection.GridSearchCV`, without times: ``params``,
        ``param_max_features``, ``param_C``, ``param_refit_C``,
        ``split0_test_score`` ..., ``mean_test_score``, ``std_test_score``,
        ``se_test_score``, ``rank_test_score``, and ``split0_objective`` ..., the
        objective on the training part. NaN for budgets and C that a fit which ended
        early has not reached.
    path_ : ScoredPath
        Objective, bound and gap on all data, mean score and standard error for every
        budget and C. It prints as a table, and ``path_.to_frame()`` is a data frame.
    selection_frequency_ : ndarray of shape (n_features,)
        Fraction of the folds that select a feature at the chosen budget and C; for each
        column that of its group.
    n_splits_ : int
        Number of folds.
    coef_ : ndarray of shape (1, n_features)
        Weights; at most ``best_max_features_`` are not zero, or belong to at most so
        many groups.
    selected_groups_ : ndarray
        See :class:`FrugalSVC`.
    intercept_ : ndarray of shape (1,)
    classes_ : ndarray of shape (2,)
        Labels; positive decisions mean ``classes_[1]``.
    objective_, lower_bound_, gap_ : float
        Of the problem that selected the features: ``best_max_features_`` and
        ``best_C_`` on all data (standardised, unless ``scale`` says otherwise).
    status_ : str
        See :class:`FrugalSVC`.
    result_ : Result
        Of the same problem; its ``coef`` is for standardised data and ``best_C_``, and
        so differs from ``coef_`` unless ``scale`` is False and ``refit_C`` "same".
    n_iter_ : int
        Total number of SVM solves.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from frugalsvm import FrugalSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = FrugalSVCCV([1, 2, 3], random_state=0).fit(X, y)
    >>> clf.best_max_features_, clf.best_C_
    (3, 0.03)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "max_features": parameters.list_or("auto"),
        "C": parameters.list_or("auto"),
        "cv": parameters.ANYTHING,
        "scoring": parameters.SCORING,
        "rule": parameters.one_of(RULES),
        "effort": parameters.one_of(EFFORTS),
        "scale": parameters.boolean_or("auto"),
        "refit_C": parameters.list_or("same", "auto"),
        "gap_tol": parameters.LIMIT,
        "method": parameters.one_of(METHOD_NAMES),
        "time_limit": parameters.optional(parameters.LIMIT),
        "initial_support": parameters.optional(parameters.LIST),
        "feature_costs": parameters.optional(parameters.COSTS),
        "max_cost": parameters.optional(parameters.LIMIT),
        "include": parameters.optional(parameters.LIST),
        "exclude": parameters.optional(parameters.LIST),
        "feature_groups": parameters.optional(parameters.GROUPS),
        "signs": parameters.optional(parameters.COSTS),
        "class_weight": parameters.CLASS_WEIGHT,
        "fit_intercept": parameters.BOOLEAN,
        "n_jobs": parameters.N_JOBS,
        "random_state": parameters.RANDOM_STATE,
        "verbose": parameters.VERBOSE,
        "callback": parameters.optional(parameters.FUNCTION),
        "certificate": parameters.BOOLEAN,
        "on_interrupt": parameters.one_of(("raise", "return")),
    }

    def __init__(
        self,
        max_features: Sequence[int] | str = "auto",
        C: Sequence[float] | str = "auto",
        *,
        cv: Any = 5,
        scoring: str | Callable[..., float] | None = None,
        rule: str = DEFAULT_RULE,
        effort: str = "normal",
        scale: bool | str = "auto",
        refit_C: Sequence[float] | str = "auto",
        gap_tol: float = 1e-4,
        method: str = "auto",
        time_limit: float | None = None,
        initial_support: Sequence[int | str] | None = None,
        feature_costs: ArrayLike | Mapping[str, float] | None = None,
        max_cost: float | None = None,
        include: Sequence[int | str | bool] | None = (),
        exclude: Sequence[int | str | bool] | None = (),
        feature_groups: ArrayLike | Mapping[str, Sequence[int | str]] | None = None,
        signs: ArrayLike | Mapping[str | int, str | int] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        callback: ChoiceCallback | None = None,
        certificate: bool = False,
        on_interrupt: str = "raise",
    ) -> None:
        self.max_features = max_features
        self.C = C
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.effort = effort
        self.scale = scale
        self.refit_C = refit_C
        self.gap_tol = gap_tol
        self.method = method
        self.time_limit = time_limit
        self.initial_support = initial_support
        self.feature_costs = feature_costs
        self.max_cost = max_cost
        self.include = include
        self.exclude = exclude
        self.feature_groups = feature_groups
        self.signs = signs
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.certificate = certificate
        self.on_interrupt = on_interrupt

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Centring would make sparse data dense.
        tags.input_tags.sparse = is_word(self.scale, "auto") or not self.scale
        return tags

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Choose budget and C by cross-validation, then fit all data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data; sparse data are not scaled.
        y : array-like of shape (n_samples,)
            Labels of two or more classes, as for :class:`FrugalSVC`.
        sample_weight : array-like of shape (n_samples,), default=None
            Multipliers of C; samples of weight zero are dropped. They also weight the
            scores.
        **params
            ``groups`` for the splitter. With scikit-learn's metadata routing enabled,
            all that the splitter and the scorer request.

        Returns
        -------
        self

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, unless ``on_interrupt="return"`` and there is a model. Scores
            are never averaged over only some of the folds.

        Warns
        -----
        ConvergenceWarning
            If ``time_limit`` ended the choice, or the final fit with a gap above
            ``gap_tol``.
        ConstantModelWarning
            If the model predicts one class for all training samples.
        NeverPredictedWarning
            For each of more than two classes that it predicts for none of them.
        """
        with Hold() as hold:
            with all_or_nothing(self):
                searched, was_interrupted = self._fit(X, y, sample_weight, params, hold)
            was_interrupted |= hold.count > 0
        if was_interrupted and self.on_interrupt == "raise":
            raise KeyboardInterrupt("the best model so far is kept")
        self._warn_of_limit(searched)
        self._warn_if_constant(stacklevel=2)
        return self

    def _fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        params: dict[str, Any],
        hold: Hold,
    ) -> tuple[WatchedFolds, bool]:
        """Fit; return the folds, and whether Ctrl-C was pressed."""
        data, labels, signs = self._check_data(X, y, sample_weight)
        if hasattr(data, "tocsr"):
            # Folds need row indexing, which not all sparse formats have.
            X = data = data.tocsr()
        samples = Samples(
            X, data, labels, signs, check_sample_weight(sample_weight, data)
        )
        constraints = self._problem_constraints(data, stacklevel=4)
        routed = self._route(sample_weight, params)
        seeds = fold_seeds(self.random_state)
        work = self._work(ProblemMaker(constraints, self.scale))
        initial = self._start()
        splits = make_splits(self.cv, samples, routed["split"], stacklevel=4)
        first = splits[0][1]
        work.scoring.try_out(samples.part(first), part_of(routed["score"], first))
        jobs = self._jobs(samples, splits, routed["score"], seeds)
        limit = None if self.time_limit is None else SHARE_OF_FOLDS * self.time_limit
        watch = Watch(limit, self.callback, self.verbose)
        searched = watched_folds(
            work, samples, jobs, len(splits), watch, self.n_jobs, hold=hold
        )
        options = {
            name: getattr(self, name)
            for name in ("method", "gap_tol", "n_jobs", "verbose", "certificate")
        }
        seconds_left = None
        if self.time_limit is not None:
            seconds_left = max(0.0, self.time_limit - searched.seconds)
        has_ended = searched.was_interrupted or searched.was_stopped
        final = FinalFit(work, self.rule, options, initial, seconds_left, has_ended)
        loss_weight = self._weights(data, labels, samples.sample_weight)
        choice = Choice.of(searched.folds, self.rule)
        fitted = final.run(samples, loss_weight, searched.folds, choice, seeds)
        # Set last, so that a fit without a model leaves nothing behind.
        self._set_choice(work, searched.folds, fitted.choice)
        self._set_fit(fitted)
        mask = loss_weight > 0
        predicted = np.unique(fitted.model.predict(data)[mask])
        sign, never = None, np.setdiff1d(np.arange(self.classes_.size), predicted)
        if self.classes_.size == 2 and predicted.size == 1:
            sign, never = 2 * int(predicted[0]) - 1, never[:0]
        truth = codes_of(signs)[mask]
        self._set_constant(sign, never.tolist(), truth, self.best_refit_C_)
        self._set_moments(data, samples.sample_weight)
        return searched, searched.was_interrupted or fitted.was_interrupted
