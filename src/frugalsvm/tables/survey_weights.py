"""Columns of survey weights: for how many units of the population a row stands."""

from __future__ import annotations

import re

import numpy as np

# Names of weights of any kind, and those of weights that rows have in a survey.
_WEIGHT = "weights?|wts?|wgts?|wghts?|gewicht"
_ROWS = (
    "final|fnl|fin|sample|samp|sampling|survey|svy|design|person|per|population|pop|"
    "household|hh|case|obs|observation|asec|earn|llcp|expansion|calibration|calibrated|"
    "frequency|freq|post|stratification|poststratification|probability|prob|inverse|"
    "selection|nonresponse|analysis|analytic|interview|exam|adjusted|normali[sz]ed|"
    "statistical|personen|haushalts|stichproben|befragungs"
)
_ANY = re.compile(_WEIGHT)
_OF_ROWS = re.compile(
    rf"(?:{_ROWS})+s?(?:{_WEIGHT})\d*|(?:[adfip]|an|psp)(?:weight|wght)|pwgtp|ip(?:t|c)?w"
    r"|wt(?:finl|supp|ss(?:all|ps|nr)?|(?:mec|int|saf|sa)\w*yr)|gewichtung\w*"
    r"|\w*hochrechnung\w*|(?:expansion|weighting)factor"
)
_BETWEEN = re.compile(r"[\W_]+")
# Distinct values and rows of weights.
LEAST_VALUES, LEAST_ROWS = 6, 50
# Standard deviations beyond which they vary widely, in units of the mean: of weights
# that are named so, of computed ones, of large whole ones, and of any. Weights of
# bodies vary less, and have fewer digits than computed numbers.
NAMED, COMPUTED, WHOLE, WIDE = 0.3, 0.45, 0.5, 1.5
# Digits of computed numbers, a large mean, and a large multiple of the mean.
DIGITS, LARGE, MANY = 5, 1000, 4
# Deviation of the mean of normalised weights from 1.
NORMALISED = 1e-3
# Number of values whose digits are counted.
N_LOOKED_AT = 1000


def is_weight_name(name: str) -> bool:
    """Whether the name of a column is that of weights, perhaps of rows."""
    joined = _joined(name)
    return bool(_ANY.fullmatch(joined) or _OF_ROWS.fullmatch(joined))


def are_survey_weights(name: str, values: np.ndarray) -> bool:
    """Whether a column looks like weights of rows by its name and values.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> kilograms = rng.normal(75.0, 15.0, 500).round(1)
    >>> persons = rng.lognormal(5.0, 1.5, 500)
    >>> [are_survey_weights("weight", one) for one in (kilograms, persons)]
    [False, True]
    >>> are_survey_weights("price", persons)
    False
    """
    if not is_weight_name(name):
        return False
    known = values[np.isfinite(values)]
    if known.size < LEAST_ROWS or known.min() < 0 or not known.any():
        return False
    if np.unique(known).size < LEAST_VALUES:
        return False
    mean = float(known.mean())
    spread = float(known.std()) / mean
    are_computed = _digits(known[:N_LOOKED_AT]) >= DIGITS
    if are_computed and abs(mean - 1.0) <= NORMALISED:
        return True
    if _OF_ROWS.fullmatch(_joined(name)):
        return spread > NAMED
    if spread > WIDE:
        return True
    if are_computed and (mean >= LARGE or known.max() >= MANY * mean):
        return spread > COMPUTED
    return mean >= LARGE and spread > WHOLE and bool((known == np.round(known)).all())


def _joined(name: str) -> str:
    return "".join(_BETWEEN.split(name)).lower()


def _digits(values: np.ndarray) -> int:
    """Number of digits that at least half of the values are written with."""
    texts = (f"{one:.12e}".partition("e")[0] for one in values.tolist())
    return int(np.median([len(one.replace(".", "").rstrip("0")) for one in texts]))
