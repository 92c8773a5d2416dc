"""A model as an ONNX graph."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .calibration import Sigmoid

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
        "weight": model.column("weight").reshape(-1, 1),
        "intercept": np.array([model.intercept]),
        "flat": np.array([-1], dtype=np.int64),
        "zero": np.array(0.0),
        "classes": _labels(model),
    }
    steps = [
        ("Sub", ["X", "mean"], "centred"),
        ("Div", ["centred", "scale"], "scaled"),
        ("MatMul", ["scaled", "weight"], "products"),
        ("Reshape", ["products", "flat"], "sums"),
        ("Add", ["sums", "intercept"], "score"),
    ]
    outputs = [("score", kinds.DOUBLE)]
    decider = "score"
    if model.calibration is not None:
        if not isinstance(model.calibration, Sigmoid):
            raise ValueError("ONNX export knows sigmoid calibration only.")
        constants["a"] = np.array([-model.calibration.a])
        constants["b"] = np.array([-model.calibration.b])
        steps += [("Mul", ["score", "a"], "times"), ("Add", ["times", "b"], "logit")]
        steps.append(("Sigmoid", ["logit"], "probability"))
        outputs.append(("probability", kinds.DOUBLE))
        decider = "logit"
    steps.append(("Greater", [decider, "zero"], "positive"))
    nodes = [helper.make_node(kind, inputs, [out]) for kind, inputs, out in steps]
    nodes.append(helper.make_node("Cast", ["positive"], ["place"], to=kinds.INT64))
    nodes.append(helper.make_node("Gather", ["classes", "place"], ["label"]))
    label_kind = helper.np_dtype_to_tensor_dtype(constants["classes"].dtype)
    outputs.insert(0, ("label", label_kind))
    graph = helper.make_graph(
        nodes,
        "frugalsvm",
        [helper.make_tensor_value_info("X", kinds.DOUBLE, ["N", len(model.features)])],
        [helper.make_tensor_value_info(name, kind, ["N"]) for name, kind in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
        doc_string="columns of X: " + ", ".join(map(repr, model.names)),
    )
    proto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="frugalsvm"
    )
    proto.ir_version = IR_VERSION
    _onnx("onnx.checker").check_model(proto)
    return proto


def _labels(model: PortableModel) -> np.ndarray:
    labels = np.array(model.classes)
    return labels.astype(object) if labels.dtype.kind == "U" else labels


def _onnx(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            "to_onnx needs onnx, which is not installed: pip install frugalsvm[onnx] "
            "(skl2onnx brings it, too)."
        ) from error
