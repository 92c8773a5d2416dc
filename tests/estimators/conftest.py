"""A table, and a FrugalSVCCV that was fitted to it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from frugalsvm import FrugalSVCCV

QUICK = {"effort": "fast", "random_state": 0}


@pytest.fixture(scope="session")
def table():
    X, y = make_classification(
        120, 8, n_informative=4, n_redundant=0, flip_y=0.05, random_state=3
    )
    # Columns of different size, so that scaling matters.
    X = pd.DataFrame(X * 10.0 ** np.arange(-2, 6), columns=list("abcdefgh"))
    return X, np.where(y == 1, "yes", "no")


@pytest.fixture(scope="session")
def fitted(table):
    return FrugalSVCCV(
        [1, 2, 4], [0.03, 1.0], refit_C="same", scoring="accuracy", **QUICK
    ).fit(*table)
