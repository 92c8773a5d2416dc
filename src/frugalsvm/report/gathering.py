"""Builds the sections of a report from the package's results."""

from __future__ import annotations

import numpy as np

from ..checker import Statement
from ..estimators.alternatives_init import NearOptimal
from ..estimators.choice import ScoredPath, one_standard_error
from ..estimators.path import FrugalPath
from ..problem.certificate import Certificate
from ..solving.result import Result
from .content import (
    AlternativesSummary,
    BudgetPath,
    CertificateSummary,
    FeatureAlternatives,
    ProgressCurve,
    Verdict,
)


def verdict_of(
    result: Result,
    *,
    C: float,
    max_features: int | None = None,
    max_cost: float | None = None,
    chosen_by: str = "",
    class_weight: str = "",
    constant: str = "",
    signs: str = "",
    included: tuple[str, ...] = (),
) -> Verdict:
    """The verdict on the result of a fit."""
    return Verdict(
        n_selected=int(result.selected.size),
        n_available=result.n_features,
        objective=result.objective,
        lower_bound=result.lower_bound,
        status=str(result.status),
        C=C,
        max_features=max_features,
        max_cost=max_cost,
        seconds=result.seconds,
        chosen_by=chosen_by,
        class_weight=class_weight,
        constant=constant,
        signs=signs,
        included=included,
    )


def progress_of(result: Result) -> ProgressCurve | None:
    """The history of a run; None if it is too short to plot."""
    entries = np.array(result.history, dtype=np.float64).reshape(-1, 3)
    entries = entries[np.isfinite(entries).all(axis=1)]
    if entries.shape[0] < 2:
        return None
    return ProgressCurve(entries[:, 0], entries[:, 1], entries[:, 2])


def path_of(
    path: FrugalPath,
    *,
    chosen: int | None = None,
    result: Result | None = None,
    row: int = 0,
) -> BudgetPath:
    """Objectives and bounds along budgets, for one C.

    Parameters
    ----------
    path : FrugalPath
    chosen : int, default=None
        The budget of the model.
    result : Result, default=None
        Result of a fit with this budget, the same data and the same C. Its objective
        also holds for larger budgets, and its bound for smaller ones.
    row : int, default=0
        Which C of the path.

    Returns
    -------
    BudgetPath
    """
    budgets = path.max_features
    objectives, bounds = path.objectives[row], path.lower_bounds[row]
    if result is not None and chosen is not None:
        better = np.minimum(objectives, result.objective)
        objectives = np.where(budgets >= chosen, better, objectives)
        higher = np.maximum(bounds, result.lower_bound)
        bounds = np.where(budgets <= chosen, higher, bounds)
    return BudgetPath(
        budgets=budgets, chosen=chosen, objectives=objectives, lower_bounds=bounds
    )


def scored_path_of(
    path: ScoredPath, *, score_name: str = "accuracy", one_se: bool = True
) -> BudgetPath:
    """Scores along budgets at the chosen C.

    With ``one_se``, the threshold is that of the one-standard-error rule: the best mean
    score over all budgets and C, less its standard error.
    """
    row, column = path.best
    threshold = None
    if one_se:
        threshold = one_standard_error(path.score_mean, path.score_se)
    return BudgetPath(
        budgets=path.max_features,
        chosen=int(path.max_features[column]),
        objectives=path.objectives[row],
        lower_bounds=path.lower_bounds[row],
        scores=path.score_mean[row],
        errors=path.score_se[row],
        score_name=score_name,
        threshold=threshold,
    )


def alternatives_of(found: NearOptimal) -> AlternativesSummary:
    """The roles of features among the models that are about as good."""
    return AlternativesSummary(
        tolerance=found.tolerance,
        complete_up_to=found.complete_up_to,
        n_models=len(found),
        roles=tuple(
            FeatureAlternatives(
                one.name, one.role, one.n_models, tuple(one.replaced_by)
            )
            for one in found.roles
            if one.n_models
        ),
        status=found.status,
        n_exchanges=found.n_exchanges,
    )


def certificate_of(
    certificate: Certificate,
    *,
    file: str | None = None,
    command: str | None = None,
) -> CertificateSummary:
    """What a certificate claims, as the checker words it."""
    arrays = certificate.arrays
    return CertificateSummary(
        fingerprint=str(arrays["fingerprint"]),
        checksum=str(arrays["checksum"]),
        statement=str(Statement.of(arrays)),
        objective=float(arrays["objective"]),
        lower_bound=float(arrays["lower_bound"]),
        n_leaves=int((arrays["point"] >= 0).sum()),
        n_fixings=int(arrays["fixing"].size),
        file=file,
        command=command,
    )
