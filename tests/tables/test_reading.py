"""Files as they occur in practice."""

import contextlib
import gzip
import io
import sys

import numpy as np
import pytest

from frugalsvm.tables import (
    Numbers,
    TableError,
    Texts,
    find_target,
    make_plan,
    read_table,
    reading,
    text_table,
)
from frugalsvm.tables.columns import StoredNumbers
from frugalsvm.tables.formats import FormatRule, FormatRules


@pytest.fixture
def table(tmp_path):
    """Read a file with a given content."""

    def read(content, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **options)

    return read


def values(found):
    """Columns as plain lists."""
    return {
        name: one.values.tolist()
        if isinstance(one, Numbers)
        else [one.levels[k] if k >= 0 else None for k in one.codes]
        for name, one in found.columns.items()
    }


PLAIN = {"a": [1.5, 2.0], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("content", "remark"),
    [
        ("a,b\n1.5,x\n2,y\n", None),
        ("\ufeffa,b\r\n1.5,x\r\n2,y\r\n", None),
        ("a;b\n1,5;x\n2;y\n", "decimal commas"),
        ("a;b\n1.5;x\n2;y\n", "semicolons"),
        ("a\tb\n1.5\tx\n2\ty\n", "tabs"),
        ("a|b\n1.5|x\n2|y", "bars"),
        ("a, b\n 1.5, x\n 2,  y \n\n", None),
        ("a,b\n1.5,x\n2,y\n".encode("utf-16"), "utf-16"),
        (gzip.compress(b"a,b\n1.5,x\n2,y\n", mtime=0), None),
        ('"a","b"\n"1,5","x"\n"2,0","y"\n', "decimal commas"),
        ('"a";"b"\n"1,5";"x"\n2;"y"\n', "decimal commas"),
        ("sep=;\r\na;b\r\n1,5;x\r\n2;y\r\n", "decimal commas"),
    ],
)
def test_ways_to_write_the_same_table(table, content, remark):
    found = table(content)
    assert values(found) == PLAIN
    assert found.n_rows == 2
    words = " ".join(found.remarks)
    assert (remark or "") in words
    assert bool(words) == (remark is not None)


def test_byte_order_marks_are_not_part_of_names(table):
    content = "\ufeffa,b\n1.5,x\n2,y\n"
    assert values(table(content, encoding="UTF-8")) == PLAIN
    assert values(table(content.lstrip("\ufeff"), encoding="utf8")) == PLAIN


@pytest.mark.parametrize("strange", ["\u2028", "\x85", "\x0c", "\x1c"])
def test_only_line_feeds_end_lines(table, strange):
    found = table(f"a{strange}b,c\n1.5,x{strange}y\n2,z\n")
    assert found.n_rows == 2
    assert values(found) == {f"a{strange}b": [1.5, 2.0], "c": [f"x{strange}y", "z"]}


def test_thousands(table):
    assert values(table("a;b\n1.234,5;x\n-2,25;y\n")) == {
        "a": [1234.5, -2.25],
        "b": ["x", "y"],
    }
    found = table('a,b\n"12,345.5",1\n"1,000",2\n')
    assert values(found)["a"] == [12345.5, 1000.0]


def test_quoted_line_feeds_and_separators(table):
    found = table('a,"long\nname"\n1,"one, two"\n2,"three\nfour"\n')
    assert values(found) == {"a": [1, 2], "long\nname": ["one, two", "three\nfour"]}


def test_names_are_made_unique_with_a_remark(table):
    found = table("a,a,,a (2),a\n1,2,3,4,5\n")
    assert found.names == ["a", "a (3)", "column 3", "a (2)", "a (4)"]
    assert values(found)["a (4)"] == [5]
    assert "'a' appears more than once" in " ".join(found.remarks)
    assert "without a name" in " ".join(found.remarks)


