"""Every method: within the budget, with a valid bound, exact where possible."""

import threading
import time
from _thread import interrupt_main

import numpy as np
import pytest

from frugalsvm import Problem, Status, relax, solve
from tests.reference import brute_force, random_data, svm_value

METHODS = [
    "auto", "branch-and-bound", "swap", "relax-and-round", "local-search",
    "kernel-search", "heuristic", "exact",
]  # fmt: skip


def random_problem(seed, **overrides):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(8, 30)), int(rng.integers(3, 9))
    X, y = random_data(rng, m, n, separable=seed % 3 == 0, integer=seed % 4 == 0)
    if seed % 5 == 0:
        X[:, -1] = X[:, 0]
    costs = rng.uniform(0.5, 2.0, n)
    arguments = {
        "C": float(10.0 ** rng.uniform(-1, 2)),
        "sample_weight": rng.uniform(0.2, 2.0, m) if seed % 2 else None,
        "max_features": int(rng.integers(1, n + 1)),
        "feature_costs": costs if seed % 3 == 1 else None,
        "max_cost": float(rng.uniform(0.7, 3.0)) if seed % 3 == 1 else None,
        "include": (0,) if seed % 7 == 0 else (),
        "exclude": (1,) if seed % 6 == 0 else (),
        "fit_intercept": seed % 4 != 2,
    }
    return Problem(X, y, **{**arguments, **overrides})


def assert_honest(problem, result):
    """Checks that any result of any method must pass."""
    used = np.flatnonzero(result.coef)
    np.testing.assert_array_equal(result.selected, used)
    assert problem.admits(np.union1d(used, problem.include).astype(np.int64))
    value = problem.objective(result.coef, result.intercept)
    np.testing.assert_allclose(result.objective, value, rtol=1e-12)
    assert result.lower_bound <= result.objective * (1 + 1e-12)
    assert result.reported_bound is None
    bound = problem.dual_bound(result.dual_point)
    if "nodes" in result.counters:
        assert bound <= result.lower_bound * (1 + 1e-12)
    else:
        # The bound can be recomputed from the dual point alone.
        np.testing.assert_allclose(bound, result.lower_bound, rtol=1e-12)


# With groups of two, kernel search goes through several subproblems (n is at most 8);
# one pass may miss the optimum, further ones and the exact procedure may not.
SMALL_GROUPS = [
    ("kernel-search", {"rho": 2}),
    ("kernel-search", {"rho": 2, "passes": 99}),
    ("heuristic", {"rho": 2}),
    ("exact", {"rho": 2}),
]


@pytest.mark.parametrize(
    ("method", "options"), [*((method, {}) for method in METHODS), *SMALL_GROUPS]
)
@pytest.mark.parametrize("seed", range(21))
def test_against_enumeration(seed, method, options):
    problem = random_problem(seed)
    result = solve(problem, method=method, random_state=0, method_options=options)
    assert_honest(problem, result)
    optimum, _ = brute_force(problem)
    assert result.lower_bound <= optimum * (1 + 1e-9)
    assert result.objective >= optimum * (1 - 1e-9)
    one_pass = options == {"rho": 2} and method != "exact"
    if method != "relax-and-round" and not one_pass:
        np.testing.assert_allclose(result.objective, optimum, rtol=1e-6)
    if one_pass:
        rounded = solve(problem, method="relax-and-round")
        assert result.objective <= rounded.objective * (1 + 1e-9)
        groups = max(1, problem.candidates.size // 2)
        assert result.counters["subproblems"] >= groups
    if method in ("branch-and-bound", "exact"):
        assert result.status is Status.OPTIMAL


@pytest.mark.parametrize("method", METHODS)
def test_no_features_is_the_best_constant(method):
    problem = random_problem(2, max_features=0, include=(), fit_intercept=True)
    result = solve(problem, method=method)
    assert result.selected.size == 0
    light = min(problem.C[problem.y > 0].sum(), problem.C[problem.y < 0].sum())
    np.testing.assert_allclose(result.objective, 2 * light, rtol=1e-7)
    assert result.status is Status.OPTIMAL


@pytest.mark.parametrize("method", METHODS)
def test_a_budget_of_all_features_is_the_plain_svm(method):
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 40, 6)
    result = solve(Problem(X, y, max_features=6), method=method)
    np.testing.assert_allclose(
        result.objective, svm_value(X, y, np.ones(40)), rtol=1e-6
    )
    assert result.status is Status.OPTIMAL
    assert result.gap < 1e-7


