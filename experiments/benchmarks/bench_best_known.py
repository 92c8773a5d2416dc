"""Search for better supports than the best known ones, with every method.

Each method has ten times the time of the default on every instance, if it does not end
by itself. Finished searches are recorded under ``searched`` in the file of the best
known supports, as a multiple of the default's time, and are not repeated: a run may be
stopped, or restricted to some data sets, and a later one continues. To search again,
delete these entries.
"""

from pathlib import Path

import numpy as np

from frugalsvm import Problem, Result, solve

from .bench_seeds import SEEDS, instances
from .best_known import BestKnown

METHODS = (
    "local-search",
    "kernel-search",
    "heuristic",
    "exact",
    "swap",
    "branch-and-bound",
    "continuation",
)
# Multiple of the default's time.
TIMES = 10.0
# Unlimited patience.
LONG = {"swap": {"patience": 10**6}, "branch-and-bound": {"patience": 10**6}}
# C by which one comes to another, step by step, and the patience on the way.
CONTINUATION, BRIEF = np.geomspace(1e-3, 10.0, 9), {"patience": 25}


def run(folder: Path, quick: bool, sets: list[str]) -> None:
    """Look for better supports, method by method."""
    known = BestKnown()
    default: dict[str, float] = {}
    for method in METHODS:
        for name, C, budget, problem in instances(folder, quick):
            key = known.key(name, C, budget)
            if (sets and name not in sets) or known.is_searched(key, method):
                continue
            if key not in default:
                # A seed that is not in the table of seeds.
                found = solve(problem, random_state=SEEDS, n_jobs=1)
                known.offer(problem, name, C, budget, found.selected)
                default[key] = found.seconds
            before = known.objective(problem, name, C, budget)
            start, seconds = known.support(name, C, budget), 0.0
            for found in _found(method, problem, start, TIMES * default[key]):
                known.offer(problem, name, C, budget, found.selected)
                seconds += found.seconds
            times = seconds / default[key]
            known.note(key, method, times)
            after = known.objective(problem, name, C, budget)
            print(
                f"{key}, {method}: {before:.8g} -> {after:.8g} "
                f"in {times:.1f} times the default's {default[key]:.1f} s",
                flush=True,
            )


def _found(method: str, problem: Problem, start: list[int] | None, seconds: float):
    """Results of a method in so many seconds; a search draws its own starts."""
    if method == "continuation":
        yield from _continued(problem, seconds)
        return
    yield solve(
        problem, method=method, n_jobs=1, time_limit=seconds, random_state=SEEDS + 1,
        method_options=LONG.get(method),
        initial_support=None if method == "swap" else start,
    )  # fmt: skip


def _continued(problem: Problem, seconds: float):
    """From the smallest C to the problem's own, again and again; each step's result."""
    own, seed = problem.C.max(), SEEDS + 1
    steps = [*CONTINUATION[own * (1 - 1e-9) > CONTINUATION], own]
    while seconds > 0.0:
        found: Result | None = None
        for C in steps:
            found = solve(
                problem.with_C(float(C)), method="swap", warm=found, n_jobs=1,
                random_state=seed, method_options=BRIEF, time_limit=max(0.0, seconds),
            )  # fmt: skip
            seconds -= found.seconds
            yield found
        seed += 1
