"""Parameters of algorithms travel with a problem."""

import pickle
from dataclasses import FrozenInstanceError, dataclass, fields

import numpy as np
import pytest
import scipy.sparse as sp

from frugalsvm import Problem, relax
from frugalsvm.engine.column_generation import ColumnGenerationEngine
from frugalsvm.engine.parameters import BatchParameters, EngineParameters
from frugalsvm.kernels.svm import MOST_SAMPLES
from frugalsvm.search.parameters import (
    EstimateParameters,
    SearchParameters,
    TemperingParameters,
)
from frugalsvm.tree.parameters import TreeParameters
from tests.reference import random_data

X, Y = random_data(np.random.default_rng(0), 30, 6)
KINDS = [
    EngineParameters, EstimateParameters, SearchParameters, TemperingParameters,
    TreeParameters,
]  # fmt: skip


@dataclass(frozen=True)
class Others:
    """Parameters of something else."""

    number: int = 3


def test_parameters_are_the_defaults_unless_given():
    problem = Problem(X, Y)
    assert problem.parameters(Others) == Others()
    assert problem.parameters(Others) is problem.parameters(Others)
    mine = Others(4)
    other = problem.with_parameters(mine)
    assert other.parameters(Others) is mine
    assert other.parameters(EngineParameters) == EngineParameters()
    assert problem.parameters(Others).number == 3
    assert other.with_parameters().parameters(Others) is mine


def test_each_replaces_the_one_of_its_kind():
    engine = EngineParameters(whole_bytes=0)
    problem = (
        Problem(X, Y).with_parameters(Others(4), engine).with_parameters(Others(5))
    )
    assert problem.parameters(Others) == Others(5)
    assert problem.parameters(EngineParameters) is engine
    assert len(problem.context.parameters) == 2


def test_they_survive_in_derived_problems():
    mine = Others(4)
    problem = Problem(X, Y, max_features=3).with_parameters(mine)
    flag = np.zeros(1, dtype=np.uint8)
    for derived in (
        problem.with_budget(2), problem.with_C(0.5), problem.requiring(1),
        problem.restrict(np.array([0, 2])), problem.watching(flag, 2),
        problem.drawn(20, np.random.default_rng(0)),
        problem.watching(flag).with_C(2.0).with_budget(1).restrict(np.array([1])),
        pickle.loads(pickle.dumps(problem)),
    ):  # fmt: skip
        assert derived.parameters(Others) == mine
    watched = problem.watching(flag, 2).with_parameters(Others(5))
    assert watched.context.stop_flag is flag
    assert watched.context.n_threads == 2


def test_the_engine_gets_its_own():
    parameters = EngineParameters(whole_bytes=0, tall_min_samples=20)
    for data in (X, sp.csr_array(X)):
        problem = Problem(data, Y, max_features=2).with_parameters(parameters)
        assert problem.engine.parameters is parameters
        assert problem.with_C(0.3).engine.parameters is parameters
    engine = problem.engine
    assert isinstance(engine, ColumnGenerationEngine)
    assert engine.native(np.array([1])).parameters is parameters
    assert relax(problem).bound == pytest.approx(
        relax(Problem(X, Y, max_features=2)).bound, rel=1e-5
    )


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_positive_and_of_their_type(kind):
    for field in fields(kind):
        for wrong in ("1", None, -1, float("nan")):
            with pytest.raises(ValueError, match=field.name):
                kind(**{field.name: wrong})
        if not isinstance(field.default, float):
            with pytest.raises(ValueError, match=field.name):
                kind(**{field.name: 1.5})
    with pytest.raises(FrozenInstanceError):
        setattr(kind(), fields(kind)[0].name, 1)


def test_zero_is_refused_where_nothing_would_end():
    for name in ("rounds_at_a_time", "inner_rounds", "joining_long_rows"):
        with pytest.raises(ValueError, match=f"{name} must be positive"):
            EngineParameters(**{name: 0})
    assert EngineParameters(whole_bytes=0).whole_bytes == 0


