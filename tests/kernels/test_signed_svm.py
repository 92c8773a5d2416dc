"""SVMs with signs on columns of any scale."""

import numpy as np
import pytest

from frugalsvm.kernels import svm
from frugalsvm.kernels import svm as sign_steps
from frugalsvm.kernels.data import NEVER, Data
from frugalsvm.kernels.interior_point import BestPair, Goal, PrimalDual
from frugalsvm.kernels.program import restrict as restrict_kernel
from frugalsvm.kernels.svm import SVMTask
from tests.kernels.compiled import compiled

solve_svm, solve_by_signs, restrict = map(
    compiled, (svm.solve_svm, sign_steps.solve_by_signs, restrict_kernel)
)
NOTHING = np.empty(0, dtype=np.int64)


def signed_data(seed, scales, m=40, density=1.0, intercept=True):
    """Labels that depend on all columns, with signs that often contradict them."""
    rng = np.random.default_rng(seed)
    n = len(scales)
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < density)
    y = np.where(rng.normal(size=n) @ X + rng.normal(size=m) > 0, 1.0, -1.0)
    A = np.ascontiguousarray(X * np.asarray(scales)[:, None] * y)
    signs = rng.integers(-1, 2, n).astype(np.int8)
    return Data(
        A, np.ones(n), y, np.full(m, 10.0), intercept, np.ones(n), NEVER, signs=signs
    )


def check(data, w, b, primal, dual, alpha, tol):
    assert np.all(data.signs * w >= 0)
    loss = data.C @ np.maximum(0, 1 - w @ data.A - b * data.y)
    assert primal == pytest.approx(0.5 * w @ w + loss, rel=1e-9)
    c = data.A @ alpha
    c[data.signs * c < 0] = 0.0
    assert dual == pytest.approx(alpha.sum() - 0.5 * c @ c, rel=1e-6)
    assert primal - dual <= tol * primal


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("scale", [1e2, 1e3, 1e5])
def test_columns_of_large_numbers(scale, seed):
    """The barrier alone ended with objectives above that of no weights at all."""
    data = signed_data(seed, np.full(5, scale))
    support = np.arange(5)
    found = solve_svm(data, SVMTask(support, 1e-6, np.inf, np.empty(0), 10**6))
    check(data, found.w, found.b, found.primal, found.dual, found.alpha, 1e-6)


def test_columns_of_many_scales():
    data = signed_data(3, 10.0 ** np.arange(-2, 6))
    support = np.arange(8)
    found = solve_svm(data, SVMTask(support, 1e-6, np.inf, np.empty(0), 10**6))
    check(data, found.w, found.b, found.primal, found.dual, found.alpha, 1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("density", [1.0, 0.05])
def test_steps_need_no_start(density, intercept):
    """From no weights, with dense rows and with entries."""
    data = signed_data(1, np.ones(30), 2500, density, intercept)
    side = np.zeros(2500, dtype=np.int8)
    part = restrict(data, np.arange(30), NOTHING, side, np.empty((0, 0)), np.empty(0))
    program = part.program
    assert (program.rows.dense.size == 0) == (density < 1)
    q = program.offset.size
    start = PrimalDual(np.zeros(q), np.empty(0), np.zeros(2500))
    nothing = BestPair(start, np.inf, -np.inf, 0, np.empty(0))
    found = solve_by_signs(program, nothing, Goal(1e-7, np.inf, NEVER))
    w = found.solution.w[:30]
    b = found.solution.w[30] - w @ part.means if intercept else 0.0
    check(data, w, b, found.primal, found.dual, found.solution.alpha, 1e-7)
    assert np.any(w != 0)
