"""The scaling of a file standardises X, or is the one that the user expects."""

import re
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVCCV, InvalidCertificate, Problem, solve, verify
from frugalsvm.checker import fingerprint, standard_units
from frugalsvm.checker.reading import checksum
from frugalsvm.checker.table import DataMatrix
from tests.checker.forging import sealed
from tests.reference import random_data

C = 0.5
NOT_STANDARD = "its scaling does not standardise X"


def exact_units(X, weights=None):
    """Means and scales of columns from rational numbers."""
    shares = [Fraction(w) for w in (np.ones(len(X)) if weights is None else weights)]
    total = sum(shares)
    means, scales = [], []
    for column in X.T.tolist():
        values = [Fraction(x) for x in column]
        mean = sum(w * x for w, x in zip(shares, values, strict=True)) / total
        squares = sum(w * (x - mean) ** 2 for w, x in zip(shares, values, strict=True))
        root = Fraction(isqrt(int(squares / total * 4**1000)), 2**1000)
        means.append(mean)
        scales.append(root if squares else Fraction(1))
    return means, scales


def scaled_proof(X, y, units=None, **arguments):
    """A result and its proof, about X in some units: standardised by default."""
    mean, scale = (X.mean(axis=0), X.std(axis=0)) if units is None else units
    arguments = {"C": C, "max_features": 2, **arguments}
    problem = Problem((X - mean) / scale, y, **arguments)
    result = solve(problem, method="branch-and-bound", certificate=True)
    return result, result.certificate.with_scaling(mean, scale)


@pytest.fixture(scope="module")
def data():
    X, y = random_data(np.random.default_rng(5), 30, 5)
    return 100 * X + 7, y


@pytest.fixture
def blocks(blockwise):
    blockwise(70)


# --- what is proved is what is printed -----------------------------------------------


def test_data_are_given_as_they_were_given_to_the_fit(data, tmp_path):
    X, y = data
    result, proof = scaled_proof(X, y)
    proof.save(tmp_path / "proof.npz")
    proved = verify(tmp_path / "proof.npz", X, y, C=C, max_features=2)
    assert proved.lower_bound >= result.lower_bound * (1 - 1e-9)
    assert str(proved).endswith("C = 0.5, intercept, columns standardised")
    np.testing.assert_array_equal(proved.problem.scaling.units.mean, X.mean(axis=0))
    with pytest.raises(InvalidCertificate, match="other data"):
        verify(result.certificate, X, y)
    with pytest.raises(InvalidCertificate, match=NOT_STANDARD):
        verify(proof, (X - X.mean(axis=0)) / X.std(axis=0), y)


def test_a_proof_for_columns_made_useless_is_rejected(data):
    """It is valid, but for another problem than the data say."""
    X, y = data[0], np.where(data[0][:, 3] > 0, 1.0, -1.0)
    honest, _ = scaled_proof(X, y, C=1.0)
    scale = X.std(axis=0)
    scale[np.flatnonzero(honest.coef)] *= 1e6
    units = X.mean(axis=0), scale
    _, forged = scaled_proof(X, y, units, C=1.0)
    assert float(forged.arrays["lower_bound"]) > 2 * honest.objective
    expected = {"C": 1.0, "max_features": 2, "fit_intercept": True, "costs": None}
    for words in (NOT_STANDARD, "sample_weight", "scaling=(mean, scale)"):
        with pytest.raises(InvalidCertificate, match=re.escape(words)):
            verify(forged, X, y, **expected)
    with pytest.raises(InvalidCertificate, match=NOT_STANDARD):
        verify(forged, X, y, scaling="standard")
    # Those who expect such units get what they ask for, and read it.
    proved = verify(forged, X, y, scaling=units)
    assert str(proved).endswith("columns scaled as expected")


@pytest.mark.parametrize("make", [np.array, np.asfortranarray, sp.csr_array, "single"])
@pytest.mark.parametrize("column", [0, 4])
@pytest.mark.parametrize("name", ["mean", "scale"])
def test_small_changes_of_any_column_are_noticed(make, column, name, blocks):
    X, y = random_data(np.random.default_rng(6), 30, 5)
    X = np.asarray(X.astype(np.float32), float)
    X[:, 1] = 3.0
    make = np.float32 if make == "single" else make
    units = standard_units(X)
    for change, is_valid in ((0.0, True), (1e-11, True), (3e-9, False)):
        other = units._asdict()
        other[name] = other[name].copy()
        other[name][column] += change * units.scale[column]
        result, proof = scaled_proof(X, y, tuple(other.values()))
        if is_valid:
            proved = verify(proof, make(X), y)
            assert proved.lower_bound >= result.lower_bound * (1 - 1e-9)
            continue
        words = f"{NOT_STANDARD}: the {name} of column {column} is "
        with pytest.raises(InvalidCertificate, match=words):
            verify(proof, make(X), y)


