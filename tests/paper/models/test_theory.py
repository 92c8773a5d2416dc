"""The paper's theorems on relaxations.

Solver tolerance 1e-9, and 1e-7 for semidefinite programs; values agree to 1e-6.
"""

from fractions import Fraction
from itertools import combinations, permutations
from math import prod

import numpy as np
import pytest

from frugalsvm import Problem, relax
from frugalsvm.paper.models import (
    boxmp,
    dscomp,
    dscop,
    dsmp,
    m_range,
    scomp,
    scop,
    smp,
    svm,
)
from tests.paper.models.instances import CONVEX_RTOL, SMALL, random_problem, value
from tests.reference import brute_force

FEW = ["random", "more features than samples", "no intercept", "iris", "cancer"]


def svm_weights(problem):
    return relax(problem, "SVM", tol=1e-10).w


def threshold(problem):
    w = np.abs(svm_weights(problem))
    return max(w.max(), w.sum() / problem.max_features)


@pytest.mark.parametrize("name", SMALL)
def test_box_relaxation_is_svm_from_the_threshold_on(name):
    problem = SMALL[name]
    plain = value(svm(problem))
    limit = threshold(problem)
    for factor in (1.0001, 2.0, 100.0):
        box = value(boxmp(problem, factor * limit))
        assert box == pytest.approx(plain, rel=CONVEX_RTOL)
    # The threshold is sharp: w* is unique and no longer feasible below it.
    assert value(boxmp(problem, 0.8 * limit)) > plain * (1 + 1e-5)
    for M in (0.01, 0.1, 1.0):
        assert value(boxmp(problem, M)) >= plain * (1 - CONVEX_RTOL)


def test_the_printed_threshold_is_too_small():
    """One dominant feature: M >= ||w*||_1 / B holds, but v_1 would exceed 1."""
    X = np.array([[1.0, 0.1], [0.8, -0.1], [-1.0, 0.1], [-0.9, -0.1]])
    problem = Problem(X, [1, 1, -1, -1], C=10.0, max_features=2)
    w = np.abs(svm_weights(problem))
    M = 0.9 * w.max()
    assert w.sum() / 2 <= M < w.max()
    assert value(boxmp(problem, M)) > value(svm(problem)) * 1.01
    printed = m_range(problem, np.zeros(2), form="printed")
    corrected = m_range(problem, np.zeros(2))
    assert M not in printed
    assert M in corrected


@pytest.mark.parametrize("cardinality", ["<=", "="])
@pytest.mark.parametrize("name", FEW)
def test_shor_relaxations_equal_their_decompositions(name, cardinality):
    problem = SMALL[name]
    M = 0.6 * threshold(problem)
    form = {"cardinality": cardinality}
    box = value(boxmp(problem, M, **form))
    assert value(smp(problem, M, **form)) == pytest.approx(box, rel=CONVEX_RTOL)
    assert value(dsmp(problem, M, **form)) == pytest.approx(box, rel=CONVEX_RTOL)
    plain = value(dscop(problem, **form))
    assert value(scop(problem, **form)) == pytest.approx(plain, rel=CONVEX_RTOL)
    both = value(dscomp(problem, M, **form))
    assert value(scomp(problem, M, **form)) == pytest.approx(both, rel=CONVEX_RTOL)
    assert both >= max(box, plain) * (1 - CONVEX_RTOL)


@pytest.mark.parametrize("name", FEW)
def test_both_forms_of_the_budget_have_the_same_value(name):
    problem = SMALL[name]
    M = 0.6 * threshold(problem)
    for build in (
        dscop,
        lambda p, **k: dscomp(p, M, **k),
        lambda p, **k: boxmp(p, M, **k),
    ):
        equal = value(build(problem, cardinality="="))
        assert value(build(problem, cardinality="<=")) == pytest.approx(
            equal, rel=CONVEX_RTOL
        )


