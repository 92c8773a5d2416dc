"""The report of a fit: its content, and the extra results that it shows."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from ..api.alternatives import NearOptimal, near_optimal
from ..output.report import (
    DataSummary,
    Report,
    Reproduction,
    SelectedFeature,
    alternatives_of,
    certificate_of,
    path_of,
    progress_of,
    scored_path_of,
    verdict_of,
)
from ..output.report.content import CATEGORY, NUMBER, DataWarning
from ..tables import Preparation
from ..tables.gaps import INDICATOR
from ..tables.prepared_columns import CategoryColumn
from .cautions import MOST_CELLS, Cautions
from .fitting import Fit
from .headlines import focus_of, repeated, scored
from .levels import LevelForm
from .results import constant_of, signs_in_words, verify_command
from .study import Conditions, PreparedTable, Search, budget_path
from .thresholds import threshold_of
from .validation import Validation
from .versions import versions

# Limits of the list of alternatives: time, tolerance and length.
SECONDS, TOLERANCE, MOST_MODELS = 20.0, 0.01, 1000
# Largest budget of the path in a report.
MAX_BUDGET = 20


def extras(
    data: PreparedTable, fit: Fit, search: Search, on_phase: Callable[[str], None]
) -> dict[str, Any]:
    """The budget path and the alternatives, for the report only."""
    found: dict[str, Any] = {}
    if data.n_rows * fit.preparation.n_features > MOST_CELLS:
        return found
    X = fit.preparation.transform(data.table)
    if fit.choice is None:
        on_phase("budget path for the report")
        quick = replace(search, effort="fast", time_limit=None)
        found["path"] = budget_path(
            X, data, fit.conditions, fit.preparation, _some_budgets(fit), quick
        )
    on_phase("alternatives for the report")
    found["alternatives"] = list_alternatives(
        X,
        data,
        fit.conditions,
        fit.preparation,
        TOLERANCE,
        MOST_MODELS,
        SECONDS,
        search,
    )
    return found


def list_alternatives(
    X: np.ndarray,
    data: PreparedTable,
    conditions: Conditions,
    preparation: Preparation,
    tolerance: float,
    limit: int,
    time_limit: float | None,
    search: Search,
    certificate: bool = False,
) -> NearOptimal:
    """All choices of features that are about as good as the best one."""
    return near_optimal(
        conditions.problem(preparation, X, data.target.signs, overwrite_X=False),
        tolerance=tolerance,
        limit=limit,
        feature_names=conditions.names(preparation),
        time_limit=time_limit,
        n_jobs=search.n_jobs,
        random_state=search.seed,
        certificate=certificate,
    )


def _some_budgets(fit: Fit) -> list[int]:
    """Budgets around the chosen one."""
    n = fit.result.n_features
    chosen = n if fit.conditions.budget is None else fit.conditions.budget
    n_included = len(fit.conditions.sides(fit.preparation)["include"])
    around = range(max(1, n_included), min(n, MAX_BUDGET, max(10, 2 * chosen)) + 1)
    return sorted({*around, min(chosen, n)})


def report_of(
    data: PreparedTable,
    fit: Fit,
    validation: Validation | None,
    more: dict[str, Any],
    seed: int,
    command: str,
    certificate: str | None,
    form: LevelForm | None = None,
) -> Report:
    """Everything that the page shows."""
    result, conditions, preparation = fit.result, fit.conditions, fit.preparation
    first, second = (str(one) for one in preparation.classes)
    chosen_by = "set by the user"
    steps = repeated(data, conditions)
    if fit.choice is not None:
        by_folds = "chosen by cross-validation (best balanced accuracy)"
        chosen_by = f"feature limit and C of the weights {by_folds}"
        if fit.chosen == ("budget",):
            chosen_by = f"feature limit {by_folds}, C set by the user"
        elif fit.chosen == ("C",):
            chosen_by = f"C of the weights {by_folds}, feature limit set by the user"
        if fit.choice.remark:
            chosen_by += f"; {fit.choice.remark}"
        steps = (*steps, "choice of feature limit and C")
    cautions = more.get("cautions") or Cautions.of(data, preparation)
    constant = constant_of(data, fit)
    proof = None
    if result.certificate is not None:
        verify = None
        if certificate is not None:
            verify = verify_command(certificate, data)
        proof = certificate_of(result.certificate, file=certificate, command=verify)
    return Report(
        title=f"{preparation.target} from {data.table.source}",
        classes=(first, second),
        verdict=verdict_of(
            result,
            C=conditions.loss,
            max_features=conditions.budget,
            max_cost=conditions.max_cost,
            chosen_by=chosen_by,
            class_weight=conditions.weight_words(data.target.signs),
            constant="" if constant is None else constant.words_of_commands,
            signs=signs_in_words(conditions.signs),
            included=conditions.include,
        ),
        features=tuple(_features(fit, validation, form)),
        intercept=fit.intercept if form is None else form.intercept,
        threshold=threshold_of(data, fit, validation),
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        validation=None if validation is None else scored(data, fit, validation, steps),
        path=_path(fit, more),
        alternatives=alternatives_of(more["alternatives"])
        if "alternatives" in more
        else None,
        progress=progress_of(result),
        certificate=proof,
        data=data_summary(data, preparation, cautions.data),
        remarks=cautions.remarks,
        focus=focus_of(data, fit),
        reproduction=reproduction(command, seed),
        level_zero="" if form is None else form.zero,
    )


def _features(
    fit: Fit, validation: Validation | None, form: LevelForm | None
) -> list[SelectedFeature]:
    preparation = fit.preparation
    origins = preparation.origins()
    made = []
    labels = fit.conditions.labels(preparation)
    for j in fit.result.selected_columns.tolist():
        column, level = origins[j]
        name = preparation.features[j]
        made.append(
            SelectedFeature(
                name=name,
                weight=float(fit.weights[j]),
                standardised=float(fit.model.coef[j]),
                mean=float(preparation.means[j]),
                scale=float(preparation.scales[j]),
                kind=NUMBER if level is None else CATEGORY,
                column=None if level is None else column.name,
                category=level,
                folds_selecting=None
                if validation is None
                else validation.times_selected(labels[j]),
                group=labels[j] if labels.count(labels[j]) > 1 else None,
            )
        )
    return made if form is None else _in_form(made, form)


def _in_form(made: list[SelectedFeature], form: LevelForm) -> list[SelectedFeature]:
    """The same model with other weights of categories; see ``levels``."""
    shown, seen = [], set()
    for one in made:
        if one.column is None:
            shown.append(one)
        elif one.column not in seen:
            seen.add(one.column)
            for level in form.levels[one.column]:
                scale = one.scale if level.share and one.scale else 0.0
                shown.append(
                    replace(
                        one,
                        name=f"{one.column}={level.name}",
                        weight=level.weight,
                        standardised=level.weight * scale,
                        mean=level.share,
                        scale=scale,
                        category=level.name,
                        group=one.column,
                    )
                )
    return shown


def _path(fit: Fit, more: dict[str, Any]) -> Any:
    if fit.choice is not None:
        return scored_path_of(
            fit.choice.path, score_name="balanced accuracy", one_se=False
        )
    if "path" not in more:
        return None
    chosen = fit.conditions.budget
    most = int(more["path"].max_features[-1])
    budget = most if chosen is None else min(chosen, most)
    return path_of(more["path"], chosen=budget, result=fit.result)


def data_summary(
    data: PreparedTable, preparation: Preparation, warnings: tuple[DataWarning, ...]
) -> DataSummary:
    """How the table was read."""
    return DataSummary(
        n_rows=data.n_rows,
        n_columns=len(data.table.columns),
        target=data.target.name,
        counts=data.target.counts,
        source=data.table.source,
        dropped=data.plan.dropped,
        encoded=tuple(
            (one.name, len(one.levels))
            for one in preparation.columns
            if isinstance(one, CategoryColumn)
        ),
        imputed=tuple(data.gaps().items()),
        imputation=_imputation(data),
        standardised=True,
        warnings=warnings,
    )


def _imputation(data: PreparedTable) -> str | None:
    """What replaces missing values; completes "with the ..."."""
    gaps, categories = data.gaps(), data.plan.categories
    if gaps and data.missing == INDICATOR:
        words = "median, and an indicator where at least 1 % are missing (numbers)"
        return f"{words} or a category of their own"
    if any(name in categories for name in gaps):
        return "median (numbers) or the most frequent category"
    return "median" if gaps else None


def reproduction(command: str, seed: int) -> Reproduction:
    """How to reproduce the result."""
    return Reproduction(command, versions(), seed, platform.platform())