def test_very_frequent_names(table):
    """An algorithm quadratic in these would hang."""
    n = 40_000
    found = table(",".join(["a"] * n) + "\n" + ",".join(["1"] * n) + "\n")
    assert found.names[-1] == f"a ({n})"


@pytest.mark.parametrize("start", ["", "\n  \n", "\r\n", "sep=,\n", "sep=,\n\n"])
def test_lines_before_the_names(table, start):
    assert values(table(f"{start}a,b\n\n1.5,x\n2,y\n")) == PLAIN


def test_a_first_line_of_more_than_a_mebibyte(table):
    names = [f"{j} {'long ' * 500}name" for j in range(500)]
    rows = [",".join(names), *(",".join([f"{k}.25"] * 500) for k in range(5))]
    found = table("\n".join(rows))
    assert found.names == names
    assert found.columns[names[-1]].values.tolist() == [k + 0.25 for k in range(5)]


def test_strings_are_stripped_of_documented_characters_only(table):
    found = table('a,b\n"x \t\u00a0",1\n" x",2\n"x\u2003",3\n"NA ",4\n')
    assert values(found)["a"] == ["x", "x", "x\u2003", None]


def test_old_windows_text(table):
    found = table("größe,b\n1,für\n".encode("cp1252"))
    assert values(found) == {"größe": [1], "b": ["für"]}
    assert "not UTF-8" in found.remarks[0]
    assert table("ä\n1\n".encode("latin-1"), encoding="latin-1").remarks == []
    with pytest.raises(TableError, match="unknown encoding 'klingon'"):
        table("a\n1\n", encoding="klingon")
    with pytest.raises(TableError, match="not encoded as ascii"):
        table("ä\n1\n" * 9, encoding="ascii")


def test_a_bad_byte_late_in_the_file_is_found(table):
    rows = b"a,b\n" + b"1,x\n" * 400_000 + b"2,\xe4\n"
    found = table(rows)
    assert values(found)["b"][-1] == "ä"


def test_missing_values(table):
    found = table("a,b\n1,\n,x\nNA,?\n4,y\n")
    np.testing.assert_array_equal(found.columns["a"].missing, [0, 1, 1, 0])
    np.testing.assert_array_equal(found.columns["b"].missing, [1, 0, 1, 0])


def test_categories_are_the_text_in_the_file(table):
    found = table("a,b,c\nTRUE,007,1\nFALSE,x,2\n,8,3\n", as_text={"c"})
    assert values(found) == {
        "a": ["TRUE", "FALSE", None],
        "b": ["007", "x", "8"],
        "c": ["1", "2", "3"],
    }


def test_columns_with_leading_zeros_are_codes(table):
    found = table(
        "ward,year,place,size,tenth\n007,7,01069,0,0.5\n012,0,,10,1\n1,3,9,2,\n"
    )
    assert values(found) == {
        "ward": ["007", "012", "1"], "year": [7.0, 0.0, 3.0],
        "place": ["01069", None, "9"], "size": [0.0, 10.0, 2.0],
        "tenth": [0.5, 1.0, pytest.approx(np.nan, nan_ok=True)],
    }  # fmt: skip
    assert [one for one in found.remarks if "'ward', 'place'" in one]
    # A format says that they are numbers.
    known = FormatRules(columns={"ward": FormatRule(decimal=".", is_number=True)})
    found = table("ward,y\n007,1\n012,2\n", formats=known)
    assert found.columns["ward"].values.tolist() == [7.0, 12.0]


def test_a_column_that_is_mixed_across_pieces_is_text(table, small_chunks):
    lines = ["a,b,c"] + ["01,,1"] * 500 + ["x,y,2.5"] + ["02,,3"] * 500
    found = table("\n".join(lines))
    assert found.columns["a"].levels == ["01", "02", "x"]
    assert found.columns["b"].levels == ["y"]
    assert found.columns["b"].missing.sum() == 1000
    assert found.columns["c"].values.sum() == 500 + 2.5 + 1500


