"""The parts of the campaign, and a short campaign without violations."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from frugalsvm import Problem, near_optimal, solve, verify
from tests.campaign import forgeries, interrupts, problems
from tests.campaign.layout import PACKED, decode, decode_list, encode, encode_list
from tests.campaign.machines import reference_of
from tests.campaign.packed import change_packed
from tests.campaign.pivoting import solve_positive
from tests.campaign.reference import Reference, Stated, balanced, to_integers
from tests.campaign.runner import run_here, run_workers
from tests.campaign.strong import DualPool, strong_tree
from tests.campaign.tally import Tally, Unit
from tests.checker.grouped import random_grouped
from tests.reference import svm_value

SEED = 2024


def stated(X, y, C=1.0, max_features=9, **others):
    X, y = np.array(X, float), np.array(y, float)
    return Stated(X, y, np.full(y.size, C), max_features, **others)


# --- the reference -------------------------------------------------------------------


def test_two_points_on_a_line():
    # The margin between -1 and 1 is kept by w = 1, b = 0.
    optimum = Reference(stated([[-1], [1]], [-1, 1], C=10.0)).optimum
    assert optimum.is_tight
    assert abs(optimum.upper - Fraction(1, 2)) < Fraction(1, 10**15)
    assert optimum.lower <= Fraction(1, 2) <= optimum.upper


def test_small_C_leaves_all_samples_inside_the_margin():
    # w = 2 C, and the losses are 1 - 2 C each.
    C = 0.125
    optimum = Reference(stated([[-1], [1]], [-1, 1], C=C)).optimum
    value = Fraction(C) * 2 - 2 * Fraction(C) ** 2
    assert optimum.is_tight
    assert optimum.lower <= value <= optimum.upper


def test_without_features_only_the_smaller_class_has_losses():
    optimum = Reference(stated([[1], [2], [3]], [1, 1, -1], 3.0, 0)).optimum
    assert (optimum.lower, optimum.upper) == (6, 6)
    no_intercept = stated([[1], [2], [3]], [1, 1, -1], 3.0, 0, intercept=False)
    assert Reference(no_intercept).optimum.lower == 9


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_clarabel(seed, intercept):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(9, 4)), rng.choice([-1.0, 1.0], 9)
    y[:2] = [1.0, -1.0]
    case = stated(X, y, float(10 ** rng.uniform(-1, 2)), 2, intercept=intercept)
    values = [svm_value(X[:, list(s)], y, case.C, intercept) for s in case.supports()]
    optimum = Reference(case).optimum
    assert optimum.is_tight
    np.testing.assert_allclose(float(optimum.upper), min(values), rtol=1e-7)


@pytest.mark.parametrize("seed", range(30))
def test_agrees_with_clarabel_on_groups_and_signs(seed):
    problem = random_grouped(seed)
    case = Stated(
        problem.X, problem.y, problem.C, problem.max_features, problem.costs,
        problem.max_cost, tuple(problem.include), tuple(problem.exclude),
        problem.intercept, problem.groups, problem.signs,
    )  # fmt: skip
    reference = Reference(case)
    assert reference.optimum.is_tight
    np.testing.assert_allclose(
        float(reference.optimum.upper), problem.optimum, rtol=1e-7
    )
    for support in case.supports():
        bracket = reference.bracket(support, math.inf)
        value = problem.svm(support).value
        np.testing.assert_allclose(float(bracket.lower), value, rtol=1e-7)
        np.testing.assert_allclose(float(bracket.upper), value, rtol=1e-7)
        assert list(case.columns(support)) == list(problem.columns(support))


@pytest.mark.parametrize("scale", [1e-150, 1e-40, 1e40, 1e150])
def test_signs_are_tight_at_all_scales(scale):
    rng = np.random.default_rng(3)
    X = rng.integers(-2, 3, size=(8, 4)) * scale
    for signs in ([1, 1, -1, -1], [-1, -1, 1, 1], [0, 1, -1, 0]):
        for C in (1e-15, 1.0, 1e15):
            case = stated(X, [1, -1] * 4, C, 2, signs=np.array(signs))
            assert Reference(case).optimum.is_tight


@pytest.mark.parametrize("scale", [1e-150, 1e-40, 1.0, 1e40, 1e150])
@pytest.mark.parametrize("C", [1e-15, 1.0, 1e15])
def test_is_tight_at_all_scales(scale, C):
    rng = np.random.default_rng(3)
    X = rng.integers(-2, 3, size=(8, 3)) * scale
    case = stated(X, [1, -1] * 4, C, 2)
    assert Reference(case).optimum.is_tight


def test_objective_is_exact():
    case = stated([[0.1], [0.3]], [1, -1], C=0.7)
    w, b = Fraction(1.1), Fraction(-0.2)
    losses = max(0, 1 - (w * Fraction(0.1) + b)) + max(0, 1 + w * Fraction(0.3) + b)
    expected = w * w / 2 + Fraction(0.7) * losses
    assert Reference(case).objective([1.1], -0.2) == expected


def test_supports_are_the_largest_within_both_budgets():
    case = stated(
        np.eye(4), [1, -1, 1, -1], max_features=3, costs=np.array([3.0, 1.0, 1.0, 2.0]),
        max_cost=4.0, include=(1,), exclude=(2,),
    )  # fmt: skip
    assert set(case.supports()) == {(0, 1), (1, 3)}
    assert replace(case, max_cost=0.5).supports() == []
    assert Reference(replace(case, max_cost=0.5)).optimum.lower == math.inf


def test_sums_of_costs_near_the_limit_may_count_either_way():
    X, y = [[1, 0], [0, 1], [-1, 0], [0, -1]], [1, 1, -1, -1]
    case = stated(X, y, costs=np.array([0.1, 0.2]), max_cost=0.3)
    # In doubles 0.1 + 0.2 is a little more than 0.3.
    assert case.supports() == [(0,), (1,)]
    reference = Reference(case)
    assert reference.generous.upper < reference.optimum.lower


def test_arithmetic():
    assert to_integers([0.5, 3.0]) == ([1, 6], 1)
    assert balanced([5, 1, 2], [1, 1, -1]) == [1, 1, 2]
    found, determinant = solve_positive([[2, 1], [1, 3]], [3, 5])
    assert [Fraction(v, determinant) for v in found] == [Fraction(4, 5), Fraction(7, 5)]


# --- violations to be detected ----------------------------------------------------


@pytest.fixture(scope="module")
def solved():
    X = np.array([[1.0, 0.2], [-1.0, 0.4], [0.5, -1.0], [-0.3, 1.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    arguments = {"C": 1.0, "max_features": 1, "fit_intercept": True}
    options = {"method": "branch-and-bound", "gap_tol": 1e-6, "certificate": True}
    case = problems.Case(X, y, arguments, options)
    result = solve(Problem(X, y, **arguments), **options)
    return case, Reference(case.stated), result


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: {"lower_bound": r.lower_bound * (1 + 1e-5)}, "invalid bound"),
        (lambda r: {"lower_bound": -1.0, "status": "feasible"}, "negative bound"),
        (lambda r: {"lower_bound": 0.1}, "not optimal"),
        (lambda r: {"objective": r.objective * (1 - 1e-5)}, "objective too small"),
        (lambda r: {"objective": math.nan}, "not finite"),
        (lambda r: {"coef": np.ones(2)}, "over budget"),
        (lambda r: {"certificate": {}}, "certificate rejected"),
    ],
)
def test_injected_errors_are_noticed(solved, change, words):
    case, reference, result = solved
    wrong = replace(result, **change(result))
    found = list(problems.objections(case, reference, wrong))
    assert any(words in text for text in found), found


def test_weights_of_the_wrong_sign_are_noticed(solved):
    case, reference, result = solved
    signs = -np.sign(result.coef).astype(int)
    limited = replace(case, arguments={**case.arguments, "signs": signs})
    found = list(problems.objections(limited, reference, result))
    assert any("wrong signs" in text for text in found)


def test_groups_over_budget_are_noticed(solved):
    case, reference, result = solved
    alone = replace(
        case, arguments={**case.arguments, "feature_groups": np.array([0, 0])}
    )
    wrong = replace(result, coef=np.ones(2))
    for given, is_wrong in ((case, True), (alone, False)):
        found = list(problems.objections(given, reference, wrong))
        assert any("over budget" in text for text in found) == is_wrong


@pytest.fixture(scope="module")
def solved_classes():
    X = np.array([[1.0, 0.2], [-1.0, 0.4], [0.5, -1.0], [-0.3, 1.0], [0.1, 2.0]])
    arguments = {"C": 1.0, "max_features": 1, "fit_intercept": True}
    options = {"method": "branch-and-bound", "gap_tol": 1e-6, "certificate": True}
    case = problems.Case(X, np.array([0.0, 1, 2, 1, 2]), arguments, options)
    result = solve(Problem(X, case.labels, **arguments), **options)
    return case, reference_of(case.stated), result


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: {}, None),
        (lambda r: {"lower_bound": r.lower_bound * (1 + 1e-5)}, "invalid bound"),
        (lambda r: {"objective": r.objective * (1 - 1e-5)}, "objective too small"),
        (lambda r: {"intercept": r.intercept + 1.0}, "objective too small"),
        (lambda r: {"intercept": r.intercept * math.nan}, "not finite"),
        (lambda r: {"coef": np.eye(3, 2)}, "over budget"),
        (lambda r: {"certificate": {}}, "certificate rejected"),
    ],
)
def test_injected_errors_are_noticed_with_classes(solved_classes, change, words):
    case, reference, result = solved_classes
    wrong = replace(result, **change(result))
    found = list(problems.objections(case, reference, wrong))
    assert any(words in text for text in found) if words else not found, found


def test_an_intercept_of_one_class_is_noticed(solved_classes):
    case, reference, result = solved_classes
    without = replace(case, arguments={**case.arguments, "fit_intercept": False})
    wrong = replace(result, intercept=np.array([0.0, 0.0, 1.0]))
    found = list(problems.objections(without, reference, wrong))
    assert any("an intercept" in text for text in found), found


def test_bounds_an_ulp_above_the_optimum_are_noticed(solved):
    case, reference, result = solved
    bound = np.nextafter(float(reference.optimum.upper), math.inf)
    found = list(
        problems.objections(case, reference, replace(result, lower_bound=bound))
    )
    assert any("invalid bound" in text for text in found)


def test_trees_survive_decoding(solved):
    case, _, result = solved
    arrays = dict(result.certificate.arrays)
    again = encode(decode(arrays), arrays)
    for name in ("parent", "feature", "inside", "point", "fixing", "fixing_start"):
        np.testing.assert_array_equal(again[name], arrays[name])
    proved = [
        forgeries.verify(forgeries.sealed(one), case.X, case.y).lower_bound
        for one in (arrays, again)
    ]
    assert proved[0] == proved[1]


def test_packed_points_are_forged_in_every_array(solved):
    _, _, result = solved
    arrays, rng = dict(result.certificate.arrays), np.random.default_rng(0)
    changed = set()
    for _ in range(100):
        forged = change_packed(rng, arrays, None)
        changed |= {n for n in PACKED if not np.array_equal(forged[n], arrays[n])}
    assert changed == set(PACKED)


def test_strong_trees_prove_the_optimum(solved):
    case, reference, result = solved
    tree = strong_tree(np.random.default_rng(0), DualPool(case.stated))
    assert len(tree.leaves()) > 1
    arrays = encode(tree, dict(result.certificate.arrays))
    proved = forgeries.verify(forgeries.sealed(arrays), case.X, case.y)
    optimum = reference.optimum.upper
    assert optimum * (1 - Fraction(1, 10**9)) < Fraction(proved.lower_bound) <= optimum


def test_strong_trees_and_lists_prove_the_optimum_of_classes(solved_classes):
    case, reference, result = solved_classes
    pool, rng = DualPool(case.stated), np.random.default_rng(0)
    arrays = encode(strong_tree(rng, pool), dict(result.certificate.arrays))
    proved = forgeries.verify(forgeries.sealed(arrays), case.X, case.y)
    optimum = reference.optimum.upper
    assert optimum * (1 - Fraction(1, 10**9)) < Fraction(proved.lower_bound) <= optimum
    listed = [(list(s), [0.0] * 3, [0.0] * 3) for s in case.stated.supports()]
    arrays = forgeries.sealed(encode_list(listed, arrays))
    assert decode_list(arrays) == listed
    found = forgeries.verify(arrays, case.X, case.y).alternatives
    assert [s.tolist() for s in found.supports] == [s for s, _, _ in listed]


def test_an_accepted_forgery_is_noticed():
    base, arrays = next(
        (base, source.arrays)
        for base in (forgeries.Base(0, index) for index in range(9))
        for source in base.sources
        if "mean" not in source.arrays
    )
    honest = forgeries.verify(arrays, base.X, base.y)
    wrong = replace(honest, lower_bound=honest.objective * 2 + 1)
    tally, unit = Tally(), Unit("forgeries", 0, 0, 0)
    forgeries.judge(unit, base, "none", arrays, tally, check=lambda *_: wrong)
    assert "forged bound" in tally.violations[0][1]


def test_proofs_for_data_in_other_units_are_noticed():
    """They are valid, but for data that nobody has."""

    def trusting(arrays, X, y):
        return verify(arrays, X, y, scaling=(arrays["mean"], arrays["scale"]))

    tally = Tally()
    for index in range(12):
        base = forgeries.Base(0, index)
        for arrays in (source.arrays for source in base.sources):
            if "mean" in arrays:
                sealed = forgeries.sealed(arrays)
                unit = Unit("forgeries", 0, index, 0)
                forgeries.judge(unit, base, "none", sealed, tally, check=trusting)
    words = [words for _, words in tally.violations]
    assert any("forged scaling: " in one and " of column " in one for one in words)
    assert any("forged scaling: " in one and " > " in one for one in words)
    assert all("forged scaling" in one for one in words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: {"supports": a.supports[1:], "objectives": a.objectives[1:]},
         "is missing"),
        (lambda a: {"supports": [], "objectives": [], "threshold": math.inf},
         "everything is claimed"),
        (lambda a: {"objectives": a.objectives * 0.9}, "below its optimum"),
        (lambda a: {"objectives": a.objectives * math.nan}, "not finite"),
        (lambda a: {"supports": [np.array([0, 1])] * len(a.supports)}, "over budget"),
    ],
)  # fmt: skip
def test_an_accepted_forged_list_is_noticed(solved, change, words):
    case, reference, _ = solved
    problem = Problem(case.X, case.y, **case.arguments)
    found = near_optimal(problem, tolerance=1.0, certificate=True)
    honest = forgeries.verify(found.certificate, case.X, case.y).alternatives
    # Half of the features are listed or more, so that some may be left out.
    high = replace(honest, threshold=min(honest.threshold, found.objectives[-1] * 1.01))
    assert not list(forgeries.list_objections(high, reference))
    wrong = replace(high, **change(high))
    found = list(forgeries.list_objections(wrong, reference))
    assert any(words in text for text in found), found


def test_exceptions_of_the_checker_are_noticed():
    def broken(*_):
        raise ZeroDivisionError

    base = forgeries.Base(0, 0)
    tally, unit = Tally(), Unit("forgeries", 0, 0, 0)
    forgeries.judge(unit, base, "none", {}, tally, check=broken)
    assert "ZeroDivisionError" in tally.violations[0][1]


def test_leaked_threads_are_noticed():
    import threading

    before, stop = set(threading.enumerate()), threading.Event()
    thread = threading.Thread(target=stop.wait, name="frugalsvm")
    thread.start()
    assert interrupts.still_running(before, 0.1) == ["frugalsvm"]
    stop.set()
    thread.join()
    assert interrupts.still_running(before, 0.1) == []


def test_units_can_be_recorded():
    for unit in (Unit("problems", 3, 4), Unit("forgeries", 3, 4, 5)):
        assert Unit.parse(str(unit)) == unit


def test_tallies_add_up():
    tally, other = Tally(), Tally()
    for one, name in product((tally, other), ("swap", "auto")):
        one.count("problems", name, "tried", "counted")
    other.violate(Unit("problems", 0, 1), "invalid bound: swap")
    tally.add(other)
    assert tally.total("problems", "counted") == 4
    assert "problems:0:1" in tally.table()


# --- a short campaign ----------------------------------------------------------------


def test_no_problem_is_solved_wrongly():
    tally = run_here("problems", SEED, 2500)
    assert not tally.violations, tally.table()
    assert tally.total("problems", "counted") > 2000
    assert tally.total("problems", "classes") > 400
    assert tally.total("problems", "verified") > 800


def test_no_forgery_is_accepted():
    tally = run_here("forgeries", SEED, 20)
    assert not tally.violations, tally.table()
    assert tally.total("forgeries", "counted") > 2500
    assert tally.counts["forgeries", "with n_classes", "accepted"] > 500
    assert tally.counts["forgeries", "with mean", "accepted"] > 500


def test_tables_are_read_correctly_or_rejected():
    tally = run_here("tables", SEED, 5)
    assert not tally.violations, tally.table()
    assert tally.total("tables", "read") > 100
    assert tally.total("tables", "rows") > 200


def test_model_files_are_read_correctly_or_rejected():
    tally = run_here("models", SEED, 10)
    assert not tally.violations, tally.table()
    assert tally.total("models", "loaded") > 50


def test_no_threads_are_left_after_interrupts_and_limits():
    tally = run_here("interrupts", SEED, 2)
    assert not tally.violations, tally.table()


def test_workers_are_watched_and_terminated():
    tally = run_workers("problems", SEED, 600.0, 1, print, units=3)
    assert tally.total("problems", "tried") == 3
