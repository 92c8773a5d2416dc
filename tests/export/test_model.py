"""PortableModel: what is converted, what is stored, and what is rejected."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from frugalsvm import FrugalSVC, InvalidModel, PortableModel, verify
from frugalsvm.export import Feature, Isotonic, Proof, Sigmoid
from tests.export.models import NAMES, data, fitted
from tests.markup import EVIL, parsed

numbers = st.floats(allow_nan=False, allow_infinity=False)
labels = st.one_of(
    st.tuples(st.text(), st.text()),
    st.tuples(st.integers(), st.integers()),
    st.tuples(numbers, numbers),
    st.just((False, True)),
).filter(lambda pair: pair[0] != pair[1])
digests = st.text("0123456789abcdef", min_size=64, max_size=64)


@st.composite
def models(draw):
    names = draw(st.lists(st.text(), unique=True, max_size=6))
    features = tuple(
        Feature(
            name, 2 * j, draw(numbers), draw(numbers.filter(lambda s: s > 0)),
            draw(numbers), draw(st.none() | st.text()),
        )
        for j, name in enumerate(names)
    )  # fmt: skip
    points = sorted(draw(st.sets(numbers, min_size=1, max_size=5)))
    heights = [draw(st.floats(0, 1)) for _ in points]
    calibration = draw(
        st.none()
        | st.builds(Sigmoid, numbers, numbers)
        | st.just(Isotonic(tuple(points), tuple(heights)))
    )
    proof = draw(
        st.none()
        | st.builds(Proof, numbers, numbers, st.text())
        | st.builds(Proof, numbers, numbers, st.text(), digests, digests)
    )
    return PortableModel(
        features, draw(numbers), draw(labels), 2 * len(names), calibration, proof,
        draw(st.dictionaries(st.text(), st.text(), max_size=3)),
    )  # fmt: skip


def bits(value):
    """A value in which all floats are their bits: -0.0 is not 0.0."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return {key: bits(one) for key, one in value.items()}
    return [bits(one) for one in value] if isinstance(value, list) else value


@given(models())
@settings(max_examples=200, deadline=None)
def test_round_trips_are_exact_to_the_last_bit(model):
    text = model.to_json()
    again = PortableModel.from_json(text)
    assert again == model
    assert again.to_json() == text
    for one, other in zip(model.features, again.features, strict=True):
        for field in ("mean", "scale", "weight"):
            assert getattr(one, field).hex() == getattr(other, field).hex()
    assert model.intercept.hex() == again.intercept.hex()
    assert [type(label) for label in model.classes] == [
        type(label) for label in again.classes
    ]
    # Any other reader of JSON sees the same numbers.
    assert bits(json.loads(text)["features"]) == bits(
        json.loads(again.to_json())["features"]
    )


@pytest.mark.parametrize("method", [None, "sigmoid", "isotonic"])
def test_files_predict_like_the_estimator(method, tmp_path):
    X, _ = data()
    estimator = fitted(method=method)
    PortableModel.from_estimator(estimator).save(tmp_path / "model.json")
    model = PortableModel.load(tmp_path / "model.json")
    np.testing.assert_array_equal(model.predict(X), estimator.predict(X))
    if method is None:
        np.testing.assert_allclose(
            model.decision_function(X), estimator.decision_function(X), rtol=1e-12
        )
        with pytest.raises(ValueError, match="was not calibrated"):
            model.predict_proba(X)
    else:
        np.testing.assert_allclose(
            model.predict_proba(X), estimator.predict_proba(X), rtol=1e-10, atol=1e-14
        )


def test_temperatures_are_sigmoids():
    try:
        estimator = fitted(method="temperature")
    except ValueError:
        pytest.skip("this scikit-learn has no temperature scaling")
    X, _ = data()
    np.testing.assert_allclose(
        PortableModel.from_estimator(estimator).predict_proba(X),
        estimator.predict_proba(X),
        atol=1e-14,
    )


