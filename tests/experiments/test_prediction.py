"""The benchmark of prediction: its data, repeats and intervals."""

import numpy as np
import pytest

from experiments.benchmarks import prediction
from experiments.benchmarks.prediction import FOLDS, OURS, PREDICTED, SCIKIT_LEARN


def rows(name, ours, theirs):
    """Scores of two peers on the folds of a set."""
    return [
        {
            "set": name,
            "part": (0, fold),
            "ratio": 0.25,
            "peer": peer,
            "balanced_accuracy": float(score),
        }
        for peer, scores in ((OURS, ours), ("peer", theirs))
        for fold, score in enumerate(scores)
    ]


def test_small_sets_are_repeated():
    for m in (20, 62, 195, 399, 400, 2000):
        repeats = prediction.repeats(m)
        assert 1 <= repeats <= prediction.MOST_REPEATS
        assert repeats * m >= PREDICTED or repeats == prediction.MOST_REPEATS


def test_intervals_are_those_of_nadeau_and_bengio():
    gains = np.array([0.1, 0.0, -0.05, 0.2, 0.0])
    scores = rows("a", 0.7 + gains, np.full(FOLDS, 0.7))
    mean, half, sets = prediction.ahead(scores, "peer")
    assert (mean, sets) == (pytest.approx(gains.mean()), 1)
    # Test sets have a quarter of the samples of training sets.
    error = np.sqrt(gains.var(ddof=1) * (1 / FOLDS + 0.25))
    assert half == pytest.approx(1.96 * error)


def test_sets_count_alike_and_their_errors_add_up():
    gains = np.array([0.1, 0.0, -0.05, 0.2, 0.0])
    more = np.tile(gains, 2)
    first = rows("a", 0.7 + gains, np.full(FOLDS, 0.7))
    both = first + rows("b", 0.9 - more, np.full(more.size, 0.9))
    mean, half, sets = prediction.ahead(both, "peer")
    assert (mean, sets) == (pytest.approx(0.0), 2)
    errors = [prediction.ahead(part, "peer")[1] for part in (first, both[len(first) :])]
    assert half == pytest.approx(np.hypot(*errors) / 2)


def test_sets_without_a_peer_do_not_count():
    scores = rows("a", [0.8] * FOLDS, [0.7] * FOLDS)
    scores += [row for row in rows("b", [0.5] * FOLDS, []) if row["peer"] == OURS]
    assert prediction.ahead(scores, "peer")[0] == pytest.approx(0.1)
    assert prediction.ahead(scores, "peer")[2] == 1


@pytest.mark.parametrize("name", SCIKIT_LEARN)
def test_sets_of_scikit_learn_are_binary(name):
    X, y = SCIKIT_LEARN[name]()
    assert X.shape[0] == y.size
    assert sorted(set(y.tolist())) == [-1, 1]
