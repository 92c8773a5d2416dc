"""The figures of a report."""

from __future__ import annotations

import numpy as np

from . import words
from .content import BudgetPath, ProgressCurve
from .held_out import CalibrationCurve, RocCurve
from .svg import Axis, Plot, as_percentages, linear_axis, steps, time_axis, unit_axis

# Maximum number of budgets labelled on an axis.
N_TICKS = 8
BUDGET_STEPS = [s * 10**k for k in range(18) for s in (1, 2, 5)]
# Maximum number of points of a progress curve.
N_STEPS = 400


def roc_figure(roc: RocCurve) -> str:
    """True positive over false positive rate, with the spread of the folds."""
    title = f"ROC curve, area {words.number(roc.auc)}"
    plot = Plot(
        unit_axis("false positive rate"),
        unit_axis("true positive rate"),
        title,
        height=300,
    )
    rates = roc.false_positives.tolist()
    middle = roc.true_positives
    upper = np.minimum(middle + roc.spread, 1.0).tolist()
    lower = np.maximum(middle - roc.spread, 0.0).tolist()
    plot.area(_pairs(rates, upper), _pairs(rates, lower), "second")
    plot.line([(0.0, 0.0), (1.0, 1.0)], "guide")
    plot.line(_pairs(rates, middle.tolist()), "second")
    plot.text(0.97, 0.06, f"AUC {words.number(roc.auc)}", "mark second", anchor="end")
    return plot.svg()


def calibration_figure(calibration: CalibrationCurve) -> str:
    """Observed frequencies over predicted probabilities, with intervals."""
    title = "Calibration: predicted probabilities and observed frequencies"
    plot = Plot(unit_axis("predicted"), unit_axis("observed"), title, height=300)
    plot.line([(0.0, 0.0), (1.0, 1.0)], "guide")
    rows = zip(
        calibration.predicted.tolist(), calibration.observed.tolist(),
        calibration.low.tolist(), calibration.high.tolist(),
        calibration.counts.tolist(), strict=True,
    )  # fmt: skip
    for predicted, observed, low, high, count in rows:
        plot.whisker(predicted, low, high, "second")
        text = (
            f"predicted {words.percent(predicted)}, observed {words.percent(observed)} "
            f"of {count:,} rows"
        )
        plot.point(predicted, observed, "second", text)
    return plot.svg()


def score_path_figure(path: BudgetPath) -> str:
    """Cross-validated scores by budget, with the chosen one marked."""
    assert path.scores is not None
    known = np.isfinite(path.scores)
    budgets, scores = path.budgets[known].tolist(), path.scores[known]
    errors = np.zeros(scores.size) if path.errors is None else path.errors[known]
    errors = np.where(np.isfinite(errors), errors, 0.0)
    ends = [*(scores - errors).tolist(), *(scores + errors).tolist()]
    title = f"Cross-validated {path.score_name} by number of features"
    y = linear_axis(ends, path.score_name)
    if path.score_name not in words.PLAIN_SCORES:
        y = as_percentages(y)
    plot = Plot(_budget_axis(budgets), y, title)
    if path.threshold is not None:
        low, high = plot.x.low, plot.x.high
        plot.line([(low, path.threshold), (high, path.threshold)], "guide")
    upper, lower = (scores + errors).tolist(), (scores - errors).tolist()
    plot.area(_pairs(budgets, upper), _pairs(budgets, lower), "second")
    plot.line(_pairs(budgets, scores.tolist()), "second")
    for budget, score, error in zip(
        budgets, scores.tolist(), errors.tolist(), strict=True
    ):
        text = f"{words.features(budget)}: {words.rate(score, path.score_name)}"
        if path.errors is not None:
            text += f" ± {words.rate(error, path.score_name)}"
        plot.point(budget, score, "second", text, 2.6)
    _mark_chosen(plot, path, dict(zip(budgets, scores.tolist(), strict=True)))
    return plot.svg()


def objective_path_figure(path: BudgetPath) -> str:
    """Objective and bound by budget, with the chosen one marked."""
    assert path.objectives is not None
    # A choice that ended early does not know all of them.
    known = np.isfinite(path.objectives)
    budgets, objectives = path.budgets[known].tolist(), path.objectives[known].tolist()
    bounds = None
    if path.lower_bounds is not None and np.isfinite(path.lower_bounds[known]).all():
        bounds = path.lower_bounds[known].tolist()
    title = "Objective and lower bound by number of features"
    values = objectives if bounds is None else [*objectives, *bounds]
    plot = Plot(_budget_axis(budgets), linear_axis(values, "objective"), title)
    if bounds is not None:
        plot.area(_pairs(budgets, objectives), _pairs(budgets, bounds), "open")
        plot.line(_pairs(budgets, bounds), "first")
    plot.line(_pairs(budgets, objectives), "second")
    for k, (budget, objective) in enumerate(zip(budgets, objectives, strict=True)):
        proved = "" if bounds is None else f", lower bound {words.number(bounds[k])}"
        text = f"{words.features(budget)}: {words.number(objective)}{proved}"
        plot.point(budget, objective, "second", text, 2.6)
    _mark_chosen(plot, path, dict(zip(budgets, objectives, strict=True)))
    return plot.svg()


def progress_figure(progress: ProgressCurve) -> str:
    """Best objective and lower bound over time."""
    keep = np.unique(np.linspace(0, progress.seconds.size - 1, N_STEPS).astype(int))
    seconds = progress.seconds[keep].tolist()
    objectives = progress.objectives[keep].tolist()
    bounds = progress.lower_bounds[keep].tolist()
    x = time_axis(seconds)
    times = [max(one, x.low) for one in seconds]
    title = "Best objective (falling) and lower bound (rising) over time"
    plot = Plot(x, linear_axis([*objectives, *bounds], "objective"), title)
    upper, lower = steps(times, objectives), steps(times, bounds)
    plot.area(upper, lower, "open")
    plot.line(lower, "first")
    plot.line(upper, "second")
    return plot.svg()


def _mark_chosen(plot: Plot, path: BudgetPath, values: dict[int, float]) -> None:
    if path.chosen is None or path.chosen not in values:
        return
    value = values[path.chosen]
    plot.point(
        path.chosen, value, "ring", f"chosen: {words.features(path.chosen)}", 6.5
    )
    # Place the label where there is room for it.
    is_left = plot.x.part(path.chosen) > 0.75
    is_high = plot.y.part(value) > 0.5
    plot.text(
        path.chosen, value, "chosen", "mark", anchor="end" if is_left else "start",
        dx=-2 if is_left else 2, dy=24 if is_high else -13,
    )  # fmt: skip


def _budget_axis(budgets: list[int]) -> Axis:
    low, high = min(budgets), max(budgets)
    step = next(s for s in BUDGET_STEPS if high - low < N_TICKS * s)
    shown = [b for b in range(low, high + 1) if b % step == 0]
    # Label the smallest budget, unless it is too close to the next label.
    if not shown or shown[0] - low >= 0.5 * step:
        shown.insert(0, low)
    room = max(0.04 * (high - low), 0.5 if high == low else 0.0)
    return Axis(low - room, high + room, [(b, f"{b}") for b in shown], "features")


def _pairs(xs: list, ys: list[float]) -> list[tuple[float, float]]:
    return list(zip(xs, ys, strict=True))
