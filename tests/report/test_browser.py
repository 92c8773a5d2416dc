"""The page in a real browser: it fits, is readable, and logs no errors."""

import os

import pytest

from frugalsvm.report import write_report
from tests.report import samples
from tests.report.browser import Browser, find_chromium

pytestmark = [
    pytest.mark.skipif(find_chromium() is None, reason="no Chromium is installed"),
    pytest.mark.skipif(os.name == "nt", reason="the pipe is that of POSIX"),
]

# Contrast of every text with what is behind it, as WCAG counts it; the worst few.
CONTRAST = """
(() => {
  const parse = text => {
    const v = text.match(/[\\d.]+/g).map(Number);
    return v.length < 4 ? [...v, 1] : v;
  };
  const over = (top, below) =>
    [0, 1, 2].map(k => top[k] * top[3] + below[k] * (1 - top[3]));
  const light = c => {
    const [r, g, b] = c.slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    if (!element) return [255, 255, 255];
    const own = parse(getComputedStyle(element).backgroundColor);
    return over(own, own[3] < 1 ? behind(element.parentElement) : own);
  };
  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    const texts = [...element.childNodes].filter(n => n.nodeType == 3 && n.data.trim());
    if (!texts.length || element.closest("title, .unseen")) continue;
    const style = getComputedStyle(element);
    const ink = parse(element instanceof SVGElement ? style.fill : style.color);
    const back = behind(element.closest("svg") || element);
    const [a, b] = [light(over(ink, back)), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push([ratio, element.tagName, texts[0].data.trim().slice(0, 30)]);
  }
  return found.sort((p, q) => p[0] - q[0]);
})()
"""
# Elements that reach beyond the right edge of the window.
OUTSIDE = """
[...document.querySelectorAll("body *")].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width > 1 && box.right > innerWidth + 0.5;
}).map(e => e.tagName + " " + e.textContent.trim().slice(0, 40))
"""
# Texts of pictures that reach beyond their picture.
CUT = """
[...document.querySelectorAll("svg.plot text")].filter(e => {
  const inner = e.getBoundingClientRect();
  const outer = e.ownerSVGElement.getBoundingClientRect();
  return inner.left < outer.left - 1 || inner.right > outer.right + 1
    || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
}).map(e => e.textContent)
"""


@pytest.fixture(scope="module")
def browser():
    browser = Browser(find_chromium())
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    for name in ("whole", "bare", "nasty", "long"):
        write_report(getattr(samples, name)(), folder / f"{name}.html")
    return folder


@pytest.mark.parametrize("name", ["whole", "bare", "nasty", "long"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_it_fits_without_output(browser, pages, name, width):
    browser.open(pages / f"{name}.html", width=width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(OUTSIDE) == []
    assert browser.problems() == []
    assert browser.requests() == [(pages / f"{name}.html").resolve().as_uri()]


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_no_text_of_a_figure_is_cut_off(browser, pages, width):
    browser.open(pages / "whole.html", width=width)
    assert browser.evaluate(CUT) == []


@pytest.mark.parametrize("media", ["screen", "print"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(browser, pages, scheme, media):
    browser.open(pages / "whole.html", scheme=scheme, media=media)
    found = browser.evaluate(CONTRAST)
    assert len(found) > 100
    assert found[0][0] >= 4.5, found[:5]


def test_dark_is_dark_and_print_is_white(browser, pages):
    background = "getComputedStyle(document.body).backgroundColor"
    browser.open(pages / "whole.html", scheme="dark")
    assert browser.evaluate(background) == "rgb(21, 24, 27)"
    browser.open(pages / "whole.html", scheme="dark", media="print")
    assert browser.evaluate(background) == "rgb(255, 255, 255)"


def test_a_reader_finds_the_sections(browser, pages):
    browser.open(pages / "whole.html")
    headings = browser.evaluate(
        "[...document.querySelectorAll('h2')].map(e => e.textContent)"
    )
    assert headings == [
        "The model", "How well it predicts", "How many features?",
        "Would other features do as well?", "What is proved", "The data",
        "How to reproduce it",
    ]  # fmt: skip
    assert browser.evaluate("document.querySelectorAll('main svg.plot').length") == 5


def test_code_hidden_in_names_does_not_run(browser, pages):
    browser.open(pages / "nasty.html")
    assert browser.evaluate("document.scripts.length + document.images.length") == 0
    assert "<script>" in browser.evaluate("document.querySelector('h1').textContent")


def test_the_browser_detects_problems(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<body style='width: 900px'><script>console.error('x')</script>"
        "<p style='color: #999; background: #aaa'>pale</p>"
    )
    browser.open(page, width=360)
    assert browser.problems() == ["console.error"]
    assert browser.evaluate(CONTRAST)[0][0] < 4.5
    assert browser.evaluate(OUTSIDE) != []
    assert browser.evaluate("document.documentElement.scrollWidth") > 360
