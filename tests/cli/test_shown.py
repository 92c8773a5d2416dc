"""What is printed of a model is enough to predict, and ties are said."""

import csv
import io
import json
import re

import numpy as np
import pytest

from frugalsvm import PortableModel
from tests.cli.conftest import write_csv

FIT = ("-t", "out", "-k", "3", "--C", "1", "--positive", "yes", "--effort", "fast")


def whole_numbers(seed, n=60):
    """Columns of small integers: with some seeds, the score of some rows is zero."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, top, n) for top in (2, 4, 3)])
    score = X @ [1.0, 0.4, 0.3] - 1.2 + 0.8 * rng.normal(size=n)
    table = dict(zip("pqr", X.T, strict=True))
    return table | {"out": np.where(score > 0.1, "yes", "no")}


def predictions(run):
    rows = list(csv.DictReader(io.StringIO(run("predict", "m.json", "t.csv").stdout)))
    labels = [one["prediction"] for one in rows]
    return labels, np.array([float(one["score"]) for one in rows])


@pytest.mark.parametrize("seed", [14, 22, 48, 0, 1])
def test_printed_weights_predict_the_same(run, folder, seed):
    table = whole_numbers(seed)
    path = write_csv(folder / "t.csv", table)
    text = run("fit", path, *FIT, "--folds", "0", "--model", "m.json").stdout
    labels, scores = predictions(run)
    if seed in (14, 22, 48):
        assert (scores == 0).any()
    printed = dict(re.findall(r"^([pqr]) +([+-][\d.]+)", text, re.MULTILINE))
    total = float(re.search(r"^intercept ([+-][\d.]+)", text, re.MULTILINE).group(1))
    by_hand = total + sum(float(w) * table[name] for name, w in printed.items())
    limit = re.search(r"score above ([+-][\d.e-]+) means", text)
    above = 0.0 if limit is None else float(limit.group(1))
    assert labels == ["yes" if one > above else "no" for one in by_hand]


def test_many_rows_with_the_same_score_are_said(run, folder):
    x = np.tile([0, 0, 0, 1, 1], 12)
    out = np.where(x == 1, "yes", "no")
    out[::20] = "yes"
    path = write_csv(folder / "t.csv", {"x": x, "out": out})
    done = run("fit", path, *FIT, "--json", "--folds", "2", "--report", "r.html")
    words = "36 of 60 rows have the same score, -1"
    assert words in " ".join(json.loads(done.stdout)["warnings"])
    assert words in (folder / "r.html").read_text()


@pytest.mark.parametrize("costs", ["fp=1,fn=1", "fp=1,fn=3", "fp=5,fn=1"])
def test_learned_thresholds_are_between_scores(run, folder, costs):
    path = write_csv(folder / "t.csv", whole_numbers(22, 200))
    run("fit", path, *FIT, "--error-costs", costs, "--model", "m.json")
    limit = PortableModel.load("m.json").threshold
    labels, scores = predictions(run)
    assert np.abs(scores - limit).min() > 1e-3
    assert labels == ["yes" if one > limit else "no" for one in scores]
