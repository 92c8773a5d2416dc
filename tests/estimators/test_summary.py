"""Tables and notebook pages of fitted classifiers."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from frugalsvm import FrugalSVC, FrugalSVCCV
from frugalsvm.paper.baselines import ElasticNetSVC, L1FrugalSVC
from tests.markup import EVIL
from tests.reference import random_data

NAMES = [EVIL, "b", "c", "d", "e", "f"]


@pytest.fixture(scope="module")
def data():
    X, noise = random_data(np.random.default_rng(5), 80, 6)
    # Two features matter, or a model would have no weights to summarise.
    y = np.where(2 * X[:, 1] + X[:, 2] + 0.5 * noise > 0, 1.0, -1.0)
    X = X * [1, 10, 100, 1, 1, 5] + [0, 3, 0, 0, 1, 0]
    return pd.DataFrame(X, columns=NAMES), y


@pytest.fixture(scope="module")
def model(data):
    return make_pipeline(
        StandardScaler(), FrugalSVC(3, random_state=0, include=[0])
    ).fit(*data)


def test_summary_of_weights(data, model):
    X, _ = data
    clf, scaler = model[-1], model[0]
    frame = clf.summary(scaler=scaler)
    support = clf.get_support(indices=True)
    assert sorted(frame.index) == sorted(NAMES[j] for j in support)
    assert (np.diff(frame["weight"].abs()) <= 0).all()
    for name, row in frame.iterrows():
        j = NAMES.index(name)
        assert row["weight"] == clf.coef_[0, j]
        assert row["weight_per_unit"] == pytest.approx(row["weight"] / scaler.scale_[j])
        assert row["standardised_weight"] == pytest.approx(row["weight"])
    assert frame.attrs["intercept"] == clf.intercept_[0]
    assert frame["variance_share"].sum() == pytest.approx(1.0)
    # The share by its definition: regress the score on the contribution of the feature.
    scaled = scaler.transform(X)
    score = clf.decision_function(scaled)
    j = NAMES.index(frame.index[0])
    share = np.cov(scaled[:, j] * clf.coef_[0, j], score)[0, 1] / score.var(ddof=1)
    assert frame["variance_share"].iloc[0] == pytest.approx(share)


def test_other_data_have_other_variance_shares(data, model):
    X, _ = data
    clf = model[-1]
    some = model[0].transform(X)[:20]
    frame = clf.to_frame(some)
    j = clf.get_support(indices=True)[np.abs(clf.coef_[0, clf.get_support()]).argmax()]
    assert frame["standardised_weight"].iloc[0] == pytest.approx(
        clf.coef_[0, j] * some[:, j].std()
    )
    with pytest.raises(ValueError, match=r"6 features of the fit.*\(4, 2\)"):
        clf.summary(np.zeros((4, 2)))


def test_min_max_scalers_multiply(data):
    X, y = data
    scaler = MinMaxScaler().fit(X)
    clf = FrugalSVC(2, random_state=0).fit(scaler.transform(X), y)
    frame = clf.summary(scaler=scaler)
    j = NAMES.index(frame.index[0])
    spread = np.ptp(X.to_numpy()[:, j])
    assert frame["weight_per_unit"].iloc[0] == pytest.approx(clf.coef_[0, j] / spread)
    with pytest.raises(ValueError, match=r"scaler has 1 features.*6"):
        clf.summary(scaler=MinMaxScaler().fit(X.iloc[:, :1]))
    with pytest.raises(ValueError, match="must have scale_"):
        clf.summary(scaler=clf)


@pytest.mark.parametrize("clf", [L1FrugalSVC(2, C=10), ElasticNetSVC(alpha=1.0, C=10)])
def test_baselines_have_summaries(data, clf):
    X, _ = data
    scaled = StandardScaler().set_output(transform="pandas").fit_transform(X)
    frame = clf.fit(scaled, 2 * scaled["b"] + scaled["c"] > 0).summary()
    assert {"b", "c"} <= set(frame.index)
    assert frame["variance_share"].sum() == pytest.approx(1.0)
    assert "frugalsvm-report" in clf._repr_html_()


def test_samples_of_weight_zero_do_not_count(data):
    X, y = data
    weights = np.r_[np.zeros(20), np.ones(60)]
    some = FrugalSVC(2, C=1e-3, random_state=0).fit(X, y, sample_weight=weights)
    alone = FrugalSVC(2, C=1e-3, random_state=0).fit(X[20:], y[20:])
    pd.testing.assert_frame_equal(some.summary(), alone.summary())


def test_weights_of_samples_are_copies_of_samples(data):
    X, y = data
    copies = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = FrugalSVC(2, C=1e-3, random_state=0).fit(X, y, sample_weight=copies)
    rows = np.repeat(np.arange(len(y)), copies)
    repeated = FrugalSVC(2, C=1e-3, random_state=0).fit(X.iloc[rows], y[rows])
    summary = weighted.summary()
    pd.testing.assert_frame_equal(summary, repeated.summary(), rtol=1e-4)
    name = summary.index[0]
    deviation = np.sqrt(np.cov(X[name], fweights=copies, ddof=0))
    share = summary["standardised_weight"].iloc[0] / summary["weight"].iloc[0]
    assert share == pytest.approx(deviation)
    assert share != pytest.approx(X[name].std(ddof=0), rel=1e-3)


def test_scales_of_weighted_folds_are_those_of_the_summary(data):
    X, y = data
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(y))
    model = FrugalSVCCV([2], [1.0], cv=2, scale=True, effort="fast", random_state=0)
    summary = model.fit(X, y, sample_weight=weights).summary()
    weighted = model.result_.refit or model.result_
    coef = {NAMES[j]: weighted.coef[j] for j in model.result_.selected}
    for name, value in summary["standardised_weight"].items():
        assert value == pytest.approx(coef[name])


def test_class_weights_do_not_change_the_spread(data):
    X, y = data
    model = FrugalSVC(2, C=1e-3, class_weight={-1: 5.0, 1: 1.0}, random_state=0)
    summary = model.fit(X, y).summary()
    for name, row in summary.iterrows():
        assert row["standardised_weight"] == pytest.approx(
            row["weight"] * X[name].std(ddof=0)
        )


def test_without_pandas_an_error_says_so(data, uninstall):
    clf = FrugalSVC(2, random_state=0).fit(*data)
    uninstall("pandas")
    with pytest.raises(ImportError, match="pip install pandas"):
        clf.summary()


def test_notebooks_show_the_weights_of_the_estimator(data):
    """They need not be those of the run, e.g. where scales were folded back."""
    clf = FrugalSVC(2, random_state=0).fit(*data)
    clf.coef_ = clf.coef_ * 1000.0
    largest = clf.coef_[0, np.abs(clf.coef_[0]).argmax()]
    assert f"{largest:+.4g}" in clf._repr_html_().split("frugalsvm-report")[1]


def test_notebooks_show_the_diagram_and_the_model(data):
    unfitted = FrugalSVC(2, random_state=0)
    assert "frugalsvm-report" not in unfitted._repr_html_()
    clf = unfitted.fit(*data)
    for page in (clf._repr_html_(), clf._repr_mimebundle_()["text/html"]):
        assert "sk-container" in page
        assert page.count("frugalsvm-report") == 1
        assert "<script>alert(1)" not in page.split("frugalsvm-report")[1]
    # A pipeline around it is scikit-learn's diagram.
    assert "sk-container" in make_pipeline(clf)._repr_html_()
    with config_context(display="text"):
        assert not hasattr(clf, "_repr_html_")
        assert "text/html" not in clf._repr_mimebundle_()
