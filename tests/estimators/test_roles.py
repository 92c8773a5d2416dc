"""Roles in incomplete lists never contradict enumeration."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from frugalsvm import Problem, near_optimal, verify
from frugalsvm.estimators import near_optima as search
from frugalsvm.estimators.exchanges import ExchangeTrials
from frugalsvm.solving.options import SolveOptions
from frugalsvm.tree.listing import Listing, Threshold, solve_support
from tests.reference import Enumeration
from tests.tree.problems import KINDS, small_problem

# Objectives that are closer than this to the threshold may be listed or not.
CLOSE = 1e-8
LIMITS = (
    *({"max_nodes": n} for n in (1, 2, 4, 8, 20)), {"limit": 1}, {"limit": 3},
    {"time_limit": 0.0},
)  # fmt: skip


def numbers(names):
    return {int(name[1:]) for name in names}


def blocks(seed=0, n_blocks=40, n_copies=5, n_samples=300, correlation=0.99):
    """Blocks of features that are nearly the same; the first eight matter."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n_samples, n_blocks))
    own = rng.normal(size=(n_samples, n_blocks * n_copies))
    X = np.sqrt(correlation) * np.repeat(base, n_copies, axis=1)
    X += np.sqrt(1 - correlation) * own
    noise = rng.normal(size=n_samples)
    return X, np.where(base[:, :8].sum(axis=1) + noise > 0, 1.0, -1.0)


def check(found, reference):
    """Compare the roles of a list with all supports; returns the indispensable ones."""
    limit = found.threshold * (1 - CLOSE)
    within = [s for s, value in reference.values.items() if value <= limit]
    if not within:
        # With a tolerance of zero rounding may leave none.
        return 0
    needed = numbers(found.indispensable)
    assert needed <= set.intersection(*map(set, within))
    nearly = found.threshold * (1 + CLOSE)
    within_nearly = [s for s, value in reference.values.items() if value <= nearly]
    for j in numbers(found.replaceable):
        assert any(j not in s for s in within_nearly)
    never = numbers(found.never)
    assert not any(never & set(reference.reduced(s)) for s in within)
    if not found.complete:
        used = {j for one in found.supports for j in one.tolist()}
        assert not never & used
    return len(needed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_conclusions_from_incomplete_lists_are_true(kind, seed):
    problem, X, y = small_problem(kind, seed)
    reference = Enumeration(problem)
    for tolerance in (0.01, 0.3, 1.0):
        for limits in LIMITS:
            found = near_optimal(
                problem, tolerance=tolerance, certificate=True, **limits
            )
            for part in (1.0, 0.5, 0.1, 0.0):
                check(found.within(part * tolerance), reference)
            assert (found.excess <= tolerance * (1 + CLOSE)).all()
            verify(found.certificate, X, y)


def test_some_incomplete_lists_prove_something():
    proved = {"indispensable": 0, "never": 0}
    for kind in ("random", "costs", "constrained"):
        for seed in range(6):
            problem, _, _ = small_problem(kind, seed)
            for limits in ({"max_nodes": 4}, {"limit": 1}):
                found = near_optimal(problem, tolerance=0.3, **limits)
                if not found.complete:
                    free = numbers(found.indispensable) - set(problem.include)
                    proved["indispensable"] += bool(free)
                    proved["never"] += bool(found.never)
    assert all(proved.values()), proved


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_a_duplicate_is_found_before_roles_are_decided(make, seed):
    X, y = blocks(seed)
    found = near_optimal(
        make(X), y, max_features=5, tolerance=0.03, max_nodes=1, random_state=0,
        certificate=True,
    )  # fmt: skip
    assert found.status == "node limit"
    assert found.indispensable == []
    # All five have twins, and each takes the place of one.
    best = found.supports[0].tolist()
    for j in best:
        twins = {f"x{k}" for k in range(j - j % 5, j - j % 5 + 5)}
        assert twins & set(found.replaceable[f"x{j}"])
    assert (found.excess[1:] > 0).all()
    assert (found.excess <= 0.03).all()
    checked = verify(found.certificate, make(X), y).alternatives
    np.testing.assert_allclose(np.sort(checked.objectives), found.objectives)


def test_unproved_features_have_separate_roles():
    X, y = blocks()
    found = near_optimal(X, y, max_features=5, tolerance=1e-4, max_nodes=1)
    assert len(found) == 1
    assert found.indispensable == found.never == []
    frame = found.roles_frame()
    assert set(frame["role"]) == {"in all found", "in none found"}
    assert (frame["role"] == "in all found").sum() == 5
    assert "No feature is proved to be indispensable." in found.explanation
    assert f"{found.n_exchanges:,} exchanges of single features" in found.explanation
    assert "larger max_nodes or a smaller tolerance" in found.explanation
    assert "No feature is proved to be indispensable." in found._repr_html_()
    assert "in all found" in str(found)


def test_a_feature_that_every_model_needs_is_proved():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 30))
    y = np.where(4 * X[:, 7] + 0.3 * X[:, :5].sum(axis=1) > 0, 1.0, -1.0)
    found = near_optimal(X, y, max_features=4, tolerance=0.5, limit=10)
    assert found.status == "limit"
    assert found.indispensable == ["x7"]
    assert "Proved to be indispensable: x7." in found.explanation
    assert found.within(0.2).indispensable[0] == "x7"


