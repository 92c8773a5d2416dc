"""Cross-validation of one fold: fit all budgets and C, score the test part."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.preprocessing import StandardScaler

from ...runtime.parallel import Shared
from .frugal_svc import FrugalSVC

if TYPE_CHECKING:
    from ...problem.problem import Problem
    from ...problem.solution import Solution

# Accuracy of the SVMs that predict.
FINAL_TOL = 1e-9

# A scorer of scikit-learn: model, data and labels in, a number out.
Scorer = Callable[..., float]


class NoProbabilitiesError(ValueError):
    """A scorer asks for probabilities, which an SVM does not have."""


class Linear(NamedTuple):
    """A linear model: weights of all features, and an intercept."""

    coef: np.ndarray
    intercept: float


@dataclass(frozen=True)
class Standardisation:
    """The units of the data in a problem; the original ones by default.

    Attributes
    ----------
    mean, scale : ndarray of shape (n_features,) or None
    """

    mean: np.ndarray | None = None
    scale: np.ndarray | None = None

    @classmethod
    def of(cls, X: np.ndarray, sample_weight: np.ndarray) -> Standardisation:
        """Units in which the weighted data have mean 0 and variance 1."""
        if hasattr(X, "tocsc"):
            raise ValueError(
                "scale=True would make the sparse X dense; put a scaler that keeps "
                "zeros, such as sklearn.preprocessing.MaxAbsScaler, before it in a "
                "pipeline, or give X.toarray() if that fits into memory."
            )
        scaler = StandardScaler().fit(X, sample_weight=sample_weight)
        return cls(scaler.mean_, scaler.scale_)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The data in these units."""
        return X if self.mean is None else (X - self.mean) / self.scale

    def fold_back(self, model: Linear) -> Linear:
        """The same model in the original units."""
        if self.mean is None:
            return model
        coef = model.coef / self.scale
        return Linear(coef, model.intercept - float(coef @ self.mean))


@dataclass(frozen=True)
class ProblemMaker:
    """Makes the problem for a set of samples.

    Attributes
    ----------
    constraints : dict
        Costs, included and excluded features and the like, as ``Problem`` takes them.
    scale : bool
        Whether to standardise.
    """

    constraints: Mapping[str, Any]
    scale: bool

    def make(
        self,
        X: np.ndarray,
        signs: np.ndarray,
        loss_weight: np.ndarray,
        sample_weight: np.ndarray,
    ) -> tuple[Problem, Standardisation]:
        """The problem and its units."""
        from ...problem.problem import Problem

        units = (
            Standardisation.of(X, sample_weight) if self.scale else Standardisation()
        )
        problem = Problem(
            units.apply(X), signs, sample_weight=loss_weight, **self.constraints
        )
        return problem, units


