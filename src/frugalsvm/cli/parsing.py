"""Parsing and checking of option values and of the table of costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..run import check_effort
from ..tables import (
    INDICATOR,
    MODES,
    REFUSE,
    Numbers,
    TableError,
    UnclearNumbers,
    check_usable,
    listed,
    read_table,
    unknown_column,
)
from .session import UsageProblem
from .study import AUTO, PreparedTable

DROP = "drop"


def parse_budget(text: str) -> int | str | None:
    """A number of features, "auto", or "all" for no limit."""
    if text in (AUTO, "all"):
        return AUTO if text == AUTO else None
    try:
        budget = int(text)
    except ValueError:
        budget = -1
    if budget < 1:
        raise UsageProblem(
            "--max-features must be a number of features from 1 on, auto or all, got "
            f"{text!r}."
        )
    return budget


def parse_C(text: str) -> float | str:
    """A positive number or "auto"."""
    if text == AUTO:
        return AUTO
    try:
        C = float(text)
    except ValueError:
        C = -1.0
    if not 1e-15 <= C <= 1e15:
        raise UsageProblem(f"--C must be a positive number or auto, got {text!r}.")
    return C


def parse_budgets(text: str, most: int) -> list[int]:
    """Budgets like "1-20" or "1,2,5,10-15", up to the number of features."""
    budgets: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        try:
            low = int(first)
            high = int(last) if dash else low
        except ValueError:
            low, high = 1, 0
        if not 0 <= low <= high:
            raise UsageProblem(
                f"--budgets must look like 1-20 or 1,2,5,10, got {text!r}."
            )
        budgets |= set(range(low, min(high, most) + 1))
    if not budgets:
        budgets = {most}
    return sorted(budgets)


def parse_share(text: str) -> float:
    """A tolerance like "1%" or "0.01"."""
    try:
        value = float(text.strip().rstrip("%"))
    except ValueError:
        value = -1.0
    share = value / 100 if text.strip().endswith("%") else value
    if not 0 <= share < 100:
        raise UsageProblem(f"--tolerance must look like 1% or 0.01, got {text!r}.")
    return share


def parse_signs(texts: Iterable[str] | None) -> dict[str, int]:
    """Signs like "income=+,age=-"; names may contain commas and equals signs."""
    signs: dict[str, int] = {}
    for text in texts or ():
        # A part without a sign at its end belongs to the next name.
        name = ""
        for part in text.split(","):
            name += part
            if name[-2:] not in ("=+", "=-"):
                name += ","
                continue
            key, sign = name[:-2].strip(), 1 if name.endswith("+") else -1
            if signs.setdefault(key, sign) != sign or not key:
                raise UsageProblem(f"--signs: {key!r} has both signs; give one.")
            name = ""
        if name:
            raise UsageProblem(f"--signs must look like income=+,age=-, got {text!r}.")
    return signs


def parse_missing(missing: str | None) -> str:
    """The treatment of missing values."""
    if missing not in (None, *MODES):
        modes = f"{', '.join(MODES[:-1])} or {MODES[-1]}"
        raise UsageProblem(f"--missing must be {modes}; got {missing!r}.")
    return missing or INDICATOR


def parse_unlabelled(text: str) -> bool:
    """Whether rows without a target are dropped."""
    if text not in (REFUSE, DROP):
        raise UsageProblem(f"--unlabelled must be refuse or drop; got {text!r}.")
    return text == DROP


def check_search(
    effort: str, time_limit: float | None, jobs: int = 1, folds: int = 0
) -> None:
    """Raise an error unless effort, time limit, threads and folds make sense."""
    if jobs == 0:
        raise UsageProblem("--jobs must be a number of threads, or -1 for all; got 0.")
    if folds == 1:
        raise UsageProblem("--folds must be at least 2, or 0 for none; got 1.")
    try:
        check_effort(effort)
    except ValueError as error:
        raise UsageProblem(f"--{error}") from error
    if time_limit is not None and not time_limit >= 0:
        raise UsageProblem(f"--time-limit must be a number >= 0, got {time_limit!r}.")


def read_costs(path: str) -> dict[str, float]:
    """Costs of columns, from a table of names and numbers."""
    table = read_table(path)
    texts: list[str] = []
    numbers: list[str] = []
    check_usable(table.columns, table.source)
    for name, column in table.columns.items():
        if isinstance(column, UnclearNumbers):
            raise TableError(
                f"--costs: column {name!r} of {table.source} is ambiguous: "
                f"{column.doubt}; write costs like 1234.5."
            )
        (numbers if isinstance(column, Numbers) else texts).append(name)
    if len(texts) != 1 or len(numbers) != 1:
        raise TableError(
            f"--costs: {table.source} must have two columns, column names and costs; "
            f"it has {listed(table.names)}."
        )
    text: Any = table.columns[texts[0]]
    costs: Any = table.columns[numbers[0]]
    names = [text.levels[k] if k >= 0 else "" for k in text.codes.tolist()]
    values = costs.values.tolist()
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise TableError(f"--costs: {twice!r} appears twice in {table.source}.")
    for name, value in zip(names, values, strict=True):
        if not 0 < value < np.inf:
            raise TableError(
                f"--costs: the cost of {name!r} must be a positive number, got "
                f"{value:g}."
            )
    return dict(zip(names, values, strict=True))


def check_cost_options(costs: str | None, max_cost: float | None) -> None:
    """Raise an error unless costs and their limit are given together."""
    if (costs is None) != (max_cost is None):
        raise UsageProblem(
            "--costs and --max-cost must be given together: the cost of each column, "
            "and the maximum total cost."
        )
    if max_cost is not None and not 0 <= max_cost < np.inf:
        raise UsageProblem(f"--max-cost must be a number >= 0, got {max_cost:g}.")


def check_costs(costs: dict[str, float] | None, data: PreparedTable) -> None:
    """Raise an error if a cost is given for an unknown column."""
    for name in costs or {}:
        if name not in data.table.columns and name not in data.coded.columns:
            raise unknown_column("--costs", name, data.table.names)
