import pytest

from frugalsvm.cli.parsing import read_costs
from frugalsvm.tables import TableError
from tests.cli.conftest import write_csv


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
