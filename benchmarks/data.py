"""The paper's data sets, read from the folder named by FRUGALSVM_DATA or --data."""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

SMALL = (
    "wdbc", "wpbc", "wbc", "cleveland", "diabetes", "german", "ionosphere",
    "parkinsons", "wholesale",
)  # fmt: skip
LARGE = ("arrhythmia", "colorectal", "dlbcl", "lymphoma", "madelon", "mfeat")


def data_folder(option: str | None) -> Path:
    folder = option or os.environ.get("FRUGALSVM_DATA")
    if not folder:
        sys.exit(
            "The benchmarks need the data sets: set FRUGALSVM_DATA to the folder with "
            "NAME.csv.gz files, or give --data FOLDER."
        )
    path = Path(folder)
    if not (path / "wdbc.csv.gz").exists():
        sys.exit(f"No wdbc.csv.gz in {folder}; is this the folder with the data sets?")
    return path


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features standardised to mean 0 and population variance 1, labels -1 and +1."""
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    y = frame.pop("target").to_numpy(dtype=float)
    X = frame.to_numpy(dtype=float)
    deviation = X.std(axis=0)
    deviation[deviation == 0] = 1.0
    return (X - X.mean(axis=0)) / deviation, y
