"""Excel workbooks in and out, and spreadsheets that are refused."""

import datetime
import io
import zipfile

import numpy as np
import pytest

from frugalsvm.tables import Numbers, TableError, Texts, read_table
from frugalsvm.tables.columns import check_clear
from frugalsvm.tables.excel import Layout, write_sheet
from frugalsvm.tables.formats import FormatRule, FormatRules

openpyxl = pytest.importorskip("openpyxl")


def saved(path, *sheets):
    """A workbook of sheets, each a title and rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def cells(table):
    found = {}
    for name, one in table.columns.items():
        if isinstance(one, Texts):
            found[name] = [None if k < 0 else one.levels[k] for k in one.codes]
        else:
            found[name] = [None if v != v else v for v in one.values.tolist()]
    return found


ROWS = [
    ["id", "dose", "code", "when", "ok", "mixed"],
    [1, 0.1, "007", datetime.datetime(2024, 1, 31), True, 5],
    [2, 1e-7, "010", datetime.datetime(2024, 2, 1, 12, 30), False, "<5"],
    [3, None, " x ", None, None, "NA"],
]


def test_cells_keep_their_types(tmp_path):
    table = read_table(saved(tmp_path / "a.xlsx", ("data", ROWS)))
    assert cells(table) == {
        "id": [1, 2, 3],
        "dose": [0.1, 1e-7, None],
        "code": ["007", "010", "x"],
        "when": ["2024-01-31", "2024-02-01 12:30:00", None],
        "ok": ["True", "False", None],
        "mixed": ["5", "<5", None],
    }
    assert table.remarks == []


def test_numbers_are_exact_and_never_ambiguous(tmp_path):
    values = np.random.default_rng(0).normal(size=50) * 10.0 ** np.arange(-25, 25)
    rows = [["x", "thousands", "price"]]
    # Openpyxl alone writes 16 digits.
    values = np.array([float(f"{one:.15e}") for one in values])
    rows += [[v, 1.234, "4,79 €"] for v in values.tolist()]
    path = saved(tmp_path / "a.xlsx", ("data", rows))
    for rules in ({}, {"x": FormatRule(","), "thousands": FormatRule(",")}):
        table = read_table(path, formats=FormatRules(columns=rules))
        np.testing.assert_array_equal(table.columns["x"].values, values)
        assert set(table.columns["thousands"].values) == {1.234}
    assert isinstance(table.columns["price"], Texts)


def test_numbers_read_as_text_are_written_as_people_see_them(tmp_path):
    path = saved(tmp_path / "a.xlsx", ("data", [["zip", "y"], [1.0, 2], [20, 1]]))
    assert cells(read_table(path, as_text=["zip"]))["zip"] == ["1", "20"]


def test_sheets_by_name_and_number(tmp_path):
    rows = [["a", "b"], [1, 2]]
    path = saved(
        tmp_path / "a.xlsx", ("one", rows), ("two", [["c", "d"], [3, 4]]), ("3", rows)
    )
    table = read_table(path)
    assert table.names == ["a", "b"]
    assert table.remarks == ["sheet 'one', the first of 3; --sheet reads another"]
    for sheet, names in (("two", ["c", "d"]), ("2", ["c", "d"]), ("3", ["a", "b"])):
        assert read_table(path, layout=Layout(sheet)).names == names
    with pytest.raises(TableError, match="no sheet 'four'; it has 'one', 'two', '3'"):
        read_table(path, layout=Layout("four"))
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match=r"--sheet: a.csv is not an Excel file"):
        read_table(tmp_path / "a.csv", layout=Layout("one"))


STRAYS = ["n/a", "NA", "7,5", "1.234,5", "12 345", "."]


@pytest.mark.parametrize("stray", STRAYS)
def test_cells_of_numbers_are_not_read_again_as_text(tmp_path, stray):
    """Not even beside text cells, in a file in which commas are decimal."""
    rows = [["dose", "price", "zip"], [1.234, "4,75", 10115], [stray, "5,25", "01067"]]
    rows += [[2.345, "1.001,50", 20095], [750, None, 80331], [12.345, None, None]]
    path = saved(tmp_path / "a.xlsx", ("data", rows))
    found = {"7,5": 7.5, "1.234,5": 1234.5, "12 345": 12345}.get(stray)
    table = read_table(path)
    assert cells(table) == {
        "dose": [1.234, found, 2.345, 750, 12.345],
        "price": [4.75, 5.25, 1001.5, None, None],
        "zip": ["10115", "01067", "20095", "80331", None],
    }
    assert table.style.decimal == "."
    # What a model stores reads the same file in the same way.
    rules = {
        name: FormatRule.of(one.format)
        for name, one in table.columns.items()
        if isinstance(one, Numbers)
    }
    again = read_table(path, as_text=["zip"], formats=FormatRules(columns=rules))
    assert cells(again) == cells(table)


def test_text_among_numbers_that_may_be_a_number_is_refused(tmp_path):
    def refused(*cells):
        rows = [["x", "y"], *([one, k] for k, one in enumerate(cells))]
        table = read_table(saved(tmp_path / "a.xlsx", ("data", rows)))
        with pytest.raises(TableError) as error:
            check_clear(table.columns, table.source)
        return str(error.value)

    assert "'1,234' in row 2 is 1234 with decimal points" in refused(1.5, "1,234", 2)
    assert "row 2 has the text '06.2019' among numb" in refused(1.5, "06.2019", 2)
    words = refused(0.5, "1.234,5", "7.25")
    assert "row 3 has '7.25', which is in a different format from '1.234,5'" in words


def computed_by_hand(path, formulas, **values):
    """A workbook with formulas; only some of them have a value in the file."""
    saved(path, ("data", [["a", "b", "c"], *formulas]))
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    text = parts[sheet].decode()
    for place, value in values.items():
        start, end = text.index(f'r="{place}"'), text.index("</c>", text.index(place))
        kind = "" if isinstance(value, (int, float)) else ' t="str"'
        cell = text[start:end].replace(">", f"{kind}>", 1).replace("<v />", "<v></v>")
        text = text[:start] + cell.replace("<v></v>", f"<v>{value}</v>") + text[end:]
    parts[sheet] = text.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_formulas_without_a_value_are_said(tmp_path):
    rows = [[1, "=A2+1", "x"], [2, "=A3+1", "y"], [3.5, '=IF(A4>9,1,"")', "z"]]
    path = computed_by_hand(tmp_path / "a.xlsx", rows, B2=2, B3=3.25, B4="")
    assert cells(read_table(path))["b"] == [2, 3.25, None]
    path = computed_by_hand(tmp_path / "a.xlsx", rows, B2=2, B4="")
    table = read_table(path)
    with pytest.raises(TableError) as error:
        check_clear(table.columns, table.source)
    words = str(error.value)
    assert "column 'b': row 2 has a formula (cell B3) without a value in" in words
    assert "open the file in a spreadsheet program and save it" in words
    # Texts, and names of columns, may be formulas as well.
    table = read_table(path, as_text=["b"])
    with pytest.raises(TableError, match=r"cell B3"):
        check_clear(table.columns, table.source)
    saved(path, ("data", [["a", "=A1"], [1, 2]]))
    with pytest.raises(TableError, match=r"the header has a formula \(cell B1\)"):
        read_table(path)


def test_titles_margins_and_errors(tmp_path):
    rows = [
        [None, "Patients of 2024"], [], [None, "a", "b"], [None, 1, "x"], [],
        [None, "#DIV/0!", "y"], [None, 3, None],
    ]  # fmt: skip
    path = saved(tmp_path / "a.xlsx", ("data", rows))
    table = read_table(path)
    assert cells(table) == {"a": [1, None, 3], "b": ["x", "y", None]}
    assert table.remarks == [
        "1 cell with an error (#DIV/0!) read as missing",
        "1 line above the header left out",
    ]


@pytest.mark.parametrize(
    ("rows", "words"), [([], "is empty"), ([["a", "b"]], "no rows below")]
)
def test_empty_sheets(tmp_path, rows, words):
    with pytest.raises(TableError, match=words):
        read_table(saved(tmp_path / "a.xlsx", ("data", rows)))


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("xl/workbook.bin", r"not an .xlsx file; open it and save it as .xlsx or CSV"),
        ("content.xml", "not an .xlsx file"),
        ("readme.txt", "is a zip archive"),
        ("xl/workbook.xml", "cannot be read as Excel"),
    ],
)
def test_other_archives_are_refused(tmp_path, part, words):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(part, "nothing")
    with pytest.raises(TableError, match=words):
        read_table(path)


@pytest.mark.usefixtures("little_unpacked")
def test_what_unpacks_to_far_too_much_is_refused(tmp_path, monkeypatch):
    from frugalsvm.tables import source

    path = saved(tmp_path / "a.xlsx", ("data", [["a", "b"], *[[1, 2]] * 5000]))
    monkeypatch.setattr(source, "MOST_UNPACKED", 2)
    with pytest.raises(TableError, match="times its size; save the sheet as CSV"):
        read_table(path)


def test_a_cell_far_outside_does_not_fill_the_memory(tmp_path, monkeypatch):
    from frugalsvm.tables import reading

    monkeypatch.setattr(reading, "LEAST_CELLS", 10**5)
    monkeypatch.setattr(reading, "CELLS_PER_BYTE", 0)
    rows = [["a", "b"], *[[1, 2]] * 50, [*[None] * 9000, "x"]]
    with pytest.raises(TableError, match="remove what is outside the table"):
        read_table(saved(tmp_path / "a.xlsx", ("data", rows)))


def test_damaged_files_are_refused_or_read(tmp_path):
    rng = np.random.default_rng(0)
    path = saved(tmp_path / "a.xlsx", ("data", ROWS))
    whole = path.read_bytes()
    refused = 0
    for _ in range(60):
        content = bytearray(whole)
        for place in rng.integers(0, len(whole), 3):
            content[place] = rng.integers(256)
        path.write_bytes(bytes(content))
        try:
            read_table(path)
        except TableError:
            refused += 1
    assert refused > 10


def test_text_is_never_a_formula(tmp_path):
    scores = [0.1 + 0.2, -1.2573022109339331e-26]
    columns = {"id": ["=1+1", "a\x00b"], "score": scores, "n": np.array([1, 2])}
    file = io.BytesIO()
    write_sheet(file, columns)
    path = tmp_path / "out.xlsx"
    path.write_bytes(file.getvalue())
    sheet = openpyxl.load_workbook(path).active
    assert sheet["A2"].data_type == "s"
    table = read_table(path)
    assert cells(table) == {
        "id": ["=1+1", "a\ufffdb"], "score": scores, "n": [1, 2],
    }  # fmt: skip
    assert isinstance(table.columns["n"], Numbers)
