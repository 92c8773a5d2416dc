"""Choices of docs/reference/algorithms.rst that no other test covers."""

import inspect

import numpy as np
import pytest

from frugalsvm import FrugalSVC, Problem, solve
from frugalsvm.paper.algorithms import heuristic
from frugalsvm.paper.algorithms.exact_procedure import ExactOptions, ExactProcedure
from frugalsvm.paper.algorithms.heuristic import HeuristicOptions, Strategy
from frugalsvm.paper.algorithms.kernel_search import (
    KernelSearchOptions,
    LocalSearchOptions,
    kernel_search,
)
from frugalsvm.paper.algorithms.restricted import Restricted
from frugalsvm.paper.algorithms.subproblem import SubproblemSolver
from frugalsvm.run.monitor import Monitor
from frugalsvm.search.evaluator import Evaluator
from tests.reference import random_data


def problem_of(n=20, seed=0, **arguments):
    X, y = random_data(np.random.default_rng(seed), 50, n)
    return Problem(X, y, C=3.0, **{"max_features": 4, **arguments})


def test_defaults_are_those_of_the_paper():
    assert LocalSearchOptions().k == HeuristicOptions().k == ExactOptions().k == 10
    assert LocalSearchOptions().subproblem_time_limit is None
    for options in (KernelSearchOptions(), HeuristicOptions(), ExactOptions()):
        assert (options.rho, options.subproblem_time_limit) == (10, 60.0)
        assert options.passes == 1
    assert ExactOptions().s == 10
    assert inspect.signature(solve).parameters["gap_tol"].default == 1e-4
    assert FrugalSVC(3).gap_tol == 1e-4
    assert FrugalSVC(3).time_limit is None


def test_local_search_has_no_limit_for_its_subproblem():
    options = HeuristicOptions(strategy="local-search", subproblem_time_limit=1.0)
    assert Strategy(problem_of(), Monitor(), options).subproblems.time_limit == np.inf
    options = HeuristicOptions(subproblem_time_limit=1.0)
    assert Strategy(problem_of(), Monitor(), options).subproblems.time_limit == 1.0


def test_out_of_time_the_best_solution_counts_and_none_is_infeasible():
    problem = problem_of()
    solutions = [
        Evaluator(problem).solve(np.array(support))
        for support in ([0, 1, 2, 3], [2, 3, 10, 11])
    ]
    solutions.sort(key=lambda solution: -solution.objective)
    outcomes = [
        Restricted(solutions[0], False), Restricted(None, False),
        Restricted(solutions[1], False), Restricted(None, True),
    ]  # fmt: skip

    class Scripted(SubproblemSolver):
        def solve(self, K, **cuts):
            return outcomes.pop(0)

    subproblems = Scripted(problem, Monitor(), "native", None)
    kernels = []
    best = kernel_search(
        subproblems, np.arange(20), 5, watch=lambda k: kernels.append(set(k.idle))
    )
    assert best is solutions[1]
    assert kernels[0] == kernels[1] == set(solutions[0].support.tolist())
    assert kernels[2] == kernels[3] >= set(solutions[1].support.tolist())


@pytest.fixture
def starts(monkeypatch):
    """The starts of all runs of a strategy, each with the incumbent of its monitor."""
    calls, run = [], Strategy.__call__

    def noted(self, ranked, start=None, time_limit=np.inf):
        calls.append((start, self.subproblems.monitor.incumbent.solution))
        return run(self, ranked, start, time_limit)

    monkeypatch.setattr(Strategy, "__call__", noted)
    return calls


def test_the_second_run_of_the_heuristic_is_from_scratch(starts, monkeypatch):
    problem = problem_of()
    ranked = problem.candidates
    monkeypatch.setattr(heuristic, "second_ranking", lambda *args: ranked[::-1])
    monitor = Monitor()
    counters = heuristic.heuristic(
        problem, monitor, HeuristicOptions(rho=5), ranked, None
    )
    assert [start for start, _ in starts] == [None, None]
    assert counters["rankings"] == 2
    assert monitor.incumbent.solution is not None


def test_runs_inside_the_exact_procedure_are_from_the_incumbent(starts):
    problem = problem_of(n=30, max_features=5)
    monitor = Monitor(gap_tol=1e-9)
    procedure = ExactProcedure(
        problem, monitor, ExactOptions(rho=5, s=2), max_nodes=400, keep_proof=False
    )
    fallback = Evaluator(problem).solve(np.arange(5))
    monitor.incumbent.offer(fallback)
    procedure.run(problem.candidates, None)
    assert starts[0] == (None, fallback)
    assert len(starts) > 2
    assert all(start is incumbent for start, incumbent in starts[1:])


def test_an_integral_semi_relaxation_is_a_solution(monkeypatch):
    problem = problem_of(n=12)
    optimum = solve(problem, method="branch-and-bound", gap_tol=1e-9).objective
    # The searches find nothing: all solutions come from SR-DLMP(K).
    monkeypatch.setattr(Strategy, "__call__", lambda self, ranked, start, limit: start)
    monitor = Monitor(gap_tol=1e-6)
    procedure = ExactProcedure(
        problem, monitor, ExactOptions(), max_nodes=None, keep_proof=False
    )
    fallback = Evaluator(problem).solve(np.arange(4))
    assert fallback.objective > optimum * 1.001
    monitor.incumbent.offer(fallback)
    procedure.run(problem.candidates, None)
    np.testing.assert_allclose(monitor.incumbent.objective, optimum, rtol=1e-5)
