"""Portable models: model.json and its exports.

``model`` holds the numbers, ``content`` reads and writes the file, with the features
and the proof, and ``schema`` checks it. ``pipeline`` converts fitted estimators to
models and back; ``encoders`` expresses transformers as functions of columns.
``origins`` finds features in tables, ``lookups`` are encoded categories, and
``calibration`` turns scores into probabilities. ``statistics`` describes the training
rows, and has the ranges of scorecards. ``text``, ``onnx`` and ``scorecard`` are the
exports; ``card_parts`` makes the parts of a scorecard and evaluates it.
"""

from __future__ import annotations

from .calibration import Isotonic, Sigmoid
from .card_parts import CardEvaluation
from .content import Feature, Group, Proof
from .model import PortableModel
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
