import os
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from frugalsvm.report import (
    BudgetPath,
    DataWarning,
    ProgressCurve,
    Report,
    ScoreThreshold,
    Verdict,
    render,
    write_report,
)
from tests.report import samples

SECTIONS = {
    "validation": "quality",
    "path": "budget",
    "alternatives": "alternatives",
    "data": "data",
    "reproduction": "again",
}
# Elements that the page is made of; nothing else may appear, whatever names say.
KNOWN = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "nav",
    "section", "footer", "h1", "h2", "h3", "p", "a", "ul", "li", "dl", "dt", "dd",
    "div", "span", "small", "strong", "b", "i", "code", "pre", "table", "caption",
    "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "details", "summary",
    "svg", "path", "circle", "rect", "text", "wbr",
}  # fmt: skip


class Elements(HTMLParser):
    """All elements with their attributes, and the text."""

    def __init__(self, page):
        super().__init__()
        self.found, self.text, self.open = [], "", []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in ("meta", "path", "rect", "wbr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def ids(page):
    return {a["id"] for _, a in Elements(page).found if "id" in a}


def test_every_section_is_there():
    page = render(samples.whole())
    assert {"verdict", "model", "proof", *SECTIONS.values()} <= ids(page)
    assert page.count('<svg class="plot"') == 5


@pytest.mark.parametrize(("part", "section"), SECTIONS.items())
def test_a_section_may_be_missing(part, section):
    page = render(samples.whole(**{part: None}))
    assert section not in ids(page)
    assert f'#{section}"' not in page or section == "data"
    assert "proof" in ids(page)


def test_parts_of_sections_may_be_missing():
    whole = samples.whole(progress=None, certificate=None)
    validation = replace(whole.validation, roc=None, calibration=None)
    page = render(replace(whole, validation=validation))
    assert "Certificate</h3>" not in page
    assert page.count('<svg class="plot"') == 2


def test_a_bare_report_has_a_page():
    page = render(samples.bare())
    assert ids(page) & set(SECTIONS.values()) == set()
    assert {"verdict", "model", "proof"} <= ids(page)


def test_links_within_the_page_have_targets():
    page = render(samples.whole())
    targets = re.findall(r'href="#([^"]+)"', page)
    assert targets
    assert set(targets) <= ids(page)


def test_the_page_loads_and_runs_nothing():
    for tag, attributes in Elements(render(samples.whole())).found:
        assert tag != "script"
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    assert "http" not in render(samples.whole()).replace("http-equiv", "")
    assert "default-src 'none'" in render(samples.whole())


def test_names_and_values_cannot_break_out():
    page = render(samples.nasty())
    elements = Elements(page)
    assert {tag for tag, _ in elements.found} <= KNOWN
    for _, attributes in elements.found:
        assert not [name for name in attributes if name.startswith("on")]
    assert "<script" not in page
    assert "<img" not in page
    # They are there to be read.
    assert samples.NASTY in elements.text


def test_tables_have_captions_and_pictures_have_names():
    page = render(samples.whole())
    assert page.count("<table") == page.count("<caption") > 4
    plots = [a for tag, a in Elements(page).found if a.get("class") == "plot"]
    assert all(a["role"] == "img" and a["aria-label"] for a in plots)
    levels = re.findall(r"<h(\d)", page)
    assert levels[0] == "1"
    assert levels.count("1") == 1


def test_features_are_sorted_by_influence():
    features = tuple(reversed(samples.features()))
    page = render(samples.whole(features=features))
    names = re.findall(r'scope="row">([^<]*?)\s*<small>(?:higher|this)', page)
    assert [name.strip() for name in names] == [
        "worst area", "worst texture", "age", "smoker = yes"
    ]  # fmt: skip


def test_serious_warnings_are_seen_at_once():
    mild = samples.data((DataWarning("constant", "c never changes.", ("c",)),))
    assert "Before you rely on it" not in render(samples.whole(data=mild))
    page = render(samples.whole())
    first = page.index("Before you rely on it")
    assert first < page.index("age gives it away.") < page.index("The model predicts")


def test_warnings_of_the_run_are_sentences_and_many_are_counted():
    page = render(samples.whole(remarks=[f"limit {k} was hit" for k in range(7)]))
    assert "<li>Limit 0 was hit.</li>" in page
    assert "Limit 4 was hit" not in page
    assert "And 3 more" in page


def test_the_threshold_is_where_the_classes_change():
    page = render(samples.whole(threshold=ScoreThreshold(-1.5)))
    assert "Above \N{MINUS SIGN}1.5 it predicts “malignant”" in page
    assert "Above zero it predicts “malignant”" in render(samples.whole())
    assert "No problems found" in render(samples.whole(data=samples.data()))


def test_a_model_without_features():
    verdict = Verdict(0, 30, 46.0, 46.0, "optimal", 1.0, 0)
    page = render(samples.whole(features=(), verdict=verdict))
    assert "always predicts “benign”" in page
    assert "No feature was selected" in page


def test_a_model_of_one_class_leads_and_is_not_sold_as_proved():
    words = "constant model, of no use: it predicts <b> for all rows"
    verdict = Verdict(0, 30, 46.0, 46.0, "optimal", 1.0, 3, constant=words)
    page = render(samples.whole(features=(), verdict=verdict))
    lead = page.split('<p class="lead')[1]
    assert lead.startswith(' alert">Constant model, of no use: it predicts &lt;b&gt;')
    assert "Proved best" not in page


def test_weights_of_classes_are_shown_and_both_classes_count():
    plain = render(samples.whole())
    verdict = Verdict(4, 30, 46.0, 46.0, "optimal", 1.0, 4, class_weight="<a> counts 9")
    page = render(samples.whole(verdict=verdict))
    assert "<dt>Class weights</dt><dd>&lt;a&gt; counts 9</dd>" in page
    assert "Balanced accuracy</dt>" in page
    assert "Accuracy</dt>" not in page
    assert "Class weights" not in plain
    assert "Accuracy</dt>" in plain


def test_many_rows_are_cut():
    dropped = tuple((f"c{k}", "constant") for k in range(10_000))
    page = render(samples.whole(data=replace(samples.data(), dropped=dropped)))
    assert "And 9,970 more" in page
    assert len(page) < 200_000


def test_a_report_without_numbers_that_exist():
    nan = np.full(3, np.nan)
    path = BudgetPath(np.array([1, 2, 3]), 2, scores=np.array([0.5, np.nan, 0.7]))
    page = render(samples.whole(path=replace(path, errors=nan)))
    assert re.search(r"\bnan\b", page) is None
    # As after a choice that ended early.
    some = np.array([9.0, np.nan, 7.0])
    path = replace(path, objectives=some, lower_bounds=np.array([5.0, 5.0, 0.0]))
    page = render(samples.whole(path=path))
    assert re.search(r"\bnan\b", page) is None
    assert "Objective and lower bound by number of features" in page
    page = render(samples.whole(path=replace(path, objectives=nan)))
    assert "Objective and lower bound by number of features" not in page


def test_lengths_are_checked():
    with pytest.raises(ValueError, match="progress must have the same length"):
        samples.whole(progress=ProgressCurve(np.zeros(3), np.zeros(2), np.zeros(3)))
    with pytest.raises(ValueError, match="two classes"):
        Report("", ("a",), samples.bare().verdict, (), 0.0)


# --- files ---------------------------------------------------------------------------


def test_a_report_is_written_whole_or_not_at_all(tmp_path, request):
    file = tmp_path / "report.html"
    write_report(samples.bare(), file)
    before = file.read_text("utf-8")
    assert before == render(samples.bare())

    request.getfixturevalue("full_disk")
    with pytest.raises(OSError, match="no space"):
        write_report(samples.whole(), file)
    assert file.read_text("utf-8") == before
    assert os.listdir(tmp_path) == ["report.html"]


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_others_may_read_what_the_mask_allows(tmp_path):
    mask = os.umask(0o022)
    try:
        write_report(samples.bare(), tmp_path / "report.html")
    finally:
        os.umask(mask)
    assert (tmp_path / "report.html").stat().st_mode & 0o777 == 0o644


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_report(samples.bare(), tmp_path / "nowhere" / "report.html")


def test_without_jinja_the_error_says_what_to_install(uninstall):
    uninstall("jinja2")
    with pytest.raises(ImportError, match=r"frugalsvm\[cli\]"):
        render(samples.bare())


def test_solver_noise_is_shown_as_zero():
    tiny = replace(samples.features()[1], weight=3e-11, standardised=-2e-10)
    page = render(samples.whole(features=(samples.features()[0], tiny)))
    assert "practically no weight" in page
    assert "e\N{MINUS SIGN}1" not in page


def test_an_incomplete_list_claims_no_unproved_indispensable_feature():
    whole = samples.alternatives()
    assert "ndispensable" in render(samples.whole())
    first = replace(whole.roles[0], role="in all found")
    some = replace(
        whole, complete_up_to=-0.3, roles=(first, *whole.roles[1:]),
        status="time limit",
    )  # fmt: skip
    page = render(samples.whole(alternatives=some))
    assert "in all found" in page
    assert "In all found: a choice that does not use it may be missing." in page
    assert "ndispensable" not in page
    assert "No feature has been proved to be in all such choices" in page
    assert "the search stopped at the time limit" in page
    assert 'a larger <span class="option">--time-limit</span>' in page
    one = replace(some, n_models=1, n_exchanges=100)
    assert "None of 100" not in render(samples.whole(alternatives=one))
    one = replace(one, roles=(first,))
    page = render(samples.whole(alternatives=one))
    assert "because the search was not completed" in page
    assert "None of the 100 single-feature exchanges that were tried is." in page
    assert "The role of each feature in these choices" not in page


def test_an_incomplete_list_still_says_what_is_proved():
    some = replace(samples.alternatives(), complete_up_to=0.003, status="limit")
    page = render(samples.whole(alternatives=some))
    assert "It has been proved that all such choices need worst area" in page
    assert "there are more choices than the list can hold" in page
    assert "Indispensable: every choice this good uses it." in page


def test_a_certificate_that_was_not_saved():
    page = render(samples.whole(certificate=replace(samples.certificate(), file=None)))
    assert "was not saved" in page
