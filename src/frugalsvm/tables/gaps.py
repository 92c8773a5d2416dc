"""Missing values: what a fit makes of them, and what a model does with new ones."""

from __future__ import annotations

# indicator: numbers get the median, and a second feature that is 1 where a value is
# missing if many are; categories get one of their own. median: categories get the most
# frequent one. refuse: a missing value is an error.
INDICATOR, MEDIAN, REFUSE = MODES = ("indicator", "median", "refuse")
# Fraction of the rows from which the missing values of a number have an indicator.
LEAST_SHARE = 0.01
