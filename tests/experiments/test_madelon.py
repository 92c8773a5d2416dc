"""Numbers that the paper prints and that we reproduce; they need the data sets."""

import os

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from experiments import datasets
from frugalsvm import Problem, relax, solve

pytestmark = pytest.mark.skipif(
    not os.environ.get("FRUGALSVM_DATA"), reason="needs the data sets: FRUGALSVM_DATA"
)


def madelon(budget):
    table = datasets.load("madelon", download_missing=False)
    X = StandardScaler().fit_transform(table.X)
    return Problem(X, table.y, C=10.0, max_features=budget)


def test_the_relaxation_of_madelon():
    """Table "Lower bounds comparison": 11243.14 by MOSEK, to its accuracy."""
    np.testing.assert_allclose(relax(madelon(10)).bound, 11243.14, rtol=1e-5)


def test_the_local_search_heuristic_on_madelon():
    """Table "Results on large datasets of the Heuristic algorithm": H-LS 16660.85."""
    result = solve(
        madelon(10), method="heuristic", method_options={"strategy": "local-search"}
    )
    assert round(result.objective, 2) == 16660.85
