"""The loop over folds: prepare the data of a fold, fit, and score the test samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from joblib.parallel import get_active_backend
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from ..checker import standard_units
from ..run.threads import Shared, sent_once
from .models import Linear, codes_of

if TYPE_CHECKING:
    from ..problem.problem import Problem
    from ..solving.result import Result

T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

# Training and test samples of a fold.
Split = tuple[np.ndarray, np.ndarray]


class FoldJob(NamedTuple):
    """The data of a single fold.

    A tuple, so that it is sent with the job: see ``run.threads.sent_once``.

    Attributes
    ----------
    number : int
        From 0.
    train, test : ndarray of int
        Samples of either part.
    seed : SeedSequence or None
    loss_weight : ndarray or None
        Of the training samples, class weights included; None for ones.
    score_params : dict or None
        Parameters of the scorer besides the test samples.
    """

    number: int
    train: np.ndarray
    test: np.ndarray
    seed: np.random.SeedSequence | None = None
    loss_weight: np.ndarray | None = None
    score_params: dict[str, Any] | None = None


class FoldWork(Protocol[T, R_co]):
    """The work of every fold: fit, and score or predict the test samples."""

    def run(self, data: Shared[T], job: FoldJob) -> R_co:
        """Do one fold; raise KeyboardInterrupt if it is interrupted."""


class FoldPreparation(Protocol[T]):
    """Prepares all samples for a fold, learning from its training samples only."""

    def for_fold(self, data: Shared[T], train: np.ndarray) -> Shared[T]:
        """All samples, prepared for the fold."""


class NoPreparation:
    """Every fold uses the samples as they are."""

    def for_fold(self, data: Shared[T], train: np.ndarray) -> Shared[T]:
        """The same samples."""
        return data


def fold_seeds(
    random_state: int | np.random.RandomState | None,
) -> np.random.SeedSequence:
    """The sequence from which each fold, and the fit after them, spawn their seeds."""
    generator = check_random_state(random_state)
    return np.random.SeedSequence(int(generator.randint(2**31 - 1)))


def run_folds(
    work: FoldWork[T, R],
    data: T,
    jobs: Iterable[FoldJob],
    *,
    preparation: FoldPreparation[T] | None = None,
    n_jobs: int | None = 1,
    on_done: Callable[[int, R], None] | None = None,
) -> list[R]:
    """Run all folds by joblib, each on its own preparation of the data.

    Parameters
    ----------
    work : FoldWork
    data : object
        Shared by all folds.
    jobs : iterable of FoldJob
        Made one by one: with one process, each when its fold begins.
    preparation : FoldPreparation, default=None
        None to use the data as they are.
    n_jobs : int or None, default=1
        Number of folds run in parallel.
    on_done : callable, default=None
        Called with number and result of each fold when it is done, or at the end if the
        backend of joblib returns all folds together.
    """
    prepared = NoPreparation() if preparation is None else preparation
    shared = Shared(data)
    calls = (
        delayed(work.run)(prepared.for_fold(shared, job.train), job) for job in jobs
    )
    backend, _ = get_active_backend()
    has_stream = on_done is not None and backend.supports_return_generator
    form = "generator" if has_stream else "list"
    results = []
    with sent_once(shared):
        for k, result in enumerate(Parallel(n_jobs=n_jobs, return_as=form)(calls)):
            results.append(result)
            if on_done is not None:
                on_done(k, result)
    return results


# --- The samples of a cross-validation, and problems made of them ---------------------


@dataclass(frozen=True)
class Standardisation:
    """The units of the data in a problem; the original units by default.

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
        return cls(*standard_units(X, sample_weight))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The data in these units."""
        return X if self.mean is None else (X - self.mean) / self.scale

    def proof_for_users(self, result: Result) -> Result:
        """The result with a certificate for the original data."""
        proof = result.certificate
        if proof is None or self.mean is None or self.scale is None:
            return result
        return replace(result, certificate=proof.with_scaling(self.mean, self.scale))

    def fold_back(self, model: Linear) -> Linear:
        """The same model in the original units."""
        if self.mean is None:
            return model
        coef = model.coef / self.scale
        return Linear(coef, model.intercept - coef @ self.mean)


@dataclass(frozen=True)
class ProblemMaker:
    """Makes the problem for a set of samples.

    Attributes
    ----------
    constraints : dict
        Costs, included and excluded features and the like, as ``Problem`` takes them.
    scale : bool or "auto"
        Whether to standardise; "auto" does with dense data.
    """

    constraints: Mapping[str, Any]
    scale: bool | str

    def make(
        self,
        X: np.ndarray,
        signs: np.ndarray,
        loss_weight: np.ndarray,
        sample_weight: np.ndarray,
    ) -> tuple[Problem, Standardisation]:
        """The problem and its units."""
        from ..problem.problem import Problem

        is_scaled = not hasattr(X, "tocsc") if self.scale == "auto" else self.scale
        units = Standardisation.of(X, sample_weight) if is_scaled else Standardisation()
        problem = Problem(
            units.apply(X), signs, sample_weight=loss_weight, **self.constraints
        )
        return problem, units


def take(values: Any, indices: np.ndarray) -> Any:
    """Samples of a table, an array or a list."""
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
        The user's table, for scorers.
    data : ndarray
        The same as numbers.
    y, signs : ndarray
        Labels, and their codes -1 and +1; a column for each of more than two classes.
    sample_weight : ndarray
    """

    X: Any
    data: np.ndarray
    y: np.ndarray
    signs: np.ndarray
    sample_weight: np.ndarray

    @property
    def codes(self) -> np.ndarray:
        """The number of each sample's class."""
        return codes_of(self.signs)

    def part(self, indices: np.ndarray) -> Samples:
        """The samples with these indices."""
        return Samples(
            take(self.X, indices),
            self.data[indices],
            self.y[indices],
            self.signs[indices],
            self.sample_weight[indices],
        )


