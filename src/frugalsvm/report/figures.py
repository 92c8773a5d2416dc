"""Figures as SVG text: axes, lines, areas and points, coloured by the style sheet.

Colours are CSS classes, so that one drawing serves light and dark pages, and print. All
text goes through :func:`~frugalsvm.run.words.escaped`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..run import escaped
from . import words
from .content import BudgetPath, ProgressCurve
from .held_out import CalibrationCurve, RocCurve

# Size of a plot in its own units, about one pixel each on a phone.
WIDTH, HEIGHT = 360, 264
# Margins for the axis labels.
LEFT, RIGHT, TOP, BOTTOM = 58, 22, 12, 46
# Values whose relative difference is smaller are drawn as equal.
SAME = 1e-6
# Length of a whisker's ends.
CAP = 3.0

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """A range of values and its tick marks.

    Attributes
    ----------
    low, high : float
    ticks : sequence of (value, text)
    name : str
    logarithmic : bool
    """

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    name: str
    logarithmic: bool = False

    def part(self, value: float) -> float:
        """Position of a value between both ends, from 0 to 1."""
        low, high = self.low, self.high
        if self.logarithmic:
            low, high = math.log(low), math.log(high)
            value = math.log(max(value, self.low))
        return (value - low) / (high - low)


def linear_axis(values: Sequence[float], name: str, *, pad: float = 0.06) -> Axis:
    """An axis that covers values, with some margin at both ends."""
    low, high = min(values), max(values)
    if not high - low > SAME * max(abs(low), abs(high)):
        spread = abs(high) or 1.0
        low, high = low - 0.1 * spread, high + 0.1 * spread
    room = pad * (high - low)
    low, high = low - room, high + room
    return Axis(low, high, _with_text(nice_ticks(low, high)), name)


def as_percentages(axis: Axis) -> Axis:
    """The same axis with its numbers in percent."""
    ticks = [(value, f"{100 * value:.4g} %") for value, _ in axis.ticks]
    return replace(axis, ticks=ticks)


def unit_axis(name: str) -> Axis:
    """An axis of rates from 0 to 100 %."""
    ticks = [(part / 4, f"{25 * part} %") for part in range(5)]
    return Axis(0.0, 1.0, ticks, name)


def time_axis(seconds: Sequence[float]) -> Axis:
    """A logarithmic time axis, because most happens at the start."""
    high = max(max(seconds), 1e-3)
    low = min((time for time in seconds if time > 0), default=high / 10)
    low = min(low, high / 10)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    powers = [10.0**k for k in range(first, last + 1) if low <= 10.0**k <= high]
    ticks = [(power, f"{power:g} s") for power in powers]
    return Axis(low, high, ticks or [(high, f"{high:.2g} s")], "time", True)


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two ends."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first
    return [(first + k) * step for k in range(count + 1)]


def _with_text(values: list[float]) -> list[tuple[float, str]]:
    """Numbers with enough digits to distinguish them."""
    digits = next(
        (d for d in range(3, 9) if len({f"{v:.{d}g}" for v in values}) == len(values)),
        9,
    )
    # Values that differ from zero by a rounding error are zero.
    size = max((abs(value) for value in values), default=0.0)
    clean = [0.0 if abs(value) < 1e-9 * size else value for value in values]
    texts = []
    for value in clean:
        text = f"{value:.{digits}g}"
        if "e+" in text and abs(value) < 1e6:
            text = f"{value:,.0f}"
        texts.append(words.minus(text))
    return list(zip(clean, texts, strict=True))


@dataclass
class Plot:
    """A plot that is built element by element.

    Parameters
    ----------
    x, y : Axis
    title : str
        Text for screen readers: a sentence that describes the plot.
    width, height : int
    """

    x: Axis
    y: Axis
    title: str
    width: int = WIDTH
    height: int = HEIGHT
    _parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._draw_axes()

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Position of a pair of values in the drawing."""
        across = LEFT + self.x.part(x) * (self.width - LEFT - RIGHT)
        down = self.height - BOTTOM - self.y.part(y) * (self.height - TOP - BOTTOM)
        return across, down

    def line(self, points: Points, kind: str) -> None:
        """A line through points."""
        self._add(f'<path class="line {kind}" d="{self._through(points)}"/>')

    def area(self, upper: Points, lower: Points, kind: str) -> None:
        """The area between two lines."""
        outline = [*upper, *reversed(list(lower))]
        self._add(f'<path class="area {kind}" d="{self._through(outline)}Z"/>')

    def point(
        self, x: float, y: float, kind: str, text: str, size: float = 3.6
    ) -> None:
        """A point with a tooltip."""
        across, down = self.at(x, y)
        self._add(
            f'<circle class="dot {kind}" cx="{across:.1f}" cy="{down:.1f}" r="{size}">'
            f"<title>{escaped(text)}</title></circle>"
        )

    def whisker(self, x: float, low: float, high: float, kind: str) -> None:
        """An interval as an upright line."""
        across, bottom = self.at(x, low)
        _, top = self.at(x, high)
        path = f"M{across:.1f} {bottom:.1f}V{top:.1f}"
        for end in (bottom, top):
            path += f"M{across - CAP:.1f} {end:.1f}h{2 * CAP}"
        self._add(f'<path class="whisker {kind}" d="{path}"/>')

    def text(
        self, x: float, y: float, text: str, kind: str, *, anchor: str = "start",
        dx: float = 0.0, dy: float = 0.0,
    ) -> None:  # fmt: skip
        """Text beside a pair of values."""
        across, down = self.at(x, y)
        self._add(
            f'<text class="{kind}" x="{across + dx:.1f}" y="{down + dy:.1f}" '
            f'text-anchor="{anchor}">{escaped(text)}</text>'
        )

    def svg(self) -> str:
        """The plot as an element of a page."""
        return (
            f'<svg class="plot" role="img" aria-label="{escaped(self.title)}" '
            f'viewBox="0 0 {self.width} {self.height}">'
            f"<title>{escaped(self.title)}</title>{''.join(self._parts)}</svg>"
        )

    def _add(self, element: str) -> None:
        self._parts.append(element)

    def _through(self, points: Points) -> str:
        positions = [self.at(*point) for point in points]
        return "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in positions)

    def _draw_axes(self) -> None:
        right, bottom = self.width - RIGHT, self.height - BOTTOM
        for value, text in self.y.ticks:
            _, down = self.at(self.x.low, value)
            self._add(f'<path class="grid" d="M{LEFT} {down:.1f}H{right}"/>')
            self._add(_label(LEFT - 7, down + 4, text, "end"))
        for value, text in self.x.ticks:
            across, _ = self.at(value, self.y.low)
            self._add(f'<path class="tick" d="M{across:.1f} {bottom}v4"/>')
            self._add(_label(across, bottom + 17, text, "middle"))
        self._add(f'<path class="axis" d="M{LEFT} {bottom}H{right}"/>')
        middle = (LEFT + right) / 2
        self._add(_label(middle, self.height - 8, self.x.name, "middle", "name"))
        if self.y.name:
            down = (TOP + bottom) / 2
            self._add(
                f'<text class="name" transform="translate(11 {down:.1f}) rotate(-90)" '
                f'text-anchor="middle">{escaped(self.y.name)}</text>'
            )