def test_substitutes_cut_from_the_list_are_reported():
    X, y = blocks()
    whole = near_optimal(X, y, max_features=5, tolerance=0.03, max_nodes=1)
    cut = near_optimal(X, y, max_features=5, tolerance=0.03, max_nodes=1, limit=1)
    assert len(cut) == 1
    best = [f"x{j}" for j in cut.supports[0]]
    assert set(cut.replaceable) == set(best)
    for name in best:
        assert set(cut.replaceable[name]) == set(whole.replaceable[name])
    assert cut.within(1e-4).replaceable == {}


def test_a_smaller_tolerance_follows_the_same_rule():
    X, y = blocks()
    found = near_optimal(X, y, max_features=5, tolerance=0.03, max_nodes=1)
    part = found.within(1e-4)
    assert len(part) == 1
    assert part.indispensable == []
    assert part.status == "node limit"
    given = near_optimal(X, y, max_features=5, include=[3], max_nodes=1)
    assert given.indispensable == ["x3"]


def test_exchanges_stop_on_request():
    X, y = blocks()
    problem = Problem(X, y, max_features=5)
    listing = Listing(Threshold(0.03), 100)
    listing.add(solve_support(problem, np.array([3, 14, 23, 29, 34]))[0])
    calls = iter(range(1000))
    # Called before every SVM, of an exchange or of a ranking.
    exchanges = ExchangeTrials(problem, listing, lambda: next(calls) > 5)
    exchanges.run()
    assert 0 < exchanges.n_tried < 5
    assert len(listing) > 1
    assert len(list(calls)) > 990


def test_exchanges_follow_a_better_model(monkeypatch):
    # From a bad start exchanges lead to better models, around which more are tried.
    X, y = blocks()
    best = near_optimal(X, y, max_features=5, max_nodes=1).objectives[0]
    real, rounded = search.run_interruptible, SolveOptions(method="relax-and-round")

    def run(problem, options, hold):
        return real(problem, rounded, hold)

    monkeypatch.setattr(search, "run_interruptible", run)
    start = real(Problem(X, y, max_features=5), rounded).result
    found = near_optimal(X, y, max_features=5, max_nodes=1)
    assert best <= found.objectives[0] <= start.objective * (1 - 1e-6)


def test_a_feature_of_a_smaller_model_is_not_never():
    """All three features give x1 no weight, but alone it is within the tolerance."""
    X = [
        [1, 0, 0], [-1, 1, -1], [-1, 0, -1], [0, -1, 1],
        [-1, 1, -1], [1, -1, -1], [-1, 0, -1], [0, 0, -1],
    ]  # fmt: skip
    found = near_optimal(
        X, [1, -1] * 4, max_features=3, C=10.0, tolerance=0.1, random_state=0
    )
    assert found.complete
    assert any(one.tolist() == [1] for one in found.minimal())
    assert found.never == []
    assert found.within(0.0).never == ["x1"]
