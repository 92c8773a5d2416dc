"""Large and sparse data are read in blocks, with the same verdict."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from frugalsvm import FrugalSVC, InvalidCertificate, verify
from frugalsvm.checker import SparseColumns
from frugalsvm.checker.arithmetic import square_bounds
from frugalsvm.checker.statement import fingerprint
from frugalsvm.checker.table import DataMatrix, read_table
from tests.problem.sources.tables import DENSE, SPARSE, labels, numbers

RNG = np.random.default_rng(9)
X = numbers(RNG)
Y = labels(RNG)
FORMS = [*SPARSE.values(), *DENSE.values()]
WEIGHTS = np.arange(30) % 3


@pytest.fixture
def blocks(blockwise):
    blockwise(7 * 30)


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
def test_the_same_verdict(blockwise, certificate, form):
    whole = verify(certificate, X, Y, C=0.5, sample_weight=WEIGHTS)
    blockwise(7 * 30)
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


# --- sparse columns ------------------------------------------------------------------


def sparse_columns(seed):
    """Columns as such and dense, some of them zero, full or constant."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(40, 9)) * (rng.random((40, 9)) < 0.2)
    dense *= 10.0 ** rng.uniform(-160, 49, 9)
    dense[:, 2], dense[:, 5], dense[:, 7] = 0.0, -3.5, rng.normal(size=40)
    found = sp.csc_array(dense)
    return SparseColumns(found.indptr, found.indices, found.data), dense


@pytest.mark.parametrize("seed", range(20))
def test_products_of_sparse_columns_are_bounded(seed):
    columns, dense = sparse_columns(seed)
    alpha = np.random.default_rng(seed).normal(size=40)
    norms = columns.length_bounds()
    for j, column in enumerate(dense.T.tolist()):
        exact = sum((Fraction(x) ** 2 for x in column), Fraction(0))
        assert Fraction(norms[j]) ** 2 >= exact
        assert Fraction(norms[j]) ** 2 <= exact * (1 + Fraction(1, 10**12))
    sides = np.array([0, 1, -1, 0, 1, -1, 0, 1, -1])
    for signs in (None, sides):
        squares = square_bounds(columns, norms, alpha, False, signs)
        for j, column in enumerate(dense.T.tolist()):
            pairs = zip(column, alpha.tolist(), strict=True)
            exact = sum((Fraction(x) * Fraction(a) for x, a in pairs), Fraction(0))
            if signs is not None and exact * int(sides[j]) < 0:
                exact = Fraction(0)
            assert Fraction(squares[j]) >= exact**2
        wanted = square_bounds(dense.T, norms, alpha, False, signs)
        scale = (norms * np.linalg.norm(alpha)) ** 2
        assert (np.abs(squares - wanted) <= 1e-13 * scale + 1e-290).all()


def test_constant_columns_that_are_sparse():
    columns, _ = sparse_columns(0)
    assert columns.are_constant(40).tolist() == [j in (2, 5) for j in range(9)]
    assert SparseColumns(np.zeros(4, int), *np.empty((2, 0))).are_constant(3).all()
    assert columns.length_bounds()[2] == 0.0


@pytest.mark.parametrize(
    "arguments",
    [{}, {"fit_intercept": False}, {"signs": {0: "+", 2: "-", 5: "+"}},
     {"feature_groups": np.arange(12) // 2}],
)  # fmt: skip
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_data_need_not_be_dense(arguments, n_classes, blockwise, monkeypatch):
    """The verdict is the same, with features and signs of all kinds."""
    if n_classes > 2 and "signs" in arguments:
        pytest.skip("signs are for two classes only")
    rng = np.random.default_rng(4)
    data = sp.random(60, 12, density=0.3, format="csc", rng=rng).toarray()
    data[:, 4], data[:, 8] = 0.0, 2.5
    score = data[:, 0] + data[:, 1] - data[:, 2]
    y = np.argsort(np.argsort(score, kind="stable")) * n_classes // 60
    model = FrugalSVC(3, 0.3, certificate=True, random_state=0, **arguments)
    proof = model.fit(data, y).result_.certificate
    whole = verify(proof, data, y)
    blockwise()
    monkeypatch.setattr(DataMatrix, "blocks", lambda _: pytest.fail("made dense"))
    for form in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        proved = verify(proof, form(data), y)
        np.testing.assert_allclose(proved.lower_bound, whole.lower_bound, rtol=1e-12)
        assert proved.objective == whole.objective
