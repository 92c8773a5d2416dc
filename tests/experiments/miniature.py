"""Small made-up tables in place of the paper's data sets, which are not in CI."""

import zlib

import numpy as np

from experiments.catalogue import CATALOGUE
from experiments.datasets import LabelledTable, file_name, write_table

SMALL_SHAPE, LARGE_SHAPE = (40, 5), (36, 32)


def write_all(folder):
    """All fifteen sets."""
    for name, info in CATALOGUE.items():
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        m, n = SMALL_SHAPE if info.table == 1 else LARGE_SHAPE
        X = rng.standard_normal((m, n)).round(3)
        score = X[:, 0] - X[:, 1] + 0.8 * rng.standard_normal(m)
        y = np.where(score > np.median(score), 1.0, -1.0)
        write_table(
            folder / file_name(name), LabelledTable(X, y, [f"x{j}" for j in range(n)])
        )
    return folder
