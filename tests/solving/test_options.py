"""One options object for solve, estimators and command line."""

import inspect
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from frugalsvm import FrugalSVC, solve
from frugalsvm.solving.options import SolveOptions

# Of the driver alone.
INTERNAL = {"proof", "part_sizes", "search_share"}


def test_defaults_are_those_of_solve_and_of_the_estimator():
    options = {one.name: one.default for one in fields(SolveOptions)}
    public = {name: options[name] for name in options if name not in INTERNAL}
    _, *arguments = inspect.signature(solve).parameters.values()
    assert {one.name: one.default for one in arguments} == public
    parameters = FrugalSVC().get_params()
    shared = public.keys() & parameters.keys()
    assert {name: parameters[name] for name in shared} == {
        name: public[name] for name in shared
    }
    assert public.keys() - shared == {"warm"}


def test_options_are_chosen_among_parameters():
    found = SolveOptions.among({"C": 3.0, "effort": "fast", "n_jobs": 2})
    assert (found.effort, found.n_jobs, found.method) == ("fast", 2, "auto")
    with pytest.raises(FrozenInstanceError):
        found.effort = "normal"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "magic"}, "method must be one of"),
        ({"effort": "some"}, "effort must be one of"),
        ({"gap_tol": -1}, "gap_tol"),
        ({"time_limit": np.nan}, "time_limit"),
        ({"max_nodes": 0}, "max_nodes"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": True}, "random_state"),
        ({"method_options": [1]}, "method_options must be a dict"),
    ],
)
def test_options_are_validated_at_once(options, words):
    with pytest.raises(ValueError, match=words):
        SolveOptions(**options)


def test_a_generator_gives_another_seed_each_time():
    options = SolveOptions(random_state=np.random.RandomState(1))
    first, second = options.seed().entropy, options.seed().entropy
    assert first != second
    again = SolveOptions(random_state=np.random.RandomState(1))
    assert again.seed().entropy == first
    assert SolveOptions(random_state=7).seed().entropy == 7
