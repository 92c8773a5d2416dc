"""The paper's data sets, standardised, from the folder that FRUGALSVM_DATA names."""

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments import datasets

SMALL, LARGE = (
    tuple(name for name, info in datasets.CATALOGUE.items() if info.table == table)
    for table in (1, 2)
)


def data_folder(option: str | None) -> Path:
    folder = option or os.environ.get("FRUGALSVM_DATA")
    if not folder:
        sys.exit(
            "The benchmarks need the data sets: set FRUGALSVM_DATA to the folder with "
            "NAME.csv.gz files, or give --data FOLDER."
        )
    path = Path(folder)
    if not (path / "wdbc.csv.gz").exists():
        sys.exit(f"No wdbc.csv.gz in {folder}; is it the folder of the data sets?")
    return path


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features standardised to mean 0 and population variance 1, labels -1 and +1."""
    found = datasets.load(name, data_home=folder)
    return StandardScaler().fit_transform(found.data), found.target
