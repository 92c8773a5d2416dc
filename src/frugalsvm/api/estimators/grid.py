"""The budgets and values of C that cross-validation tries."""

from __future__ import annotations

from typing import Any

import numpy as np

# Budgets for "auto", up to the number of features.
AUTO_BUDGETS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
# Values of C for "auto". 100 would take as long as all of these together, and did not
# score best on any of the paper's nine small data sets.
AUTO_C = (1e-3, 1e-2, 1e-1, 1.0, 10.0)


def budgets_of(max_features: Any, n_features: int, n_included: int) -> np.ndarray:
    """Budgets in increasing order, none above the number of features."""
    from ..path import sorted_budgets

    if not is_word(max_features, "auto"):
        return sorted_budgets(np.minimum(sorted_budgets(max_features), n_features))
    most = min(n_features, AUTO_BUDGETS[-1])
    tried = [b for b in (*AUTO_BUDGETS, most) if n_included <= b <= most]
    return sorted_budgets(tried or [n_included])


def weights_of(C: Any) -> np.ndarray:
    """Values of C in increasing order."""
    from ..path import sorted_weights

    return sorted_weights(AUTO_C if is_word(C, "auto") else C)


def is_word(value: Any, word: str) -> bool:
    """Whether a parameter that may be an array is the given string."""
    return isinstance(value, str) and value == word
