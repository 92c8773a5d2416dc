"""The interior point closes the gap for all programs and starts."""

import numpy as np
import pytest
from numba import njit

from frugalsvm.kernels import interior_point as kernels
from frugalsvm.kernels.data import NEVER
from frugalsvm.kernels.interior_point import UNITS, BestPair, Goal
from tests.kernels.compiled import compiled
from tests.kernels.programs import program_of

COLD = np.empty(0)
solve_program = compiled(kernels.solve_program)
interior_point, new_workspace, new_solution = (
    kernels.interior_point, kernels._new_workspace, kernels._new_solution,
)  # fmt: skip


@njit
def solve(program, warm_w, attempt, tol, cutoff, stop):
    """Solve a program from one of the starts."""
    work, best = new_workspace(program), new_solution(program)
    primal, dual, iterations = interior_point(
        program, warm_w, attempt, Goal(tol, cutoff, stop), work, best, np.inf, -np.inf
    )
    return BestPair(best, primal, dual, iterations, work.curvature)


def dual_value(program, alpha):
    """Without costs: the value with the largest squares among the free features."""
    c = program.rows.dense @ alpha + program.offset
    n_forced, p = program.n_forced, program.n_columns
    free = c[n_forced:p] ** 2
    penalty = np.sort(free)[::-1][: int(program.h.sum() + 0.5)].sum()
    return alpha.sum() - 0.5 * (c[:n_forced] ** 2).sum() - 0.5 * penalty


def primal_value(program, solution):
    z = np.append(np.ones(program.n_forced), solution.z)
    w = solution.w[: program.n_columns]
    loss = np.maximum(0, 1 - solution.w @ program.rows.dense)
    return 0.5 * (w**2 / z).sum() + program.C @ loss


@pytest.mark.parametrize("n_rows", [0, 1, 2])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("m", [12, 40])
def test_primal_and_dual_values_agree(n_rows, intercept, m):
    program = program_of(n_rows=n_rows, intercept=intercept, m=m)
    found = solve(program, COLD, 1, 1e-7, np.inf, NEVER)
    assert found.primal - found.dual <= 1e-7 * found.primal
    alpha, z = found.solution.alpha, found.solution.z
    assert np.all((alpha >= 0) & (alpha <= program.C))
    assert np.all((z >= 0) & (z <= 1))
    assert np.all(program.R @ z <= program.h * (1 + 1e-12))
    if intercept:
        assert abs(program.y @ alpha) < 1e-12 * m
    assert primal_value(program, found.solution) == pytest.approx(found.primal)
    if n_rows < 2:
        assert dual_value(program, alpha) == pytest.approx(found.dual)


@pytest.mark.parametrize("attempt", range(UNITS.size))
def test_all_starts_find_the_same_solution(attempt):
    program = program_of()
    first = solve(program, COLD, 1, 1e-7, np.inf, NEVER)
    found = solve(program, COLD, attempt, 1e-7, np.inf, NEVER)
    assert found.dual == pytest.approx(first.dual, rel=2e-7)


def test_a_warm_start_takes_fewer_iterations():
    program = program_of(n_forced=6, n_rows=0, m=200)
    cold = solve(program, COLD, 1, 1e-8, np.inf, NEVER)
    warm = solve(program, cold.solution.w[:6].copy(), 0, 1e-8, np.inf, NEVER)
    assert warm.iterations < cold.iterations
    assert warm.dual == pytest.approx(cold.dual, rel=1e-7)


def test_it_ends_early_above_the_cutoff():
    program = program_of()
    whole = solve(program, COLD, 1, 1e-7, np.inf, NEVER)
    found = solve(program, COLD, 1, 1e-7, 0.5 * whole.dual, NEVER)
    assert 0.5 * whole.dual < found.dual <= whole.dual
    assert found.iterations < whole.iterations


def test_it_ends_at_once_if_the_flag_is_set():
    found = solve(program_of(), COLD, 1, 1e-7, np.inf, np.ones(1, dtype=np.uint8))
    assert found.iterations == 0
    assert np.isfinite(found.primal)


def test_many_features_are_solved_by_sample():
    program = program_of(free=300, m=30)
    found = solve(program, COLD, 1, 1e-7, np.inf, NEVER)
    assert found.primal - found.dual <= 1e-7 * found.primal
    assert dual_value(program, found.solution.alpha) == pytest.approx(found.dual)


def test_a_second_start_never_makes_the_pair_worse():
    """Values never get worse with another start, and belong to the returned pair."""
    program = program_of(n_rows=1)
    first = solve(program, COLD, 1, 1e-7, np.inf, NEVER)
    # A gap that no start can close.
    found = solve_program(program, COLD, Goal(0.0, np.inf, NEVER))
    assert found.iterations > first.iterations
    assert found.dual >= first.dual
    assert found.primal <= first.primal
    assert primal_value(program, found.solution) == pytest.approx(found.primal)
    assert dual_value(program, found.solution.alpha) == pytest.approx(found.dual)
