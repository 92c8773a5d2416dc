"""Restarts: elites, patience, and an outcome that does not depend on threads."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.runtime.incumbent import Incumbent
from frugalsvm.search.evaluator import IMPROVEMENT, Evaluator, Stop
from frugalsvm.search.restarts import (
    COSTS,
    FULL_GAIN,
    STRETCH_COST,
    STRETCH_PART,
    STRETCHES,
    Elites,
    RestartSearch,
    SwapOptions,
    shrink,
)
from frugalsvm.search.swap import swap_search
from frugalsvm.search.tempering import Tempered
from tests.reference import brute_force, random_data


def problem_of(n=14, max_features=4, seed=0, **arguments):
    X, y = random_data(np.random.default_rng(seed), 50, n)
    return Problem(X, y, C=2.0, max_features=max_features, **arguments)


def run(
    problem, n_jobs=1, should_stop=lambda: False, listener=lambda *_: None,
    max_work=np.inf, gain=None, **options,
):  # fmt: skip
    incumbent = Incumbent()
    incumbent.listen(listener)
    with ThreadPoolExecutor(n_jobs) as pool:
        search = RestartSearch(
            problem, incumbent, SwapOptions(**options), pool,
            np.random.SeedSequence(1), should_stop, max_work, gain,
        )  # fmt: skip
        first = Evaluator(problem).solve(np.arange(problem.max_features))
        search.start([first])
        search.restart_until_idle(lambda: False)
    return search, incumbent


def test_finds_the_optimum_of_a_small_problem():
    problem = problem_of()
    _, incumbent = run(problem, patience=100)
    assert incumbent.objective == pytest.approx(brute_force(problem)[0], rel=1e-5)


def test_threads_do_not_change_the_outcome():
    problem = problem_of(n=40, max_features=6)
    searches = [run(problem, n_jobs=n, patience=20)[0] for n in (1, 3)]
    one, three = ([s.key for s in search.elites.solutions] for search in searches)
    assert one == three
    assert searches[0].counters == searches[1].counters


def test_threads_do_not_change_what_tempering_finds():
    searches = [run(wide(), n_jobs=n, patience=100, max_work=2e9)[0] for n in (1, 3)]
    one, three = ([s.key for s in search.elites.solutions] for search in searches)
    assert one == three
    assert searches[0].counters == searches[1].counters
    assert searches[0]._tempering is not None


def test_tempering_keeps_to_the_work():
    search, _ = run(wide(), patience=10**6, max_work=1e9)
    assert search._tempering is not None
    assert 1e9 <= search.work < 1.2e9


def test_only_full_elites_are_tempered():
    problem = wide()
    with ThreadPoolExecutor(1) as pool:
        search = searching(problem, pool, np.inf)
    small = Evaluator(problem).solve(np.arange(2))
    search.elites.add(replace(small, objective=0.5 * small.objective))
    assert {one.support.size for one in search.elites.solutions} == {2, 5}
    assert {one.support.size for one in search._full_elites()} == {5}


def test_patience_is_shorter_where_little_can_be_gained():
    problem = problem_of(n=40, max_features=6)
    idle = [
        run(problem, patience=200, gain=gain)[0].idle
        for gain in (lambda: 1.0, lambda: FULL_GAIN / 10, lambda: 0.0)
    ]
    assert idle[0] >= 200
    assert 20 <= idle[1] < 200
    assert idle[2] == 0


def test_elites_are_swap_optima_and_admitted():
    costs = np.linspace(1.0, 2.0, 14)
    problem = problem_of(feature_costs=costs, max_cost=6.0)
    search, incumbent = run(problem, patience=10)
    for solution in search.elites.solutions[:3]:
        assert problem.admits(solution.support)
    best = incumbent.solution
    assert swap_search(Evaluator(problem), best).key == best.key


def test_elites_are_distinct_sorted_and_few():
    problem = problem_of()
    evaluator = Evaluator(problem)
    solutions = [evaluator.solve(np.array([0, 1, j])) for j in range(2, 9)]
    elites = Elites(3)
    improved = [elites.add(solution) for solution in solutions]
    assert improved[0]
    assert not any(elites.add(solution) for solution in elites.solutions)
    objectives = [solution.objective for solution in solutions]
    for t in range(1, len(solutions)):
        assert improved[t] == (objectives[t] < min(objectives[:t]) * (1 - 1e-6))
    kept = [solution.objective for solution in elites.solutions]
    assert kept == sorted(objectives)[:3]


def test_patience_counts_from_the_last_improvement():
    search, _ = run(problem_of(), patience=0)
    assert search.counters["restarts"] == 0
    search, incumbent = run(problem_of(), patience=15)
    assert search.idle >= 15
    better = Evaluator(search.problem).solve(incumbent.solution.support, tol=1e-9)
    search.learn(better)
    assert search.idle >= 15


@pytest.mark.parametrize("seed", range(3))
def test_noise_of_a_known_support_is_no_event(seed):
    told = []

    def listener(solution, event):
        told.append((event, solution.objective))

    search, incumbent = run(problem_of(seed=seed), patience=40, listener=listener)
    events = [objective for event, objective in told if event]
    assert events
    for before, after in pairwise(events):
        assert after < before * (1 - IMPROVEMENT)
    assert incumbent.solution is search.elites.solutions[0]


def test_a_stopped_search_keeps_what_it_reached():
    count = iter(range(10**9))
    _, incumbent = run(problem_of(n=40), should_stop=lambda: next(count) > 40)
    assert incumbent.solution is not None


def test_shrinking_ends_within_the_budgets_and_keeps_what_is_included():
    problem = problem_of(include=(3,))
    solution = shrink(Evaluator(problem), np.arange(14))
    assert problem.admits(solution.support)
    assert solution.support.size == problem.max_features


def test_work_is_counted_and_ends_the_search():
    problem = problem_of(n=40, max_features=6)
    search, _ = run(problem, patience=10**6, max_work=2e7)
    assert search.is_idle
    assert search.work_left == 0.0
    assert 2e7 <= search.work < 4e7
    one, three = (
        run(problem, n_jobs=n, patience=10**6, max_work=2e7)[0] for n in (1, 3)
    )
    assert one.counters == three.counters == search.counters


def test_an_evaluator_stops_beyond_its_work():
    problem = problem_of()
    evaluator = Evaluator(problem, max_work=1.0)
    assert evaluator.solve(np.arange(3)) is not None
    with pytest.raises(Stop):
        evaluator.solve(np.arange(4))


def wide(seed=0, n=60, max_features=5):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, n)), np.resize([-1, 1], 30)
    return Problem(X, y, C=10.0, max_features=max_features)


def searching(problem, pool, max_work, **options):
    """A search that has descended from its first solution."""
    search = RestartSearch(
        problem, Incumbent(), SwapOptions(**options), pool,
        np.random.SeedSequence(1), lambda: False, max_work,
    )  # fmt: skip
    search.start([Evaluator(problem).solve(np.arange(problem.max_features))])
    return search


def spy_on_tempering(monkeypatch, fails=False, found=lambda: []):
    """A list that takes the work of temperings, which find what they are told to."""
    work = []

    def spy(self, pool, max_work, should_stop, n_best):
        work.append(max_work)
        self.fails = fails
        return Tempered(found(), 0, 0.0)

    monkeypatch.setattr("frugalsvm.search.tempering.Tempering.run", spy)
    return work


def temperings(problem, monkeypatch, max_work=np.inf, **options):
    """Work of the temperings in two rounds of restarts and stretches."""
    work = spy_on_tempering(monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        search = searching(problem, pool, max_work, **options)
        for _ in range(2 * (1 + STRETCHES)):
            search.restart()
    return work


def test_elites_are_tempered_after_each_batch_of_restarts(monkeypatch):
    found = temperings(wide(), monkeypatch, patience=2500)
    assert found == [np.inf] * (2 * STRETCHES)


def test_where_features_are_few_none_are_tempered(monkeypatch):
    assert temperings(wide(n=20), monkeypatch, patience=250) == []


def test_nothing_is_tempered_beyond_patience_or_work(monkeypatch):
    assert temperings(wide(), monkeypatch, patience=40) == []
    assert temperings(wide(), monkeypatch, patience=250, max_work=1e8) == []
    some = temperings(wide(), monkeypatch, patience=2500, max_work=1e10)
    assert some == [STRETCH_PART * 1e10] * (2 * STRETCHES)


@pytest.mark.parametrize("fails", [False, True])
def test_a_stretch_takes_patience_unless_it_comes_to_nothing(fails, monkeypatch):
    spy_on_tempering(monkeypatch, fails, lambda: search.elites.solutions[:1])
    monkeypatch.setattr("frugalsvm.search.restarts.begins_roughly", lambda _: False)
    with ThreadPoolExecutor(1) as pool:
        search = searching(wide(), pool, 1e10, patience=250)
        search._stretches_due = 1
        search.restart()
    assert search.idle == (COSTS[1] if fails else STRETCH_COST)


def test_tempering_that_comes_to_nothing_is_not_repeated(monkeypatch):
    work = spy_on_tempering(monkeypatch, fails=True)
    with ThreadPoolExecutor(1) as pool:
        search = searching(wide(), pool, np.inf)
        for _ in range(3):
            search._stretches_due = 1
            search.restart()
    assert len(work) == 1


def test_what_tempering_meets_is_descended_from(monkeypatch):
    problem = wide()
    best = run(problem, patience=250)[0].elites.solutions[0]
    spy_on_tempering(monkeypatch, found=lambda: [best])
    with ThreadPoolExecutor(1) as pool:
        search = searching(problem, pool, np.inf, patience=250)
        before = search.elites.solutions[0]
        assert before.objective > best.objective * (1 + IMPROVEMENT)
        search._stretches_due = 1
        search.restart()
    assert search.elites.solutions[0].key == best.key
    assert search.idle == 0


def test_restarts_since_the_best_are_counted():
    search, _ = run(problem_of(n=40, max_features=6), patience=20)
    since = search.counters["restarts since the best"]
    assert 4 <= since <= search.counters["restarts"]
    best = search.elites.solutions[0]
    search.learn(
        replace(best, support=best.support[1:], objective=0.5 * best.objective)
    )
    assert search.counters["restarts since the best"] == 0


def looks(problem, monkeypatch, patience=250, batches=3):
    """Which descents of the start and of some batches look closely."""
    found = []

    def spy(evaluator, solution, *, closely, **options):
        found.append(closely)
        return swap_search(evaluator, solution, closely=closely, **options)

    monkeypatch.setattr("frugalsvm.search.restarts.swap_search", spy)
    with ThreadPoolExecutor(1) as pool:
        search = RestartSearch(
            problem, Incumbent(), SwapOptions(patience=patience), pool,
            np.random.SeedSequence(1), lambda: False,
        )  # fmt: skip
        search.start([Evaluator(problem).solve(np.arange(problem.max_features))])
        for _ in range(batches):
            search.restart()
    return np.array(found), search


def test_only_a_best_that_stays_is_looked_at_closely(monkeypatch):
    found, search = looks(wide(n=300, max_features=8), monkeypatch, batches=6)
    assert not found[:5].any()
    assert 1 <= found.sum() <= 6
    best = search.elites.solutions[0]
    if best.key in search._close:
        again = swap_search(Evaluator(search.problem), best)
        assert again.key == best.key


def test_a_single_descent_looks_closely(monkeypatch):
    problem = wide(n=300, max_features=8)
    found, search = looks(problem, monkeypatch, patience=0, batches=0)
    assert found.tolist() == [False, True]
    best = search.elites.solutions[0]
    assert swap_search(Evaluator(problem), best).key == best.key


def test_with_few_features_descents_are_close_anyway(monkeypatch):
    found, _ = looks(problem_of(n=6, max_features=3), monkeypatch)
    assert found.size == 13
    assert not found.any()
