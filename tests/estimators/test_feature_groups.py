"""Feature groups and signs as users give them."""

import pickle

import numpy as np
import pandas as pd
import pytest

from frugalsvm.estimators.feature_groups import FeatureGroups
from frugalsvm.estimators.feature_names import FeatureNames

NAMES = ["age", "red", "green", "blue", "size"]
COLUMNS = FeatureNames(np.array(NAMES, dtype=object), 5)
UNNAMED = FeatureNames(None, 5)
COLOUR = {"colour": ["red", "green", "blue"]}


def of(groups=None, signs=None, columns=COLUMNS, data=None):
    return FeatureGroups.of(columns, groups, signs, data)


# --- groups --------------------------------------------------------------------------


def test_without_groups_each_column_is_a_feature():
    groups = of()
    assert groups.are_columns
    assert groups.groups is None
    assert groups.n_features == 5
    assert groups.names == NAMES
    assert groups.labels_of(np.array([1, 4])).tolist() == ["red", "size"]
    assert of(columns=UNNAMED).labels_of(np.array([1, 4])).tolist() == [1, 4]
    assert groups.columns_of(np.array([1, 4])).tolist() == [1, 4]
    assert groups.features_of(np.array([0, 1, 0, 0, 1], dtype=bool)).tolist() == [1, 4]


@pytest.mark.parametrize(
    "given",
    [
        COLOUR,
        {"colour": [1, 2, 3]},
        {"colour": [False, True, True, True, False]},
        {"colour": np.array(["blue", "green", "red"])},
        ["age", "colour", "colour", "colour", "size"],
        np.array(["age", "colour", "colour", "colour", "size"]),
        pd.Series(["size", "colour", "colour", "colour", "age"], index=NAMES[::-1]),
    ],
)
def test_ways_to_give_groups(given):
    groups = of(given)
    assert groups.groups.tolist() == [0, 1, 1, 1, 2]
    assert groups.names == ["age", "colour", "size"]
    assert groups.n_features == 3
    assert groups.labels_of(np.array([0, 1])).tolist() == ["age", "colour"]
    assert groups.columns_of(np.array([1, 2])).tolist() == [1, 2, 3, 4]
    assert groups.features_of(np.array([0, 0, 1, 0, 1], dtype=bool)).tolist() == [1, 2]
    assert groups.indices("include", ["size", "colour"]).tolist() == [2, 1]
    assert pickle.loads(pickle.dumps(groups)).names == groups.names


def test_groups_are_numbered_as_their_columns_come():
    groups = of({"last": [4, 0], "first": [2]}, columns=UNNAMED)
    assert groups.groups.tolist() == [0, 1, 2, 3, 0]
    assert groups.names == ["last", "x1", "first", "x3"]
    assert groups.labels_of(np.array([0, 1])).tolist() == ["last", 1]
    assert groups.labels_of(np.array([1, 3])).tolist() == [1, 3]
    assert groups.labels_of(np.array([1, 3])).dtype == np.int64


@pytest.mark.parametrize("given", [[7, 3, 3, 3, 9], [7.0, 3.0, 3.0, 3.0, 9.0]])
def test_numbers_as_labels_are_names(given):
    groups = of(given)
    assert groups.names == ["group 7", "group 3", "group 9"]
    assert groups.labels_of(np.array([0, 1])).tolist() == [7, 3]
    assert groups.indices("include", [3, 9]).tolist() == [1, 2]
    # Names are those of columns.
    assert groups.indices("include", ["age"]).tolist() == [0]
    assert groups.costs({7: 1.0, 3: 2.0, 9: 3.0}) == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="include has 1, but the groups are 7, 3, 9"):
        groups.indices("include", [1])


def test_a_column_is_in_one_group():
    with pytest.raises(ValueError, match="'red' in two groups, 'colour' and 'b'"):
        of({**COLOUR, "b": ["age", "red"]})
    # Twice in the same one does no harm.
    assert of({"a": ["age", "age", "red"]}).groups.tolist() == [0, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("onehot", "'auto' or None, got 'onehot'"),
        ([1, 2], r"one label per column of X \(5\), got 2"),
        (np.zeros((5, 1)), r"got shape \(5, 1\)"),
        ([True, False, True, True, True], "has the label True for column 'age'"),
        (["a", "b", None, "c", "d"], "has the label None for column 'green'"),
        ([1.0, 2.5, 1.0, 1.0, 1.0], "has the label 2.5 for column 'red'"),
        ([0.0, np.nan, 0.0, 0.0, 0.0], "has the label nan for column 'red'"),
        (["a", 1, "a", "a", "a"], "names and numbers as labels"),
        ({"colour": "red"}, "maps names of groups to lists"),
        ({"red": "colour"}, "maps names of groups to lists"),
        ({"colour": []}, r"feature_groups\['colour'\] has no columns"),
        ({"colour": ["red", "gren"]}, "unknown feature 'gren'; did you mean 'green'"),
        ({"colour": [5]}, r"feature_groups\['colour'\] has feature 5, but X has 5"),
        ({1: [0, 1]}, "has the name 1; names of groups are strings"),
        (pd.Series({"age": 1, "red": 2}), "no entry for 'green', 'blue', 'size'"),
    ],
)
def test_groups_that_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        of(given)


# --- features ------------------------------------------------------------------------


