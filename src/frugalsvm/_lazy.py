"""Rooms that import their modules when a name of them is first used.

The names that a room exports, and the modules that define them, are in the stub
``__init__.pyi`` beside its ``__init__.py``, which type checkers read, too. So the rooms
are quick to import: a command that only reads a file never loads the compiler.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def exports(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package with a stub.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    file : str
        ``__file__`` of its ``__init__``.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8"))
    home = {
        alias.asname or alias.name: ("." * node.level + (node.module or ""), alias.name)
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = home[name]
        if module == ".":
            return import_module(f".{name}", package)
        return getattr(import_module(module, package), original)

    return load, lambda: sorted(home), sorted(home)
