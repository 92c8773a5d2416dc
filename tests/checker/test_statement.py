"""The problem of a proof is printed, and compared with the user's parameters."""

import hashlib
import struct

import numpy as np
import pytest
import scipy.sparse as sp

from frugalsvm import FrugalSVC, InvalidCertificate, verify
from frugalsvm.checker import (
    SparseColumns,
    Verification,
    checksum,
    fingerprint,
    statement,
)
from frugalsvm.checker.statement import COSTS, LARGEST_VALUE, WEIGHTS, check_data
from tests.checker.forging import single_root
from tests.reference import random_data


@pytest.fixture(scope="module")
def data():
    return random_data(np.random.default_rng(5), 40, 8)


def fitted(data, **parameters):
    clf = FrugalSVC(certificate=True, random_state=0, **parameters).fit(*data)
    return clf.result_.certificate


def test_the_problem_is_printed(data):
    text = str(verify(fitted(data, max_features=3, C=0.5), *data))
    assert text.startswith("proved: ")
    assert text.endswith("for: 40 samples, at most 3 of 8 features, C = 0.5, intercept")


def test_excluded_features_are_printed(data):
    proof = fitted(
        data, max_features=3, exclude=[1, 2, 4], include=[0], fit_intercept=False,
        feature_costs=np.arange(1.0, 9.0), max_cost=9.0, class_weight={1.0: 2.0},
    )  # fmt: skip
    checked = verify(proof, *data)
    assert str(checked).endswith(
        "C times sample weights 1 to 2, no intercept, costs 1 to 8, at most 9 in "
        "total, with feature 0, without features 1, 2, 4"
    )
    np.testing.assert_array_equal(checked.problem.exclude, [1, 2, 4])
    assert checked.problem.max_cost == 9.0
    assert not checked.problem.fit_intercept


def test_parameters_have_the_same_meaning_as_in_a_fit(data):
    proof = fitted(data, max_features=10, include=[5, 1])
    for same in (
        {"max_features": 10}, {"max_features": 8}, {"max_features": None},
        {"include": [5, 1]}, {"include": [1, 5]}, {"exclude": ()}, {"max_cost": None},
        {"costs": None}, {"costs": np.ones(8)}, {"C": 1}, {"sample_weight": None},
        {"sample_weight": np.ones(40)}, {"fit_intercept": True},
    ):  # fmt: skip
        verify(proof, *data, **same)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"C": 2.0}, "another problem: C is 1, not 2"),
        (
            {"sample_weight": np.arange(1.0, 41.0)},
            "another problem: C is 1, no multiple of sample_weight, which makes ",
        ),
        ({"max_features": 4}, "another problem: max_features is 3, not 4"),
        ({"max_features": None}, "another problem: max_features is 3"),
        ({"include": [1]}, "another problem: include is "),
        ({"exclude": [0]}, "another problem: exclude is "),
        ({"max_cost": None}, "another problem: max_cost is 20"),
        ({"costs": None}, "another problem: costs is "),
        ({"costs": np.ones(8)}, "another problem: costs is "),
        ({"fit_intercept": False}, "another problem: fit_intercept is True, not False"),
    ],
)
def test_another_problem_is_named(data, other, words):
    costs = np.arange(1.0, 9.0)
    proof = fitted(data, max_features=3, feature_costs=costs, max_cost=20.0)
    verify(proof, *data, costs=costs, max_cost=20.0, max_features=3)
    with pytest.raises(InvalidCertificate, match=words):
        verify(proof, *data, **other)


def test_features_whose_differences_overflow_do_not_rise(data):
    X = np.hstack([data[0], data[0]])
    arrays = dict(fitted((X, data[1]), max_features=3).arrays)
    arrays["exclude"] = np.array([0, 2**62, -(2**63) + 2, 1])
    arrays["checksum"] = np.array(checksum(arrays))
    with pytest.raises(InvalidCertificate, match="bad features in exclude"):
        verify(arrays, X, data[1])


def test_numbers_are_printed_with_all_digits(data):
    proof = fitted(data, feature_costs=np.ones(8), max_cost=2.9999999, C=1.0000004)
    text = str(verify(proof, *data))
    assert "C = 1.0000004," in text
    assert "at most 2.9999999 in total" in text


def test_masked_data_are_rejected(data):
    X, y = data
    proof = fitted(data, max_features=3)
    with pytest.raises(ValueError, match="masked"):
        verify(proof, np.ma.masked_less(X, -5), y)


# --- each check of the problem ------------------------------------------------------


