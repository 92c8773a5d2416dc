"""All methods satisfy one interface."""

from dataclasses import fields

import numpy as np
import pytest

from frugalsvm import Problem, relax
from frugalsvm.problem.options import METHOD_NAMES, Options
from frugalsvm.run.monitor import Monitor
from frugalsvm.solving.methods import Context, check_method, find_method
from tests.reference import random_data


@pytest.fixture(scope="module")
def problem():
    return Problem(*random_data(np.random.default_rng(0), 40, 10), max_features=3)


def context_of(problem, initial_support=None):
    return Context(
        problem,
        Monitor(),
        relax(problem),
        n_jobs=1,
        seed=np.random.SeedSequence(0),
        initial_support=initial_support,
        max_nodes=30,
        keep_proof=True,
    )


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_outcomes_of_methods(name, problem):
    context = context_of(problem)
    outcome = find_method(name).run(context, find_method(name).options())
    best = context.incumbent.solution
    assert problem.admits(best.support)
    assert outcome.bound <= best.objective * (1 + 1e-9)
    assert all(isinstance(count, int) for count in outcome.counters.values())
    assert (outcome.nodes is None) == (outcome.bound == -np.inf)
    assert outcome.reported_bound is None


def test_starts_are_offered_and_the_users_comes_first(problem):
    given = np.array([1, 4, 7])
    context = context_of(problem, given)
    start = context.user_start()
    np.testing.assert_array_equal(start.support, given)
    assert context.incumbent.objective <= start.objective
    assert context_of(problem).user_start() is None


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_options_are_of_the_methods_type(name):
    options = check_method(name, {}, 5)
    assert isinstance(options, Options)
    assert type(options) is find_method(name).options
    for field in fields(options):
        assert field.name in type(options).__doc__ or _inherits(options, field.name)


def _inherits(options, name):
    """Whether an option is explained by a class that the docstring refers to."""
    return any(name in (base.__doc__ or "") for base in type(options).__mro__)


def test_unknown_methods_and_options():
    with pytest.raises(ValueError, match=r"auto.*swap.*'simplex'"):
        check_method("simplex", None, 5)
    with pytest.raises(ValueError, match="it takes: n_elites, patience"):
        check_method("swap", {"rho": 3}, 5)
    with pytest.raises(ValueError, match="it takes: none"):
        check_method("relax-and-round", {"rho": 3}, 5)
