"""One run under supervision: relax, run the method, polish, recompute the bound."""

from __future__ import annotations

import warnings
from dataclasses import astuple, dataclass, field
from typing import Any

import numpy as np

from ..engine.work import svm_work
from ..problem.options import Options
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.monitor import LEAST_GAP, Monitor, relative_gap
from ..run.stopping import Effort, Stage, efforts_up_to
from ..run.threads import single_threaded_blas
from ..search.evaluator import Evaluator
from ..search.native import relax_natively
from ..search.reduced import n_searched
from ..search.relaxations import fit_budgets
from ..tree.node import DualPoint, Node
from ..tree.proof import build_certificate
from .constant import constant_sign, never_predicted
from .methods import Context, Outcome, check_method, find_method
from .options import SolveOptions
from .polish import PrimalPoint, ghost_limit, polished, without_ghosts
from .result import Result, Status, by_machine

# Accuracy of the final SVM on the selected features.
FINAL_TOL = 1e-12
# Methods whose work is set by the effort; the others have their own stopping rules.
BY_EFFORT = ("auto", "swap")


@dataclass(frozen=True)
class RunRequest:
    """The options of a run, checked and completed for its problem.

    Attributes
    ----------
    method : str
    options : Options
        The options of the method.
    n_jobs : int
        Threads.
    seed : SeedSequence
    initial_support : ndarray of int or None
        Within the budgets.
    max_nodes : int or None
    keep_proof : bool
    near : ndarray or None
        A dual point of a similar problem, used to start the relaxation.
    warm_supports : list of ndarray of int
    limits : dict
        Work limits, see ``Context``.
    """

    method: str
    options: Options
    n_jobs: int
    seed: np.random.SeedSequence
    initial_support: np.ndarray | None = None
    max_nodes: int | None = None
    keep_proof: bool = False
    near: np.ndarray | None = None
    warm_supports: list[np.ndarray] = field(default_factory=list)
    limits: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem, options: SolveOptions) -> RunRequest:
        """Check the options that depend on the problem."""
        method = options.method
        find_method(method).check(problem)
        method_options = dict(options.method_options or {})
        limits = work_limits(problem, options)
        if method in BY_EFFORT:
            method_options = {"patience": options.work.patience} | method_options
        return cls(
            method,
            check_method(method, method_options, problem.n_features),
            options.threads,
            options.seed(),
            checked_support(problem, options.initial_support),
            options.max_nodes,
            options.certificate,
            _near(problem, options.warm),
            _warm_supports(problem, options.warm),
            limits,
        )


def run(problem: Problem, request: RunRequest, monitor: Monitor) -> Result:
    """Solve the relaxation, run the method, and finish."""
    problem = problem.watching(monitor.stop.flag, request.n_jobs)
    # Threads work on independent nodes, not inside small matrix products.
    with single_threaded_blas():
        relaxation = relax_natively(
            problem, should_stop=monitor.should_stop, near=request.near
        )
        monitor.raise_bound(relaxation.bound, "relaxation")
        context = Context(
            problem, monitor, relaxation, request.n_jobs, request.seed,
            request.initial_support, request.max_nodes, request.keep_proof,
            request.warm_supports, **request.limits,
        )  # fmt: skip
        outcome = find_method(request.method).run(context, request.options)
        return _finish(context, request.method, outcome)


def work_limits(problem: Problem, options: SolveOptions) -> dict[str, Any]:
    """Limits of search and tree, unless the user sets limits.

    A run begins like those of smaller efforts: it goes to their limits first.
    """
    method, method_options = options.method, options.method_options or {}
    if method not in BY_EFFORT:
        return {}
    has_tree_limit = method == "auto" and options.max_nodes is None
    if "patience" in method_options:
        limits = _tree_limits(options.work, has_tree_limit)
        return {"stages": (Stage(method_options["patience"], np.inf, *limits),)}
    size = n_searched(problem)
    stages = [
        Stage(
            effort.patience,
            search_limit(effort, problem, size, options.search_share),
            *_tree_limits(effort, has_tree_limit),
        )
        for effort in efforts_up_to(options.effort)
    ]
    last = stages[-1]
    # A tree that the effort does not limit grows at once.
    smaller = stages[:-1] if has_tree_limit or method == "swap" else []
    within = [Stage(*map(min, astuple(stage), astuple(last))) for stage in smaller]
    return {"stages": (*within, last), "is_by_effort": True}


def _tree_limits(effort: Effort, has_limit: bool) -> tuple[float, float]:
    """Work limits of a tree, and of one that is likely to close."""
    return (effort.tree_work, effort.closing_work) if has_limit else (np.inf, np.inf)


def search_limit(
    effort: Effort, problem: Problem, n_samples: int | None = None, share: float = 1.0
) -> float:
    """Work limit of a swap search on a number of samples, or on all."""
    size = min(problem.max_features, problem.n_features)
    per_svm = svm_work(problem.n_samples if n_samples is None else n_samples, size)
    return max(share * effort.search_work, effort.least_svms * per_svm)


def _finish(context: Context, method: str, outcome: Outcome) -> Result:
    """Polish the solution, and recompute objective and bound."""
    problem, monitor = context.problem, context.monitor
    finals = _finals(context)
    final, _ = min(finals, key=lambda pair: pair[1].objective)
    root_bound, point = _root_proof(context, final)
    bound = max(root_bound, outcome.bound)
    counters = {"relaxation iterations": context.relaxation.iterations}
    # All finalists, so that a larger effort does not end with a larger objective.
    models = []
    for _, model in finals:
        limit = ghost_limit(model.objective, bound, max(monitor.gap_tol, LEAST_GAP))
        smaller = without_ghosts(problem, model, limit, refit=not monitor.should_stop())
        models.append(polished(problem, smaller, limit=limit))
    model = min(models, key=lambda point: point.objective)
    return conclude(
        problem, monitor, model, method, outcome, counters, root_bound, point,
        context.keep_proof,
    )  # fmt: skip


