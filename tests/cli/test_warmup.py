"""Compiling in advance: afterwards no native method compiles anything."""

import subprocess
import sys

from tests.commands import main

# In a process of its own: other tests have compiled and loaded kernels here.
AFTERWARDS = """
import numpy as np
from frugalsvm import FrugalSVC, Problem, near_optimal, relax
from frugalsvm.problem.options import METHOD_NAMES
from frugalsvm.paper.models import big_m
from frugalsvm.search.relaxations import certified_bound
from frugalsvm.cli.all_kernels import kernels, warmup

def signatures():
    return {(kernel, s) for kernel in kernels() for s in kernel.signatures}

rng = np.random.default_rng(1)
X = rng.standard_normal((50, 80))
y = X[:, :9].sum(axis=1) + rng.standard_normal(50) > 0
settings = [
    {"max_features": 4, "C": 10.0, "include": [1], "class_weight": "balanced"},
    {"feature_costs": np.arange(1, 81), "max_cost": 90, "fit_intercept": False},
    {"max_features": None, "exclude": [2]},
]
warmup()
ready = signatures()
assert ready
for method in METHOD_NAMES:
    for setting in settings:
        model = FrugalSVC(method=method, max_nodes=30, n_jobs=2, certificate=True)
        model.set_params(**setting).fit(X, y, sample_weight=rng.uniform(1, 2, 50))
        more = signatures() - ready
        assert not more, (method, setting, more)
problem = Problem(X.astype(np.float32), np.where(y, 1, -1), max_features=5)
point = relax(problem)
near_optimal(problem, tolerance=0.1, max_nodes=200, certificate=True).minimal()
M = big_m(problem, 100.0, max_programs=0)
certified_bound(problem, point.alpha, "DSCoMP", M)
certified_bound(problem, point.alpha, "BoxMP", np.full(80, M))
assert signatures() == ready, signatures() - ready
"""


def test_nothing_is_compiled_after_a_warmup():
    process = subprocess.run(
        [sys.executable, "-c", AFTERWARDS], capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr


def test_the_command_says_where_the_cache_is(capsys):
    assert main(["warmup"]) == 0
    text = capsys.readouterr().out
    assert "kernels compiled" in text
    assert "Cache: " in text
