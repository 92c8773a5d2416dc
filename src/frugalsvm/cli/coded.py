"""Variables that have a column of 0 and 1 for each category in the file already."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..estimators.encoded_columns import whole_codes
from ..tables import Numbers, Plan, Table

# Values that are looked at first.
N_FIRST = 1000


@dataclass(frozen=True)
class Coded:
    """Which columns are categories of a variable, and count as one feature.

    Attributes
    ----------
    columns : dict
        The columns of each variable.
    doubtful : dict
        The same for names that another column has: these columns count one by one.
    """

    columns: dict[str, list[str]] = field(default_factory=dict)
    doubtful: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, plan: Plan) -> Coded:
        """Find them by names and values in all rows; the target has no part in it."""
        flags = {
            name: column.values == 1.0
            for name, column in ((name, table.columns[name]) for name in plan.kinds)
            if isinstance(column, Numbers) and _are_flags(column.values)
        }
        if len(flags) < 2:
            return cls()
        names, taken = [*flags], {*plan.kinds, plan.target}
        found = {
            variable: [names[j] for j in own]
            for variable, own in whole_codes(
                names, np.column_stack([*flags.values()])
            ).items()
        }
        return cls(
            {name: own for name, own in found.items() if name not in taken},
            {name: own for name, own in found.items() if name in taken},
        )

    @property
    def variables(self) -> dict[str, str]:
        """The variable of each column that is a category."""
        return {one: name for name, own in self.columns.items() for one in own}


def _are_flags(values: np.ndarray) -> bool:
    """Whether all values are 0 or 1; the first ones mostly tell."""
    return all(
        bool(np.isin(some, (0.0, 1.0)).all()) for some in (values[:N_FIRST], values)
    )
