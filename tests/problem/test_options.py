"""Options validate themselves, however they are created."""

import numpy as np
import pytest

from frugalsvm.paper.algorithms.exact_procedure import ExactOptions
from frugalsvm.paper.algorithms.heuristic import HeuristicOptions
from frugalsvm.paper.algorithms.kernel_search import (
    KernelSearchOptions,
    LocalSearchOptions,
)
from frugalsvm.search.restarts import SwapOptions
from frugalsvm.tree.branch_and_bound import TreeOptions


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (SwapOptions, "patience", -1),
        (SwapOptions, "patience", 2.5),
        (SwapOptions, "width", 0),
        (SwapOptions, "tries", True),
        (SwapOptions, "n_elites", "12"),
        (TreeOptions, "patience", -1),
        (TreeOptions, "engine", "random"),
        (TreeOptions, "max_megabytes", 0),
        (LocalSearchOptions, "k", -1),
        (LocalSearchOptions, "solver", "cplex"),
        (LocalSearchOptions, "subproblem_time_limit", 0.0),
        (KernelSearchOptions, "rho", 0),
        (KernelSearchOptions, "passes", 0),
        (KernelSearchOptions, "subproblem_time_limit", "60"),
        (HeuristicOptions, "strategy", "swap"),
        (HeuristicOptions, "rho", 0),
        (HeuristicOptions, "bound_programs", -1),
        (ExactOptions, "semi_solver", "gurobi"),
        (ExactOptions, "s", 0),
        (ExactOptions, "max_megabytes", 0),
    ],
)
def test_errors_name_the_problem(kind, name, value):
    with pytest.raises(ValueError, match="must be") as error:
        kind(**{name: value})
    assert name in str(error.value)
    assert repr(value) in str(error.value)


def test_numpy_integers_and_zeros_where_they_mean_something():
    assert SwapOptions(patience=np.int64(0)).patience == 0
    assert LocalSearchOptions(k=0).subproblem_time_limit is None
    assert KernelSearchOptions(subproblem_time_limit=None).solver == "native"
    assert HeuristicOptions(bound_programs=0).subproblem_time_limit == 60.0


@pytest.mark.parametrize("ranking", [[0, 5], [0, 1, 1], [-1], [0.5]])
def test_a_ranking_is_checked_against_the_problem(ranking):
    options = ExactOptions(ranking=ranking)
    with pytest.raises((ValueError, TypeError), match="ranking"):
        options.check_for(5)
    KernelSearchOptions(ranking=[4, 0]).check_for(5)
