"""``frugalsvm path``: accuracy by number of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import typer

from ..run import bound_words, counted, gap_words
from ..tables import MIN_LEVEL, REFUSE, Layout
from . import options as opt
from .options import DataOptions
from .outputs import check_output, command_line, printing_result, write_text
from .panel import Panel
from .session import Deadline, InterruptedFit, Session, UsageProblem, plain

EXAMPLES = (
    "frugalsvm path data.csv --target y --budgets 1-20",
    "frugalsvm path data.csv -t y --budgets 1,2,3,5,10 --C 0.1 --report path.html",
    "frugalsvm path data.csv -t y --json > path.json",
)
# Maximum number of features named for a budget.
N_NAMED = 30
# The share of the time left that the fits of all rows may use if folds follow.
SHARE_OF_PATH = 0.5


@dataclass(frozen=True)
class Scores:
    """Cross-validated accuracy of each budget.

    Attributes
    ----------
    mean, error : ndarray of shape (n_budgets,)
        Over the folds, with the standard error.
    name : str
        "accuracy", or "balanced accuracy" if the classes have weights.
    """

    mean: np.ndarray
    error: np.ndarray
    name: str = "accuracy"

    @classmethod
    def of(cls, folds: list[list[float]], name: str = "accuracy") -> Scores:
        """Mean and error of the accuracies of each fold."""
        from ..estimators import standard_error

        scores = np.transpose(folds)
        return cls(scores.mean(axis=-1), standard_error(scores), name)

    @property
    def chosen(self) -> int:
        """The first budget within one standard error of the best one."""
        from ..estimators import choose

        return choose(self.mean[None], self.error[None], "one-se")[1]

    @property
    def threshold(self) -> float:
        """The best mean less its standard error."""
        from ..estimators import one_standard_error

        return one_standard_error(self.mean, self.error)


def path(
    session: Session,
    data: opt.DataFile,
    target: opt.TargetName,
    budgets: Annotated[
        str, typer.Option(help="Numbers of features to try, like 1-20 or 1,2,5,10.")
    ] = "1-20",
    C: Annotated[float, typer.Option("--C", help="Weight of the hinge loss.")] = 1.0,
    class_weight: opt.ClassWeight = "auto",
    effort: opt.Effort = "fast",
    time_limit: opt.TimeLimit = None,
    include: opt.Include = None,
    exclude: opt.Exclude = None,
    keep: opt.Keep = None,
    categorical: opt.Categorical = None,
    split_categories: opt.SplitCategories = False,
    signs: opt.Signs = None,
    positive: opt.Positive = None,
    missing: opt.Missing = None,
    min_level: opt.MinLevel = MIN_LEVEL,
    unlabelled: opt.Unlabelled = REFUSE,
    folds: opt.Folds = 5,
    report: opt.ReportFile = None,
    sheet: opt.Sheet = None,
    transpose: opt.Transpose = False,
    labels: opt.Labels = None,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
    jobs: opt.Jobs = 1,
) -> None:
    """Show how accuracy depends on the number of features.

    For each budget: the best model found on all rows, the proved bound, and the
    cross-validated accuracy. The mark < shows the fewest features within one standard
    error of the best accuracy, or balanced accuracy if the classes have weights.
    """
    from ..estimators import frugal_path
    from .class_weights import parse_class_weight
    from .options import parse_formats
    from .parsing import (
        check_search,
        parse_budgets,
        parse_C,
        parse_missing,
        parse_signs,
        parse_unlabelled,
    )
    from .reporting import Cautions
    from .results import class_weight_of
    from .study import Conditions

    deadline = Deadline.after(time_limit)
    check_output("--report", report, data, labels)
    check_search(effort, time_limit, jobs, folds)
    parse_C(str(C))
    source = DataOptions(
        data, target, positive, tuple(exclude or ()), tuple(keep or ()),
        tuple(categorical or ()), parse_missing(missing), encoding,
        formats=parse_formats(decimal, thousands),
        class_weight=parse_class_weight(class_weight), is_split=split_categories,
        drops_unlabelled=parse_unlabelled(unlabelled),
        layout=Layout(sheet, transpose, labels), min_level=min_level,
    )  # fmt: skip
    conditions = Conditions(
        None,
        C,
        tuple(include or ()),
        signs=parse_signs(signs),
        is_split=split_categories,
    )
    with Panel(session) as panel:
        table, preparation, _ = source.load(session, panel)
        weights = source.weights(session, table.target)
        conditions = replace(conditions, class_weight=weights)
        conditions.check(table, preparation)
        names = conditions.names(preparation)
        steps = parse_budgets(budgets, len(names))
        constraints = conditions.constraints(preparation)
        n_included = len(constraints["include"])
        if n_included > steps[0]:
            raise UsageProblem(
                f"--include needs {counted(n_included, 'feature')}, but the smallest "
                f"budget is {steps[0]}; start at {n_included}, e.g. --budgets "
                f"{n_included}-20."
            )
        panel.phase(f"{counted(len(steps), 'budget')} on all rows")
        limit = deadline.part(SHARE_OF_PATH if folds else 1.0)
        fitted = frugal_path(
            preparation.transform(table.table),
            table.target.signs,
            max_features=steps,
            C=C,
            effort=effort,
            total_time_limit=limit,
            random_state=session.seed,
            n_jobs=jobs,
            sample_weight=conditions.weights_of(table.target.signs),
            **constraints,
        )
        scores, interrupted = None, False
        try:
            if folds:
                work = FoldPath(conditions, steps, effort, deadline)
                scores = _score(work, table, folds, session.seed, panel)
            session.hold.begin()
        except KeyboardInterrupt:
            interrupted = True
            session.hold.begin(interrupted)
    if interrupted:
        session.warn("interrupted: the path is shown without cross-validation")
    if deadline.omissions:
        session.warn(deadline.remark)
    cautions = Cautions.of(table, preparation)
    cautions.show(session)
    _show(session, names, fitted, scores)
    content = _content(table, preparation, conditions, fitted, scores)
    content["warnings"] = cautions.texts
    content["interrupted"] = interrupted
    content["left_out"] = deadline.omissions
    content["class_weight"] = class_weight_of(conditions, table.target.signs)
    with printing_result(session, content):
        if report is not None:
            text = _report(table, preparation, conditions, fitted, scores, session.seed)
            write_text(report, text)
            session.say(f"report written to {report}")
    if session.hold.count > 0:
        raise InterruptedFit


def _score(
    work: FoldPath, data: Any, folds: int, seed: int, panel: Any
) -> Scores | None:
    """Accuracy on the held-out rows of folds that repeat all steps.

    None if the time limit leaves fewer than two folds.
    """
    from ..estimators import possible_folds, run_folds
    from .validation import fold_jobs

    folds = possible_folds(data.target.positive, folds)
    if folds == 0:
        return None

    def on_fold(k: int, n: int) -> None:
        panel.phase(f"cross-validating: fold {k} of {n}")

    jobs = fold_jobs(data, folds, seed, on_fold)
    name = "balanced accuracy" if work.conditions.is_weighted else "accuracy"
    done = [hits for hits in run_folds(work, data, jobs) if hits is not None]
    if len(done) < folds:
        part = f"{folds - len(done)} of {folds} folds of the cross-validation"
        work.deadline.omit(part, "a larger --time-limit has room for them")
    return Scores.of(done, name) if len(done) > 1 else None


@dataclass(frozen=True)
class FoldPath:
    """The models of all budgets in one fold.

    Attributes
    ----------
    conditions : Conditions
    budgets : list of int
    effort : str
    deadline : Deadline
    """

    conditions: Any
    budgets: list[int]
    effort: str
    deadline: Deadline

    def run(self, data: Any, job: Any) -> list[float] | None:
        """Accuracies on the held-out rows, budget by budget; None if time is up."""
        from ..estimators import grid_models, search_grid
        from .validation import TableFold

        if self.deadline.is_over:
            return None
        fold = TableFold.of(data.value, job)
        problem = fold.problem(self.conditions)
        # A fold may have fewer features, if categories are missing in it.
        possible = np.minimum(self.budgets, problem.n_features)
        budgets, index = np.unique(possible, return_inverse=True)
        weights = np.array([self.conditions.chosen_C])
        grid = search_grid(
            problem,
            budgets,
            weights,
            effort=self.effort,
            seed=job.seed,
            time_limit=self.deadline.seconds_left,
        )
        if grid is None:
            return None
        truth = data.value.target.positive[job.test]
        hits = [
            self._accuracy(fold.scores(model) > 0, truth)
            for _, model in grid_models(problem, grid, weights)
        ]
        return [hits[t] for t in index]

    def _accuracy(self, predicted: np.ndarray, truth: np.ndarray) -> float:
        """Accuracy, or balanced accuracy if the classes have weights."""
        right = predicted == truth
        if not self.conditions.is_weighted or truth.all() or not truth.any():
            return float(right.mean())
        return float((right[truth].mean() + right[~truth].mean()) / 2)


def _show(
    session: Session, names: list[str], fitted: Any, scores: Scores | None
) -> None:
    heads = [">budget", ">objective", ">bound", ">gap"]
    heads += [] if scores is None else [f">{scores.name}"]
    table = session.table(*heads, "")
    changes = session.table(">budget", "features added (+) and dropped (-)")
    values = fitted.objectives[0] if scores is None else scores.mean
    low, high = float(values.min()), float(values.max())
    previous: set[int] = set()
    for t, budget in enumerate(fitted.max_features.tolist()):
        cells = [
            str(budget),
            f"{fitted.objectives[0, t]:.6g}",
            bound_words(fitted.lower_bounds[0, t]),
            gap_words(fitted.gaps[0, t], ".2f"),
        ]
        if scores is not None:
            cells.append(f"{100 * scores.mean[t]:.1f} +/- {100 * scores.error[t]:.1f}")
        share = (values[t] - low) / (high - low) if high > low else 1.0
        mark = " <" if scores is not None and t == scores.chosen else ""
        # Sixteen characters leave the table room in a terminal of 80 columns.
        cells.append("█" * max(1, round(16 * share)) + mark)
        table.add_row(*cells)
        selected = set(fitted.results[0][t].selected.tolist())
        changes.add_row(str(budget), _change(names, previous, selected))
        previous = selected
    session.show("", table)
    quantity = "objective" if scores is None else f"cross-validated {scores.name}"
    session.show(f"bars: {quantity}, from {low:.4g} to {high:.4g}")
    if scores is not None:
        budget = int(fitted.max_features[scores.chosen])
        session.show(
            f"<: {budget} feature{'s' * (budget != 1)}, the fewest within one standard "
            f"error of the best {scores.name}"
        )
    session.show("", changes)


def _change(names: list[str], before: set[int], after: set[int]) -> str:
    """The features that were added, and those that were dropped."""
    changes = [f"+{plain(names[j])}" for j in sorted(after - before)]
    changes += [f"-{plain(names[j])}" for j in sorted(before - after)]
    n_more = len(changes) - N_NAMED
    more = f", and {n_more:,} more (--json names all)" if n_more > 0 else ""
    return ", ".join(changes[:N_NAMED]) + more


def _content(
    data: Any, preparation: Any, conditions: Any, fitted: Any, scores: Scores | None
) -> dict[str, Any]:
    from .understanding import as_dict

    names = conditions.names(preparation)
    chosen = None if scores is None else int(fitted.max_features[scores.chosen])
    return {
        "data": as_dict(data, preparation, conditions.is_split),
        "C": float(fitted.C[0]),
        "score": None if scores is None else scores.name,
        "path": [
            {
                "max_features": budget,
                "objective": fitted.objectives[0, t],
                "lower_bound": fitted.lower_bounds[0, t],
                "gap": fitted.gaps[0, t],
                "accuracy": None if scores is None else scores.mean[t],
                "standard_error": None if scores is None else scores.error[t],
                "features": [names[j] for j in fitted.results[0][t].selected],
            }
            for t, budget in enumerate(fitted.max_features.tolist())
        ],
        "one_standard_error": chosen,
    }


def _report(
    data: Any, preparation: Any, conditions: Any, fitted: Any, scores: Any, seed: int
) -> str:
    """A report on the model of the chosen budget, with the path."""
    from ..report import BudgetPath, render
    from .choosing import Fit
    from .reporting import report_of

    t = fitted.max_features.size - 1 if scores is None else scores.chosen
    budget = int(fitted.max_features[t])
    chosen = replace(conditions, max_features=budget)
    fit = Fit(preparation, fitted.results[0][t], chosen)
    page = report_of(data, fit, None, {}, seed, command_line(), None)
    budget_path = BudgetPath(
        budgets=fitted.max_features,
        chosen=budget,
        objectives=fitted.objectives[0],
        lower_bounds=fitted.lower_bounds[0],
        scores=None if scores is None else scores.mean,
        errors=None if scores is None else scores.error,
        score_name="accuracy" if scores is None else scores.name,
        threshold=None if scores is None else scores.threshold,
    )
    rule = "feature limit chosen by the one-standard-error rule, C set by the user"
    verdict = replace(
        page.verdict, chosen_by="set by the user" if scores is None else rule
    )
    return render(replace(page, path=budget_path, verdict=verdict))
