"""ElasticNetSVC, with a penalty on features instead of a budget, and its path."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from ...estimators import parameters
from ...estimators.base import BinaryLinearClassifier, all_or_nothing
from ...estimators.parameters import Constraint, check_parameters
from ...kernels.bounds import repair_dual
from ...problem.problem import Problem
from ...run.monitor import relative_gap
from ...search.evaluator import best_intercept
from ..models.blocks import require_plain
from ..models.formulations import elastic_net_svm
from ..solvers import SolverFailed, SolverNotAvailable, missing_package

# --- EN-SVM, the SVM with an elastic-net penalty, for several values of alpha ---------
#
#     min 1/2 ||w||^2 + alpha ||w||_1 + C sum hinge
#
# Its dual is ``max 1'a - 1/2 sum_j max(0, |c_j| - alpha)^2`` over ``0 <= a <= C`` with
# ``y'a = 0`` and ``c = A a``, and ``w_j = sign(c_j) max(0, |c_j| - alpha)``: features
# with ``|c_j| <= alpha`` are out. So Clarabel solves the program on a working set, all
# features are priced by one product with the data, missing features join, and the gap
# between primal and dual value over *all* features is the stopping criterion. Along a
# path of alphas, largest first, each solve starts from the working set implied by the
# last dual point.

SOLVER = "clarabel"
# Clarabel solves to a hundredth of the gap, but not beyond its own accuracy.
SMALLEST_TOLERANCE = 1e-9
# Features whose |c_j| exceeds alpha by less than this have only noise as weights.
SAME_AS_ALPHA = 1e-6


@dataclass(frozen=True)
class ElasticNet:
    """A solution of EN-SVM.

    Attributes
    ----------
    alpha : float
    coef : ndarray of shape (n_features,)
        Features that the dual point rules out have weights of exactly zero.
    intercept : float
    objective : float
        Recomputed from the weights.
    lower_bound : float
        Dual value over all features.
    dual_point : ndarray of shape (n_samples,)
    programs : int
        Programs that Clarabel solved.
    largest_program : int
        Largest number of features in one of them.
    """

    alpha: float
    coef: np.ndarray
    intercept: float
    objective: float
    lower_bound: float
    dual_point: np.ndarray
    programs: int
    largest_program: int

    @property
    def gap(self) -> float:
        """Relative gap between objective and bound."""
        return relative_gap(self.objective, self.lower_bound)


def elastic_net_objective(
    problem: Problem, alpha: float, coef: np.ndarray, intercept: float
) -> float:
    """``1/2 ||w||^2 + alpha ||w||_1 + sum_i C_i hinge_i``."""
    return problem.objective(coef, intercept) + alpha * float(np.abs(coef).sum())


def solve_path(
    problem: Problem, alphas: Sequence[float], tol: float
) -> Iterator[ElasticNet]:
    """Solutions for decreasing alphas, each warm-started from the previous one."""
    require_plain("EN-SVM", problem)
    # The dual point of w = 0, with balanced classes.
    y, C = problem.y, problem.C
    point = repair_dual(np.array(C), y, C, problem.fit_intercept)
    for alpha in alphas:
        solution = _solve(problem, float(alpha), tol, point)
        point = solution.dual_point
        yield solution


def _solve(problem: Problem, alpha: float, tol: float, point: np.ndarray) -> ElasticNet:
    working = np.empty(0, dtype=np.int64)
    best = _evaluate(problem, alpha, np.zeros(problem.n_features), point)
    # The number of rounds is limited to guarantee termination.
    for programs in range(1, 100):
        missing = _missing(problem, alpha, best.dual_point, working)
        if missing.size == 0 and programs == 1:
            # The dual point of w = 0 is not unique: any feature leads to another.
            missing = problem.candidates[:1]
        if best.gap <= tol or missing.size == 0:
            break
        working = np.union1d(working, missing)
        solution = _solve_on(problem, alpha, tol, working)
        best = _merge(best, solution, programs, working.size)
    return _with_exact_zeros(problem, tol, best)


def _with_exact_zeros(problem: Problem, tol: float, best: ElasticNet) -> ElasticNet:
    """Solve again on the features that the dual point does not rule out.

    An interior point leaves small weights on the others. Setting them to zero
    changes margins, so the loss would rise by more than the gap.
    """
    features = np.flatnonzero(best.coef)
    if best.alpha == 0 or features.size == 0:
        return best
    products = np.abs(problem.A[features] @ best.dual_point)
    support = features[products > best.alpha * (1.0 + SAME_AS_ALPHA)]
    if support.size == 0:
        zeros = np.zeros(problem.n_features)
        solution = _evaluate(problem, best.alpha, zeros, best.dual_point)
    else:
        solution = _solve_on(problem, best.alpha, tol, support)
    return replace(
        solution,
        lower_bound=max(best.lower_bound, solution.lower_bound),
        dual_point=best.dual_point,
        programs=best.programs + 1,
        largest_program=best.largest_program,
    )


def _missing(
    problem: Problem, alpha: float, point: np.ndarray, working: np.ndarray
) -> np.ndarray:
    """Violated features outside the working set, the most violated first."""
    outside = np.setdiff1d(problem.candidates, working)
    values = np.abs(problem.A[outside] @ point)
    violated = np.flatnonzero(values > alpha * (1.0 + SAME_AS_ALPHA))
    # The working set grows by half, and by 50 at least.
    most = max(50, int(0.5 * working.size))
    return outside[violated[np.argsort(-values[violated], kind="stable")[:most]]]


def _solve_on(
    problem: Problem, alpha: float, tol: float, working: np.ndarray
) -> ElasticNet:
    """Solve the program on some of the features; evaluate it on all."""
    model = elastic_net_svm(problem, alpha, working.tolist())
    answer = model.solve(SOLVER, tolerance=max(0.01 * tol, SMALLEST_TOLERANCE))
    if "w" not in answer.variables:
        raise SolverFailed(
            f"{SOLVER} ended EN-SVM with alpha={alpha:g} without a solution "
            f"({answer.status}); scale the features, or ask for a larger tol."
        )
    dual = np.ascontiguousarray(answer.multipliers["alpha"])
    point = repair_dual(dual, problem.y, problem.C, problem.fit_intercept)
    return _evaluate(problem, alpha, answer.variables["w"], point)


def _evaluate(
    problem: Problem, alpha: float, coef: np.ndarray, point: np.ndarray
) -> ElasticNet:
    """Weights with the best intercept, their objective, and the dual value."""
    b = best_intercept(problem, coef)
    excess = np.maximum(np.abs(problem.A[problem.candidates] @ point) - alpha, 0.0)
    bound = float(point.sum() - 0.5 * excess @ excess)
    objective = elastic_net_objective(problem, alpha, coef, b)
    return ElasticNet(alpha, coef, b, objective, bound, point, 0, 0)


def _merge(
    best: ElasticNet, latest: ElasticNet, programs: int, size: int
) -> ElasticNet:
    """The better weights and bound of two solutions, and the latest dual point."""
    weights = latest if latest.objective <= best.objective else best
    return replace(
        weights,
        lower_bound=max(best.lower_bound, latest.lower_bound),
        dual_point=latest.dual_point,
        programs=programs,
        largest_program=max(best.largest_program, size),
    )


# --- The estimator and the path -------------------------------------------------------


def require_solver(estimator: object, solver: str) -> None:
    """Raise an error that says what to install, if an estimator's solver is missing."""
    missing = missing_package(solver)
    if missing is not None:
        raise SolverNotAvailable(f"{type(estimator).__name__} runs on {missing}")


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
        Relative gap between objective and bound.
    n_iter_ : int
        Programs solved by Clarabel.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has string column names.

    See Also
    --------
    elastic_net_path : Many values of alpha, each warm-started.

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
        "alpha": parameters.NOT_NEGATIVE,
        "C": parameters.POSITIVE,
        "tol": parameters.POSITIVE,
        "class_weight": parameters.CLASS_WEIGHT,
        "fit_intercept": parameters.BOOLEAN,
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
            self._set_moments(data, np.asarray(weights, dtype=np.float64))
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
            parameters.NOT_NEGATIVE.check("alpha", alpha)
        require_solver(self, "clarabel")
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
    r"""EN-SVM for many values of :math:`\alpha`, each warm-started.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        Labels of exactly two classes.
    alphas : array-like, default=None
        Values of alpha; the paper's :math:`2^0, 2^1, \dots, 2^{10}` by default.
    **parameters
        Parameters of :class:`ElasticNetSVC`, except ``alpha``.

    Returns
    -------
    ElasticNetPath
    """
    values = 2.0 ** np.arange(11) if alphas is None else np.asarray(alphas, dtype=float)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"alphas must be a list of numbers, got {alphas!r}.")
    descending = np.sort(values)[::-1]
    path = ElasticNetSVC(**parameters)._path(X, y, descending.tolist())
    return ElasticNetPath(
        descending,
        np.array([solution.coef for solution in path]),
        np.array([solution.intercept for solution in path]),
        np.array([solution.objective for solution in path]),
        np.array([solution.lower_bound for solution in path]),
        np.array([solution.programs for solution in path]),
    )
