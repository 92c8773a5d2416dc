"""A model as an ONNX graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..estimators import FrugalSVC, FrugalSVCCV
from ..problem import decimals_of
from .calibration import Sigmoid
from .lookups import LARGEST_VALUE, NUMBER, TEXT, Lookup
from .origins import Fills, Origin, fills, is_of_same_code, read_origins, takes_columns

if TYPE_CHECKING:
    from .model import PortableModel

# --- Features from the columns of a table ---------------------------------------------
#
# Each column is an input of its own, of shape [N, 1]: numbers and truth values are
# double, with NaN for a gap, and texts are strings, with an empty one for a gap.

# Texts for gaps; the first that is no category is used.
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
    """Nodes and constants for features from columns.

    Parameters
    ----------
    origins : sequence of Origin
        The origins of the features, sorted by columns.

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
        self.texts = {_input(origin.column): _is_text(origin) for origin, *_ in parts}
        self.gaps = _gap_texts([origin for origin, *_ in parts])
        self.nodes: list[OnnxNode] = []
        self.constants: dict[str, np.ndarray] = {}
        names = [self._features(k, part) for k, part in enumerate(parts)]
        self.nodes.append(OnnxNode("Concat", names, "filled", {"axis": 1}))

    def _features(self, k: int, origins: Sequence[Origin]) -> str:
        """A feature of numbers, or features that look up the same levels."""
        name = f"features {k}"
        (first, *_) = origins
        column = _input(first.column)
        if first.lookup is None:
            present = self._is_present(k, column)
            value = np.nan if first.fill is None else first.fill
            fill = self._constant(f"fill {k}", np.array(value))
            self.nodes.append(OnnxNode("Where", [present, column, fill], name))
            return name
        tables = [
            origin.lookup.table() for origin in origins if origin.lookup is not None
        ]
        table = self._constant(f"table {k}", np.column_stack(tables))
        indices = self._level_indices(k, column, first.lookup)
        self.nodes.append(OnnxNode("Gather", [table, indices], name, {"axis": 0}))
        return name

    def _is_present(self, k: int, column: str) -> str:
        most = self._constant(f"most {k}", np.array(LARGEST_VALUE))
        # Comparisons with NaN are false.
        self.nodes.append(OnnxNode("Abs", [column], f"size {k}"))
        self.nodes.append(OnnxNode("LessOrEqual", [f"size {k}", most], f"known {k}"))
        return f"known {k}"

    def _level_indices(self, k: int, column: str, look: Lookup) -> str:
        """Indices in the levels; then come unknown values, and gaps."""
        flat = self._constant(f"flat {k}", np.array([-1], dtype=np.int64))
        indices = f"places {k}"
        if look.kind == TEXT:
            self.nodes.append(self._text_index(k, column, look))
        else:
            self._number_index(k, column, look)
        self.nodes.append(OnnxNode("Reshape", [f"found {k}", flat], indices))
        return indices

    def _text_index(self, k: int, column: str, look: Lookup) -> OnnxNode:
        levels = [str(level) for level in look.levels]
        attributes = {
            "keys_strings": [*levels, self.gaps[column]],
            "values_int64s": [*range(len(levels)), len(levels) + 1],
            "default_int64": len(levels),
        }
        return OnnxNode("LabelEncoder", [column], f"found {k}", attributes, TEXT_DOMAIN)

    def _number_index(self, k: int, column: str, look: Lookup) -> None:
        """The index of the first test that holds: of each level, a value, anything."""
        levels = np.array([float(level) for level in look.levels])
        present = self._is_present(k, column)
        tests = [present, self._constant(f"any {k}", np.array([[True]]))]
        if levels.size:
            if look.kind == NUMBER and np.unique(levels).size < levels.size:
                raise ValueError(
                    f"column {column!r} has integers that are the same in double "
                    "precision, which ONNX computes in; give them as text."
                )
            constant = self._constant(f"levels {k}", levels.reshape(1, -1))
            self.nodes.append(OnnxNode("Equal", [column, constant], f"hits {k}"))
            tests.insert(0, f"hits {k}")
        # The constant has one row, the others have all.
        self.nodes.append(OnnxNode("Or", [present, tests.pop()], f"all {k}"))
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


def _is_text(origin: Origin) -> bool:
    return origin.lookup is not None and origin.lookup.kind == TEXT


