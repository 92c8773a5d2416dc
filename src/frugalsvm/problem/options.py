"""Options of methods, which validate themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any


@dataclass(frozen=True)
class Options:
    """What the options of all methods have in common.

    A subclass lists its options as fields and checks them in ``check``; what depends on
    the problem it checks in ``check_for``.
    """

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise ValueError if an option is not what it must be."""

    def check_for(self, n_features: int) -> None:
        """The same for options that refer to the features of a problem."""


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse what is none of some words."""
    _check(value in choices, name, f"one of {list(choices)}", value)


def check_integer(name: str, value: Any, smallest: int) -> None:
    """Refuse what is not an integer, or too small."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    valid = is_integer and int(value) >= smallest
    _check(valid, name, f"an integer >= {smallest}", value)


def check_seconds(name: str, value: Any) -> None:
    """Refuse what is neither a positive number nor None."""
    valid = value is None or (isinstance(value, Real) and float(value) > 0)
    _check(valid, name, "a positive number or None", value)


def check_distinct(name: str, value: Iterable[Any], n_distinct: int) -> None:
    """Refuse a list with duplicates, given how many distinct entries it has."""
    _check(n_distinct == len(list(value)), name, "free of duplicates", value)


def _check(valid: bool, name: str, what: str, value: Any) -> None:
    if not valid:
        raise ValueError(f"method_options[{name!r}] must be {what}, got {value!r}.")
