"""Models that travel: model.json, and what it turns into.

``model`` holds the numbers and their file, ``schema`` checks files, ``reading`` takes
over fitted estimators, ``calibration`` makes probabilities of scores; ``pipeline``,
``text``, ``onnx_graph`` and ``scorecard`` are what a model can become.
"""

from .calibration import Isotonic, Sigmoid
from .model import Feature, PortableModel, Proof
from .schema import InvalidModel, model_schema
from .scorecard import Scorecard

__all__ = [
    "Feature",
    "InvalidModel",
    "Isotonic",
    "PortableModel",
    "Proof",
    "Scorecard",
    "Sigmoid",
    "model_schema",
]
