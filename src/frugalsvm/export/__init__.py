"""Portable models: model.json and its exports.

``model`` holds the numbers, ``content`` reads and writes the file, with the features
and the proof, and ``schema`` checks it. ``pipeline`` converts fitted estimators to
models and back; ``encoders`` expresses transformers as functions of columns.
``origins`` finds features in tables, ``lookups`` are encoded categories, and
``calibration`` turns scores into probabilities. ``statistics`` describes the training
rows, and has the ranges of scorecards. ``text``, ``onnx`` and ``scorecard`` are the
exports; ``card_parts`` makes the parts of a scorecard and evaluates it.
"""

from .._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
