"""Feature groups and signs: what is proved about them, and what is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from frugalsvm import Certificate, InvalidCertificate, verify
from frugalsvm.checker import objective_bound
from frugalsvm.checker.columns import PLAIN, FeatureColumns, in_words
from tests.campaign.layout import packed_points
from tests.checker.forging import dual_points, sealed
from tests.checker.grouped import four_groups, in_order, random_grouped, signed_svm

# Relative accuracy of Clarabel's values.
CLOSE = 1e-7


@pytest.fixture(scope="module")
def problem():
    return four_groups()


@pytest.fixture(scope="module")
def arrays(problem):
    return problem.certificate()


def check(arrays, problem, **expected):
    return verify(arrays, problem.X, problem.y, **expected)


# --- proofs against enumeration ------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_the_optimum_over_all_supports_is_proved(seed):
    problem = random_grouped(seed)
    proved = check(problem.certificate(), problem, **problem.expected())
    np.testing.assert_allclose(proved.lower_bound, problem.optimum, rtol=CLOSE)
    np.testing.assert_allclose(proved.objective, problem.optimum, rtol=CLOSE)
    assert proved.lower_bound <= problem.optimum * (1 + 1e-9)
    np.testing.assert_array_equal(proved.selected, problem.best)
    used = proved.problem.columns.of(proved.selected)
    np.testing.assert_array_equal(used, problem.columns(problem.best))


@pytest.mark.parametrize("seed", range(40))
def test_no_dual_point_proves_too_much(seed):
    """Whatever the points are, claims below the optimum of the problem only."""
    problem = random_grouped(seed)
    rng = np.random.default_rng(seed)
    arrays = problem.certificate(lower_bound=np.array(-1e300))
    honest = dual_points(arrays)
    for size in (1e-9, 1e-2, 1.0, 10.0):
        alphas = honest * (1 + size * rng.uniform(-1, 1, honest.shape))
        proved = check(sealed(arrays, **packed_points(alphas, problem.C)), problem)
        assert proved.lower_bound <= problem.optimum * (1 + 1e-9)


def test_enough_of_these_problems_have_groups_and_signs():
    problems = [random_grouped(seed) for seed in range(40)]
    binding = [
        p.signs.any() and replace(p, signs=0 * p.signs).optimum < 0.999 * p.optimum
        for p in problems
    ]
    assert sum(binding) > 10
    assert sum(p.n_features < p.groups.size for p in problems) > 30
    assert sum(np.isfinite(p.max_cost) for p in problems) > 5
    assert sum(p.include.size for p in problems) > 5


def test_signs_that_admit_nothing_leave_a_constant(problem):
    """No feature helps, so that the model without any is optimal."""
    X = problem.y[:, None] * np.ones(7) + 0.1 * problem.X
    nothing = replace(problem, X=X, signs=np.full(7, -1), intercept=False)
    proved = check(nothing.certificate(), nothing, **nothing.expected())
    assert proved.lower_bound == pytest.approx(30.0, rel=1e-7)
    assert not nothing.certificate()["coef"].any()


def test_groups_alone_and_signs_alone(problem):
    alone = replace(problem, signs=0 * problem.signs)
    arrays = {k: v for k, v in alone.certificate().items() if k != "signs"}
    proved = check(sealed(arrays), alone, **alone.expected())
    assert proved.lower_bound == pytest.approx(alone.optimum, rel=CLOSE)
    check(sealed(arrays), alone, signs=None)
    single = replace(problem, groups=np.arange(7), costs=np.ones(7), max_features=3)
    arrays = {k: v for k, v in single.certificate().items() if k != "groups"}
    proved = check(sealed(arrays), single, **single.expected())
    assert proved.lower_bound == pytest.approx(single.optimum, rel=CLOSE)
    check(sealed(arrays), single, feature_groups=None)
    check(sealed(arrays), single, feature_groups=list("abcdefg"))


def test_sections_that_say_nothing_change_nothing(problem):
    plain = replace(
        problem, groups=np.arange(7), costs=np.ones(7), signs=0 * problem.signs
    )
    arrays = plain.certificate()
    without = {k: v for k, v in arrays.items() if k not in ("groups", "signs")}
    one, other = (check(sealed(some), plain) for some in (arrays, without))
    assert one.lower_bound == other.lower_bound
    assert str(one) == str(other)
    assert "at most 2 of 7 features, C" in str(one)


@pytest.mark.parametrize("make", [np.asfortranarray, sp.csr_array])
def test_large_tables_are_read_in_blocks(problem, make, blockwise):
    # Each sign keeps a weight at zero.
    problem = replace(problem, signs=np.array([0, 0, 1, 0, 0, 1, 0]))
    arrays = problem.certificate()
    whole = check(arrays, problem)
    blockwise(70)
    proved = verify(arrays, make(problem.X), problem.y, **problem.expected())
    np.testing.assert_allclose(proved.lower_bound, whole.lower_bound, rtol=1e-12)
    assert proved.objective == whole.objective


def test_a_useless_column_does_not_make_its_feature_useless(problem):
    X = problem.X.copy()
    X[:, [0, 2]] = 3.0
    constant = replace(problem, X=X)
    proved = check(constant.certificate(), constant, **constant.expected())
    assert proved.lower_bound == pytest.approx(constant.optimum, rel=CLOSE)
    # Feature 1 is column 2 alone: not worth a leaf. Feature 0 has others.
    for feature, is_free in ((0, True), (1, False)):
        split = dict(constant.certificate(lower_bound=np.array(-1e300)))
        for name, value in {
            "parent": [-1, 0, 0], "feature": [-1, feature, feature],
            "inside": [True, True, False], "point": [-1, 0, 0], "price": [0.0] * 3,
            "fixing_point": [-1] * 3, "fixing_price": [0.0] * 3,
            "fixing_start": [0] * 4,
        }.items():  # fmt: skip
            split[name] = np.array(value)
        if is_free:
            assert check(sealed(split), constant).n_leaves == 2
        else:
            with pytest.raises(InvalidCertificate, match="already decided"):
                check(sealed(split), constant)


def test_files_keep_the_sections(problem, arrays, tmp_path):
    path = tmp_path / "proof.npz"
    Certificate(arrays).save(path)
    proved = verify(path, problem.X, problem.y, **problem.expected())
    assert proved.lower_bound == check(arrays, problem).lower_bound
    np.testing.assert_array_equal(proved.problem.columns.groups, problem.groups)
    np.testing.assert_array_equal(proved.problem.columns.signs, problem.signs)


def test_scales_are_those_of_columns(problem, arrays):
    mean, scale = np.arange(7.0), np.arange(1.0, 8.0)
    raw = problem.X * scale + mean
    scaled = replace(problem, X=(raw - mean) / scale)
    proof = Certificate(scaled.certificate()).with_scaling(mean, scale)
    assert verify(
        proof, raw, problem.y, scaling=(mean, scale)
    ).lower_bound == pytest.approx(scaled.optimum)


# --- what is printed and expected ----------------------------------------------------


def test_groups_and_signs_are_printed(problem, arrays):
    assert str(check(arrays, problem)).endswith(
        "for: 30 samples, at most 2 of 4 feature groups of 7 columns, C = 1, "
        "intercept, feature groups 0 (columns 0, 1, 3), 2 (4, 5), weights of columns "
        "0, 2 not negative, weight of column 5 not positive"
    )
    forced = replace(problem, include=np.array([2]), exclude=np.array([0, 3]))
    text = str(check(forced.certificate(), forced))
    assert "with feature 2 (columns 4, 5), without features 0, 3 (columns " in text
    assert "(columns 0, 1, 3, 6)" in text
    mixed = replace(problem, include=np.array([0, 1]))
    proved = check(mixed.certificate(), mixed)
    assert "with features 0, 1 (columns 0 to 3)" in str(proved)
    np.testing.assert_array_equal(proved.selected_columns, [0, 1, 2, 3])


def test_long_lists_are_cut():
    groups = FeatureColumns(np.repeat(np.arange(12), 3))
    (words,) = groups.groups_in_words()
    assert words.startswith("feature groups 0 (columns 0 to 2), 1 (3 to 5), 2 (6 to 8)")
    assert words.endswith("7 (21 to 23) and 4 more")
    (words,) = FeatureColumns(np.repeat(np.arange(8), 2)).groups_in_words()
    assert words.endswith(", 7 (14, 15)")
    (words,) = FeatureColumns(np.array([0, 1, 0])).groups_in_words()
    assert words == "feature group 0 (columns 0, 2)"
    assert FeatureColumns(np.arange(3)).groups_in_words() == []
    assert PLAIN.groups_in_words() == PLAIN.signs_in_words() == []
    assert in_words(np.array([1, 2, 3, 7])) == "1 to 3, 7"
    assert in_words(np.array([1, 2, 4])) == "1, 2, 4"
    assert in_words(np.arange(0, 40, 2)) == "0, 2, 4, 6, 8, 10, 12, 14 and 12 more"
    signs = FeatureColumns(None, np.array([1, 0, -1, -1, -1, 0]))
    assert signs.signs_in_words() == [
        "weight of column 0 not negative", "weights of columns 2 to 4 not positive"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (
            {"feature_groups": None},
            "columns 0 and 1 are one feature in it, expected two",
        ),
        (
            {"feature_groups": [0, 0, 1, 2, 3, 3, 4]},
            "columns 0 and 3 are one feature in it, expected two",
        ),
        (
            {"feature_groups": list("aababbb")},
            "columns 2 and 4 are two features in it, expected one",
        ),
        (
            {"feature_groups": [0, 0, 1, 0, 2, 3, 2]},
            "columns 4 and 5 are one feature in it, expected two",
        ),
        ({"signs": None}, "column 0 is not negative in it, expected free"),
        (
            {"signs": [1, 0, 1, 0, 0, 0, 0]},
            "column 5 is not positive in it, expected free",
        ),
        (
            {"signs": [1, 0, 1, 0, 0, 1, 0]},
            "column 5 is not positive in it, expected not negative",
        ),
        (
            {"signs": [1, 0, 1, -1, 0, -1, 0]},
            "column 3 is free in it, expected not positive",
        ),
    ],
)
def test_another_problem_is_named(problem, arrays, expected, words):
    check(arrays, problem, **problem.expected())
    with pytest.raises(InvalidCertificate, match=f"for another problem: .*{words}"):
        check(arrays, problem, **expected)


def test_labels_of_groups_are_free(problem, arrays):
    for labels in (
        problem.groups, 9 - problem.groups, np.array(list("xxyxzzw")), [*"xxyxzzw"],
    ):  # fmt: skip
        check(arrays, problem, feature_groups=labels)


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"feature_groups": [0, 0, 1]}, r"one label per column of X \(7\)"),
        ({"feature_groups": {"a": [0, 1]}}, r"got dict of shape \(\)"),
        ({"signs": [1, 0, 1]}, r"for each column of X \(7\)"),
        ({"signs": {0: "+"}}, "got dict"),
        ({"signs": [2, 0, 1, 0, 0, -1, 0]}, "must be -1, 0 or 1"),
        ({"signs": ["+"] * 7}, "must be -1, 0 or 1"),
    ],
)
def test_wrong_arguments_are_errors_of_the_user(problem, arrays, expected, words):
    with pytest.raises(ValueError, match=words) as caught:
        check(arrays, problem, **expected)
    assert not isinstance(caught.value, InvalidCertificate)


# --- forgeries -----------------------------------------------------------------------

BAD_GROUPS = {
    "too large": ([0, 0, 1, 0, 2, 2, 4], "numbers other than 0 to 3"),
    "much too large": ([0, 0, 1, 0, 2, 2, 2**62], "numbers other than 0 to 3"),
    "negative": ([0, 0, 1, 0, 2, 2, -1], "numbers other than 0 to 3"),
    "very negative": ([0, 0, 1, 0, 2, -(2**62), 3], "numbers other than 0 to 3"),
    "empty": ([0, 0, 1, 0, 1, 1, 2], "1 of 4 features have no column"),
    "all in one": ([0, 0, 0, 0, 0, 0, 0], "3 of 4 features have no column"),
    "split": ([0, 0, 1, 2, 3, 3, 4], "numbers other than 0 to 3"),
    "other order": ([1, 1, 0, 1, 2, 2, 3], "order of their first columns"),
    "last first": ([0, 0, 1, 0, 3, 3, 2], "order of their first columns"),
}


@pytest.mark.parametrize("kind", BAD_GROUPS)
def test_every_check_of_groups(problem, arrays, kind):
    groups, words = BAD_GROUPS[kind]
    with pytest.raises(InvalidCertificate, match=words):
        check(sealed(arrays, groups=np.array(groups)), problem)


@pytest.mark.parametrize("sign", [2, -2, 3, 2**62, -(2**63)])
def test_signs_are_signs(problem, arrays, sign):
    signs = problem.signs.copy()
    signs[1] = sign
    with pytest.raises(InvalidCertificate, match="signs are not all -1, 0 or 1"):
        check(sealed(arrays, signs=signs), problem)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"groups": np.zeros(6, dtype=int)}, r"of shape \(30, 6\), not \(30, 7\)"),
        ({"groups": np.zeros(8, dtype=int)}, r"of shape \(30, 8\), not \(30, 7\)"),
        ({"groups": np.zeros(3, dtype=int)}, r"of shape \(30, 3\), not \(30, 7\)"),
        ({"signs": np.zeros(6, dtype=int)}, "signs has the wrong length"),
        ({"groups": np.zeros(7)}, "groups has dtype float64"),
        ({"signs": np.zeros(7)}, "signs has dtype float64"),
        ({"signs": np.zeros((7, 1), dtype=int)}, r"and 2 dimension\(s\)"),
        ({"groups": np.array(0)}, r"and 0 dimension\(s\)"),
        ({"format": np.array(2)}, "unknown format 2"),
        ({"classes": np.zeros(7)}, "unknown or repeated entries"),
    ],
)
def test_the_form_of_the_sections(problem, arrays, changes, words):
    with pytest.raises(InvalidCertificate, match=words):
        check(sealed(arrays, **changes), problem)


@pytest.mark.parametrize("name", ["groups", "signs"])
def test_a_file_may_have_one_section(problem, name):
    single = replace(
        problem, groups=np.arange(7), costs=np.ones(7), signs=0 * problem.signs
    )
    arrays = {k: v for k, v in single.certificate().items() if k != name}
    check(sealed(arrays), single)


def test_without_its_groups_a_proof_is_for_other_data(problem, arrays):
    less = {k: v for k, v in arrays.items() if k != "groups"}
    with pytest.raises(InvalidCertificate, match=r"of shape \(30, 4\), not"):
        check(sealed(less), problem)


def forged(problem, arrays, support, coef, intercept, **changes):
    """Another solution with the objective that it has."""
    columns = problem.columns(support)
    rows = (problem.X[:, columns] * problem.y[:, None]).T
    value = objective_bound(rows, problem.y, problem.C, coef, intercept)
    return sealed(
        arrays, selected=np.array(support), coef=coef, intercept=np.array(intercept),
        objective=np.array(value), **changes,
    )  # fmt: skip


def poor(arrays, **changes):
    """A solution without features, which leaves room for wrong bounds."""
    return sealed(
        arrays, selected=np.empty(0, dtype=int), coef=np.empty(0),
        intercept=np.array(0.0), objective=np.array(30.0), **changes,
    )  # fmt: skip


@pytest.mark.parametrize("at", range(5))
def test_a_weight_of_the_wrong_sign_is_refused(problem, arrays, at):
    """Feature 0 is columns 0, 1 and 3, feature 2 is columns 4 and 5."""
    coef, intercept = arrays["coef"].copy(), float(arrays["intercept"])
    assert coef.all()
    coef[at] *= -1
    proof = forged(problem, arrays, problem.best, coef, intercept)
    words = {
        0: "the weight of column 0 is negative, but must not be",
        4: "the weight of column 5 is positive, but must not be",
    }
    if at in words:
        with pytest.raises(InvalidCertificate, match=words[at]):
            check(proof, problem)
        coef[at] = -0.0
        proof = forged(problem, arrays, problem.best, coef, intercept)
        assert check(proof, problem).objective > problem.optimum
    else:
        assert check(proof, problem).objective > problem.optimum


def test_the_tiniest_weight_of_the_wrong_sign_is_refused(problem, arrays):
    coef = arrays["coef"].copy()
    for value, is_wrong in ((-5e-324, True), (0.0, False), (5e-324, False)):
        coef[0] = value
        proof = forged(problem, arrays, problem.best, coef, 0.0)
        if is_wrong:
            with pytest.raises(
                InvalidCertificate, match="is negative, but must not be"
            ):
                check(proof, problem)
        else:
            check(proof, problem)


def test_more_groups_than_the_budget_are_refused(problem, arrays):
    found = problem.solution((0, 2, 3))
    with pytest.raises(InvalidCertificate, match="uses too many features"):
        check(sealed(arrays, **found), problem)
    # Even if no weight outside of two groups is nonzero.
    coef = np.append(arrays["coef"], 0.0)
    with pytest.raises(InvalidCertificate, match="uses too many features"):
        check(
            forged(problem, arrays, (0, 2, 3), coef, float(arrays["intercept"])),
            problem,
        )


@pytest.mark.parametrize("size", [0, 2, 4, 6, 7])
def test_every_column_of_a_group_has_a_weight(problem, arrays, size):
    with pytest.raises(InvalidCertificate, match="coef does not have one weight for"):
        check(sealed(arrays, coef=np.zeros(size)), problem)


def test_a_wrong_group_map_is_refused(problem, arrays):
    """FeatureColumns 3 and 6 change places."""
    groups = np.array([0, 0, 1, 2, 3, 3, 0])
    wrong = in_order(groups)
    with pytest.raises(InvalidCertificate, match=r"claimed, but|coef does not have"):
        check(sealed(arrays, groups=wrong), problem)
    # It proves what it says, and no more: this is another problem.
    proof = poor(arrays, groups=wrong, lower_bound=np.array(0.0))
    other = replace(problem, groups=wrong)
    assert check(proof, problem).lower_bound <= other.optimum * (1 + 1e-9)
    with pytest.raises(InvalidCertificate, match="for another problem: columns 0 and"):
        check(proof, problem, feature_groups=problem.groups)


def test_a_group_split_in_two_is_refused(problem, arrays):
    """With more and smaller groups, the same dual points prove more."""
    split = replace(problem, groups=np.array([0, 1, 2, 1, 3, 3, 4]), costs=np.ones(5))
    assert split.optimum > 1.05 * problem.optimum
    proof = split.certificate()
    assert check(proof, split, **split.expected()).lower_bound > problem.optimum
    with pytest.raises(
        InvalidCertificate, match="columns 0 and 1 are two features in it, expected one"
    ):
        check(proof, problem, feature_groups=problem.groups)
    # The groups of the problem, with the proof of the other one.
    claims = {"groups": problem.groups, "costs": np.ones(4)}
    for change in (claims, claims | {"lower_bound": np.array(0.0)}):
        with pytest.raises(InvalidCertificate):
            check(sealed(proof, **change), problem)
    # Its solution has too many features of the split problem.
    halves = sealed(
        arrays, groups=split.groups, costs=np.ones(5), selected=np.array([0, 1, 3])
    )
    with pytest.raises(InvalidCertificate, match="uses too many features"):
        check(halves, problem)


def test_flipped_signs_are_refused(problem, arrays):
    with pytest.raises(
        InvalidCertificate, match="column 0 is positive, but must not be"
    ):
        check(sealed(arrays, signs=-problem.signs), problem)
    proof = poor(arrays, signs=-problem.signs, lower_bound=np.array(0.0))
    other = replace(problem, signs=-problem.signs)
    assert check(proof, problem).lower_bound <= other.optimum * (1 + 1e-9)
    with pytest.raises(InvalidCertificate, match="not positive in it, expected not"):
        check(proof, problem, signs=problem.signs)


def test_a_sign_that_is_removed_proves_less(problem):
    """One that matters: without it, the weight would have the other sign."""
    strict = replace(problem, signs=np.array([0, 0, 1, 0, 0, 1, 0]))
    arrays = strict.certificate()
    check(arrays, strict, **strict.expected())
    signs = np.array([0, 0, 1, 0, 0, 0, 0])
    free = replace(strict, signs=signs)
    assert free.optimum < 0.99 * strict.optimum
    for less in (
        sealed(arrays, signs=signs),
        sealed({k: v for k, v in arrays.items() if k != "signs"}),
    ):
        with pytest.raises(InvalidCertificate, match=r"lower_bound .* but only"):
            check(less, problem)
        little = sealed(less, lower_bound=np.array(0.0))
        assert check(little, problem).lower_bound <= free.optimum * (1 + 1e-9)
        with pytest.raises(InvalidCertificate, match="free in it, expected"):
            check(little, problem, signs=strict.signs)


def test_features_are_groups_in_every_field(problem, arrays):
    """Numbers of columns beyond those of groups are out of range."""
    for name in ("include", "exclude", "selected"):
        with pytest.raises(InvalidCertificate, match=f"bad features in {name}"):
            check(sealed(arrays, **{name: np.array([0, 4])}), problem)
    feature = arrays["feature"].copy()
    feature[1:] = np.where(feature[1:] == feature[1], 5, feature[1:])
    with pytest.raises(InvalidCertificate, match="split on a feature"):
        check(sealed(arrays, feature=feature), problem)
    with pytest.raises(InvalidCertificate, match="1 of 5 features have no column"):
        check(sealed(arrays, costs=np.ones(5)), problem)


# --- lists and refits ----------------------------------------------------------------


def with_list(problem, arrays, supports, threshold):
    each = [problem.solution(support) for support in supports]
    return sealed(
        arrays, threshold=np.array(threshold),
        listed_start=np.cumsum([0, *map(len, supports)]),
        listed_feature=np.array([g for s in supports for g in s], dtype=int),
        listed_coef=np.concatenate([np.empty(0), *(one["coef"] for one in each)]),
        listed_intercept=np.array([float(one["intercept"]) for one in each]),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_lists_of_groups_are_complete(seed):
    problem = random_grouped(seed)
    order = sorted(problem.values, key=problem.values.get)
    largest = [
        s for s in order
        if not any({*s} < {*other} for other in order)
    ]  # fmt: skip
    for n_listed in range(len(largest)):
        supports = largest[:n_listed]
        rest = [
            problem.values[s] for s in order
            if not any({*s} <= {*one} for one in supports)
        ]  # fmt: skip
        arrays = with_list(problem, problem.certificate(), supports, -1e300)
        proved = check(arrays, problem).alternatives
        assert proved.threshold <= min(rest) * (1 + 1e-9)
        np.testing.assert_allclose(proved.threshold, min(rest), rtol=CLOSE)
        values = [problem.values[s] for s in supports]
        np.testing.assert_allclose(proved.objectives, values, rtol=CLOSE)
        assert [tuple(one.tolist()) for one in proved.supports] == supports


def test_forged_lists_are_refused(problem, arrays):
    supports = [problem.best, (1, 2), (0, 3)]
    honest = with_list(problem, arrays, supports, -1e300)
    check(honest, problem)
    coef = honest["listed_coef"]
    for other in (coef[1:], np.append(coef, 0.0)):
        with pytest.raises(InvalidCertificate, match="listed_coef does not have"):
            check(sealed(honest, listed_coef=other), problem)
    wrong = coef.copy()
    wrong[0] *= -1
    with pytest.raises(
        InvalidCertificate, match="column 0 is negative, but must not be"
    ):
        check(sealed(honest, listed_coef=wrong), problem)
    feature = honest["listed_feature"].copy()
    feature[-1] = 4
    with pytest.raises(InvalidCertificate, match="bad features in the list"):
        check(sealed(honest, listed_feature=feature), problem)
    three = with_list(problem, arrays, [(0, 2, 3)], -1e300)
    with pytest.raises(InvalidCertificate, match="uses too many features"):
        check(three, problem)


def refit(problem, arrays, C, **changes):
    """The certificate with weights for another C, by Clarabel."""
    support = np.union1d(arrays["selected"], problem.include).astype(int)
    columns = problem.columns(support)
    weights = C * problem.C
    X, y, signs = problem.X[:, columns], problem.y, problem.signs[columns]
    svm = signed_svm(X, y, weights, signs, problem.intercept)
    value = objective_bound((X * y[:, None]).T, y, weights, svm.w, svm.b)
    arguments = {
        "weights": weights, "coef": svm.w, "intercept": svm.b, "objective": value,
        "lower_bound": svm.value * (1 - 1e-6), "alpha": svm.alpha,
    }  # fmt: skip
    return svm.value, Certificate(arrays).with_refit(**(arguments | changes))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_refits_obey_the_signs(seed, C):
    problem = random_grouped(seed)
    value, proof = refit(problem, problem.certificate(), C)
    proved = check(proof, problem, refit_C=C, **problem.expected()).refit
    np.testing.assert_allclose(proved.objective, value, rtol=CLOSE)
    np.testing.assert_allclose(proved.lower_bound, value, rtol=CLOSE)
    assert proved.lower_bound <= value * (1 + 1e-9)


def test_forged_refits_are_refused(problem, arrays):
    _, proof = refit(problem, arrays, 3.0)
    honest = dict(proof.arrays)
    check(honest, problem)
    coef = honest["refit_coef"]
    with pytest.raises(InvalidCertificate, match="another length"):
        check(sealed(honest, refit_coef=coef[:2]), problem)
    with pytest.raises(InvalidCertificate, match="is negative, but must"):
        check(sealed(honest, refit_coef=-coef), problem)
    strict = replace(problem, signs=np.array([0, 0, 1, 0, 0, 1, 0]))
    best = replace(strict, include=np.array([0, 2]))
    _, proof = refit(best, best.certificate(), 3.0)
    freed = sealed(proof.arrays, signs=0 * problem.signs, lower_bound=np.array(0.0))
    with pytest.raises(InvalidCertificate, match=r"refit_lower_bound .* only"):
        check(freed, problem)


# --- columns -------------------------------------------------------------------------


def test_columns_of_features():
    columns = FeatureColumns(np.array([0, 1, 0, 2, 1, 1]))
    for features, wanted in (
        ([0], [0, 2]), ([1], [1, 4, 5]), ([2, 0], [3, 0, 2]), ([], []),
        ([0, 1, 2], [0, 2, 1, 4, 5, 3]),
    ):  # fmt: skip
        some = np.array(features, dtype=np.int64)
        np.testing.assert_array_equal(columns.of(some), wanted)
        np.testing.assert_array_equal(PLAIN.of(some), features)
        assert columns.count(some).sum() == len(wanted)
        assert PLAIN.count(some).sum() == len(features)
    marks = np.array([True, False, False, False, False, True])
    np.testing.assert_array_equal(columns.any(marks), [True, True, False])
    np.testing.assert_array_equal(PLAIN.any(marks), marks)


def test_sums_are_rounded_up_and_close():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 60))
        groups = in_order(rng.integers(0, max(1, n // 4), n))
        squares = rng.random(n) * 10.0 ** rng.uniform(-20, 20, n)
        squares[rng.random(n) < 0.2] = 0.0
        sums = FeatureColumns(groups).sums(squares)
        for g, value in enumerate(sums.tolist()):
            truth = sum(map(Fraction, squares[groups == g].tolist()))
            size = int((groups == g).sum())
            assert truth <= Fraction(value)
            assert Fraction(value) <= truth * (1 + Fraction(4 * (size + 9), 2**53))
    np.testing.assert_array_equal(PLAIN.sums(squares), squares)
    np.testing.assert_array_equal(FeatureColumns(np.arange(n)).sums(squares), squares)
    assert FeatureColumns(groups[:0]).sums(squares[:0]).size == 0
    pair = FeatureColumns(np.zeros(2, dtype=int))
    assert np.isnan(pair.sums(np.array([1.0, np.nan]))).all()


def test_long_sums_are_rounded_up():
    """Naive summation of many equal numbers loses the most."""
    n = 3 * 10**5
    squares = np.full(n, 1.0 + 2.0**-52)
    squares[0] = 2.0**52
    (value,) = FeatureColumns(np.zeros(n, dtype=np.int64)).sums(squares)
    truth = 2**52 + (n - 1) * (1 + Fraction(1, 2**52))
    assert truth <= Fraction(float(value))
