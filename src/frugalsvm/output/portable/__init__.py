"""Portable models: model.json and its exports.

``model`` holds the numbers and ``parts`` the features and the proof; ``content`` reads
and writes the file and ``schema`` checks it. ``reading`` converts fitted estimators,
whose ``encoders`` make ``terms`` of columns. ``columns`` and ``raw_columns`` find
features in tables, ``lookups`` are encoded categories, and ``calibration`` turns scores
into probabilities. ``pipeline``, ``text``, ``onnx_graph`` and ``scorecard`` are the
exports, and ``display`` is for people.
"""

from .calibration import Isotonic, Sigmoid
from .model import PortableModel
from .parts import Feature, Group, Proof
from .schema import InvalidModel, model_schema
from .scorecard import Scorecard

__all__ = [
    "Feature",
    "Group",
    "InvalidModel",
    "Isotonic",
    "PortableModel",
    "Proof",
    "Scorecard",
    "Sigmoid",
    "model_schema",
]
