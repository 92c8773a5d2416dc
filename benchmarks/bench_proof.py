"""How far proofs get: the gap after some seconds as C changes, B = 10, one thread each.

Our cells are those of ``python -m frugalsvm experiment proof``; the others are SCIP
and, where it is installed, COPT on the perspective formulation.
"""

import importlib.util
from pathlib import Path

from frugalsvm.experiments.runner import compute
from frugalsvm.experiments.sources import LARGE, Source
from frugalsvm.experiments.studies.proof import ALL_C, BUDGET, tree_cell
from frugalsvm.progress import relative_gap

from . import mip_solvers
from .data import load
from .tables import Table

GAP = 1e-4


def peers() -> dict:
    known = {"SCIP": "pyscipopt", "COPT": "coptpy"}
    return {
        name: getattr(mip_solvers, name.lower())
        for name, package in known.items()
        if importlib.util.find_spec(package)
    }


def run(folder: Path, quick: bool, seconds: float, names: list[str]) -> None:
    others = peers()
    columns = ["data set", "C", "objective", "bound", "gap [%]", "nodes"]
    for name in others:
        columns += [f"{name} obj.", f"{name} bound", f"{name} gap [%]"]
    table = Table(
        f"Proved gaps, B={BUDGET}, time_limit={seconds:g}, one thread each", columns,
        width=9,
    )  # fmt: skip
    source = Source(str(folder))
    chosen = [name for name in LARGE if not names or name in names]
    smaller = total = 0
    for name in chosen[:2] if quick else chosen:
        for C in ALL_C:
            _, ours = compute(tree_cell(name, C, seconds), [], source)
            found = ours.values
            row = [name, f"{C:g}", f"{found['objective']:.6g}", f"{found['bound']:.6g}",
                   f"{100 * found['gap']:.2f}", found["nodes"]]  # fmt: skip
            for solver in others.values():
                gap, cells = _peer(solver, folder, name, C, seconds)
                smaller += found["gap"] <= gap
                total += 1
                row += cells
            table.row(row)
    print(f"\nOur gap is not larger than another solver's on {smaller} of {total}.")


def _peer(solver, folder: Path, name: str, C: float, seconds: float):
    """The gap of another solver, and what to print of it."""
    X, y = load(folder, name)
    found = solver(X, y, C, BUDGET, gap=GAP, seconds=seconds)
    bound = max(found.bound, 0.0)
    gap = relative_gap(found.objective, bound)
    return gap, [f"{found.objective:.6g}", f"{bound:.6g}", f"{100 * gap:.2f}"]
