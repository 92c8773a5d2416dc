"""Small files, and commands run in this process."""

import contextlib
import csv
import json

import numpy as np
import pytest

from tests.commands import command

N = 80


def columns(n=N, seed=0):
    """Columns of a table: two that matter, some that do not, two categorical ones."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n).astype(float)
    dose = rng.normal(5, 2, n)
    smoker = rng.choice(["yes", "no"], n)
    colour = rng.choice(["red", "green", "blue"], n)
    score = 0.08 * (age - 50) + 0.9 * (dose - 5) + 1.5 * (smoker == "yes") - 0.7
    sick = np.where(score + 0.5 * rng.normal(size=n) > 0, "sick", "well")
    return {
        "patient_id": rng.permutation(10 * n)[:n],
        "age": age,
        "dose": dose.round(3),
        "noise": rng.normal(size=n).round(3),
        "smoker": smoker,
        "colour": colour,
        "visit": [f"2024-0{k % 9 + 1}-11" for k in range(n)],
        "state": sick,
    }


def write_csv(path, table, **options):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, **options)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return str(path)


@pytest.fixture
def folder(tmp_path):
    """An empty folder to work in."""
    with contextlib.chdir(tmp_path):
        yield tmp_path


@pytest.fixture
def data(folder):
    """A file in that folder."""
    return write_csv(folder / "data.csv", columns())


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """A folder with data, a model and its proof."""
    folder = tmp_path_factory.mktemp("fitted")
    path = write_csv(folder / "data.csv", columns())
    done = command(
        "fit", path, "-t", "state", "-k", "3", "--positive", "sick", "--folds", "3",
        "--effort", "fast", "--model", folder / "model.json",
        "--certificate", folder / "proof.npz", "--calibrate",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def run():
    """Run a command; return its result, and check the exit code."""

    def invoke(*arguments, code=0, stdin=""):
        done = command(*arguments, stdin=stdin)
        assert done.exit_code == code, (done.exit_code, done.output)
        return done

    return invoke


@pytest.fixture
def run_json(run):
    """Run a command with --json; return the object."""

    def invoke(*arguments, **options):
        return json.loads(run(*arguments, "--json", **options).stdout)

    return invoke
