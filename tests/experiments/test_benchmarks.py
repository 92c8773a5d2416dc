"""A cell of each benchmark that takes seconds, on made-up data."""

import numpy as np
import pytest

from experiments import experiment
from experiments.benchmarks import best_known, searches
from experiments.cells import CellOutcome, cell
from experiments.datasets import DatasetSource
from experiments.experiment import Settings, cell_rows, options_of
from experiments.registry import EXPERIMENTS
from experiments.runner import compute

QUICK = (
    "support",
    "perspective",
    "swap",
    "exact",
    "proof",
    "large",
    "threads",
    "seeds",
    "best-known",
    "alternatives",
    "certificates",
    "tree",
    "batched",
    "cv",
    "predict",
)


@pytest.fixture
def settings(folder):
    limits = {"": 0.3}
    return Settings(True, (), limits, {}, DatasetSource(str(folder)))


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Files of best known supports that may be changed."""
    for module in (best_known, searches):
        monkeypatch.setattr(
            module,
            "BestKnown",
            lambda path=None: best_known_class(tmp_path / "known.json"),
        )


best_known_class = best_known.BestKnown


def outcome_of(target, source):
    needs = [outcome_of(need, source) for need in target.needs]
    return compute(target, needs, source)[1]


@pytest.mark.parametrize("name", QUICK)
def test_a_cell_of_a_benchmark(name, settings):
    benchmark = EXPERIMENTS[name]
    first = benchmark.plan(settings)[0]
    outcome = outcome_of(first, settings.source)
    assert outcome.error == ""
    options = options_of(benchmark.options, settings)
    rows = cell_rows(first, outcome.values, options)
    assert rows
    assert not {"seconds", "threads"} & set(dict(first.params)) - set(options)


BENCHMARKS = [member for member in EXPERIMENTS.values() if member.rows]


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda member: member.name)
def test_plans_name_tasks_and_have_no_duplicates(benchmark):
    for quick in (True, False):
        cells = benchmark.plan(Settings(quick))
        assert cells
        assert {member.task for member in cells} <= set(benchmark.tasks)
        assert len(set(cells)) == len(cells)
        assert all(member.limit is None for member in cells)


def test_rows_have_the_data_set_first_and_no_options():
    target = cell("exact", "wdbc", B=3, seconds=60.0)
    [row] = cell_rows(target, {"objective": 1.0}, {"seconds": 60.0})
    assert list(row.items()) == [("set", "wdbc"), ("B", 3), ("objective", 1.0)]
    rows = cell_rows(cell("groups", B=3), {"rows": [{"set": "a"}, {"set": "b"}]}, {})
    assert [list(row) for row in rows] == [["set", "B"], ["set", "B"]]


def test_the_limit_is_the_option_seconds():
    options = {"seconds": 60.0, "threads": 2}
    settings = Settings(limits={"": 5.0}, options={"threads": 1, "seeds": 3})
    assert options_of(options, settings) == {"seconds": 5.0, "threads": 1}
    assert options_of({"threads": 2}, Settings(limits={"": 5.0})) == {"threads": 2}


def test_figures_are_made_of_complete_runs_only():
    def plan(settings):
        return [cell("wait", "wdbc")]

    def wait(data):
        return {}

    waiting = experiment.benchmark(
        "wait",
        "",
        "",
        plan,
        [wait],
        figures={
            "sum": lambda results: f"Sum {len(results.rows)}.",
            "peer": lambda results: results.rows[0]["COPT"],
        },
    )
    outcomes = {cell("wait", "wdbc"): CellOutcome({"x": np.inf})}
    assert waiting.report(Settings(), outcomes).notes == [
        "Sum 1.",
        "No peer: the rows lack 'COPT'.",
    ]
    assert waiting.report(Settings(quick=True), outcomes).notes == []
