"""ElasticNetSVC: a penalty on features instead of a budget."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from ...estimators import parameters as may_be
from ...estimators.binary_linear import BinaryLinearClassifier, all_or_nothing
from ...estimators.parameters import Constraint, check_parameters
from ...problem.problem import Problem
from .availability import require_solver


class ElasticNetSVC(BinaryLinearClassifier):
    r"""Linear SVM with an elastic-net penalty (EN-SVM of the paper's validation).

    Minimises

    .. math::

        \tfrac12 \|w\|_2^2 + \alpha \|w\|_1
        + C \sum_i \max(0, 1 - y_i (w^\top x_i + b)) .

    The number of features falls with :math:`\alpha`, but the :math:`\alpha` for a given
    number is not known in advance; the paper compares this with a budget. Solved by
    Clarabel (``pip install 'frugalsvm[paper]'``) on a working set of features; the dual
    value over all features,

    .. math::

        1^\top a - \tfrac12 \sum_j \max(0, |c_j| - \alpha)^2, \qquad c = A a, \;
        0 \le a \le C, \; y^\top a = 0,

    measures the accuracy of the solution. Data are not scaled: put a scaler before the
    classifier in a pipeline.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the l1 penalty, not negative; 0 for the plain SVM.
    C : float, default=1.0
        Weight of the hinge loss.
    tol : float, default=1e-6
        Relative gap between objective and dual value.
    class_weight : dict or "balanced", default=None
        Multipliers of C by class.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalised.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
    classes_ : ndarray of shape (2,)
        Labels; positive decisions mean ``classes_[1]``.
    objective_ : float
        Objective of the model, recomputed from its weights.
    lower_bound_ : float
        Dual value: no model is better than this.
    gap_ : float
        Relative gap between the two.
    n_iter_ : int
        Programs solved by Clarabel.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has string column names.

    See Also
    --------
    elastic_net_path : Many values of alpha, each one warm-started.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from frugalsvm.paper.baselines import ElasticNetSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = ElasticNetSVC(alpha=64.0).fit(scale(X), y)
    >>> clf.get_support(indices=True)
    array([ 7, 20, 21, 24, 27, 28])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "alpha": may_be.NOT_NEGATIVE,
        "C": may_be.POSITIVE,
        "tol": may_be.POSITIVE,
        "class_weight": may_be.CLASS_WEIGHT,
        "fit_intercept": may_be.BOOLEAN,
    }

    def __init__(
        self,
        alpha: float = 1.0,
        C: float = 1.0,
        *,
        tol: float = 1e-6,
        class_weight: dict[Any, float] | str | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.alpha = alpha
        self.C = C
        self.tol = tol
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
            solution = self._path(X, y, [self.alpha], sample_weight)[0]
            self.coef_ = solution.coef.reshape(1, -1)
            self.intercept_ = np.array([solution.intercept])
            self.objective_ = solution.objective
            self.lower_bound_ = solution.lower_bound
            self.gap_ = solution.gap
            self.n_iter_ = max(1, solution.programs)
            data = np.asarray(X, dtype=np.float64)
            weights = np.ones(len(data)) if sample_weight is None else sample_weight
            self._keep_moments(data, np.asarray(weights, dtype=np.float64))
        return self

    def _path(
        self,
        X: ArrayLike,
        y: ArrayLike,
        alphas: list[float],
        sample_weight: ArrayLike | None = None,
    ) -> list[Any]:
        """Solutions for alphas in decreasing order."""
        check_parameters(self)
        for alpha in alphas:
            may_be.NOT_NEGATIVE.check("alpha", alpha)
        require_solver(self, "clarabel")
        # Imported here, so that importing this module does not load compiled kernels.
        from .elastic_net import solve_path

        data, labels = validate_data(self, X, y, dtype=np.float64)
        signs = self._encode(labels)
        problem = Problem(
            data,
            signs,
            C=self.C,
            sample_weight=self._weights(data, labels, sample_weight),
            fit_intercept=self.fit_intercept,
        )
        solutions = list(solve_path(problem, alphas, self.tol))
        for solution in solutions:
            if solution.gap > self.tol:
                warnings.warn(
                    f"alpha={solution.alpha:g} ends with a relative gap of "
                    f"{solution.gap:.1e} > tol={self.tol:g}; scale the features, or "
                    "ask for a larger tol.",
                    ConvergenceWarning,
                    stacklevel=3,
                )
        return solutions


class ElasticNetPath(NamedTuple):
    """The result of :func:`elastic_net_path`; one entry or row per alpha.

    Attributes
    ----------
    alphas : ndarray
        In decreasing order.
    coefs : ndarray of shape (n_alphas, n_features)
    intercepts : ndarray
    objectives : ndarray
    lower_bounds : ndarray
    programs : ndarray of int
        Programs that Clarabel solved.
    """

    alphas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    objectives: np.ndarray
    lower_bounds: np.ndarray
    programs: np.ndarray


def elastic_net_path(
    X: ArrayLike, y: ArrayLike, *, alphas: ArrayLike | None = None, **parameters: Any
) -> ElasticNetPath:
    r"""EN-SVM for many values of :math:`\alpha`, each one warm-started.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        Labels of exactly two classes.
    alphas : array-like, default=None
        Values of alpha; the paper's :math:`2^0, 2^1, \dots, 2^{10}` by default.
    **parameters
        Of :class:`ElasticNetSVC`, except ``alpha``.

    Returns
    -------
    ElasticNetPath
    """
    values = 2.0 ** np.arange(11) if alphas is None else np.asarray(alphas, dtype=float)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"alphas must be a list of numbers, got {alphas!r}.")
    descending = np.sort(values)[::-1]
    found = ElasticNetSVC(**parameters)._path(X, y, descending.tolist())
    return ElasticNetPath(
        descending,
        np.array([one.coef for one in found]),
        np.array([one.intercept for one in found]),
        np.array([one.objective for one in found]),
        np.array([one.lower_bound for one in found]),
        np.array([one.programs for one in found]),
    )
