"""The loop over folds: lazy, in order, each on its own preparation of the data."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from frugalsvm.estimators.folds import (
    FoldJob,
    possible_folds,
    run_folds,
    stratified_splits,
)
from frugalsvm.run.threads import Shared

SIGNS = np.where(np.arange(30) % 3, 1.0, -1.0)


@dataclass
class MeanOfTest:
    """The mean of the held-out values; records when it ran."""

    events: list = field(default_factory=list)

    def run(self, data, job):
        self.events.append(f"run {job.number}")
        return float(data.value[job.test].mean())


class Centred:
    """Values less the mean of the training part."""

    def for_fold(self, data, train):
        return Shared(data.value - data.value[train].mean())


def jobs(events=None):
    for k, split in enumerate(stratified_splits(SIGNS, 3, seed=1)):
        if events is not None:
            events.append(f"make {k}")
        yield FoldJob(k, *split)


def test_folds_are_made_when_they_begin():
    work = MeanOfTest()
    run_folds(work, np.arange(30.0), jobs(work.events))
    assert work.events == [f"{do} {k}" for k in range(3) for do in ("make", "run")]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_fold_is_prepared_from_its_training_part(n_jobs):
    values = np.random.default_rng(0).normal(size=30)
    found = run_folds(
        MeanOfTest(), values, jobs(), preparation=Centred(), n_jobs=n_jobs
    )
    expected = [values[j.test].mean() - values[j.train].mean() for j in jobs()]
    np.testing.assert_allclose(found, expected)
    plain = run_folds(MeanOfTest(), values, jobs(), n_jobs=n_jobs)
    np.testing.assert_allclose(plain, [values[j.test].mean() for j in jobs()])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_fold_is_told_of(n_jobs):
    told = []
    found = run_folds(
        MeanOfTest(),
        np.arange(30.0),
        jobs(),
        n_jobs=n_jobs,
        on_done=lambda k, result: told.append((k, result)),
    )
    assert told == list(enumerate(found))


def test_ctrl_c_ends_the_loop():
    class Interrupted(MeanOfTest):
        def run(self, data, job):
            if job.number == 1:
                raise KeyboardInterrupt
            return super().run(data, job)

    work = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        run_folds(work, np.arange(30.0), jobs())
    assert work.events == ["run 0"]


def test_stratified_folds():
    for train, test in stratified_splits(SIGNS, 5, seed=0):
        assert np.intersect1d(train, test).size == 0
        assert train.size + test.size == 30
        assert np.count_nonzero(SIGNS[test] < 0) == 2
    assert possible_folds(SIGNS, 20) == 10
    assert possible_folds(SIGNS > 0, 3) == 3
    assert possible_folds(np.r_[SIGNS[SIGNS > 0], -1.0], 5) == 0
