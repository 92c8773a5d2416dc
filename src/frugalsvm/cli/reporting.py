"""Warnings of a fit, the content of its report, and the extra results in it."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from ..engine import node_work
from ..estimators import bounded_grid, near_optimal
from ..problem import Problem
from ..report import (
    CATEGORY,
    MISSING,
    NUMBER,
    BudgetPath,
    DataSummary,
    DataWarning,
    Report,
    Reproduction,
    SelectedFeature,
    all_warnings,
    alternatives_of,
    certificate_of,
    drawn_rows,
    ended,
    first_warnings,
    inspect_sample,
    progress_of,
    scored_path_of,
    verdict_of,
)
from ..run import counted, listed, quote
from ..tables import INDICATOR, CategoryColumn, NumberColumn, Preparation
from .choosing import Fit
from .entry import versions
from .levels import LevelForm
from .results import constant_of, signs_text, verify_command
from .session import Deadline, Session
from .study import PreparedTable, Search
from .thresholds import scored, threshold_of
from .validation import NEVER, Validation

# --- Warnings, which are shown before the result --------------------------------------

# Rows of the rarer class for each weight: Peduzzi et al., A simulation study of the
# number of events per variable in logistic regression analysis, J Clin Epidemiol 1996.
EVENTS_PER_WEIGHT = 10


@dataclass(frozen=True)
class Cautions:
    """Warnings that a reader should know before the result.

    Attributes
    ----------
    data : tuple of DataWarning
        About suspicious columns of the table.
    remarks : tuple of str
        About the run.
    n_compared : int or None
        Number of rows in which columns were compared, if these are a sample.
    """

    data: tuple[DataWarning, ...]
    remarks: tuple[str, ...] = ()
    n_compared: int | None = None

    @classmethod
    def of(
        cls, data: PreparedTable, preparation: Preparation, remarks: Iterable[str] = ()
    ) -> Cautions:
        """Inspect the table, or a sample of its rows if there are many."""
        rows = drawn_rows(data.target.positive, preparation.n_features)
        warnings = inspect_sample(
            preparation.features,
            preparation.values(data.table, rows),
            rows,
            data.target.positive,
            preparation.feature_of(data.table),
            {
                columns[0].variable: features
                for features, columns in preparation.blocks()
                if columns[0].has_categories
            },
        )
        n_compared = None if rows.size == data.n_rows else rows.size
        remarks = (*name_cautions(data), *remarks)
        return cls(tuple(map(_reassuring, warnings)), remarks, n_compared)

    @property
    def texts(self) -> list[str]:
        """All warnings, the most serious first, without the harmless ones."""
        return all_warnings(self.data, self.remarks)

    def show(self, session: Session) -> None:
        """Print the first warnings and the number of others."""
        if self.n_compared is not None:
            session.say(
                "columns that give the answer away, and duplicates, were looked for in "
                f"{self.n_compared:,} rows that were drawn"
            )
        shown, n_more = first_warnings(self.texts)
        for text in shown:
            session.warn(text)
        if n_more:
            session.warn(f"and {n_more} more; --json and --report have all of them")


def too_many_weights(data: PreparedTable, fit: Fit) -> list[str]:
    """A warning if categories need more weights than the rarer class supports."""
    labels = fit.conditions.labels(fit.preparation)
    columns = fit.result.selected_columns
    sizes = Counter(labels[j] for j in columns.tolist())
    n_events = min(data.target.counts)
    if columns.size == len(sizes) or n_events >= EVENTS_PER_WEIGHT * columns.size:
        return []
    (name, n), *_ = sizes.most_common()
    # A few categories need no warning.
    if n < 5:
        return []
    return [
        f"the model has {columns.size:,} weights, {n:,} of them for the categories of "
        f"{quote(name)}, and the rarer class {counted(n_events, 'row')}: fewer than "
        f"{EVENTS_PER_WEIGHT} for each weight (a rule of thumb) are too few to tell "
        "categories apart. --min-level merges the rare ones, and --split-categories "
        "counts each as a feature"
    ]


def name_cautions(data: PreparedTable) -> list[str]:
    """Warnings about columns whose names suggest groups or weights of rows."""
    cautions = []
    repeated, weights = data.plan.repeated, data.plan.weights
    if repeated:
        cautions.append(
            f"{listed(repeated, quoted=True)} repeat{'s' * (len(repeated) == 1)}: rows "
            "with the same one belong together, and folds would separate them, so that "
            "cross-validated accuracies may be too high for others; to know, fit to "
            "some of them and predict the rest"
        )
    if weights:
        is_single = len(weights) == 1
        cautions.append(
            f"{listed(weights, quoted=True)} look{'s' * is_single} like weights of a "
            "survey, for how many others a row stands, and "
            f"{'is' if is_single else 'are'} used as {'a feature' * is_single}"
            f"{'features' * (not is_single)}: --exclude {weights[0]!r} leaves "
            f"{'it' if is_single else 'such a column'} out. Shares and accuracies "
            "count each row once; in Python, fit takes them as sample_weight"
        )
    return cautions


def _reassuring(warning: DataWarning) -> DataWarning:
    """A warning, reworded if the fit has already dealt with its cause."""
    if warning.kind != "scales":
        return warning
    narrow, wide = warning.columns
    text = (
        f"Columns are on very different scales, from {narrow} to {wide}. They were "
        "standardised for the fit, so this does no harm here."
    )
    return replace(warning, text=text)


# --- The budget path and the list of alternatives -------------------------------------

# Limits of the list in a report: tolerance and length.
TOLERANCE, MOST_MODELS = 0.01, 1000
# The work of its tree, as a share of that of the fit's search.
SHARE_OF_SEARCH = 0.3
# Tables with more numbers get no path and no list in a report.
MOST_CELLS = 5_000_000
# Largest budget of the path in a report, and the number of samples of its search.
MAX_BUDGET, MOST_SAMPLES = 20, 5000
# The share of the time left that the path may use.
SHARE_OF_PATH = 0.5


def extras(
    data: PreparedTable,
    fit: Fit,
    search: Search,
    on_phase: Callable[[str], None],
    deadline: Deadline = NEVER,
) -> dict[str, Any]:
    """The budget path and the alternatives, for the report only.

    The work for both is limited in proportion to that of the fit.
    """
    n_cells = data.n_rows * fit.preparation.n_features
    if n_cells > MOST_CELLS:
        return {
            "too_large": "the report has no budget path and no alternatives, since "
            f"{n_cells:,} numbers (rows times columns) are more than {MOST_CELLS:,}; "
            "see frugalsvm path and frugalsvm alternatives"
        }
    results: dict[str, Any] = {}
    X = fit.preparation.transform(data.table)
    problem = fit.conditions.problem(
        fit.preparation, X, data.target.signs, overwrite_X=False
    )
    if fit.choice is None and not _is_over(deadline, "the budget path", "path"):
        on_phase("budget path for the report")
        results["path"] = _quick_path(
            problem, fit, search, deadline.part(SHARE_OF_PATH)
        )
    if not _is_over(deadline, "the alternatives", "alternatives"):
        on_phase("alternatives for the report")
        results["alternatives"] = near_optimal(
            problem,
            tolerance=TOLERANCE,
            limit=MOST_MODELS,
            feature_names=fit.conditions.names(fit.preparation),
            time_limit=deadline.seconds_left,
            max_nodes=nodes_of(problem, SHARE_OF_SEARCH * search.work.search_work),
            n_jobs=search.n_jobs,
            warm=fit.result,
        )
    return results


def _is_over(deadline: Deadline, section: str, command: str) -> bool:
    """Whether no time is left for a section of the report, which is then noted."""
    is_over = deadline.is_over
    if is_over:
        deadline.omit(f"{section} of the report", f"see frugalsvm {command}")
    return is_over


def nodes_of(problem: Problem, work: float) -> int:
    """Estimated number of nodes of a tree that take some work, at least 50."""
    return max(50, int(work / node_work(problem.engine)))


def _quick_path(
    problem: Problem, fit: Fit, search: Search, time_limit: float | None
) -> BudgetPath:
    """Objectives and bounds around the budget of a fit.

    A subsample of large tables is searched; objectives and bounds are those of all
    rows.
    """
    n, limit = fit.result.n_features, fit.conditions.budget
    chosen = n if limit is None else min(limit, n)
    n_included = len(fit.conditions.constraints(fit.preparation)["include"])
    last = min(n, MAX_BUDGET, max(10, 2 * (n if limit is None else limit)))
    budgets = np.array(sorted({*range(max(1, n_included), last + 1), chosen}))
    k = int(np.searchsorted(budgets, chosen))
    grid = bounded_grid(
        problem,
        budgets,
        np.array([fit.conditions.chosen_C]),
        effort="fast",
        seed=np.random.SeedSequence(search.seed),
        n_jobs=search.n_jobs,
        seeds={(0, k): [fit.result.selected]},
        time_limit=time_limit,
        most_samples=MOST_SAMPLES,
    )
    if grid.was_interrupted:
        raise KeyboardInterrupt
    grid = grid.updated(0, k, fit.result)
    finished = np.isfinite(grid.objectives[0])
    return BudgetPath(
        budgets=budgets[finished],
        chosen=int(budgets[k]),
        objectives=grid.objectives[0, finished],
        lower_bounds=grid.lower_bounds[0, finished],
    )


# --- The report -----------------------------------------------------------------------


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
    """The report of a fit.

    ``more`` has the results of :func:`extras`, the cautions, and the parts that were
    left out.
    """
    result, conditions, preparation = fit.result, fit.conditions, fit.preparation
    first, second = (str(label) for label in preparation.classes)
    chosen_by = "set by the user"
    if fit.choice is not None:
        by_folds = "chosen by cross-validation (best balanced accuracy)"
        chosen_by = f"feature limit and C of the weights {by_folds}"
        if fit.chosen == ("budget",):
            chosen_by = f"feature limit {by_folds}, C set by the user"
        elif fit.chosen == ("C",):
            chosen_by = f"C of the weights {by_folds}, feature limit set by the user"
        for text in (fit.choice.left_out, fit.choice.remark):
            chosen_by += text and f"; {text}"
    cautions = more.get("cautions") or Cautions.of(
        data, preparation, too_many_weights(data, fit)
    )
    path = more.get("path")
    if fit.choice is not None:
        path = scored_path_of(
            fit.choice.path, score_name="balanced accuracy", one_se=False
        )
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
            C=conditions.chosen_C,
            max_features=conditions.budget,
            max_cost=conditions.max_cost,
            chosen_by=chosen_by,
            class_weight=conditions.class_weight_text(data.target.signs),
            constant="" if constant is None else constant.command_line_message,
            signs=signs_text(conditions.signs),
            included=conditions.include,
        ),
        features=tuple(_features(fit, validation, form)),
        intercept=fit.intercept if form is None else form.intercept,
        threshold=threshold_of(data, fit, validation),
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        validation=None if validation is None else scored(data, fit, validation),
        path=path,
        alternatives=alternatives_of(more["alternatives"])
        if "alternatives" in more
        else None,
        progress=progress_of(result),
        certificate=proof,
        data=data_summary(data, preparation, cautions),
        remarks=cautions.remarks,
        left_out=tuple(map(ended, more.get("left_out", ()))),
        split_categories=conditions.is_split,
        reproduction=Reproduction(command, versions(), seed, platform.platform()),
        level_zero="" if form is None else form.zero,
    )


def _features(
    fit: Fit, validation: Validation | None, form: LevelForm | None
) -> list[SelectedFeature]:
    preparation = fit.preparation
    origins = preparation.origins()
    features = []
    labels = fit.conditions.labels(preparation)
    for j in fit.result.selected_columns.tolist():
        column, level = origins[j]
        if isinstance(column, NumberColumn):
            level = column.category
        name = preparation.features[j]
        kind = NUMBER if level is None else CATEGORY
        features.append(
            SelectedFeature(
                name=name,
                weight=float(fit.weights[j]),
                standardised=float(fit.model.coef[j]),
                mean=float(preparation.means[j]),
                scale=float(preparation.scales[j]),
                kind=MISSING if preparation.indicators[j] else kind,
                column=None if level is None else column.variable,
                category=level,
                folds_selecting=None
                if validation is None
                else validation.times_selected(labels[j]),
                group=labels[j] if labels.count(labels[j]) > 1 else None,
            )
        )
    return features if form is None else _in_form(features, form)


def _in_form(features: list[SelectedFeature], form: LevelForm) -> list[SelectedFeature]:
    """The same model with the weights of categories in another form."""
    shown, variables = [], set()
    for feature in features:
        if feature.column is None:
            shown.append(feature)
        elif feature.column not in variables:
            variables.add(feature.column)
            for level in form.levels[feature.column]:
                scale = feature.scale if level.share and feature.scale else 0.0
                shown.append(
                    replace(
                        feature,
                        name=f"{feature.column}={level.name}",
                        weight=level.weight,
                        standardised=level.weight * scale,
                        mean=level.share,
                        scale=scale,
                        category=level.name,
                        group=feature.column,
                    )
                )
    return shown


def data_summary(
    data: PreparedTable, preparation: Preparation, cautions: Cautions
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
            (column.name, len(column.levels))
            for column in preparation.columns
            if isinstance(column, CategoryColumn)
        ),
        imputed=tuple(data.gaps().items()),
        imputation=_imputation(data),
        standardised=True,
        warnings=cautions.data,
        n_compared=cautions.n_compared,
    )


def _imputation(data: PreparedTable) -> str | None:
    """The replacement of missing values; completes "with the ..."."""
    gaps, categories = data.gaps(), data.plan.categories
    if gaps and data.missing == INDICATOR:
        numbers = "median, and an indicator where at least 1 % are missing (numbers)"
        return f"{numbers} or a category of their own"
    if any(name in categories for name in gaps):
        return "median (numbers) or the most frequent category"
    return "median" if gaps else None
