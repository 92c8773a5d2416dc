"""Lists in certificates: what they prove, and which are rejected."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from frugalsvm import Certificate, InvalidCertificate, Problem, near_optimal, verify
from frugalsvm.checker import listing
from frugalsvm.checker.listing import Listed
from tests.checker.forging import sealed, single_root
from tests.checker.trees import RandomTree
from tests.reference import Enumeration


@pytest.fixture(scope="module")
def proof():
    """Data, the list within 20 % and its certificate."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 8))
    y = np.where(X[:, :3].sum(axis=1) + rng.normal(size=40) > 0, 1.0, -1.0)
    problem = Problem(X, y, max_features=3)
    found = near_optimal(problem, tolerance=0.2, certificate=True)
    assert 2 < len(found) < 30
    return X, y, found, dict(found.certificate.arrays)


def shortened(arrays, gone):
    """The arrays without one of the listed sets."""
    starts = arrays["listed_start"]
    entries = np.r_[: starts[gone], starts[gone + 1] : starts[-1]]
    sizes = np.delete(np.diff(starts), gone)
    return {
        "listed_start": np.concatenate([[0], np.cumsum(sizes)]),
        "listed_feature": arrays["listed_feature"][entries],
        "listed_coef": arrays["listed_coef"][entries],
        "listed_intercept": np.delete(arrays["listed_intercept"], gone),
    }


def test_survives_a_file(proof, tmp_path):
    X, y, found, _ = proof
    found.save_certificate(tmp_path / "proof")
    proved = verify(tmp_path / "proof", X, y, max_features=3, C=1.0)
    assert proved.alternatives.threshold >= found.threshold
    assert len(proved.alternatives.supports) == len(found)
    np.testing.assert_allclose(
        np.sort(proved.alternatives.objectives), found.objectives, rtol=1e-12
    )
    text = str(proved)
    assert f"{len(found)} listed" in text
    assert "at most 3 of 8 features" in text
    assert proved.gap < 1e-8
    assert repr(Certificate.load(tmp_path / "proof")) == repr(found.certificate)


def test_missing_sets_lower_the_threshold(proof):
    X, y, found, arrays = proof
    values = Enumeration(Problem(X, y, max_features=3)).values
    for gone in range(len(found)):
        changes = shortened(arrays, gone)
        with pytest.raises(
            InvalidCertificate, match=r"threshold .* is claimed, but only"
        ):
            verify(sealed(arrays, **changes), X, y)
        little = sealed(arrays, **changes, threshold=np.array(0.0))
        start = arrays["listed_start"]
        missing = arrays["listed_feature"][start[gone] : start[gone + 1]]
        proved = verify(little, X, y).alternatives.threshold
        np.testing.assert_allclose(proved, values[tuple(missing.tolist())], rtol=1e-7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: {"threshold": a["threshold"] * 1.1}, "only .* is proved"),
        (lambda a: {"threshold": np.array(np.nan)}, "threshold nan is claimed"),
        (lambda a: {"threshold": np.array(np.inf)}, "threshold inf is claimed"),
        (lambda a: {"format": np.array(2)}, "unknown format 2"),
        (lambda a: {"listed_start": a["listed_start"][1:]}, "wrong length"),
        (lambda a: {"listed_start": a["listed_start"] + 1}, "bad listed_start"),
        (lambda a: {"listed_start": a["listed_start"][::-1]}, "bad listed_start"),
        (lambda a: {"listed_coef": a["listed_coef"][1:]}, "inconsistent lengths"),
        (lambda a: {"listed_coef": a["listed_coef"] * np.nan}, "not finite"),
        (lambda a: {"listed_coef": a["listed_coef"].astype("f4")}, "dtype float32"),
        (lambda a: {"listed_feature": a["listed_feature"][::-1]}, "bad features"),
        (lambda a: {"listed_feature": a["listed_feature"] + 6}, "bad features"),
        (lambda a: {"listed_feature": a["listed_feature"] - 3}, "bad features"),
        (lambda a: {"listed_intercept": a["listed_intercept"] * np.inf}, "not finite"),
        (lambda a: {"max_features": np.array(2)}, "too many features"),
        (lambda a: {"exclude": np.array([a["listed_feature"][0]])}, "excluded"),
    ],
)
def test_invalid_lists_are_rejected(proof, change, message):
    X, y, _, arrays = proof
    with pytest.raises(InvalidCertificate, match=message):
        verify(sealed(arrays, **change(arrays)), X, y)


def test_missing_and_repeated_entries_are_rejected(proof):
    X, y, _, arrays = proof
    for name in ("listed_start", "listed_feature", "listed_coef", "listed_intercept"):
        less = {key: value for key, value in arrays.items() if key != name}
        with pytest.raises(InvalidCertificate, match=f"{name} missing"):
            verify(sealed(less), X, y)
    less = {key: value for key, value in arrays.items() if key != "threshold"}
    with pytest.raises(InvalidCertificate, match="threshold missing"):
        verify(sealed(less), X, y)
    twice = {
        "listed_start": np.append(
            arrays["listed_start"], arrays["listed_start"][-1] + 3
        ),
        "listed_feature": np.append(
            arrays["listed_feature"], arrays["listed_feature"][:3]
        ),
        "listed_coef": np.append(arrays["listed_coef"], arrays["listed_coef"][:3]),
        "listed_intercept": np.append(arrays["listed_intercept"], 0.0),
    }
    with pytest.raises(InvalidCertificate, match="listed twice"):
        verify(sealed(arrays, **twice), X, y)


