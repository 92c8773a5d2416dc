"""The samples of a cross-validation, and the problem of some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checker import standard_units
from .models import Linear, codes_of

if TYPE_CHECKING:
    from ..problem.problem import Problem
    from ..solving.result import Result


@dataclass(frozen=True)
class Standardisation:
    """The units of the data in a problem; the original ones by default.

    Attributes
    ----------
    mean, scale : ndarray of shape (n_features,) or None
    """

    mean: np.ndarray | None = None
    scale: np.ndarray | None = None

    @classmethod
    def of(cls, X: np.ndarray, sample_weight: np.ndarray) -> Standardisation:
        """Units in which the weighted data have mean 0 and variance 1."""
        if hasattr(X, "tocsc"):
            raise ValueError(
                "scale=True would make the sparse X dense; put a scaler that keeps "
                "zeros, such as sklearn.preprocessing.MaxAbsScaler, before it in a "
                "pipeline, or give X.toarray() if that fits into memory."
            )
        return cls(*standard_units(X, sample_weight))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The data in these units."""
        return X if self.mean is None else (X - self.mean) / self.scale

    def proof_for_users(self, result: Result) -> Result:
        """The result, with a certificate that takes the original data."""
        proof = result.certificate
        if proof is None or self.mean is None or self.scale is None:
            return result
        return replace(result, certificate=proof.with_scaling(self.mean, self.scale))

    def fold_back(self, model: Linear) -> Linear:
        """The same model in the original units."""
        if self.mean is None:
            return model
        coef = model.coef / self.scale
        return Linear(coef, model.intercept - coef @ self.mean)


@dataclass(frozen=True)
class ProblemMaker:
    """Makes the problem for a set of samples.

    Attributes
    ----------
    constraints : dict
        Costs, included and excluded features and the like, as ``Problem`` takes them.
    scale : bool or "auto"
        Whether to standardise; "auto" does with dense data.
    """

    constraints: Mapping[str, Any]
    scale: bool | str

    def make(
        self,
        X: np.ndarray,
        signs: np.ndarray,
        loss_weight: np.ndarray,
        sample_weight: np.ndarray,
    ) -> tuple[Problem, Standardisation]:
        """The problem and its units."""
        from ..problem.problem import Problem

        is_scaled = not hasattr(X, "tocsc") if self.scale == "auto" else self.scale
        units = Standardisation.of(X, sample_weight) if is_scaled else Standardisation()
        problem = Problem(
            units.apply(X), signs, sample_weight=loss_weight, **self.constraints
        )
        return problem, units


def take(values: Any, indices: np.ndarray) -> Any:
    """Some samples of a table, an array or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[indices]
    if hasattr(values, "shape") and not hasattr(values, "columns"):
        return values[indices]
    return np.asarray(values)[indices]


@dataclass(frozen=True)
class Samples:
    """All per-sample data of a fit, which can be split.

    Attributes
    ----------
    X : array-like
        As the user gave it, for scorers.
    data : ndarray
        The same as numbers.
    y, signs : ndarray
        Labels, and their codes -1 and +1; a column for each of more than two classes.
    sample_weight : ndarray
    """

    X: Any
    data: np.ndarray
    y: np.ndarray
    signs: np.ndarray
    sample_weight: np.ndarray

    @property
    def codes(self) -> np.ndarray:
        """The number of each sample's class."""
        return codes_of(self.signs)

    def part(self, indices: np.ndarray) -> Samples:
        """Some of the samples."""
        return Samples(
            take(self.X, indices),
            self.data[indices],
            self.y[indices],
            self.signs[indices],
            self.sample_weight[indices],
        )