def test_features_are_named_by_group_or_by_a_column_on_its_own():
    groups = of(COLOUR)
    for given in (["age"], [0], [True, False, False, False, False]):
        assert groups.indices("include", given).tolist() == [0]
    for given in (["colour"], np.array([False, True, True, True, False])):
        assert groups.indices("exclude", given).tolist() == [1]
    assert groups.indices("include", None).tolist() == []
    assert groups.indices("include", ()).tolist() == []
    assert groups.indices("include", [4]).tolist() == [2]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["red"], "'red', which is one of the 3 columns of the group 'colour'"),
        ([2], "'green', which is one of the 3 columns of the group 'colour'"),
        (["color"], "unknown feature 'color'; did you mean 'colour'"),
        (["weight"], "the features are 'age', 'colour', 'size'"),
        ("colour", "must be a list of names of groups or columns"),
        (
            [True, True, False, False, True],
            "part of the group 'colour' only: 'green'",
        ),
        ([1.5], "must hold feature indices or names"),
        ([5], "has feature 5"),
    ],
)
def test_features_that_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        of(COLOUR).indices("include", given)


def test_a_group_named_like_a_column_outside_it_is_ambiguous():
    groups = of({"age": ["red", "green"]})
    with pytest.raises(ValueError, match="name of a group and of a column outside it"):
        groups.indices("include", ["age"])
    # In the group it is not.
    assert of({"red": ["red", "green"]}).indices("include", ["red"]).tolist() == [1]


def test_columns_of_the_same_name_are_features_by_index():
    columns = FeatureNames(np.array(["a", "b", "a", "c"], dtype=object), 4)
    groups = of({"bc": ["b", "c"]}, columns=columns)
    assert groups.groups.tolist() == [0, 1, 2, 1]
    assert groups.indices("include", [2]).tolist() == [2]
    with pytest.raises(ValueError, match="several columns of that name"):
        groups.indices("include", ["a"])


def test_costs_are_those_of_groups():
    groups = of(COLOUR)
    by_name = {"size": 5.0, "colour": 3.0, "age": 1.0}
    assert groups.costs(by_name) == [1.0, 3.0, 5.0]
    assert groups.costs(pd.Series(by_name)) == [1.0, 3.0, 5.0]
    assert groups.costs([1.0, 3.0, 5.0]) == [1.0, 3.0, 5.0]
    assert groups.costs(None) is None
    # Without names, columns have numbers.
    unnamed = of({"colour": [1, 2, 3]}, columns=UNNAMED)
    assert unnamed.costs({0: 1.0, "colour": 3.0, 4: 5.0}) == [1.0, 3.0, 5.0]


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([1.0] * 5, r"one entry per feature \(3, with feature_groups\), got 5"),
        ({"age": 1.0, "size": 1.0}, "no entry for 'colour'"),
        ({"age": 1.0, "red": 1.0}, "one of the 3 columns of the group 'colour'"),
        ({"age": 1, 0: 1, "colour": 1, "size": 1}, "two costs for 'age'"),
    ],
)
def test_costs_that_are_refused(costs, words):
    with pytest.raises(ValueError, match=words):
        of(COLOUR).costs(costs)


def test_constraints_are_what_a_problem_takes():
    groups = of(COLOUR, {"age": "+"})
    found = groups.constraints(None, None, ["colour"], ["size"], stacklevel=2)
    assert found["feature_groups"].tolist() == [0, 1, 1, 1, 2]
    assert found["signs"].tolist() == [1, 0, 0, 0, 0]
    assert found["include"].tolist() == [1]
    assert found["exclude"].tolist() == [2]
    with pytest.warns(UserWarning, match="limits nothing") as warned:
        groups.constraints([1, 2, 3], None, None, None, stacklevel=2)
    assert warned[0].filename == __file__


# --- signs ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"age": "+", "size": "-"},
        {"age": 1, "size": -1, "red": 0},
        {0: "+", 4: -1.0},
        pd.Series({"size": "-", "age": "+"}),
        [1, 0, 0, 0, -1],
        np.array([1.0, 0.0, 0.0, 0.0, -1.0]),
        ["+", 0, "0", 0, "-"],
    ],
)
@pytest.mark.parametrize("groups", [None, COLOUR, [5, 6, 6, 6, 7]])
def test_ways_to_give_signs(given, groups):
    signs = of(groups, given).signs
    assert signs.tolist() == [1, 0, 0, 0, -1]
    assert signs.dtype == np.int8


def test_without_signs_weights_are_free():
    assert of(COLOUR).signs is None


def test_columns_of_a_group_have_signs_of_their_own():
    assert of(COLOUR, {"red": "+", "blue": "-"}).signs.tolist() == [0, 1, 0, -1, 0]
    # A group of one column is that column.
    one = of({"years": ["age"], **COLOUR}, {"years": "+"})
    assert one.signs.tolist() == [1, 0, 0, 0, 0]
    assert of({"age": ["age"]}, {"age": "-"}).signs.tolist() == [-1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("groups", "signs", "words"),
    [
        (COLOUR, {"colour": "+"}, r"'\+' for 'colour', a group of 3 .*\{'red': '\+'\}"),
        (COLOUR, {"agee": "+"}, "unknown feature 'agee'; did you mean 'age'"),
        (COLOUR, {"age": "up"}, r"'up' for column 'age'; a sign is '\+' or 1"),
        (None, {"age": 2}, "has 2 for column 'age'"),
        (None, {"age": True}, "has True for column 'age'"),
        (None, [1, 0, 0, 0, np.nan], "has nan for column 4"),
        (COLOUR, [1, 0, 0], r"one entry per column of X \(5\), got 3"),
        (None, "+", r"one entry per column of X \(5\), got '\+'"),
        (None, {7: "+"}, "signs has feature 7, but X has 5"),
        ({"red": ["red", "blue"]}, {"red": "+"}, "name of a group and of a column"),
        ({"age": ["red"]}, {"age": "+"}, "the index of the column, 0"),
    ],
)
def test_signs_that_are_refused(groups, signs, words):
    with pytest.raises(ValueError, match=words):
        of(groups, signs)
