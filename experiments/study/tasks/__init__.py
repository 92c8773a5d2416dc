"""The tasks that cells name: a data set and parameters in, values for JSON out.

Every task takes its data set (None if it generates its data), ``limit`` in seconds, its
parameters, and ``given`` with the values of the cells it needs. It respects its limit
and returns ``capped`` if it reached it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .designs import design
from .methods import facts, method, relaxation
from .peers import nested
from .programs import program, root_bound
from .validation import fold, split_en, split_fs

#: Tasks by name.
TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "design": design,
    "facts": facts,
    "fold": fold,
    "method": method,
    "nested": nested,
    "program": program,
    "relaxation": relaxation,
    "root bound": root_bound,
    "split EN": split_en,
    "split FS": split_fs,
}
