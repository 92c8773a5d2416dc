"""Best known supports: their files, and the benchmark that looks for better ones.

``best_known.json`` has supports on the large data sets as indices of features, and no
data; objectives are recomputed on the user's copy. ``blocks.json`` has those of the
benchmark blocks.

The benchmark gives each method ten times the time of the default on every instance, if
it does not end by itself. Finished searches are recorded under ``searched`` in the
file, as a multiple of the default's time, and are not repeated: a run may be stopped,
or restricted to some data sets, and a later one continues. To search again, delete
these entries, and say ``--again``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from frugalsvm import Problem, Result, solve

from ..cells import Cell, cell, grid
from ..datasets import LARGE, DataSet
from ..experiment import Settings, benchmark
from ..store import Row, write_text

FILE = Path(__file__).with_name("best_known.json")
# A support is better if its objective is lower by this fraction.
BETTER = 1e-7
TOL = 1e-9


def objective_of(problem: Problem, support: list[int]) -> float:
    """Objective of the SVM on a support."""
    return problem.engine.solve_svm(np.array(sorted(support)), tol=TOL).primal


class BestKnown:
    """The file, which is updated when a better support is found."""

    def __init__(self, path: Path = FILE):
        self.path = path
        self.entries = self._read()

    @staticmethod
    def key(name: str, C: float, budget: int) -> str:
        """The name of an instance in the file."""
        return f"{name} C={C:g} B={budget}"

    def objective(self, problem: Problem, name: str, C: float, budget: int) -> float:
        """Objective of the best known support, infinite if there is none."""
        support = self.support(name, C, budget)
        return np.inf if support is None else objective_of(problem, support)

    def support(self, name: str, C: float, budget: int) -> list[int] | None:
        """The best known support."""
        return self.entries.get(self.key(name, C, budget), {}).get("support")

    def is_searched(self, key: str, method: str) -> bool:
        """Whether a method has been used to search for better supports."""
        return method in self.entries.get(key, {}).get("searched", {})

    def note(self, key: str, method: str, times: float) -> None:
        """Record such a search, with its time as a multiple of the default's."""
        self.entries[key].setdefault("searched", {})[method] = round(times, 1)
        self._write()

    def offer(
        self, problem: Problem, name: str, C: float, budget: int, support: np.ndarray
    ) -> bool:
        """Store a support if it is better than the known one; return whether it is."""
        features = sorted(int(j) for j in support)
        if not features or len(features) > budget:
            return False
        value = objective_of(problem, features)
        best = self.objective(problem, name, C, budget)
        if not value < best * (1.0 - BETTER):
            return False
        entry = self.entries.setdefault(self.key(name, C, budget), {})
        entry |= {"objective": round(value, 10), "support": features}
        self._write()
        return True

    def _write(self) -> None:
        # Another process may have written meanwhile.
        for key, theirs in self._read().items():
            ours = self.entries.setdefault(key, theirs)
            searched = theirs.get("searched", {}) | ours.get("searched", {})
            if theirs["objective"] < ours["objective"]:
                ours = self.entries[key] = theirs
            if searched:
                ours["searched"] = searched
        lines = [
            f"  {json.dumps(key)}: {json.dumps(self.entries[key])}"
            for key in sorted(self.entries)
        ]
        write_text(self.path, "{\n" + ",\n".join(lines) + "\n}\n")

    def _read(self) -> dict[str, Any]:
        return json.loads(self.path.read_text()) if self.path.exists() else {}


# --- the benchmark --------------------------------------------------------------------

#: Instances of the large data sets.
BUDGETS, WEIGHTS = (10, 20, 30), (0.1, 10.0)
# A seed that is not in the table of seeds.
SEED = 10
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


def default_time(data: DataSet, *, C: float, B: int) -> Row:
    """Seconds of the default method, which may find a better support, too."""
    problem = data.problem(B, C)
    result = solve(problem, random_state=SEED, n_jobs=1)
    BestKnown().offer(problem, data.name, C, B, result.selected)
    return {"seconds": result.seconds}


def best_known(
    data: DataSet, *, C: float, B: int, method: str, needs: list[Row]
) -> Row:
    """The search of a method for a better support; none if there was one before."""
    best = BestKnown()
    key = best.key(data.name, C, B)
    problem = data.problem(B, C)
    before = best.objective(problem, data.name, C, B)
    if best.is_searched(key, method):
        return {"before": before, "after": before, "times": 0.0}
    default = needs[0]["seconds"]
    start, seconds = best.support(data.name, C, B), 0.0
    for result in _results(method, problem, start, TIMES * default):
        best.offer(problem, data.name, C, B, result.selected)
        seconds += result.seconds
    best.note(key, method, seconds / default)
    after = best.objective(problem, data.name, C, B)
    return {"before": before, "after": after, "times": seconds / default}


def _results(
    method: str, problem: Problem, start: list[int] | None, seconds: float
) -> Iterator[Result]:
    """Results of a method in so many seconds; a search draws its own starts."""
    if method == "continuation":
        yield from _continuation(problem, seconds)
        return
    yield solve(
        problem,
        method=method,
        n_jobs=1,
        time_limit=seconds,
        random_state=SEED + 1,
        method_options=LONG.get(method),
        initial_support=None if method == "swap" else np.array(start),
    )


def _continuation(problem: Problem, seconds: float) -> Iterator[Result]:
    """From the smallest C to the problem's own, again and again; each step's result."""
    last, seed = problem.C.max(), SEED + 1
    steps = [*CONTINUATION[last * (1 - 1e-9) > CONTINUATION], last]
    while seconds > 0.0:
        result: Result | None = None
        for C in steps:
            result = solve(
                problem.with_C(float(C)),
                method="swap",
                warm=result,
                n_jobs=1,
                random_state=seed,
                method_options=BRIEF,
                time_limit=max(0.0, seconds),
            )
            seconds -= result.seconds
            yield result
        seed += 1


def _plan(settings: Settings) -> list[Cell]:
    names = settings.chosen(LARGE, LARGE[:2])
    default = grid("default time", names, C=WEIGHTS, B=BUDGETS)
    return [
        cell("best known", need.data, None, (need,), method=m, **dict(need.params))
        for m in METHODS
        for need in default
    ]


BEST_KNOWN = benchmark(
    "best-known",
    "A search for better supports than the best known ones, with every method",
    "Each method has ten times the time of the default on every instance of the large "
    "data sets; searches that the file records are not repeated.",
    _plan,
    [default_time, best_known],
)