def root(data, **changes):
    X, y = data
    return single_root(X, y, np.full(40, 1e-60), **changes)


def spoiled(array, value):
    array = np.array(array, dtype=float)
    array[1] = value
    return array


INTEGERS = {
    "out of order": [2, 1],
    "twice": [1, 1],
    "negative": [-1, 2],
    "too large": [1, 8],
    "much too large": [1, 10],
    "very negative": [-3, 2],
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weights": spoiled(np.ones(40), WEIGHTS[0] / 2)}, "bad weights"),
        ({"weights": spoiled(np.ones(40), WEIGHTS[1] * 2)}, "bad weights"),
        ({"weights": spoiled(np.ones(40), -1.0)}, "bad weights"),
        ({"costs": spoiled(np.ones(8), COSTS[0] / 2)}, "bad costs"),
        ({"costs": spoiled(np.ones(8), COSTS[1] * 2)}, "bad costs"),
        ({"costs": spoiled(np.ones(8), 0.0)}, "bad costs"),
        ({"max_cost": np.array(-1e-9)}, "bad max_cost"),
        ({"max_cost": np.array(np.nan)}, "bad max_cost"),
        ({"max_features": np.array(-1)}, "bad max_features"),
        ({"max_features": np.array(-2)}, "bad max_features"),
        (
            {"include": np.array([1, 3]), "exclude": np.array([3, 4])},
            "include and exclude overlap",
        ),
    ]
    + [
        ({name: np.array(features)}, f"bad features in {name}")
        for name in ("include", "exclude")
        for features in INTEGERS.values()
    ]
    + [
        (
            {"selected": np.array(features), "coef": np.zeros(2)},
            "bad features in selected",
        )
        for features in INTEGERS.values()
    ],
)
def test_every_check_of_a_problem(data, changes, words):
    with pytest.raises(InvalidCertificate, match=words):
        verify(root(data, **changes), *data)


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": np.full(40, WEIGHTS[0]), "objective": np.array(4e-29)},
        {"weights": np.full(40, WEIGHTS[1]), "objective": np.array(4e31)},
        {"costs": spoiled(np.ones(8), COSTS[0])},
        {"costs": spoiled(np.ones(8), COSTS[1])},
        {"max_cost": np.array(0.0)},
        {"max_features": np.array(0)},
        {"include": np.array([0, 7]), "exclude": np.array([1])},
        {"include": np.array([1]), "exclude": np.array([0, 7])},
        {"selected": np.array([0, 7]), "coef": np.zeros(2)},
    ],
)
def test_limits_are_inclusive(data, changes):
    assert verify(root(data, **changes), *data).lower_bound >= 0.0


def test_budgets_above_the_number_of_features_mean_all(data):
    checked = verify(root(data, max_features=np.array(9)), *data)
    assert checked.problem.max_features == 8
    assert checked.problem.n_features == 8
    assert checked.problem.n_samples == 40


def test_long_lists_are_cut(data):
    some, most = np.array([0, 1]), np.arange(2, 8)
    text = str(verify(root(data, include=some, exclude=most), *data))
    assert text.endswith("with features 0, 1, without features 2, 3, 4, 5, 6, 7")
    text = str(verify(root(data, exclude=np.arange(8)), *data))
    assert text.endswith("without features 0, 1, 2, 3, 4, 5, 6, 7")
    wide = np.hstack([data[0], data[0]]), data[1]
    for count, end in ((9, "6, 7 and 1 more"), (16, "6, 7 and 8 more")):
        assert str(verify(root(wide, exclude=np.arange(count)), *wide)).endswith(end)


def test_a_verification_is_a_sentence(data):
    checked = verify(root(data), *data)
    text = str(
        Verification(2.0, 1.5, 0.25, checked.problem, checked.selected, 9, 4321, 1234)
    )
    assert text.startswith(
        "proved: 1.5 <= optimum <= 2 (gap 25 %) by 4,321 leaves and 1,234 fixings\nfor:"
        " 40 samples, at most 8 of 8 features, C = 1, intercept"
    )
    with pytest.raises(AttributeError):
        checked.gap = 0.0
    with pytest.raises(AttributeError):
        checked.problem.max_cost = 0.0


