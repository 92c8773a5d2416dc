"""L1FrugalSVC, compared with enumeration by SciPy's LPs and with SciPy's MILP."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from frugalsvm import Problem
from frugalsvm.paper.baselines import L1FrugalSVC, l1_search
from frugalsvm.paper.baselines.l1_search import (
    L1Subproblems,
    _tight_limits,
    l1_objective,
)
from frugalsvm.paper.solvers import SolverFailed
from frugalsvm.paper.solvers.base import Request
from frugalsvm.run.monitor import Monitor
from tests.paper.baselines.references import l1_by_milp, l1_optimum, l1_svm_by_linprog
from tests.reference import random_data


@parametrize_with_checks(
    [
        L1FrugalSVC(max_features=2),
        L1FrugalSVC(method="kernel-search", rho=2, max_features=None),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_for_several_classes_there_is_frugal_svc():
    X, _ = data(0)
    with pytest.raises(ValueError, match=r"3 classes\. Use frugalsvm\.FrugalSVC"):
        L1FrugalSVC().fit(X, ["a", "b", "c"] * 8)


def data(seed, m=24, n=6):
    return random_data(np.random.default_rng(seed), m, n, separable=seed % 3 == 0)


def subproblems(X, y, C=1.0, budget=2):
    problem = Problem(X, y, C=C, max_features=budget)
    return L1Subproblems(problem, Monitor(None, 1e-9), np.inf)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_exact_is_enumeration_and_milp(seed, C):
    X, y = data(seed)
    budget = 1 + seed % 3
    weights = np.linspace(0.5, 2.0, y.size) if seed % 2 else np.ones(y.size)
    optimum, _ = l1_optimum(X, y, C * weights, budget)
    assert l1_by_milp(X, y, C * weights, budget, 1e3) == pytest.approx(optimum)
    model = L1FrugalSVC(budget, C, gap_tol=1e-9, rho=2).fit(X, y, weights)
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert model.reported_bound_ == pytest.approx(optimum, rel=1e-6)
    assert model.status_ == "optimal"
    assert np.count_nonzero(model.coef_) <= budget
    # The objective is that of the weights, and the bound that of the relaxation.
    problem = Problem(X, y, C=C, sample_weight=weights)
    assert model.objective_ == l1_objective(
        problem, model.coef_[0], model.intercept_[0]
    )
    relaxed = l1_svm_by_linprog(X, y, C * weights).fun
    assert model.lower_bound_ == pytest.approx(relaxed, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_kernel_search_is_optimal_with_one_group_and_feasible_with_many(seed):
    X, y = data(seed)
    optimum, values = l1_optimum(X, y, np.ones(y.size), 2)
    whole = L1FrugalSVC(2, method="kernel-search", rho=6).fit(X, y)
    assert whole.objective_ == pytest.approx(optimum, rel=1e-6)
    parts = L1FrugalSVC(2, method="kernel-search", rho=2).fit(X, y)
    support = tuple(parts.get_support(indices=True).tolist())
    assert parts.objective_ == pytest.approx(values[support], rel=1e-6)
    assert parts.reported_bound_ is None


def test_features_are_ranked_by_weight_and_then_by_reduced_cost():
    X, y = data(1, m=20, n=30)
    ranked = subproblems(X, y).rank()
    found = l1_svm_by_linprog(X, y, np.ones(20))
    weights = np.abs(found.x[:30] - found.x[30:60])
    # SciPy's marginals of the bounds w+ >= 0 and w- >= 0 are the reduced costs.
    costs = found.lower.marginals[:60].reshape(2, 30).min(axis=0)
    assert 0 < np.count_nonzero(weights) < 20
    keys = [(-round(weights[j], 6), round(costs[j], 6)) for j in ranked]
    assert keys == sorted(keys)


@pytest.mark.parametrize("seed", range(4))
def test_limits_of_weights_hold_all_good_solutions(seed):
    X, y = data(seed)
    search = subproblems(X, y, C=3.0, budget=3)
    optimum, values = l1_optimum(X, y, np.full(y.size, 3.0), 3)
    search.rank()
    limit = 1.2 * optimum
    loose = search.limits(limit)
    tight = _tight_limits(search, limit)
    assert (tight <= loose).all()
    assert tight.max() < 0.9 * loose.max()
    for support in (s for s, value in values.items() if s and value <= limit):
        solution = search.refit(np.array(support))
        assert (np.abs(solution.w) <= tight[list(support)]).all()


def test_late_linear_programs_give_no_bounds():
    X, y = data(0)
    search = subproblems(X, y)
    model = l1_search.l1_fs_svm(search.problem, 5.0, upper_bound=10.0, binary=False)
    request = Request(time_limit=1e-9)
    found = l1_search.largest_differences(model, "w_plus", "w_minus", request)
    assert np.isinf(found).all()


def test_no_features_and_no_useful_features_give_the_best_constant():
    X, y = data(2)
    for model in (L1FrugalSVC(0), L1FrugalSVC(2, method="kernel-search")):
        flat = model.fit(X if model.max_features == 0 else np.ones((24, 3)), y)
        assert not flat.coef_.any()
        assert flat.objective_ == 2 * min(np.sum(y > 0), np.sum(y < 0))


def test_a_time_limit_gives_a_model():
    X, y = random_data(np.random.default_rng(0), 150, 40)
    model = L1FrugalSVC(6, 10.0, time_limit=1.0).fit(X, y)
    assert model.status_ == "time limit"
    assert np.count_nonzero(model.coef_) <= 6
    assert model.lower_bound_ <= model.objective_


def test_groups_without_time_left_end_with_time_limit(monkeypatch):
    """The last moments of a limit, too short for a program, are not its end."""
    monkeypatch.setattr(l1_search, "LEAST_SECONDS", 1e6)
    model = L1FrugalSVC(2, method="kernel-search", rho=2, time_limit=1e5).fit(*data(1))
    assert model.status_ == "time limit"
    assert not model.coef_.any()


class Broken:
    """Stands for the program of all features."""

    name = "l1-FS-SVM"

    def start_from(self, coef, intercept):
        return {}

    def solve(self, *_, **__):
        raise SolverFailed("out of numbers")


def test_a_failing_solver_keeps_the_results_so_far(monkeypatch):
    real = l1_search.l1_fs_svm

    def build(*given, **options):
        is_whole = options.get("binary", True) and "group" not in options
        return Broken() if is_whole else real(*given, **options)

    monkeypatch.setattr(l1_search, "l1_fs_svm", build)
    with pytest.warns(UserWarning, match="out of numbers"):
        model = L1FrugalSVC(2, rho=2).fit(*data(0))
    assert model.status_ == "solver failed"
    assert 0 < np.count_nonzero(model.coef_) <= 2


@pytest.mark.parametrize("package", ["cvxpy", "highspy"])
def test_missing_packages_are_named(uninstall, package):
    uninstall(package)
    words = rf"L1FrugalSVC runs on highs.*{package}.*pip install 'frugalsvm\[paper\]'"
    with pytest.raises(ImportError, match=words):
        L1FrugalSVC().fit(*data(0))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"max_features": -1}, "max_features must be an integer >= 0 or None, got -1"),
        ({"max_features": 1.5}, r"max_features.*1\.5"),
        ({"C": 0.0}, r"C must be a finite number > 0, got 0\.0"),
        ({"C": np.inf}, r"C must be a finite number > 0, got inf"),
        ({"method": "swap"}, "method must be one of 'exact', 'kernel-search'"),
        ({"rho": 0}, "rho must be an integer >= 1"),
        ({"gap_tol": -1}, "gap_tol must be a finite number >= 0"),
        ({"time_limit": 0}, "time_limit must be a finite number > 0"),
        ({"subproblem_time_limit": "x"}, "subproblem_time_limit.*'x'"),
        ({"class_weight": {-1.0: -1.0, 1.0: 1.0}}, "class_weight"),
    ],
)
def test_bad_input_is_explained(parameters, words):
    with pytest.raises(ValueError, match=words):
        L1FrugalSVC(**parameters).fit(*data(0))
