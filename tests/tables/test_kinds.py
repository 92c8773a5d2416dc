from dataclasses import replace

import numpy as np
import pytest

from frugalsvm.tables import TableError, kinds, make_plan
from frugalsvm.tables.columns import UnknownColumn
from frugalsvm.tables.kinds import check_missing, check_requested
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
        ("column", list(range(N)), "identifiers"),
        ("column", list(range(1000, 1000 + 3 * N, 3)), "identifiers"),
        ("column", RNG.permutation(N).tolist(), "identifiers"),
        ("column", (500 - 2 * RNG.permutation(N)).tolist(), "identifiers"),
        ("patient_id", RNG.permutation(10 * N)[:N].tolist(), "identifiers"),
        ("patient", RNG.permutation(10 * N)[:N].tolist(), "identifiers"),
        ("customer_number", RNG.permutation(10 * N)[:N].tolist(), "identifiers"),
        ("Fallnummer", RNG.permutation(10 * N)[:N].tolist(), "identifiers"),
        ("Kundennr", RNG.permutation(10 * N)[:N].tolist(), "identifiers"),
        ("row number", RNG.permutation(10 * N)[:N].tolist(), "identifiers"),
        ("index", RNG.permutation(10 * N)[:N].tolist(), "identifiers"),
        ("number", [7 * j + j % 5 for j in range(N)], "identifiers"),
        ("column", [f"K{j:04d}" for j in range(N)], "identifiers"),
        (
            "column",
            [f"patient {j} is well, and has no pain" for j in range(N)],
            "free text",
        ),
        ("column", [f"2024-01-{j % 28 + 1:02d}" for j in range(N)], "dates"),
        ("column", [f"{j % 28 + 1}.3.2024" for j in range(N)], "dates"),
        ("column", [f"{j % 12 + 1}/{j % 28 + 1}/24 10:30" for j in range(N)], "dates"),
        ("column", [20240101 + j % 28 for j in range(N)], "dates"),
        ("column", [f"{j % 28 + 1:02d}Jan2024" for j in range(N)], "dates"),
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
        ("body mass index", RNG.integers(15, 75, N).tolist()),
        ("house_price_index", RNG.permutation(10 * N)[:N].tolist()),
        ("octane number", RNG.permutation(10 * N)[:N].tolist()),
        ("number", RNG.permutation(10 * N)[:N].tolist()),
        ("PSNR", RNG.permutation(10 * N)[:N].tolist()),
        ("NO", RNG.permutation(10 * N)[:N].tolist()),
        ("column", [10_000_000 + j * j for j in range(N)]),
        ("Hausnummer", RNG.permutation(10 * N)[:N].tolist()),
        ("house number", RNG.permutation(10 * N)[:N].tolist()),
        ("patient_age", RNG.permutation(10 * N)[:N].tolist()),
        ("sample_weight", RNG.permutation(10 * N)[:N].tolist()),
        ("number_of_customers", RNG.permutation(10 * N)[:N].tolist()),
        ("user_id_count", [j // 2 for j in range(N)]),
        ("Customers", [j // 3 for j in range(N)]),
        ("sample", (np.arange(N) // 2 + 0.5).tolist()),
        ("subject", ["Maths", "English", "Music"] * (N // 3)),
        ("patient", [j // 3 for j in range(N)]),
    ],
)
def test_other_columns_are_used(name, values):
    assert reason(values, name) is None


def test_explicit_settings_override_the_effort():
    ids = list(range(N))
    assert reason(ids, keep=["column"]) is None
    assert reason(USEFUL, exclude=["column"]) == "excluded by --exclude"
    texts = [f"text {j // 2}" for j in range(N)]
    assert "too many categories" in reason(texts)
    assert reason(texts, categorical=["column"]) is None
    for option in ("exclude", "keep", "categorical"):
        with pytest.raises(UnknownColumn, match="did you mean 'column'"):
            reason(USEFUL, **{option: ["Column"]})


def test_more_categories_than_can_be_told_apart_are_rejected():
    texts = [f"text {j}" for j in range(1000)]
    assert why(texts, categorical=["column"]) is None
    words = r"1,001 different values.* 1,000 .*Merge the rare"
    with pytest.raises(TableError, match=words):
        why([*texts, "another"], categorical=["column"])
    # The features of all rows would be more than memory has.
    with pytest.raises(TableError, match="at most 500 are allowed"):
        why(texts * 200, categorical=["column"])
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
    check_requested(plan, "--include", ["a"])
    with pytest.raises(TableError, match="dropped: constant"):
        check_requested(plan, "--include", ["b"])
    with pytest.raises(TableError, match="is the target"):
        check_requested(plan, "--include", ["y"])
    with pytest.raises(UnknownColumn, match="no column 'c'"):
        check_requested(plan, "--include", ["c"])


def test_many_short_texts_are_categories_if_few_rows_are_in_rare_ones():
    codes = [f"C{j % 35}" for j in range(35 * 6)]
    assert why(codes) is None
    # Two rare ones.
    assert why([*codes, "C40", "C41"]) is None
    rare = [*codes, *(f"R{j // 2}" for j in range(30))]
    words = "too many categories (50 different values in 240 rows, 12 % of the rows"
    assert words in why(rare)
    assert why(rare, min_level=1) is None
    many = [f"C{j % 61}" for j in range(61 * 6)]
    assert "too many categories (61 different values in 366 rows);" in why(many)
    assert why([one for one in many if one != "C60"]) is None
    assert "free text" in why([f"{one} {'word ' * 6}" for one in codes])


def test_the_limit_of_categories_is_lower_in_wide_tables():
    assert kinds.many_levels(1000, 10) == kinds.MANY_LEVELS
    assert kinds.many_levels(1000, 100) == 50
    assert kinds.many_levels(10**5, 25) == 40
    assert kinds.many_levels(1000, 100_000) == kinds.MAX_LEVELS


def why(values, name="column", **options):
    """Why a column of any length is dropped; None if it is not."""
    n = len(values)
    useful = np.random.default_rng(1).normal(size=n).tolist()
    target = [["no", "yes"][j % 2] for j in range(n)]
    table = made(**{name: values, "useful": useful, "y": target})
    return dict(make_plan(table, "y", **options).dropped).get(name)


NUMBERS = [f"{j / 4 + 10:g}" for j in range(100)]


@pytest.mark.parametrize("stray", ["c", "<5", "3.5 mg", "13.49%", "-"])
def test_numbers_with_a_few_other_cells_are_refused(stray):
    values = [stray, *NUMBERS[:50], None, *NUMBERS[50:], stray]
    with pytest.raises(TableError) as error:
        why(values)
    words = str(error.value)
    assert f"'column' has 100 numbers and 2 other cells ({stray!r} in row 1, " in words
    assert f"{stray!r} in row 103)" in words
    assert ("remove the % signs" in words) is stray.endswith("%")
    for option in ("exclude", "categorical", "keep"):
        reason = why(values, **{option: ["column"]})
        assert reason == ("excluded by --exclude" if option == "exclude" else None)


def test_lines_that_describe_the_columns_are_recognised():
    with pytest.raises(TableError, match=r"delete the lines below the header"):
        why(["continuous", None, *NUMBERS])
    with pytest.raises(TableError, match=r"Correct these cells, or"):
        why(["continuous", *NUMBERS, "c"])


def test_an_error_names_a_handful_of_columns():
    columns = {f"c{j}": [*NUMBERS, "x"] for j in range(8)}
    table = made(**columns, y=["no", "yes"] * 50 + ["no"])
    with pytest.raises(TableError, match=r"'c4' has .*; and 3 more columns. Correct"):
        make_plan(table, "y")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        # Codes of categories, and of places.
        ("column", ["1", "2", "3", "x"] * 50),
        ("column", [*(str(j % 20) for j in range(200)), "x"]),
        ("column", [*(f"{j:05d}" for j in range(100)), "x"]),
        # Less than nine in ten.
        ("column", [*NUMBERS, *("x" * 12)]),
        ("order no", [*(str(j * j) for j in range(100)), "C12"]),
    ],
)
def test_codes_and_texts_are_no_numbers_with_strays(name, values):
    why(values, name)


def test_numbers_with_percent_signs_are_named():
    values = [f"{j / 7:.2f}%" for j in range(100)]
    assert "remove the % signs" in why(values)
    assert why(values, categorical=["column"]) is None
    assert why(["10%", "20%", "30%"] * 40) is None


@pytest.mark.parametrize("form", ["${:,}", "€ {}", "{} €", "£{}"])
def test_numbers_with_a_currency_are_named(form):
    sign = next(one for one in form if one in "$€£")
    values = [form.format(1000 + 37 * j) for j in range(100)]
    assert f"numbers with a {sign} sign; remove the {sign} signs" in why(values)
    assert why([form.format(one) for one in (1, 2, 3)] * 40) is None


def test_identifiers_of_persons_may_repeat():
    numbers = (1000 + 7 * (np.arange(100) % 80)).tolist()
    useful = np.random.default_rng(1).normal(size=100).tolist()
    table = made(subject_id=numbers, PatientID=[f"P{k}" for k in numbers],
                 useful=useful, y=["no", "yes"] * 50)  # fmt: skip
    plan = make_plan(table, "y")
    assert "identifiers (80 different numbers in 100 rows)" in dict(plan.dropped)[
        "subject_id"
    ]  # fmt: skip
    assert plan.repeated == ("subject_id", "PatientID")
    assert [*plan.kinds] == ["useful"]
    kept = make_plan(table, "y", keep=["subject_id"])
    assert [*kept.kinds] == ["subject_id", "useful"]
    assert why(numbers, "dose") is None
    assert why([1, 2, 3] * 30, "subject_id") is None
    assert make_plan(made(id=[*range(100)], useful=useful, y=["a", "b"] * 50), "y"
                     ).repeated == ()  # fmt: skip


@pytest.mark.parametrize("n_each", [2, 3, 10])
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("id", int),
        ("patient", int),
        ("PatientID", int),
        ("Kunden-Nr", int),
        ("customer no", int),
        ("sample", "S{}".format),
        ("subject_id", "P{:03}".format),
        ("USUBJID", "C1-{}".format),
        ("userId", int),
        ("id", "P{}".format),
    ],
)
def test_persons_and_samples_are_dropped_however_often_they_repeat(name, form, n_each):
    rng = np.random.default_rng(0)
    numbers = rng.permutation(np.repeat(1000 + 7 * np.arange(30), n_each)).tolist()
    values = [form(one) for one in numbers]
    assert "--keep uses them anyway" in why(values, name)
    useful, target = rng.normal(size=30 * n_each).tolist(), ["a", "b"] * 15 * n_each
    table = made(**{name: values, "useful": useful, "y": target})
    for options in ({}, {"exclude": [name]}, {"keep": [name]}):
        plan = make_plan(table, "y", **options)
        assert (name in plan.kinds) is ("keep" in options)
        assert plan.repeated == (name,)


def test_few_persons_are_used_but_said_to_repeat():
    useful = np.random.default_rng(1).normal(size=120).tolist()

    def repeated(name, n):
        table = made(
            **{
                name: [j % n for j in range(120)],
                "useful": useful,
                "y": ["no", "yes"] * 60,
            }
        )
        plan = make_plan(table, "y")
        assert name in plan.kinds
        return plan.repeated

    assert repeated("subject", 20) == repeated("subject", 6) == ("subject",)
    # Kinds of cases, and what is not about persons.
    assert repeated("case", 4) == repeated("store", 30) == repeated("age", 30) == ()


def test_other_numbers_called_id_are_no_measurements():
    stores = [7 * (j % 30) + j % 3 for j in range(300)]
    assert "identifiers (30 different numbers" in why(stores, "store_id")
    assert why([f"S{one % 30}" for one in stores], "store_id") is None
    useful = np.random.default_rng(1).normal(size=300).tolist()
    table = made(store_id=stores, useful=useful, y=["no", "yes"] * 150)
    assert make_plan(table, "y").repeated == ("store_id",)


def test_names_of_rows_may_repeat():
    names = [f"x{j // 2}" for j in range(N)]
    table = made(name=names, useful=USEFUL, y=TARGET)
    plan = make_plan(replace(table, row_names="name"), "y")
    assert plan.repeated == ("name",)


DRAWS = np.random.default_rng(3)
KILOGRAMS = DRAWS.normal(75, 15, 300).round(1)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        # As in tables of accidents, of a census, and of an election.
        ("weight", DRAWS.lognormal(4.5, 1.7, 300).round(3)),
        ("fnlwgt", DRAWS.lognormal(12, 0.5, 300).round()),
        ("Weight", DRAWS.lognormal(8.7, 0.6, 300).round(2)),
        ("wt", DRAWS.lognormal(8, 0.8, 300).round()),
        ("sample_weight", DRAWS.lognormal(0, 0.5, 300).round(2)),
        ("finalwgt", DRAWS.uniform(500, 2000, 300).round()),
        ("pspwght", (one := DRAWS.uniform(0.8, 1.2, 300)) / one.mean()),
        ("WTMEC2YR", DRAWS.lognormal(10, 0.9, 300)),
    ],
)
def test_weights_of_a_survey_are_told_from_other_weights(name, values):
    useful, target = DRAWS.normal(size=300).tolist(), ["no", "yes"] * 150
    table = made(**{name: values.tolist(), "useful": useful, "y": target})
    assert make_plan(table, "y").weights == (name,)
    assert make_plan(table, "y", exclude=[name]).weights == ()
    for other in ("price", "birth_weight", "weight_gain", "growth"):
        table = made(**{other: values.tolist(), "useful": useful, "y": target})
        assert make_plan(table, "y").weights == ()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("weight", KILOGRAMS),
        ("wt", DRAWS.normal(75, 15, 300)),
        ("Weight", 2.2046226 * KILOGRAMS),
        ("gewicht", 1000 * KILOGRAMS),
        # Children and adults, cars, parcels.
        ("weight", DRAWS.uniform(3, 110, 300)),
        ("weight", DRAWS.normal(2980, 850, 300).clip(1600).round()),
        ("wgt", DRAWS.lognormal(1, 0.6, 300).round(1)),
        ("sample_weight", DRAWS.normal(10, 0.2, 300)),
        ("weights", DRAWS.integers(1, 4, 300).astype(float)),
    ],
)
def test_weights_of_bodies_and_things_are_measurements(name, values):
    useful, target = DRAWS.normal(size=300).tolist(), ["no", "yes"] * 150
    table = made(**{name: values.tolist(), "useful": useful, "y": target})
    plan = make_plan(table, "y")
    assert plan.weights == ()
    assert name in plan.kinds
