"""Signs of weights by name: those of numbers and of single categories."""

from __future__ import annotations

from collections.abc import Mapping

from ..export.categories import OTHER
from ..run.words import close_names
from ..tables import Plan, Preparation, Table
from ..tables.errors import listed
from ..tables.kinds import check_wanted
from ..tables.prepared_columns import CategoryColumn, PreparedColumn, as_texts
from .errors import UsageProblem


def signed_name(column: PreparedColumn, level: str | None) -> str:
    """What the weight of a number or of a category is called in --signs."""
    return column.name if level is None else f"{column.name}={level}"


def check_signs(
    signs: Mapping[str, int], table: Table, plan: Plan, preparation: Preparation
) -> None:
    """Raise an error unless signs are those of numbers and of single categories."""
    known = {signed_name(*one) for one in preparation.origins()}
    categorical = {
        one.name: one for one in preparation.columns if isinstance(one, CategoryColumn)
    }
    weights: dict[str, list[str]] = {name: [] for name in categorical}
    for one in preparation.origins():
        weights.setdefault(one[0].variable, []).append(signed_name(*one))
    for name, sign in signs.items():
        if name in known:
            continue
        if name in weights:
            raise UsageProblem(_whole_variable(name, weights[name], sign))
        # Names may contain equals signs.
        places = [k for k, one in enumerate(name) if one == "="]
        for k in places:
            if name[:k] in categorical and name not in table.columns:
                column = categorical[name[:k]]
                levels = as_texts(table.columns[column.name]).levels
                raise UsageProblem(_no_weight(column, name[k + 1 :], levels))
        check_wanted(plan, "--signs", [name])


def _whole_variable(name: str, weights: list[str], sign: int) -> str:
    example = f"{weights[0]}={'+' if sign > 0 else '-'}" if weights else ""
    return (
        f"--signs: {name!r} has categories, and a sign is about the weight of "
        f"one; give it for each that needs one, such as --signs {example!r}."
    )


def _no_weight(column: CategoryColumn, level: str, levels: list[str]) -> str:
    """Why there is no weight for a category."""
    if level in column.levels:
        other = f"{column.name}={column.shown[0]}"
        return (
            "--signs: of two categories only one has a weight: give a sign for "
            f"{other!r} instead, the opposite one."
        )
    if level in levels:
        return (
            f"--signs: {level!r} of {column.name!r} is in few rows and was merged with "
            f"others into {OTHER}; --min-level 1 keeps it, or give a sign for "
            f"'{column.name}={OTHER}'."
        )
    close = close_names(level, column.levels)
    hint = (
        f"did you mean {listed(close)}?"
        if close
        else (f"its categories are {listed(column.levels)}.")
    )
    return f"--signs: {column.name!r} has no category {level!r}; {hint}"