def test_weights_are_those_of_the_user_and_never_of_the_file(data):
    X, y = data
    weights = np.arange(30) % 4 / 2.0
    scaler = StandardScaler().fit(X, sample_weight=weights)
    units = scaler.mean_, scaler.scale_
    _, proof = scaled_proof(X, y, units, sample_weight=weights)
    for words in (NOT_STANDARD, "sample_weight", "scaling"):
        with pytest.raises(InvalidCertificate, match=words):
            verify(proof, X, y, C=[C * w for w in weights])
    proved = verify(proof, X, y, C=C, sample_weight=weights)
    assert "22 of 30 samples" in str(proved)
    assert str(proved).endswith("columns standardised, weighted by sample_weight")
    verify(proof, X, y, C=C, sample_weight=weights, scaling="standard")
    verify(proof, X, y, scaling=units)
    # The same weights, but other units.
    _, plain = scaled_proof(X, y, sample_weight=weights)
    with pytest.raises(InvalidCertificate, match=NOT_STANDARD):
        verify(plain, X, y, C=C, sample_weight=weights)
    verify(plain, X, y)


def test_what_the_user_expects(data):
    X, y = data
    result, proof = scaled_proof(X, y)
    units = X.mean(axis=0), X.std(axis=0)
    verify(result.certificate, (X - units[0]) / units[1], y, scaling=None)
    verify(proof, X, y, scaling="standard")
    verify(proof, X, y, scaling=[units[0].tolist(), units[1].tolist()])
    for scaling, words in (
        (None, "X is scaled in it, but scaling=None is expected"),
        ((units[0], 2 * units[1]), "another problem: scaling: the scale of column 0"),
        ((units[0] + 1, units[1]), "another problem: scaling: the mean of column 0"),
        ((units[0] * np.nan, units[1]), "the mean of column 0 is"),
        ((units[0], units[1] * np.nan), "the scale of column 0 is"),
        ((units[0], units[1] * np.inf), "the scale of column 0 is"),
        ((units[0] * np.inf, units[1]), "the mean of column 0 is"),
    ):
        with pytest.raises(InvalidCertificate, match=words):
            verify(proof, X, y, scaling=scaling)
    scaled = (X - units[0]) / units[1]
    for scaling in ("standard", units):
        with pytest.raises(InvalidCertificate, match="X is not scaled in it, but a"):
            verify(result.certificate, scaled, y, scaling=scaling)
    for scaling in ("none", 3, (1.0, 2.0), units[:1], (units[0][:4], units[1])):
        with pytest.raises(ValueError, match=r"scaling(=| must)") as caught:
            verify(proof, X, y, scaling=scaling)
        assert not isinstance(caught.value, InvalidCertificate)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: {"mean": a["mean"] + 1e-3}, NOT_STANDARD),
        (lambda a: {"scale": a["scale"] * 2}, NOT_STANDARD),
        (lambda a: {"scale": a["scale"] * 0}, "bad mean or scale"),
        (lambda a: {"scale": -a["scale"]}, "bad mean or scale"),
        (lambda a: {"scale": a["scale"] * 1e-300}, "bad mean or scale"),
        (lambda a: {"scale": a["scale"] * np.inf}, "bad mean or scale"),
        (lambda a: {"scale": a["scale"] * np.nan}, "bad mean or scale"),
        (lambda a: {"scale": a["scale"] * 1e60}, "bad mean or scale"),
        (lambda a: {"mean": a["mean"] * np.nan}, "bad mean or scale"),
        (lambda a: {"mean": a["mean"] * np.inf}, "bad mean or scale"),
        (lambda a: {"mean": a["mean"] * -1e60}, "bad mean or scale"),
        (lambda a: {"mean": a["mean"][1:]}, "too short"),
        (lambda a: {"format": np.array(2)}, "unknown format"),
        (lambda a: {"preparation": np.zeros(3, np.uint8)}, "a preparation and a scal"),
    ],
)
def test_forged_scalings_are_rejected(change, words, data):
    arrays = dict(scaled_proof(*data)[1].arrays)
    with pytest.raises(InvalidCertificate, match=words):
        verify(sealed(arrays, **change(arrays)), *data)


