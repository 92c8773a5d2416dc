"""Branch and bound against MIP solvers, one thread each: time to a proved optimum.

Times are processor times, so that other work on the machine does not matter much.
"""

import importlib.util
import time
from pathlib import Path

import numpy as np

from frugalsvm import Problem, Result, solve, verify
from frugalsvm.engine.native import NativeEngine

from . import mip_solvers
from .data import SMALL, load
from .results import Row
from .tables import Table, geometric_mean

GAP = 1e-4
AGREEMENT = 1e-4
# Limit of wall time, as a multiple of that of processor time.
SLACK = 3.0


def instances(n: int) -> list[tuple[int, float]]:
    """Budgets and C of the panel, without repeats."""
    return list(dict.fromkeys([(3, 1.0), (5, 10.0), (min(10, n // 2 + 1), 10.0)]))


def peers() -> dict:
    found = {}
    for name, module in (("SCIP", "pyscipopt"), ("COPT", "coptpy")):
        if importlib.util.find_spec(module):
            found[name] = getattr(mip_solvers, name.lower())
        else:
            print(f"{name} is skipped: {module} is not installed.")
    return found


def _ours(X, y, C, budget, seconds) -> tuple[Result, float]:
    problem = Problem(X, y, C=C, max_features=budget)
    started = time.process_time()
    result = solve(
        problem, method="branch-and-bound", gap_tol=GAP, time_limit=SLACK * seconds,
        random_state=0, n_jobs=1, certificate=True,
    )  # fmt: skip
    return result, time.process_time() - started


def refit(X, y, C, support) -> float:
    """Objective of the SVM on some columns."""
    A = np.ascontiguousarray((X * y[:, None]).T)
    return NativeEngine.of(A, y, np.full(y.size, C)).solve_svm(support).primal


def run(folder: Path, quick: bool, seconds: float) -> list[Row]:
    others = peers()
    columns = ["data set", "B", "C", "optimum", "ours [s]", "nodes", "verify"]
    for name in others:
        columns += [f"{name} [s]", f"{name} nodes", f"{name} / ours", "claim / opt - 1"]
    table = Table(
        f"Proved optima, relative gap {GAP:g}, limit {seconds:g} s, one thread each",
        columns,
        width=9,
    )
    _warm_up()
    rows: list[Row] = []
    for data in SMALL[:3] if quick else SMALL:
        X, y = load(folder, data)
        for budget, C in instances(X.shape[1]):
            result, spent = _ours(X, y, C, budget, seconds)
            checked = verify(result.certificate, X, y, C=C, max_features=budget)
            row = {"set": data, "B": budget, "C": C, "objective": result.objective}
            row["ours"] = _run(spent, result.status == "optimal", seconds)
            cells = [data, budget, f"{C:g}", f"{result.objective:.6f}",
                     f"{spent:.3f}", result.counters["nodes"],
                     f"{checked.gap:.1e}"]  # fmt: skip
            objectives = [result.objective]
            for name, solver in others.items():
                outcome = solver(X, y, C, budget, gap=GAP, seconds=seconds, slack=SLACK)
                row[name] = _run(outcome.seconds, outcome.proved, seconds)
                objectives.append(refit(X, y, C, outcome.support))
                claim = outcome.objective / result.objective - 1.0
                ratio = row[name]["seconds"] / row["ours"]["seconds"]
                mark = "" if row[name]["proved"] else "*"
                cells += [f"{outcome.seconds:.2f}{mark}", outcome.nodes,
                          f"{ratio:.1f}", f"{claim:+.1e}"]  # fmt: skip
            row["spread"] = max(objectives) / min(objectives) - 1.0
            rows.append(row)
            table.row(cells)
    _summary(rows, ["ours", *others])
    return rows


def _run(seconds: float, proved: bool, limit: float) -> Row:
    return {"seconds": min(seconds, limit), "proved": bool(proved and seconds <= limit)}


def _warm_up() -> None:
    """Load the compiled kernels before the first clock starts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    solve(Problem(X, np.sign(X[:, 0]), max_features=2), method="branch-and-bound")


def _summary(rows: list[Row], names: list[str]) -> None:
    print(
        "\n* limit reached, counted as the limit. 'verify' is the gap that the "
        "independent checker proves from our certificate. 'claim / opt - 1' is the "
        "objective a solver claims against ours: below zero through its tolerances.\n"
    )
    total = len(rows)
    ours = geometric_mean([row["ours"]["seconds"] for row in rows])
    for name in names:
        mean = geometric_mean([row[name]["seconds"] for row in rows])
        proved = sum(row[name]["proved"] for row in rows)
        ratio = "" if name == "ours" else f", {mean / ours:.1f} times ours"
        print(f"{name}: {proved} of {total} proved, mean {mean:.3f} s{ratio}")
    agree = sum(row["spread"] <= AGREEMENT for row in rows)
    print(f"All supports agree to {AGREEMENT:g} when refitted: {agree} of {total}.")