def listed(*supports, n_features=9):
    sizes = [len(one) for one in supports]
    return Listed(
        {
            "threshold": np.array(0.0),
            "listed_start": np.cumsum([0, *sizes]),
            "listed_feature": np.array([j for s in supports for j in s], dtype=int),
            "listed_coef": np.zeros(sum(sizes)),
            "listed_intercept": np.zeros(len(supports)),
        },
        n_features,
    )


def test_subsets_of_listed_sets_are_found():
    three = listed((0, 1, 2), (2, 3), (4,))
    assert all(three.hold(p) for p in ((0, 1, 2), (0, 2), (3, 2), (4,), (), (2,)))
    assert not any(three.hold(p) for p in ((0, 3), (0, 1, 2, 3), (4, 2), (5,)))
    assert not listed().hold(())
    assert listed(()).hold(())
    assert not listed(()).hold((0,))


def test_searches_of_one_tree_have_a_limit():
    """Without it this takes minutes: every subset is searched for in all sets."""
    n = 60_000
    all_alike = listed(*((0, 1, j) for j in range(2, n)), n_features=n)
    all_alike.allow(n_nodes=0)
    answers = [all_alike.hold((0, 1)) for _ in range(n)]
    assert answers[0]
    assert not answers[-1]
    # Listed sets, rare subsets and those of the next tree are still found.
    assert all(all_alike.hold((0, 1, j)) for j in range(2, n))
    assert not all_alike.hold((1, n))
    all_alike.allow(n_nodes=0)
    assert all_alike.hold((1, 0))


def test_exhausted_searches_lower_the_threshold(proof, monkeypatch):
    X, y, _, _ = proof
    # One of the two leaves is the listed set, and the other a subset of it.
    forged = single_root(
        X, y, np.full(40, 0.01), threshold=np.array(0.0),
        parent=np.array([-1, 0, 0]), feature=np.array([-1, 0, 0]),
        inside=np.array([True, True, False]), point=np.array([-1, 0, 0]),
        price=np.zeros(3), fixing_point=np.full(3, -1), fixing_price=np.zeros(3),
        fixing_start=np.zeros(4, dtype=np.int64), listed_start=np.array([0, 8]),
        listed_feature=np.arange(8), listed_coef=np.zeros(8),
        listed_intercept=np.zeros(1),
    )  # fmt: skip
    assert np.isinf(verify(forged, X, y).alternatives.threshold)
    monkeypatch.setattr(listing, "LOOKS", 0)
    monkeypatch.setattr(listing, "LOOKS_PER_NODE", 0)
    proved = verify(forged, X, y)
    assert 0 < proved.lower_bound <= proved.alternatives.threshold < proved.objective


def test_a_long_list_with_subsets_is_proved():
    """Thousands of sets; with costs some leaves are only subsets of listed sets."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 15))
    y = np.where(X[:, :4].sum(axis=1) + rng.normal(size=30) > 0, 1.0, -1.0)
    problem = Problem(
        X, y, max_features=8, feature_costs=rng.uniform(1, 3, 15), max_cost=13.0
    )
    found = near_optimal(problem, tolerance=6.0, certificate=True)
    assert found.complete
    assert len(found) > 1000
    proved = verify(found.certificate, X, y)
    assert proved.alternatives.threshold >= found.threshold


@pytest.mark.parametrize("seed", range(60))
def test_random_trees_prove_the_bound_of_the_definition(seed):
    """The threshold, compared with all supports of all leaves and fixings."""
    tree = RandomTree(seed)
    rng = np.random.default_rng(seed)
    candidates = [
        (*tree.include.tolist(), *extra)
        for size in range(tree.max_features - tree.include.size + 1)
        for extra in combinations(sorted(set(range(tree.n)) - {*tree.include.tolist()}
                                         - {*tree.exclude.tolist()}), size)
        if tree._spent(list({*tree.include.tolist(), *extra})) >= 0
    ]  # fmt: skip
    chosen = [c for c in candidates if rng.random() < 0.4]
    chosen = sorted({tuple(sorted(c)) for c in chosen})
    arrays = tree.certificate()
    entries = [j for one in chosen for j in one]
    with_list = sealed(
        arrays, threshold=np.array(0.0),
        listed_start=np.cumsum([0, *map(len, chosen)]),
        listed_feature=np.array(entries, dtype=np.int64),
        listed_coef=np.zeros(len(entries)), listed_intercept=np.zeros(len(chosen)),
    )  # fmt: skip
    plain, found = (verify(one, tree.X, tree.y) for one in (arrays, with_list))
    assert found.lower_bound == plain.lower_bound
    assert found.alternatives.threshold >= plain.lower_bound
    if not chosen:
        assert found.alternatives.threshold == plain.lower_bound
    # No support that is missing has a smaller optimum.
    problem = Problem(
        tree.X, tree.y, max_features=tree.max_features, feature_costs=tree.costs,
        max_cost=None if np.isinf(tree.max_cost) else tree.max_cost,
        include=tree.include, exclude=tree.exclude, fit_intercept=tree.intercept,
    )  # fmt: skip
    for support, value in Enumeration(problem).values.items():
        if not any({*support} <= {*one} for one in chosen):
            assert value >= found.alternatives.threshold * (1 - 1e-9)


def test_verification_without_a_list_has_no_alternatives(proof):
    X, y, _, arrays = proof
    plain = {k: v for k, v in arrays.items() if not k.startswith("listed")}
    del plain["threshold"]
    proved = verify(sealed(plain), X, y)
    assert proved.alternatives is None
    assert "listed" not in str(proved)
    assert "listed" in str(replace(proved, alternatives=verify(
        arrays, X, y).alternatives))  # fmt: skip
