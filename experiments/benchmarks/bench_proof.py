"""How far proofs get: the gap after some seconds as C changes, B = 10.

Our runs are cells of the kind of ``python -m frugalsvm experiment proof``, but with
more C and threads; the others are SCIP, which has one thread, and, where it is
installed, COPT on the perspective formulation.
"""

import importlib.util
from pathlib import Path

from experiments.study.cells import cell
from experiments.study.runner import compute
from experiments.study.sources import LARGE, DatasetSource
from experiments.study.studies.proof import BUDGET
from frugalsvm.runtime.progress import relative_gap

from . import mip_solvers
from .data import load
from .results import Row
from .tables import Table

GAP = 1e-4
ALL_C = (0.001, 0.003, 0.01, 0.03, 0.1, 1.0, 10.0)


def peers() -> dict:
    known = {"SCIP": "pyscipopt", "COPT": "coptpy"}
    return {
        name: getattr(mip_solvers, name.lower())
        for name, package in known.items()
        if importlib.util.find_spec(package)
    }


def run(
    folder: Path, quick: bool, seconds: float, names: list[str], n_jobs: int
) -> list[Row]:
    others = peers()
    columns = ["data set", "C", "objective", "bound", "gap [%]", "nodes"]
    for name in others:
        columns += [f"{name} obj.", f"{name} bound", f"{name} gap [%]"]
    table = Table(
        f"Proved gaps, B={BUDGET}, {seconds:g} s, {n_jobs} threads (others: 1)",
        columns, width=9,
    )  # fmt: skip
    source = DatasetSource(str(folder))
    chosen = [name for name in LARGE if not names or name in names]
    rows: list[Row] = []
    smaller = total = 0
    proved: dict[float, int] = {}
    for name in chosen[:2] if quick else chosen:
        for C in ALL_C:
            own = cell(
                "method", name, seconds, method="branch-and-bound", B=BUDGET, C=C,
                n_jobs=n_jobs,
            )  # fmt: skip
            outcome = compute(own, [], source)[1]
            found = outcome.values
            proved[C] = proved.get(C, 0) + (found["gap"] <= GAP)
            rows.append({"set": name, "C": C, "gap": found["gap"],
                         "seconds": outcome.seconds, "peers": {}})  # fmt: skip
            row = [name, f"{C:g}", f"{found['objective']:.6g}", f"{found['bound']:.6g}",
                   f"{100 * found['gap']:.2f}", found["nodes"]]  # fmt: skip
            for peer, solver in others.items():
                gap, cells = _peer(solver, folder, name, C, seconds)
                smaller += found["gap"] <= gap
                total += 1
                rows[-1]["peers"][peer] = gap
                row += cells
            table.row(row)
    print("\nProved: " + ", ".join(f"{n} at C = {C:g}" for C, n in proved.items()))
    print(f"Our gap is not larger than another solver's on {smaller} of {total}.")
    return rows


def _peer(solver, folder: Path, name: str, C: float, seconds: float):
    """The gap of another solver, and what to print of it."""
    X, y = load(folder, name)
    found = solver(X, y, C, BUDGET, gap=GAP, seconds=seconds)
    bound = max(found.bound, 0.0)
    gap = relative_gap(found.objective, bound)
    return gap, [f"{found.objective:.6g}", f"{bound:.6g}", f"{100 * gap:.2f}"]
