"""The file of the best known supports: better ones are kept, whoever writes last."""

import json

import numpy as np
import pytest

from experiments.benchmarks.best_known import BestKnown, objective_of
from frugalsvm import Problem
from tests.reference import random_data

NAME, C, BUDGET = "random", 1.0, 2
KEY = "random C=1 B=2"


@pytest.fixture
def problem():
    X, y = random_data(np.random.default_rng(0), 30, 6)
    return Problem(X, y, C=C, max_features=BUDGET)


@pytest.fixture
def pairs(problem):
    """A support and a better one."""
    supports = [[0, 1], [2, 3], [4, 5]]
    supports.sort(key=lambda pair: -objective_of(problem, pair))
    return supports[0], supports[-1]


def offer(best, problem, support):
    return best.offer(problem, NAME, C, BUDGET, np.array(support))


def test_only_improvements_are_kept(tmp_path, problem, pairs):
    worse, better = pairs
    best = BestKnown(tmp_path / "known.json")
    assert best.objective(problem, NAME, C, BUDGET) == np.inf
    assert offer(best, problem, better)
    assert not offer(best, problem, worse)
    assert not offer(best, problem, [0, 1, 2])
    again = BestKnown(tmp_path / "known.json")
    assert again.support(NAME, C, BUDGET) == better
    assert again.objective(problem, NAME, C, BUDGET) == pytest.approx(
        objective_of(problem, better)
    )


@pytest.mark.parametrize("better_first", [True, False])
def test_two_processes_lose_no_results(tmp_path, problem, pairs, better_first):
    worse, better = pairs
    first, second = (BestKnown(tmp_path / "known.json") for _ in range(2))
    for best, support in zip(
        (first, second), (better, worse) if better_first else pairs, strict=True
    ):
        assert offer(best, problem, support)
    first.note(KEY, "swap", 10.04)
    second.note(KEY, "exact", 3.0)
    entry = json.loads((tmp_path / "known.json").read_text())[KEY]
    assert entry["support"] == better
    assert entry["searched"] == {"swap": 10.0, "exact": 3.0}
    assert [path.name for path in tmp_path.iterdir()] == ["known.json"]


def test_searched_supports_are_kept_with_a_better_one(tmp_path, problem, pairs):
    worse, better = pairs
    best = BestKnown(tmp_path / "known.json")
    offer(best, problem, worse)
    assert not best.is_searched(KEY, "swap")
    best.note(KEY, "swap", 10.0)
    assert offer(best, problem, better)
    assert BestKnown(tmp_path / "known.json").is_searched(KEY, "swap")
    assert not best.is_searched(KEY, "exact")