def test_large_tables_are_kept_in_a_file(table, monkeypatch):
    lines = ["a,b,c"] + [f"{k / 7!r},x,{k}" for k in range(200)] + [",y,1"]
    before = table("\n".join(lines))
    monkeypatch.setattr(text_table, "STORED_CELLS", 100)
    after = table("\n".join(lines))
    assert type(before.columns["a"]) is Numbers
    assert type(after.columns["a"]) is StoredNumbers
    assert isinstance(after.columns["a"], Numbers)
    for name in "ac":
        np.testing.assert_array_equal(
            after.columns[name].values, before.columns[name].values
        )
    assert len(after.columns["a"]) == 201
    assert after.columns["a"].missing.sum() == 1


def test_numbers_are_read_exactly(table):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=500) * 10.0 ** rng.integers(-20, 20, 500)
    found = table("a\n" + "\n".join(map(repr, numbers.tolist())))
    np.testing.assert_array_equal(found.columns["a"].values, numbers)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("\n\n  \n", "is empty"),
        ("a,b\n", "no rows"),
        ("1,2\n3,4\n", "must be a header line"),
        ("a,b\n1,2\n1,2,3\n", "expected 2 fields in line 3, saw 3"),
        ("a,b\n1,2,3\n4,5,6\n", "more cells than"),
        (b"a\0b\n", "zero bytes"),
        (b"PK\x03\x04 and so on", "damaged or truncated"),
        (b"\xd0\xcf\x11\xe0 and so on", r"old Excel file \(.xls\).* save it as .xlsx"),
        (gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:-30], "damaged or truncated"),
    ],
)
def test_files_that_are_not_tables_are_rejected_with_a_reason(table, content, words):
    with pytest.raises(TableError, match=words):
        table(content)


def test_a_single_row_and_a_single_column(table):
    assert values(table("a\n1\n2\n")) == {"a": [1, 2]}
    assert values(table("a,b\n1,x\n")) == {"a": [1], "b": ["x"]}


def test_ten_thousand_columns(table):
    names = [f"c{j}" for j in range(10_000)]
    rows = [",".join(names), ",".join("1" * 10_000), ",".join("2" * 10_000)]
    found = table("\n".join(rows))
    assert len(found.columns) == 10_000
    assert found.columns["c9999"].values.tolist() == [1, 2]


def test_standard_input(monkeypatch):
    class Piped:
        buffer = io.BytesIO(gzip.compress(b"a,b\n1,x\n"))

        def isatty(self):
            return False

    monkeypatch.setattr(sys, "stdin", Piped())
    found = read_table("-")
    assert values(found) == {"a": [1], "b": ["x"]}
    assert found.source == "standard input"


def test_missing_folders_and_files(tmp_path):
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")


def test_a_file_that_vanishes_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    path.write_text("a,b\nTRUE,1\nFALSE,2\n")
    inner = reading._dialect

    def vanish(*arguments):
        path.unlink()
        return inner(*arguments)

    monkeypatch.setattr(reading, "_dialect", vanish)
    assert isinstance(read_table(path).columns["a"], Texts)


def test_parquet(tmp_path):
    path = tmp_path / "data.parquet"
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {
        "a": [1, None, 3], "b": ["x", "y", None], "c": [True, False, True],
        "d": np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "datetime64[D]"),
    }  # fmt: skip
    parquet.write_table(pyarrow.table(columns), path)
    found = read_table(path, as_text={"c"})
    assert np.isnan(found.columns["a"].values[1])
    assert found.columns["b"].levels == ["x", "y"]
    assert found.columns["c"].levels == ["False", "True"]
    assert found.columns["d"].are_dates


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, uninstall):
    path = tmp_path / "data.parquet"
    path.write_bytes(b"PAR1....PAR1")
    uninstall("pyarrow")
    with pytest.raises(TableError, match="pip install pyarrow"):
        read_table(path)


