"""Large and sparse data are read in blocks, with the same verdict."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from frugalsvm import FrugalSVC, InvalidCertificate, verify
from frugalsvm.checker import table
from frugalsvm.checker.statement import fingerprint
from frugalsvm.checker.table import DataMatrix, read_table
from tests.problem.sources.tables import DENSE, SPARSE, labels, numbers

RNG = np.random.default_rng(9)
X = numbers(RNG)
Y = labels(RNG)
FORMS = [*SPARSE.values(), *DENSE.values()]
WEIGHTS = np.arange(30) % 3


@pytest.fixture
def blocks(monkeypatch):
    monkeypatch.setattr(table, "WHOLE", 0)
    monkeypatch.setattr(table, "WHOLE_DOUBLES", 0)
    monkeypatch.setattr(table, "BLOCK", 7 * 30)


@pytest.fixture(scope="module", params=[True, False])
def certificate(request):
    model = FrugalSVC(
        3, 0.5, random_state=0, certificate=True, fit_intercept=request.param,
        max_nodes=50, method_options={"patience": 5},
    )  # fmt: skip
    with warnings.catch_warnings():
        # Whether there are enough nodes does not matter.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, Y, sample_weight=WEIGHTS)
    return model.result_.certificate


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_every_form(blocks, form):
    made = read_table(form(X))
    assert isinstance(made, DataMatrix)
    np.testing.assert_array_equal(np.vstack(list(made.blocks())), X.T)
    kept = WEIGHTS > 0
    rows = made[kept].as_rows()
    wanted = X[kept].T
    np.testing.assert_array_equal(rows[np.array([7, 0])], wanted[[7, 0]])
    assert len(list(rows)) > 1
    assert fingerprint(rows.parts(), Y[kept]) == fingerprint(wanted, Y[kept])


@pytest.mark.parametrize("form", FORMS)
def test_small_tables_are_dense(form):
    made = read_table(form(X))
    assert isinstance(made, np.ndarray)
    np.testing.assert_array_equal(made, X)
    assert made.dtype == np.float64


@pytest.mark.parametrize("form", FORMS)
def test_the_same_verdict(monkeypatch, certificate, form):
    whole = verify(certificate, X, Y, C=0.5, sample_weight=WEIGHTS)
    monkeypatch.setattr(table, "WHOLE", 0)
    monkeypatch.setattr(table, "WHOLE_DOUBLES", 0)
    monkeypatch.setattr(table, "BLOCK", 7 * 30)
    proved = verify(certificate, form(X), Y, C=0.5, sample_weight=WEIGHTS)
    np.testing.assert_allclose(proved.lower_bound, whole.lower_bound, rtol=1e-12)
    assert proved.objective == whole.objective


def test_other_data_are_noticed(blocks, certificate):
    other = X.copy()
    other[1, 39] += 1e-9
    for data in (other, sp.csr_array(other)):
        with pytest.raises(InvalidCertificate, match="for other data"):
            verify(certificate, data, Y)
    other[1, 39] = np.nan
    for data in (other, sp.csr_array(other)):
        with pytest.raises(InvalidCertificate, match="NaN"):
            verify(certificate, data, Y)
