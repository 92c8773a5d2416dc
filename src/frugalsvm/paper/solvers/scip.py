"""SCIP through PySCIPOpt: MIQPs, MISOCPs and complementarity constraints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .base import (
    MIXED_INTEGER_CONIC,
    AnyModel,
    ModelSolution,
    Request,
    SolveStatus,
    Trait,
)
from .bridge import failure
from .clarabel import StandardForm, compile_model

_STATUS = {
    "optimal": SolveStatus.OPTIMAL,
    "gaplimit": SolveStatus.OPTIMAL,
    "timelimit": SolveStatus.TIME_LIMIT,
    "nodelimit": SolveStatus.NODE_LIMIT,
    "totalnodelimit": SolveStatus.NODE_LIMIT,
    "userinterrupt": SolveStatus.INTERRUPTED,
    "infeasible": SolveStatus.INFEASIBLE,
    "unbounded": SolveStatus.UNBOUNDED,
}


class Scip:
    """Adapter of SCIP; it has no dual multipliers."""

    name: ClassVar[str] = "scip"
    package: ClassVar[str] = "pyscipopt"
    extra: ClassVar[str] = "paper"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (
        MIXED_INTEGER_CONIC | {Trait.COMPLEMENTARITY},
    )

    def solve(self, model: AnyModel, request: Request) -> ModelSolution:
        """Solve a model; complementarity by SOS1 constraints."""
        form = compile_model(model)
        try:
            return self._solve(form, request)
        except Exception as error:
            # PySCIPOpt raises bare exceptions for all internal errors.
            raise failure(self.name, model, error) from error

    def _solve(self, form: StandardForm, request: Request) -> ModelSolution:
        program = _build(form)
        scip = program.scip
        _set_parameters(scip, request)
        if request.start is not None:
            program.set_start(form.start_point(request.start))
        if request.should_stop is not None:
            # The caller handles Ctrl-C and requests a stop.
            scip.setParam("misc/catchctrlc", False)
            _watch(scip, request.should_stop)
        scip.optimize()
        status = _STATUS.get(scip.getStatus(), SolveStatus.FAILED)
        point = None
        if scip.getNSols():
            best = scip.getBestSol()
            point = np.array([scip.getSolVal(best, column) for column in program.x])
            if form.binaries.size:
                point[form.binaries] = np.round(point[form.binaries])
        bound = scip.getDualbound() if abs(scip.getDualbound()) < 1e20 else -np.inf
        return form.solution(self.name, status, bound, point)


def _set_parameters(scip: Any, request: Request) -> None:
    # Below 1e-7 SCIP may branch on cones forever, and its LP solver warns.
    accuracy = max(request.tolerance, 1e-7)
    scip.hideOutput(not request.verbose)
    scip.setParam("limits/gap", accuracy)
    scip.setParam("numerics/feastol", accuracy)
    scip.setParam("numerics/dualfeastol", accuracy)
    if request.seconds_left is not None:
        scip.setParam("limits/time", request.seconds_left)
    if request.node_limit is not None:
        scip.setParam("limits/totalnodes", request.node_limit)


def _watch(scip: Any, should_stop: Callable[[], bool]) -> None:
    """Let SCIP check for a stop request after every linear program."""
    from pyscipopt import SCIP_EVENTTYPE, SCIP_RESULT, Eventhdlr

    events = SCIP_EVENTTYPE.LPSOLVED | SCIP_EVENTTYPE.NODEFOCUSED

    class StopHandler(Eventhdlr):
        def eventinit(self) -> None:
            self.model.catchEvent(events, self)

        def eventexit(self) -> None:
            self.model.dropEvent(events, self)

        def eventexec(self, event: Any) -> dict[str, Any]:
            if should_stop():
                self.model.interruptSolve()
            return {"result": SCIP_RESULT.DIDNOTRUN}

    scip.includeEventhdlr(StopHandler(), "frugalsvm", "checks for a stop request")


# A number computed from the columns x and the rows b - A x.
_Value = Callable[[np.ndarray, np.ndarray], float]


@dataclass
class _Program:
    """A SCIP model: its columns x, and auxiliary variables that x determines.

    ``extra`` has these variables, with their values as functions of x and of the rows
    ``b - A x``.
    """

    form: StandardForm
    scip: Any
    x: list[Any]
    extra: list[tuple[Any, _Value]] = field(default_factory=list)

    def set_start(self, point: np.ndarray) -> None:
        """Pass an initial solution, whose entries may be missing (NaN)."""
        scip = self.scip
        complete = bool(np.isfinite(point).all())
        solution = scip.createSol() if complete else scip.createPartialSol()
        for column, value in zip(self.x, point, strict=True):
            if np.isfinite(value):
                scip.setSolVal(solution, column, float(value))
        if complete:
            rows = self.form.b - self.form.A @ point
            for variable, value in self.extra:
                scip.setSolVal(solution, variable, float(value(point, rows)))
        scip.addSol(solution)


def _build(form: StandardForm) -> _Program:
    from pyscipopt import Model as ScipModel

    scip = ScipModel()
    kinds = np.full(form.q.size, "C")
    kinds[form.binaries] = "B"
    x = [scip.addVar(lb=None, vtype=str(kind)) for kind in kinds]
    program = _Program(form, scip, x)
    rows = _affine(form, x)
    for row in range(form.n_zero):
        scip.addCons(rows[row] == 0)
    for row in range(form.n_zero, form.n_linear):
        scip.addCons(rows[row] >= 0)
    for cone in form.cones():
        _add_cone(program, rows, cone)
    for first, second in form.pairs:
        scip.addConsSOS1([x[first], x[second]])
    _set_objective(program)
    return program


def _affine(form: StandardForm, x: list[Any]) -> list[Any]:
    """The expressions ``b - A x``, row by row.

    They are made from dictionaries, since sums of products build an expression for each
    coefficient (CoP on 2000 x 500 data: 2.6 s instead of 0.5 s).
    """
    from pyscipopt.scip import CONST, Expr, Term

    terms = [Term(column) for column in x]
    A = sp.csr_array(form.A, copy=True)
    A.eliminate_zeros()
    expressions = []
    for row, right in enumerate(form.b.tolist()):
        part = slice(A.indptr[row], A.indptr[row + 1])
        names = [terms[j] for j in A.indices[part].tolist()]
        coefficients = dict(zip(names, (-A.data[part]).tolist(), strict=True))
        coefficients[CONST] = right
        expressions.append(Expr(coefficients))
    return expressions


def _mixed(mix: np.ndarray, cone: slice) -> _Value:
    """A combination of the rows of a cone."""
    return lambda _, rows: float(mix @ rows[cone])


def _add_cone(program: _Program, rows: list[Any], cone: slice) -> None:
    """``|| rows[1:] || <= rows[0]`` in a form that SCIP recognises.

    A cone of dimension three is a rotated one in its factors, ``s2^2 <= p r``: for the
    paper's blocks these are 2 (1 - u_j) and 2 W_jj.
    """
    from pyscipopt import quicksum

    scip, part = program.scip, rows[cone]
    size = [scip.addVar(lb=None) for _ in part]
    if len(part) == 3:
        links = (part[0] - part[1], part[0] + part[1], part[2])
        mixing = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        inside = size[2] * size[2] - size[0] * size[1] <= 0
        positive = size[:2]
    else:
        links = tuple(part)
        mixing = np.eye(len(part))
        inside = quicksum(s * s for s in size[1:]) - size[0] * size[0] <= 0
        positive = size[:1]
    for variable, link, mix in zip(size, links, mixing, strict=True):
        scip.addCons(variable - link == 0)
        program.extra.append((variable, _mixed(mix, cone)))
    for variable in positive:
        scip.chgVarLb(variable, 0.0)
    scip.addCons(inside)


def _set_objective(program: _Program) -> None:
    """SCIP needs a linear objective; the quadratic part becomes an epigraph."""
    from pyscipopt import quicksum

    form, scip, x = program.form, program.scip, program.x
    linear = quicksum(float(c) * x[j] for j, c in enumerate(form.q) if c)
    P = sp.coo_array(form.P)
    if P.nnz:
        top = scip.addVar(lb=0.0)
        terms = zip(*P.coords, P.data, strict=True)
        scip.addCons(quicksum(0.5 * p * x[i] * x[j] for i, j, p in terms) <= top)
        linear = linear + top
        program.extra.append((top, lambda x, _: 0.5 * x @ (form.P @ x)))
    scip.setObjective(linear, "minimize")
