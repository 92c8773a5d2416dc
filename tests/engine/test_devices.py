"""Batches on other devices: the same code, checked with PyTorch on the CPU if there."""

import sys

import numpy as np
import pytest

from frugalsvm import Problem, Status, solve
from frugalsvm.engine.batched import BatchedEngine
from frugalsvm.engine.devices import CPU, Device, device_of, torch_device
from tests.engine.test_batched import (
    make_problem,
    random_regions,
    relaxed,
    root_working_set,
)
from tests.tree.test_batched_tree import medium_problem


def bounds_of(engine, problem, regions):
    found = relaxed(engine, regions, root_working_set(engine, problem))
    return np.array([one.bound for one in found])


def test_pytorch_has_to_be_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match=r"needs PyTorch.*'frugalsvm\[gpu\]'"):
        device_of("cuda")


def test_a_gpu_has_to_be_there():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ValueError, match="finds no GPU"):
        device_of("cuda")


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_pytorch_are_those_of_numpy(seed):
    pytest.importorskip("torch")
    problem, _, _, rng = make_problem(seed, m=60, n=20, k=4)
    engine = BatchedEngine(problem.engine)
    other = BatchedEngine(problem.engine, torch_device("cpu")._replace(name="cuda"))
    regions = random_regions(rng, 20, 4, 30)
    expected = bounds_of(engine, problem, regions)
    np.testing.assert_allclose(
        bounds_of(other, problem, regions), expected, rtol=1e-3, atol=1e-4
    )


def test_a_tree_on_pytorch_proves_the_same_optimum(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(
        "frugalsvm.tree.engines.device_of",
        lambda name: torch_device("cpu")._replace(name=name),
    )
    problem, _, _ = medium_problem(5)
    plain = solve(problem, method="branch-and-bound", random_state=0)
    found = solve(
        problem, method="branch-and-bound", random_state=0,
        method_options={"device": "cuda"},
    )  # fmt: skip
    assert found.status is Status.OPTIMAL
    np.testing.assert_allclose(found.objective, plain.objective, rtol=2e-4)
    assert found.lower_bound <= plain.objective * (1 + 1e-9)


def short_of_memory(most_rows: int) -> Device:
    """A device on which only so many rows of the height of a batch fit."""

    def put(array):
        if array.ndim == 2 and array.dtype == np.float32 and array.shape[0] > most_rows:
            raise MemoryError
        return array

    return CPU._replace(put=put)


@pytest.mark.parametrize("most_rows", [70, 1])
def test_short_memory_makes_smaller_batches(most_rows):
    """The matrices of 9 features and 40 samples have 49 rows."""
    problem, _, _, rng = make_problem(6)
    engine = BatchedEngine(problem.engine)
    start = root_working_set(engine, problem)
    regions = random_regions(rng, 9, 3, 100)
    expected = relaxed(engine, regions, start)
    small = BatchedEngine(problem.engine, short_of_memory(most_rows))
    small._part, small._first_state = engine._part, engine._first_state
    found = relaxed(small, regions, start)
    if most_rows == 70:
        assert small._rows == 50
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one.bound, other.bound, rtol=1e-4, atol=1e-6)
    assert small._rows >= 1
    assert all(np.isfinite(one.bound) for one in found)


def test_the_interior_point_is_the_last_resort():
    problem, _, _, rng = make_problem(7)
    engine = BatchedEngine(problem.engine)
    start = root_working_set(engine, problem)
    regions = random_regions(rng, 9, 3, 5)
    small = BatchedEngine(problem.engine, short_of_memory(0))
    small._part, small._first_state = engine._part, engine._first_state
    plain = relaxed(problem.engine, regions, start._replace(state=None))
    for one, other in zip(relaxed(small, regions, start), plain, strict=True):
        np.testing.assert_allclose(one.bound, other.bound, rtol=1e-3)
    # Without memory for the matrices there is no state at all.
    nothing = BatchedEngine(problem.engine, short_of_memory(0))
    root = problem.root_region()
    for _ in range(2):
        (found,) = relaxed(nothing, [root], None)
        assert found.bound == relaxed(problem.engine, [root], None)[0].bound
    assert nothing._first_state is None


def test_what_a_device_does_not_take_is_refused_by_name():
    problem, X, y, _ = make_problem(8)
    options = {"device": "cuda", "engine": "interior-point"}
    with pytest.raises(ValueError, match="needs engine 'batched' or 'auto'"):
        solve(problem, method="branch-and-bound", method_options=options)
    with pytest.raises(ValueError, match="'gpu'"):
        solve(problem, method="branch-and-bound", method_options={"device": "gpu"})
    costly = Problem(X, y, feature_costs=np.arange(1.0, 10.0), max_cost=6.0)
    with pytest.raises(
        ValueError, match=r"'device'\] = 'cuda' does not take feature c"
    ):
        solve(costly, method="branch-and-bound", method_options={"device": "cuda"})
