"""Portable models: model.json and its exports.

``model`` holds the numbers and ``parts`` the features and the proof; ``content`` reads
and writes the file and ``schema`` checks it. ``reading`` converts fitted estimators,
whose ``encoders`` make ``terms`` of columns. ``columns`` and ``raw_columns`` find
features in tables, ``lookups`` are encoded categories, and ``calibration`` turns scores
into probabilities. ``statistics`` keeps what is known of the training rows.
``pipeline``, ``text``, ``onnx_graph`` and ``scorecard`` are the exports; ``card_parts``
makes the ranges of a scorecard, ``points`` applies them, and ``evaluation`` tries it on
a table. ``display`` is for people.
"""

from .calibration import Isotonic, Sigmoid
from .evaluation import CardEvaluation
from .model import PortableModel
from .parts import Feature, Group, Proof
from .schema import InvalidModel, model_schema
from .scorecard import Scorecard
from .statistics import Distribution, Statistics

__all__ = [
    "CardEvaluation",
    "Distribution",
    "Feature",
    "Group",
    "InvalidModel",
    "Isotonic",
    "PortableModel",
    "Proof",
    "Scorecard",
    "Sigmoid",
    "Statistics",
    "model_schema",
]
