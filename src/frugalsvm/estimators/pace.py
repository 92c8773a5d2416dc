"""Pace: what a choice of budget and C compares, and how accurately."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .models import FINAL_TOL

# Budgets for "auto", up to the number of features.
AUTO_BUDGETS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
# Values of C for the weights of the selected features for "auto": one SVM each.
AUTO_REFIT_C = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(frozen=True)
class Pace:
    """What a choice compares, and how accurately.

    Attributes
    ----------
    budgets : tuple of int
        For "auto", up to the number of features.
    refit_C : tuple of float
        The C of the weights for "auto".
    tol : float
        Accuracy of the SVMs that are scored.
    search : dict
        Parameters of the searches that differ from ``SearchParameters()``, which
        estimators import only when they search.
    work_share : float
        Of the work that the effort allows the search of each cell.
    """

    budgets: tuple[int, ...] = AUTO_BUDGETS
    refit_C: tuple[float, ...] = AUTO_REFIT_C
    tol: float = FINAL_TOL
    search: Mapping[str, Any] = field(default_factory=dict)
    work_share: float = 1.0


STEADY = Pace()
QUICK = Pace(
    budgets=(1, 2, 3, 5, 8, 12, 20),
    refit_C=(0.003, 0.03, 0.3, 3.0, 30.0),
    tol=3e-3,
    search={
        "svm_tol": 1e-3,
        "n_taken": 1,
        "exchange_rounds": 0,
        "large_support": (2, 4),
    },
    work_share=0.05,
)


def pace_of(effort: str) -> Pace:
    """The pace of a choice for a fit with an effort."""
    return QUICK if effort == "fast" else STEADY
