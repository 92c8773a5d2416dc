"""Means and scales by which features become standardised.

A number has variance 1. So have the categories of a column together: with a scale of
its own for each, a column of many categories would be cheaper than one of few, and a
rare category cheaper than a frequent one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

# Tolerance for means of 0 and variances of 1.
STANDARD_TOL = 1e-9
# Rounding error of a mean, as a fraction of it.
MEAN_ROUNDING = 2.0**-51


def moments(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation; the scale is 1 for constant values."""
    mean = float(values.mean())
    # Adding the mean of the differences corrects the rounding error.
    mean += float((values - mean).mean())
    scale = math.sqrt(float(np.mean((values - mean) ** 2)))
    if not (values != values[0]).any() or not scale > 0:
        return float(values[0]), 1.0
    return mean, scale


def common_scale(shares: Iterable[float]) -> float:
    """The scale of categories with these shares of the rows; 1 if they are constant."""
    return math.sqrt(sum(share * (1.0 - share) for share in shares)) or 1.0


def deviation(
    features: Iterable[np.ndarray],
    means: Sequence[float],
    scales: Sequence[float],
    have_common: bool,
) -> float:
    """How far the features of a column are from mean 0 and variance 1.

    With ``have_common`` they have a common scale, and variance 1 together. Constant
    features have a scale of 1. A mean may be off by a rounding error of its own.
    """
    offs, variances = [0.0], []
    for values, mean, scale in zip(features, means, scales, strict=True):
        standard = (values - mean) / scale
        off = float(standard.mean())
        offs.append(abs(off) - MEAN_ROUNDING * abs(mean) / scale)
        variances.append(float(np.mean((standard - off) ** 2)))
        if not have_common and not (values != values[0]).any():
            variances[-1] = scale
    if have_common:
        variances = [sum(variances) or scales[0]]
        offs += [abs(scale / scales[0] - 1.0) for scale in scales]
    # Unlike the maximum of Python, NaN if a number is.
    return float(np.max([*offs, *(abs(one - 1.0) for one in variances)]))
