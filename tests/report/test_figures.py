import re
from dataclasses import replace

import numpy as np
import pytest

from frugalsvm.report import BudgetPath, ProgressCurve, RocCurve, figures
from frugalsvm.report.figures import (
    Axis,
    Plot,
    bar,
    linear_axis,
    nice_ticks,
    share_bar,
    steps,
    time_axis,
    unit_axis,
)
from tests.report import samples


def numbers(svg):
    return [float(one) for one in re.findall(r'(?<=[ "MLHV])-?\d+\.\d+', svg)]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (-3, 7, [-2, 0, 2, 4, 6]),
     (0.93, 0.96, [0.93, 0.94, 0.95, 0.96]), (1e-9, 4.2e-9, [1e-9, 2e-9, 3e-9, 4e-9])],
)  # fmt: skip
def test_ticks_are_round(low, high, ticks):
    np.testing.assert_allclose(nice_ticks(low, high), ticks, rtol=1e-9, atol=1e-15)


def test_an_axis_of_one_value_has_room():
    axis = linear_axis([3.0, 3.0], "x")
    assert axis.low < 3.0 < axis.high
    assert linear_axis([0.0], "x").part(0.0) == pytest.approx(0.5)


def test_times_are_logarithmic():
    axis = time_axis([0.0, 0.01, 1.0, 100.0])
    assert axis.part(1.0) == pytest.approx(0.5)
    assert axis.part(0.0) == 0.0
    assert [text for _, text in axis.ticks] == [
        "0.01 s", "0.1 s", "1 s", "10 s", "100 s"
    ]  # fmt: skip
    assert time_axis([0.0, 0.0]).ticks


def test_points_are_where_they_belong():
    plot = Plot(unit_axis("x"), unit_axis("y"), "t")
    left, bottom = plot.at(0, 0)
    right, top = plot.at(1, 1)
    assert plot.at(0.5, 0.5) == ((left + right) / 2, (bottom + top) / 2)
    assert top < bottom
    assert left < right


def test_text_is_escaped():
    axis = Axis(0, 1, [(0.5, "<b>")], '"<i>')
    plot = Plot(axis, axis, '"><script>')
    plot.text(0.5, 0.5, "<u>", "mark")
    plot.point(0.5, 0.5, "second", "<s>")
    svg = plot.svg()
    for tag in ("<b>", "<i>", "<script>", "<u>", "<s>"):
        assert tag not in svg
    assert svg.count("&lt;u&gt;") == 1


def test_steps_keep_a_value_until_the_next():
    assert steps([0, 1, 2], [5, 3, 4]) == [(0, 5), (1, 5), (1, 3), (2, 3), (2, 4)]


def test_bars_point_to_their_side():
    assert 'x="75.0"' in bar(1.0, 2.0)
    assert 'x="37.5"' in bar(-1.0, 2.0)
    assert 'width="0.0"' in bar(0.0, 0.0)
    assert 'width="60.0"' in share_bar(0.5)


def test_the_chosen_budget_is_marked():
    svg = figures.score_path_figure(samples.path())
    assert svg.count('class="dot ring"') == 1
    assert ">chosen<" in svg
    assert "chosen" not in figures.score_path_figure(
        replace(samples.path(), chosen=None)
    )


@pytest.mark.parametrize("n", [1, 2, 30, 400])
@pytest.mark.parametrize("draw", ["score_path_figure", "objective_path_figure"])
def test_paths_of_any_length_stay_within_the_picture(draw, n):
    budgets = np.arange(1, n + 1)
    path = BudgetPath(
        budgets, chosen=n, objectives=100.0 / budgets, lower_bounds=80.0 / budgets,
        scores=1 - 1.0 / budgets, errors=np.full(n, 0.1),
    )  # fmt: skip
    svg = getattr(figures, draw)(path)
    assert min(numbers(svg)) >= 0
    assert max(numbers(svg)) <= 360
    ticks = re.findall(r'text-anchor="middle">(\d+)</text>', svg)
    assert 1 <= len(ticks) <= 9


def test_a_path_without_bounds_or_errors():
    path = BudgetPath(np.array([1, 2]), objectives=np.array([2.0, 1.0]))
    assert 'class="line first"' not in figures.objective_path_figure(path)
    path = BudgetPath(np.array([1, 2]), scores=np.array([0.5, 0.6]))
    assert "±" not in figures.score_path_figure(path)


def test_long_histories_are_thinned_and_keep_their_end():
    n = 20_000
    curve = ProgressCurve(
        np.linspace(0, 50, n), np.linspace(9, 5, n), np.linspace(1, 5, n)
    )
    svg = figures.progress_figure(curve)
    assert len(svg) < 60_000
    lines = re.findall(r'class="line \w+" d="([^"]+)"', svg)
    # Both end at the same point: the gap is closed.
    assert len({line.split("L")[-1] for line in lines}) == 1


def test_a_curve_with_its_band():
    rates = np.array([0.0, 0.5, 1.0])
    svg = figures.roc_figure(RocCurve(rates, rates, np.full(3, 0.4), 0.5, 0.1))
    assert "AUC 0.5" in svg
    assert min(numbers(svg)) >= 0