def _label(x: float, y: float, text: str, anchor: str, kind: str = "number") -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escaped(text)}</text>"
    )


def steps(xs: Sequence[float], ys: Sequence[float]) -> list[tuple[float, float]]:
    """The corners of a line that keeps a value until the next one."""
    corners = [(xs[0], ys[0])]
    for k in range(1, len(xs)):
        corners += [(xs[k], ys[k - 1]), (xs[k], ys[k])]
    return corners


def sparkline_svg(
    entries: Sequence[tuple[float, float, float]],
    colours: tuple[str, str],
    width: int = 220,
    height: int = 44,
) -> str:
    """Objective and bound over a logarithmic time, without axes, for notebooks.

    Notebooks drop style sheets, so the colours are those of the arguments.
    """
    times, objectives, bounds = zip(*entries, strict=True)
    first = min((time for time in times if time > 0), default=1.0)
    last = max(*times, first)
    # Steps at one moment stand in the middle.
    margin = 1.0 if last > first else 2.0
    x = Axis(first / margin, last * margin, (), "", logarithmic=True)
    y = linear_axis([*objectives, *bounds], "", pad=0.0)
    label = "objective (falling) and lower bound (rising) over time"
    lines = ""
    for values, colour in zip((objectives, bounds), colours, strict=True):
        path = "L".join(
            f"{2 + x.part(time) * (width - 4):.1f} "
            f"{height - 3 - y.part(value) * (height - 6):.1f}"
            for time, value in steps(times, values)
        )
        lines += f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
    return (
        f'<svg role="img" aria-label="{label}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" style="display:block;margin-top:.4em">'
        f"<title>{label}</title>{lines}</svg>"
    )


def bar(value: float, most: float) -> str:
    """A bar on either side of a centre line; its value is also given as text."""
    half, thick = 75.0, 12.0
    length = half * abs(value) / most if most > 0 else 0.0
    start = half if value >= 0 else half - length
    kind = "second" if value >= 0 else "first"
    return (
        f'<svg class="bar" aria-hidden="true" viewBox="0 0 {2 * half:.0f} {thick:.0f}">'
        f'<rect class="{kind}" x="{start:.1f}" y="2" width="{length:.1f}" '
        f'height="{thick - 4:.0f}" rx="1.5"/>'
        f'<path class="axis" d="M{half:.0f} 0v{thick:.0f}"/></svg>'
    )


def share_bar(part: float) -> str:
    """A bar that fills a fraction of its track."""
    return (
        '<svg class="bar" aria-hidden="true" viewBox="0 0 120 12" '
        'preserveAspectRatio="xMinYMid">'
        '<rect class="track" x="0" y="3" width="120" height="6" rx="3"/>'
        f'<rect class="second" x="0" y="3" width="{120 * part:.1f}" height="6" rx="3"/>'
        "</svg>"
    )


# --- The figures of a report ----------------------------------------------------------

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
        calibration.predicted.tolist(),
        calibration.observed.tolist(),
        calibration.low.tolist(),
        calibration.high.tolist(),
        calibration.counts.tolist(),
        strict=True,
    )
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
    is_finite = np.isfinite(path.scores)
    budgets, scores = path.budgets[is_finite].tolist(), path.scores[is_finite]
    errors = np.zeros(scores.size) if path.errors is None else path.errors[is_finite]
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
    # A choice that ended early lacks some objectives.
    is_finite = np.isfinite(path.objectives)
    budgets, objectives = (
        path.budgets[is_finite].tolist(),
        path.objectives[is_finite].tolist(),
    )
    bounds = None
    if (
        path.lower_bounds is not None
        and np.isfinite(path.lower_bounds[is_finite]).all()
    ):
        bounds = path.lower_bounds[is_finite].tolist()
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
    times = [max(time, x.low) for time in seconds]
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
        path.chosen,
        value,
        "chosen",
        "mark",
        anchor="end" if is_left else "start",
        dx=-2 if is_left else 2,
        dy=24 if is_high else -13,
    )


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
