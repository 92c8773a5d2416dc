"""Cross-validation cell by cell in all folds, with a time limit and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from ..run.monitor import ensure_handler, logger
from ..run.stopping import StopCondition
from ..run.supervision import Hold
from ..run.threads import Shared
from .folds import FoldJob, FoldPreparation, NoPreparation, Samples, run_folds
from .grid import FoldSearch, GridFold, GridWork, best_of

if TYPE_CHECKING:
    from ..search.path_search import CellIndex

# Folds are searched side by side if their data together take no more bytes than this;
# otherwise one after another, so that one of them is in memory at a time.
MOST_BYTES = 2**31
# Fraction of the time limit for the folds; the rest is for the fit to all data.
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
    seconds_left : float
        An estimate.
    """

    seconds: float
    fold: int
    max_features: int
    C: float
    score: float
    n_done: int
    n_total: int
    seconds_left: float


ChoiceCallback = Callable[[ChoiceProgress], object]


class WatchedFolds(NamedTuple):
    """The folds, and how their search ended.

    Attributes
    ----------
    folds : list of GridFold
    n_finished : int
        Cells that were finished in all folds.
    seconds : float
        Time of all folds.
    was_interrupted, was_stopped, was_late : bool
        Whether Ctrl-C, the callback or the time limit ended them.
    """

    folds: list[GridFold]
    n_finished: int
    seconds: float
    was_interrupted: bool = False
    was_stopped: bool = False
    was_late: bool = False

    @property
    def n_shortened(self) -> int:
        """Cells finished in all folds whose search was cut short in any."""
        shortened = set().union(*(fold.shortened for fold in self.folds))
        return len(shortened.intersection(finished_cells(self.folds)))


