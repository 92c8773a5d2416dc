"""The semi-relaxations, compared with enumeration; they rise with K."""

from itertools import pairwise, product

import numpy as np
import pytest

from frugalsvm.paper.models import big_m, dscop, sr_dlmp, sr_dscop
from frugalsvm.paper.solvers import UnsupportedModel
from tests.paper.models.instances import MIP_RTOL, SDP_TOLERANCE, SMALL, value
from tests.reference import brute_force

NAMES = ["random", "separable", "iris"]


def with_big_m(name):
    problem = SMALL[name]
    best, support = brute_force(problem)
    return problem, best, support, 1.01 * big_m(problem, best)


@pytest.mark.parametrize("name", NAMES)
def test_semidefinite_and_second_order_forms_agree(name):
    """SR-DSCoP(K), a mixed-integer SDP, by trying all values of u on K."""
    problem, _, _, M = with_big_m(name)
    K = (0, 2)
    model = sr_dscop(problem, K, M)
    values = [
        solution.objective
        for bits in product([0, 1], repeat=2)
        if (solution := model.fix(u=bits).solve(tolerance=SDP_TOLERANCE)).status
        == "optimal"
    ]
    assert len(values) == 4
    assert value(sr_dlmp(problem, K, M)) == pytest.approx(min(values), rel=MIP_RTOL)


@pytest.mark.parametrize("name", NAMES)
def test_values_rise_from_dscop_to_the_optimum(name):
    problem, best, support, M = with_big_m(name)
    order = np.r_[support, np.setdiff1d(np.arange(problem.n_features), support)]
    steps = [value(sr_dlmp(problem, order[:k], M)) for k in range(order.size + 1)]
    assert steps[0] == pytest.approx(value(dscop(problem)), rel=MIP_RTOL)
    assert steps[-1] == pytest.approx(best, rel=MIP_RTOL)
    for below, above in pairwise(steps):
        assert above >= below * (1 - MIP_RTOL)
    assert steps[-1] > steps[0] * (1 + 1e-3)


def test_equality_and_budget_agree():
    problem, _, _, M = with_big_m("random")
    values = [
        value(sr_dlmp(problem, (0, 1, 2), M, cardinality=form)) for form in ("=", "<=")
    ]
    assert values[0] == pytest.approx(values[1], rel=MIP_RTOL)


def test_no_solver_takes_the_printed_form_and_the_error_says_what_does():
    problem = SMALL["random"]
    with pytest.raises(UnsupportedModel, match="sr_dlmp"):
        sr_dscop(problem, (0,), 1.0).solve()
