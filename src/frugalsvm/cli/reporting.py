"""The report of a fit: its content, and the extra results that it shows."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from ..engine.work import node_work
from ..estimators import NearOptimal, near_optimal
from ..estimators.grid_search import bounded_grid
from ..problem.problem import Problem
from ..report import (
    BudgetPath,
    DataSummary,
    Report,
    Reproduction,
    SelectedFeature,
    alternatives_of,
    certificate_of,
    progress_of,
    scored_path_of,
    verdict_of,
)
from ..report.content import CATEGORY, MISSING, NUMBER, DataWarning
from ..report.headline import all_warnings, ended, first_warnings
from ..report.inspection import drawn_rows, inspect_sample
from ..run.words import counted, listed, quote
from ..tables import Preparation
from ..tables.columns import INDICATOR
from ..tables.prepared_columns import CategoryColumn, NumberColumn
from .choosing import Fit
from .entry import versions
from .levels import LevelForm
from .results import constant_of, signs_in_words, verify_command
from .session import Deadline, Session
from .study import Conditions, PreparedTable, Search
from .thresholds import repeated, scored, threshold_of
from .validation import NEVER, Validation

# --- Warnings of a fit, collected so that they can stand before its result ------------

# Rows of the rarer class for each weight: Peduzzi et al., A simulation study of the
# number of events per variable in logistic regression analysis, J Clin Epidemiol 1996.
EVENTS_PER_WEIGHT = 10
# Columns of fewer categories are not warned of.
LEAST_CATEGORIES = 5


@dataclass(frozen=True)
class Cautions:
    """What a reader should know before the result.

    Attributes
    ----------
    data : tuple of DataWarning
        What looks suspicious in the table.
    remarks : tuple of str
        About the run.
    n_compared : int or None
        Rows in which columns were compared, if they were drawn from more.
    """

    data: tuple[DataWarning, ...]
    remarks: tuple[str, ...] = ()
    n_compared: int | None = None

    @classmethod
    def of(
        cls, data: PreparedTable, preparation: Preparation, remarks: Iterable[str] = ()
    ) -> Cautions:
        """Inspect the table; some rows of it, if there are many."""
        rows = drawn_rows(data.target.positive, preparation.n_features)
        found = inspect_sample(
            preparation.features,
            preparation.values(data.table, rows),
            rows,
            data.target.positive,
            preparation.feature_of(data.table),
            {
                columns[0].variable: places
                for places, columns in preparation.blocks()
                if columns[0].has_categories
            },
        )
        n_compared = None if rows.size == data.n_rows else rows.size
        remarks = (*of_names(data), *remarks)
        return cls(tuple(map(_reassured, found)), remarks, n_compared)

    @property
    def texts(self) -> list[str]:
        """The most serious first, without those that do no harm."""
        return all_warnings(self.data, self.remarks)

    def show(self, session: Session) -> None:
        """Print a handful, how many others there are, and which rows were compared."""
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
    """That columns of categories bring more weights than the rarer class supports."""
    labels = fit.conditions.labels(fit.preparation)
    chosen = fit.result.selected_columns
    sizes = Counter(labels[j] for j in chosen.tolist())
    n_events = min(data.target.counts)
    if chosen.size == len(sizes) or n_events >= EVENTS_PER_WEIGHT * chosen.size:
        return []
    (name, n), *_ = sizes.most_common()
    if n < LEAST_CATEGORIES:
        return []
    return [
        f"the model has {chosen.size:,} weights, {n:,} of them for the categories of "
        f"{quote(name)}, and the rarer class {counted(n_events, 'row')}: fewer than "
        f"{EVENTS_PER_WEIGHT} for each weight (a rule of thumb) are too few to tell "
        "categories apart. --min-level merges the rare ones, and --split-categories "
        "counts each as a feature"
    ]


def of_names(data: PreparedTable) -> list[str]:
    """What names of columns say: that rows belong together, or have weights."""
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
        is_one = len(weights) == 1
        cautions.append(
            f"{listed(weights, quoted=True)} look{'s' * is_one} like weights of a "
            "survey, for how many others a row stands, and "
            f"{'is' if is_one else 'are'} used as {'a feature' * is_one}"
            f"{'features' * (not is_one)}: --exclude {weights[0]!r} leaves "
            f"{'it' if is_one else 'such a column'} out. Shares and accuracies count "
            "each row once; in Python, fit takes them as sample_weight"
        )
    return cautions


def _reassured(warning: DataWarning) -> DataWarning:
    """A warning, less alarming if the fit has already dealt with it."""
    if warning.kind != "scales":
        return warning
    narrow, wide = warning.columns
    text = (
        f"Columns are on very different scales, from {narrow} to {wide}. They were "
        "standardised for the fit, so this does no harm here."
    )
    return replace(warning, text=text)


# --- The report of a fit: its content, and the extra results that it shows ------------

# Limits of the list of alternatives: tolerance and length.
TOLERANCE, MOST_MODELS = 0.01, 1000
# Nodes of its tree do at most this part of the work of the fit's search.
SHARE_OF_SEARCH = 0.3
# Work of the tree of a list that is asked for on its own.
WORK_OF_LIST = 6e10
# Nodes that it may have in any case.
LEAST_NODES = 50
# Cells of larger tables are too many for a path and a list beside a fit.
MOST_CELLS = 5_000_000
# Largest budget of the path in a report, and the samples on which it is searched.
MAX_BUDGET, MOST_SAMPLES = 20, 5000
# The part of the time left that the path may use.
SHARE_OF_PATH = 0.5


def extras(
    data: PreparedTable,
    fit: Fit,
    search: Search,
    on_phase: Callable[[str], None],
    deadline: Deadline = NEVER,
) -> dict[str, Any]:
    """The budget path and the alternatives, for the report only.

    Both are bounded by work in proportion to that of the fit.
    """
    found: dict[str, Any] = {}
    n_cells = data.n_rows * fit.preparation.n_features
    if n_cells > MOST_CELLS:
        found["too_large"] = (
            f"the report has no budget path and no alternatives, since {n_cells:,} "
            f"numbers (rows times columns) are more than {MOST_CELLS:,}; see frugalsvm "
            "path and frugalsvm alternatives"
        )
        return found
    X = fit.preparation.transform(data.table)
    problem = fit.conditions.problem(
        fit.preparation, X, data.target.signs, overwrite_X=False
    )
    if fit.choice is None and not _is_over(deadline, "the budget path", "path"):
        on_phase("budget path for the report")
        found["path"] = quick_path(problem, fit, search, deadline.part(SHARE_OF_PATH))
    if not _is_over(deadline, "the alternatives", "alternatives"):
        on_phase("alternatives for the report")
        found["alternatives"] = near_optimal(
            problem,
            tolerance=TOLERANCE,
            limit=MOST_MODELS,
            feature_names=fit.conditions.names(fit.preparation),
            time_limit=deadline.left,
            max_nodes=most_nodes(problem, SHARE_OF_SEARCH * search.work.search_work),
            n_jobs=search.n_jobs,
            warm=fit.result,
        )
    return found


def _is_over(deadline: Deadline, what: str, command: str) -> bool:
    """Whether there is no time for a section of the report, which is then named."""
    if deadline.is_over:
        how = f"see frugalsvm {command}"
        deadline.leave_out(f"{what} of the report", how)
    return deadline.is_over


def most_nodes(problem: Problem, work: float) -> int:
    """How many nodes of a tree some work is likely to be enough for."""
    return max(LEAST_NODES, int(work / node_work(problem.engine)))


def quick_path(
    problem: Problem, fit: Fit, search: Search, time_limit: float | None
) -> BudgetPath:
    """Objectives and bounds around the budget of a fit.

    A subsample of large tables is searched; objectives and bounds are those of all.
    """
    budgets = np.array(_some_budgets(fit))
    chosen = fit.conditions.budget
    place = budgets.size - 1
    if chosen is not None:
        place = int(np.searchsorted(budgets, min(chosen, fit.result.n_features)))
    grid = bounded_grid(
        problem,
        budgets,
        np.array([fit.conditions.loss]),
        effort="fast",
        seed=np.random.SeedSequence(search.seed),
        n_jobs=search.n_jobs,
        seeds={(0, place): [fit.result.selected]},
        time_limit=time_limit,
        most_samples=MOST_SAMPLES,
    )
    if grid.was_interrupted:
        raise KeyboardInterrupt
    grid = grid.updated(0, place, fit.result)
    known = np.isfinite(grid.objectives[0])
    return BudgetPath(
        budgets=budgets[known],
        chosen=int(budgets[place]),
        objectives=grid.objectives[0, known],
        lower_bounds=grid.lower_bounds[0, known],
    )


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
    max_nodes: int | None = None,
) -> NearOptimal:
    """All choices of features that are about as good as the best one."""
    problem = conditions.problem(preparation, X, data.target.signs, overwrite_X=False)
    return near_optimal(
        problem,
        tolerance=tolerance,
        limit=limit,
        feature_names=conditions.names(preparation),
        time_limit=time_limit,
        max_nodes=most_nodes(problem, WORK_OF_LIST) if max_nodes is None else max_nodes,
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
        for words in (fit.choice.left_out, fit.choice.remark):
            chosen_by += words and f"; {words}"
        steps = (*steps, "choice of feature limit and C")
    cautions = more.get("cautions") or Cautions.of(
        data, preparation, too_many_weights(data, fit)
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
        data=data_summary(data, preparation, cautions),
        remarks=cautions.remarks,
        left_out=tuple(map(ended, more.get("left_out", ()))),
        split_categories=conditions.is_split,
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
        if isinstance(column, NumberColumn):
            level = column.category
        name = preparation.features[j]
        kind = NUMBER if level is None else CATEGORY
        made.append(
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


def _path(fit: Fit, more: dict[str, Any]) -> BudgetPath | None:
    if fit.choice is not None:
        return scored_path_of(
            fit.choice.path, score_name="balanced accuracy", one_se=False
        )
    return more.get("path")


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
            (one.name, len(one.levels))
            for one in preparation.columns
            if isinstance(one, CategoryColumn)
        ),
        imputed=tuple(data.gaps().items()),
        imputation=_imputation(data),
        standardised=True,
        warnings=cautions.data,
        n_compared=cautions.n_compared,
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
