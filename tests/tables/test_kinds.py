import numpy as np
import pytest

from frugalsvm.tables import TableError, kinds, make_plan
from frugalsvm.tables.errors import UnknownColumn
from frugalsvm.tables.kinds import check_missing, check_wanted
from tests.tables.tables import made

N = 60
RNG = np.random.default_rng(0)
USEFUL = RNG.normal(size=N).tolist()
TARGET = ["no", "yes"] * (N // 2)


def reason(values, name="column", **options):
    """Why a column is dropped; None if it is not."""
    plan = make_plan(
        made(**{name: values, "useful": USEFUL, "y": TARGET}), "y", **options
    )
    return dict(plan.dropped).get(name)


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("column", [3.5] * N, "constant"),
        ("column", ["a"] * N, "constant"),
        ("column", [float("nan")] * N, "empty"),
        ("column", list(range(N)), "looks like row"),
        ("column", list(range(1000, 1000 + 3 * N, 3)), "looks like row"),
        ("column", RNG.permutation(N).tolist(), "looks like row"),
        ("column", (500 - 2 * RNG.permutation(N)).tolist(), "looks like row"),
        ("patient_id", RNG.permutation(10 * N)[:N].tolist(), "looks like row"),
        ("patient", RNG.permutation(10 * N)[:N].tolist(), "looks like row"),
        ("column", [f"K{j:04d}" for j in range(N)], "identifiers"),
        ("column", [f"patient {j} is well" for j in range(N)], "free text"),
        ("column", [f"2024-01-{j % 28 + 1:02d}" for j in range(N)], "dates"),
        ("column", [f"{j % 28 + 1}.3.2024" for j in range(N)], "dates"),
        ("column", [f"{j % 12 + 1}/{j % 28 + 1}/24 10:30" for j in range(N)], "dates"),
        ("column", [20240101 + j % 28 for j in range(N)], "dates"),
        ("column", [1e9 + 1e-3 * j for j in range(N)], "hardly varies"),
    ],
)
def test_useless_columns_are_dropped_with_a_reason(name, values, words):
    assert words in reason(values, name)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("column", USEFUL),
        ("column", RNG.permutation(10 * N)[:N].tolist()),
        ("column", [20.0, 21.0, 35.0] * (N // 3)),
        ("column", ["a", "b", "c"] * (N // 3)),
        ("column", ["a", None, "a"] * (N // 3)),
        ("id_of_nothing", [1, 2] * (N // 2)),
        ("paid", RNG.permutation(10 * N)[:N].tolist()),
        ("column", [*range(N - 1), 5]),
        ("column", [10_000_000 + j * j for j in range(N)]),
    ],
)
def test_other_columns_are_used(name, values):
    assert reason(values, name) is None


def test_explicit_settings_override_the_effort():
    ids = list(range(N))
    assert reason(ids, keep=["column"]) is None
    assert reason(USEFUL, exclude=["column"]) == "excluded by --exclude"
    texts = [f"text {j // 2}" for j in range(N)]
    assert "free text" in reason(texts)
    assert reason(texts, categorical=["column"]) is None
    for option in ("exclude", "keep", "categorical"):
        with pytest.raises(UnknownColumn, match="did you mean 'column'"):
            reason(USEFUL, **{option: ["Column"]})


def test_more_categories_than_can_be_told_apart_are_rejected(monkeypatch):
    texts = [f"text {j}" for j in range(N)]
    assert reason(texts, categorical=["column"]) is None
    monkeypatch.setattr(kinds, "MOST_LEVELS", N - 1)
    with pytest.raises(TableError, match=r"60 different values.* 59 .*Merge the rare"):
        reason(texts, categorical=["column"])
    monkeypatch.setattr(kinds, "MOST_CELLS", 30 * N)
    with pytest.raises(TableError, match="at most 30 are allowed"):
        reason(texts, categorical=["column"])
    assert "identifiers" in reason([f"text{j}" for j in range(N)])


def test_an_empty_table_after_dropping_columns_is_an_error():
    with pytest.raises(TableError, match="no usable column"):
        make_plan(made(a=[1.0] * N, y=TARGET), "y")


def test_infinite_and_huge_values_are_errors():
    with pytest.raises(TableError, match=r"1 infinite value;"):
        reason([np.inf, *USEFUL[1:]])
    with pytest.raises(TableError, match="too large"):
        reason([1e60, *USEFUL[1:]])


@pytest.mark.parametrize("value", [np.inf, 1e60])
def test_excluding_a_column_works_as_the_error_suggests(value):
    assert reason([value, *USEFUL[1:]], exclude=["column"]) == "excluded by --exclude"


def test_a_spread_whose_square_underflows_is_dropped():
    """Its scale would be 1, so the feature would not be standardised."""
    tiny = [1e-300 * value for value in USEFUL]
    assert "too little to compute with" in reason(tiny)


def test_missing_values_are_named():
    table = made(a=[np.nan, *USEFUL[1:]], b=[None, *["u", "v"] * 29, "u"], y=TARGET)
    plan = make_plan(table, "y")
    with pytest.raises(TableError, match=r"2 columns .*a \(1\), b \(1\)"):
        check_missing(table, plan)


def test_wanted_columns_must_be_in_use():
    plan = make_plan(made(a=USEFUL, b=[1.0] * N, y=TARGET), "y")
    check_wanted(plan, "--include", ["a"])
    with pytest.raises(TableError, match="dropped: constant"):
        check_wanted(plan, "--include", ["b"])
    with pytest.raises(TableError, match="is the target"):
        check_wanted(plan, "--include", ["y"])
    with pytest.raises(UnknownColumn, match="no column 'c'"):
        check_wanted(plan, "--include", ["c"])