def conclude(
    problem: Problem,
    monitor: Monitor,
    model: PrimalPoint,
    method: str,
    outcome: Outcome,
    counters: dict[str, int],
    root_bound: float,
    point: np.ndarray,
    keep_proof: bool,
) -> Result:
    """Decide the status, and collect the result.

    ``point`` is the dual point of ``root_bound``.
    """
    coef, intercept, objective = model
    root_point = None
    if keep_proof:
        root_point, proved = DualPoint.stored(
            problem.engine, problem, problem.root_region(), point
        )
        root_bound = proved.bound
    bound = max(root_bound, outcome.bound)
    status = _status(monitor, outcome, relative_gap(objective, bound))
    monitor.close(objective, bound, str(status))
    failure = monitor.stop.failure
    if failure is not None:
        warnings.warn(f"the run ended early: {failure}", stacklevel=2)
    proof = None
    if keep_proof:
        # A tree that proves no more than its root is omitted from the certificate.
        nodes: list[Node] | None = outcome.nodes if outcome.bound > root_bound else None
        proof = build_certificate(
            problem, coef, intercept, objective, bound, nodes, root_point
        )
    columns = problem.machine_columns
    return Result(
        objective=objective,
        lower_bound=bound,
        selected=problem.columns.used(coef),
        coef=by_machine(problem, coef),
        intercept=intercept,
        status=status,
        method=method,
        seconds=monitor.stop.seconds,
        counters=counters | outcome.counters,
        history=monitor.history,
        dual_point=point,
        reported_bound=outcome.reported_bound,
        certificate=proof,
        message=failure or "",
        elites=outcome.elites,
        constant=constant_sign(problem, coef, intercept),
        never=never_predicted(problem, coef, intercept),
        groups=columns.groups if columns.has_groups else None,
    )


def _finals(context: Context) -> list[tuple[Solution, PrimalPoint]]:
    """The finalists, also solved more accurately if time permits, and their models."""
    assert context.incumbent.solution is not None
    context.keep_finalist()
    # Others cannot be better in the end: errors of a search's objectives are smaller.
    largest = context.incumbent.objective * (1.0 + 1e-4)
    finalists = [final for final in context.finalists if final.objective <= largest]
    supports = {final.key: final.support for final in finalists}
    accurate = []
    for support in supports.values():
        if context.monitor.should_stop():
            break
        solution = Evaluator(context.problem).solve(support, tol=FINAL_TOL)
        if solution is not None:
            accurate.append(solution)
    return [
        (final, PrimalPoint.of(context.problem, final))
        for final in accurate + finalists
    ]


def _root_proof(context: Context, final: Solution) -> tuple[float, np.ndarray]:
    """The best bound that a single dual point proves, and that point."""
    problem = context.problem
    # If all features fit, the dual point of the solution is the better one.
    best, proof = -np.inf, final.alpha
    for alpha in (context.relaxation.alpha, final.alpha):
        proved = problem.engine.bound(problem.root_region(), alpha)
        if proved.bound > best:
            best, proof = proved.bound, proved.alpha
    return best, proof


def _status(monitor: Monitor, outcome: Outcome, gap: float) -> Status:
    stop = monitor.stop
    # Below the least gap there are only rounding errors.
    if gap <= max(monitor.gap_tol, LEAST_GAP):
        return Status.OPTIMAL
    if stop.failure is not None:
        return Status.SOLVER_FAILED
    if stop.interrupted:
        return Status.INTERRUPTED
    if stop.out_of_time:
        return Status.TIME_LIMIT
    if outcome.hit_limit is not None:
        limits = {"nodes": Status.NODE_LIMIT, "memory": Status.MEMORY_LIMIT}
        return limits[outcome.hit_limit]
    return Status.FEASIBLE


def checked_support(problem: Problem, support: np.ndarray | None) -> np.ndarray | None:
    """The user's features in their order, truncated to satisfy the constraints."""
    if support is None:
        return None
    support = np.asarray(support)
    if support.ndim != 1 or (
        support.size and not np.issubdtype(support.dtype, np.integer)
    ):
        raise ValueError(f"initial_support must be a list of indices, got {support!r}.")
    if support.size and (support.min() < 0 or support.max() >= problem.n_features):
        raise ValueError(
            f"initial_support has a feature outside 0 to {problem.n_features - 1}."
        )
    _, first = np.unique(support, return_index=True)
    ordered = support[np.sort(first)]
    free = ordered[np.isin(ordered, problem.candidates)]
    return fit_budgets(problem, free)


def _near(problem: Problem, warm: Result | None) -> np.ndarray | None:
    """The dual point of a result, if it has the same samples."""
    if warm is None or warm.dual_point is None:
        return None
    return warm.dual_point if warm.dual_point.size == problem.n_samples else None


def _warm_supports(problem: Problem, warm: Result | None) -> list[np.ndarray]:
    """The solution and the elite pool of another result."""
    if warm is None:
        return []
    if warm.n_features != problem.n_features:
        raise ValueError(
            f"warm is for a problem with {warm.n_features} features, but this one has "
            f"{problem.n_features}; give a result for the same features."
        )
    return [warm.selected, *warm.elites]
