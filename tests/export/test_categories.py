"""Which strings mean the same category."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frugalsvm import PortableModel
from frugalsvm.export import Feature, InvalidModel
from frugalsvm.export.lookups import MISSING_WORDS, Spelling, is_written_differently

LEVELS = st.lists(
    st.text("0.1-5eTrue", max_size=6) | st.sampled_from(["True", "False", "true"]),
    unique=True,
    max_size=4,
)


def is_meant(text, forms):
    return text in forms.texts or text.rstrip("0") in forms.stems


@given(LEVELS, st.text("0.1-5", max_size=8) | st.sampled_from(["TRUE", "red"]))
def test_forms_are_the_strings_with_the_same_key(levels, text):
    spelling = Spelling(levels)
    for level in levels:
        same = spelling.key(text) == spelling.key(level)
        assert is_meant(text, spelling.forms(level)) == same
    assert len({spelling.key(one) for one in levels}) == len(levels)


def test_numbers_are_the_same_however_they_are_written_but_codes_differ():
    spelling = Spelling(["1", "2.50", "0", "007", "v1"])
    same = {"1.0": "1", "1.": "1", "2.5": "2.50", "-0.0": "0", "v1": "v1"}
    for text, level in same.items():
        assert spelling.key(text) == spelling.key(level)
    for text, level in {"01": "1", "7": "007", "10": "1", "v1.0": "v1"}.items():
        assert spelling.key(text) != spelling.key(level)


def test_categories_of_a_model_are_never_merged():
    assert Spelling(["1", "1.0"]).forms("1") == (("1",), ())
    assert Spelling(["True", "TRUE"]).forms("True") == (("True",), ())


def test_truth_values_may_be_ones_and_zeros_unless_there_are_other_categories():
    truths = Spelling(["False", "True"])
    assert [truths.key(one) for one in ("1", "true", "1.0", "0")] == [
        "True", "True", "True", "False",
    ]  # fmt: skip
    assert Spelling(["True", "no"]).key("1") == "1"


def test_numbers_that_programs_write_differently_are_found():
    found = ["1e+16", "1e-07", "0.30000000000000004", "-0.100000001490116"]
    assert all(map(is_written_differently, found))
    clear = ["9007199254740993", "0.1", "12E7", "2.5", "red", "", "0.12345678901234"]
    assert not any(map(is_written_differently, clear))


def with_preparation(text):
    features = (Feature("c=a", 0, 0.0, 1.0, 1.0),)
    return PortableModel(features, 0.0, (0, 1), 1, metadata={"preparation": text})


@pytest.mark.parametrize(
    "text",
    [
        "how it was made", "[]", '{"columns": [], "features": []}', "[" * 10_000,
        '{"columns": [{"name": 1, "kind": "number", "fill": 0}], "features": ["c=a"]}',
    ],
)  # fmt: skip
def test_a_preparation_that_cannot_be_read_is_an_error(text):
    model = with_preparation(text)
    for export in (model.to_python, model.to_sql):
        with pytest.raises(InvalidModel, match="preparation"):
            export()


def test_exports_of_a_loaded_model_impute_without_the_command_line():
    model = with_preparation(
        '{"columns": [{"name": "c", "kind": "category", "levels": ["b", "a"], '
        '"fill": "a"}], "features": ["c=a"]}'
    )
    code = {}
    exec(model.to_python(), code)
    scores = [code["decision"]({"c": one}) for one in ("a", "b", None, *MISSING_WORDS)]
    assert scores == [1.0, 0.0, 1.0] + [1.0] * len(MISSING_WORDS)
    assert model.decision_function({"c=a": [0.0, float("nan"), 1e120]}).tolist() == [
        0.0, 1.0, 1.0,
    ]  # fmt: skip
    assert re.search(r"ELSE 1\.0E0 END", model.to_sql())


def test_words_that_mean_missing_may_be_categories():
    model = with_preparation(
        '{"columns": [{"name": "c", "kind": "category", "levels": ["NA", "a", "x"], '
        '"fill": null}], "features": ["c=NA", "c=a", "c=x"]}'
    )
    code = {}
    exec(model.to_python(), code)
    found = [code["decision"]({"c": one}) for one in ("a", "NA", "null", "other")]
    assert found == [1.0, 0.0, None, 0.0]
    assert "'NA'" not in model.to_sql()


@pytest.mark.parametrize(
    ("dialect", "zeros"),
    [
        ("ansi", ", '0') IN ('1.')"),
        ("mysql", "TRIM(TRAILING '0' FROM "),
        ("sqlserver", "LIKE '1.%' AND "),
    ],
)
def test_zeros_at_the_end_are_skipped_in_each_dialect(dialect, zeros):
    model = with_preparation(
        '{"columns": [{"name": "c", "kind": "category", "levels": ["0", "1"], '
        '"fill": null}], "features": ["c=a"]}'
    )
    text = model.to_sql(dialect=dialect)
    assert zeros in text
    assert "NOT IN ('?', 'NA', " in text
    # An empty string in a list is NULL in Oracle, and nothing is outside such a list.
    assert "''," not in text.split("NOT IN")[1]
