"""Groups of encoded columns, from fitted encoders and from names."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from frugalsvm import encoded_groups
from frugalsvm.estimators.encoded_columns import groups_by_name
from frugalsvm.estimators.feature_groups import FeatureGroups
from frugalsvm.estimators.feature_names import FeatureNames


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 60
    return pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "colour": rng.choice(["red", "dark_green", "blue"], n),
            "income": rng.normal(size=n),
            "sex": rng.choice(["f", "m"], n),
            "big_town": rng.integers(0, 2, n),
        }
    )


CATEGORIES = ["colour", "sex"]
NUMBERS = ["age", "income", "big_town"]


def encoder(**options):
    return OneHotEncoder(sparse_output=False, **options)


def by_name(frame):
    return groups_by_name(FeatureNames.of(frame), frame)


# --- fitted encoders -----------------------------------------------------------------


def test_an_encoder_says_which_variable_is_behind_a_column(table):
    fitted = encoder().fit(table[CATEGORIES])
    assert encoded_groups(fitted) == ["colour"] * 3 + ["sex"] * 2
    unnamed = encoder().fit(table[CATEGORIES].to_numpy())
    assert encoded_groups(unnamed) == ["x0"] * 3 + ["x1"] * 2


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"drop": "first"}, [2, 1]),
        ({"drop": "if_binary"}, [3, 1]),
        ({"max_categories": 2}, [2, 2]),
        ({"max_categories": 2, "drop": "first"}, [1, 1]),
        ({"min_frequency": 1000, "handle_unknown": "infrequent_if_exist"}, [1, 1]),
        ({"drop": ["red", "m"]}, [2, 1]),
        ({"categories": [["blue", "dark_green", "red", "x"], ["f", "m"]]}, [4, 2]),
    ],
)
def test_options_of_encoders(table, options, sizes):
    fitted = encoder(**options).fit(table[CATEGORIES])
    groups = encoded_groups(fitted)
    assert [groups.count(name) for name in CATEGORIES] == sizes
    assert len(groups) == fitted.transform(table[CATEGORIES]).shape[1]


def test_bins_of_a_number_are_one_variable(table):
    for encode, size in (("onehot-dense", 4), ("ordinal", 1)):
        binned = KBinsDiscretizer(4, encode=encode, quantile_method="linear")
        groups = encoded_groups(binned.fit(table[["age", "income"]]))
        assert groups == ["age"] * size + ["income"] * size


MASK = [False, True, False, True, False]
IMPUTER = SimpleImputer(strategy="most_frequent")
PARTS = [
    [("cat", encoder(), CATEGORIES), ("num", StandardScaler(), NUMBERS)],
    [("num", StandardScaler(), [0, 2, 4]), ("cat", encoder(), [1, 3])],
    [("num", "passthrough", slice("age", "colour")), ("cat", encoder(), ["sex"])],
    [("num", "passthrough", slice(0, 1)), ("cat", encoder(), slice(3, 4))],
    [
        ("num", "drop", ["income"]),
        ("cat", encoder(), [False, True, False, True, False]),
    ],
    [
        (
            "cat",
            make_pipeline(SimpleImputer(strategy="most_frequent"), encoder()),
            ["sex"],
        )
    ],
    [("cat", encoder(), lambda X: list(X.select_dtypes(["object", "string"])))],
    [("one", StandardScaler(), ["age"]), ("none", encoder(), [])],
]


@pytest.mark.parametrize("remainder", ["drop", "passthrough"])
@pytest.mark.parametrize("parts", PARTS)
def test_column_transformers(table, parts, remainder):
    fitted = ColumnTransformer(parts, remainder=remainder).fit(table)
    groups = encoded_groups(fitted)
    names = [one.split("__", 1)[1] for one in fitted.get_feature_names_out()]
    assert len(groups) == len(names)
    for group, name in zip(groups, names, strict=True):
        assert name == group or name.startswith(f"{group}_")


def test_pipelines_of_steps(table):
    made = make_pipeline(
        make_column_transformer((encoder(), CATEGORIES), remainder="passthrough"),
        VarianceThreshold(),
        StandardScaler(),
        FunctionTransformer(),
        SelectKBest(k=6),
    )
    y = table["age"] > 40
    fitted = made.fit(table, y)
    groups = encoded_groups(fitted)
    kept = fitted[-1].get_support()
    names = np.array(["colour"] * 3 + ["sex"] * 2 + NUMBERS)
    assert groups == names[kept].tolist()
    # A column that is missing everywhere is dropped.
    table["empty"] = np.nan
    filled = SimpleImputer().fit(table[["age", "empty", "income"]])
    assert encoded_groups(filled) == ["age", "income"]


def test_steps_that_mix_columns_are_refused(table):
    for mixed in (PCA(2), PolynomialFeatures()):
        with pytest.raises(ValueError, match=f"cannot tell .* {type(mixed).__name__}"):
            encoded_groups(mixed.fit(table[NUMBERS]))
    with pytest.raises(ValueError, match="OneHotEncoder is not fitted"):
        encoded_groups(encoder())


# --- names ---------------------------------------------------------------------------


@pytest.mark.parametrize("verbose", [True, False])
@pytest.mark.parametrize("scaled", [True, False])
def test_names_of_encoders_are_read(table, verbose, scaled):
    made = make_column_transformer(
        (encoder(), CATEGORIES),
        remainder="passthrough",
        verbose_feature_names_out=verbose,
    ).set_output(transform="pandas")
    if scaled:
        made = make_pipeline(made, StandardScaler().set_output(transform="pandas"))
    frame = made.fit_transform(table)
    found = by_name(frame)
    assert found == {"colour": [0, 1, 2], "sex": [3, 4]}
    sparse = sp.csr_array(frame.to_numpy())
    assert groups_by_name(FeatureNames.of(frame), sparse) == found
    groups = FeatureGroups.of(FeatureNames.of(frame), "auto", None, frame.to_numpy())
    assert groups.names[:2] == ["colour", "sex"]
    assert groups.groups.tolist() == [0, 0, 0, 1, 1, 2, 3, 4]


def test_numbers_of_similar_names_are_no_group():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(30, 3))
    names = ["worst_radius", "worst_texture", "mean_radius"]
    assert by_name(pd.DataFrame(numbers, columns=names)) == {}
    # 0/1 columns that are 1 together are no code.
    both = pd.DataFrame((numbers > 0).astype(float), columns=["has_a", "has_b", "c_d"])
    assert by_name(both) == {}


def test_a_category_that_does_not_occur_belongs_to_its_variable():
    frame = pd.DataFrame({"s_f": [0, 1, 1], "s_m": [1, 0, 0], "s_x": [0, 0, 0]})
    assert by_name(frame) == {"s": [0, 1, 2]}
    alone = pd.DataFrame({"s_f": [0, 1, 1], "s_x": [0, 0, 0]})
    assert by_name(alone) == {}


def test_two_transformers_may_have_a_variable_of_the_same_name():
    one, two = np.eye(2)[[1, 0, 0]], np.eye(2)[[0, 0, 1]]
    names = ["a__s_f", "a__s_m", "b__s_f", "b__s_m"]
    frame = pd.DataFrame(np.hstack([one, two]), columns=names)
    assert by_name(frame) == {"a__s": [0, 1], "b__s": [2, 3]}


def test_levels_with_underscores():
    rows = np.eye(3)[[0, 1, 2, 1]]
    names = ["cat__x_light_red", "cat__x_dark_red", "cat__x_dark_blue"]
    assert by_name(pd.DataFrame(rows, columns=names)) == {"x": [0, 1, 2]}
    # The same columns in any reading: the longest name.
    names = ["x_dark_red", "x_dark_blue", "x_dark_green"]
    assert by_name(pd.DataFrame(rows, columns=names)) == {"x_dark": [0, 1, 2]}


def test_ambiguous_names_are_refused_with_both_readings():
    # The code of x, or of x_dark besides a category of x that never occurs.
    frame = pd.DataFrame(
        {"x_dark_red": [0, 1, 1], "x_dark_blue": [1, 0, 0], "x_light": [0, 0, 0]}
    )
    words = "'x_dark_red' in two ways: as category 'dark_red' of 'x' .*'x_light'"
    with pytest.raises(ValueError, match=words) as caught:
        by_name(frame)
    assert "or as category 'red' of 'x_dark' (with 'x_dark_blue')" in str(caught.value)
    assert "encoded_groups(encoder)" in str(caught.value)


def test_codes_with_a_category_left_out_are_refused():
    frame = pd.DataFrame({"s_f": [0, 1, 0, 0], "s_m": [1, 0, 0, 0], "n": range(4)})
    words = "'s_f' in two ways: as category 'f' of 's' .* or as a feature of its own"
    with pytest.raises(ValueError, match=words):
        by_name(frame)


def test_without_names_or_data_there_is_nothing_to_read():
    X = np.eye(3)
    with pytest.raises(ValueError, match=r"X has none.*set_output"):
        groups_by_name(FeatureNames.of(X), X)
    names = FeatureNames(np.array(["a_b", "a_c"], dtype=object), 2)
    with pytest.raises(ValueError, match="needs data in memory"):
        groups_by_name(names, object())
