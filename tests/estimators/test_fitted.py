"""Unwrapping fitted estimators: columns, names, weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from frugalsvm import FrugalSVC
from frugalsvm.estimators.fitted import open_fitted
from tests.reference import random_data


@pytest.fixture(scope="module")
def data():
    X, y = random_data(np.random.default_rng(1), 80, 6)
    X[:, 2] = 0.0
    return pd.DataFrame(X, columns=list("abcdef")), y


def test_columns_are_followed_through_selectors(data):
    X, y = data
    model = make_pipeline(
        VarianceThreshold(), StandardScaler(), "passthrough", SelectKBest(k=3),
        LinearSVC(),
    ).fit(X, y)  # fmt: skip
    fitted = open_fitted(model)
    kept = np.delete(np.arange(6), 2)[model[3].get_support()]
    np.testing.assert_array_equal(fitted.columns(), kept)
    assert fitted.names() == [list("abcdef")[j] for j in kept]
    np.testing.assert_array_equal(np.flatnonzero(fitted.column_support()), kept)


def test_searches_calibrated_and_frozen_estimators_are_opened(data):
    X, y = data
    inner = make_pipeline(StandardScaler(), LinearSVC())
    search = GridSearchCV(inner, {"linearsvc__C": [1.0]}, cv=2)
    model = CalibratedClassifierCV(search, ensemble=False, cv=2).fit(X, y)
    fitted = open_fitted(model)
    assert isinstance(fitted.last, LinearSVC)
    assert len(fitted.calibrators) == 1
    assert fitted.column_names == list("abcdef")
    frozen = FrozenEstimator(inner.fit(X, y))
    assert open_fitted(frozen).last is inner[-1]


def test_names_without_names(data):
    X, y = data
    fitted = open_fitted(FrugalSVC(2, random_state=0).fit(X.to_numpy(), y))
    assert fitted.names() == [f"x{j}" for j in range(6)]
    assert fitted.column_support().sum() == 2


def test_names_of_steps_that_mix_columns_are_scikit_learns(data):
    X, y = data
    fitted = open_fitted(make_pipeline(PCA(2), LinearSVC()).fit(X, y))
    assert fitted.names() == ["pca0", "pca1"]
    with pytest.raises(ValueError, match="behind PCA"):
        fitted.columns()


def test_other_than_binary_linear_models_are_rejected(data):
    X, y = data
    knn = open_fitted(KNeighborsClassifier().fit(X, y))
    with pytest.raises(ValueError, match="neither get_support nor coef_"):
        knn.support()
    with pytest.raises(ValueError, match="not a linear classifier: it needs coef_"):
        knn.linear()
    three = LogisticRegression().fit(X, np.arange(80) % 3)
    coef, intercept = open_fitted(three).linear()
    np.testing.assert_array_equal(coef, three.coef_)
    np.testing.assert_array_equal(intercept, three.intercept_)
    with pytest.raises(ValueError, match="ensemble=False"):
        open_fitted(CalibratedClassifierCV(LinearSVC(), cv=2, ensemble=True).fit(X, y))
    with pytest.raises(NotFittedError):
        open_fitted(LinearSVC())
