import csv
import io

from experiments.report import NO_PICTURES, Chart, Report, page
from experiments.tables import MARKS, Marked, ReportTable, columns, row_tables

TABLE = ReportTable(
    "Some <numbers>",
    ["data", "B", "ours"],
    [["wdbc", 3, 1.23456789], ["wpbc", 5, Marked(2.0)], ["a&b", None, Marked(None)]],
)


def test_marks_are_in_the_text():
    lines = TABLE.markdown().splitlines()
    assert lines[2].split() == ["|", "wdbc", "|", "3", "|", "1.234568", "|"]
    assert "2*" in lines[3]
    assert "-*" in lines[4]
    assert len({len(line) for line in lines}) == 1


def test_csv_has_plain_numbers_and_names_what_is_marked():
    rows = list(csv.DictReader(io.StringIO(TABLE.csv())))
    assert [row["ours"] for row in rows] == ["1.234568", "2", ""]
    assert [row["capped"] for row in rows] == ["", "ours", "ours"]


def test_marks_in_csv_can_be_told_apart():
    table = ReportTable(
        "", ["CoP, SCIP", "CoP", "H-KS s"], [[Marked(1.0), 2, Marked(3.0)]]
    )
    (row,) = csv.DictReader(io.StringIO(table.csv()))
    assert row["capped"].split(MARKS) == ["CoP, SCIP", "H-KS s"]


def draw():
    from matplotlib.figure import Figure as Canvas

    figure = Canvas()
    figure.subplots().plot([1, 2])
    return figure


def test_files_and_the_page(tmp_path):
    report = Report([TABLE], [Chart("A line", draw)], ["A note <b>"])
    written = report.write(tmp_path, "table3")
    assert [path.name for path in written] == [
        "table3.csv",
        "table3.svg",
        "table3.png",
    ]
    first = (tmp_path / "table3.svg").read_bytes()
    report.write(tmp_path, "table3")
    assert (tmp_path / "table3.svg").read_bytes() == first
    html = page("Study", "x < y", [("table3", "T3", report.html(tmp_path, "table3"))])
    for text in ("data:image/svg+xml", "a&amp;b", "A note &lt;b&gt;", "#table3", "2*"):
        assert text in html


def test_without_matplotlib_there_are_no_old_pictures(tmp_path, uninstall):
    Report([TABLE], [Chart("A line", draw)]).write(tmp_path, "table3")
    uninstall("matplotlib")
    report = Report([TABLE], [Chart("A line", draw)])
    assert [path.name for path in report.write(tmp_path, "table3")] == ["table3.csv"]
    assert NO_PICTURES in report.text()
    assert "<img" not in report.html(tmp_path, "table3")


def test_sentences_have_room():
    html = ReportTable("", ["data", "remark"], [["wdbc", "word " * 20]]).html()
    assert "<td>wdbc</td>" in html
    assert '<td class="words">word word' in html


def test_user_text_cannot_inject_html(tmp_path):
    """Names of columns, entries, notes and titles are escaped everywhere."""
    bad = "\"><script>alert('x')</script>&{title}"
    report = Report(
        [ReportTable(bad, [bad], [[Marked(bad)]])], [Chart(bad, draw)], [bad]
    )
    report.write(tmp_path, "table3")
    html = page(bad, bad, [(bad, bad, report.html(tmp_path, "table3"))])
    assert "<script" not in html
    assert html.count("&lt;script") >= 8


def test_rows_of_benchmarks_are_tables_by_kind():
    rows = [
        {"set": "a", "SCIP": {"seconds": 1.23456789}, "losses": [0.5, 0.25]},
        {"set": "b", "SCIP": {"seconds": 2.0}, "losses": [[1, 2], [3, 4]]},
        {"gap": 1},
    ]
    first, second = row_tables("T", rows)
    assert first.columns == ("set", "SCIP seconds", "losses")
    assert first.texts() == [["a", "1.2346", "0.5 0.25"], ["b", "2", "2"]]
    assert second.texts() == [["1"]]
    assert (first.name, second.name) == ("", "-1")


def test_columns_are_formats_or_functions():
    rows = [{"x": 0.5, "of": {"n": 3}}]
    table = columns(rows, {"": "{of[n]}", "half": lambda row: f"{row['x'] / 2:.3f}"})
    assert table == [["", "half"], ["3", "0.250"]]
