import pytest

from frugalsvm.tables import TableError, find_target
from frugalsvm.tables.columns import UnknownColumn
from frugalsvm.tables.target import PositiveError, known_target
from tests.tables.tables import made


@pytest.mark.parametrize(
    ("values", "positive", "classes", "mask"),
    [
        (["b", "a", "b"], None, ("a", "b"), [1, 0, 1]),
        (["b", "a", "b"], "a", ("b", "a"), [0, 1, 0]),
        (["ja", "nein", "ja"], None, ("nein", "ja"), [1, 0, 1]),
        (["Ja", "Nei", "Ja"], None, ("Nei", "Ja"), [1, 0, 1]),
        (["evet", "hay\u0131r", "evet"], None, ("hay\u0131r", "evet"), [1, 0, 1]),
        (["да", "нет", "да"], None, ("нет", "да"), [1, 0, 1]),
        (["No", "churned", "No"], None, ("No", "churned"), [0, 1, 0]),
        (["yes", "no", "yes"], None, ("no", "yes"), [1, 0, 1]),
        (["ja", "nein", "ja"], "nein", ("ja", "nein"), [0, 1, 0]),
        (["n", "j", "n"], None, ("n", "j"), [0, 1, 0]),
        ([1, 0, 1], None, (0, 1), [1, 0, 1]),
        ([1, -1, 1], "-1", (1, -1), [0, 1, 0]),
        ([1, 0, 1], "0.0", (1, 0), [0, 1, 0]),
        ([1.5, 0, 1.5], None, (0.0, 1.5), [1, 0, 1]),
    ],
)
def test_classes(values, positive, classes, mask):
    found = find_target(made(y=values), "y", positive)
    assert found.classes == classes
    assert [type(one) for one in found.classes] == [type(one) for one in classes]
    assert found.positive.tolist() == [bool(one) for one in mask]
    assert found.signs.tolist() == [2 * one - 1 for one in mask]
    assert sum(found.counts) == 3
    again = known_target(made(y=values), "y", found.classes)
    assert again.positive.tolist() == found.positive.tolist()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["a", "a"], "only one class"),
        (["a", "b", "c"], "3 classes"),
        (list(range(50)), "50 different values"),
        (["a", None, "b"], "is missing in 1 row of made.csv"),
        ([float("nan")] * 2, "is empty"),
        ([float("inf"), 0.0], "infinite values"),
    ],
)
def test_anything_but_two_classes_is_an_error(values, words):
    with pytest.raises(TableError, match=words):
        find_target(made(y=values), "y")


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        (["a", "b", "c"], "b"),
        ([1, 2, 3], "2"),
        ([1, 2, 3], "2.0"),
        ([0.5, 1.5, 2], "1.5"),
    ],
)
def test_one_class_against_all_others(values, positive):
    found = find_target(made(y=values), "y", positive)
    second = str(values[1])
    assert found.classes == (f"not {second}", second)
    assert found.positive.tolist() == [False, True, False]
    again = known_target(made(y=values), "y", found.classes)
    assert again.positive.tolist() == found.positive.tolist()


def test_unknown_names():
    with pytest.raises(UnknownColumn, match="--target: no column 'z'"):
        find_target(made(y=[0, 1]), "z")
    with pytest.raises(PositiveError, match="its classes are '0', '1'"):
        find_target(made(y=[0, 1]), "y", "2")


def test_hundreds_of_values_are_counted_instead_of_listed():
    table = made(y=list(range(400)))
    with pytest.raises(PositiveError, match="has no class 'yes'; it has 400 diff") as e:
        find_target(table, "y", "yes")
    assert "convert it to a yes/no column" in str(e.value)
    assert len(str(e.value)) < 200
    table = made(y=[f"class {j}" for j in range(15)])
    with pytest.raises(PositiveError, match=r"'class 0', .* and 7 more"):
        find_target(table, "y", "yes")


def test_other_classes_than_those_of_the_model():
    with pytest.raises(TableError, match="has 'c'"):
        known_target(made(y=["a", "c"]), "y", ("a", "b"))
    with pytest.raises(TableError, match="missing values"):
        known_target(made(y=["a", None]), "y", ("a", "b"))


def test_classes_that_doubles_cannot_tell_apart_are_rejected():
    table = made(y=[2.0**53 + 2, 2.0**53 + 4])
    with pytest.raises(TableError, match="beyond 9,007,199,254,740,991"):
        find_target(table, "y")
