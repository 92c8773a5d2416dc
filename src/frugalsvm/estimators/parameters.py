"""What the parameters of an estimator may be, and the words that say so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ..methods import METHODS


class Constraint(NamedTuple):
    """A condition, and how an error puts it: "... must be <words>"."""

    holds: Callable[[Any], bool]
    words: str


def check_parameters(estimator: BaseEstimator) -> None:
    """Raise a ValueError for the first parameter that is not what it may be."""
    for name, value in estimator.get_params(deep=False).items():
        if not CONSTRAINTS[name].holds(value):
            words = CONSTRAINTS[name].words
            raise ValueError(f"{name} must be {words}, got {value!r}.")


def _optional(constraint: Constraint) -> Constraint:
    return Constraint(
        lambda value: value is None or constraint.holds(value),
        f"{constraint.words} or None",
    )


def _integer(low: int) -> Constraint:
    return Constraint(
        lambda value: _is_integer(value) and value >= low, f"an integer >= {low}"
    )


def _one_of(names: Iterable[str]) -> Constraint:
    known = sorted(names)
    return Constraint(
        lambda value: isinstance(value, str) and value in known,
        f"one of {', '.join(map(repr, known))}",
    )


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not _is_boolean(value)


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not _is_boolean(value)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_list(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes, dict))


def _is_class_weight(value: Any) -> bool:
    return value is None or isinstance(value, dict) or str(value) == "balanced"


def _is_random_state(value: Any) -> bool:
    try:
        check_random_state(value)
    except ValueError:
        return False
    return True


_POSITIVE = Constraint(lambda value: _is_real(value) and value > 0, "a number > 0")
_NOT_NEGATIVE = Constraint(
    lambda value: _is_real(value) and value >= 0, "a number >= 0"
)
_BOOLEAN = Constraint(_is_boolean, "True or False")
_LIST = Constraint(_is_list, "a list or an array")
_FUNCTION = Constraint(callable, "a function")
_OPTIONS = Constraint(lambda value: isinstance(value, dict), "a dict")

CONSTRAINTS = {
    "max_features": _optional(_integer(0)),
    "C": _POSITIVE,
    "method": _one_of(METHODS),
    "gap_tol": _NOT_NEGATIVE,
    "time_limit": _optional(_NOT_NEGATIVE),
    "max_nodes": _optional(_integer(1)),
    "feature_costs": _optional(_LIST),
    "max_cost": _optional(_NOT_NEGATIVE),
    "include": _LIST,
    "exclude": _LIST,
    "class_weight": Constraint(_is_class_weight, "a dict, 'balanced' or None"),
    "fit_intercept": _BOOLEAN,
    "initial_support": _optional(_LIST),
    "method_options": _optional(_OPTIONS),
    "n_jobs": _optional(Constraint(_is_integer, "an integer")),
    "random_state": Constraint(_is_random_state, "an integer, a RandomState or None"),
    "verbose": Constraint(
        lambda value: _is_boolean(value) or _integer(0).holds(value),
        "an integer >= 0 or a boolean",
    ),
    "callback": _optional(_FUNCTION),
    "certificate": _BOOLEAN,
    "on_interrupt": _one_of(("raise", "return")),
}
