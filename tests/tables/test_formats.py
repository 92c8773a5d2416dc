"""Number formats of other countries: read correctly, or rejected."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frugalsvm.tables import Numbers, TableError, make_plan, read_table
from frugalsvm.tables.columns import Texts, UnclearNumbers, check_clear
from frugalsvm.tables.formats import (
    PLAIN,
    WHOLE,
    FormatRule,
    FormatRules,
    NumberFormat,
    has_decimal_points,
)

GERMAN = NumberFormat(",", ".")
COMMAS = NumberFormat(",", None)
ENGLISH = NumberFormat(".", ",")


@pytest.fixture
def column(tmp_path):
    """Read a column of a file that has others, too."""

    def read(cells, separator=";", beside=(), **options):
        table = {"x": cells, "y": ["a"] * len(cells), **dict(beside)}
        lines = [separator.join(table)]
        for row in zip(*table.values(), strict=True):
            lines.append(separator.join(f'"{cell}"' for cell in row))
        path = tmp_path / "data.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return read_table(path, **options).columns["x"]

    return read


@pytest.mark.parametrize(
    ("cells", "values", "written"),
    [
        (["1.234,50", "2"], [1234.5, 2], GERMAN),
        (["1.234.567", "2"], [1234567, 2], GERMAN),
        (["1,5", "2"], [1.5, 2], COMMAS),
        (["1,5E3", "-,5"], [1500, -0.5], COMMAS),
        (["1,234.5", "2"], [1234.5, 2], ENGLISH),
        (["1,234,567", "-1"], [1234567, -1], ENGLISH),
        (["1,234", "0.5"], [1234, 0.5], ENGLISH),
        (["0,125", "0,25"], [0.125, 0.25], COMMAS),
        (["0.5", "0.75", "12.5", "0.125"], [0.5, 0.75, 12.5, 0.125], PLAIN),
        (["1234.567", "1.5"], [1234.567, 1.5], PLAIN),
        (["1 234,5", "2\u00a0345,5"], [1234.5, 2345.5], NumberFormat(",", " ")),
        (["1'234.5", "2\u2019345.5"], [1234.5, 2345.5], NumberFormat(".", "'")),
        (["1 234", "12"], [1234, 12], NumberFormat(None, " ")),
        (["3", "400"], [3, 400], WHOLE),
        (["3", ""], [3, np.nan], WHOLE),
        ([" 1,5 ", "NA "], [1.5, np.nan], COMMAS),
        (["12345678901234567890123", "1"], [12345678901234567890123.0, 1], WHOLE),
    ],
)
def test_unambiguous_cells(column, cells, values, written):
    found = column(cells)
    assert isinstance(found, Numbers)
    np.testing.assert_array_equal(found.values, values)
    assert found.format == written


@pytest.mark.parametrize(
    "cells",
    [
        ["05.01.2020", "06.01.2020"],
        ["1.2.3", "1.2.4"],
        ["12.34.56", "1"],
        ["1.23,4", "5"],
        ["1,23,4", "5"],
        ["0.125.000", "1"],
        ["1,234e5.0", "1"],
        ["1_000", "2_000"],
        ["\u0661\u0662", "\u0663,5"],
        ["12:30", "13:45"],
    ],
)
def test_cells_that_are_not_numbers_stay_text(column, cells):
    assert isinstance(column(cells), Texts)


@pytest.mark.parametrize(
    ("cells", "first", "second"),
    [
        (["45.000", "1.200"], "is 45 ", "45000"),
        (["3", "-1.234"], "is -1.234 ", "-1234"),
        (["8,500", "1"], "is 8500 ", "8.5"),
    ],
)
def test_ambiguous_cells(column, cells, first, second):
    found = column(cells)
    assert isinstance(found, UnclearNumbers)
    assert first in found.doubt
    assert second in found.doubt
    assert len(found) == 2


def test_points_are_decimal_without_evidence_against_it(column):
    cells = ["12.345", "1.234"]
    assert column(cells, ",").values.tolist() == [12.345, 1.234]
    # Other columns show whether points or commas are decimal separators.
    assert column(cells, ";", {"a": ["0.5", "2"]}).format == PLAIN
    assert isinstance(column(cells, ";", {"a": ["0,5", "2"]}), UnclearNumbers)
    assert isinstance(column(cells, ",", {"a": ["0,5", "2"]}), UnclearNumbers)
    assert isinstance(column(cells, "\t", {"a": ["1.234.567", "2"]}), UnclearNumbers)
    # Commas between thousands do not make points ambiguous.
    assert column(cells, ",", {"a": ["1,234,567", "2"]}).format == PLAIN


@pytest.mark.parametrize(
    ("rule", "cells", "values"),
    [
        (FormatRule(","), ["45.000", "1.200"], [45000, 1200]),
        (FormatRule(thousands="."), ["45.000", "1.200"], [45000, 1200]),
        (FormatRule("."), ["45.000", "1.200"], [45, 1.2]),
        (FormatRule(thousands=""), ["45.000", "1.200"], [45, 1.2]),
        (FormatRule("."), ["8,500", "1"], [8500, 1]),
        (FormatRule(","), ["8,500", "1"], [8.5, 1]),
        (FormatRule(thousands=","), ["8,500", "1"], [8500, 1]),
        (FormatRule(thousands=""), ["8,500", "1"], [8.5, 1]),
        (FormatRule(","), ["3", "4"], [3, 4]),
    ],
)
def test_the_users_format_decides(column, rule, cells, values):
    for rules in (FormatRules(rule), FormatRules(columns={"x": rule})):
        assert column(cells, formats=rules).values.tolist() == values


@pytest.mark.parametrize(
    ("rule", "cells", "words"),
    [
        (FormatRule(","), ["1", "0.5"], "row 2 has '0.5', which is not a number with"),
        (FormatRule("."), ["1", "0,5"], "row 2 has '0,5'"),
        (FormatRule(thousands=""), ["1.234,5", "1"], "row 1 has '1.234,5'"),
        (FormatRule.of(PLAIN), ["1.5", "1,234.5"], "row 2 has '1,234.5'"),
        (FormatRule.of(PLAIN), ["1.5", "old"], "row 2 has 'old'"),
        (FormatRule.of(GERMAN), ["45.000", "1.5"], "row 2 has '1.5'"),
        (FormatRule.of(COMMAS), ["1,5", "45.000"], "row 2 has '45.000'"),
        (FormatRule.of(WHOLE), ["45", "45.000"], "is 45 .* 45000"),
        (FormatRule.of(WHOLE), ["45", "old"], "row 2 has 'old'"),
        (
            FormatRule(),
            ["1,5", "2.5"],
            "'2.5', which is in a different format from '1,5'",
        ),
    ],
)
def test_a_cell_that_contradicts_is_named(column, rule, cells, words):
    found = column(cells, ",", formats=FormatRules(columns={"x": rule}))
    assert isinstance(found, UnclearNumbers)
    assert re.search(words, found.doubt), found.doubt


def test_stored_formats_are_applied(column):
    def known(written, cells):
        rules = FormatRules(columns={"x": FormatRule.of(written)})
        return column(cells, ",", formats=rules).values.tolist()

    assert known(GERMAN, ["45.000", "3"]) == [45000, 3]
    assert known(COMMAS, ["8,500", "8,5"]) == [8.5, 8.5]
    assert known(ENGLISH, ["8,500", "8500"]) == [8500, 8500]
    assert known(PLAIN, ["45.000", "1.234"]) == [45, 1.234]
    assert known(WHOLE, ["45", "45.5"]) == [45, 45.5]


def test_kinds_are_decided_from_all_chunks(column, small_chunks):
    start, end = ["1.234"] * 150, ["2.5"] * 150
    assert column(start + end).format == PLAIN
    assert column(["1.234"] * 300 + ["1,5"]).values[-1] == 1.5
    assert column(["7"] * 300 + ["1.234,5"]).format == GERMAN
    assert column([""] * 300 + ["1,5"] * 9 + [""] * 300).values[300] == 1.5
    mixed = column(["1,5"] * 300 + ["2.5"])
    assert "row 301 has '2.5'" in mixed.doubt
    texts = column(["1,5"] * 300 + ["many"])
    assert texts.levels == ["1,5", "many"]
    doubt = column(["7"] * 250 + ["45.000"]).doubt
    assert "'45.000' in row 251" in doubt


def test_ambiguous_columns_are_an_error_only_if_they_are_used(tmp_path):
    path = tmp_path / "data.csv"
    rows = [f"{1 + k % 7}.{k:03d};{k % 5},5;{'ab'[k % 2]}" for k in range(100, 140)]
    path.write_text("\n".join(["pay;size;y", *rows]), encoding="utf-8")
    table = read_table(path)
    with pytest.raises(TableError, match=r"'pay': '3.100' in row 1 is 3.1 .*3100") as e:
        make_plan(table, "y")
    assert "--decimal" in str(e.value)
    assert "'size'" not in str(e.value)
    assert list(make_plan(table, "y", exclude=["pay"]).kinds) == ["size"]
    kept = read_table(path, as_text=["pay"])
    plan = make_plan(kept, "y", categorical=["pay"])
    assert plan.kinds == {"pay": "category", "size": "number"}


def test_remarks_name_number_formats(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a;b;c;d\n1.234,5;0.5;1;x\n", encoding="utf-8")
    remarks = " | ".join(read_table(path).remarks)
    assert "decimal commas and points between thousands, like 1.234,5: 'a'" in remarks
    assert "decimal points, like 1234.5: 'b'" in remarks
    assert "'c'" not in remarks


def written(value, form, digits):
    text = f"{value:,.{digits}f}" if form.thousands else f"{value:.{digits}f}"
    table = str.maketrans({",": form.thousands or "", ".": form.decimal})
    return text.translate(table)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.floats(-1e9, 1e9, width=32), min_size=1, max_size=8),
    st.sampled_from([PLAIN, GERMAN, COMMAS, ENGLISH, NumberFormat(",", " ")]),
    st.integers(0, 5),
    st.sampled_from([";", ",", "\t"]),
)
def test_numbers_are_read_as_written_or_rejected(
    tmp_path_factory, values, form, digits, separator
):
    path = tmp_path_factory.mktemp("formats") / "data.csv"
    cells = [written(value, form, digits) for value in values]
    lines = ["x" + separator + "y", *(f'"{one}"{separator}a' for one in cells)]
    path.write_text("\n".join(lines), encoding="utf-8")
    found = read_table(path).columns["x"]
    truth = [round(value, digits) for value in values]
    if form == PLAIN and separator == ",":
        assert isinstance(found, Numbers)
    if isinstance(found, Numbers):
        np.testing.assert_allclose(found.values, truth, rtol=1e-12)
    else:
        assert isinstance(found, UnclearNumbers)
    # The given rule decides.
    rules = FormatRules(FormatRule.of(form))
    known = read_table(path, formats=rules).columns["x"]
    np.testing.assert_allclose(known.values, truth, rtol=1e-12)


@pytest.mark.parametrize(
    ("values", "tells"),
    [
        ([45.0, 1.2], False),
        ([1.234, 999.999, 0.0, np.nan], False),
        ([0.5], True),
        ([1.2345], True),
        ([1000.5], True),
        ([1e6], False),
    ],
)
def test_values_that_cannot_have_thousands_separators(values, tells):
    assert has_decimal_points(np.array(values)) is tells


MONTHS = ["06.2019", "11.2019", "03.2020"]
INCOMES = ["12.400", "750", "45.300"]


@pytest.mark.parametrize(
    "beside",
    [
        {"month": MONTHS},
        {"day": ["14.05", "01.06", "30.11"]},
        {"time": ["11.45", "12.00", "09.30"]},
        {"time": ["11.45", "12.00", "19.30"]},
        {"price": ["1.172,50 €", "3.749,50 €", "99,00 €"]},
        {"rate": ["4,79", "k.A.", "5,2"]},
        # Programs write 12.400 and 750.000, or 12.4 and 750.
        {"latitude": ["52.5163", "48.1374", "50.9413"]},
    ],
    ids=lambda beside: next(iter(beside)),
)
def test_other_text_is_no_evidence_about_points(column, beside):
    found = column(INCOMES, separator=";", beside=beside.items())
    assert isinstance(found, UnclearNumbers)
    assert "12.4 with decimal points but 12400 with decimal commas" in found.doubt
    given = FormatRules(FormatRule(","))
    found = column(INCOMES, separator=";", beside=beside.items(), formats=given)
    np.testing.assert_array_equal(found.values, [12400, 750, 45300])


def test_months_and_days_are_numbers_only_on_request(column):
    for cells in (MONTHS, ["14.05", "01.06", "30.11"], ["09.30", "12.00", "11.45"]):
        for separator in (";", ","):
            assert isinstance(column(cells, separator), Texts)
            found = column(cells, separator, formats=FormatRules(FormatRule(".")))
            np.testing.assert_array_equal(found.values, list(map(float, cells)))
    # Small numbers with two digits are numbers.
    for cells in (["1.25", "3.5", "0.05"], ["14.05", "11.45", "12.00"], ["0.0", "1.0"]):
        np.testing.assert_array_equal(
            column(cells, ",").values, list(map(float, cells))
        )


def test_whole_numbers_with_zeros_have_points(column):
    """Without the stored format, the table of the fit would be rejected."""
    assert column(["25.000", "37.000"], ",").format == PLAIN
    assert column(["25.0", "", "37.0"], ",").format == PLAIN
    assert column(["25", "", "37"], ",").format == WHOLE
    assert column(["1.000", "2.500"], ",", formats=FormatRules(FormatRule("."))).format
    known = FormatRules(columns={"x": FormatRule.of(PLAIN)})
    np.testing.assert_array_equal(
        column(["25.000", "37.000"], ";", formats=known).values, [25, 37]
    )


def test_percent_signs_are_named(tmp_path):
    """A model that was fitted on numbers gets them with signs."""
    path = tmp_path / "data.csv"
    path.write_text("rate,y\n13.49,a\n12.99%,b\n")
    rules = FormatRules(columns={"rate": FormatRule.of(NumberFormat())})
    column = read_table(path, formats=rules).columns["rate"]
    with pytest.raises(TableError) as error:
        check_clear({"rate": column}, "data.csv")
    words = str(error.value)
    assert "column 'rate': row 2 has '12.99%'" in words
    assert "remove the % signs" in words
    assert "ambiguous" not in words