@pytest.mark.filterwarnings("ignore:lbfgs failed")
@pytest.mark.parametrize(
    "steps",
    [
        [],
        [StandardScaler(with_mean=False)],
        [StandardScaler(with_std=False), MaxAbsScaler()],
        [StandardScaler(with_std=False, with_mean=False), "passthrough"],
        [MinMaxScaler(feature_range=(-2, 3))],
        [RobustScaler(), SelectKBest(k=4), StandardScaler()],
        [FunctionTransformer(), RobustScaler(with_centering=False, with_scaling=False)],
    ],
)
def test_scalers_become_means_and_scales(steps):
    X, y = data()
    estimator = make_pipeline(*steps, LogisticRegression(C=0.1, max_iter=3)).fit(X, y)
    model = PortableModel.from_estimator(estimator)
    np.testing.assert_allclose(
        model.decision_function(X), estimator.decision_function(X), rtol=1e-9,
        atol=1e-7,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([PCA(2)], "PCA cannot be expressed by"),
        ([SimpleImputer(missing_values=-1)], "SimpleImputer replaces -1"),
        ([PolynomialFeatures(2)], "PolynomialFeatures cannot .* without it"),
        ([MinMaxScaler(clip=True)], "without clip"),
        ([FunctionTransformer(np.abs)], "FunctionTransformer"),
    ],
)
def test_other_steps_are_rejected(steps, words):
    X, y = data()
    estimator = make_pipeline(*steps, LinearSVC()).fit(X, y)
    with pytest.raises(ValueError, match=words):
        PortableModel.from_estimator(estimator)


def test_units_metadata_and_proof_are_kept(tmp_path):
    X, y = data()
    estimator = fitted(3, certificate=True)
    clf = estimator[-1]
    name = NAMES[clf.get_support(indices=True)[0]]
    model = PortableModel.from_estimator(
        estimator, units={name: "mm²"}, metadata={"who": "me"}
    )
    again = PortableModel.from_json(model.to_json())
    assert again.features[0].unit == "mm²"
    assert again.metadata == {"who": "me"}
    assert again.proof.lower_bound == clf.lower_bound_
    # The fingerprint is that of the certificate, which proves what the file says.
    checked = verify(clf.result_.certificate, estimator[0].transform(X), y)
    assert checked.objective == pytest.approx(again.proof.objective)
    arrays = clf.result_.certificate.arrays
    assert again.proof.fingerprint == str(arrays["fingerprint"])
    assert again.proof.checksum == str(arrays["checksum"])
    with pytest.raises(ValueError, match="units has 'nothing'"):
        PortableModel.from_estimator(estimator, units={"nothing": "mm"})


@pytest.mark.parametrize("kind", [int, float, bool, str])
def test_labels_keep_their_kind(kind):
    X, y = data()
    codes = (y == "none").astype(int).astype(kind)
    estimator = FrugalSVC(2, random_state=0).fit(
        StandardScaler().fit_transform(X), codes
    )
    model = PortableModel.from_json(PortableModel.from_estimator(estimator).to_json())
    predicted = model.predict(StandardScaler().fit_transform(X))
    assert predicted.dtype.kind == codes.dtype.kind
    assert {type(label) for label in model.classes} == {kind}
    assert model.names == [f"x{j}" for j in estimator.get_support(indices=True)]


def test_columns_are_found_by_name_or_by_position():
    X, _ = data()
    model = PortableModel.from_estimator(fitted(3))
    expected = model.decision_function(X)
    shuffled = X[list(reversed(NAMES))].assign(more=1.0)
    for same in (shuffled, X.to_numpy(), X[model.names], X[model.names].to_numpy(),
                 dict(X), X.to_dict("list")):  # fmt: skip
        np.testing.assert_array_equal(model.decision_function(same), expected)
    row = {name: X[name].iloc[0] for name in model.names}
    assert model.decision_function(row)[0] == pytest.approx(expected[0])
    with pytest.raises(ValueError, match="X has no column"):
        model.predict(X.drop(columns=model.names[0]))
    with pytest.raises(
        ValueError, match=r"6 columns, or only the 3 .* got shape \(4, 5\)"
    ):
        model.predict(np.zeros((4, 5)))
    with pytest.raises(ValueError, match="NaN or infinite"):
        model.predict(X.assign(**{model.names[0]: np.nan}))


