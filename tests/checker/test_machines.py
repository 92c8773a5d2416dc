"""Several classes, each against the rest: what is proved, and what is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from frugalsvm import Certificate, InvalidCertificate, verify
from frugalsvm.checker import Statement, save_arrays
from tests.campaign.layout import packed_points
from tests.checker.forging import dual_points, sealed, single_root, with_fixing
from tests.checker.several import plain, random_several, three_classes
from tests.checker.trees import exact, priced_bound

# Relative accuracy of Clarabel's values.
CLOSE = 1e-7
SEEDS = range(40)


@pytest.fixture(scope="module")
def problem():
    return three_classes()


@pytest.fixture(scope="module")
def arrays(problem):
    return plain(problem.certificate())


def check(arrays, problem, **expected):
    return verify(arrays, problem.X, problem.y, **expected)


# --- proofs against enumeration ------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_the_optimum_over_all_supports_is_proved(seed):
    problem = random_several(seed)
    proved = check(problem.certificate(), problem, **problem.expected())
    np.testing.assert_allclose(proved.lower_bound, problem.optimum, rtol=CLOSE)
    np.testing.assert_allclose(proved.objective, problem.optimum, rtol=CLOSE)
    assert proved.lower_bound <= problem.optimum * (1 + 1e-9)
    np.testing.assert_array_equal(proved.selected, problem.best)
    assert proved.problem.n_classes == problem.n_classes


@pytest.mark.parametrize("seed", SEEDS)
def test_no_dual_point_proves_too_much(seed):
    """Points that are infeasible, unbalanced or of other machines: all are repaired."""
    problem = random_several(seed)
    rng = np.random.default_rng(seed)
    arrays = problem.certificate(lower_bound=np.array(-1e300))
    honest, C = dual_points(arrays), np.tile(problem.C, problem.n_classes)
    for size in (1e-9, 1e-2, 1.0, 10.0):
        noise = size * rng.uniform(-1, 1, honest.shape)
        others = rng.permutation(honest.reshape(-1, problem.y.size))
        others = others.reshape(honest.shape)
        for alphas in (honest * (1 + noise), honest + noise, others):
            proved = check(sealed(arrays, **packed_points(alphas, C)), problem)
            assert proved.lower_bound <= problem.optimum * (1 + 1e-9)


def test_enough_of_these_problems_differ():
    problems = [random_several(seed) for seed in SEEDS]
    assert sum(p.n_classes > 3 for p in problems) > 5
    assert sum(p.n_features < p.groups.size for p in problems) > 5
    assert sum(np.isfinite(p.max_cost) for p in problems) > 4
    assert sum(p.include.size for p in problems) > 4
    assert sum(p.exclude.size for p in problems) > 4
    assert sum(not p.intercept for p in problems) > 4
    assert sum(p.certificate()["parent"].size > 3 for p in problems) > 5


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_are_those_of_the_formula(seed):
    """A root with a point that needs no repair, in exact arithmetic."""
    problem = random_several(seed)
    rng = np.random.default_rng(seed)
    m = problem.y.size
    alpha = np.zeros((problem.n_classes, m))
    for row, s in zip(alpha, problem.labels(), strict=True):
        # The same number of steps of a coarse grid for both classes.
        for side in (1.0, -1.0):
            np.add.at(row, rng.choice(np.flatnonzero(s == side), 40), 2.0**-10)
    problem = replace(problem, C=np.ones(m))
    price = float(rng.choice([0.0, 0.05]))
    proved = check(problem.root(alpha, price=np.array([price])), problem)
    total = sum(exact(alpha.ravel()))
    columns = [exact(column) for column in problem.X.T]
    squares = [Fraction(0)] * problem.n_features
    for row, s in zip(alpha, problem.labels(), strict=True):
        for g, column in zip(problem.groups.tolist(), columns, strict=True):
            signed = zip(exact(s * row), column, strict=True)
            squares[g] += sum(v * x for v, x in signed) ** 2
    forced = problem.include.tolist()
    budget = problem.max_cost - problem.costs[forced].sum()
    able = [g for g in problem.free if problem.costs[g] <= budget]
    truth = priced_bound(
        total, squares, forced, able, problem.max_features - len(forced),
        exact(problem.costs), budget if np.isinf(budget) else Fraction(budget),
        Fraction(price),
    )  # fmt: skip
    # A cost budget has a tolerance of a billionth.
    slack = Fraction(1, 10**12) + Fraction(2e-9) * np.isfinite(budget)
    assert truth * (1 - slack) <= Fraction(proved.lower_bound) <= truth
    assert truth > 0


def test_fixings_are_charged_for_all_classes(problem):
    """Without a feature of the best set, or with another one, the bound is higher."""
    best = problem.svm(problem.best)
    root = problem.root(best.alpha)
    plain_bound = check(root, problem).lower_bound
    assert 0 < plain_bound < 0.99 * problem.optimum
    for feature in range(5):
        inside = feature in problem.best
        right, wrong = (feature, ~feature) if inside else (~feature, feature)
        fixed = check(sealed(root, **with_fixing(right)), problem)
        assert plain_bound <= fixed.lower_bound <= problem.optimum * (1 + 1e-9)
        # The optimum violates it, so that the bound of the fixing holds for it.
        fixed = check(sealed(root, **with_fixing(wrong)), problem)
        assert fixed.lower_bound <= problem.optimum * (1 + 1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_useless_columns_are_useless_for_all_classes(problem, intercept):
    X = np.column_stack([problem.X, np.full(30, 3.0), np.zeros(30)])
    wide = replace(
        problem, X=X, groups=np.arange(7), signs=np.zeros(7, dtype=int),
        costs=np.ones(7), intercept=intercept,
    )  # fmt: skip
    arrays = wide.certificate()
    proved = check(arrays, wide)
    np.testing.assert_allclose(proved.lower_bound, wide.optimum, rtol=CLOSE)
    useless = {6} | ({5} if intercept else set())
    assert not useless & set(arrays["feature"].tolist())
    # It is decided already: nothing may be split on it.
    first = arrays["feature"] == arrays["feature"][1]
    for one in useless:
        forged = sealed(arrays, feature=np.where(first, one, arrays["feature"]))
        with pytest.raises(InvalidCertificate, match="already decided"):
            check(forged, wide)


# --- samples, sections and tables ----------------------------------------------------


def weightless(problem, gone):
    """The problem without some samples, and its proof for all of them."""
    kept = ~np.isin(np.arange(problem.y.size), gone)
    few = replace(problem, X=problem.X[kept], y=problem.y[kept], C=problem.C[kept])
    return few, sealed(few.certificate(), weights=np.where(kept, problem.C, 0.0))


def test_samples_without_weight_do_not_count(problem):
    few, proof = weightless(problem, [0, 4, 29])
    proved, alone = check(proof, problem), check(few.certificate(), few)
    assert proved.lower_bound == alone.lower_bound
    assert proved.objective == alone.objective
    assert "27 of 30 samples" in str(proved)


def test_labels_of_any_kind_in_their_order(problem, arrays):
    for names in (np.array(["a", "b", "c"]), np.array([-7.5, 0.0, 9.0])):
        proved = verify(arrays, problem.X, names[problem.y])
        assert proved.lower_bound == check(arrays, problem).lower_bound


@pytest.mark.parametrize("make", [np.asfortranarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("intercept", [True, False])
def test_large_tables_are_read_in_blocks(problem, make, intercept, blockwise):
    problem = replace(problem, intercept=intercept)
    few, proof = weightless(problem, [3])
    _, proof = few.with_refit(proof, 3.0)
    refit_weights = np.insert(proof["refit_weights"], 3, 0.0)
    proof = sealed(few.with_list(proof, [few.best]), refit_weights=refit_weights)
    whole = check(proof, problem)
    blockwise(60)
    proved = verify(proof, make(problem.X), problem.y)
    np.testing.assert_allclose(proved.lower_bound, whole.lower_bound, rtol=1e-12)
    assert proved.objective == whole.objective
    assert proved.alternatives.threshold == pytest.approx(whole.alternatives.threshold)
    assert proved.refit.gap == pytest.approx(whole.refit.gap, abs=1e-9)
    other = problem.X.copy()
    other[2, 3] += 1e-9
    with pytest.raises(InvalidCertificate, match="for other data"):
        verify(proof, make(other), problem.y)


def test_data_are_given_as_they_were_given_to_the_fit(problem):
    X = 100 * problem.X + 7
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scaled = replace(problem, X=(X - mean) / scale)
    proof = sealed(scaled.certificate(), mean=mean, scale=scale)
    proved = verify(proof, X, problem.y, C=1.0, max_features=2)
    np.testing.assert_allclose(proved.lower_bound, scaled.optimum, rtol=CLOSE)
    with pytest.raises(InvalidCertificate, match="does not standardise X"):
        verify(proof, scaled.X, problem.y)


def test_files_keep_the_section(problem, arrays, tmp_path):
    _, proof = problem.with_refit(arrays, 2.0)
    Certificate(proof).save(tmp_path / "proof.npz")
    proved = check(tmp_path / "proof.npz", problem)
    assert proved.lower_bound == check(proof, problem).lower_bound
    loaded = Certificate.load(tmp_path / "proof.npz")
    assert Statement.of(loaded.arrays).n_classes == 3
    with open(tmp_path / "same.npz", "wb") as file:
        save_arrays(file, loaded.arrays)
    check(tmp_path / "same.npz", problem)


def test_the_problem_is_printed(problem, arrays):
    text = str(check(arrays, problem))
    assert (
        "\nfor: 30 samples, one against the rest with 3 classes and a shared budget, "
        "at most 2 of 5 features, C = 1, intercept"
    ) in text
    two = single_root(problem.X, problem.y == 0, np.full(30, 0.01))
    assert "classes" not in str(verify(two, problem.X, problem.y == 0))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"C": 2.0}, "C is 1, not 2"),
        ({"max_features": 3}, "max_features is 2, not 3"),
        ({"fit_intercept": False}, "fit_intercept is True, not False"),
        ({"include": [1]}, "include is"),
        ({"feature_groups": [0, 0, 1, 2, 3]}, "two features in it, expected one"),
        ({"signs": [1, 0, 0, 0, 0]}, "column 0 is free in it"),
        ({"refit_C": 1.0}, "nothing about a refit"),
    ],
)
def test_another_problem_is_named(problem, arrays, other, words):
    with pytest.raises(InvalidCertificate, match=words):
        check(arrays, problem, **other)


@pytest.mark.parametrize("seed", range(0, 30, 2))
def test_lists_are_complete(seed):
    problem = random_several(seed)
    order = sorted(problem.values, key=problem.values.get)
    largest = [s for s in order if not any({*s} < {*other} for other in order)]
    whole = problem.certificate()
    for n_listed in range(len(largest)):
        supports = largest[:n_listed]
        rest = [
            problem.values[s] for s in order
            if not any({*s} <= {*one} for one in supports)
        ]  # fmt: skip
        claim = min(rest) * (1 - 1e-6)
        arrays = problem.with_list(whole, supports, claim)
        proved = check(arrays, problem).alternatives
        assert proved.threshold <= min(rest) * (1 + 1e-9)
        np.testing.assert_allclose(proved.threshold, min(rest), rtol=CLOSE)
        values = [problem.values[s] for s in supports]
        np.testing.assert_allclose(proved.objectives, values, rtol=CLOSE)
        assert [tuple(one.tolist()) for one in proved.supports] == supports
        with pytest.raises(InvalidCertificate, match=r"threshold .* is claimed"):
            check(sealed(arrays, threshold=np.array(min(rest) * 1.001)), problem)


@pytest.mark.parametrize("seed", range(1, 30, 2))
@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_refits_of_all_classes_are_proved(seed, factor):
    problem = random_several(seed)
    value, proof = problem.with_refit(problem.certificate(), factor)
    proved = check(proof, problem, refit_C=factor, **problem.expected()).refit
    np.testing.assert_allclose(proved.objective, value, rtol=CLOSE)
    np.testing.assert_allclose(proved.lower_bound, value, rtol=CLOSE)
    assert proved.lower_bound <= value * (1 + 1e-9)
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0, 2, proof["refit_alpha"].size)
    forged = sealed(
        proof, refit_alpha=proof["refit_alpha"] * noise,
        refit_lower_bound=np.array(-1e300),
    )  # fmt: skip
    assert check(forged, problem).refit.lower_bound <= value * (1 + 1e-9)


# --- forgeries -----------------------------------------------------------------------


def changed(array, at, value):
    array = array.copy()
    array[at] = value
    return array


def shortened(arrays, size):
    """Points of fewer machines."""
    return packed_points(dual_points(arrays)[:, :size], np.ones(size))


FORGERIES = {
    "a coefficient": (
        lambda a: {"coef": changed(a["coef"], 3, a["coef"][3] * 1.01)}, "claimed, but"
    ),
    "coefficients of classes swapped": (
        lambda a: {"coef": np.roll(a["coef"], 2)}, "claimed, but"
    ),
    "intercepts swapped": (
        lambda a: {"intercepts": a["intercepts"][[1, 0, 2]]}, "claimed, but"
    ),
    "an intercept that is not a number": (
        lambda a: {"intercepts": changed(a["intercepts"], 2, np.nan)}, "not finite"
    ),
    "an infinite intercept": (
        lambda a: {"intercepts": changed(a["intercepts"], 2, np.inf)}, "not finite"
    ),
    "a block of coefficients missing": (
        lambda a: {"coef": a["coef"][:4]}, "coef and selected differ in length"
    ),
    "one block for all classes": (
        lambda a: {"coef": a["coef"][:2]}, "coef and selected differ in length"
    ),
    "an intercept missing": (
        lambda a: {"intercepts": a["intercepts"][:2]}, "coef and selected differ"
    ),
    "an intercept and a block missing": (
        lambda a: {"intercepts": a["intercepts"][:2], "coef": a["coef"][:4],
                   **shortened(a, 60)},
        "intercepts has 2 of 3 classes",
    ),
    "no intercepts": (
        lambda a: {"intercepts": a["intercepts"][:0], "coef": a["coef"][:0]},
        "0 classes of 30 samples",
    ),
    "an intercept for all": (lambda a: {"intercept": np.array(0.5)}, "intercept is"),
    "no intercept for all": (
        lambda a: {"intercept": np.array(np.nan)}, "intercept is not 0"
    ),
    "signs": (lambda a: {"signs": np.zeros(5, dtype=int)}, "signs are for two classes"),
    "a class more": (lambda a: {"n_classes": np.array(4)}, "intercepts has 3 of 4"),
    "a class more, everywhere": (
        lambda a: {"n_classes": np.array(4), "intercepts": np.zeros(4),
                   "coef": np.append(a["coef"], [0.0, 0.0])},
        "it is for 4 classes, but y has 3",
    ),
    "two classes": (
        lambda a: {"n_classes": np.array(2), "intercepts": np.zeros(2),
                   "coef": a["coef"][:4], **shortened(a, 60)},
        "n_classes is 2, but must be 3 or more",
    ),
    "one class": (
        lambda a: {"n_classes": np.array(1), "intercepts": np.zeros(1),
                   "coef": a["coef"][:2], **shortened(a, 30)},
        "n_classes is 1, but",
    ),
    "fewer than no classes": (lambda a: {"n_classes": np.array(-3)}, "n_classes is -3"),
    "classes that are no integer": (
        lambda a: {"n_classes": np.array(3.0)}, "n_classes has dtype"
    ),
    "more classes than samples": (
        lambda a: {"n_classes": np.array(31), "intercepts": np.zeros(31),
                   "coef": np.zeros(62)},
        "31 classes of 30 samples",
    ),
    "another format": (lambda a: {"format": np.array(2)}, "unknown format 2"),
    "a bound that is not proved": (
        lambda a: packed_points(0.99 * dual_points(a), np.ones(90)),
        "lower_bound .* only",
    ),
    "a bound above the objective": (
        lambda a: {"lower_bound": a["objective"] * 1.01}, "above the objective"
    ),
    "an objective too low": (
        lambda a: {"objective": a["objective"] * 0.999}, "claimed, but"
    ),
    "a dual point of one machine only": (
        lambda a: packed_points(dual_points(a) * (np.arange(90) < 30), np.ones(90)),
        "lower_bound .* only",
    ),
    "another C": (lambda a: {"weights": a["weights"] * 1.01}, "claimed, but"),
    "a budget of one feature": (
        lambda a: {"max_features": np.array(1)}, "uses too many features"
    ),
    "intercepts where there are none": (
        lambda a: {"fit_intercept": np.array(False)}, "but the problem has none"
    ),
    "refitted intercepts without a refit": (
        lambda a: {"refit_intercepts": np.zeros(3)}, "unknown or repeated entries"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_rejected(problem, arrays, name):
    change, words = FORGERIES[name]
    check(arrays, problem)
    with pytest.raises(InvalidCertificate, match=words):
        check(sealed(arrays, **change(arrays)), problem)


@pytest.mark.parametrize("name", ["n_classes", "intercepts"])
def test_the_section_is_whole(problem, arrays, name):
    less = {key: value for key, value in arrays.items() if key != name}
    with pytest.raises(InvalidCertificate, match=f"{name} missing"):
        check(sealed(less), problem)


def test_classes_in_another_order_are_other_data(problem, arrays):
    for order in ([1, 0, 2], [1, 2, 0], [2, 1, 0]):
        with pytest.raises(InvalidCertificate, match="for other data"):
            verify(arrays, problem.X, np.array(order)[problem.y])
    permuted = np.random.default_rng(0).permutation(problem.y)
    with pytest.raises(InvalidCertificate, match="for other data"):
        verify(arrays, problem.X, permuted)
    with pytest.raises(InvalidCertificate, match="for other data"):
        verify(arrays, problem.X[:, [1, 0, 2, 3, 4]], problem.y)


def test_the_numbers_of_classes_agree(problem, arrays):
    two = problem.y > 0
    with pytest.raises(InvalidCertificate, match="for 3 classes, but y has 2"):
        verify(arrays, problem.X, two)
    with pytest.raises(InvalidCertificate, match="for 3 classes, but y has 30"):
        verify(arrays, problem.X, np.arange(30))
    binary = single_root(problem.X, two, np.full(30, 0.01))
    with pytest.raises(InvalidCertificate, match="for 2 classes, but y has 3"):
        check(binary, problem)
    with pytest.raises(ValueError, match="two classes or more, got 1"):
        verify(arrays, problem.X, np.ones(30))


def test_two_classes_are_not_three(problem):
    """A third class whose samples have no weight, or that does not exist."""
    two = np.minimum(problem.y, 1)
    posed = replace(problem, y=two)
    root = posed.root(np.zeros((2, 30)))
    for number in (2, 3):
        forged = sealed(
            root, n_classes=np.array(number), intercepts=np.zeros(number),
            objective=np.array(30.0 * number),
        )  # fmt: skip
        with pytest.raises(InvalidCertificate, match=r"3 or more|but y has 2"):
            check(forged, posed)
    few, proof = weightless(problem, np.flatnonzero(problem.y == 2))
    proof = sealed(
        proof, n_classes=np.array(3), intercepts=np.append(proof["intercepts"], 0.0),
        coef=np.append(proof["coef"], np.zeros(proof["selected"].size)),
    )  # fmt: skip
    assert few.n_classes == 2
    with pytest.raises(
        InvalidCertificate, match="1 of 3 classes have no sample of pos"
    ):
        check(proof, problem)


def test_each_machine_is_balanced_by_itself(problem):
    """Balanced in total only, these points would prove all that there is to lose."""
    nothing = replace(problem, X=np.tile(np.arange(30.0)[:, None] * 1e-9, 5))
    alpha = np.zeros((3, 30))
    # Ten positive samples in the first machine, ten negative ones in the second.
    alpha[0, problem.y == 0] = 1.0
    alpha[1, problem.y == 0] = 1.0
    assert check(nothing.root(alpha), nothing).lower_bound == 0.0
    with pytest.raises(InvalidCertificate, match=r"lower_bound 19.9 .* only 0.0"):
        check(nothing.root(alpha, lower_bound=np.array(19.9)), nothing)
    # In the right machine the other side balances them; the third stays as it is.
    alpha[0, problem.y == 1] = 0.5
    proved = check(nothing.root(alpha), nothing)
    assert proved.lower_bound == pytest.approx(10.0)
    without = replace(nothing, intercept=False)
    assert check(without.root(alpha), without).lower_bound == pytest.approx(25.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: {"refit_coef": np.roll(a["refit_coef"], 2)}, "claimed, but"),
        (lambda a: {"refit_coef": a["refit_coef"][:4]}, "another length"),
        (lambda a: {"refit_coef": np.zeros(16)}, "too long"),
        (lambda a: {"refit_intercepts": a["refit_intercepts"][::-1].copy()}, "claimed"),
        (lambda a: {"refit_intercepts": np.zeros(2)}, "refit_intercepts has 2 of 3"),
        (lambda a: {"refit_intercepts": np.zeros(4)}, "refit_intercepts has 4 of 3"),
        (lambda a: {"refit_intercept": np.array(1.0)}, "refit_intercept is not 0"),
        (lambda a: {"refit_sample": a["refit_sample"] + 1}, "bad refit_sample"),
        (lambda a: {"refit_alpha": a["refit_alpha"] * 0.5}, "only"),
        (lambda a: {"refit_alpha": np.roll(a["refit_alpha"], 30)}, "only"),
        (lambda a: {"refit_sample": np.arange(91), "refit_alpha": np.zeros(91)},
         "inconsistent"),
        (lambda a: {"refit_objective": a["refit_objective"] * 0.999}, "claimed, but"),
        (lambda a: {"refit_lower_bound": a["refit_lower_bound"] * 1.001}, "only"),
    ],
)  # fmt: skip
def test_forged_refits_are_rejected(problem, arrays, change, words):
    _, proof = problem.with_refit(arrays, 3.0)
    check(proof, problem)
    with pytest.raises(InvalidCertificate, match=words):
        check(sealed(proof, **change(proof)), problem)


@pytest.mark.parametrize("name", ["refit_intercepts", "refit_intercept", "intercepts"])
def test_refits_of_several_classes_are_whole(problem, arrays, name):
    _, proof = problem.with_refit(arrays, 3.0)
    less = {key: value for key, value in proof.items() if key != name}
    with pytest.raises(InvalidCertificate, match=f"{name} missing"):
        check(sealed(less), problem)
    binary = {k: v for k, v in proof.items() if k not in ("n_classes", "intercepts")}
    with pytest.raises(InvalidCertificate, match="unknown or repeated entries"):
        check(sealed(binary), problem)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: {"listed_coef": a["listed_coef"][:6]}, "inconsistent"),
        (lambda a: {"listed_intercept": a["listed_intercept"][:4]}, "for each class"),
        (lambda a: {"listed_intercept": a["listed_intercept"][:3]}, "listed_start"),
        (lambda a: {"listed_intercept": a["listed_intercept"][:2]}, "for each class"),
        (lambda a: {"listed_coef": a["listed_coef"] * np.nan}, "not finite"),
    ],
)
def test_forged_lists_are_rejected(problem, arrays, change, words):
    order = sorted(problem.values, key=problem.values.get)
    pairs = [support for support in order if len(support) == 2]
    honest = problem.with_list(arrays, pairs[:2])
    check(honest, problem)
    with pytest.raises(InvalidCertificate, match=words):
        check(sealed(honest, **change(honest)), problem)


def test_listed_weights_of_another_class_are_worse(problem, arrays):
    order = sorted(problem.values, key=problem.values.get)
    pair = next(support for support in order if len(support) == 2)
    honest = problem.with_list(arrays, [pair])
    best = check(honest, problem).alternatives.objectives
    for name, shift in (("listed_coef", 2), ("listed_intercept", 1)):
        forged = sealed(honest, **{name: np.roll(honest[name], shift)})
        assert check(forged, problem).alternatives.objectives > best * 1.01
    # Weights of groups have a length that only the groups tell.
    grouped = replace(
        problem, groups=np.array([0, 0, 1, 2, 3]), costs=np.ones(4), max_features=2
    )
    whole = grouped.with_list(grouped.certificate(), [grouped.best])
    check(whole, grouped)
    forged = sealed(whole, listed_coef=whole["listed_coef"][:-1])
    with pytest.raises(InvalidCertificate, match="listed features and each class"):
        check(forged, grouped)
    coef = whole["coef"]
    for other in (coef[:-1], coef[: coef.size // 3], np.append(coef, 0.0)):
        with pytest.raises(InvalidCertificate, match="selected features and each cla"):
            check(sealed(whole, coef=other), grouped)
