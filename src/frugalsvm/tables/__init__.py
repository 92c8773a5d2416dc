"""Tables: turn untrusted files into numbers, and record exactly how."""

from .columns import Numbers, Table, TableError, Texts
from .kinds import Plan, make_plan
from .preparation import Preparation
from .reading import read_table
from .target import Target, find_target, labelled

__all__ = [
    "Numbers",
    "Plan",
    "Preparation",
    "Table",
    "TableError",
    "Target",
    "Texts",
    "find_target",
    "labelled",
    "make_plan",
    "read_table",
]
