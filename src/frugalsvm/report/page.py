"""render and write_report: a single HTML file without scripts or external resources.

All text from users is escaped: by Jinja2 in templates, by ``drawing`` in figures.
Figures are the only content that templates insert unescaped (``safe``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..problem import write_whole
from . import figures, headline, words
from .content import BudgetPath, Report, SelectedFeature

# Sections in order: field of the report, template file, heading.
SECTIONS = (
    ("features", "model", "The model"),
    ("validation", "quality", "How well it predicts"),
    ("path", "budget", "How many features?"),
    ("alternatives", "alternatives", "Would other features do as well?"),
    ("verdict", "proof", "What is proved"),
    ("data", "data", "The data"),
    ("reproduction", "again", "How to reproduce it"),
)
# Weights below this fraction of the largest are zero within solver tolerance.
NEGLIGIBLE = 1e-6
# Maximum number of rows in a table.
N_SHOWN = 30


def render(report: Report) -> str:
    """The page of a report, as text.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        A complete HTML document that loads nothing and runs nothing.
    """
    try:
        jinja2 = import_module("jinja2")
    except ImportError as error:
        raise ImportError(
            "a report needs Jinja2, which is not installed: "
            "pip install 'frugalsvm[cli]'."
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("frugalsvm.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    style, _, _ = environment.loader.get_source(environment, "style.css")
    template = environment.get_template("page.html")
    return template.render(
        report=report, words=words, headline=headline, style=style,
        **_frame(report), **_first(report), **_model(report), **_quality(report),
        **_path(report), **_rest(report),
    )  # fmt: skip


def _frame(report: Report) -> dict[str, Any]:
    """Headings and the frame around the sections."""
    shown = [
        (template, name)
        for part, template, name in SECTIONS
        if getattr(report, part) is not None
    ]
    source = None if report.data is None else report.data.source
    versions = {} if report.reproduction is None else report.reproduction.versions
    return {
        "contents": shown,
        "facts": [text for text in (source, report.created) if text],
        "first": words.label(report, 0),
        "second": words.label(report, 1),
        "version": versions.get("frugalsvm"),
    }


def _first(report: Report) -> dict[str, Any]:
    """The headline: warnings, and the quality of the model."""
    data, validation = report.data, report.validation
    texts = headline.all_warnings(
        () if data is None else data.warnings or (), map(headline.ended, report.remarks)
    )
    warnings, n_more = headline.first_warnings(texts)
    names, weights = headline.names_of(report), bool(report.verdict.class_weight)
    return {
        "first_warnings": warnings,
        "more_warnings": n_more,
        "sentences": [headline.unseen(report)]
        if validation is None
        else headline.quality(validation, names, report.threshold, weights),
    }


def _model(report: Report) -> dict[str, Any]:
    features = sorted(report.features, key=lambda f: -abs(f.standardised))
    most = abs(features[0].standardised) if features else 0.0
    features = [
        replace(feature, weight=0.0, standardised=0.0)
        # No training row has a value that is unknown to the model.
        if abs(feature.standardised) < NEGLIGIBLE * most and feature.scale != 0.0
        else feature
        for feature in features
    ]
    blocks = _blocks(features)
    features = [feature for block in blocks for feature in block]
    folds = report.validation is not None
    return {
        "features": features,
        "blocks": blocks,
        "most": most,
        "bar": figures.bar,
        "shows_folds": folds and any(f.folds_selecting is not None for f in features),
        "budget": words.sentence(words.budget(report.verdict)),
        # Alternatives are about columns of categories, or about single categories.
        "selected": {name for f in features for name in (f.name, f.column, f.group)},
    }


def _blocks(features: list[SelectedFeature]) -> list[list[SelectedFeature]]:
    """The columns of each feature together, in the order of the first of them."""
    blocks: dict[str, list[SelectedFeature]] = {}
    for index, feature in enumerate(features):
        key = f"{index}" if feature.group is None else f"group {feature.group}"
        blocks.setdefault(key, []).append(feature)
    return list(blocks.values())


def _quality(report: Report) -> dict[str, Any]:
    validation = report.validation
    if validation is None:
        return {"key_figures": [], "confusion": [], "roc": "", "calibration": ""}
    is_weighted = bool(report.verdict.class_weight)
    names = ("AUC", "balanced accuracy" if is_weighted else "accuracy")
    scores = map(validation.score, names)
    return {
        # Shown with the verdict.
        "key_figures": [score for score in scores if score is not None],
        "confusion": validation.confusion.tolist(),
        "roc": _figure(figures.roc_figure, validation.roc),
        "calibration": _figure(figures.calibration_figure, validation.calibration),
    }


def _path(report: Report) -> dict[str, Any]:
    path = report.path
    if path is None:
        return {"score_path": "", "objective_path": "", "path_rows": []}
    rows = [
        {
            "budget": int(budget),
            "chosen": int(budget) == path.chosen,
            "score": _with_error(path, k),
            "objective": _entry(path.objectives, k),
            "bound": _entry(path.lower_bounds, k),
        }
        for k, budget in enumerate(path.budgets)
    ]
    with_scores = path if path.scores is not None else None
    is_known = path.objectives is not None and np.isfinite(path.objectives).any()
    with_objectives = path if is_known else None
    return {
        "score_path": _figure(figures.score_path_figure, with_scores),
        "objective_path": _figure(figures.objective_path_figure, with_objectives),
        "path_rows": rows,
    }


def _rest(report: Report) -> dict[str, Any]:
    """Alternatives, proof and data."""
    roles = () if report.alternatives is None else report.alternatives.roles
    dropped = () if report.data is None else report.data.dropped
    return {
        "roles": roles[:N_SHOWN],
        "hidden_roles": max(0, len(roles) - N_SHOWN),
        "share_bar": figures.share_bar,
        "progress": _figure(figures.progress_figure, report.progress),
        "dropped": dropped[:N_SHOWN],
        "hidden_dropped": max(0, len(dropped) - N_SHOWN),
        "serious_kinds": headline.SERIOUS,
    }


def _figure(draw: Callable[[Any], str], section: Any) -> str:
    """A figure as HTML; empty without its section."""
    return "" if section is None else draw(section)


def _entry(values: np.ndarray | None, k: int) -> str:
    return "" if values is None else words.number(float(values[k]), 6)


def _with_error(path: BudgetPath, k: int) -> str:
    if path.scores is None:
        return ""
    text = words.rate(float(path.scores[k]), path.score_name)
    if path.errors is None:
        return text
    return f"{text} ± {words.rate(float(path.errors[k]), path.score_name)}"


def write_report(report: Report, path: str | PathLike[str]) -> None:
    """Write the page of a report to a file.

    The file is written completely or not at all.

    Parameters
    ----------
    report : Report
    path : path of the file
    """
    text = render(report)
    write_whole(Path(path), lambda file: file.write(text.encode()))