def test_more_features_than_samples_without_a_limit():
    rng = np.random.default_rng(1)
    X, y = random_data(rng, 12, 300)
    result = solve(Problem(X, y))
    assert result.status is Status.OPTIMAL


def test_same_seed_same_model_for_any_number_of_threads():
    rng = np.random.default_rng(2)
    X, y = random_data(rng, 60, 40)
    problem = Problem(X, y, C=5.0, max_features=5)
    runs = [
        solve(problem, method="swap", random_state=3, n_jobs=jobs) for jobs in (1, 2, 1)
    ]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.coef, runs[0].coef)
        assert run.counters == runs[0].counters


def test_initial_support_is_used_and_cut_to_the_budget():
    rng = np.random.default_rng(3)
    X, y = random_data(rng, 50, 30)
    problem = Problem(X, y, C=5.0, max_features=4)
    best = solve(problem, random_state=0)
    start = solve(
        problem, method="relax-and-round", initial_support=best.selected.tolist()
    )
    np.testing.assert_allclose(start.objective, best.objective, rtol=1e-6)
    too_many = [*best.selected.tolist(), *range(30)]
    start = solve(problem, method="relax-and-round", initial_support=too_many)
    np.testing.assert_allclose(start.objective, best.objective, rtol=1e-6)


@pytest.mark.parametrize("limit", [0.0, 1e-3, 0.3])
def test_time_limits_give_a_complete_result(limit):
    rng = np.random.default_rng(4)
    X, y = random_data(rng, 200, 300)
    problem = Problem(X, y, C=10.0, max_features=10)
    result = solve(problem, time_limit=limit, method_options={"patience": 10**9})
    assert_honest(problem, result)
    assert result.status is Status.TIME_LIMIT


def test_interrupt_gives_the_best_solution_so_far():
    rng = np.random.default_rng(5)
    X, y = random_data(rng, 200, 300)
    problem = Problem(X, y, C=10.0, max_features=10)
    relax(problem)
    timer = threading.Timer(0.7, interrupt_main)
    timer.start()
    started = time.perf_counter()
    result = solve(problem, method_options={"patience": 10**9}, time_limit=60)
    assert time.perf_counter() - started < 30
    assert result.status is Status.INTERRUPTED
    assert_honest(problem, result)


def test_a_billion_threads_are_not_started():
    problem = random_problem(3)
    result = solve(problem, n_jobs=10**9)
    assert_honest(problem, result)


def test_history_only_improves():
    problem = random_problem(4)
    history = np.array(solve(problem, random_state=0).history)
    assert np.all(np.diff(history[:, 0]) >= 0)
    assert np.all(np.diff(history[1:, 1]) <= 0)
    assert np.all(np.diff(history[:, 2]) >= 0)


def test_result_prints_as_a_table():
    text = str(solve(random_problem(4), random_state=0))
    for word in ("status", "objective", "lower bound", "gap", "features", "time"):
        assert word in text


def test_a_gap_is_described_in_words():
    proved = solve(random_problem(4), random_state=0)
    assert proved.verdict.startswith("proved: no choice of features is better")
    X, y = random_data(np.random.default_rng(0), 60, 40)
    found = solve(Problem(X, y, C=5.0, max_features=5), effort="fast", random_state=0)
    assert found.gap > 1e-4
    assert found.verdict.startswith(
        "no better choice of features was found; by the bound"
    )
    assert found.verdict.endswith(f"by at most {100 * found.gap:.3g} %")
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 90
    row = next(i for i, line in enumerate(lines) if line.startswith("verdict"))
    assert " ".join(line.strip() for line in lines[row : row + 2]).endswith(
        found.verdict
    )


