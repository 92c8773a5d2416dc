"""FS-SVM as a MISOCP (perspective formulation) for SCIP and, if importable, COPT.

    min  sum_j t_j + C sum_i xi_i
    s.t. y_i (w x_i + b) >= 1 - xi_i,  w_j^2 <= 2 t_j z_j,  sum_j z_j <= B,  z binary

on one thread; for groups of columns ``||w_g||^2 <= 2 t_g z_g``, where ``w_g`` has the
weights of all machines if there are several. Both are given the
formulation that suits them best: a rotated cone for COPT, a bilinear constraint, which
SCIP recognises as one, for SCIP. Times are processor times. SCIP keeps a limit of them;
COPT's limit is one of wall time, ``slack`` times as long where the machine is shared,
and a proof that comes too late does not count.
"""

import importlib.util
import os
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np


class Claim(NamedTuple):
    """The claims of a solver, and its processor time."""

    objective: float
    bound: float
    support: np.ndarray
    nodes: int
    seconds: float
    proved: bool


def installed_solvers() -> dict[str, Callable[..., Claim]]:
    """Those of SCIP and COPT that are importable."""
    solvers: dict[str, Callable[..., Claim]] = {}
    if importlib.util.find_spec("pyscipopt"):
        solvers["SCIP"] = scip
    if importlib.util.find_spec("coptpy"):
        solvers["COPT"] = copt
    return solvers


def scip(
    X: np.ndarray,
    y: np.ndarray,
    C: float,
    budget: int,
    *,
    gap: float,
    seconds: float,
    slack: float = 1.0,
    groups: np.ndarray | None = None,
    signs: np.ndarray | None = None,
) -> Claim:
    """SCIP's claims after at most so many seconds of processor time.

    ``groups`` has the feature of each column; a sign that is not 0 is the weight's.
    ``y`` may have a column for each of several classes. The support is one of features.
    """
    from pyscipopt import Model, quicksum

    m, n = X.shape
    labels = np.reshape(y, (m, -1)).T
    groups = np.arange(n) if groups is None else np.asarray(groups)
    members = [np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1)]
    signs = np.zeros(n) if signs is None else np.asarray(signs)
    model = Model()
    model.hideOutput()
    model.setParam("timing/clocktype", 1)
    model.setParam("limits/time", seconds)
    model.setParam("limits/gap", gap)
    ranges = [(0.0 if s > 0 else None, 0.0 if s < 0 else None) for s in signs]
    w = [[model.addVar(lb=lb, ub=ub) for lb, ub in ranges] for _ in labels]
    t = [model.addVar(lb=0.0) for _ in members]
    z = [model.addVar(vtype="B") for _ in members]
    xi = [model.addVar(lb=0.0) for _ in range(labels.size)]
    for k, classes in enumerate(labels):
        b = model.addVar(lb=None)
        for i in range(m):
            score = quicksum(float(X[i, j]) * w[k][j] for j in range(n)) + b
            model.addCons(float(classes[i]) * score >= 1 - xi[k * m + i])
    for g, columns in enumerate(members):
        squares = quicksum(v[j] * v[j] for v in w for j in columns)
        model.addCons(squares <= 2 * t[g] * z[g])
    model.addCons(quicksum(z) <= budget)
    model.setObjective(quicksum(t) + C * quicksum(xi))
    started = time.process_time()
    model.optimize()
    elapsed = time.process_time() - started
    has_solution = model.getNSols() > 0
    values = [model.getVal(v) if has_solution else 0.0 for v in z]
    return Claim(
        model.getObjVal() if has_solution else np.inf,
        model.getDualbound(),
        np.flatnonzero(np.array(values) > 0.5),
        model.getNTotalNodes(),
        elapsed,
        model.getStatus() in ("optimal", "gaplimit"),
    )


@cache
def _copt_environment() -> Any:
    """One environment for all models; its banner is not printed."""
    import coptpy

    out = os.dup(1)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        try:
            return coptpy.Envr()
        finally:
            os.dup2(out, 1)
            os.close(out)


def copt(
    X: np.ndarray,
    y: np.ndarray,
    C: float,
    budget: int,
    *,
    gap: float,
    seconds: float,
    slack: float = 1.0,
) -> Claim:
    """COPT's claims, if they came within so many seconds of processor time."""
    import coptpy
    from coptpy import COPT

    m, n = X.shape
    model = _copt_environment().createModel("fs-svm")
    model.setParam(COPT.Param.Logging, 0)
    model.setParam(COPT.Param.TimeLimit, slack * seconds)
    model.setParam(COPT.Param.RelGap, gap)
    model.setParam(COPT.Param.Threads, 1)
    infinity = COPT.INFINITY
    w = [model.addVar(lb=-infinity) for _ in range(n)]
    t = [model.addVar(lb=0.0) for _ in range(n)]
    z = [model.addVar(vtype=COPT.BINARY) for _ in range(n)]
    xi = [model.addVar(lb=0.0) for _ in range(m)]
    b = model.addVar(lb=-infinity)
    for i in range(m):
        score = coptpy.quicksum(float(X[i, j]) * w[j] for j in range(n)) + b
        model.addConstr(float(y[i]) * score + xi[i] >= 1)
    for j in range(n):
        model.addCone([t[j], z[j], w[j]], COPT.CONE_RQUAD)
    model.addConstr(coptpy.quicksum(z) <= budget)
    model.setObjective(coptpy.quicksum(t) + C * coptpy.quicksum(xi), COPT.MINIMIZE)
    started = time.process_time()
    model.solve()
    elapsed = time.process_time() - started
    has_solution = model.hasmipsol
    shares = np.array([v.x for v in z]) if has_solution else np.zeros(n)
    return Claim(
        model.objval if has_solution else np.inf,
        model.bestbnd,
        np.flatnonzero(shares > 0.5),
        int(model.nodecnt),
        elapsed,
        model.status == COPT.OPTIMAL and elapsed <= seconds,
    )
