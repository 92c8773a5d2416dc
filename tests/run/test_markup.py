"""HTML for notebooks: no user text reaches the browser as code."""

import re

import pytest

from frugalsvm.run import words as markup
from tests.markup import EVIL, parsed


@pytest.mark.parametrize(
    "text",
    [
        markup.box(EVIL),
        markup.box("fine", markup.facts([(EVIL, EVIL)])),
        markup.weights_table([EVIL, "b"], [1.0, -2.0]),
        markup.table([EVIL], [[markup.escaped(EVIL)]], "l"),
    ],
)
def test_user_text_is_not_interpreted(text):
    page = parsed(text)
    assert not {"script", "img"} & set(page.tags)
    assert EVIL in page.text


def test_weights_are_sorted_and_cut():
    names = [f"f{j}" for j in range(40)]
    page = parsed(markup.weights_table(names, [float(j) for j in range(40)]))
    assert page.text.index("f39") < page.text.index("f38")
    assert "f9+" not in page.text
    assert "and 10 more" in page.text


def test_bars_are_as_long_as_weights():
    def width(text):
        return float(re.search(r"width:([\d.]+)px", text)[1])

    assert width(markup.bar(2.0, 2.0)) == 2 * width(markup.bar(-1.0, 2.0))
    assert markup.NEGATIVE in markup.bar(-1.0, 2.0)
    assert width(markup.bar(0.0, 0.0)) == 0


def test_sparkline_shows_both_series_within_its_frame():
    history = [(0.0, 9.0, 1.0), (0.1, 5.0, 1.0), (2.0, 5.0, 4.0), (3.0, 5.0, 5.0)]
    text = markup.sparkline(history, width=100, height=40)
    parsed(text)
    paths = re.findall(r' d="([^"]+)"', text)
    assert len(paths) == 2
    for path in paths:
        for x, y in re.findall(r"H([\d.]+)V([\d.]+)", path):
            assert 0 <= float(x) <= 100
            assert 0 <= float(y) <= 40
    # They meet at the end.
    assert paths[0].split("V")[-1] == paths[1].split("V")[-1]


@pytest.mark.parametrize(
    "history",
    [[], [(0.0, 1.0, 0.5)], [(0.0, float("inf"), 0.0), (1.0, 1.0, 0.5)]],
)
def test_no_sparkline_without_a_history(history):
    assert markup.sparkline(history) == ""


def test_a_history_at_one_moment_is_shown():
    assert "<path" in markup.sparkline([(0.0, 1.0, 1.0), (0.0, 1.0, 1.0)])
