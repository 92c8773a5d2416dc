"""Proofs: forgeries that were accepted once, and honest ones that were not."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from frugalsvm import FrugalSVC, InvalidCertificate, Problem, solve, verify
from frugalsvm.checker.arithmetic import objective_bound
from tests.checker.forging import proved, sealed, single_root, with_fixing
from tests.exact.problems import KINDS, small_problem
from tests.reference import brute_force, random_data


def labels(m):
    return np.where(np.arange(m) % 2 == 0, 1.0, -1.0)


@pytest.fixture
def two_features():
    """Two features of which the cost budget admits the second alone."""
    y = labels(12)
    rng = np.random.default_rng(0)
    return np.column_stack([5 * y, rng.normal(size=12)]), y


def test_no_gain_for_fixing_in_what_cannot_be_paid(two_features):
    X, y = two_features
    forged = single_root(
        X, y, np.ones(12), costs=np.array([3.0, 1.0]), max_cost=np.array(2.0),
        **with_fixing(0),
    )  # fmt: skip
    problem = Problem(X, y, feature_costs=[3.0, 1.0], max_cost=2.0)
    optimum, _ = brute_force(problem)
    assert verify(forged, X, y).lower_bound <= optimum


def test_fixing_out_what_cannot_be_paid_costs_nothing(two_features):
    X, y = two_features
    costs = {"costs": np.array([3.0, 1.0]), "max_cost": np.array(2.0)}
    alpha = np.full(12, 0.1)
    plain = verify(single_root(X, y, alpha, **costs), X, y)
    fixed = verify(single_root(X, y, alpha, **costs, **with_fixing(~0)), X, y)
    assert fixed.lower_bound == plain.lower_bound > 0


def test_a_bound_above_the_objective_is_a_contradiction(two_features, monkeypatch):
    X, y = two_features
    honest = single_root(X, y, np.full(12, 0.1))
    verify(honest, X, y)
    monkeypatch.setattr("frugalsvm.checker.Proof.smallest_bound", lambda self: 13.0)
    with pytest.raises(InvalidCertificate, match=r"13.0 exceeds the objective"):
        verify(honest, X, y)


@pytest.mark.parametrize(
    "name",
    [
        "weights", "costs", "max_cost", "coef", "intercept", "objective", "lower_bound",
        "price", "fixing_price", "point_alpha",
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_what_is_not_a_number_proves_nothing(name, value):
    rng = np.random.default_rng(1)
    X, y = random_data(rng, 20, 4)
    costs = {"feature_costs": [1.0, 2.0, 1.0, 2.0], "max_cost": 3.0}
    *_, arrays = proved(X, y, max_features=2, include=[0], **costs)
    verify(arrays, X, y)
    changed = np.array(arrays[name], dtype=float)
    changed[()] = value
    if name == "lower_bound" and value == -np.inf:
        # A claim of nothing is kept.
        assert verify(sealed(arrays, lower_bound=changed), X, y).lower_bound > 0
        return
    with pytest.raises(InvalidCertificate):
        verify(sealed(arrays, **{name: changed}), X, y)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e51])
def test_nothing_is_proved_about_odd_data(two_features, value):
    X, y = two_features
    X[3, 1] = value
    with pytest.raises(InvalidCertificate, match="X has NaN or values beyond"):
        verify(single_root(X, y, np.ones(12)), X, y)


@pytest.mark.parametrize(
    ("weights", "x"), [(1e160, 0.0), (1.5e307, 1.0), (1e58, 1e50), (1e-310, 1.0)]
)
def test_extreme_weights_are_rejected(weights, x):
    y = labels(10)
    X = np.full((10, 2), x) * y[:, None]
    forged = single_root(
        X, y, np.full(10, 0.5 * weights), weights=np.full(10, weights),
        include=np.array([0]), **with_fixing(1),
    )  # fmt: skip
    with pytest.raises(InvalidCertificate, match="bad weights"):
        verify(forged, X, y)


def test_a_huge_price_is_rejected_and_a_large_one_proves_nothing(two_features):
    X, y = two_features
    costs = {"costs": np.array([1.0, 1.0]), "max_cost": np.array(1e49)}
    for price, words in ((1e299, "bad price"), (np.inf, "bad price")):
        forged = single_root(X, y, np.ones(12), price=np.array([price]), **costs)
        with pytest.raises(InvalidCertificate, match=words):
            verify(forged, X, y)
    forged = single_root(X, y, np.ones(12), price=np.array([1e249]), **costs)
    assert verify(forged, X, y).lower_bound == 0.0


@pytest.mark.parametrize(
    "changes",
    [
        # Differences of these overflow, so that they seem to rise.
        {"point_start": np.array([0, 2**63 - 1, -6, 12])},
        {"coef": np.array([1.8e154, 1.8e154]), "selected": np.array([0, 1])},
        {"coef": np.array([1e308, 1e308]), "selected": np.array([0, 1])},
    ],
)
def test_overflows_are_only_ever_invalid(two_features, changes):
    X, y = two_features
    with pytest.raises(InvalidCertificate):
        verify(single_root(X, y, np.full(12, 0.1), **changes), X, y)


def test_settings_of_numpy_do_not_matter(two_features):
    X, y = two_features
    X = X * 1e-170
    with np.errstate(all="raise"):
        assert verify(single_root(X, y, np.full(12, 0.1)), X, y).lower_bound > 0


def test_a_claim_above_the_objective_is_not_even_tried(two_features, monkeypatch):
    X, y = two_features
    monkeypatch.setattr("frugalsvm.checker.Proof.smallest_bound", None)
    forged = single_root(X, y, np.full(12, 0.1), lower_bound=np.array(12.1))
    with pytest.raises(InvalidCertificate, match="above the objective"):
        verify(forged, X, y)


def test_a_sample_comes_once_in_a_point(two_features):
    X, y = two_features
    forged = single_root(
        X, y, np.full(12, 0.1), point_sample=np.array([0, 0, *range(10)])
    )
    with pytest.raises(InvalidCertificate, match="not in increasing order"):
        verify(forged, X, y)


def offset_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = np.where(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=200) > 0, 1, -1)
    return X, y


HONEST = {
    "offset 1e5": (lambda X: X + 1e5, 1.0),
    "offset 1e9": (lambda X: X + 1e9, 1.0),
    "C 1e12": (lambda X: X, 1e12),
    "C 1e15": (lambda X: X, 1e15),
    "C 1e-15": (lambda X: X, 1e-15),
    "X 1e10": (lambda X: X * 1e10, 1.0),
    "X 1e20": (lambda X: X * 1e20, 1.0),
    "X 1e49": (lambda X: X * 1e49, 1.0),
    "X 1e-49": (lambda X: X * 1e-49, 1.0),
    "X 1e-170": (lambda X: X * 1e-170, 1.0),
}


@pytest.mark.parametrize("kind", HONEST)
def test_what_is_written_verifies(kind):
    change, C = HONEST[kind]
    X, y = offset_data()
    X = change(X)
    clf = FrugalSVC(3, C=C, certificate=True, random_state=0).fit(X, y)
    checked = verify(clf.result_.certificate, X, y, C=C, max_features=3)
    assert checked.objective == clf.objective_
    assert clf.lower_bound_ * (1 - 1e-9) <= checked.lower_bound <= checked.objective


def test_raw_wine_with_a_large_c_verifies():
    X, y = load_wine(return_X_y=True)
    clf = FrugalSVC(3, C=1e8, certificate=True, random_state=0).fit(X, y == 0)
    assert verify(clf.result_.certificate, X, y == 0).objective == clf.objective_
    assert clf.gap_ <= 1e-4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_a_certificate_observes(kind, seed):
    """Same nodes, same bound, same solution with and without."""
    problem, X, y = small_problem(kind, seed)
    with_proof, without = (
        solve(
            problem, method="branch-and-bound", certificate=kept, random_state=0,
            method_options={"patience": 0},
        )
        for kept in (True, False)
    )  # fmt: skip
    assert with_proof.counters == without.counters
    assert with_proof.lower_bound == without.lower_bound
    assert with_proof.objective == without.objective
    assert verify(with_proof.certificate, X, y).lower_bound >= with_proof.lower_bound


def test_storing_a_proof_does_not_keep_a_tree_from_closing():
    X, y = load_iris(return_X_y=True)
    clf = FrugalSVC(2, C=1e10, certificate=True, random_state=0).fit(X, y == 2)
    assert clf.gap_ <= 1e-4
    assert verify(clf.result_.certificate, X, y == 2).gap <= 1e-4


def test_prices_are_part_of_the_proof():
    """The best price is not unique: fixings need the one they were made with."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = random_data(rng, 14, 6, integer=True)
        costs = rng.integers(1, 4, 6).astype(float)
        problem, result, arrays = proved(
            X, y, feature_costs=costs, max_cost=float(rng.integers(2, 8))
        )
        checked = verify(arrays, X, y)
        assert checked.lower_bound >= result.lower_bound * (1 - 1e-9)
        assert checked.lower_bound <= brute_force(problem)[0] * (1 + 1e-9)


@pytest.mark.parametrize("scale", [1e-49, 1e-20, 1.0, 1e20, 1e49])
def test_the_objective_is_an_upper_bound_and_close(scale):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        m, k = int(rng.integers(1, 9)), int(rng.integers(0, 5))
        rows = rng.normal(size=(k, m)) * scale + rng.choice([0.0, 1e6 * scale])
        signs = np.where(rng.random(m) < 0.5, 1.0, -1.0)
        C = 10.0 ** rng.uniform(-3, 8, m)
        w, b = rng.normal(size=k) / scale, float(rng.normal()) * 1e6
        exact = sum(Fraction(v) ** 2 for v in w.tolist()) / 2
        for i in range(m):
            margin = Fraction(b) * int(signs[i])
            for j in range(k):
                margin += Fraction(float(w[j])) * Fraction(float(rows[j, i]))
            exact += Fraction(float(C[i])) * max(Fraction(0), 1 - margin)
        value = Fraction(objective_bound(rows, signs, C, w, b))
        assert exact <= value <= exact * (1 + Fraction(1, 10**14))
