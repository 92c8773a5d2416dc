"""Several relaxations in one compiled call: the same answers as one by one."""

import numpy as np
import pytest

from frugalsvm import Problem, relax
from frugalsvm.kernels.batch import run_together
from frugalsvm.kernels.convex import Data, run
from frugalsvm.kernels.perspective import perspective_steps
from tests.reference import random_data


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("costs", [True, False])
def test_together_is_one_by_one(intercept, costs):
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 80, 12)
    problem = Problem(
        X, y, C=2.0, max_features=4, fit_intercept=intercept,
        feature_costs=rng.uniform(1, 2, 12) if costs else None,
        max_cost=5.0 if costs else None,
    )  # fmt: skip
    relax(problem)
    data = Data(
        problem.A, problem.norms, problem.y, problem.C, intercept, problem.costs
    )
    root = problem.root_node()
    nodes = [
        root._replace(forced=root.free[:j], free=root.free[j:], k=root.k - j)
        for j in range(5)
    ]

    def steps():
        return [perspective_steps(data, node) for node in nodes]

    for alone, together in zip(
        [run(data, one) for one in steps()], run_together(data, steps()), strict=True
    ):
        assert together.bound == alone.bound
        assert together.primal == alone.primal
        np.testing.assert_array_equal(together.alpha, alone.alpha)
        np.testing.assert_array_equal(together.z, alone.z)
        np.testing.assert_array_equal(together.w, alone.w)