def _by_code(origins: Sequence[Origin]) -> list[list[Origin]]:
    """The origins, grouped by lookups of the same levels of a column."""
    parts: list[list[Origin]] = []
    for origin in origins:
        if parts and is_of_same_code(origin, parts[-1][-1]):
            parts[-1].append(origin)
        else:
            parts.append([origin])
    return parts


def _gap_texts(origins: Sequence[Origin]) -> dict[str, str]:
    """For each input of text, a text that is no category of the column."""
    levels_of: dict[str, set[Any]] = {}
    for origin in origins:
        if origin.lookup is not None and _is_text(origin):
            levels_of.setdefault(_input(origin.column), set()).update(
                origin.lookup.levels
            )
    gaps = {}
    for name, levels in levels_of.items():
        longer = max(levels, key=len, default="") + " (missing)"
        gaps[name] = next((text for text in GAP_TEXTS if text not in levels), longer)
    return gaps


# --- The whole graph ------------------------------------------------------------------

OPSET, IR_VERSION = 17, 8


def build_onnx(model: PortableModel) -> Any:
    """See :meth:`PortableModel.to_onnx`."""
    helper, numpy_helper = _onnx("onnx.helper"), _onnx("onnx.numpy_helper")
    kinds = _onnx("onnx").TensorProto
    constants: dict[str, np.ndarray] = {
        "mean": model.column("mean"),
        "scale": model.column("scale"),
        "weight": model.coef,
        "intercept": model.intercepts,
        "unit": np.array(10.0**model.decimals),
        "flat": np.array([-1], dtype=np.int64),
        "scores": np.array([1], dtype=np.int64),
        "features": np.array([2], dtype=np.int64),
        "none": np.array(len(model.classes)),
        "classes": _labels(model),
    }
    inputs = _inputs_of(model)
    constants |= inputs.constants
    steps: list[tuple[Any, ...]] = [
        ("Sub", ["filled", "mean"], "centred"),
        ("Div", ["centred", "scale"], "scaled"),
        # ONNX Runtime may merge a MatMul with the scale of a single feature, in single
        # precision.
        ("Unsqueeze", ["scaled", "scores"], "alone"),
        ("Mul", ["alone", "weight"], "products"),
        ("ReduceSum", ["products", "features"], "sums", {"keepdims": 0}),
        ("Add", ["sums", "intercept"], "exact"),
        ("Mul", ["exact", "unit"], "units"),
        ("Round", ["units"], "whole"),
        ("Div", ["whole", "unit"], "short"),
        # The largest numbers have no decimals.
        ("IsInf", ["units"], "is large"),
        ("Where", ["is large", "exact", "short"], "totals"),
        # A row has all scores or none: this difference is 0, or NaN if one overflows.
        ("Sub", ["totals", "totals"], "gaps"),
        ("ReduceSum", ["gaps", "scores"], "gap"),
        ("Add", ["totals", "gap"], "found"),
        ("Reshape", ["gap", "flat"], "gap of row"),
        ("IsNaN", ["gap of row"], "unknown"),
    ]
    decider = "score"
    if model.n_scores > 1:
        steps.append(("Identity", ["found"], "score"))
        outputs = [("score", kinds.DOUBLE, ["N", model.n_scores])]
    else:
        steps.append(("Reshape", ["found", "flat"], "score"))
        outputs = [("score", kinds.DOUBLE, ["N"])]
    if model.calibration is not None:
        if not isinstance(model.calibration, Sigmoid):
            raise ValueError("ONNX export supports only sigmoid calibration.")
        constants["a"] = np.array([-model.calibration.a])
        constants["b"] = np.array([-model.calibration.b])
        steps += [("Mul", ["score", "a"], "times"), ("Add", ["times", "b"], "logit")]
        steps.append(("Sigmoid", ["logit"], "probability"))
        outputs.append(("probability", kinds.DOUBLE, ["N"]))
        decider = "logit"
    if model.threshold is not None:
        decider = "score"
    if model.n_scores > 1:
        about = {"axis": 1, "keepdims": 0}
        steps.append(("ArgMax", ["score"], "class", about))
    else:
        constants["limit"] = np.array(model.limit)
        steps.append(("Greater", [decider, "limit"], "positive"))
        steps.append(("Cast", ["positive"], "class", {"to": kinds.INT64}))
    steps.append(("Where", ["unknown", "none", "class"], "place"))
    steps.append(("Gather", ["classes", "place"], "label"))
    nodes = [
        helper.make_node(
            node.kind, node.inputs, [node.output], domain=node.domain, **node.attributes
        )
        for node in [*inputs.nodes, *(OnnxNode(*step) for step in steps)]
    ]
    label_kind = helper.np_dtype_to_tensor_dtype(constants["classes"].dtype)
    outputs.insert(0, ("label", label_kind, ["N"]))
    graph = helper.make_graph(
        nodes,
        "frugalsvm",
        [
            helper.make_tensor_value_info(
                name, kinds.STRING if is_text else kinds.DOUBLE, ["N", n]
            )
            for name, is_text, n in inputs.inputs
        ],
        [helper.make_tensor_value_info(name, *about) for name, *about in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
        doc_string=(
            f"{inputs.text}; label where a value is missing: "
            f"{constants['classes'][-1]!r}"
        ),
    )
    _rename_inner(graph, [name for name, *_ in inputs.inputs])
    opsets = {"": OPSET} | {
        node.domain: TEXT_OPSET for node in inputs.nodes if node.domain
    }
    proto = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid(*pair) for pair in opsets.items()],
        producer_name="frugalsvm",
    )
    proto.ir_version = IR_VERSION
    _onnx("onnx.checker").check_model(proto)
    return proto


