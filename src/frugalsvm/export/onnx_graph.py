"""A model as an ONNX graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .calibration import Sigmoid
from .lookups import LARGEST_VALUE
from .onnx_columns import OUTPUTS, TEXT_OPSET, OnnxColumns, OnnxNode
from .origins import Fills, fills, read_origins, takes_columns
from .parts import Label

if TYPE_CHECKING:
    from .model import PortableModel

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
    given = _given(model)
    constants |= given.constants
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
        helper.make_node(one.kind, one.inputs, [one.output], domain=one.domain,
                         **one.attributes)
        for one in [*given.nodes, *(OnnxNode(*step) for step in steps)]
    ]  # fmt: skip
    label_kind = helper.np_dtype_to_tensor_dtype(constants["classes"].dtype)
    outputs.insert(0, ("label", label_kind, ["N"]))
    graph = helper.make_graph(
        nodes,
        "frugalsvm",
        [
            helper.make_tensor_value_info(
                name, kinds.STRING if is_text else kinds.DOUBLE, ["N", n]
            )
            for name, is_text, n in given.inputs
        ],
        [helper.make_tensor_value_info(name, *about) for name, *about in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
        doc_string=(
            f"{given.words}; label where a value is missing: "
            f"{constants['classes'][-1]!r}"
        ),
    )
    _rename_inner(graph, [name for name, *_ in given.inputs])
    opsets = {"": OPSET} | {one.domain: TEXT_OPSET for one in given.nodes if one.domain}
    proto = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid(*pair) for pair in opsets.items()],
        producer_name="frugalsvm",
    )
    proto.ir_version = IR_VERSION
    _onnx("onnx.checker").check_model(proto)
    return proto


class _Given(NamedTuple):
    """The inputs of a graph (name, whether it has text, columns), made into features.

    The last output of ``nodes`` is ``filled``: the features without gaps.
    """

    inputs: list[tuple[str, bool, int]]
    nodes: list[OnnxNode]
    constants: dict[str, np.ndarray]
    words: str


def _given(model: PortableModel) -> _Given:
    if takes_columns(model):
        return _given_columns(model)
    names = ", ".join(map(repr, model.names))
    constants: dict[str, np.ndarray] = {}
    nodes = [
        # Comparisons with NaN are false.
        OnnxNode("Abs", ["X"], "size"),
        OnnxNode("LessOrEqual", ["size", "most"], "known"),
        *_filled(constants, fills(model)),
    ]
    constants["most"] = np.array(LARGEST_VALUE)
    return _Given(
        [("X", False, len(model.features))], nodes, constants, f"columns of X: {names}"
    )


def _given_columns(model: PortableModel) -> _Given:
    made = OnnxColumns(read_origins(model))
    words = "inputs are columns; missing numbers are NaN"
    if made.gaps:
        gaps = ", ".join(f"{gap!r} in {name!r}" for name, gap in made.gaps.items())
        words += f", missing texts {gaps}"
    inputs = [(name, is_text, 1) for name, is_text in made.texts.items()]
    return _Given(inputs, made.nodes, made.constants, words)


def _filled(constants: dict[str, np.ndarray], fill: Fills) -> list[OnnxNode]:
    """Steps to the features without gaps, with the constants that they need."""
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
    """Give values inside a graph names that no input has."""
    fixed = {*inputs, *OUTPUTS}
    mark = "inner "
    while any(name.startswith(mark) for name in inputs):
        mark += "-"

    def renamed(names: Iterable[str]) -> list[str]:
        return [one if one in fixed else mark + one for one in names]

    for one in graph.initializer:
        (one.name,) = renamed([one.name])
    for node in graph.node:
        node.input[:] = renamed(node.input)
        node.output[:] = renamed(node.output)


def _labels(model: PortableModel) -> np.ndarray:
    """The classes, and a label that is none of them."""
    first = model.classes[0]
    if isinstance(first, str):
        return np.array([*model.classes, _free(model.classes)], dtype=object)
    if isinstance(first, float):
        return np.array([*model.classes, np.nan])
    limits = np.iinfo(np.int64)
    for one in model.classes:
        if not limits.min < int(one) <= limits.max:
            what = "is reserved" if int(one) == limits.min else "needs more"
            raise ValueError(
                f"ONNX has 64-bit integers, and the class {one} {what}; use smaller "
                "numbers or names for the classes."
            )
    return np.array([*map(int, model.classes), limits.min], dtype=np.int64)


def _free(classes: Sequence[Label]) -> str:
    """The first text that is no class."""
    words = ["", "no class", *(f"no class {k}" for k in range(len(classes)))]
    return next(one for one in words if one not in classes)


def _onnx(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            "to_onnx needs onnx, which is not installed: pip install frugalsvm[onnx] "
            "(skl2onnx also installs it)."
        ) from error
