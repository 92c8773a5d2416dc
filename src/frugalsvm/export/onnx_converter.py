"""FrugalSVC for skl2onnx, which converts whole pipelines."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..estimators import FrugalSVC, FrugalSVCCV
from ..problem.ties import decimals_of

# Decimals of scores in single precision: so many fewer, and powers of ten that it has.
FEWER_IN_SINGLE, MOST_IN_SINGLE = 2, 30
# Those of other classifiers that skl2onnx reads itself.
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
    for one in (FrugalSVC, FrugalSVCCV):
        skl2onnx.update_registered_converter(
            one, f"Frugalsvm{one.__name__}",
            shapes.calculate_linear_classifier_output_shapes, _convert,
            options=_OPTIONS,
        )  # fmt: skip


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write the nodes of a fitted classifier."""
    kinds = import_module("onnx").TensorProto
    classifier, (given,) = operator.raw_operator, operator.inputs
    is_double = type(given.type).__name__ == "DoubleTensorType"
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

    label, scores = (one.full_name for one in operator.outputs)
    column = node("Cast", [given.full_name], to=real)
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
    place = node("ArgMax", [column], axis=1, keepdims=0)
    node("Gather", [_classes(classifier, constant, kinds), place], label)


def _classes(classifier: Any, constant: Any, kinds: Any) -> str:
    classes = np.asarray(classifier.classes_)
    if classes.dtype.kind in "OSU":
        texts = np.array([str(one).encode() for one in classes.tolist()], dtype=object)
        return constant("classes", kinds.STRING, texts)
    # Labels that are numbers are integers, or scikit-learn refuses them.
    return constant("classes", kinds.INT64, classes.astype(np.int64))