def test_the_defaults_of_engines():
    """Results depend on them: change them knowingly, and run the benchmarks."""
    assert vars(EngineParameters()) == {
        "solved_at_once": 300, "first_working_set": 150, "rounds_at_a_time": 3,
        "tall_min_samples": MOST_SAMPLES, "subsample_fraction": 0.15,
        "subsample_min_per_class": 1000, "subsample_tol": 1e-4, "active_rate": 4.0,
        "max_active": 0.6, "counted_z": 1e-3, "central_path_tol": 0.05,
        "tall_min_tol": 1e-8, "tall_max_rounds": 30, "whole_bytes": 2**24,
        "max_rows": 5000, "rows_per_choice": 4, "max_row_bytes": 2**30,
        "first_rows": 500, "first_row_bytes": 2**26, "joining_short_rows": 200,
        "joining_long_rows": 20, "merging_min_samples": 1000,
        "merging_min_fraction": 0.2, "keep_above": 0.5, "drop_rounds": 8,
        "child_keep_above": 0.6, "first_round_tol": 0.01, "fraction_of_gap": 0.1,
        "continued_progress": 0.3, "freeze_below_gap": 0.05, "inner_tol": 0.5,
        "inner_rounds": 30, "batch": BatchParameters(),
    }  # fmt: skip
    assert vars(BatchParameters()) == {
        "penalty": 0.1, "over_relaxation": 1.6, "steps": 20, "max_rounds": 2,
        "first_steps": 400, "new_steps": 60, "tries": 3, "first_tries": 40,
        "rows": 256, "open_nodes": 64, "min_rows_to_drop": 16,
        "drop_below": 0.75, "least_z": 1e-3, "max_entries": 2**26, "trial_size": 100,
        "trial_after": 2e8, "trial_nodes": 4, "trial_speedup": 10.0,
        "trial_loss": 0.05,
    }  # fmt: skip


def test_the_defaults_of_trees():
    assert vars(TreeParameters()) == {
        "node_tol": 2e-3, "node_max_rounds": 3, "leaf_max_rounds": 30,
        "max_stored_free": 200, "always_rounded": 100, "round_period": 8, "batch": 8,
        "max_ranked": 12, "look_ahead_max_features": 100, "near_cutoff": 0.05,
        "near_ranked_by_z": 8, "near_max_tried": 2, "crude_tries": 4, "min_gain": 1e-6,
        "min_distance": 0.05, "gain_ratio_limits": (0.05, 20.0), "dive_period": 64,
        "dive_fraction": 0.15, "search_after": 50, "search_rate": 0.1,
        "cheap_max_candidates": 50, "max_rate_factor": 100, "counts_work_above": 100,
        "search_share": 0.25, "first_check": 1.875e8, "min_payoff": 0.3,
        "bad_checks": 2, "max_known": 10_000, "least_known": 8, "well_known": 30,
        "doubt": 1000.0,
        "listed_tol": 1e-10, "overlength": 1.25, "conclusive_above": 1e-6,
    }  # fmt: skip


def test_the_defaults_of_searches():
    assert vars(SearchParameters()) == {
        "svm_tol": 1e-6, "min_improvement": 1e-6, "estimates_above_width": 5,
        "estimates_above": 100, "n_exchanges": 40, "estimates": EstimateParameters(),
        "restart_batch": 4, "optimum_costs": (1, 5), "full_patience_gain": 0.01,
        "max_seen": 500_000, "tempering": TemperingParameters(), "n_drawn": 20_000,
        "sampled_min_samples": 50_000, "n_refitted": 6, "refitted_within": 5e-3,
        "max_listed": 2000, "max_listed_bytes": 2**26, "listed_per_choice": 4,
        "max_dense_bytes": 2**24, "n_priced": 4, "max_updates": 5,
        "exchange_rounds": 6, "rounded_tol": 1e-2, "n_taken": 6, "n_offered": 4,
        "started_within": 0.02, "large_support": (3, 20),
    }  # fmt: skip
    assert vars(EstimateParameters()) == {
        "rough_tol": 0.2, "smoothing": 4.0, "min_gap": 1e-3, "min_theta": 1e-6,
        "max_moving": 0.5, "max_roughness": 0.3, "roughness_rate": 0.04,
        "estimated": 400, "exchanged": 200, "twins": 100, "min_correlation": 0.4,
    }  # fmt: skip
    assert vars(TemperingParameters()) == {
        "features_above": 50, "n_levels": 8, "acceptance": (0.01, 0.2),
        "first_temperatures": (1e-3, 8e-3), "temperature_limits": (1e-4, 1.0),
        "adaptation": 0.5, "min_adaptation": 0.05, "tries": 200, "swaps": 30,
        "min_last_round": 0.2, "width": 200, "accuracy": 3e-5, "cost": 40,
        "work_fraction": 0.05, "min_svms": 160, "rounds": 3, "min_patience": 80,
    }  # fmt: skip
