"""Names of methods, and options that validate themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

# The methods of ``solve``. They are listed here so that a model loaded from a file can
# predict without Numba, which the methods need.
METHOD_NAMES = (
    "auto",
    "branch-and-bound",
    "exact",
    "heuristic",
    "kernel-search",
    "local-search",
    "relax-and-round",
    "swap",
)


@dataclass(frozen=True)
class Options:
    """Base class of the options of methods.

    A subclass declares its options as fields and checks them in ``check``, or in
    ``check_for`` if the check depends on the problem.
    """

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""

    def check_for(self, n_features: int) -> None:
        """Check the options that refer to the features of a problem."""


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse values that are not among the choices."""
    _check(value in choices, name, f"one of {list(choices)}", value)


def check_integer(name: str, value: Any, smallest: int) -> None:
    """Refuse values that are not integers or are too small."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    valid = is_integer and int(value) >= smallest
    _check(valid, name, f"an integer >= {smallest}", value)


def check_seconds(name: str, value: Any) -> None:
    """Refuse values that are neither positive numbers nor None."""
    valid = value is None or (isinstance(value, Real) and float(value) > 0)
    _check(valid, name, "a positive number or None", value)


def check_distinct(name: str, value: Iterable[Any], n_distinct: int) -> None:
    """Refuse a list with duplicates; ``n_distinct`` counts its distinct entries."""
    _check(n_distinct == len(list(value)), name, "free of duplicates", value)


def _check(valid: bool, name: str, requirement: str, value: Any) -> None:
    if not valid:
        raise ValueError(
            f"method_options[{name!r}] must be {requirement}, got {value!r}."
        )
