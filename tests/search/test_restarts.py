"""Restarts: elite pool, patience, and results that do not depend on threads."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.run.monitor import Incumbent
from frugalsvm.search import restarts
from frugalsvm.search.evaluator import Evaluator, Stop
from frugalsvm.search.parameters import DEFAULTS, SearchParameters
from frugalsvm.search.restarts import ElitePool, RestartSearch, SwapOptions, shrink
from frugalsvm.search.swap import swap_search
from frugalsvm.search.tempering import TemperingResult
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
    one, three = ([s.key for s in search.elite_pool.solutions] for search in searches)
    assert one == three
    assert searches[0].counters == searches[1].counters


def test_threads_do_not_change_what_tempering_finds():
    searches = [run(wide(), n_jobs=n, patience=100, max_work=2e9)[0] for n in (1, 3)]
    one, three = ([s.key for s in search.elite_pool.solutions] for search in searches)
    assert one == three
    assert searches[0].counters == searches[1].counters
    assert searches[0]._tempering is not None


def test_tempering_respects_the_work_limit():
    search, _ = run(wide(), patience=10**6, max_work=1e9)
    assert search._tempering is not None
    assert 1e9 <= search.work < 1.2e9


def test_chains_start_only_from_supports_of_full_size():
    problem = wide()
    with ThreadPoolExecutor(1) as pool:
        search = searching(problem, pool, np.inf)
    small = Evaluator(problem).solve(np.arange(2))
    search.elite_pool.add(replace(small, objective=0.5 * small.objective))
    assert {one.support.size for one in search.elite_pool.solutions} == {2, 5}
    assert {one.support.size for one in search._full_elites()} == {5}


def test_patience_is_shorter_if_little_can_be_gained():
    problem = problem_of(n=40, max_features=6)
    idle = [
        run(problem, patience=200, gain=gain)[0].idle
        for gain in (lambda: 1.0, lambda: DEFAULTS.full_patience_gain / 10, lambda: 0.0)
    ]
    assert idle[0] >= 200
    assert 20 <= idle[1] < 200
    assert idle[2] == 0


def test_elite_solutions_are_admissible_swap_optima():
    costs = np.linspace(1.0, 2.0, 14)
    problem = problem_of(feature_costs=costs, max_cost=6.0)
    search, incumbent = run(problem, patience=10)
    for solution in search.elite_pool.solutions[:3]:
        assert problem.admits(solution.support)
    best = incumbent.solution
    assert swap_search(Evaluator(problem), best).key == best.key


def test_the_elite_pool_is_distinct_sorted_and_limited():
    problem = problem_of()
    evaluator = Evaluator(problem)
    solutions = [evaluator.solve(np.array([0, 1, j])) for j in range(2, 9)]
    elites = ElitePool(3)
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
def test_noise_of_a_known_support_is_not_reported(seed):
    told = []

    def listener(solution, event):
        told.append((event, solution.objective))

    search, incumbent = run(problem_of(seed=seed), patience=40, listener=listener)
    events = [objective for event, objective in told if event]
    assert events
    for before, after in pairwise(events):
        assert after < before * (1 - DEFAULTS.min_improvement)
    assert incumbent.solution is search.elite_pool.solutions[0]


def test_a_stopped_search_keeps_its_best_solution():
    count = iter(range(10**9))
    _, incumbent = run(problem_of(n=40), should_stop=lambda: next(count) > 40)
    assert incumbent.solution is not None


def test_shrinking_respects_budgets_and_included_features():
    problem = problem_of(include=(3,))
    solution = shrink(Evaluator(problem), np.arange(14))
    assert problem.admits(solution.support)
    assert solution.support.size == problem.max_features


def test_the_search_ends_at_its_work_limit():
    problem = problem_of(n=40, max_features=6)
    search, _ = run(problem, patience=10**6, max_work=2e7)
    assert search.is_idle
    assert search.work_left == 0.0
    assert 2e7 <= search.work < 4e7
    one, three = (
        run(problem, n_jobs=n, patience=10**6, max_work=2e7)[0] for n in (1, 3)
    )
    assert one.counters == three.counters == search.counters


def test_an_evaluator_stops_above_its_work_limit():
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
    """Replace tempering rounds by given results; return the list of their work."""
    work = []

    def spy(self, pool, max_work, should_stop, n_best):
        work.append(max_work)
        self.failed = fails
        return TemperingResult(found(), 0, 0.0)

    monkeypatch.setattr("frugalsvm.search.tempering.Tempering.run", spy)
    return work


def work_of_tempering(problem, monkeypatch, max_work=np.inf, **options):
    """Work of the tempering rounds after two batches of restarts."""
    work = spy_on_tempering(monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        search = searching(problem, pool, max_work, **options)
        for _ in range(2 * (1 + DEFAULTS.tempering.rounds)):
            search.restart()
    return work


def test_tempering_rounds_follow_each_batch_of_restarts(monkeypatch):
    found = work_of_tempering(wide(), monkeypatch, patience=2500)
    assert found == [np.inf] * (2 * DEFAULTS.tempering.rounds)


def test_problems_with_few_features_are_not_tempered(monkeypatch):
    assert work_of_tempering(wide(n=20), monkeypatch, patience=250) == []


def test_tempering_respects_patience_and_work_limit(monkeypatch):
    assert work_of_tempering(wide(), monkeypatch, patience=40) == []
    assert work_of_tempering(wide(), monkeypatch, patience=250, max_work=1e8) == []
    some = work_of_tempering(wide(), monkeypatch, patience=2500, max_work=1e10)
    parameters = DEFAULTS.tempering
    assert some == [parameters.work_fraction * 1e10] * (2 * parameters.rounds)


@pytest.mark.parametrize("fails", [False, True])
def test_a_tempering_round_uses_patience_unless_it_fails(fails, monkeypatch):
    spy_on_tempering(monkeypatch, fails, lambda: search.elite_pool.solutions[:1])
    # Without a full neighbourhood search, which may find something better.
    problem = wide().with_parameters(SearchParameters(estimates_above=10**6))
    with ThreadPoolExecutor(1) as pool:
        search = searching(problem, pool, 1e10, patience=250)
        search._tempering_rounds_due = 1
        search.restart()
    assert search.idle == (
        DEFAULTS.optimum_costs[1] if fails else DEFAULTS.tempering.cost
    )


def test_failed_tempering_is_not_repeated(monkeypatch):
    work = spy_on_tempering(monkeypatch, fails=True)
    with ThreadPoolExecutor(1) as pool:
        search = searching(wide(), pool, np.inf)
        for _ in range(3):
            search._tempering_rounds_due = 1
            search.restart()
    assert len(work) == 1


def test_descents_start_from_solutions_of_tempering(monkeypatch):
    problem = wide()
    best = run(problem, patience=250)[0].elite_pool.solutions[0]
    spy_on_tempering(monkeypatch, found=lambda: [best])
    with ThreadPoolExecutor(1) as pool:
        search = searching(problem, pool, np.inf, patience=250)
        before = search.elite_pool.solutions[0]
        assert before.objective > best.objective * (1 + DEFAULTS.min_improvement)
        search._tempering_rounds_due = 1
        search.restart()
    assert search.elite_pool.solutions[0].key == best.key
    assert search.idle == 0


def test_restarts_since_the_best_are_counted():
    search, _ = run(problem_of(n=40, max_features=6), patience=20)
    since = search.counters["restarts since the best"]
    assert 4 <= since <= search.counters["restarts"]
    best = search.elite_pool.solutions[0]
    search.learn(
        replace(best, support=best.support[1:], objective=0.5 * best.objective)
    )
    assert search.counters["restarts since the best"] == 0


def neighbourhood_searches(problem, monkeypatch, patience=250, batches=3):
    """Which descents of the start and of some batches search the full neighbourhood."""
    found = []

    def spy(evaluator, solution, **options):
        found.append(options["full_neighbourhood"])
        return swap_search(evaluator, solution, **options)

    monkeypatch.setattr(restarts, "swap_search", spy)
    with ThreadPoolExecutor(1) as pool:
        search = RestartSearch(
            problem, Incumbent(), SwapOptions(patience=patience), pool,
            np.random.SeedSequence(1), lambda: False,
        )  # fmt: skip
        search.start([Evaluator(problem).solve(np.arange(problem.max_features))])
        for _ in range(batches):
            search.restart()
    return np.array(found), search


def test_only_the_best_solution_gets_a_full_neighbourhood_search(monkeypatch):
    found, search = neighbourhood_searches(
        wide(n=300, max_features=8), monkeypatch, batches=6
    )
    assert not found[:5].any()
    assert 1 <= found.sum() <= 6
    best = search.elite_pool.solutions[0]
    if best.key in search._fully_searched:
        again = swap_search(Evaluator(search.problem), best)
        assert again.key == best.key


def test_a_single_descent_searches_the_full_neighbourhood(monkeypatch):
    problem = wide(n=300, max_features=8)
    found, search = neighbourhood_searches(problem, monkeypatch, patience=0, batches=0)
    assert found.tolist() == [False, True]
    best = search.elite_pool.solutions[0]
    assert swap_search(Evaluator(problem), best).key == best.key


def test_with_few_features_no_extra_neighbourhood_search_is_needed(monkeypatch):
    found, _ = neighbourhood_searches(problem_of(n=6, max_features=3), monkeypatch)
    assert found.size == 13
    assert not found.any()
