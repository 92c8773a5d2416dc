"""The experiments by name, in the order of the paper."""

from __future__ import annotations

from ..study import Study
from .data_sets import TABLE_1, TABLE_2
from .heuristics import TABLE_4
from .root_bounds import TABLE_6

#: All experiments by name.
STUDIES: dict[str, Study] = {
    study.name: study for study in (TABLE_1, TABLE_2, TABLE_4, TABLE_6)
}
