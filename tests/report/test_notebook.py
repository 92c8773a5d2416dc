"""HTML for notebooks: no user text reaches the browser as code."""

import re

import pytest

from frugalsvm.report import notebook
from frugalsvm.run import escaped
from tests.markup import EVIL, parsed


@pytest.mark.parametrize(
    "text",
    [
        notebook.box(EVIL),
        notebook.box("fine", notebook.facts([(EVIL, EVIL)])),
        notebook.weights_table([EVIL, "b"], [1.0, -2.0]),
        notebook.table([EVIL], [[escaped(EVIL)]], "l"),
    ],
)
def test_user_text_is_not_interpreted(text):
    page = parsed(text)
    assert not {"script", "img"} & set(page.tags)
    assert EVIL in page.text


def test_weights_are_sorted_and_cut():
    names = [f"f{j}" for j in range(40)]
    page = parsed(notebook.weights_table(names, [float(j) for j in range(40)]))
    assert page.text.index("f39") < page.text.index("f38")
    assert "f9+" not in page.text
    assert "and 10 more" in page.text


def test_bars_are_as_long_as_weights():
    def width(text):
        return float(re.search(r"width:([\d.]+)px", text)[1])

    assert width(notebook.bar(2.0, 2.0)) == 2 * width(notebook.bar(-1.0, 2.0))
    assert notebook.NEGATIVE in notebook.bar(-1.0, 2.0)
    assert width(notebook.bar(0.0, 0.0)) == 0


def test_sparkline_shows_both_series_within_its_frame():
    history = [(0.0, 9.0, 1.0), (0.1, 5.0, 1.0), (2.0, 5.0, 4.0), (3.0, 5.0, 5.0)]
    text = notebook.sparkline(history)
    parsed(text)
    paths = re.findall(r' d="M([^"]+)"', text)
    assert len(paths) == 2
    for path in paths:
        for corner in path.split("L"):
            x, y = map(float, corner.split())
            assert 0 <= x <= 220
            assert 0 <= y <= 44
    # They meet at the end.
    assert paths[0].split("L")[-1] == paths[1].split("L")[-1]


@pytest.mark.parametrize(
    "history",
    [[], [(0.0, 1.0, 0.5)], [(0.0, float("inf"), 0.0), (1.0, 1.0, 0.5)]],
)
def test_no_sparkline_without_a_history(history):
    assert notebook.sparkline(history) == ""


def test_a_history_at_one_moment_is_shown():
    assert "<path" in notebook.sparkline([(0.0, 1.0, 1.0), (0.0, 1.0, 1.0)])
