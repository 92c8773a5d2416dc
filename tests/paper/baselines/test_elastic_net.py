"""ElasticNetSVC, compared with plain CVXPY, optimality conditions and the plain SVM."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from frugalsvm import Problem
from frugalsvm.paper.baselines import ElasticNetSVC, elastic_net, elastic_net_path
from frugalsvm.paper.solvers import SolverFailed
from frugalsvm.search.evaluator import best_intercept
from tests.paper.baselines.references import elastic_net_by_cvxpy
from tests.reference import random_data, svm_value


@parametrize_with_checks(
    [ElasticNetSVC(), ElasticNetSVC(alpha=0.1, class_weight="balanced")]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def data(seed, m=30, n=12):
    return random_data(np.random.default_rng(seed), m, n, separable=seed % 2 == 1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.05, 1.0, 6.0, 500.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_agrees_with_plain_cvxpy(seed, alpha, fit_intercept):
    X, y = data(seed, n=12 if seed < 2 else 80)
    C = np.linspace(0.5, 3.0, 30)
    value, w = elastic_net_by_cvxpy(X, y, C, alpha, fit_intercept)
    model = ElasticNetSVC(alpha, fit_intercept=fit_intercept).fit(X, y, C)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    assert model.lower_bound_ <= value * (1 + 1e-8)
    assert model.gap_ <= 1e-6
    np.testing.assert_allclose(model.coef_[0], w, atol=2e-4)
    # Zeros are zeros.
    np.testing.assert_array_equal(model.coef_[0] != 0, np.abs(w) > 1e-5)


def test_without_a_penalty_it_is_the_svm():
    X, y = data(0)
    model = ElasticNetSVC(0.0, 2.0).fit(X, y)
    assert model.objective_ == pytest.approx(svm_value(X, y, np.full(30, 2.0)))
    assert model.coef_.all()


def test_weights_are_soft_thresholded_products():
    """The optimality condition, at the dual point that proves the bound."""
    X, y = data(1, n=60)
    problem = Problem(X, y, C=2.0)
    (found,) = elastic_net.solve_path(problem, [0.7], 1e-8)
    c = problem.A @ found.dual_point
    expected = np.sign(c) * np.maximum(np.abs(c) - 0.7, 0.0)
    np.testing.assert_allclose(found.coef, expected, atol=1e-4)
    assert found.intercept == best_intercept(problem, found.coef)


def test_the_best_intercept():
    rng = np.random.default_rng(0)
    for _ in range(50):
        X, y = random_data(rng, 9, 2, integer=True)
        problem = Problem(X, y, sample_weight=rng.uniform(0.1, 2.0, 9))
        coef = rng.integers(-2, 3, 2) / 2
        b = best_intercept(problem, coef)
        value = problem.objective(coef, b)
        others = [problem.objective(coef, o) for o in np.linspace(-9, 9, 181)]
        assert value <= min(others) + 1e-12
    assert best_intercept(Problem(X, y, fit_intercept=False), coef) == 0.0


def test_a_path_is_its_single_fits_with_less_work():
    X, y = data(1, m=40, n=400)
    alphas = [8.0, 1.0, 4.0, 2.0]
    path = elastic_net_path(X, y, alphas=alphas, C=1.0)
    np.testing.assert_array_equal(path.alphas, [8.0, 4.0, 2.0, 1.0])
    single = [ElasticNetSVC(alpha).fit(X, y) for alpha in path.alphas]
    np.testing.assert_allclose(path.objectives, [s.objective_ for s in single], 2e-6)
    for row, one in zip(path.coefs, single, strict=True):
        np.testing.assert_allclose(row, one.coef_[0], atol=1e-4)
    assert path.programs.sum() < sum(one.n_iter_ for one in single)
    # Fewer and fewer features with growing alpha, and never all of them.
    counts = np.count_nonzero(path.coefs, axis=1)
    assert (np.diff(counts) > 0).all()
    assert counts.max() < 100


def test_programs_are_small_where_few_features_matter():
    X, y = data(1, m=40, n=400)
    (found,) = elastic_net.solve_path(Problem(X, y), [2.0], 1e-6)
    assert np.count_nonzero(found.coef) < found.largest_program < 200


def test_the_papers_alphas_are_the_default():
    X, y = data(0)
    path = elastic_net_path(X, y)
    np.testing.assert_array_equal(path.alphas, [2.0**i for i in range(10, -1, -1)])
    assert not path.coefs[0].any()
    assert (path.objectives >= path.lower_bounds * (1 - 1e-12)).all()


def test_inaccurate_solutions_give_a_warning(monkeypatch):
    monkeypatch.setattr(elastic_net, "SMALLEST_TOLERANCE", 1e-2)
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* > tol=1e-09"):
        ElasticNetSVC(0.5, tol=1e-9).fit(*data(0))


def test_a_solver_without_an_answer_is_an_error(monkeypatch):
    monkeypatch.setattr(elastic_net, "SOLVER", "highs")
    monkeypatch.setattr("frugalsvm.paper.solvers.highs.FEASIBLE", 99)
    with pytest.raises(SolverFailed, match="without a solution"):
        ElasticNetSVC(0.5).fit(*data(0))


def test_missing_packages_are_named(uninstall):
    uninstall("clarabel", "cvxpy")
    words = r"ElasticNetSVC runs on clarabel.*pip install 'frugalsvm\[paper\]'"
    with pytest.raises(ImportError, match=words):
        ElasticNetSVC().fit(*data(0))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alpha": -1.0}, r"alpha must be a finite number >= 0, got -1\.0"),
        ({"alpha": np.nan}, "alpha.*nan"),
        ({"C": -2.0}, r"C must be a finite number > 0, got -2\.0"),
        ({"tol": 0.0}, "tol must be a finite number > 0"),
        ({"tol": True}, "tol.*True"),
    ],
)
def test_bad_input_is_explained(parameters, words):
    with pytest.raises(ValueError, match=words):
        ElasticNetSVC(**parameters).fit(*data(0))


def test_bad_paths_are_explained():
    with pytest.raises(ValueError, match="alphas must be a list"):
        elastic_net_path(*data(0), alphas=3.0)
    with pytest.raises(ValueError, match="alpha must be a finite number"):
        elastic_net_path(*data(0), alphas=[1.0, -3.0])
