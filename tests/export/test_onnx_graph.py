"""ONNX: the same predictions in another runtime, if there is one."""

import numpy as np
import pytest

from frugalsvm import PortableModel
from tests.export.models import data, fitted


@pytest.mark.parametrize("method", [None, "sigmoid"])
@pytest.mark.parametrize("kind", [str, int])
def test_the_runtime_gives_the_same(method, kind):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, _ = data()
    model = PortableModel.from_estimator(fitted(6, method))
    if kind is int:
        text = model.to_json().replace('"it\'s"', "0").replace('"none"', "1")
        model = PortableModel.from_json(text)
    session = runtime.InferenceSession(model.to_onnx().SerializeToString())
    names = [one.name for one in session.get_outputs()]
    found = dict(zip(names, session.run(None, {"X": model.select(X)}), strict=True))
    np.testing.assert_allclose(
        found["score"], model.decision_function(X), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_array_equal(found["label"], model.predict(X))
    assert ("probability" in found) == (method is not None)
    if method:
        np.testing.assert_allclose(
            found["probability"], model.predict_proba(X)[:, 1], rtol=1e-6
        )


def test_isotonic_calibration_is_rejected():
    pytest.importorskip("onnx")
    model = PortableModel.from_estimator(fitted(2, "isotonic"))
    with pytest.raises(ValueError, match="only sigmoid calibration"):
        model.to_onnx()


def test_without_onnx_an_error_says_so(uninstall):
    uninstall("onnx", "onnx.helper")
    with pytest.raises(ImportError, match=r"pip install frugalsvm\[onnx\]"):
        PortableModel.from_estimator(fitted(2)).to_onnx()
