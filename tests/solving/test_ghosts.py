"""Features that do not matter become exact zeros; nothing else changes."""

import numpy as np
import pytest

from frugalsvm import ConstantModelWarning, FrugalSVC, Problem, Status, solve, verify
from frugalsvm.search.evaluator import best_intercept
from frugalsvm.solving.options import PartSizes, SolveOptions
from frugalsvm.solving.polish import GHOST, PrimalPoint, ghost_limit, without_ghosts
from frugalsvm.solving.solver import run_or_raise
from tests.reference import random_data, rare


def with_ghosts(seed, include=(), n_ghosts=3, size=1e-10):
    """A problem, its SVM on two features, and the same with tiny weights of others."""
    rng = np.random.default_rng(seed)
    X, _ = random_data(rng, 60, 8)
    y = np.where(X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=60) > 0, 1.0, -1.0)
    problem = Problem(X, y, max_features=5, include=include)
    inner = solve(Problem(X[:, :2], y), random_state=0)
    coef = np.zeros(8)
    coef[:2] = inner.coef
    exact = PrimalPoint(coef, inner.intercept, problem.objective(coef, inner.intercept))
    noisy = coef.copy()
    noisy[3 : 3 + n_ghosts] = size * rng.uniform(0.1, 1.0, n_ghosts)
    value = problem.objective(noisy, inner.intercept)
    return problem, exact, PrimalPoint(noisy, inner.intercept, value)


@pytest.mark.parametrize("seed", range(6))
def test_the_intercept_is_the_best_one(seed):
    rng = np.random.default_rng(seed)
    X, y = random_data(rng, 25, 3)
    weight = rng.uniform(0.1, 3.0, 25)
    problem = Problem(X + [0.0, 1e5, 3.0], y, sample_weight=weight)
    coef = rng.normal(size=3) * (rng.random(3) < 0.7)
    found = problem.objective(coef, best_intercept(problem, coef))
    # The loss is smallest at one of its breakpoints.
    breaks = problem.y - problem.y * problem.margins(coef, 0.0)
    best = min(problem.objective(coef, float(b)) for b in breaks)
    assert found == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_weights_of_ghosts_become_exact_zeros(seed, refit):
    problem, exact, noisy = with_ghosts(seed)
    limit = ghost_limit(noisy.objective, -np.inf, 0.0)
    found = without_ghosts(problem, noisy, limit, refit=refit)
    np.testing.assert_array_equal(np.flatnonzero(found.coef), [0, 1])
    np.testing.assert_allclose(found.coef, exact.coef, rtol=1e-5, atol=0)
    assert found.objective == problem.objective(found.coef, found.intercept)
    assert found.objective <= limit


def test_a_model_without_ghosts_is_returned_as_it_is():
    problem, exact, _ = with_ghosts(0)
    limit = ghost_limit(exact.objective, -np.inf, 0.0)
    assert without_ghosts(problem, exact, limit) is exact


def test_included_features_keep_their_weights():
    problem, _, noisy = with_ghosts(1, include=(3,))
    limit = ghost_limit(noisy.objective, -np.inf, 0.0)
    found = without_ghosts(problem, noisy, limit, refit=False)
    np.testing.assert_array_equal(np.flatnonzero(found.coef), [0, 1, 3])
    assert found.coef[3] == noisy.coef[3]


def test_it_is_the_sum_of_all_changes_that_counts():
    """Each alone would be a ghost, all together are not."""
    rng = np.random.default_rng(0)
    x = np.repeat([1.0, -1.0], 50)
    X = np.column_stack([x + 1e-3 * rng.normal(size=100) for _ in range(6)])
    problem = Problem(X, x, C=1e-9)
    # The optimum, with all margins below one: all features are alike.
    coef = 1e-9 * (x @ X)
    model = PrimalPoint(coef, 0.0, problem.objective(coef, 0.0))
    drop = problem.objective(np.zeros(6), 0.0) - model.objective
    assert 0 < drop / model.objective < GHOST
    half = model.objective + 0.5 * drop
    found = without_ghosts(problem, model, half, refit=False)
    assert 0 < np.count_nonzero(found.coef) < 6
    assert found.objective <= half
    none = model.objective + 1.01 * drop
    assert not without_ghosts(problem, model, none, refit=False).coef.any()


@pytest.mark.parametrize("method", ["auto", "swap", "branch-and-bound", "heuristic"])
def test_a_run_selects_no_ghosts_and_proves_the_same(method):
    X, y = rare()
    problem = Problem(X, y, max_features=5)
    result = solve(problem, method=method, random_state=0, certificate=True)
    assert result.selected.size == 0
    assert not result.coef.any()
    assert result.objective == problem.objective(result.coef, result.intercept)
    # Giving up the positives costs 2 C for each.
    assert result.objective == pytest.approx(40.0, rel=1e-9)
    assert result.lower_bound <= result.objective
    checked = verify(result.certificate, X, y)
    assert checked.objective == pytest.approx(result.objective, rel=1e-12)
    assert checked.selected.size == 0


@pytest.mark.parametrize("gap_tol", [0.0, 1e-8, 1e-7, 1e-4, 1.5])
def test_a_proved_optimum_stays_one(gap_tol):
    limit = ghost_limit(100.0, 100.0 * (1 - 1e-9), gap_tol)
    assert 100.0 <= limit <= 100.0 * (1 + GHOST) * (1 + 1e-15)
    if 1e-8 <= gap_tol < 1:
        gap = (limit - 100.0 * (1 - 1e-9)) / limit
        assert gap <= gap_tol * (1 + 1e-6)
    X, y = rare()
    result = solve(Problem(X, y, max_features=5), gap_tol=gap_tol, random_state=0)
    assert result.status is Status.OPTIMAL or gap_tol == 0.0


def test_included_ghosts_are_in_the_support():
    X, y = rare()
    with pytest.warns(ConstantModelWarning):
        model = FrugalSVC(5, include=[4], random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [4]
    assert set(np.flatnonzero(model.coef_[0])) <= {4}


def test_runs_in_parts_select_no_ghosts():
    X, y = rare(3000)
    options = SolveOptions(
        effort="fast", random_state=0, part_sizes=PartSizes(many=2000, part=1000)
    )
    problem = Problem(X, y, max_features=5)
    result = run_or_raise(problem, options)
    assert result.method == "parts"
    assert result.selected.size == 0
    np.testing.assert_allclose(
        result.objective, problem.objective(result.coef, result.intercept), rtol=1e-9
    )