def test_weights_are_printed(data):
    weights = np.ones(40)
    weights[3] = 0.5
    for changed, words in (
        (weights, "40 samples, at most 8 of 8 features, C times sample weights 0.5 to"),
        (
            np.where(weights < 1, 0.0, 2.0),
            "39 of 40 samples, at most 8 of 8 features, C = 2",
        ),
    ):
        kept = changed > 0
        X, y = data
        mark = fingerprint((X[kept] * y[kept, None]).T, y[kept])
        proof = root(
            data, weights=changed, fingerprint=np.array(mark)
        )  # fmt: skip
        assert words in str(verify(proof, *data))
        verify(proof, *data, sample_weight=changed)
        verify(proof, *data, C=2.0, sample_weight=changed / 2)
        # Without C, that of the file.
        verify(proof, *data, sample_weight=changed / 2)
        with pytest.raises(
            InvalidCertificate, match="another problem: C or sample_weight is "
        ):
            verify(proof, *data, C=2.0, sample_weight=changed)
        with pytest.raises(InvalidCertificate, match=r"another problem: C is \[\d"):
            verify(proof, *data, C=1.0)


def test_differences_are_shown_in_short(data):
    costs = np.arange(1.0, 9.0)
    proof = root(data, costs=costs, max_cost=np.array(50.0))
    for other, words in (
        ({"costs": np.ones(8)}, r"costs is \[1, 2, 3, 4, 5, 6, 7, 8\], not 1"),
        ({"costs": None}, r"costs is \[1, 2, 3, 4, 5, 6, 7, 8\], not None"),
        ({"include": [3, 1]}, r"include is \[\], not \[1, 3\]"),
        (
            {"sample_weight": np.arange(40)},
            r"makes \[0, 1, 2, 3, 4, 5, 6, 7 and 32 more",
        ),
        ({"max_features": 3}, r"max_features is 8, not 3"),
        ({"max_cost": 49.0}, r"max_cost is 50, not 49"),
    ):
        with pytest.raises(InvalidCertificate, match=words):
            verify(proof, *data, **other)


def test_data_are_read_as_doubles_and_numbers_of_classes():
    X, classes = check_data([[1, 2], [3, 4], [5, 6]], ["b", "a", "b"])
    assert X.dtype == np.float64
    np.testing.assert_array_equal(classes, [1, 0, 1])
    _, classes = check_data(np.eye(4), [7.0, -1.0, 2.5, 7.0])
    np.testing.assert_array_equal(classes, [2, 0, 1, 2])
    check_data([[LARGEST_VALUE], [-LARGEST_VALUE]], [0, 1])
    for value in (LARGEST_VALUE * (1 + 1e-15), -np.inf, np.nan):
        with pytest.raises(InvalidCertificate, match="beyond 1e"):
            check_data([[value], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([1.0, 2.0], [0, 1], "must be 2D"),
        ([[[1.0]], [[2.0]]], [0, 1], "must be 2D"),
        ([[1.0], [2.0]], [0, 1, 1], "one label per row"),
        ([[1.0], [2.0]], [[0], [1]], "one label per row"),
        ([[1.0], [2.0]], [1, 1], "two classes or more, got 1"),
        ([[1.0], [2.0], [3.0]], [0.0, 1.0, np.nan], "y must not have NaN"),
        ([[1.0], [2.0]], np.ma.masked_equal([0, 1], 5), "masked"),
        (np.ma.masked_equal([[1.0], [2.0]], 5), [0, 1], "masked"),
    ],
)
def test_invalid_data_are_rejected(X, y, words):
    with pytest.raises(ValueError, match=words):
        check_data(X, y)


# --- fingerprints --------------------------------------------------------------------


def defined(X, labels):
    """The fingerprint as it is documented, entry by entry."""
    counts, full, rows, values = (hashlib.sha256() for _ in range(4))
    for column in X.T.tolist():
        entries = [(i, x) for i, x in enumerate(column) if x != 0]
        counts.update(struct.pack("<q", len(entries)))
        if len(entries) > len(column) / 8:
            full.update(struct.pack(f"<{len(column)}d", *[x or 0.0 for x in column]))
            continue
        for i, x in entries:
            rows.update(struct.pack("<q", i))
            values.update(struct.pack("<d", x))
    digest = hashlib.sha256(struct.pack("<q", len(labels)))
    for part in (counts, full, rows, values):
        digest.update(part.digest())
    digest.update(struct.pack(f"<{len(labels)}d", *labels))
    return digest.hexdigest()


@pytest.fixture(scope="module")
def zeros():
    """Data with zeros of both signs, and the same with positive ones only."""
    X, y = random_data(np.random.default_rng(8), 30, 6)
    X = X.astype(np.float32).astype(np.float64)
    X[np.abs(X) < 0.5] = 0.0
    signed = np.where((X == 0) & (np.arange(6) % 2 == 0), -0.0, X)
    assert np.signbit(signed[signed == 0]).any()
    return signed, X, y


