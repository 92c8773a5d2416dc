"""What was proved is said, and compared with what the user has in mind."""

import numpy as np
import pytest

from frugalsvm import FrugalSVC, InvalidCertificate, verify
from frugalsvm.checker import checksum
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


def test_what_was_excluded_is_printed(data):
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


def test_parameters_mean_what_they_mean_to_a_fit(data):
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
        ({"C": 2.0}, "another C: 1, not 2"),
        ({"sample_weight": np.full(40, 2.0)}, "another C or sample_weight"),
        ({"max_features": 4}, "another max_features: 3, not 4"),
        ({"max_features": None}, "another max_features: 3"),
        ({"include": [1]}, "another include"),
        ({"exclude": [0]}, "another exclude"),
        ({"max_cost": None}, "another max_cost: 20"),
        ({"costs": None}, "another costs"),
        ({"costs": np.ones(8)}, "another costs"),
        ({"fit_intercept": False}, "another fit_intercept: True, not False"),
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


def test_masked_data_are_refused(data):
    X, y = data
    proof = fitted(data, max_features=3)
    with pytest.raises(ValueError, match="masked"):
        verify(proof, np.ma.masked_less(X, -5), y)
