"""Maximum differences of variables over a linear program, by warm-started HiGHS.

The programs differ in one pair of costs, so the simplex method continues from the
previous basis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import AnyModel, Request
from .highs import build
from .standard_form import compile_model


def largest_differences(
    model: AnyModel, plus: str, minus: str, request: Request
) -> np.ndarray:
    """The largest ``|plus_j - minus_j|`` for each j, over the constraints of a model.

    Parameters
    ----------
    model : Model
        A linear model; its objective is ignored.
    plus, minus : str
        Names of two of its variables.
    request : Request

    Returns
    -------
    ndarray
        HiGHS's values, valid up to its tolerances; infinite if time ran out.
    """
    import highspy

    form = compile_model(model)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", request.verbose)
    highs.passModel(build(form))
    size = form.q.size
    highs.changeColsCost(size, np.arange(size, dtype=np.int32), np.zeros(size))
    first, second = (form.columns[model.variables[name].id] for name in (plus, minus))
    largest = np.full(model.variables[plus].size, np.inf)
    for j in range(largest.size):
        ends = [_largest(highs, first + j, second + j, sign) for sign in (1.0, -1.0)]
        if request.is_late:
            break
        largest[j] = max(ends)
    return largest


def _largest(highs: Any, plus: int, minus: int, sign: float) -> float:
    """Maximum of ``sign * (x_plus - x_minus)``, infinite if HiGHS does not find it."""
    highs.changeColCost(plus, -sign)
    highs.changeColCost(minus, sign)
    highs.run()
    solved = highs.getModelStatus().name == "kOptimal"
    value = -highs.getInfo().objective_function_value
    highs.changeColCost(plus, 0.0)
    highs.changeColCost(minus, 0.0)
    return value if solved else np.inf
