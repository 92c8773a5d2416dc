import json

import numpy as np
import pytest

from frugalsvm.run.words import different
from frugalsvm.tables import Preparation, TableError, make_plan
from frugalsvm.tables.prepared_columns import STANDARD_TOL, deviation, moments
from tests.tables.tables import made

N = 12
NAN = float("nan")
TARGET = [0, 1] * (N // 2)
NUMBERS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.5]
COLOURS = ["red", "green", "blue"] * (N // 3)
SEX = ["f", "m", "m"] * (N // 3)


@pytest.fixture
def table():
    return made(number=NUMBERS, colour=COLOURS, sex=SEX, y=TARGET)


def prepared(table, **options):
    return Preparation.fit(table, make_plan(table, "y"), (0, 1), **options)


def test_columns_become_standardised_features(table):
    preparation = prepared(table)
    assert preparation.features == (
        "number", "colour=blue", "colour=green", "colour=red", "sex=m",
    )  # fmt: skip
    raw = preparation.values(table)
    np.testing.assert_array_equal(
        raw[:3, 1:], [[0, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1]]
    )
    X = preparation.transform(table)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-15)
    # The categories of a column have variance 1 together, and a common scale.
    variances = X.var(axis=0)
    np.testing.assert_allclose([variances[0], variances[1:4].sum(), variances[4]], 1)
    assert len(set(preparation.scales[1:4].tolist())) == 1
    np.testing.assert_array_equal(X, (raw - preparation.means) / preparation.scales)
    assert X.flags.f_contiguous
    assert preparation.check_standard(table) < 1e-14
    assert preparation.of_variable("colour") == [1, 2, 3]


def test_only_the_rows_given_are_learned_from(table):
    rows = np.array([0, 1, 3, 4, 6, 7])
    preparation = prepared(table, rows=rows)
    assert "colour=blue" not in preparation.features
    X = preparation.transform(table, rows)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_array_equal(preparation.transform(table)[rows], X)


def test_missing_values_are_imputed_from_the_training_rows():
    numbers, colours = [NAN, *NUMBERS[1:]], [None, *COLOURS[1:]]
    table = made(number=numbers, colour=colours, sex=SEX, y=TARGET)
    with pytest.raises(TableError, match="'number' has 1 missing value"):
        prepared(table).transform(table)
    preparation = prepared(table, missing="median")
    raw = preparation.values(table)
    assert raw[0, 0] == np.median(NUMBERS[1:])
    # Blue and green are the most frequent ones; the first of them counts.
    assert raw[0, 1:4].tolist() == [1, 0, 0]
    part = prepared(table, missing="median", rows=np.arange(1, 6))
    assert part.columns[0].fill == np.median(NUMBERS[1:6])


def test_new_tables(table):
    preparation = prepared(table)
    new = made(sex=["m"], colour=["purple"], extra=[1.0], number=[4.0])
    assert preparation.values(new)[0].tolist() == [4, 0, 0, 0, 1]
    ((name, levels),) = preparation.unknown(new).items()
    assert (name, [*levels]) == ("colour", ["purple"])
    assert levels["purple"].size == 1
    with pytest.raises(TableError, match="has no columns 'colour', 'sex'"):
        preparation.values(made(number=[1.0]))
    with pytest.raises(TableError, match=r"row 2 has 'many'"):
        preparation.values(
            made(sex=["m", "f"], colour=["red"] * 2, number=["1", "many"])
        )
    with pytest.raises(TableError, match="missing"):
        preparation.values(made(sex=["m"], colour=["red"], number=[NAN]))


def test_numbers_may_stand_for_categories():
    table = made(code=["1", "2", "A"] * 4, number=NUMBERS, y=TARGET)
    preparation = prepared(table)
    new = made(code=[2.0, 1.0, NAN], number=[1.0, 2.0, 3.0])
    with pytest.raises(TableError, match="missing"):
        preparation.values(new)
    new = made(code=[2.0, 1.0, 10.0], number=[1.0, 2.0, 3.0])
    assert preparation.values(new)[:, :3].tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_json_keeps_every_bit(table):
    preparation = prepared(table, missing="median")
    again = Preparation.from_json(preparation.to_json())
    np.testing.assert_array_equal(again.means, preparation.means)
    np.testing.assert_array_equal(again.transform(table), preparation.transform(table))
    assert again.to_json() == preparation.to_json()
    assert again.columns == preparation.columns


@pytest.mark.parametrize(
    "change",
    [
        {"scales": [0.0] * 5},
        {"scales": [1.0]},
        {"means": ["1"] * 5},
        {"means": [True] * 5},
        {"means": [10**400] * 5},
        {"features": ["a"] * 5},
        {"classes": [1, 1]},
        {"classes": [0, "1"]},
        {"classes": [[], {}]},
        {"target": "number"},
        {"target": None},
        {"columns": 3},
        {"columns": [{"name": "number", "kind": "magic", "fill": None}]},
        {"columns": [{"name": "number", "kind": "number", "fill": "x"}]},
    ],
)
def test_untrusted_json_is_checked(table, change):
    content = json.loads(prepared(table).to_json()) | change
    with pytest.raises(TableError, match="preparation"):
        Preparation.from_json(json.dumps(content))


@pytest.mark.parametrize("text", ["", "{}", "[]", "3", "[" * 10_000])
def test_invalid_json_is_rejected(text):
    with pytest.raises(TableError, match="preparation"):
        Preparation.from_json(text)


def test_wrong_means_and_scales_are_noticed(table):
    content = json.loads(prepared(table).to_json())
    for name in ("means", "scales"):
        wrong = [one * (1 + 1e-7) for one in content[name]]
        forged = Preparation.from_json(json.dumps(content | {name: wrong}))
        with pytest.raises(TableError, match="do not standardise"):
            forged.check_standard(table)


def test_categories_have_a_common_scale(table):
    content = json.loads(prepared(table).to_json())
    each = prepared(table).values(table).std(axis=0)
    # Variance 1 each, or together.
    shares = np.array([0.5, 0.3, 0.2])
    for scales in (each, [each[0], *(each[1:4] / np.sqrt(shares)), each[4]]):
        wrong = content | {"scales": list(scales)}
        forged = Preparation.from_json(json.dumps(wrong))
        with pytest.raises(TableError, match="scales of 'colour' do not standardise"):
            forged.check_standard(table)


@pytest.mark.parametrize(
    ("mean", "scale", "is_standard"),
    [(0.1, 1.0, True), (0.1, 2.0, False), (0.2, 1.0, False), (np.nan, 1.0, False),
     (1e300, 1e300, False), (0.0, 1e-300, False)],
)  # fmt: skip
def test_constants_have_scale_1(mean, scale, is_standard):
    with np.errstate(all="ignore"):
        off = deviation([np.full(7, 0.1)], [mean], [scale], False)
    assert (off <= STANDARD_TOL) == is_standard


def test_means_may_have_a_rounding_error():
    rng = np.random.default_rng(0)
    values = 1e15 + np.round(rng.normal(size=1000) * 1e6)
    mean, scale = moments(values)
    assert deviation([values], [mean], [scale], False) <= STANDARD_TOL
    assert deviation([values], [mean + 0.01 * scale], [scale], False) > 0.009
    assert deviation([values], [mean], [scale * (1 + 1e-7)], False) > 1e-7


def test_a_category_that_a_fold_has_not_is_constant(table):
    rows = np.flatnonzero(np.array(COLOURS) == "red")
    preparation = prepared(table, rows=rows)
    place = preparation.features.index("colour=red")
    assert preparation.means[place] == preparation.scales[place] == 1.0
    assert not preparation.transform(table, rows)[:, place].any()


def test_restricted_to_what_features_need(table):
    preparation = prepared(table)
    small = preparation.restricted([2])
    assert small.features == ("colour=blue", "colour=green", "colour=red")
    np.testing.assert_array_equal(
        small.transform(table), preparation.transform(table)[:, 1:4]
    )


def test_equal_names_are_told_apart():
    names = {"colour=red": NUMBERS, "colour": COLOURS, "y": TARGET}
    preparation = prepared(made(**names))
    assert len(set(preparation.features)) == preparation.n_features
    assert "colour=red (2)" in preparation.features


def in_turn(names):
    """Names made unique by trying all numbers for each."""
    seen, result = set(), []
    for name in names:
        new, k = name, 2
        while new in seen or (new != name and new in names):
            new, k = f"{name} ({k})", k + 1
        seen.add(new)
        result.append(new)
    return result


def test_numbers_behind_equal_names_are_the_first_that_are_free():
    rng = np.random.default_rng(0)
    words = ["a", "b", "a (2)", "a (3)", "a (2) (2)", "b (2)"]
    for _ in range(200):
        names = rng.choice(words, rng.integers(1, 12)).tolist()
        assert different(names) == in_turn(names)


def test_many_equal_names_take_no_longer_than_others():
    """Trying all numbers for each of them would take hours."""
    n = 300_000
    names = different(["a"] * n + [f"a ({k})" for k in range(2, n)])
    assert len(set(names)) == len(names)
    assert names[1] == f"a ({n})"


def content_with(columns, features):
    return json.dumps({
        "columns": columns, "features": features, "means": [0.0] * len(features),
        "scales": [1.0] * len(features), "target": "y", "classes": [0, 1],
    })  # fmt: skip


def test_stored_words_must_mean_a_missing_value():
    column = {"name": "c", "kind": "category", "levels": ["a", "b"], "fill": None}
    known = Preparation.from_json(content_with([column | {"words": ["NA"]}], ["c=b"]))
    assert known.not_missing == {"c": ("NA",)}
    for words in (["x"], ["NA", 3], 3, [["NA"]]):
        with pytest.raises(TableError, match="preparation"):
            Preparation.from_json(content_with([column | {"words": words}], ["c=b"]))


def test_many_columns_of_one_name_are_rejected():
    column = {"name": "a", "kind": "number", "fill": None}
    n = 200_000
    with pytest.raises(TableError, match="a column appears twice"):
        Preparation.from_json(content_with([column] * n, ["a"] * n))


def test_names_are_not_generated_beyond_the_length_of_the_file():
    """For a name of a megabyte with a million categories, they take a terabyte."""
    levels = [str(k) for k in range(30_000)]
    column = {"name": "a" * 30_000, "kind": "category", "levels": levels, "fill": None}
    with pytest.raises(TableError, match="do not match its columns"):
        Preparation.from_json(content_with([column], levels))


@pytest.mark.parametrize(
    "change",
    [
        {"target": ["x" * 10**6]},
        {"features": [["x" * 10**6]]},
        {"means": [["x" * 10**6] * 9]},
        {"classes": [None, {"x" * 10**6: 1}]},
        {"columns": [{"name": "x" * 10**6, "kind": ["x" * 10**6], "fill": None}]},
        {"columns": [{"name": "x" * 10**6, "kind": "category", "levels": ["a", "a"],
                      "fill": None}]},
        {"columns": [{"name": "x" * 10**6, "kind": "category", "levels": ["a", "b"],
                      "fill": "c"}]},
    ],
)  # fmt: skip
def test_messages_show_little_of_a_long_preparation(table, change):
    content = json.loads(prepared(table).to_json()) | change
    with pytest.raises(TableError, match="preparation") as failure:
        Preparation.from_json(json.dumps(content))
    assert len(str(failure.value)) < 300


def test_moments():
    values = 1e6 + np.arange(10.0)
    mean, scale = moments(values)
    assert (mean, scale) == (1e6 + 4.5, pytest.approx(values.std(), rel=1e-15))
    assert moments(np.full(5, 3.25)) == (3.25, 1.0)
