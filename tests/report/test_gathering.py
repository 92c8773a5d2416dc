from dataclasses import replace

import numpy as np
import pytest

from frugalsvm import (
    FrugalPath,
    Problem,
    Result,
    Status,
    frugal_path,
    near_optimal,
    solve,
)
from frugalsvm.estimators.choice import ScoredPath
from frugalsvm.report import (
    Report,
    SelectedFeature,
    alternatives_of,
    certificate_of,
    path_of,
    progress_of,
    render,
    scored_path_of,
    verdict_of,
)


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 6))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] + generator.normal(size=60) > 0, 1, -1)


@pytest.fixture(scope="module")
def result(data):
    problem = Problem(*data, max_features=2, C=1.0)
    return solve(problem, method="branch-and-bound", certificate=True, random_state=0)


def test_a_real_result_makes_a_page(data, result):
    found = near_optimal(*data, max_features=2, tolerance=0.1, random_state=0)
    path = frugal_path(*data, max_features=range(1, 4), random_state=0)
    report = Report(
        "a model", ("-1", "1"), verdict_of(result, C=1.0, max_features=2),
        tuple(SelectedFeature(f"x{j}", result.coef[j], 1.0) for j in result.selected),
        result.intercept, progress=progress_of(result),
        path=path_of(path, chosen=2), alternatives=alternatives_of(found),
        certificate=certificate_of(result.certificate, file="proof.npz"),
    )  # fmt: skip
    page = render(report)
    assert "It has been proved that no other choice of at most two features" in page
    assert str(result.certificate.arrays["fingerprint"]) in page
    assert "60 samples, at most 2 of 6 features, C = 1, intercept" in page
    assert report.verdict.gap == result.gap


def test_roles_are_those_of_the_list(data):
    found = near_optimal(*data, max_features=2, tolerance=0.1, random_state=0)
    summary = alternatives_of(found)
    assert summary.n_models == len(found)
    assert summary.complete == found.complete
    assert all(one.role != "never" for one in summary.roles)
    named = [one.name for one in summary.roles if one.role == "indispensable"]
    assert sorted(named) == sorted(found.indispensable)


def test_an_incomplete_list_stays_marked_as_incomplete(data):
    found = near_optimal(*data, max_features=2, tolerance=0.5, max_nodes=1)
    assert not found.complete
    summary = alternatives_of(found)
    assert (summary.status, summary.n_exchanges) == (found.status, found.n_exchanges)
    assert summary.n_exchanges > 0
    assert {one.role for one in summary.roles} <= {
        "indispensable", "replaceable", "in all found",
    }  # fmt: skip


def test_a_history_without_events_is_not_drawn(result):
    assert progress_of(replace(result, history=[])) is None
    assert progress_of(replace(result, history=[(0.1, np.inf, 1.0)])) is None
    curve = progress_of(replace(result, history=[(0, 3.0, 1.0), (1, 2.0, 2.0)]))
    assert curve.objectives.tolist() == [3.0, 2.0]


def test_the_path_of_a_choice():
    mean = np.array([[0.7, 0.8, 0.9], [0.75, 0.93, 0.94]])
    path = ScoredPath(
        np.array([1, 2, 3]), np.array([0.1, 1.0]), 1 - mean, 0.5 - mean / 2, mean,
        np.full((2, 3), 0.02), None, (1, 1),
    )  # fmt: skip
    found = scored_path_of(path)
    assert found.chosen == 2
    assert found.threshold == pytest.approx(0.92)
    assert found.scores.tolist() == [0.75, 0.93, 0.94]
    assert scored_path_of(path, one_se=False).threshold is None


def test_a_fit_improves_the_path_where_it_holds():
    path = FrugalPath(
        np.array([1, 2, 3, 4]), np.array([1.0]), np.array([[9.0, 7.0, 6.0, 4.0]]),
        np.array([[5.0, 4.0, 3.0, 2.0]]), [],
    )  # fmt: skip
    result = Result(
        5.5, 5.2, np.arange(2), np.ones(5), 0.0, Status.OPTIMAL, "auto", 1.0
    )
    found = path_of(path, chosen=2, result=result)
    assert found.objectives.tolist() == [9.0, 5.5, 5.5, 4.0]
    assert found.lower_bounds.tolist() == [5.2, 5.2, 3.0, 2.0]
    assert path_of(path, chosen=2).objectives.tolist() == [9.0, 7.0, 6.0, 4.0]
