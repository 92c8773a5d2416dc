"""Parts of the command line on their own: options, categories, thresholds."""

from types import SimpleNamespace

import numpy as np
import pytest

from frugalsvm.cli import thresholds
from frugalsvm.cli.levels import tie_text
from frugalsvm.cli.parsing import parse_signs, read_costs
from frugalsvm.cli.study import CodedColumns
from frugalsvm.cli.thresholds import shortest_between
from frugalsvm.report import ErrorCosts
from frugalsvm.tables import TableError, make_plan, read_table
from tests.cli.conftest import write_csv
from tests.cli.test_coded import PURPOSES, rows_of, written


def test_costs_with_a_repeated_column(folder):
    """Comparing all pairs of names would take hours."""
    names = [f"x{k}" for k in range(100_000)]
    table = {"column": names, "cost": [1.5] * len(names)}
    found = read_costs(write_csv(folder / "costs.csv", table))
    assert found == dict.fromkeys(names, 1.5)
    table["column"][-1] = table["column"][-2]
    with pytest.raises(TableError, match="'x99998' appears twice"):
        read_costs(write_csv(folder / "costs.csv", table))


def test_costs_are_one_column_of_names_and_one_of_numbers(folder):
    for table in ({"a": ["x"], "b": ["y"]}, {"a": [1], "b": [2]}, {"a": ["x"]}):
        with pytest.raises(TableError, match="must have two columns"):
            read_costs(write_csv(folder / "costs.csv", table))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {}),
        (["income=+,age=-"], {"income": 1, "age": -1}),
        (["income=+", "age=-"], {"income": 1, "age": -1}),
        (["a, b=+,c=-"], {"a, b": 1, "c": -1}),
        (["housing=own=+"], {"housing=own": 1}),
        (["a=b,c=+"], {"a=b,c": 1}),
        (["age=-,age=-"], {"age": -1}),
    ],
)
def test_signs_are_parsed(given, expected):
    assert parse_signs(given) == expected


def test_few_rows_with_the_same_score_are_not():
    assert tie_text(np.arange(10.0)) == ""
    assert tie_text(np.array([1.0, 2.0, 3.0])) == ""
    assert "2 of 4 rows" in tie_text(np.array([1.0, 1.0, 2.0, 3.0]))


def test_a_short_number_between_two():
    assert shortest_between(1.0, 2.0) == 1.5
    assert shortest_between(-1.0, 2.0) == 0.5
    assert shortest_between(0.9999, 1.95) == 1.5
    assert 1.0 < shortest_between(1.0, 1.0000001) < 1.0000001


def test_no_other_threshold_is_cheaper_for_held_out_rows():
    rng = np.random.default_rng(0)
    for _ in range(30):
        n = int(rng.integers(4, 40))
        positive = np.arange(n) % 3 == 0
        scores = np.round(rng.normal(size=n) + positive, 1)
        validation = SimpleNamespace(scores=scores, held_out=np.arange(n) > 0)
        data = SimpleNamespace(target=SimpleNamespace(positive=positive))
        costs, near = ErrorCosts(1.0, float(rng.integers(1, 9))), float(rng.normal())
        own = thresholds._cheapest(data, validation, costs, near, np.empty(0))
        cost = {
            t: np.sum(costs.fp * (scores > t)[1:] * ~positive[1:])
            + np.sum(costs.fn * (scores <= t)[1:] * positive[1:])
            for t in (own, near, *scores, scores.min() - 1)
        }
        assert cost[own] == min(cost.values())
        assert own not in scores[1:]


def test_what_is_cheapest_for_all_held_out_rows_is_for_all():
    held_out, scores = np.array([-1.0, 2.0]), np.array([-3.0, 0.0, 4.0])
    assert thresholds._beyond(0.5, held_out, scores) == 0.5
    assert not (scores > thresholds._beyond(2.5, held_out, scores)).any()
    assert (scores > thresholds._beyond(-1.5, held_out, scores)).all()
    assert thresholds._beyond(9.0, held_out, scores) == 9.0
    assert thresholds._beyond(-9.0, held_out, scores) == -9.0


def coded_of(folder, rows, **options):
    table = read_table(written(folder / "found.csv", rows))
    return CodedColumns.of(table, make_plan(table, "outcome", **options))


def test_a_name_that_another_column_has_is_doubtful(folder):
    rows = [{"purpose": k % 7, **row} for k, row in enumerate(rows_of())]
    coded = coded_of(folder, rows)
    assert [*coded.columns] == ["housing"]
    assert [*coded.doubtful] == ["purpose"]
    # A column that is not in use has no name to share.
    unused = coded_of(folder, rows, exclude=["purpose"])
    assert [*unused.columns] == ["purpose", "housing"]


def test_codes_with_gaps_or_a_category_left_out_stay_single(folder):
    rows = rows_of()
    rows[0]["purpose_car"] = ""
    for row in rows:
        del row["housing_own"]
    assert coded_of(folder, rows) == CodedColumns()


def test_a_constant_or_excluded_column_is_not_missed(folder):
    rows = [{**row, "purpose_boat": "0"} for row in rows_of()]
    assert coded_of(folder, rows).columns["purpose"] == PURPOSES
    assert "purpose" not in coded_of(folder, rows, exclude=["purpose_tv"]).columns
