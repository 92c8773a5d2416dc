"""The enumeration that other tests rely on: is it right, and does it detect errors?"""

from fractions import Fraction

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.engine.native import NativeEngine
from tests.campaign.machines import reference_of
from tests.campaign.problems import Case
from tests.campaign.reference import Reference, Stated
from tests.classes import KINDS, class_arguments, one_against_rest
from tests.grouped import random_groups
from tests.reference import brute_force, evaluate, random_data


@pytest.mark.parametrize("seed", range(12))
def test_enumeration_finds_the_exact_optimum(seed):
    """In integers, by pivoting: independent of frugalsvm and of floating point."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(4, 9)), int(rng.integers(2, 5))
    X, y = random_data(rng, m, n, integer=True, separable=seed % 3 == 0)
    C = float(rng.choice([0.25, 1.0, 8.0]))
    limit, intercept = int(rng.integers(1, n + 1)), seed % 4 != 0
    problem = Problem(X, y, C=C, max_features=limit, fit_intercept=intercept)
    exact = Reference(Stated(X, y, np.full(m, C), limit, intercept=intercept)).optimum
    assert exact.is_tight
    best, support = brute_force(problem)
    assert abs(Fraction(best) - exact.upper) <= Fraction(1, 10**9) * exact.upper
    assert problem.admits(support)


@pytest.mark.parametrize("seed", range(40))
def test_enumeration_of_groups_with_signs_finds_the_exact_optimum(seed):
    """Exact multipliers of signs on one side, Clarabel on the other."""
    rng = np.random.default_rng(seed)
    m, p = int(rng.integers(4, 10)), int(rng.integers(1, 4))
    n = p + int(rng.integers(0, 3))
    X, y = random_data(rng, m, n, integer=seed % 2 == 0, separable=seed % 3 == 0)
    given = {"groups": random_groups(rng, p, n), "signs": rng.integers(-1, 2, n)}
    C = float(rng.choice([0.25, 1.0, 8.0]))
    limit, intercept = int(rng.integers(1, p + 1)), seed % 4 != 0
    exact = Reference(
        Stated(X, y, np.full(m, C), limit, intercept=intercept, **given)
    ).optimum
    assert exact.is_tight
    problem = Problem(
        X, y, C=C, max_features=limit, fit_intercept=intercept,
        feature_groups=given["groups"], signs=given["signs"],
    )  # fmt: skip
    best, support = brute_force(problem)
    assert abs(Fraction(best) - exact.upper) <= Fraction(1, 10**8) * exact.upper
    assert problem.admits(support)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_enumeration_of_classes_finds_the_exact_optimum(kind, seed):
    """From the data, without the machines of a problem."""
    X, classes, arguments = class_arguments(kind, seed, most=4, samples=(5, 10))
    arguments = {"fit_intercept": True, **arguments}
    case = Case(X, classes.astype(float), arguments, {})
    exact = reference_of(case.stated).optimum
    assert exact.is_tight
    problem = Problem(X, one_against_rest(classes), **arguments)
    best, support = brute_force(problem)
    assert abs(Fraction(best) - exact.upper) <= Fraction(1, 10**8) * exact.upper
    assert problem.admits(support)


@pytest.fixture
def problem():
    X, y = random_data(np.random.default_rng(3), 20, 5)
    return Problem(X, y, max_features=2)


def test_a_solve_that_hides_the_best_support_is_noticed(problem, monkeypatch):
    _, best_support = brute_force(problem)
    solve_svm = NativeEngine.solve_svm

    def hiding(self, support, **options):
        found = solve_svm(self, support, **options)
        if np.array_equal(support, best_support):
            found = found._replace(w=2.0 * found.w, alpha=0.9 * found.alpha)
        return found

    monkeypatch.setattr(NativeEngine, "solve_svm", hiding)
    with pytest.raises(AssertionError):
        brute_force(problem)


@pytest.mark.parametrize("factor", [1.0 - 1e-6, 1.0 + 1e-6])
def test_values_agree_with_another_solver(problem, factor):
    def wrong(*arguments):
        values, bounds = evaluate(*arguments)
        return factor * values, factor * bounds

    with pytest.raises(AssertionError):
        brute_force(problem, values_of=wrong)
