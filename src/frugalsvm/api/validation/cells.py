"""Cross-validation that is bounded and watched: cell by cell, in all folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from ...runtime.parallel import Shared
from ...runtime.progress import ensure_handler, logger
from ...runtime.stopping import StopCondition
from ...runtime.supervision import Hold
from .folds import AsGiven, FoldJob, FoldPreparation, run_folds
from .grid import FoldSearch, GridFold, GridWork, best_of
from .samples import Samples

# Folds are searched side by side if their data together take no more bytes than this;
# else one after another, so that one of them is in memory at a time.
MOST_BYTES = 2**31
# The part of a time limit that the folds may use; the rest is for the fit of all data.
SHARE_OF_FOLDS = 0.75


@dataclass(frozen=True)
class ChoiceProgress:
    """The argument of the callback of :class:`~frugalsvm.FrugalSVCCV`.

    Attributes
    ----------
    seconds : float
        Since the first search began; compilation is not counted.
    fold : int
        From 0.
    max_features : int
    C : float
    score : float
        Of this budget and C on this fold, with the best C for the weights.
    n_done, n_total : int
        Steps so far, and of all folds together; a step is one budget and C on one fold.
    """

    seconds: float
    fold: int
    max_features: int
    C: float
    score: float
    n_done: int
    n_total: int


ChoiceCallback = Callable[[ChoiceProgress], object]


class WatchedFolds(NamedTuple):
    """The folds, and how their search ended.

    Attributes
    ----------
    folds : list of GridFold
    n_finished : int
        Cells that were finished in all folds.
    seconds : float
        What all of this took.
    was_interrupted, was_stopped, was_late : bool
        Ended by Ctrl-C, by the callback, by the time limit.
    """

    folds: list[GridFold]
    n_finished: int
    seconds: float
    was_interrupted: bool = False
    was_stopped: bool = False
    was_late: bool = False


@dataclass
class Watch:
    """What bounds and watches the folds.

    Attributes
    ----------
    time_limit : float or None
        Of the folds, in seconds.
    callback : callable or None
    verbose : int
    """

    time_limit: float | None = None
    callback: ChoiceCallback | None = None
    verbose: int = 0

    def tell(self, progress: ChoiceProgress, n_folds: int) -> bool:
        """Log a line and call the callback; return whether it wants to stop."""
        if self.verbose:
            ensure_handler()
            logger.info(
                f"{progress.seconds:7.1f}s  fold {progress.fold + 1} of {n_folds}  "
                f"C {progress.C:<8.4g} budget {progress.max_features:<5d} "
                f"score {progress.score:.4f}  ({progress.n_done:,} of "
                f"{progress.n_total:,})"
            )
        return self.callback is not None and bool(self.callback(progress))


def watched_folds(
    work: GridWork,
    samples: Samples,
    jobs: Iterable[FoldJob],
    n_folds: int,
    watch: Watch,
    n_jobs: int | None,
    *,
    preparation: FoldPreparation[Samples] | None = None,
    most_bytes: int | None = None,
    hold: Hold | None = None,
) -> WatchedFolds:
    """Search and score all cells in all folds.

    In one process every cell is finished in all folds before the next one begins, so
    that a search that ends early has the same cells in each. The first cell is always
    finished, unless by Ctrl-C.

    Folds in other processes, or too large to be in memory together (more than
    ``most_bytes``), are searched one by one within their share of the time.

    A hold begins when they have been searched.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, if no cell is finished in all folds.
    """
    prepared = AsGiven() if preparation is None else preparation
    most_bytes = MOST_BYTES if most_bytes is None else most_bytes
    n_workers = min(effective_n_jobs(n_jobs), n_folds)
    if n_workers == 1 and n_folds * _n_bytes(samples.data) <= most_bytes:
        return _side_by_side(work, samples, list(jobs), watch, prepared, hold)
    if watch.time_limit is not None:
        waves = -(-n_folds // n_workers)
        work = replace(work, time_limit=watch.time_limit / waves)
    stop = StopCondition()
    folds = run_folds(work, samples, jobs, preparation=prepared, n_jobs=n_jobs)
    finished = _finished(folds)
    if hold is not None:
        hold.begin()
    was_stopped = False
    for n_done, (k, i, j) in enumerate(_cells(folds)):
        progress = ChoiceProgress(
            stop.seconds, k, int(work.budgets[j]), float(work.weights[i]),
            best_of(folds[k].scores[i, j]), n_done + 1, n_folds * work.n_cells,
        )  # fmt: skip
        was_stopped |= watch.tell(progress, n_folds)
    return WatchedFolds(
        folds, finished, stop.seconds, was_stopped=was_stopped,
        was_late=finished < work.n_cells,
    )  # fmt: skip


def _side_by_side(
    work: GridWork,
    samples: Samples,
    jobs: list[FoldJob],
    watch: Watch,
    prepared: FoldPreparation[Samples],
    hold: Hold | None,
) -> WatchedFolds:
    """All folds cell by cell, in this process."""
    stop, data = StopCondition(), Shared(samples)
    # Compiled code looks at the flag of its stop condition, so one is for all folds.
    stop.needs_watching = watch.time_limit is not None
    was_interrupted = was_stopped = False
    with ExitStack() as open_folds:
        searches: list[FoldSearch] = []
        try:
            for job in jobs:
                own = prepared.for_fold(data, job.train)
                search = FoldSearch(work, own, job, stop)
                searches.append(open_folds.enter_context(search))
            stop.restart(None)
            n_done = 0
            for number, index in enumerate(searches[0].indices):
                if number == 1:
                    stop.limit(watch.time_limit)
                for k, search in enumerate(searches):
                    if (was_stopped and number > 0) or stop.should_stop():
                        break
                    score = search.step(index)
                    if score is None:
                        break
                    n_done += 1
                    progress = ChoiceProgress(
                        stop.seconds, k, int(work.budgets[index[1]]),
                        float(work.weights[index[0]]), score, n_done,
                        len(jobs) * work.n_cells,
                    )  # fmt: skip
                    was_stopped |= watch.tell(progress, len(jobs))
            for search in searches:
                if not (was_stopped or stop.should_stop()):
                    search.finish()
            if hold is not None:
                hold.begin(stop.interrupted)
        except KeyboardInterrupt:
            # Between two searches, e.g. in the callback or in a scorer.
            was_interrupted = True
            if hold is not None:
                hold.begin(was_interrupted)
        folds = [search.result() for search in searches]
        was_interrupted |= stop.interrupted
    finished = _finished(folds) if len(folds) == len(jobs) else 0
    if was_interrupted and finished == 0:
        raise KeyboardInterrupt
    was_late = not (was_stopped or was_interrupted) and finished < work.n_cells
    return WatchedFolds(
        folds, finished, stop.seconds, was_interrupted, was_stopped, was_late
    )


def _cells(folds: list[GridFold]) -> Iterable[tuple[int, int, int]]:
    """Fold, C and budget of all cells that were finished."""
    for k, fold in enumerate(folds):
        for i, row in enumerate(fold.supports):
            for j, support in enumerate(row):
                if support is not None:
                    yield k, i, j


def _finished(folds: list[GridFold]) -> int:
    """The number of cells that were finished in all folds."""
    known = [
        [[support is not None for support in row] for row in fold.supports]
        for fold in folds
    ]
    return int(np.all(known, axis=0).sum())


def _n_bytes(data: Any) -> int:
    """Memory that the data take."""
    return int(data.data.nbytes if hasattr(data, "tocsr") else data.nbytes)