def test_integers_with_gaps_and_beyond_53_bits_in_parquet(tmp_path):
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "data.parquet"
    columns = {"zip": [1, 20, None], "big": [2**60 + 1, 2, 3], "part": [1.0, 2.5, None]}
    parquet.write_table(pyarrow.table(columns), path)
    found = read_table(path, as_text=["zip"])
    assert values(found)["zip"] == ["1", "20", None]
    assert values(read_table(path, as_text=["part"]))["part"] == ["1", "2.5", None]
    assert values(found)["big"][0] == float(2**60)
    assert values(read_table(path, as_text=["big"]))["big"][0] == str(2**60 + 1)


def test_a_blank_line_is_a_row_where_there_is_one_column(table):
    np.testing.assert_array_equal(
        values(table("x\n5.25\n\n-1\n"))["x"], [5.25, np.nan, -1]
    )
    assert values(table("x,y\n1,2\n\n3,4\n")) == {"x": [1, 3], "y": [2, 4]}


def test_a_very_long_cell(table):
    found = table(f"x,t\n1,{'a' * 140_000}\n2,b\n")
    assert values(found)["x"] == [1, 2]


@pytest.mark.parametrize(
    "text", ["Size, cm;y\n1,75;0\n1,80;1\n", "a, cm;b, kg;y\n1,75;80,5;0\n1,8;70,5;1\n"]
)
def test_commas_in_names_and_numbers_separate_nothing(table, text):
    assert table(text).names[-1] == "y"


def test_files_that_unpack_to_far_more_are_rejected(tmp_path, little_unpacked):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n" + b"1,0\n" * 2**20))
    with pytest.raises(TableError, match="unpacks to more than 200 times"):
        read_table(path)
    path.write_bytes(gzip.compress(b"x,y\n" + b"1,0\n" * 2**10))
    assert read_table(path).n_rows == 2**10


def test_long_names_of_digits_and_names_to_compare(table):
    """An algorithm quadratic or worse in these would hang."""
    name = "1" * 100_000
    found = table(f"{name}x,y\n1,2\n")
    with pytest.raises(TableError, match="no column"):
        found.column("".join(chr(256 + k % 120) for k in range(40_000)), "it")
    assert "did you mean 'y'" in _error(found, "Y")


def _error(found, name):
    with pytest.raises(TableError) as caught:
        found.column(name, "it")
    return str(caught.value)


def parquet_file(path, columns, **options):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path, **options)
    return path


@pytest.mark.parametrize(
    "columns",
    [
        {f"c{j}": np.zeros(10**4) for j in range(40)},
        {"a": ["x" * 10**4] * 300, "b": [f"{k}" * 10**4 for k in range(300)]},
    ],
)
def test_parquet_may_not_unpack_to_far_more_than_its_length(
    tmp_path, columns, little_unpacked
):
    path = parquet_file(tmp_path / "a.parquet", columns, compression="zstd")
    with pytest.raises(TableError, match="unpacks to more than 200 times its size"):
        read_table(path)
    # Only what is needed counts.
    found = read_table(path, only=[next(iter(columns))])
    assert found.n_rows == len(next(iter(columns.values())))


def test_long_strings_that_repeat_are_in_memory_once(tmp_path):
    path = parquet_file(tmp_path / "a.parquet", {"a": ["x" * 10**5, "y"] * 500})
    assert [len(one) for one in read_table(path).columns["a"].levels] == [10**5, 1]


def test_parquet_columns_without_single_values_are_unusable(tmp_path):
    path = parquet_file(
        tmp_path / "a.parquet",
        {"a": [1.0, 2.0], "l": [[1], [2]], "s": [{"x": 1}] * 2, "y": [0, 1]},
    )
    table = read_table(path)
    plan = make_plan(table, "y")
    assert list(plan.kinds) == ["a"]
    reasons = dict(plan.dropped)
    assert reasons["l"].startswith("its cells are no single values (list")
    assert "struct" in reasons["s"]
    for asked in ({"keep": ["l"]}, {"categorical": ["s"]}):
        with pytest.raises(TableError, match="cannot be used: its cells are"):
            make_plan(table, "y", **asked)
    with pytest.raises(TableError, match=r"column 'l' of a\.parquet cannot"):
        find_target(table, "l")


