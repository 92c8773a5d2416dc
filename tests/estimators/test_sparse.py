"""Estimators on data that are sparse, in single precision or mapped from a file."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from frugalsvm import FrugalSVC, FrugalSVCCV, verify
from frugalsvm.problem import sources
from tests.problem.sources.tables import DENSE, SPARSE, labels, numbers

RNG = np.random.default_rng(8)
X = numbers(RNG, m=60, n=30)
Y = labels(RNG, m=60)
X[:, :3] += 0.5 * Y[:, None] * (RNG.random((60, 3)) < 0.6)
X = X.astype(np.float32).astype(np.float64)


def fitted(data, **parameters):
    return FrugalSVC(3, 0.3, random_state=0, **parameters).fit(data, Y)


@pytest.fixture(scope="module")
def dense():
    return fitted(X)


@pytest.mark.parametrize("form", [*SPARSE.values(), *DENSE.values()])
def test_the_same_model_in_every_form(dense, form):
    model = fitted(form(X))
    np.testing.assert_array_equal(model.get_support(), dense.get_support())
    np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(model.objective_, dense.objective_, rtol=1e-8)
    np.testing.assert_allclose(model.lower_bound_, dense.lower_bound_, rtol=1e-8)
    # Scores in single precision have two decimals fewer.
    rounding = 1e-5 if form(X).dtype == np.float32 else 2e-7
    for other in (X, form(X)):
        np.testing.assert_allclose(
            model.decision_function(other),
            dense.decision_function(X),
            rtol=1e-6,
            atol=rounding,
        )
    assert (model.predict(form(X)) == dense.predict(X)).all()
    pd.testing.assert_frame_equal(model.summary(), dense.summary(), rtol=1e-6)
    pd.testing.assert_frame_equal(model.summary(form(X)), dense.summary(X), rtol=1e-6)


def test_weights_of_samples(dense):
    weights = RNG.integers(0, 3, 60).astype(float)
    one = FrugalSVC(3, random_state=0).fit(X, Y, sample_weight=weights)
    other = FrugalSVC(3, random_state=0).fit(sp.csr_array(X), Y, sample_weight=weights)
    np.testing.assert_allclose(other.objective_, one.objective_, rtol=1e-8)
    np.testing.assert_array_equal(other.get_support(), one.get_support())


def test_certificates(tmp_path):
    bounds = []
    for name, data in (("dense", X), ("sparse", sp.csr_array(X))):
        path = tmp_path / f"{name}.npz"
        fitted(data, certificate=True).result_.save_certificate(path)
        bounds += [
            verify(path, other, Y, C=0.3, max_features=3).lower_bound
            for other in (X, sp.csc_array(X), X.astype(np.float32))
        ]
    np.testing.assert_allclose(bounds, bounds[0], rtol=1e-8)


@pytest.fixture
def all_large(monkeypatch):
    """All data are large enough to be used in place."""
    for name in ("FEW_ENTRIES", "FEW_FEATURES"):
        monkeypatch.setattr(sources, name, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int16])
def test_large_tables_are_not_copied(all_large, dtype):
    given = np.round(4 * X).astype(dtype)
    assert sources.is_for_source(given)
    model = fitted(given)
    wanted = fitted(given.astype(np.float64))
    np.testing.assert_allclose(model.objective_, wanted.objective_, rtol=1e-8)
    np.testing.assert_array_equal(model.get_support(), wanted.get_support())


def test_mapped_files(all_large, tmp_path, dense):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = fitted(mapped)
    np.testing.assert_allclose(model.objective_, dense.objective_, rtol=1e-8)
    np.testing.assert_allclose(
        model.decision_function(mapped),
        dense.decision_function(X),
        rtol=1e-6,
        atol=2e-7,
    )


def test_one_hot_in_a_pipeline():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "city": rng.integers(0, 400, 300).astype(str),
            "kind": rng.choice(["a", "b", "c"], 300),
            "size": rng.normal(size=300),
        }
    )
    y = np.where((frame["kind"] == "b") ^ (rng.random(300) < 0.1), "yes", "no")
    columns = ColumnTransformer(
        [
            ("hot", OneHotEncoder(handle_unknown="ignore"), ["city", "kind"]),
            ("number", StandardScaler(), ["size"]),
        ],
        sparse_threshold=1.0,
    )
    model = make_pipeline(columns, FrugalSVC(2, random_state=0)).fit(frame, y)
    assert sp.issparse(model[0].transform(frame))
    assert "hot__kind_b" in model[0].get_feature_names_out()[model[1].get_support()]
    assert model.score(frame, y) > 0.85


def test_text_in_a_pipeline():
    words = ["tree", "branch", "bound", "leaf", "root", "node", "cut", "price"]
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(words, 6)) for _ in range(80)]
    y = np.array(["branch" in text for text in texts])
    model = make_pipeline(TfidfVectorizer(), FrugalSVC(1, 10.0, random_state=0))
    model.fit(texts, y)
    names = model[0].get_feature_names_out()[model[1].get_support()]
    assert names.tolist() == ["branch"]


def test_cross_validation_of_sparse_data():
    parameters = {"max_features": [1, 2], "C": [0.1, 1.0], "random_state": 0, "cv": 3}
    one = FrugalSVCCV(scale=False, **parameters).fit(X, Y)
    other = FrugalSVCCV(**parameters).fit(sp.coo_array(X), Y)
    np.testing.assert_allclose(other.best_score_, one.best_score_)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-6, atol=1e-10)


def test_scaling_sparse_data_is_rejected():
    with pytest.raises(ValueError, match=r"scale=True.*sparse.*MaxAbsScaler"):
        FrugalSVCCV([1], [1.0], scale=True).fit(sp.csr_array(X), Y)
    model = make_pipeline(MaxAbsScaler(), FrugalSVCCV([1], [1.0], cv=2))
    assert model.fit(sp.csr_array(X), Y).score(sp.csr_array(X), Y) > 0.4


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite(value):
    wrong = sp.csr_array(X)
    wrong.data[5] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted(wrong)