def copies(X, folder):
    """Equal tables of all kinds; sparse ones store some of their zeros."""
    np.save(folder / "X.npy", X)
    stored = sp.csc_array(X + 1.0)
    stored.data -= 1.0
    stored.data[stored.data == 0.0] = -0.0
    return {
        "dense": X, "columns": np.asfortranarray(X), "single": X.astype(np.float32),
        "mapped": np.load(folder / "X.npy", mmap_mode="r"),
        "csr": sp.csr_array(X), "csc": sp.csc_matrix(X), "stored zeros": stored,
    }  # fmt: skip


def test_equal_tables_have_equal_fingerprints(zeros, tmp_path, blockwise):
    signed, X, y = zeros
    tables = {**copies(X, tmp_path), "signed zeros": signed}
    proofs = {
        name: FrugalSVC(2, certificate=True, effort="fast").fit(table, y)
        for name, table in tables.items()
    }
    marks = {
        str(one.result_.certificate.arrays["fingerprint"]) for one in proofs.values()
    }
    assert len(marks) == 1
    for is_whole in (True, False):
        if not is_whole:
            blockwise()
        for name, copy in tables.items():
            proof = proofs["dense" if name == "signed zeros" else "signed zeros"]
            verify(proof.result_.certificate, copy, y)


def test_fingerprints_are_what_the_definition_says():
    rng = np.random.default_rng(0)
    for m, n in ((1, 3), (4, 6), (7, 30), (25, 9), (9, 1)):
        X = rng.normal(size=(m, n)) * (rng.random((m, n)) < rng.random(n))
        X[X == 0] = rng.choice([0.0, -0.0], (X == 0).sum())
        y = rng.choice([-1.0, 1.0], m)
        wanted = defined(X, y)
        assert fingerprint(X.T, y) == wanted
        assert fingerprint(np.ascontiguousarray(X.T), y) == wanted
        columns = sp.csc_array(X + 5.0)
        columns.data -= 5.0
        X = columns.toarray()
        parts = SparseColumns(columns.indptr, columns.indices, columns.data)
        assert fingerprint([parts], y) == fingerprint(X.T, y) == defined(X, y)


def test_fingerprints_differ():
    X, y = np.eye(4), np.array([1.0, -1.0, 1.0, -1.0])
    others = [(X.T[::-1], y), (X, -y), (2 * X, y), (X[:3], y), (X[:, :3], y[:3])]
    others.append((np.roll(X, 1, axis=1), y))
    others.append((np.vstack([X, np.zeros(4)]), y))
    assert len({fingerprint(*one) for one in [(X, y), *others]}) == len(others) + 1


def test_fingerprints_take_a_block_at_a_time(monkeypatch):
    rows = np.where(np.arange(60.0).reshape(12, 5) % 3 == 0, -0.0, 1.5)
    rows[::2, :3] = 0.0
    signs = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    whole = fingerprint(rows, signs)
    sizes = []
    add = np.add

    def watched(block, *args, **options):
        sizes.append(block.size)
        return add(block, *args, **options)

    columns = sp.csr_array(rows)
    parts = SparseColumns(columns.indptr, columns.indices, columns.data)
    monkeypatch.setattr(statement, "AT_ONCE", 15)
    monkeypatch.setattr(np, "add", watched)
    assert fingerprint(rows, signs) == whole
    assert fingerprint(np.asfortranarray(rows), signs) == whole
    assert fingerprint(iter([rows[:7], rows[7:]]), signs) == whole
    assert 0 < max(sizes) <= 15
    assert len(list(parts.split(15))) > 1
    assert fingerprint([parts], signs) == whole


def test_sparse_data_are_hashed_as_they_are(monkeypatch, blockwise):
    """Neither the fit nor the check makes them dense for their fingerprint."""
    rng = np.random.default_rng(0)
    X = sp.random(60, 90, density=0.05, format="csc", rng=rng)
    y = np.where(X[:, [3, 50]] @ [1.0, 1.0] > 0, 1, -1)
    rows = []
    add = statement.ColumnDigests._add_dense
    monkeypatch.setattr(
        statement.ColumnDigests, "_add_dense",
        lambda self, block: rows.append(len(block)) or add(self, block),
    )  # fmt: skip
    proof = fitted((X, y), max_features=2)
    assert not rows
    blockwise()
    verify(proof, X, y)
    assert not rows
    verify(proof, X.toarray(), y)
    assert sum(rows) == 90
