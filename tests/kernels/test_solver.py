"""The entry for SVMs and relaxations releases all memory.

Numba does not count references in most of the solver: a function that does not count
and is given an array to keep would lose it. In a process of its own, for counting how
many arrays there are has to be switched on before Numba is imported.
"""

import os
import subprocess
import sys

import pytest

LEAKS = """
import gc
import sys
import numpy as np
from numba.core.runtime import rtsys
from frugalsvm import Problem
from frugalsvm.engine.perspective import region_request
from tests.reference import random_data

rng = np.random.default_rng(0)
X, y = random_data(rng, 60, 400)
limits = {"feature_costs": rng.uniform(1, 2, 400), "max_cost": 5.0}
with_costs = sys.argv[1] == "costs"
problem = Problem(X, y, C=2.0, max_features=4, **(limits if with_costs else {}))
engine = problem.engine
region = problem.root_region().affordable(problem.costs)
request = region_request(
    engine, region, None, tol=1e-2, fine_tol=1e-6, cutoff=np.inf, max_rounds=5
)

def work():
    found = engine.solve([request])[0]
    again = request.continued(found)._replace(cutoff=0.99 * found.primal)
    engine.solve([request, again])
    w = engine.solve_svm(np.arange(5)).w
    engine.solve_svm(np.arange(5), warm_w=w)

def counts():
    gc.collect()
    stats = rtsys.get_allocation_stats()
    return stats.mi_alloc, stats.mi_alloc - stats.mi_free

work()
made, in_use = counts()
for _ in range(3):
    work()
more, still_in_use = counts()
print(more - made > 100, still_in_use - in_use)
"""


@pytest.mark.parametrize("case", ["costs", "none"])
def test_no_memory_leaks(case):
    process = subprocess.run(
        [sys.executable, "-c", LEAKS, case],
        env=os.environ | {"NUMBA_NRT_STATS": "1"},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout.split() == ["True", "0"]