def test_verbose_logs_progress(caplog):
    with caplog.at_level("INFO", logger="frugalsvm"):
        solve(random_problem(4), verbose=1)
    assert "bound" in caplog.messages[0]
    assert any("relaxation" in message for message in caplog.messages)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"method": "magic"}, "method must be one of.*magic"),
        (
            {"method_options": {"speed": 3}},
            "speed.*it takes: engine,.*n_elites, patience",
        ),
        ({"method_options": {"patience": -1}}, "patience.*>= 0.*-1"),
        ({"method_options": {"width": 0}}, "width.*>= 1.*0"),
        (
            {"method": "relax-and-round", "method_options": {"width": 3}},
            "takes: none",
        ),
        ({"initial_support": [99]}, "initial_support.*outside"),
        ({"initial_support": [0.5]}, "initial_support"),
        ({"gap_tol": -1.0}, r"gap_tol.*-1\.0"),
        ({"gap_tol": np.nan}, "gap_tol.*nan"),
        ({"gap_tol": "small"}, "gap_tol.*small"),
        ({"time_limit": -1}, "time_limit.*-1"),
        ({"time_limit": np.nan}, "time_limit.*nan"),
        ({"max_nodes": 2.5}, r"max_nodes.*2\.5"),
        ({"max_nodes": np.nan}, "max_nodes.*nan"),
        ({"max_nodes": 0}, "max_nodes.*0"),
    ],
)
def test_bad_arguments_are_explained(arguments, words):
    with pytest.raises(ValueError, match=words):
        solve(random_problem(1), **arguments)


@pytest.mark.parametrize("method", ["auto", "swap", "kernel-search"])
def test_a_result_of_another_budget_is_a_start(method):
    X, y = random_data(np.random.default_rng(4), 60, 25)
    problem = Problem(X, y, C=2.0, max_features=6)
    found = solve(problem, random_state=0)
    assert found.elites
    np.testing.assert_array_equal(found.elites[0], found.selected)
    for budget in (4, 6, 8):
        other = problem.with_budget(budget)
        options = {"patience": 0} if method != "kernel-search" else {}
        warm = solve(
            other, method=method, warm=found, method_options=options, max_nodes=1,
            random_state=0,
        )  # fmt: skip
        assert other.admits(warm.selected)
        if budget >= 6:
            assert warm.objective <= found.objective * (1 + 1e-6)


def test_a_warm_relaxation_takes_fewer_iterations():
    X, y = random_data(np.random.default_rng(0), 40, 400)
    problem = Problem(X, y, max_features=5)
    found = solve(problem, method="relax-and-round")
    for other in (problem.with_budget(6), problem.with_C(2.0)):
        cold, warm = (
            solve(other, method="relax-and-round", warm=start)
            for start in (None, found)
        )
        iterations = [one.counters["relaxation iterations"] for one in (cold, warm)]
        assert iterations[1] < iterations[0]
        assert warm.lower_bound == pytest.approx(cold.lower_bound, rel=2e-6)


def test_a_warm_result_of_other_samples_is_still_a_start():
    X, y = random_data(np.random.default_rng(0), 40, 30)
    found = solve(Problem(X, y, max_features=3), method="swap")
    part = Problem(X[:30], y[:30], max_features=3)
    warm = solve(part, method="swap", warm=found)
    assert warm.lower_bound <= warm.objective


def test_warm_must_be_a_result():
    X, y = random_data(np.random.default_rng(0), 20, 6)
    with pytest.raises(TypeError, match="warm must be a Result, got int"):
        solve(Problem(X, y, max_features=2), warm=3)


def test_a_warm_result_must_be_for_the_same_features():
    X, y = random_data(np.random.default_rng(4), 30, 6)
    found = solve(Problem(X, y, max_features=2), method="swap", random_state=0)
    with pytest.raises(ValueError, match="6 features, but this one has 5"):
        solve(Problem(X[:, :5], y, max_features=2), warm=found)
