"""Checks of estimator parameters and their error messages.

An estimator lists a :class:`Constraint` for each parameter as ``_constraints``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from .models import signs_of


class Constraint(NamedTuple):
    """A condition and its wording in errors: "... must be <description>"."""

    holds: Callable[[Any], bool]
    description: str

    def check(self, name: str, value: Any) -> None:
        """Raise a ValueError if the value of a parameter is invalid."""
        if not self.holds(value):
            raise ValueError(f"{name} must be {self.description}, got {value!r}.")


class Constrained(Protocol):
    """An estimator that declares the valid values of its parameters."""

    _constraints: ClassVar[Mapping[str, Constraint]]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name."""


def check_parameters(estimator: Constrained) -> None:
    """Raise a ValueError for the first invalid parameter."""
    for name, value in estimator.get_params(deep=False).items():
        estimator._constraints[name].check(name, value)


def optional(constraint: Constraint) -> Constraint:
    """The same constraint, or None."""
    return Constraint(
        lambda value: value is None or constraint.holds(value),
        f"{constraint.description} or None",
    )


def integer(low: int) -> Constraint:
    """An integer with a lower limit."""
    return Constraint(
        lambda value: _is_integer(value) and value >= low, f"an integer >= {low}"
    )


def one_of(names: Iterable[str]) -> Constraint:
    """One of several strings."""
    choices = sorted(names)
    return Constraint(
        lambda value: isinstance(value, str) and value in choices,
        f"one of {', '.join(map(repr, choices))}",
    )


def list_or(*names: str) -> Constraint:
    """A list, or one of several strings."""
    return Constraint(
        lambda value: value in names if isinstance(value, str) else _is_list(value),
        f"a list or an array or {' or '.join(map(repr, names))}",
    )


def boolean_or(word: str) -> Constraint:
    """True or False, or a string."""
    return Constraint(
        lambda value: _is_boolean(value) or (isinstance(value, str) and value == word),
        f"True or False or {word!r}",
    )


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not _is_boolean(value)


def _is_finite(value: Any) -> bool:
    return _is_real(value) and bool(np.isfinite(float(value)))


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not _is_boolean(value)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_list(value: Any) -> bool:
    # A 0-d array has __len__ but no length.
    is_number = isinstance(value, np.ndarray) and value.ndim == 0
    return (
        hasattr(value, "__len__")
        and not is_number
        and not isinstance(value, (str, bytes, dict))
    )


def _is_random_state(value: Any) -> bool:
    try:
        check_random_state(value)
    except ValueError:
        return False
    return True


POSITIVE = Constraint(
    lambda value: _is_finite(value) and value > 0, "a finite number > 0"
)
NOT_NEGATIVE = Constraint(
    lambda value: _is_finite(value) and value >= 0, "a finite number >= 0"
)
# For limits, which may be infinite.
LIMIT = Constraint(lambda value: _is_real(value) and value >= 0, "a number >= 0")
BOOLEAN = Constraint(_is_boolean, "True or False")
LIST = Constraint(_is_list, "a list or an array")
COSTS = Constraint(
    lambda value: _is_list(value) or isinstance(value, Mapping),
    "a list, an array or a dict",
)
GROUPS = Constraint(
    lambda value: COSTS.holds(value) or (isinstance(value, str) and value == "auto"),
    "a list, an array, a dict or 'auto'",
)
FUNCTION = Constraint(callable, "a function")
OPTIONS = Constraint(lambda value: isinstance(value, dict), "a dict")
CLASS_WEIGHT = Constraint(
    lambda value: value is None or isinstance(value, dict) or str(value) == "balanced",
    "a dict, 'balanced' or None",
)
ANYTHING = Constraint(lambda value: True, "anything")
SCORING = optional(
    Constraint(
        lambda value: isinstance(value, str) or callable(value),
        "one score, its name or a function,",
    )
)
N_JOBS = optional(
    Constraint(lambda value: _is_integer(value) and value != 0, "an integer but not 0")
)
RANDOM_STATE = Constraint(_is_random_state, "an integer, a RandomState or None")
VERBOSE = Constraint(
    lambda value: _is_boolean(value) or integer(0).holds(value),
    "an integer >= 0 or a boolean",
)


def signs_of_labels(y: Any) -> np.ndarray:
    """Labels as -1 and +1, in a column for each of more than two classes.

    Of two classes, the second in sorted order is +1.
    """
    # Validation loads the compiler.
    from ..problem.validation import check_unmasked

    check_unmasked("y", y)
    labels = np.asarray(y)
    if _has_missing(labels):
        raise ValueError("y has missing labels (NaN or None); drop these rows first.")
    try:
        classes = np.unique(labels)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels.ravel()})
        raise ValueError(
            f"y must have labels of one type, got {' and '.join(kinds)}."
        ) from error
    # Otherwise each value of a continuous target would be a class.
    check_classification_targets(labels)
    if classes.size < 2:
        raise ValueError(f"y must have two classes or more, got {classes.size}.")
    return signs_of(np.searchsorted(classes, labels), classes.size)


def _has_missing(labels: np.ndarray) -> bool:
    try:
        # Missing values are None or not equal to themselves.
        missing = bool((labels != labels).any())
        return missing or (labels.dtype == object and None in labels.ravel().tolist())
    except TypeError:
        # pandas.NA compares to NA, not to a boolean.
        return True
