"""Models that travel: model.json, and what it turns into.

``model`` holds the numbers, ``parts`` what they belong to, ``content`` is what the file
has of them and ``schema`` checks it; ``reading`` takes over fitted estimators,
``columns`` finds features in tables, ``calibration`` makes probabilities of scores;
``pipeline``, ``text``, ``onnx_graph`` and ``scorecard`` are what a model can become.
"""

from .calibration import Isotonic, Sigmoid
from .model import PortableModel
from .parts import Feature, Proof
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
