"""Portable models: model.json and its exports.

``model`` holds the numbers, ``content`` reads and writes the file, with the features
and the proof, and ``schema`` checks it. ``pipeline`` converts fitted estimators to
models and back; ``encoders`` turn what transformers do into terms of columns.
``origins`` find features in tables, ``lookups`` are encoded categories, and
``calibration`` turns scores into probabilities. ``statistics`` keeps what is known of
the training rows, and has the ranges of scorecards. ``text``, ``onnx`` and
``scorecard`` are the exports; ``card_parts`` makes and tries the parts of a scorecard.
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


# --- Output: portable models, reports and plots ---------------------------------------