# --- The folds of a cross-validation, checked before any work -------------------------


def make_splits(
    cv: Any, samples: Samples, params: dict[str, Any], stacklevel: int
) -> list[Split]:
    """Training and test samples of all folds.

    Parameters
    ----------
    cv : int, splitter or iterable of splits
    samples : Samples
    params : dict
        Parameters of the splitter besides data and labels.
    stacklevel : int
        Stack level of warnings, relative to this function.
    """
    if (
        isinstance(cv, Iterable)
        and not isinstance(cv, str)
        and not hasattr(cv, "split")
    ):
        pairs = list(cv)
    else:
        fewer = _fewer_folds(cv, samples.codes, stacklevel + 1)
        splitter = check_cv(fewer, samples.y, classifier=True)
        pairs = list(splitter.split(samples.X, samples.y, **params))
    if not pairs:
        raise ValueError("cv has no split; give at least one.")
    splits = [_split(k, pair, samples.y.size) for k, pair in enumerate(pairs)]
    n_classes = np.unique(samples.codes).size
    for k, (train, test) in enumerate(splits):
        _check_training(k, samples.part(train), n_classes)
        if test.size == 0:
            raise ValueError(
                f"the test part of fold {k} is empty, so that nothing can be scored; "
                "give a cv whose folds all have test samples."
            )
    return splits


def possible_folds(signs: np.ndarray, folds: int) -> int:
    """The number of folds that the rarer class allows; 0 if it allows none."""
    n_positive = int(np.count_nonzero(signs > 0))
    most = min(folds, n_positive, signs.size - n_positive)
    return most if most >= 2 else 0


def stratified_splits(signs: np.ndarray, folds: int, seed: int) -> Iterator[Split]:
    """Shuffled folds with the same share of both classes, made one by one."""
    folding = StratifiedKFold(folds, shuffle=True, random_state=seed)
    yield from folding.split(np.zeros((signs.size, 1)), signs)


def _split(k: int, split: Any, n_samples: int) -> Split:
    """A split, which may be the user's, as two arrays of indices."""
    try:
        train, test = split
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"fold {k} of cv must be a pair of arrays, the training and the test "
            f"samples, got {split!r}."
        ) from error
    return (
        _indices(f"the training part of fold {k}", train, n_samples),
        _indices(f"the test part of fold {k}", test, n_samples),
    )


def _indices(part: str, samples: Any, n_samples: int) -> np.ndarray:
    """Indices of samples, which may be given as a boolean mask."""
    indices = np.asarray(samples)
    if indices.dtype == bool and indices.shape == (n_samples,):
        return np.flatnonzero(indices)
    if indices.size == 0:
        return np.empty(0, dtype=np.intp)
    if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer):
        raise ValueError(
            f"{part} must be a list of row numbers or a boolean mask of all "
            f"{n_samples} rows, got an array of {indices.dtype} of shape "
            f"{indices.shape}."
        )
    wrong = indices[(indices < -n_samples) | (indices >= n_samples)]
    if wrong.size:
        raise ValueError(
            f"{part} has row {wrong[0]}, but X has {n_samples} rows (0 to "
            f"{n_samples - 1})."
        )
    return indices


def _check_training(k: int, part: Samples, n_classes: int) -> None:
    """Raise a ValueError unless a training part has samples of all classes."""
    n_present = np.unique(part.codes[part.sample_weight > 0]).size
    if n_present < n_classes:
        content = "no samples to learn from"
        if n_present:
            content = f"samples of {n_present} of the {n_classes} classes only"
        if n_present == 1 and n_classes == 2:
            content = "samples of one class only"
        raise ValueError(
            f"the training part of fold {k} has {content}; give a cv whose folds have "
            f"{'both' if n_classes == 2 else 'all'} classes, or fewer folds."
        )


def _fewer_folds(cv: Any, codes: np.ndarray, stacklevel: int) -> Any:
    """Cut a number of folds to the size of the rarest class; leave any other cv."""
    counts = np.bincount(codes)
    most = int(counts[counts > 0].min())
    if not isinstance(cv, (int, np.integer)) or most < 2 or cv <= most:
        return cv
    rarest = "rarer" if np.count_nonzero(counts) == 2 else "rarest"
    warnings.warn(
        f"cv={cv} exceeds the samples of the {rarest} class; using {most} folds.",
        UserWarning,
        stacklevel=stacklevel,
    )
    return most
