"""Data sources of a study, and digests of the data."""

from __future__ import annotations

import warnings
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from sklearn.preprocessing import StandardScaler

from frugalsvm.problem.problem import Problem

from ..datasets import CATALOGUE, DatasetNotFound, digest, load

SMALL, LARGE = (
    tuple(name for name, info in CATALOGUE.items() if info.table == table)
    for table in (1, 2)
)


class UnreadableData(RuntimeError):
    """The file of a data set exists but is damaged."""


@dataclass(frozen=True)
class DataSet:
    """Raw features and labels in {-1, +1}."""

    name: str
    X: np.ndarray
    y: np.ndarray

    def problem(self, budget: int, C: float) -> Problem:
        """FS-SVM on all samples, standardised."""
        return Problem(scaled(self.X), self.y, C=C, max_features=budget)


def scaled(X: np.ndarray) -> np.ndarray:
    """Features of mean 0 and population variance 1; constant ones become 0."""
    return np.asarray(StandardScaler().fit_transform(X))


@dataclass(frozen=True)
class DatasetSource:
    """The paper's data sets, in a folder or as found by ``datasets.load``."""

    folder: str | None = None

    def load(self, name: str) -> DataSet:
        """A data set; the last few are cached."""
        return _load(self.folder, name)

    def fingerprint(self, name: str) -> str:
        """SHA-256 of a table."""
        return _fingerprint(self.folder, name)

    def shape(self, name: str) -> tuple[int, int]:
        """Samples and features."""
        m, n = self.load(name).X.shape
        return m, n


class Catalogue(DatasetSource):
    """Shapes from the catalogue, if the data are not available yet."""

    def shape(self, name: str) -> tuple[int, int]:
        """Samples and features of the reference copies."""
        return CATALOGUE[name].shape


@lru_cache(maxsize=4)
def _load(folder: str | None, name: str) -> DataSet:
    with warnings.catch_warnings():
        # Tables 1 and 2 say which copies differ.
        warnings.simplefilter("ignore", UserWarning)
        try:
            found = load(name, data_home=folder)
        except DatasetNotFound:
            raise
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise UnreadableData(
                f"{name} cannot be read ({error}); if it is truncated, get it again."
            ) from error
    return DataSet(name, found.data, found.target)


@cache
def _fingerprint(folder: str | None, name: str) -> str:
    found = _load(folder, name)
    return digest(found.X, found.y)