class _Inputs(NamedTuple):
    """The inputs of a graph (name, whether it has text, columns), made into features.

    The last output of ``nodes`` is ``filled``: the features without gaps.
    """

    inputs: list[tuple[str, bool, int]]
    nodes: list[OnnxNode]
    constants: dict[str, np.ndarray]
    text: str


def _inputs_of(model: PortableModel) -> _Inputs:
    if takes_columns(model):
        columns = OnnxColumns(read_origins(model))
        text = "inputs are columns; missing numbers are NaN"
        if columns.gaps:
            gaps = (f"{gap!r} in {name!r}" for name, gap in columns.gaps.items())
            text += f", missing texts {', '.join(gaps)}"
        inputs = [(name, is_text, 1) for name, is_text in columns.texts.items()]
        return _Inputs(inputs, columns.nodes, columns.constants, text)
    names = ", ".join(map(repr, model.names))
    constants: dict[str, np.ndarray] = {}
    nodes = [
        # Comparisons with NaN are false.
        OnnxNode("Abs", ["X"], "size"),
        OnnxNode("LessOrEqual", ["size", "most"], "known"),
        *_filled(constants, fills(model)),
    ]
    constants["most"] = np.array(LARGEST_VALUE)
    inputs = [("X", False, len(model.features))]
    return _Inputs(inputs, nodes, constants, f"columns of X: {names}")


def _filled(constants: dict[str, np.ndarray], fill: Fills) -> list[OnnxNode]:
    """Nodes that replace gaps; adds the constants that they need."""
    constants["fill"] = fill.values
    are_indicators = fill.of_indicators >= 0
    if not are_indicators.any():
        return [OnnxNode("Where", ["known", "X", "fill"], "filled")]
    constants |= {
        "numbers": np.maximum(fill.of_indicators, 0),
        "indicators": are_indicators,
        "one": np.array(1.0),
    }
    return [
        OnnxNode("Where", ["known", "X", "fill"], "own"),
        OnnxNode("Gather", ["known", "numbers"], "there", {"axis": 1}),
        OnnxNode("Not", ["there"], "lost"),
        OnnxNode("And", ["lost", "indicators"], "says"),
        OnnxNode("Where", ["says", "one", "own"], "filled"),
    ]


def _rename_inner(graph: Any, inputs: list[str]) -> None:
    """Rename the values inside a graph, so that no input has the same name."""
    fixed = {*inputs, *OUTPUTS}
    mark = "inner "
    while any(name.startswith(mark) for name in inputs):
        mark += "-"

    def renamed(names: Iterable[str]) -> list[str]:
        return [name if name in fixed else mark + name for name in names]

    for constant in graph.initializer:
        (constant.name,) = renamed([constant.name])
    for node in graph.node:
        node.input[:] = renamed(node.input)
        node.output[:] = renamed(node.output)


