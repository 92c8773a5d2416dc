"""The loop over folds: prepare the data of a fold, fit, and score what was held out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from joblib.parallel import get_active_backend
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from ..run.parallel import Shared, sent_once

T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

# Training and test samples of a fold.
Split = tuple[np.ndarray, np.ndarray]


class FoldJob(NamedTuple):
    """The data of a single fold.

    A tuple, so that it is sent with the job: see ``parallel.sent_once``.

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
    """What is done in every fold: fit, and score or predict the test samples."""

    def run(self, data: Shared[T], job: FoldJob) -> R_co:
        """One fold; KeyboardInterrupt if it is interrupted."""


class FoldPreparation(Protocol[T]):
    """Prepares all samples for a fold, learning from its training samples only."""

    def for_fold(self, data: Shared[T], train: np.ndarray) -> Shared[T]:
        """All samples as the fold uses them."""


class AsGiven:
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
        What all folds share.
    jobs : iterable of FoldJob
        Made one by one: with one process, each when its fold begins.
    preparation : FoldPreparation, default=None
        None to use the data as they are.
    n_jobs : int or None, default=1
        Number of folds run in parallel.
    on_done : callable, default=None
        Told of each fold when it is done, or of all in the end if the backend of joblib
        cannot say it earlier.
    """
    prepared = AsGiven() if preparation is None else preparation
    shared = Shared(data)
    calls = (
        delayed(work.run)(prepared.for_fold(shared, job.train), job) for job in jobs
    )
    backend, _ = get_active_backend()
    has_stream = on_done is not None and backend.supports_return_generator
    form = "generator" if has_stream else "list"
    found = []
    with sent_once(shared):
        for k, result in enumerate(Parallel(n_jobs=n_jobs, return_as=form)(calls)):
            found.append(result)
            if on_done is not None:
                on_done(k, result)
    return found