def test_a_scaling_of_constants_is_1(data):
    """With a tiny scale, rounding errors would become a useful column."""
    X, y = data
    X = X.copy()
    X[:, 2] = 1e17
    mean, scale = standard_units(X)
    assert (mean[2], scale[2]) == (1e17, 1.0)
    _, proof = scaled_proof(X, y, (mean, scale))
    verify(proof, X, y)
    for other in ((1e17 - 64, 1.0), (1e17, 2.0), (1e17, 1e-20)):
        arrays = dict(proof.arrays)
        arrays["mean"], arrays["scale"] = mean.copy(), scale.copy()
        arrays["mean"][2], arrays["scale"][2] = other
        A = (((X - arrays["mean"]) / arrays["scale"]) * y[:, None]).T
        arrays["fingerprint"] = np.array(fingerprint(A, y))
        arrays["checksum"] = np.array(checksum(arrays))
        with pytest.raises(InvalidCertificate, match=NOT_STANDARD):
            verify(arrays, X, y)


# --- means and deviations ------------------------------------------------------------


def tables():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 12))
    X[:, 1] += 1e9
    X[:, 2] = 1e15 + rng.integers(0, 5, 40)
    X[:, 3] *= 1e49
    X[:, 4] *= 1e-60
    X[:, 5] = rng.random(40) < 0.1
    X[:, 6] = 0.0
    X[0, 6] = 1e30
    X[:, 7] = 1.7e18 + np.arange(40) * 256.0
    X[:, 8] = 0.1
    X[:, 9] = -1e50
    X[3, 9] = 1e50
    weights = 10.0 ** rng.uniform(-20, 20, 40)
    weights[::7] = 0.0
    X[0, 10] = 1e40
    return X, weights


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("size", [None, 40, 100])
def test_units_are_exact_means_and_deviations(is_weighted, size, blockwise):
    X, weights = tables()
    if size is not None:
        blockwise(size)
    weights = weights if is_weighted else None
    found = standard_units(X, weights)
    means, scales = exact_units(X, weights)
    for j in range(X.shape[1]):
        scale = scales[j]
        assert abs(Fraction(found.scale[j]) - scale) <= scale / 10**11
        room = scale / 10**11 + abs(means[j]) / 2**52
        assert abs(Fraction(found.mean[j]) - means[j]) <= room
    for form in (DataMatrix(X), DataMatrix(sp.csr_array(X)), np.asfortranarray(X)):
        same = standard_units(form, weights)
        np.testing.assert_allclose(same.scale, found.scale, rtol=1e-12)
        off = np.abs(same.mean - found.mean) / found.scale
        assert (off <= 1e-12 + np.abs(found.mean) / found.scale / 2**51).all()


def test_units_are_those_of_scikit_learn():
    X, _ = random_data(np.random.default_rng(0), 50, 6)
    for weights in (None, np.arange(50) % 3 / 7):
        scaler = StandardScaler().fit(X, sample_weight=weights)
        found = standard_units(X, weights)
        np.testing.assert_allclose(found.mean, scaler.mean_, rtol=0, atol=1e-14)
        np.testing.assert_allclose(found.scale, scaler.scale_, rtol=1e-13)


# --- what is written -----------------------------------------------------------------


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("class_weight", [None, "balanced", {1: 3.0, 0: 0.7}])
def test_certificates_of_estimators_are_valid(is_weighted, class_weight):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3 > 1
    X[:, 0] = 1.7e9 + 3600 * (y + 0.3 * X[:, 0]).round(1)
    X[:, 1] = np.nextafter(1e6, np.inf)
    X[0, 1] = 1e6
    X[:, 2] = 4.0
    weights = rng.integers(0, 4, 60) / 3.0 if is_weighted else None
    model = FrugalSVCCV(
        [1], [1.0], refit_C=[0.3], cv=2, class_weight=class_weight, certificate=True,
        random_state=0, effort="fast",
    )  # fmt: skip
    model.fit(X, y.astype(int), sample_weight=weights)
    proof = model.result_.certificate
    proved = verify(
        proof, X, y.astype(int), C=1.0, refit_C=0.3, max_features=1,
        sample_weight=weights, class_weight=class_weight,
    )  # fmt: skip
    assert "columns standardised" in str(proved)
    assert model.result_.objective == pytest.approx(proved.objective)
    for other in ({1: 3.1, 0: 0.7}, {1: 3.0}):
        with pytest.raises(InvalidCertificate, match=r"C or .*class_weight is"):
            verify(
                proof, X, y.astype(int), C=1.0, sample_weight=weights,
                class_weight=other,
            )  # fmt: skip
    for strange, words in (({2: 1.0}, "has 2, which y has"), ("even", "'balanced' or")):
        with pytest.raises(ValueError, match=words):
            verify(proof, X, y.astype(int), class_weight=strange)
