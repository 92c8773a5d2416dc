"""A fitted model as tables and text, and for JSON."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..problem import decimals_of
from ..report import NARROW, NOT_VALIDATED, sentence, unused
from ..run import counted, quote
from ..solving import ConstantModel, Result, Status
from .choosing import Fit
from .levels import OTHER, LevelForm, ShownRule, shown_rule
from .session import Session, plain
from .study import Conditions, PreparedTable
from .thresholds import (
    ConstantByThreshold,
    headline_lines,
    score_lines,
    scores_content,
    threshold_content,
)
from .understanding import as_dict
from .validation import Validation

# Categories of a column whose weights are shown on the terminal.
N_CATEGORIES = 15


def constant_of(data: PreparedTable, fit: Fit) -> ConstantModel | None:
    """The description of a model that predicts one class; None if it predicts both."""
    sign = fit.result.constant if fit.threshold is None else fit.constant
    constant = ConstantModel.of(
        sign,
        data.target.positive,
        data.target.classes,
        fit.conditions.chosen_C,
        fit.conditions.is_weighted,
        "row",
    )
    if constant is None or fit.threshold is None or not fit.model.coef.any():
        return constant
    return ConstantByThreshold(**vars(constant), costs=fit.error_costs)


def show_fit(
    session: Session,
    data: PreparedTable,
    fit: Fit,
    validation: Validation | None,
    form: LevelForm | None = None,
) -> None:
    """Print a fitted model: its quality, its features, and its proof.

    A warning comes first if it predicts one class only.
    """
    constant = constant_of(data, fit)
    if constant is not None:
        session.show("", *_constant_lines(constant), constant.command_line_remedy)
    lines = [NOT_VALIDATED]
    if validation is not None:
        lines = headline_lines(data, fit, validation)
    session.show("", *lines)
    _show_features(session, fit, validation, form, shown_rule(data, fit))
    if validation is not None:
        session.show("", *score_lines(data, fit, validation))
    session.show("", *proof_lines(fit, data.target.signs))


def verify_command(certificate: str, data: PreparedTable) -> str:
    """The command that checks a certificate, with file names quoted for a shell."""
    name = "DATA" if data.path == "-" else data.path
    return shlex.join(
        ["frugalsvm", "verify", certificate, name, *data.layout.arguments]
    )


def _show_features(
    session: Session,
    fit: Fit,
    validation: Validation | None,
    form: LevelForm | None,
    rule: ShownRule,
) -> None:
    preparation, result = fit.preparation, fit.result
    heads = ["feature", ">weight per unit", ">standardised", ">mean", ">sd"]
    if validation is not None:
        heads.append(">in folds")
    table = session.table(*heads)
    origins = preparation.origins()
    shown: set[str] = set()
    columns = result.selected_columns
    selected = set(columns.tolist())
    sizes = np.abs(fit.model.coef[columns])
    for j in columns[np.argsort(-sizes, kind="stable")].tolist():
        column, _ = origins[j]
        variable = column.variable
        if variable in shown:
            continue
        shown.add(variable)
        # All categories of a variable are listed together.
        if column.has_categories and form is not None:
            for cells in _level_rows(variable, form, validation, rule.digits):
                table.add_row(*cells)
            continue
        members = [k for k in preparation.of_variable(variable) if k in selected]
        is_block = column.has_categories and len(members) > 1
        is_block = is_block and not fit.conditions.is_split
        n_omitted = 0
        if is_block:
            table.add_row(*_block_head(variable, len(members), validation))
            n_omitted = max(0, len(members) - N_CATEGORIES)
            # In their order; those with the largest weights if there are many.
            by_weight = sorted(members, key=lambda k: -abs(fit.model.coef[k]))
            members = sorted(by_weight[:N_CATEGORIES])
        for k in members:
            is_part = is_block or bool(preparation.indicators[k])
            cells = _row(fit, k, None if is_part else validation, rule.digits)
            if is_part:
                cells = [f"  {cells[0]}", *cells[1:], *[""] * (validation is not None)]
            table.add_row(*cells)
        if n_omitted:
            more = f"  and {n_omitted:,} with smaller weights (--json has all)"
            table.add_row(more, *[""] * (len(cells) - 1))
    session.show("", table)
    first, second = preparation.classes
    if form is None:
        value, note = fit.intercept, f"standardised {fit.model.intercept:+.6g}"
    else:
        value, note = form.intercept, "for these weights of categories"
    intercept = f"{value:+.{rule.digits + 1}g} ({note})"
    limit = "positive score"
    if fit.threshold is not None or rule.limit != 0:
        limit = f"score above {rule.limit:+.{rule.digits + 1}g}"
    session.show(
        f"intercept {intercept}; a {limit} means "
        f"{quote(second)}, otherwise {quote(first)}"
    )
    if rule.limit != (fit.threshold or 0.0):
        session.show(
            f"  (rows whose score is exactly {fit.threshold or 0.0:g} are "
            f"{quote(first)}; this limit allows for the digits that are left out above)"
        )


def _block_head(name: str, n_levels: int, validation: Validation | None) -> list[str]:
    """The head of the rows of a variable with categories."""
    cells = [f"{plain(name)} ({n_levels} categories)", "", "", "", ""]
    if validation is not None:
        cells.append(_in_folds(validation, name))
    return cells


def _level_rows(
    name: str, form: LevelForm, validation: Validation | None, digits: int
) -> list[list[str]]:
    """The rows of a variable with categories in another form."""
    levels = form.levels[name]
    n_levels = sum(level.name != OTHER for level in levels)
    rows = [_block_head(name, n_levels, validation)]
    for level in levels:
        label, weight = f"  {plain(name)}={plain(level.name)}", level.weight
        share = f"{level.share:.4g}" if level.share > 0 else ""
        cells = [label, f"{weight:+.{digits}g}", "", share, ""]
        rows.append(cells + [""] * (validation is not None))
    return rows


def _in_folds(validation: Validation, name: str) -> str:
    return f"{validation.times_selected(name)} of {validation.n_folds}"


def _row(fit: Fit, j: int, validation: Validation | None, digits: int) -> list[str]:
    preparation = fit.preparation
    name, column = preparation.features[j], preparation.origins()[j][0]
    cells = [
        plain(name),
        f"{fit.weights[j]:+.{digits}g}",
        f"{fit.model.coef[j]:+.4f}" if abs(fit.model.coef[j]) >= 5e-5 else "(none)",
        f"{preparation.means[j]:.4g}",
        # The scale of a category is not its standard deviation.
        "" if column.has_categories else f"{preparation.scales[j]:.4g}",
    ]
    if validation is not None:
        cells.append(_in_folds(validation, fit.conditions.labels(preparation)[j]))
    return cells


def proof_lines(fit: Fit, signs: np.ndarray) -> list[str]:
    """Sentences on what is proved about the choice of features."""
    result, conditions = fit.result, fit.conditions
    limits = []
    if conditions.budget is not None:
        limits.append(f"at most {counted(conditions.budget, 'feature')}")
    if conditions.max_cost is not None:
        limits.append(f"a total cost of at most {conditions.max_cost:g}")
    if conditions.include:
        limits.append(f"including {', '.join(conditions.include)}")
    if conditions.signs:
        limits.append(f"signs {signs_text(conditions.signs)}")
    text = ", ".join(limits) + " and " * bool(limits) + f"C = {conditions.chosen_C:g}"
    # The C of the selection is never chosen.
    if "budget" in fit.chosen:
        text += " (feature limit chosen by cross-validation)"
    if conditions.is_weighted:
        text += f", class weights {conditions.class_weight_text(signs)},"
    if math.isinf(result.gap):
        lines = [
            f"Nothing is proved yet: there is no lower bound. With {text} this one "
            f"has an objective of {result.objective:.6g}."
        ]
    else:
        lines = [
            f"Proved: no linear SVM with {text} has an objective "
            f"below {result.lower_bound:.6g}. This one has {result.objective:.6g}: "
            + _gap_text(result)
        ]
    if conditions.budget is not None and conditions.max_cost is None:
        most = min(conditions.budget, result.n_features)
        spare = unused(result.selected.size, most, result.gap, str(result.status))
        lines += [spare.replace(NARROW, " ")] * bool(spare)
    if result.refit is not None:
        lines.append(
            "This is about the choice of features. Their weights were then computed "
            f"with C = {result.refit.C:g}, chosen by cross-validation: for it, they "
            f"are the best possible, to within {100 * result.refit.gap:.2g} %."
        )
    if result.status is Status.INTERRUPTED:
        lines.append("The search was interrupted; it might have found a better model.")
    elif result.status is Status.TIME_LIMIT:
        lines.append(
            "The search stopped at the time limit; raise --time-limit to continue."
        )
    elif result.status is Status.FEASIBLE:
        lines.append(
            "--effort thorough or a larger --time-limit may prove a better bound."
        )
    return lines


def signs_text(signs: Mapping[str, int]) -> str:
    """Signs for people, like "income +, age -"."""
    return ", ".join(f"{name} {'+' if s > 0 else '-'}" for name, s in signs.items())


def _gap_text(result: Result) -> str:
    gap = 100 * result.gap
    if result.status is Status.OPTIMAL:
        # Smaller gaps are rounded up to a thousandth of a percent.
        return (
            "no other choice of features fits these data better, to within "
            f"{max(gap, 0.001):.2g} %. That is about the fit, not about how often "
            "the model is right."
        )
    text = (
        f"a better choice of features could gain at most {gap:.3g} %; none was found."
    )
    # A gap above 1 % could be mistaken for a bad model.
    if gap > 1.0:
        text += " This shows how far the proof has got, not how good the model is."
    return text


def _constant_lines(constant: ConstantModel | None) -> list[str]:
    return [] if constant is None else [f"{sentence(constant.verdict)}."]


def class_weight_of(conditions: Conditions, signs: np.ndarray) -> dict[str, Any] | None:
    """Weights of the classes for JSON."""
    weights = conditions.class_weight
    return None if weights is None else weights.as_dict(signs)


def content_of(
    data: PreparedTable, fit: Fit, validation: Validation | None, interrupted: bool
) -> dict[str, Any]:
    """A fitted model for JSON."""
    result, preparation = fit.result, fit.preparation
    constant, signs = constant_of(data, fit), data.target.signs
    origins = preparation.origins()
    features = []
    labels = fit.conditions.labels(preparation)
    indicators = preparation.indicators
    for j in result.selected_columns.tolist():
        column, level = origins[j]
        features.append(
            {
                "name": preparation.features[j],
                "column": column.name,
                "category": level,
                "indicator": bool(indicators[j]),
                "weight": fit.weights[j],
                "standardised_weight": fit.model.coef[j],
                "mean": preparation.means[j],
                "scale": preparation.scales[j],
                "folds_selecting": None
                if validation is None
                else validation.times_selected(labels[j]),
            }
        )
    content = {
        "data": as_dict(data, preparation, fit.conditions.is_split),
        "selected": [fit.conditions.names(preparation)[g] for g in result.selected],
        "features": features,
        "intercept": fit.intercept,
        "standardised_intercept": fit.model.intercept,
        "decimals_of_scores": decimals_of(fit.model.coef, fit.model.intercept),
        "max_features": fit.conditions.max_features,
        "C": fit.conditions.C,
        "signs": {
            name: "+" if s > 0 else "-" for name, s in fit.conditions.signs.items()
        },
        "class_weight": class_weight_of(fit.conditions, signs),
        "constant": None
        if constant is None
        else {
            "class": constant.label,
            "words": constant.command_line_message,
        },
        "threshold": threshold_content(data, fit, validation),
        "refit_C": fit.conditions.refit_C,
        "chosen_by_cross_validation": fit.choice is not None,
        "choice": None
        if fit.choice is None
        else {
            "compared": len(fit.choice.compared),
            "candidates": fit.choice.n_candidates,
            "shortened": fit.choice.n_shortened,
            "ended_by_time_limit": fit.choice.was_late,
            "left_out": fit.choice.left_out,
        },
        "proof": {
            "objective": result.objective,
            "lower_bound": result.lower_bound,
            "gap": result.gap,
            "status": str(result.status),
            "words": " ".join(_constant_lines(constant) + proof_lines(fit, signs)),
        },
        "seconds": result.seconds,
        "interrupted": interrupted,
        "cross_validation": None,
    }
    if validation is not None:
        content["cross_validation"] = scores_content(data, fit, validation)
    return content