def _labels(model: PortableModel) -> np.ndarray:
    """The classes, and a label that is none of them."""
    first = model.classes[0]
    if isinstance(first, str):
        texts = ["", "no class", *(f"no class {k}" for k in range(len(model.classes)))]
        unused = next(text for text in texts if text not in model.classes)
        return np.array([*model.classes, unused], dtype=object)
    if isinstance(first, float):
        return np.array([*model.classes, np.nan])
    limits = np.iinfo(np.int64)
    for label in model.classes:
        if not limits.min < int(label) <= limits.max:
            what = "is reserved" if int(label) == limits.min else "needs more"
            raise ValueError(
                f"ONNX has 64-bit integers, and the class {label} {what}; use smaller "
                "numbers or names for the classes."
            )
    return np.array([*map(int, model.classes), limits.min], dtype=np.int64)


def _onnx(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            "to_onnx needs onnx, which is not installed: pip install frugalsvm[onnx] "
            "(skl2onnx also installs it)."
        ) from error


# --- FrugalSVC for skl2onnx, which converts whole pipelines ---------------------------

# Decimals of scores in single precision: how many fewer, and the maximum.
FEWER_IN_SINGLE, MOST_IN_SINGLE = 2, 30
# Options of skl2onnx's own classifiers.
_OPTIONS: dict[str, list[Any]] = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "output_class_labels": [False, True],
}


def register_onnx_converter() -> None:
    """Let ``skl2onnx`` convert pipelines with FrugalSVC and FrugalSVCCV.

    Call it once before ``skl2onnx.convert_sklearn`` or ``skl2onnx.to_onnx``. The
    outputs are ``label``, and ``probabilities``, which are not probabilities but the
    scores of the classes; -s and s if there are two. They are computed in the precision
    of the input, single or double, and rounded as everywhere, in single precision to
    two decimals fewer.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.

    Examples
    --------
    >>> from frugalsvm import register_onnx_converter
    >>> register_onnx_converter()  # doctest: +SKIP
    >>> skl2onnx.to_onnx(pipeline, table[:1])  # doctest: +SKIP
    """
    try:
        skl2onnx = import_module("skl2onnx")
    except ImportError as error:
        raise ImportError(
            "register_onnx_converter needs skl2onnx, which is not installed: pip "
            "install frugalsvm[onnx]."
        ) from error
    shapes = import_module("skl2onnx.common.shape_calculator")
    for estimator in (FrugalSVC, FrugalSVCCV):
        skl2onnx.update_registered_converter(
            estimator,
            f"Frugalsvm{estimator.__name__}",
            shapes.calculate_linear_classifier_output_shapes,
            _convert,
            options=_OPTIONS,
        )


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write the nodes of a fitted classifier."""
    kinds = import_module("onnx").TensorProto
    classifier, (data,) = operator.raw_operator, operator.inputs
    is_double = type(data.type).__name__ == "DoubleTensorType"
    real = kinds.DOUBLE if is_double else kinds.FLOAT

    def constant(name: str, kind: Any, values: np.ndarray) -> str:
        unique = scope.get_unique_variable_name(name)
        container.add_initializer(unique, kind, values.shape, values.ravel().tolist())
        return unique

    def node(kind: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        output = output or scope.get_unique_variable_name(kind.lower())
        name = scope.get_unique_operator_name(kind)
        container.add_node(kind, inputs, output, name=name, **attributes)
        return output

    label, scores = (output.full_name for output in operator.outputs)
    column = node("Cast", [data.full_name], to=real)
    weights = constant("weights", real, classifier.coef_.T)
    column = node("MatMul", [column, weights])
    column = node(
        "Add",
        [column, constant("intercept", real, classifier.intercept_.reshape(1, -1))],
    )
    decimals = decimals_of(
        classifier.coef_, classifier.intercept_, is_single=classifier._is_single
    )
    if not is_double:
        decimals = min(decimals - FEWER_IN_SINGLE, MOST_IN_SINGLE)
    unit = constant("unit", real, np.array([10.0**decimals]))
    column = node("Div", [node("Round", [node("Mul", [column, unit])]), unit])
    if len(classifier.classes_) == 2:
        column = node("Concat", [node("Neg", [column]), column], axis=1)
    node("Identity", [column], scores)
    # The first one of equal scores, as in predict.
    index = node("ArgMax", [column], axis=1, keepdims=0)
    labels = np.asarray(classifier.classes_)
    if labels.dtype.kind in "OSU":
        texts = [str(text).encode() for text in labels.tolist()]
        classes = constant("classes", kinds.STRING, np.array(texts, dtype=object))
    else:
        # Labels that are numbers are integers, or scikit-learn refuses them.
        classes = constant("classes", kinds.INT64, labels.astype(np.int64))
    node("Gather", [classes, index], label)
