"""Branch and bound with two threads against one: the gain from the second core."""

from pathlib import Path

from frugalsvm import Problem, Result, solve

from .data import load
from .results import Row
from .tables import Table, geometric_mean

C = 10.0
REPEATS = 2
# Data set, budget and limit of nodes: trees of more than 2,000 nodes.
TREES = (
    ("wdbc", 5, None),
    ("wpbc", 5, None),
    ("wpbc", 10, None),
    ("ionosphere", 10, None),
    ("arrhythmia", 10, 2500),
    ("colorectal", 10, 3000),
)


def run(folder: Path, quick: bool) -> list[Row]:
    table = Table(
        f"Branch and bound, C=10: best of {REPEATS} runs with one and two threads",
        ["data set", "B", "nodes", "[s]", "nodes, 2", "[s], 2", "time ratio",
         "nodes/s ratio"],
    )  # fmt: skip
    rows: list[Row] = []
    for name, budget, max_nodes in TREES[:3] if quick else TREES:
        X, y = load(folder, name)
        problem = Problem(X, y, C=C, max_features=budget)
        _solve(problem, 2, 100)
        runs: dict[int, list[Result]] = {1: [], 2: []}
        for _ in range(REPEATS):
            for n_jobs, results in runs.items():
                results.append(_solve(problem, n_jobs, max_nodes))
        one, two = (min(results, key=lambda r: r.seconds) for results in runs.values())
        nodes, nodes_2 = one.counters["nodes"], two.counters["nodes"]
        ratio = one.seconds / two.seconds
        rows.append({"set": name, "B": budget, "seconds": one.seconds, "nodes": nodes,
                     "seconds, 2": two.seconds, "nodes, 2": nodes_2})  # fmt: skip
        table.row(
            [name, budget, nodes, f"{one.seconds:.2f}", nodes_2, f"{two.seconds:.2f}",
             f"{ratio:.2f}",
             f"{nodes_2 / two.seconds / (nodes / one.seconds):.2f}"]
        )  # fmt: skip
    ratios = [row["seconds"] / row["seconds, 2"] for row in rows]
    print(
        f"\nTime ratio: mean {geometric_mean(ratios):.2f}, smallest {min(ratios):.2f}"
    )
    return rows


def _solve(problem: Problem, n_jobs: int, max_nodes: int | None) -> Result:
    # Without restarts of the swap search, since the trees are compared.
    return solve(
        problem, method="branch-and-bound", max_nodes=max_nodes, n_jobs=n_jobs,
        random_state=0, time_limit=300, method_options={"patience": 0},
    )  # fmt: skip