def test_damaged_parquet_is_an_error(tmp_path):
    path = parquet_file(tmp_path / "a.parquet", {"a": np.arange(100.0)})
    content = path.read_bytes()
    for at in range(4, len(content), 7):
        path.write_bytes(content[:at] + b"\xff\xff\xff" + content[at + 3 :])
        with contextlib.suppress(TableError):
            read_table(path)


def test_names_are_stripped_like_cells(table):
    found = table(" a\t,\u2003b\u3000,\u00a0c\nx\u2003,2,3\n")
    assert found.names == ["a", "\u2003b\u3000", "c"]
    assert found.columns["a"].levels == ["x\u2003"]


def test_a_short_file_may_not_have_very_many_columns(table):
    n = 100_000
    header, row = "a" + ",b" * (n - 1), "1" + ",2" * (n - 1)
    content = f"{header}\n{row}\n"
    for packed in (content.encode(), gzip.compress(content.encode())):
        with pytest.raises(TableError, match=r"a row of 100,000 cells, but its length"):
            table(packed)
    # Separators in quotes do not count, and many rows make a file long.
    quoted = '"' + "," * n + '"'
    assert table(f"a,b\n{quoted},2\n").n_rows == 1


@pytest.mark.parametrize("cells", ["1.5 inf 2", "-Infinity 1,5 3,25", "INF +inf 1"])
def test_infinite_cells_are_missing_in_columns_that_must_be_numbers(table, cells):
    rules = FormatRules(columns={"a": FormatRule(is_number=True)})
    rows = "".join(f"{one};x\n" for one in cells.split())
    found = table(f"a;b\n{rows}", formats=rules).columns["a"]
    assert isinstance(found, Numbers)
    known = np.abs(found.values) <= 1e100
    assert known.tolist() == ["inf" not in one.lower() for one in cells.split()]


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1.5,x\n.,y\n-2,z\n",
        "a;b\n1,5;x\n.;y\n-2;z\n",
        "a;b\n1,5;x\n . ;y\n-2;z\n",
        "a,b\n1.5,x\n.,y\nNA,v\n-2,z\n",
    ],
)
def test_a_lone_point_among_numbers_is_a_missing_value(table, content):
    """As SAS and Stata write it."""
    found = table(content)
    column = values(found)["a"]
    assert column[0] == 1.5
    assert column[-1] == -2
    assert np.isnan(column[1:-1]).all()
    assert any("lone '.'" in one and "'a'" in one for one in found.remarks)


def test_a_lone_point_among_texts_is_a_text(table):
    found = table("a,b,c\n1,p,1\n2,.,2\n3,q,.\n", as_text={"c"})
    assert values(found)["b"] == ["p", ".", "q"]
    assert values(found)["c"] == ["1", "2", "."]
    assert not any("lone" in one for one in found.remarks)


def test_lone_points_alone_are_an_empty_column(table):
    assert np.isnan(values(table("a,b\n.,1\n.,2\n"))["a"]).all()
    known = FormatRules(columns={"a": FormatRule(is_number=True)})
    assert np.isnan(values(table("a,b\n.,1\n.,2\n", formats=known))["a"]).all()


def test_codes_with_zeros_stay_codes_beside_lone_points(table):
    assert values(table("a,b\n007,1\n.,2\n012,3\n"))["a"] == ["007", None, "012"]


def test_lone_points_are_found_in_any_chunk(table, small_chunks):
    rows = [f"{k + 0.5},{k}" for k in range(500)]
    rows[450] = ".,450"
    column = values(table("a,b\n" + "\n".join(rows) + "\n"))["a"]
    assert np.flatnonzero(np.isnan(column)).tolist() == [450]
    assert column[451] == 451.5