@pytest.mark.parametrize("name", FEW)
def test_the_printed_matrices_are_the_lemmas_cones(name):
    problem = SMALL[name]
    for build in (dscop, lambda p, **k: dscomp(p, 0.5, **k)):
        cones = value(build(problem, cones="second-order"))
        matrices = value(build(problem, cones="semidefinite"))
        assert matrices == pytest.approx(cones, rel=CONVEX_RTOL)


@pytest.mark.parametrize("seed", range(6))
def test_scop_exceeds_svm_when_svm_uses_too_many_features(seed):
    problem = random_problem(seed, m=18, n=6, B=2)
    assert np.sum(np.abs(svm_weights(problem)) > 1e-6) > 2
    assert value(scop(problem)) > value(svm(problem)) * (1 + 1e-5)


def test_scop_is_svm_when_the_budget_suffices():
    problem = random_problem(0, B=5)
    assert value(scop(problem)) == pytest.approx(value(svm(problem)), rel=CONVEX_RTOL)


@pytest.mark.parametrize("name", SMALL)
def test_all_relaxations_are_below_the_optimum(name):
    problem = SMALL[name]
    best, _ = brute_force(problem)
    M = 1e3
    for model in (svm(problem), boxmp(problem, M), dscop(problem), dscomp(problem, M)):
        assert value(model) <= best * (1 + CONVEX_RTOL)


def minors(matrix):
    """All principal minors, in exact arithmetic."""
    for size in (1, 2, 3):
        for rows in combinations(range(3), size):
            yield sum(
                (-1) ** sum(a > b for a, b in combinations(order, 2))
                * prod(matrix[i][j] for i, j in zip(rows, order, strict=True))
                for order in permutations(rows)
            )


def test_the_lemma_accepts_and_rejects_the_same_points():
    """Boundary included: the points are fractions, with W s a square on a third."""
    rng = np.random.default_rng(0)
    verdicts = []
    for _ in range(3000):
        root = Fraction(int(rng.integers(-6, 7)), 4)
        u = Fraction(int(rng.integers(-1, 6)), 4)
        s = 1 - u
        W = Fraction(int(rng.integers(-2, 9)), 4)
        w = root
        if rng.random() < 0.3 and s > 0:
            W = root**2 / s
        matrix = [[1, w, u], [w, W, 0], [u, 0, u]]
        semidefinite = all(minor >= 0 for minor in minors(matrix))
        cone = (W - s) ** 2 + 4 * w**2 <= (W + s) ** 2 and W + s >= 0
        assert semidefinite == (cone and u >= 0 and s >= 0 and W >= 0), (w, u, W)
        verdicts.append((semidefinite, W * s == w**2))
    # Inside, on the boundary and outside all occur often.
    counts = {kind: verdicts.count(kind) for kind in set(verdicts)}
    assert min(counts[kind] for kind in [(True, True), (True, False)]) > 300
    assert counts[False, False] > 300


@pytest.mark.parametrize("name", ["random", "separable", "iris"])
def test_admissible_range_of_m(name):
    problem = SMALL[name]
    best, support = brute_force(problem)
    coef = np.zeros(problem.n_features)
    coef[support] = problem.engine.solve_svm(support).w
    span = m_range(problem, coef)
    assert span.low == np.abs(coef).max()
    assert span.high == pytest.approx(threshold(problem), rel=1e-4)
    assert span.empty == (span.low >= span.high)
    assert m_range(problem, coef, form="printed").high <= span.high
    if not span.empty:
        middle = 0.5 * (span.low + span.high)
        assert value(svm(problem)) < value(boxmp(problem, middle)) <= best * (1 + 1e-6)


def test_the_admissible_range_may_be_empty():
    """Spread evenly, SVM's weights are small; on one feature the weight is large."""
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], 10)
    X = y[:, None] + 0.3 * rng.normal(size=(20, 8))
    problem = Problem(X, y, C=10.0, max_features=4)
    _, support = brute_force(problem)
    coef = np.zeros(8)
    coef[support] = problem.engine.solve_svm(support).w
    span = m_range(problem, coef)
    assert span.empty
    assert span.low not in span
