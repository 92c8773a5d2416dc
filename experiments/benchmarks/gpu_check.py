"""``make gpu-check``: does the path for GPUs work here, and how fast is it?

Grows one tree on the CPU and on the GPU to the same number of nodes, compares bounds
with the best objective that is known, and prints nodes per second.
"""

import sys
import time

import numpy as np

from frugalsvm import Problem, Result, solve

SAMPLES, FEATURES, RELEVANT = 1000, 400, 30
NODES = 20_000


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SAMPLES, FEATURES))
    score = X[:, :RELEVANT].sum(axis=1) + RELEVANT * rng.normal(size=SAMPLES)
    problem = Problem(X, np.where(score > 0, 1.0, -1.0), C=0.01, max_features=10)
    runs = {"cpu": _run(problem, "cpu", NODES // 10)}
    try:
        runs["cuda"] = _run(problem, "cuda", NODES)
    except ValueError as error:
        sys.exit(str(error))
    best = min(result.objective for result, _ in runs.values())
    for device, (result, rate) in runs.items():
        print(
            f"{device:5} {rate:8.0f} nodes/s, bound {result.lower_bound:.6g}, "
            f"best objective {best:.6g}"
        )
        if result.lower_bound > best * (1 + 1e-9):
            sys.exit(f"The bound of {device} is above an objective: a severe defect.")
    print(f"GPU : CPU = {runs['cuda'][1] / runs['cpu'][1]:.1f}")


def _run(problem: Problem, device: str, nodes: int) -> tuple[Result, float]:
    """A tree of some nodes, and nodes per second."""

    def grow(nodes: int) -> Result:
        return solve(
            problem, method="branch-and-bound", max_nodes=nodes, random_state=0,
            n_jobs=1,
            method_options={"engine": "batched", "device": device, "patience": 0},
        )  # fmt: skip

    grow(20)
    begin = time.perf_counter()
    result = grow(nodes)
    return result, result.counters["nodes"] / (time.perf_counter() - begin)


if __name__ == "__main__":
    main()