@dataclass
class Watch:
    """Time limit and progress of the cross-validation.

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

    def report(self, progress: ChoiceProgress, n_folds: int) -> bool:
        """Log a line and call the callback; return whether it wants to stop."""
        if self.verbose:
            ensure_handler()
            logger.info(
                f"{progress.seconds:7.1f}s  fold {progress.fold + 1} of {n_folds}  "
                f"C {progress.C:<8.4g} budget {progress.max_features:<5d} "
                f"score {progress.score:.4f}  ({progress.n_done:,} of "
                f"{progress.n_total:,}, about {progress.seconds_left:.0f}s left)"
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
    finished, unless Ctrl-C is pressed. The remaining cells share the remaining time; if
    it does not suffice for all, some are left out, evenly spread.

    Folds in other processes, or too large to be in memory together (more than
    ``most_bytes``), are searched one by one, each within its share of the time, which
    its cells share.

    The hold begins when all folds have been searched.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, if no cell is finished in all folds.
    """
    prepared = NoPreparation() if preparation is None else preparation
    most_bytes = MOST_BYTES if most_bytes is None else most_bytes
    n_workers = min(effective_n_jobs(n_jobs), n_folds)
    data = samples.data
    n_bytes = data.data.nbytes if hasattr(data, "tocsr") else data.nbytes
    if n_workers == 1 and n_folds * n_bytes <= most_bytes:
        return _side_by_side(work, samples, list(jobs), watch, prepared, hold)
    if watch.time_limit is not None:
        waves = -(-n_folds // n_workers)
        work = replace(work, time_limit=watch.time_limit / waves)
    stop = StopCondition()
    steps = _Steps(work, watch, n_folds, stop)
    if n_workers == 1:
        shared, folds = Shared(samples), []
        for job in jobs:
            fold_data = prepared.for_fold(shared, job.train)
            folds.append(work.run(fold_data, job, partial(steps.report, job.number)))
    else:
        folds = run_folds(
            work,
            samples,
            jobs,
            preparation=prepared,
            n_jobs=n_jobs,
            on_done=steps.report_all,
        )
    if hold is not None:
        hold.begin()
    finished = len(finished_cells(folds))
    return WatchedFolds(
        folds,
        finished,
        stop.seconds,
        was_stopped=steps.was_stopped,
        was_late=not steps.was_stopped and finished < work.n_cells,
    )


@dataclass
class _Steps:
    """The steps of all folds, which it counts and reports.

    Attributes
    ----------
    work : GridWork
    watch : Watch
    n_folds : int
    stop : StopCondition
        Its clock is that of the folds.
    n_done : int
        Steps so far.
    was_stopped : bool
        Whether the callback wants to stop.
    """

    work: GridWork
    watch: Watch
    n_folds: int
    stop: StopCondition
    n_done: int = 0
    was_stopped: bool = False
    _work_done: float = 0.0

    def report(self, fold: int, index: CellIndex, score: float) -> bool:
        """Report a cell; return whether to stop."""
        work, (i, j), seconds = self.work, index, self.stop.seconds
        self.n_done += 1
        costs = work.costs
        self._work_done += costs[j]
        total = self.n_folds * work.weights.size * costs.sum()
        seconds_left = seconds * (total / self._work_done - 1.0)
        if self.watch.time_limit is not None:
            seconds_left = min(seconds_left, max(0.0, self.watch.time_limit - seconds))
        progress = ChoiceProgress(
            seconds,
            fold,
            int(work.budgets[j]),
            float(work.weights[i]),
            score,
            self.n_done,
            self.n_folds * work.n_cells,
            seconds_left,
        )
        self.was_stopped |= self.watch.report(progress, self.n_folds)
        return self.was_stopped

    def report_all(self, fold: int, result: GridFold) -> None:
        """Report all cells of a fold that was searched in another process."""
        for i, j in finished_cells([result]):
            self.report(fold, (i, j), best_of(result.scores[i, j]))


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
    steps = _Steps(work, watch, len(jobs), stop)
    # Compiled code reads the flag of its stop condition: all folds share one.
    stop.needs_watching = watch.time_limit is not None
    was_interrupted = False
    with ExitStack() as open_folds:
        searches: list[FoldSearch] = []
        try:
            for job in jobs:
                fold_data = prepared.for_fold(data, job.train)
                search = FoldSearch(work, fold_data, job, stop)
                searches.append(open_folds.enter_context(search))
            stop.restart(None)
            for index, seconds in _within(work, searches, stop, watch.time_limit):
                is_first = index == searches[0].indices[0]
                end = stop.seconds + seconds
                for k, search in enumerate(searches):
                    if (steps.was_stopped and not is_first) or stop.should_stop():
                        break
                    share = (end - stop.seconds) / (len(jobs) - k)
                    score = search.step(index, share)
                    if score is None:
                        break
                    steps.report(k, index, score)
            for search in searches:
                if not (steps.was_stopped or stop.should_stop()):
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
    finished = len(finished_cells(folds)) if len(folds) == len(jobs) else 0
    if was_interrupted and finished == 0:
        raise KeyboardInterrupt
    was_stopped = steps.was_stopped
    was_late = not (was_stopped or was_interrupted) and finished < work.n_cells
    return WatchedFolds(
        folds, finished, stop.seconds, was_interrupted, was_stopped, was_late
    )


def _within(
    work: GridWork,
    searches: list[FoldSearch],
    stop: StopCondition,
    time_limit: float | None,
) -> Iterator[tuple[CellIndex, float]]:
    """The cells that the time allows, with the seconds that each may take in all folds.

    A cell is left out if it would be searched for less time than its scoring takes.
    """
    indices, number = searches[0].indices, 0
    costs = np.tile(work.costs, work.weights.size)
    least = 0.0
    while number < len(indices):
        seconds_left, remaining = stop.seconds_left, costs[number:]
        chosen = _spread(least * remaining, seconds_left)
        first = chosen[0]
        seconds = seconds_left * float(remaining[first] / remaining[chosen].sum())
        number += first
        yield indices[number], seconds
        scoring = sum(search.scoring_seconds for search in searches)
        least = 2.0 * scoring / float(costs[number])
        if number == 0:
            # The first cell has no limit, so that there is a model.
            stop.limit(time_limit)
        number += 1


def _spread(seconds: np.ndarray, limit: float) -> list[int]:
    """As many cells as a limit allows, evenly spread; ``seconds`` has their times."""
    n = seconds.size
    for n_chosen in range(n, 0, -1):
        chosen = [-(-(k + 1) * n // n_chosen) - 1 for k in range(n_chosen)]
        if seconds[chosen].sum() <= limit:
            return chosen
    return np.flatnonzero(seconds <= limit)[-1:].tolist() or [0]


def finished_cells(folds: list[GridFold]) -> list[CellIndex]:
    """The cells that were finished in all folds, in their order."""
    return [
        (i, j)
        for i, j in np.ndindex(*folds[0].objectives.shape)
        if all(fold.supports[i][j] is not None for fold in folds)
    ]
