"""Old module names keep working, with a warning, until version 0.2.

Imports and pickles from before the reorganisation into layers still resolve.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGE = "frugalsvm"
# New names of modules and their submodules.
MOVED = {
    "algorithms": "paper.algorithms",
    "alternatives": "api.alternatives",
    "baselines": "paper.baselines",
    "blas": "runtime.blas",
    "certificate": "problem.certificate",
    "compilation": "runtime.compilation",
    "effort": "runtime.effort",
    "estimators": "api.estimators",
    "estimators.choice": "api.validation.choice",
    "api.estimators.choice": "api.validation.choice",
    "feature_names": "api.feature_names",
    "incumbent": "runtime.incumbent",
    "markup": "runtime.markup",
    "methods": "driver.methods",
    "models": "paper.models",
    "monitor": "runtime.monitor",
    "native": "search.native",
    "options": "problem.options",
    "parallel": "runtime.parallel",
    "path": "api.path",
    "plotting": "output.plotting",
    "portable": "output.portable",
    "progress": "runtime.progress",
    "relaxations": "search.relaxations",
    "relaxations.relaxation": "search.relaxations",
    "report": "output.report",
    "result": "driver.result",
    "solution": "problem.solution",
    "solvers": "paper.solvers",
    "sources": "problem.sources",
    "stability": "api.stability",
    "stopping": "runtime.stopping",
    "supervision": "runtime.supervision",
    "validation": "problem.validation",
    "warmup": "cli.all_kernels",
    "writing": "problem.files",
}


def new_name(name: str) -> str | None:
    """The new name of a module; None if it has not moved."""
    package, _, old = name.partition(".")
    if package != PACKAGE:
        return None
    head, rest = old, ""
    while head:
        if head in MOVED:
            return f"{PACKAGE}.{MOVED[head]}{rest}"
        head, dot, last = head.rpartition(".")
        rest = f"{dot}{last}{rest}"
    return None


class _Alias:
    """Loads the module that exists under its new name."""

    def __init__(self, name: str):
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._module = import_module(self._name)
        self._spec = self._module.__spec__
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        # It was executed under its own name, which it keeps.
        module.__spec__ = self._spec


class _Finder:
    """What ``sys.meta_path`` asks before all others."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        new = new_name(name)
        if new is None:
            return None
        # Imported here, or every import of the package would take as long again.
        from importlib.util import find_spec

        if find_spec(new) is None:
            return None
        warnings.warn(
            f"{name} is now {new}; the old name will be removed in 0.2.",
            DeprecationWarning,
            stacklevel=2,
        )
        return ModuleSpec(name, _Alias(new), is_package=False)  # type: ignore[arg-type]


def install() -> None:
    """Make old names importable."""
    if not any(isinstance(one, _Finder) for one in sys.meta_path):
        # Before the other finders, which would load a second copy from the folder of a
        # package imported under its old name.
        sys.meta_path.insert(0, _Finder())
