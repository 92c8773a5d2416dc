"""Proofs: forgeries that used to be accepted, valid proofs that used to fail."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from frugalsvm import FrugalSVC, InvalidCertificate, Problem, solve, verify
from frugalsvm.checker.arithmetic import objective_bound
from frugalsvm.checker.proof import ProofData
from tests.campaign.layout import packed_points
from tests.checker.forging import proved, sealed, single_root, with_fixing
from tests.checker.trees import labels
from tests.reference import brute_force, random_data
from tests.tree.problems import KINDS, small_problem


@pytest.fixture
def two_features():
    """Two features, of which the cost budget admits only the second."""
    y = labels(12)
    rng = np.random.default_rng(0)
    return np.column_stack([5 * y, rng.normal(size=12)]), y


def test_fixing_in_unaffordable_features_gains_nothing(two_features):
    X, y = two_features
    forged = single_root(
        X, y, np.ones(12), costs=np.array([3.0, 1.0]), max_cost=np.array(2.0),
        **with_fixing(0),
    )  # fmt: skip
    problem = Problem(X, y, feature_costs=[3.0, 1.0], max_cost=2.0)
    optimum, _ = brute_force(problem)
    assert verify(forged, X, y).lower_bound <= optimum


def test_fixing_out_unaffordable_features_costs_nothing(two_features):
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
    objective = objective_bound(np.empty((0, 12)), y, np.ones(12), np.empty(0), 0.0)
    bounds = iter([13.0, objective])
    monkeypatch.setattr(
        "frugalsvm.checker.ProofTree.smallest_bound", lambda self: next(bounds)
    )
    with pytest.raises(InvalidCertificate, match=r"13.0 exceeds the objective"):
        verify(honest, X, y)
    assert verify(honest, X, y).gap == 0.0


@pytest.mark.parametrize(
    "name",
    [
        "weights", "costs", "max_cost", "coef", "intercept", "objective", "lower_bound",
        "price", "fixing_price",
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_nan_proves_nothing(name, value):
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
def test_data_beyond_the_limits_are_rejected(two_features, value):
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


def test_a_claim_above_the_objective_is_rejected(two_features):
    X, y = two_features
    forged = single_root(X, y, np.full(12, 0.1), lower_bound=np.array(12.1))
    with pytest.raises(InvalidCertificate, match="above the objective"):
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
def test_a_certificate_only_observes_the_run(kind, seed):
    """Nearly the same tree, and the same solution, with and without.

    Stored points are rounded, which may decide between equal features.
    """
    problem, X, y = small_problem(kind, seed)
    with_proof, without = (
        solve(
            problem, method="branch-and-bound", certificate=kept, random_state=0,
            method_options={"patience": 0},
        )
        for kept in (True, False)
    )  # fmt: skip
    nodes = [run.counters["nodes"] for run in (with_proof, without)]
    assert nodes[0] == pytest.approx(nodes[1], rel=0.1, abs=2)
    gap = 2e-4 * without.objective
    assert with_proof.lower_bound == pytest.approx(without.lower_bound, abs=gap)
    assert with_proof.objective == pytest.approx(without.objective, rel=1e-9)
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


# --- each check of the tree --------------------------------------------------------


def three_nodes():
    """A root split on feature 0; its children are leaves with one point each."""
    return {
        "parent": np.array([-1, 0, 0]), "feature": np.array([-1, 0, 0]),
        "inside": np.array([False, True, False]), "point": np.array([-1, 0, 1]),
        "price": np.zeros(3), "fixing_point": np.array([-1, -1, -1]),
        "fixing_price": np.zeros(3), "fixing_start": np.zeros(4, dtype=np.int64),
        **packed_points(np.full((2, 12), 0.01), np.ones(12)),
    }  # fmt: skip


def fixing(*features, at=0):
    starts = np.where(np.arange(4) > at, len(features), 0)
    return {
        "fixing": np.array(features), "fixing_start": starts,
        "fixing_point": np.array([0, 0, 0]),
    }  # fmt: skip


def changed(name, at, value):
    array = three_nodes()[name]
    array[at] = value
    return {name: array}


BAD_TREES = [
    (changed("price", 0, -1e-9), "bad price"),
    (changed("price", 2, 1e250), "bad price"),
    (changed("fixing_price", 1, -1e-9), "bad price"),
    (changed("fixing_price", 1, 1e250), "bad price"),
    (fixing(3), "bad features in fixing"),
    (fixing(4), "bad features in fixing"),
    (fixing(-4), "bad features in fixing"),
    (fixing(-5), "bad features in fixing"),
    (changed("parent", 0, 0), "there is no root"),
    (changed("parent", 0, -2), "there is no root"),
    (changed("parent", 1, -1), "a node comes before its parent"),
    (changed("parent", 1, -2), "a node comes before its parent"),
    (changed("parent", 1, 1), "a node comes before its parent"),
    (changed("parent", 1, 2), "a node comes before its parent"),
    (changed("parent", 2, 9), "a node comes before its parent"),
    (changed("parent", 2, 1), "the children of node 0 do not cover it"),
    (changed("inside", 2, True), "the children of node 0 do not cover it"),
    (changed("inside", 1, False), "the children of node 0 do not cover it"),
    (changed("feature", 2, 1), "the children of node 0 do not cover it"),
    ({"feature": np.array([0, -1, -1])}, "node 0 is split on a feature"),
    ({"feature": np.array([0, -2, -2])}, "node 0 is split on a feature"),
    ({"feature": np.array([0, 3, 3])}, "node 0 is split on a feature"),
    ({"feature": np.array([0, 4, 4])}, "node 0 is split on a feature"),
    ({"exclude": np.array([0])}, "node 0 is split on a feature"),
    ({"include": np.array([0])}, "node 0 is split on a feature"),
    (fixing(0), "node 0 is split on a feature that is already decided"),
    (fixing(~0), "node 0 is split on a feature that is already decided"),
    (fixing(1, 1), "node 0 fixes a feature that is already decided"),
    (fixing(1, ~1), "node 0 fixes a feature that is already decided"),
    (fixing(0, at=2), "node 2 fixes a feature that is already decided"),
    ({**fixing(1), "exclude": np.array([1])}, "node 0 fixes a feature"),
    (changed("point", 1, -1), "there is no dual point -1"),
    (changed("point", 1, -2), "there is no dual point -2"),
    (changed("point", 2, 2), "there is no dual point 2"),
    (changed("point", 2, 3), "there is no dual point 3"),
    # Their differences overflow, so that they seem to increase.
    (
        {**fixing(1), "fixing_start": np.array([0, 2**63 - 1, -6, 1])},
        "bad fixing_start",
    ),
    ({**fixing(1), "fixing_start": np.array([0, 0, 0, 0])}, "bad fixing_start"),
    ({**fixing(1), "fixing_start": np.array([0, 0, 0, 2])}, "bad fixing_start"),
    ({**fixing(1), "fixing_start": np.array([1, 1, 1, 1])}, "bad fixing_start"),
    ({**fixing(1), "fixing_start": np.array([0, 1, 0, 1])}, "bad fixing_start"),
    ({**fixing(1), "fixing_point": np.array([-1, 0, 0])}, "there is no dual point -1"),
]


@pytest.fixture
def three_features():
    rng = np.random.default_rng(2)
    return rng.normal(size=(12, 3)), labels(12)


@pytest.mark.parametrize(("changes", "words"), BAD_TREES)
def test_every_check_of_a_tree(three_features, changes, words):
    X, y = three_features
    tree = {**three_nodes(), **changes}
    with pytest.raises(InvalidCertificate, match=words):
        verify(single_root(X, y, np.ones(12), **tree), X, y)


@pytest.mark.parametrize(
    "changes",
    [
        {}, fixing(1), fixing(~2), fixing(2, ~1), fixing(2, at=1), fixing(~2, at=2),
        changed("price", 0, 1e249),
        packed_points(0.01 * (np.arange(24) != 3).reshape(2, 12), np.ones(12)),
    ],
)  # fmt: skip
def test_neighbours_of_a_bad_tree_are_valid(three_features, changes):
    X, y = three_features
    tree = {**three_nodes(), **changes}
    checked = verify(single_root(X, y, np.ones(12), **tree), X, y)
    assert checked.lower_bound == pytest.approx(0.11, rel=0.11)
    assert (checked.n_nodes, checked.n_leaves) == (3, 2)


@pytest.mark.parametrize("start", [0, 1, 5, 11, 12])
def test_points_may_be_of_any_length(three_features, start):
    """The two children together have the bound of the one with less."""
    X, y = three_features
    alphas = 0.01 * (np.arange(12) < np.array([[start], [12 - start]]))
    tree = {**three_nodes(), **packed_points(alphas, np.ones(12))}
    checked = verify(single_root(X, y, np.ones(12), **tree), X, y)
    fewer = min(start, 12 - start) // 2 * 2 * 0.01
    assert checked.lower_bound == pytest.approx(fewer, rel=0.2)


def test_a_node_has_two_children_at_most(three_features):
    X, y = three_features
    four = {
        "parent": np.array([-1, 0, 0, 0]), "feature": np.array([-1, 0, 0, 0]),
        "inside": np.array([False, True, False, True]), "point": np.zeros(4, dtype=int),
        "price": np.zeros(4), "fixing_point": np.zeros(4, dtype=int),
        "fixing_price": np.zeros(4), "fixing_start": np.zeros(5, dtype=int),
    }  # fmt: skip
    with pytest.raises(InvalidCertificate, match="more than two children"):
        verify(single_root(X, y, np.ones(12), **four), X, y)


# --- the solution and the claims -----------------------------------------------------


def solution(*selected, **changes):
    return {
        "selected": np.array(selected, dtype=np.int64), "coef": np.zeros(len(selected)),
        **changes,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (solution(0, 1, max_features=np.array(1)), "uses too many features"),
        (
            solution(0, 1, include=np.array([2]), max_features=np.array(2)),
            "uses too many features",
        ),
        (solution(0, 1, 2, max_features=np.array(1)), "uses too many features"),
        (solution(0, max_cost=np.array(0.9)), "exceeds max_cost"),
        (solution(include=np.array([1]), max_cost=np.array(0.9)), "exceeds max_cost"),
        (solution(1, exclude=np.array([1])), "uses excluded features"),
        (solution(1, coef=np.array([1e200])), "the objective is not finite"),
        (
            {"fit_intercept": np.array(False), "intercept": np.array(1e-9)},
            "but the problem has none",
        ),
        (
            {"fit_intercept": np.array(False), "intercept": np.array(-1e-9)},
            "but the problem has none",
        ),
        ({"fingerprint": np.array("0" * 64)}, "it is for other data"),
        ({"fingerprint": np.array("f" * 64)}, "it is for other data"),
        (
            {"objective": np.array(12 + 2e-8)},
            r"objective 12.0\d+ is claimed, but .* 12.0",
        ),
        (
            {"objective": np.array(12 - 2e-8)},
            r"objective 11.9\d+ is claimed, but .* 12.0",
        ),
        (
            {"lower_bound": np.array(0.5)},
            r"lower_bound 0.5 is claimed, but only 0.11\d+ is",
        ),
        ({"lower_bound": np.array(12 + 1e-6)}, "is claimed, above the objective 12.0"),
        ({"lower_bound": np.array(12 + 1e-9)}, "only"),
        ({"lower_bound": np.array(1e-9)}, None),
        ({"objective": np.array(12 + 8e-9)}, None),
        ({"objective": np.array(12 - 8e-9)}, None),
        (solution(0, 1, max_features=np.array(2)), None),
        (solution(0, max_cost=np.array(1.0)), None),
        (solution(0, max_cost=np.array(1 - 9e-10)), None),
        ({"fit_intercept": np.array(False)}, None),
    ],
)
def test_every_check_of_the_solution(three_features, changes, words):
    X, y = three_features
    arrays = single_root(X, y, np.full(12, 0.01), **changes)
    if words is None:
        assert verify(arrays, X, y).lower_bound == pytest.approx(0.12, rel=0.1)
        return
    with pytest.raises(InvalidCertificate, match=words):
        verify(arrays, X, y)


def test_a_claim_may_be_off_by_a_rounding(three_features):
    X, y = three_features
    honest = single_root(X, y, np.full(12, 0.01))
    bound = verify(honest, X, y).lower_bound
    for factor in (1.0, 1 + 5e-10, 1 - 5e-10, 0.5):
        claim = sealed(honest, lower_bound=np.array(bound * factor))
        assert verify(claim, X, y).lower_bound >= bound
    with pytest.raises(InvalidCertificate, match="only"):
        verify(sealed(honest, lower_bound=np.array(bound * (1 + 2e-9))), X, y)


@pytest.fixture
def accurate(monkeypatch):
    """For each computation of squared products so far, whether it was accurate."""
    calls, squares = [], ProofData.squares

    def recorded(self, alpha, accurate):
        calls.append(accurate)
        return squares(self, alpha, accurate)

    monkeypatch.setattr(ProofData, "squares", recorded)
    return calls


def test_accurate_products_are_a_last_resort(accurate, three_features):
    X, y = three_features
    honest = single_root(X, y, np.full(12, 0.01))
    bound = verify(honest, X, y).lower_bound
    accurate.clear()
    # What is claimed may be off by a rounding, so that this is proved by fast products.
    verify(sealed(honest, lower_bound=np.array(np.nextafter(bound, 1))), X, y)
    assert accurate == [False]
    accurate.clear()
    too_much = sealed(honest, lower_bound=np.array(bound * (1 + 2e-9)))
    with pytest.raises(InvalidCertificate, match="only"):
        verify(too_much, X, y)
    assert accurate == [False, True]


def test_a_claim_that_cannot_be_saved_costs_no_more_accurate_products(accurate):
    """Once a leaf proves too little, nothing depends on the others."""
    X, y = random_data(np.random.default_rng(0), 30, 6)
    problem = Problem(X, y, C=1.0, max_features=3)
    result = solve(problem, method="branch-and-bound", certificate=True)
    arrays = dict(result.certificate.arrays)
    assert arrays["parent"].size > 5
    accurate.clear()
    claim = sealed(arrays, lower_bound=arrays["objective"] * (1 - 1e-12))
    with pytest.raises(InvalidCertificate, match="lower_bound"):
        verify(claim, X, y)
    assert sum(accurate) <= 2


def test_accurate_products_prove_more():
    """Large features that cancel: the fast products prove little."""
    y = labels(12)
    X = np.where(np.arange(12) % 4 < 2, 1e15, -1e15)[:, None] * np.ones(2)
    honest = single_root(
        X, y, np.full(12, 0.01), fit_intercept=np.array(False),
        max_features=np.array(1),
    )  # fmt: skip
    quick = verify(honest, X, y).lower_bound
    accurate = verify(sealed(honest, lower_bound=np.array(0.1196)), X, y).lower_bound
    assert quick < 0.11 < 0.1196 < accurate <= 0.12


def test_samples_without_weight_do_not_count(three_features):
    X, y = three_features
    weights = np.ones(12)
    weights[[2, 5]] = 0.0
    kept = weights > 0
    few = single_root(X[kept], y[kept], np.full(10, 0.01))
    forged = sealed(few, weights=weights, objective=np.array(10.0))
    checked, alone = verify(forged, X, y), verify(few, X[kept], y[kept])
    assert checked.lower_bound == alone.lower_bound
    assert checked.objective == alone.objective
    assert "10 of 12 samples, at most 3 of 3 features, C = 1," in str(checked)
    with pytest.raises(InvalidCertificate, match="1 of 2 classes have no sample"):
        verify(sealed(few, weights=np.where(y < 0, 0.0, 1.0)), X, y)
