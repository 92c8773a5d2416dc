"""Lists of alternatives: their models, roles and displays."""

import matplotlib
import numpy as np
import pytest

from frugalsvm import near_optimal
from frugalsvm.estimators.exchanges import exchanges, roles_of
from frugalsvm.report import SupportsDisplay
from tests.markup import EVIL, parsed

matplotlib.use("Agg")


def arrays(*supports):
    return [np.array(one, dtype=np.int64) for one in supports]


@pytest.fixture(scope="module")
def found():
    """Feature 0 is needed; 1 and 2 are nearly the same; 4 is noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    X[:, 2] = X[:, 1] + 0.05 * rng.normal(size=80)
    y = np.where(2 * X[:, 0] + X[:, 1] > 0, 1, 0)
    names = ["needed", "one", "other", "noise", EVIL]
    return near_optimal(X, y, max_features=2, tolerance=0.3, feature_names=names)


def test_roles(found):
    assert found.complete
    assert found.indispensable == ["needed"]
    assert found.replaceable == {"one": ["other"], "other": ["one"]}
    assert sorted(found.never) == sorted(["noise", EVIL])
    assert [one.n_models for one in found.roles] == [2, 1, 1, 0, 0]
    frame = found.roles_frame()
    assert frame.loc["needed", "role"] == "indispensable"
    assert frame.loc["one", "replaced_by"] == ["other"]


def test_tables(found):
    frame = found.to_frame()
    assert frame["features"].tolist() == [["needed", "other"], ["needed", "one"]]
    assert frame["excess"].iloc[0] == 0.0
    assert 0 < frame["excess"].iloc[1] <= 0.3
    np.testing.assert_array_equal(frame["objective"], found.objectives)
    assert frame["n_features"].tolist() == [2, 2]
    assert len(repr(found)) < 100
    assert "complete" in repr(found)
    assert "replaceable by other" in str(found)
    assert "+0.00 %  needed, other" in str(found)


def test_the_page_is_valid_html(found):
    page = found._repr_html_()
    parsed(page)
    assert EVIL not in page


def test_it_can_be_drawn(found):
    display = SupportsDisplay.from_near_optimal(found)
    assert display.ax_.get_yticklabels()[0].get_text() == "needed"


def test_certificates_are_only_kept_on_request(found, tmp_path):
    with pytest.raises(ValueError, match="certificate=True"):
        found.save_certificate(tmp_path / "proof")


def test_exchanges_are_between_supports_that_differ_by_one_feature():
    counts = exchanges(arrays([0, 1], [0, 2], [1, 2], [3, 4]))
    assert counts[0] == {1: 1, 2: 1}
    assert counts[1] == {0: 1, 2: 1}
    assert counts[3] == {}
    assert exchanges(arrays([0, 1, 2], [0, 1])) == {0: {}, 1: {}, 2: {}}


def test_the_most_frequent_substitute_comes_first():
    supports = arrays([0, 4], [1, 4], [0, 5], [1, 5], [2, 5])
    roles = {one.feature: one for one in roles_of(supports, list("abcdef"), set())}
    assert roles[0].replaced_by[:2] == ["b", "c"]
    assert roles[3].role == "never"
    assert roles[4].replaced_by == ["f"]


def test_missing_proofs_are_stated(found):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    y = np.where(X[:, :5].sum(axis=1) + rng.normal(size=40) > 0, 1, 0)
    few = near_optimal(X, y, max_features=4, tolerance=0.2, max_nodes=1)
    assert few.complete_up_to < 0
    assert "optimum proved to within" in repr(few)
    assert "Not complete" in str(few)
    assert "Not complete" not in str(found)
    assert "complete up to" in repr(near_optimal(X, y, tolerance=0.3, limit=3))
