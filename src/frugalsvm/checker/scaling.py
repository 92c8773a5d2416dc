"""Scaling: the units of the columns in a problem, and whether they standardise X."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .reading import reject, require
from .table import LARGEST_VALUE, DataMatrix, Units

# Maximum deviation of means from those of X, in standard deviations, and of scales from
# the standard deviations, as a fraction of them.
STANDARD_TOL = 1e-9
# A column with a smaller standard deviation counts as constant.
SMALLEST_SCALE = 1e-100
# Rounding error of a mean, as a fraction of it: two units in the last place.
MEAN_ROUNDING = 2.0**-51


@dataclass(frozen=True, eq=False)
class ColumnScaling:
    """The problem is about ``(X - mean) / scale``.

    Attributes
    ----------
    units : Units
        Means and scales of all columns.
    meaning : str
        Description of the units, if they have been checked; otherwise empty.
    """

    units: Units
    meaning: str = ""

    @classmethod
    def of_file(cls, arrays: Mapping[str, np.ndarray]) -> ColumnScaling | None:
        """The section of a certificate, limited to numbers that cannot overflow."""
        if "mean" not in arrays:
            return None
        units = Units(arrays["mean"], arrays["scale"])
        # Comparisons with NaN are false.
        is_scale = (units.scale >= SMALLEST_SCALE) & (units.scale <= LARGEST_VALUE)
        require(
            (np.abs(units.mean) <= LARGEST_VALUE).all() and is_scale.all(),
            f"bad mean or scale: means must be between -{LARGEST_VALUE:g} and "
            f"{LARGEST_VALUE:g}, scales between {SMALLEST_SCALE:g} and "
            f"{LARGEST_VALUE:g}",
        )
        return cls(units)

    def __str__(self) -> str:
        if self.meaning:
            return self.meaning
        mean, scale = self.units
        return (
            f"columns scaled to (value - mean) / scale with means {mean.min():.6g} to "
            f"{mean.max():.6g} and scales {scale.min():.6g} to {scale.max():.6g}"
        )


def checked_scaling(
    scaling: ColumnScaling | None,
    expected: Mapping[str, Any],
    table: np.ndarray | DataMatrix,
) -> ColumnScaling | None:
    """The scaling of a certificate, compared with X and what the user expects.

    ``expected`` may have a ``scaling`` and a ``sample_weight``. Without a ``scaling``,
    that of the file must standardise X; weights in the file never count.
    """
    requested = expected.get("scaling", "standard")
    if "scaling" not in expected and scaling is None:
        return None
    if requested is None:
        require(
            scaling is None,
            "it is for another problem: X is scaled in it, but scaling=None is "
            "expected",
        )
        return None
    weights = expected.get("sample_weight")
    if isinstance(requested, str):
        if requested != "standard":
            raise ValueError(
                "scaling must be None, 'standard' or the pair (mean, scale), got "
                f"{requested!r}."
            )
        weighted = "" if weights is None else ", weighted by sample_weight"
        units, meaning = None, f"columns standardised{weighted}"
    else:
        units, meaning = _pair(requested, table.shape[1]), "columns scaled as expected"
    if scaling is None:
        reject(
            "it is for another problem: X is not scaled in it, but a scaling is "
            "expected"
        )
    if units is None:
        _compare(
            scaling.units,
            standard_units(table, weights),
            "its scaling does not standardise X" + weighted,
            "; if X was standardised with weights, pass sample_weight as it was passed "
            "to the fit, and if in another way, scaling=(mean, scale)",
        )
    else:
        _compare(scaling.units, units, "it is for another problem: scaling", "")
    return replace(scaling, meaning=meaning)


def standard_units(
    table: np.ndarray | DataMatrix, weights: np.ndarray | None = None
) -> Units:
    """Means and standard deviations of all columns, weighted if there are weights.

    A column whose values of positive weight are equal has that value as its mean, and
    the scale 1. Means are corrected by those of the differences, so that neither a mean
    far larger than the deviation nor an outlier of little weight disturbs them.
    """
    shares = np.ones(table.shape[0])
    if weights is not None:
        shares = np.array(weights, dtype=np.float64)
    is_used = shares > 0
    # Divided twice: a sum of huge weights could overflow.
    shares = shares[is_used] / shares.max()
    shares /= shares.sum()
    whole = table if isinstance(table, DataMatrix) else DataMatrix(table)
    parts = [_units_of_rows(rows, shares) for rows in whole[is_used].blocks()]
    return Units(*map(np.concatenate, zip(*parts, strict=True)))


def _units_of_rows(rows: np.ndarray, shares: np.ndarray) -> Units:
    mean = rows @ shares
    # The first correction removes the rounding errors of a sum, the second those that
    # weights of very different sizes leave.
    for _ in range(2):
        mean += (rows - mean[:, None]) @ shares
    residuals = rows - mean[:, None]
    drift = residuals @ shares
    scale = np.sqrt(np.maximum(residuals**2 @ shares - drift**2, 0.0))
    is_constant = (rows == rows[:, :1]).all(axis=1) | (scale < SMALLEST_SCALE)
    return Units(
        np.where(is_constant, rows[:, 0], mean), np.where(is_constant, 1, scale)
    )


def _pair(requested: Any, n_columns: int) -> Units:
    """The means and scales that the user expects."""
    try:
        units = Units(*(np.asarray(values, dtype=np.float64) for values in requested))
    except (TypeError, ValueError) as error:
        raise ValueError(
            "scaling must be None, 'standard' or the pair (mean, scale)."
        ) from error
    if any(values.shape != (n_columns,) for values in units):
        raise ValueError(
            f"scaling=(mean, scale) must have a number for each column of X "
            f"({n_columns:,}), got shapes {units.mean.shape} and {units.scale.shape}."
        )
    return units


def _compare(units: Units, expected: Units, problem: str, advice: str) -> None:
    """Reject means and scales that differ by more than rounding.

    The tolerance depends on ``units``, those of the file, which are finite.
    """
    scale_tol = STANDARD_TOL * units.scale
    mean_tol = scale_tol + MEAN_ROUNDING * np.abs(units.mean)
    # Comparisons with NaN are false.
    is_mean = np.abs(units.mean - expected.mean) <= mean_tol
    is_scale = np.abs(units.scale - expected.scale) <= scale_tol
    for j in np.flatnonzero(~(is_mean & is_scale))[:1].tolist():
        name = "scale" if is_mean[j] else "mean"
        stated, right = (float(getattr(pair, name)[j]) for pair in (units, expected))
        reject(
            f"{problem}: the {name} of column {j} is {stated!r}, not {right!r}{advice}"
        )
