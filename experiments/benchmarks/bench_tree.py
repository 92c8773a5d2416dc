"""How fast bounds rise: trees that do not close, one thread.

To compare with an earlier commit, run that one with ``--save FILE`` (these benchmarks
on its PYTHONPATH) and this one with ``--against FILE``: the last column is the
processor time until its last bound is reached, as a fraction of the time that it took.
"""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from experiments.study.sources import LARGE
from experiments.study.tasks.designs import logistic_design
from frugalsvm import Problem, solve

from .data import load
from .tables import Table, geometric_mean

# Name, C, B of the trees with expensive nodes.
DEAR = (("madelon", 1.0, 10), ("mfeat", 1.0, 10))
# Samples and features of the correlated Gaussian design, C = 1, B = 10.
SIZES = (500, 1000, 2000)
Trajectory = list[tuple[float, float]]


def instances(folder: Path, quick: bool) -> Iterator[tuple[str, Callable[[], Problem]]]:
    """Names of instances, and how to make them."""

    def of_data(name: str, C: float, B: int) -> Problem:
        X, y = load(folder, name)
        return Problem(X, y, C=C, max_features=B)

    def of_design(n: int) -> Problem:
        made = logistic_design(n, n, 10, 0.9, 0)
        X = (made.X - made.X.mean(0)) / made.X.std(0)
        return Problem(X, made.y, C=1.0, max_features=10)

    for name, C, B in DEAR:
        yield f"{name} C={C:g} B={B}", lambda name=name, C=C, B=B: of_data(name, C, B)
    for n in SIZES[:2] if quick else SIZES:
        yield f"design n={n} C=1 B=10", lambda n=n: of_design(n)
    for name in () if quick else LARGE:
        for B in (10, 20, 30):
            yield f"{name} C=10 B={B}", lambda name=name, B=B: of_data(name, 10.0, B)


def run(
    folder: Path, quick: bool, seconds: float, save: str | None, against: str | None
) -> None:
    before = json.loads(Path(against).read_text()) if against else {}
    table = Table(
        f"Bounds of trees, {seconds:g} s each, one thread",
        ["instance", "objective", "bound, 1/4", "bound", "nodes", "nodes/s",
         "time ratio"],
        width=11,
    )  # fmt: skip
    found: dict[str, Trajectory] = {}
    ratios = []
    for name, make in instances(folder, quick):
        result, rise = _climb(make(), seconds)
        found[name] = rise
        last, quarter = rise[-1], _bound_at(rise, 0.25 * rise[-1][0])
        ratio = _ratio(rise, before[name]) if name in before else np.nan
        ratios += [ratio] if np.isfinite(ratio) else []
        nodes = result.counters["nodes"]
        table.row(
            [name, f"{result.objective:.6g}", f"{quarter:.6g}", f"{last[1]:.6g}", nodes,
             f"{nodes / result.seconds:.1f}", f"{ratio:.2f}"]
        )  # fmt: skip
        if save:
            Path(save).write_text(json.dumps(found))
    if ratios:
        mean, worst = geometric_mean(ratios), max(ratios)
        print(f"\nTime ratio: mean {mean:.2f}, worst {worst:.2f}, of {len(ratios)}")


def _climb(problem: Problem, seconds: float):
    """The result of a tree, and its bounds by processor time."""
    _solve(problem, 5.0, None, max_nodes=1)
    begin = time.process_time()
    rise: Trajectory = []

    def note(progress) -> None:
        if not rise or progress.lower_bound > rise[-1][1]:
            rise.append((time.process_time() - begin, progress.lower_bound))

    result = _solve(problem, seconds, note)
    rise.append((time.process_time() - begin, result.lower_bound))
    return result, rise


def _solve(problem: Problem, seconds: float, callback, max_nodes: int | None = None):
    return solve(
        problem, method="branch-and-bound", time_limit=seconds, n_jobs=1,
        random_state=0, callback=callback, max_nodes=max_nodes,
    )  # fmt: skip


def _bound_at(rise: Trajectory, seconds: float) -> float:
    return max((bound for t, bound in rise if t <= seconds), default=0.0)


def _ratio(rise: Trajectory, before: Trajectory) -> float:
    """Time to the last bound of an earlier run by its time; NaN if not reached."""
    seconds, bound = before[-1]
    return min((t for t, own in rise if own >= bound), default=np.nan) / seconds
