"""A model as an ONNX graph."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .calibration import Sigmoid
from .origins import Fills, fills
from .text import LARGEST_VALUE

if TYPE_CHECKING:
    from .model import PortableModel

OPSET, IR_VERSION = 17, 8
# The position of the label for rows without a class.
_NONE = 2


def build_onnx(model: PortableModel) -> Any:
    """See :meth:`PortableModel.to_onnx`."""
    helper, numpy_helper = _onnx("onnx.helper"), _onnx("onnx.numpy_helper")
    kinds = _onnx("onnx").TensorProto
    fill = fills(model)
    constants: dict[str, np.ndarray] = {
        "mean": model.column("mean"),
        "scale": model.column("scale"),
        "weight": model.column("weight"),
        "intercept": np.array([model.intercept]),
        "flat": np.array([-1], dtype=np.int64),
        "features": np.array([1], dtype=np.int64),
        "limit": np.array(model.threshold or 0.0),
        "most": np.array(LARGEST_VALUE),
        "fill": fill.values,
        "nan": np.array(np.nan),
        "none": np.array(_NONE),
        "classes": _labels(model),
    }
    steps: list[tuple[Any, ...]] = [
        # Comparisons with NaN are false.
        ("Abs", ["X"], "size"),
        ("LessOrEqual", ["size", "most"], "known"),
        *_filled(constants, fill),
        ("Sub", ["filled", "mean"], "centred"),
        ("Div", ["centred", "scale"], "scaled"),
        # ONNX Runtime may merge a MatMul with the scale of a single feature, in single
        # precision.
        ("Mul", ["scaled", "weight"], "products"),
        ("ReduceSum", ["products", "features"], "column"),
        ("Reshape", ["column", "flat"], "sums"),
        ("Add", ["sums", "intercept"], "total"),
        ("IsInf", ["total"], "overflows"),
        ("Where", ["overflows", "nan", "total"], "score"),
    ]
    outputs = [("score", kinds.DOUBLE)]
    decider = "score"
    if model.calibration is not None:
        if not isinstance(model.calibration, Sigmoid):
            raise ValueError("ONNX export supports only sigmoid calibration.")
        constants["a"] = np.array([-model.calibration.a])
        constants["b"] = np.array([-model.calibration.b])
        steps += [("Mul", ["score", "a"], "times"), ("Add", ["times", "b"], "logit")]
        steps.append(("Sigmoid", ["logit"], "probability"))
        outputs.append(("probability", kinds.DOUBLE))
        decider = "logit"
    if model.threshold is not None:
        decider = "score"
    steps.append(("Greater", [decider, "limit"], "positive"))
    nodes = [
        helper.make_node(kind, inputs, [out], **(more[0] if more else {}))
        for kind, inputs, out, *more in steps
    ]
    nodes += [
        helper.make_node("Cast", ["positive"], ["class"], to=kinds.INT64),
        helper.make_node("IsNaN", [decider], ["unknown"]),
        helper.make_node("Where", ["unknown", "none", "class"], ["place"]),
        helper.make_node("Gather", ["classes", "place"], ["label"]),
    ]
    label_kind = helper.np_dtype_to_tensor_dtype(constants["classes"].dtype)
    outputs.insert(0, ("label", label_kind))
    graph = helper.make_graph(
        nodes,
        "frugalsvm",
        [helper.make_tensor_value_info("X", kinds.DOUBLE, ["N", len(model.features)])],
        [helper.make_tensor_value_info(name, kind, ["N"]) for name, kind in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
        doc_string=(
            "columns of X: " + ", ".join(map(repr, model.names)) + "; label where a "
            f"value is missing: {constants['classes'][_NONE]!r}"
        ),
    )
    proto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="frugalsvm"
    )
    proto.ir_version = IR_VERSION
    _onnx("onnx.checker").check_model(proto)
    return proto


def _filled(constants: dict[str, np.ndarray], fill: Fills) -> list[tuple[Any, ...]]:
    """Steps to the features without gaps, with the constants that they need."""
    are_indicators = fill.of_indicators >= 0
    if not are_indicators.any():
        return [("Where", ["known", "X", "fill"], "filled")]
    constants |= {
        "numbers": np.maximum(fill.of_indicators, 0),
        "indicators": are_indicators,
        "one": np.array(1.0),
    }
    return [
        ("Where", ["known", "X", "fill"], "own"),
        ("Gather", ["known", "numbers"], "there", {"axis": 1}),
        ("Not", ["there"], "lost"),
        ("And", ["lost", "indicators"], "says"),
        ("Where", ["says", "one", "own"], "filled"),
    ]


def _labels(model: PortableModel) -> np.ndarray:
    """The two classes, and a label that is neither of them."""
    first, second = model.classes
    if isinstance(first, str):
        free = (one for one in ("", "no class", "none") if one not in model.classes)
        return np.array([first, second, next(free)], dtype=object)
    if isinstance(first, float):
        return np.array([first, second, np.nan])
    limits = np.iinfo(np.int64)
    for one in model.classes:
        if not limits.min < int(one) <= limits.max:
            what = "is reserved" if int(one) == limits.min else "needs more"
            raise ValueError(
                f"ONNX has 64-bit integers, and the class {one} {what}; use smaller "
                "numbers or names for the classes."
            )
    return np.array([int(first), int(second), limits.min], dtype=np.int64)


def _onnx(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            "to_onnx needs onnx, which is not installed: pip install frugalsvm[onnx] "
            "(skl2onnx also installs it)."
        ) from error
