"""SCIP through PySCIPOpt: MIQPs, MISOCPs and complementarity constraints."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .base import DEFAULT_TOLERANCE, Solution, SolveStatus, Trait
from .standard_form import StandardForm, compile_model

if TYPE_CHECKING:
    from ..models.model import Model

_STATUS = {
    "optimal": SolveStatus.OPTIMAL,
    "gaplimit": SolveStatus.OPTIMAL,
    "timelimit": SolveStatus.TIME_LIMIT,
    "userinterrupt": SolveStatus.INTERRUPTED,
    "infeasible": SolveStatus.INFEASIBLE,
    "unbounded": SolveStatus.UNBOUNDED,
}
# Below this SCIP may branch on cones for ever, and its LP solver complains.
SMALLEST_TOLERANCE = 1e-7


class Scip:
    """Adapter of SCIP; it has no dual multipliers."""

    name: ClassVar[str] = "scip"
    package: ClassVar[str] = "pyscipopt"
    extra: ClassVar[str] = "paper"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (
        frozenset(
            {
                Trait.QUADRATIC,
                Trait.SECOND_ORDER,
                Trait.INTEGER,
                Trait.COMPLEMENTARITY,
            }
        ),
    )

    def solve(
        self,
        model: Model,
        *,
        time_limit: float | None = None,
        tolerance: float = DEFAULT_TOLERANCE,
        verbose: bool = False,
        should_stop: Callable[[], bool] | None = None,
    ) -> Solution:
        """Solve a model; complementarity by SOS1 constraints."""
        started = time.perf_counter()
        form = compile_model(model)
        scip, columns = _build(form)
        accuracy = max(tolerance, SMALLEST_TOLERANCE)
        scip.hideOutput(not verbose)
        scip.setParam("limits/gap", accuracy)
        scip.setParam("numerics/feastol", accuracy)
        scip.setParam("numerics/dualfeastol", accuracy)
        if time_limit is not None:
            left = time_limit - (time.perf_counter() - started)
            scip.setParam("limits/time", max(left, 0.0))
        if should_stop is not None:
            # Ctrl-C is for the caller, who will want us to stop.
            scip.setParam("misc/catchctrlc", False)
            _watch(scip, should_stop)
        scip.optimize()
        status = _STATUS.get(scip.getStatus(), SolveStatus.FAILED)
        point = None
        if scip.getNSols():
            best = scip.getBestSol()
            point = np.array([scip.getSolVal(best, column) for column in columns])
            if form.binaries.size:
                point[form.binaries] = np.round(point[form.binaries])
        bound = scip.getDualbound() if abs(scip.getDualbound()) < 1e20 else -np.inf
        return form.solution(self.name, status, bound, point)


def _watch(scip: Any, should_stop: Callable[[], bool]) -> None:
    """Let SCIP ask whether to stop, after every linear program it solves."""
    from pyscipopt import SCIP_EVENTTYPE, SCIP_RESULT, Eventhdlr

    events = SCIP_EVENTTYPE.LPSOLVED | SCIP_EVENTTYPE.NODEFOCUSED

    class Asking(Eventhdlr):
        def eventinit(self) -> None:
            self.model.catchEvent(events, self)

        def eventexit(self) -> None:
            self.model.dropEvent(events, self)

        def eventexec(self, event: Any) -> dict[str, Any]:
            if should_stop():
                self.model.interruptSolve()
            return {"result": SCIP_RESULT.DIDNOTRUN}

    scip.includeEventhdlr(Asking(), "frugalsvm", "asks whether to stop")


def _build(form: StandardForm) -> tuple[Any, list[Any]]:
    from pyscipopt import Model as ScipModel

    scip = ScipModel()
    kinds = np.full(form.q.size, "C")
    kinds[form.binaries] = "B"
    x = [scip.addVar(lb=None, vtype=str(kind)) for kind in kinds]
    rows = _affine(form, x)
    for row in range(form.n_zero):
        scip.addCons(rows[row] == 0)
    for row in range(form.n_zero, form.n_linear):
        scip.addCons(rows[row] >= 0)
    for cone in form.cones():
        _add_cone(scip, rows[cone])
    for first, second in form.pairs:
        scip.addConsSOS1([x[first], x[second]])
    _set_objective(scip, form, x)
    return scip, x


def _affine(form: StandardForm, x: list[Any]) -> list[Any]:
    """The expressions ``b - A x``, row by row."""
    from pyscipopt import quicksum

    A = sp.csr_array(form.A)
    expressions = []
    for row, right in enumerate(form.b):
        part = slice(A.indptr[row], A.indptr[row + 1])
        terms = zip(A.indices[part], A.data[part], strict=True)
        expressions.append(float(right) - quicksum(a * x[j] for j, a in terms if a))
    return expressions


def _add_cone(scip: Any, rows: list[Any]) -> None:
    """``|| rows[1:] || <= rows[0]`` in a form that SCIP recognises.

    A cone of dimension three is a rotated one in its factors, ``s2^2 <= p r``: for the
    paper's blocks these are 2 (1 - u_j) and 2 W_jj.
    """
    from pyscipopt import quicksum

    size = [scip.addVar(lb=None) for _ in rows]
    if len(rows) == 3:
        links = (rows[0] - rows[1], rows[0] + rows[1], rows[2])
        cone = size[2] * size[2] - size[0] * size[1] <= 0
        positive = size[:2]
    else:
        links = tuple(rows)
        cone = quicksum(s * s for s in size[1:]) - size[0] * size[0] <= 0
        positive = size[:1]
    for variable, link in zip(size, links, strict=True):
        scip.addCons(variable - link == 0)
    for variable in positive:
        scip.chgVarLb(variable, 0.0)
    scip.addCons(cone)


def _set_objective(scip: Any, form: StandardForm, x: list[Any]) -> None:
    """SCIP wants a linear objective; the quadratic part goes to an epigraph."""
    from pyscipopt import quicksum

    linear = quicksum(float(c) * x[j] for j, c in enumerate(form.q) if c)
    P = sp.coo_array(form.P)
    if P.nnz:
        top = scip.addVar(lb=0.0)
        terms = zip(*P.coords, P.data, strict=True)
        scip.addCons(quicksum(0.5 * p * x[i] * x[j] for i, j, p in terms) <= top)
        linear = linear + top
    scip.setObjective(linear, "minimize")