def test_models_without_names_take_frames_by_place():
    X, y = data()
    estimator = fitted(3)
    plain = make_pipeline(StandardScaler(), FrugalSVC(3, random_state=0))
    model = PortableModel.from_estimator(plain.fit(X.to_numpy(), y))
    np.testing.assert_array_equal(model.predict(X), estimator.predict(X))


@pytest.mark.parametrize("method", [None, "sigmoid", "isotonic"])
def test_pipelines_predict_alike_and_can_be_taken_over_again(method):
    X, _ = data()
    model = PortableModel.from_estimator(fitted(3, method))
    pipeline = model.to_pipeline()
    some = X[model.names]
    np.testing.assert_array_equal(pipeline.predict(some), model.predict(X))
    if method is not None:
        np.testing.assert_allclose(
            pipeline.predict_proba(some), model.predict_proba(X), rtol=1e-12
        )
    again = PortableModel.from_estimator(pipeline)
    assert [(one.name, one.weight, one.mean, one.scale) for one in again.features] == [
        (one.name, one.weight, one.mean, one.scale) for one in model.features
    ]
    assert again.calibration == model.calibration
    assert again.classes == model.classes
    assert "frugalsvm" in repr(type(pipeline)) or "sk-" in pipeline._repr_html_()


def test_a_constant_classifier_is_portable_but_not_a_pipeline():
    X, y = data()
    model = PortableModel.from_estimator(FrugalSVC(0).fit(X, y))
    again = PortableModel.from_json(model.to_json())
    assert again.features == ()
    assert set(again.predict(X)) == set(FrugalSVC(0).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="uses no feature"):
        again.to_pipeline()


def test_frames_and_pages():
    model = PortableModel.from_estimator(fitted(3))
    frame = model.to_frame()
    assert (np.diff(frame["weight"].abs()) <= 0).all()
    assert isinstance(frame, pd.DataFrame)
    np.testing.assert_allclose(
        frame["weight_per_unit"], frame["weight"] / frame["scale"]
    )
    assert len(repr(model)) < 120
    assert "intercept" in str(model)
    evil = PortableModel((Feature(EVIL, 0, 0.0, 1.0, 2.0),), 0.0, (EVIL, "b"), 1)
    page = parsed(evil._repr_html_())
    assert "script" not in page.tags
    assert page.text.count(EVIL) == 2


def test_predicting_loads_no_numba_and_no_scikit_learn(tmp_path):
    X, _ = data()
    model = PortableModel.from_estimator(fitted(3))
    model.save(tmp_path / "model.json")
    np.save(tmp_path / "X.npy", X.to_numpy())
    code = (
        "import sys, numpy as np\n"
        "from frugalsvm import PortableModel\n"
        f"model = PortableModel.load({str(tmp_path / 'model.json')!r})\n"
        f"model.predict(np.load({str(tmp_path / 'X.npy')!r}))\n"
        "heavy = {'numba', 'sklearn', 'pandas', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "model.to_pipeline().decision_function(np.zeros((1, 3)))\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_bad_parts_are_rejected():
    good = Feature("a", 0, 0.0, 1.0, 1.0)
    with pytest.raises(InvalidModel, match="'a' twice"):
        PortableModel((good, Feature("a", 1, 0.0, 1.0, 1.0)), 0.0, (0, 1), 2)
    with pytest.raises(InvalidModel, match="sorted by index"):
        PortableModel((good, Feature("b", 0, 0.0, 1.0, 1.0)), 0.0, (0, 1), 2)
    with pytest.raises(InvalidModel, match="n_features_in is 0"):
        PortableModel((good,), 0.0, (0, 1), 0)
    for classes in ((1, 1), (1, "b")):
        with pytest.raises(InvalidModel, match="different labels of the same type"):
            PortableModel((good,), 0.0, classes, 1)
    with pytest.raises(InvalidModel, match="intercept must be a finite number"):
        PortableModel((good,), float("nan"), (0, 1), 1).to_json()
