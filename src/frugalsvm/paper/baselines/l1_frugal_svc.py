"""L1FrugalSVC: at most ``max_features`` features, with the l1 norm of the weights."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from ...estimators import parameters
from ...estimators.base import (
    BinaryLinearClassifier,
    all_or_nothing,
    check_sample_weight,
)
from ...estimators.parameters import Constraint, check_parameters
from ...problem.problem import Problem
from ...run.monitor import Monitor, relative_gap
from ...run.stopping import StopCondition
from .elastic_net import require_solver
from .l1_search import solve_l1

METHODS = ("exact", "kernel-search")


class L1FrugalSVC(BinaryLinearClassifier):
    r"""Linear l1-norm SVM with a hard limit on the number of features.

    Minimises

    .. math::

        \|w\|_1 + C \sum_i \max(0, 1 - y_i (w^\top x_i + b))
        \quad\text{s.t.}\quad \|w\|_0 \le \texttt{max_features},

    the model l1-FS-SVM of Labbé, Martínez-Merino and Rodríguez-Chía, which the paper's
    validation section compares with its own. As a mixed-integer linear program,

    .. math::

        \min\; \|w\|_1 + C \sum_i \xi_i \quad\text{s.t.}\quad (w, b, \xi) \in \Xi,\;
        -M_j v_j \le w_j \le M_j v_j,\; e^\top v \le B,\; v \in \{0, 1\}^n,

    it is solved by HiGHS (``pip install 'frugalsvm[paper]'``). With the objective UB of
    a solution, a dual point :math:`\alpha` of the linear relaxation and
    :math:`c = A\alpha`, valid limits are

    .. math::

        M_j = \min\Big(UB,\; \frac{UB - 1^\top\alpha}{1 - |c_j|}\Big),

    and for up to 100 features the largest :math:`|w_j|` of the relaxation with the row
    "objective at most UB", by two linear programs each.

    Data are not scaled: put a scaler before the classifier in a pipeline.

    Parameters
    ----------
    max_features : int or None, default=10
        Maximum number of features the model may use. None for no limit, 0 for a
        constant classifier.
    C : float, default=1.0
        Weight of the hinge loss.
    method : {"exact", "kernel-search"}, default="exact"
        ``kernel-search`` is the paper's Algorithm 2 on this model: features are ranked
        by the linear relaxation (larger :math:`|w_j|` first, then smaller reduced cost)
        and tried group by group, each together with the current kernel. ``exact`` then
        continues with the whole program.
    rho : int, default=10
        Size of the groups of the kernel search.
    gap_tol : float, default=1e-4
        Relative gap at which HiGHS may end the exact method.
    time_limit : float or None, default=None
        Limit in seconds.
    subproblem_time_limit : float or None, default=60
        Seconds for each subproblem of the kernel search.
    class_weight : dict or "balanced", default=None
        Multipliers of C by class.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalised.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights; at most ``max_features`` are not zero.
    intercept_ : ndarray of shape (1,)
    classes_ : ndarray of shape (2,)
        Labels; positive decisions mean ``classes_[1]``.
    objective_ : float
        Objective of the model, recomputed from its weights.
    lower_bound_ : float
        Lower bound from the dual point of the linear relaxation.
    reported_bound_ : float or None
        The lower bound claimed by HiGHS, if the exact method got that far; it is not
        verified.
    status_ : str
        ``optimal`` if the better of both bounds is within ``gap_tol``, ``time limit``,
        ``solver failed`` or ``feasible``.
    n_iter_ : int
        Programs solved.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has string column names.

    References
    ----------
    Labbé, M., Martínez-Merino, L. I., and Rodríguez-Chía, A. M. (2019). Mixed integer
    linear programming for feature selection in support vector machine. Discrete
    Applied Mathematics, 261, 276-304.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from frugalsvm.paper.baselines import L1FrugalSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = L1FrugalSVC(max_features=2).fit(scale(X), y)
    >>> clf.get_support(indices=True)
    array([23, 24])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "max_features": parameters.optional(parameters.integer(0)),
        "C": parameters.POSITIVE,
        "method": parameters.one_of(METHODS),
        "rho": parameters.integer(1),
        "gap_tol": parameters.NOT_NEGATIVE,
        "time_limit": parameters.optional(parameters.POSITIVE),
        "subproblem_time_limit": parameters.optional(parameters.POSITIVE),
        "class_weight": parameters.CLASS_WEIGHT,
        "fit_intercept": parameters.BOOLEAN,
    }

    def __init__(
        self,
        max_features: int | None = 10,
        C: float = 1.0,
        *,
        method: str = "exact",
        rho: int = 10,
        gap_tol: float = 1e-4,
        time_limit: float | None = None,
        subproblem_time_limit: float | None = 60.0,
        class_weight: dict[Any, float] | str | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.max_features = max_features
        self.C = C
        self.method = method
        self.rho = rho
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.subproblem_time_limit = subproblem_time_limit
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Labels of exactly two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Multipliers of C; samples of weight zero are dropped.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            check_parameters(self)
            require_solver(self, "highs")
            data, labels = validate_data(self, X, y, dtype=np.float64)
            signs = self._encode(labels)
            weights = self._weights(data, labels, sample_weight)
            problem = Problem(
                data,
                signs,
                C=self.C,
                sample_weight=weights,
                max_features=self.max_features,
                fit_intercept=self.fit_intercept,
            )
            monitor = Monitor(StopCondition(self.time_limit), self.gap_tol)
            outcome = solve_l1(
                problem,
                monitor,
                self.rho,
                self.subproblem_time_limit,
                self.method == "exact",
            )
            solution = outcome.solution
            self.coef_ = np.zeros((1, problem.n_features))
            self.coef_[0, solution.support] = solution.w
            self.intercept_ = np.array([solution.b])
            self._set_moments(
                data, check_sample_weight(sample_weight, data) * (weights > 0)
            )
            self.objective_ = solution.objective
            self.lower_bound_ = outcome.lower_bound
            self.reported_bound_ = outcome.reported_bound
            self.status_ = self._status(monitor, outcome.is_cut_short)
            self.n_iter_ = max(1, outcome.programs)
        if monitor.stop.failure is not None:
            warnings.warn(f"the fit ended early: {monitor.stop.failure}", stacklevel=2)
        return self

    def _status(self, monitor: Monitor, is_cut_short: bool) -> str:
        claim = -np.inf if self.reported_bound_ is None else self.reported_bound_
        bound = max(claim, self.lower_bound_)
        # Programs are solved to a tolerance, so an optimum may have a small gap.
        if relative_gap(self.objective_, bound) <= max(1.01 * self.gap_tol, 1e-6):
            return "optimal"
        if monitor.stop.failure is not None:
            return "solver failed"
        late = monitor.stop.out_of_time or is_cut_short
        return "time limit" if late else "feasible"
