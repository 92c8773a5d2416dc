"""The part of an ONNX graph that makes features of the columns of a table.

Each column is an input of its own, of shape [N, 1]: numbers and truth values are
double, with NaN for a gap, and texts are strings, with an empty one for a gap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from .lookups import LARGEST_VALUE, NUMBER, TEXT, Lookup
from .origins import Origin, is_of_same_code

# Texts that stand for a gap: the first one that is no category.
GAP_TEXTS = ("", "(missing)", "NaN", "None")
OUTPUTS = ("label", "score", "probability")
# The domain of operators on texts, and its version.
TEXT_DOMAIN, TEXT_OPSET = "ai.onnx.ml", 2


class OnnxNode(NamedTuple):
    """An operator, its inputs, its output, its attributes and its domain."""

    kind: str
    inputs: list[str]
    output: str
    attributes: Mapping[str, Any] = MappingProxyType({})
    domain: str = ""


class OnnxColumns:
    """Nodes and constants that make features of columns.

    Parameters
    ----------
    origins : sequence of Origin
        Those of the features, sorted by columns.

    Attributes
    ----------
    texts : dict
        For each input, whether it has text. It has the name of its column, if the graph
        has no output of that name.
    gaps : dict
        For each input of text, the text that stands for a gap.
    nodes : list of OnnxNode
        Their last output is ``filled``, with a column for each feature.
    constants : dict
    """

    def __init__(self, origins: Sequence[Origin]):
        parts = _by_code(origins)
        self.texts = {_input(one.column): _is_text(one) for one, *_ in parts}
        self.gaps = _gap_texts([one for one, *_ in parts])
        self.nodes: list[OnnxNode] = []
        self.constants: dict[str, np.ndarray] = {}
        made = [self._features(k, part) for k, part in enumerate(parts)]
        self.nodes.append(OnnxNode("Concat", made, "filled", {"axis": 1}))

    def _features(self, k: int, origins: Sequence[Origin]) -> str:
        """The features of a column of numbers, or of the lookups of one code."""
        name = f"features {k}"
        (first, *_) = origins
        column = _input(first.column)
        if first.lookup is None:
            known = self._known(k, column)
            fill = self._constant(f"fill {k}", _real(first.fill))
            self.nodes.append(OnnxNode("Where", [known, column, fill], name))
            return name
        tables = [one.lookup.table() for one in origins if one.lookup is not None]
        table = self._constant(f"table {k}", np.column_stack(tables))
        at = self._places(k, column, first.lookup)
        self.nodes.append(OnnxNode("Gather", [table, at], name, {"axis": 0}))
        return name

    def _known(self, k: int, column: str) -> str:
        most = self._constant(f"most {k}", np.array(LARGEST_VALUE))
        # Comparisons with NaN are false.
        self.nodes.append(OnnxNode("Abs", [column], f"size {k}"))
        self.nodes.append(OnnxNode("LessOrEqual", [f"size {k}", most], f"known {k}"))
        return f"known {k}"

    def _places(self, k: int, column: str, look: Lookup) -> str:
        """Places in the levels, then that of unknown values, and that of gaps."""
        flat = self._constant(f"flat {k}", np.array([-1], dtype=np.int64))
        found = f"places {k}"
        if look.kind == TEXT:
            self.nodes.append(self._place_of_text(k, column, look))
        else:
            self._place_of_number(k, column, look)
        self.nodes.append(OnnxNode("Reshape", [f"found {k}", flat], found))
        return found

    def _place_of_text(self, k: int, column: str, look: Lookup) -> OnnxNode:
        levels = [str(one) for one in look.levels]
        places = [*range(len(levels)), len(levels) + 1]
        attributes = {
            "keys_strings": [*levels, self.gaps[column]],
            "values_int64s": places,
            "default_int64": len(levels),
        }
        return OnnxNode("LabelEncoder", [column], f"found {k}", attributes, TEXT_DOMAIN)

    def _place_of_number(self, k: int, column: str, look: Lookup) -> None:
        """The first that is true: equal to a level, or known, or anything."""
        levels = np.array([float(one) for one in look.levels])
        known = self._known(k, column)
        tests = [known, self._constant(f"any {k}", np.array([[True]]))]
        if levels.size:
            if look.kind == NUMBER and np.unique(levels).size < levels.size:
                raise ValueError(
                    f"column {column!r} has integers that are the same in double "
                    "precision, which ONNX computes in; give them as text."
                )
            given = self._constant(f"levels {k}", levels.reshape(1, -1))
            self.nodes.append(OnnxNode("Equal", [column, given], f"hits {k}"))
            tests.insert(0, f"hits {k}")
        # The constant has one row, the others have all.
        self.nodes.append(OnnxNode("Or", [known, tests.pop()], f"all {k}"))
        joined = [*tests, f"all {k}"]
        self.nodes += [
            OnnxNode("Concat", joined, f"tests {k}", {"axis": 1}),
            OnnxNode("Cast", [f"tests {k}"], f"numbers {k}", {"to": 1}),
            OnnxNode("ArgMax", [f"numbers {k}"], f"found {k}", {"axis": 1}),
        ]

    def _constant(self, name: str, value: np.ndarray) -> str:
        self.constants[name] = value
        return name


def _input(column: str) -> str:
    """The name of the input for a column."""
    if not column:
        raise ValueError("ONNX does not allow an empty column name; rename the column.")
    return f"{column} (input)" if column in OUTPUTS else column


def _real(fill: float | None) -> np.ndarray:
    return np.array(np.nan if fill is None else fill)


def _is_text(origin: Origin) -> bool:
    return origin.lookup is not None and origin.lookup.kind == TEXT


def _by_code(origins: Sequence[Origin]) -> list[list[Origin]]:
    """Features that are lookups of the same levels of a column, together."""
    parts: list[list[Origin]] = []
    for one in origins:
        if parts and is_of_same_code(one, parts[-1][-1]):
            parts[-1].append(one)
        else:
            parts.append([one])
    return parts


def _gap_texts(origins: Sequence[Origin]) -> dict[str, str]:
    """For each input of text, the first text that is no category of the column."""
    known: dict[str, set[Any]] = {}
    for one in origins:
        if one.lookup is not None and _is_text(one):
            known.setdefault(_input(one.column), set()).update(one.lookup.levels)
    return {name: _free(levels) for name, levels in known.items()}


def _free(levels: set[Any]) -> str:
    for one in GAP_TEXTS:
        if one not in levels:
            return one
    return max(levels, key=len) + " (missing)"