def take(values: Any, indices: np.ndarray) -> Any:
    """Some samples of a table, an array or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[indices]
    if hasattr(values, "shape") and not hasattr(values, "columns"):
        return values[indices]
    return np.asarray(values)[indices]


@dataclass(frozen=True)
class Samples:
    """All per-sample data of a fit, which can be split.

    Attributes
    ----------
    X : array-like
        As the user gave it, for scorers.
    data : ndarray
        The same as numbers.
    y, signs : ndarray
        Labels, and their codes -1 and +1.
    sample_weight : ndarray
    """

    X: Any
    data: np.ndarray
    y: np.ndarray
    signs: np.ndarray
    sample_weight: np.ndarray

    def part(self, indices: np.ndarray) -> Samples:
        """Some of the samples."""
        return Samples(
            take(self.X, indices),
            self.data[indices],
            self.y[indices],
            self.signs[indices],
            self.sample_weight[indices],
        )


@dataclass(frozen=True)
class Scoring:
    """How models are scored.

    Attributes
    ----------
    scorer : callable or None
        None for accuracy with the weights of the samples.
    template : FrugalSVC
        Gets the weights of a model and is passed to the scorer.
    classes : ndarray
    names : ndarray or None
        Of the features.
    included : ndarray of int
    """

    scorer: Scorer | None
    template: FrugalSVC
    classes: np.ndarray
    names: np.ndarray | None
    included: np.ndarray

    def score(
        self,
        model: Linear,
        settings: dict[str, Any],
        test: Samples,
        params: dict[str, Any],
    ) -> float:
        """The score of a model; ``settings`` are its budget and C."""
        if self.scorer is None:
            positive = test.data @ model.coef + model.intercept > 0
            hits = positive == (test.signs > 0)
            return float(np.average(hits, weights=_some_weight(test.sample_weight)))
        value = self._value(model, settings, test, params)
        if np.ndim(value) or not np.isreal(value) or isinstance(value, dict):
            raise ValueError(
                "scoring must give one number for a model, got "
                f"{type(value).__name__}; several scores are not supported."
            )
        return float(value)

    def try_out(self, test: Samples, params: dict[str, Any]) -> None:
        """Refuse a scorer that needs probabilities, before any work is done.

        A model of the first feature is scored. Other errors are ignored: they may not
        occur with other models.
        """
        if self.scorer is None:
            return
        model = Linear(np.eye(1, test.data.shape[1])[0], 0.0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._value(model, {"max_features": 1}, test, params)
        except NoProbabilitiesError:
            raise
        except Exception:
            # If fitted models fail in the same way, the error is raised then.
            return

    def _value(
        self,
        model: Linear,
        settings: dict[str, Any],
        test: Samples,
        params: dict[str, Any],
    ) -> Any:
        """The value of the scorer."""
        assert self.scorer is not None
        estimator = self._estimator(model, settings)
        try:
            return self.scorer(estimator, test.X, test.y, **params)
        except AttributeError as error:
            if "_proba" not in str(error):
                raise
            raise NoProbabilitiesError(
                "scoring needs predict_proba, but an SVM has scores and no "
                "probabilities; choose a score that takes decision_function or "
                "predict, such as 'roc_auc', and make probabilities afterwards by "
                "CalibratedClassifierCV(FrugalSVC(best_max_features_, best_C_)). To "
                "choose by probabilities, give CalibratedClassifierCV(FrugalSVC()) to "
                "GridSearchCV."
            ) from error

    def _estimator(self, model: Linear, settings: dict[str, Any]) -> FrugalSVC:
        """A fitted classifier."""
        estimator = FrugalSVC(**(self.template.get_params() | settings))
        estimator.coef_ = model.coef.reshape(1, -1)
        estimator.intercept_ = np.array([model.intercept])
        estimator.classes_ = self.classes
        estimator.n_features_in_ = model.coef.size
        estimator._included = self.included
        if self.names is not None:
            estimator.feature_names_in_ = self.names
        return estimator


def _some_weight(weights: np.ndarray) -> np.ndarray | None:
    # If all samples of a part have weight zero, they count equally.
    return weights if weights.any() else None


def takes_sample_weight(scorer: Scorer) -> bool:
    """Whether a scorer can be given weights of the samples."""
    # Scorers of make_scorer accept weights, but their metric may not.
    metric = getattr(scorer, "_score_func", scorer)
    return "sample_weight" in inspect.signature(metric).parameters


class FoldJob(NamedTuple):
    """The data of a single fold.

    A tuple, so that it is sent with the job: see ``parallel.sent_once``.

    Attributes
    ----------
    train, test : ndarray of int
        Samples of either part.
    loss_weight : ndarray
        Of the training samples, class weights included.
    score_params : dict
        Parameters of the scorer besides the test samples.
    seed : SeedSequence
    """

    train: np.ndarray
    test: np.ndarray
    loss_weight: np.ndarray
    score_params: dict[str, Any]
    seed: np.random.SeedSequence


class Fold(NamedTuple):
    """The result of one fold.

    Attributes
    ----------
    scores : ndarray of shape (n_C, n_budgets, n_refit_C)
    objectives : ndarray of shape (n_C, n_budgets)
        On the training part.
    supports : list of list of ndarray
    n_solves : int
    """

    scores: np.ndarray
    objectives: np.ndarray
    supports: list[list[np.ndarray]]
    n_solves: int


@dataclass(frozen=True)
class FoldWork:
    """The data shared by all folds.

    Attributes
    ----------
    budgets, weights : ndarray
        Budgets and values of C, increasing.
    refit_weights : ndarray or None
        Values of C for the weights of the selected features; None to use the same C.
    effort : str
    maker : ProblemMaker
    scoring : Scoring
    """

    budgets: np.ndarray
    weights: np.ndarray
    refit_weights: np.ndarray | None
    effort: str
    maker: ProblemMaker
    scoring: Scoring

    def run(self, samples: Shared[Samples], job: FoldJob) -> Fold:
        """Fit and score one fold; KeyboardInterrupt if it is interrupted."""
        from ..path import search_grid

        train, test = samples.value.part(job.train), samples.value.part(job.test)
        problem, units = self.maker.make(
            train.data, train.signs, job.loss_weight, train.sample_weight
        )
        found = search_grid(
            problem, self.budgets, self.weights, effort=self.effort, seed=job.seed
        )
        scores = np.array(
            [
                [self._score(problem, units, i, j, one, test, job.score_params)
                 for j, one in enumerate(row)]
                for i, row in enumerate(found.rows)
            ]
        )  # fmt: skip
        return Fold(
            scores,
            np.array([[one.objective for one in row] for row in found.rows]),
            [[one.support for one in row] for row in found.rows],
            found.n_solves,
        )

    def _score(
        self,
        problem: Problem,
        units: Standardisation,
        i: int,
        j: int,
        solution: Solution,
        test: Samples,
        params: dict[str, Any],
    ) -> list[float]:
        """The scores of the SVMs on a support, for every C of the weights."""
        own = self.weights[i]
        scores = []
        for C in [own] if self.refit_weights is None else self.refit_weights:
            model = svm_on(problem.with_C(float(C)), solution.support)
            settings = {"max_features": int(self.budgets[j]), "C": float(own)}
            scores.append(
                self.scoring.score(units.fold_back(model), settings, test, params)
            )
        return scores


def svm_on(problem: Problem, support: np.ndarray) -> Linear:
    """The SVM on a support, as a model of all features."""
    from ...search.evaluator import Evaluator

    solution = Evaluator(problem).solve(support, tol=FINAL_TOL)
    assert solution is not None
    coef = np.zeros(problem.n_features)
    coef[solution.support] = solution.w
    return Linear(coef, problem.unshifted_intercept(coef, solution.b))
