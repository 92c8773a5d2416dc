"""The fit of all rows, after the choice of budget and C if they are open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..estimators.cells import ChoiceCallback
from ..estimators.models import Linear
from ..export.calibration import Sigmoid
from ..problem.ties import rounded
from ..report import ErrorCosts
from ..run.progress import Callback
from ..run.supervision import Hold
from ..solving.constant import sign_of
from ..solving.result import Result, Status
from ..solving.solver import run_interruptible
from ..tables import Preparation
from .choosing import Chosen, choose
from .study import Conditions, PreparedTable, Search


@dataclass(frozen=True)
class Fit:
    """A model, and how it was obtained.

    Attributes
    ----------
    preparation : Preparation
    result : Result
        In standardised units.
    conditions : Conditions
        With the budget and the C that were chosen.
    choice : Chosen or None
        How they were chosen, if they were.
    chosen : tuple of str
        Which of "budget" and "C" were chosen.
    was_interrupted : bool
    calibration : Sigmoid or None
        Turns scores into probabilities; it does not change who is predicted.
    threshold : float or None
        A score above it means the positive class; None for zero.
    constant : int or None
        The sign that the threshold gives all rows; None if it gives both.
    error_costs : ErrorCosts or None
        What errors cost, if the threshold was learned from that.
    """

    preparation: Preparation
    result: Result
    conditions: Conditions
    choice: Chosen | None = None
    chosen: tuple[str, ...] = ()
    was_interrupted: bool = False
    calibration: Sigmoid | None = None
    threshold: float | None = None
    constant: int | None = None
    error_costs: ErrorCosts | None = None

    @property
    def model(self) -> Linear:
        """The weights that predict, in standardised units."""
        return Linear.of(self.result)

    @property
    def weights(self) -> np.ndarray:
        """Weights per unit as measured."""
        return self.model.coef / self.preparation.scales

    @property
    def intercept(self) -> float:
        """The intercept for values as measured."""
        return self.model.intercept - float(self.weights @ self.preparation.means)

    def above(self, threshold: float, scores: np.ndarray) -> Fit:
        """The same model with a threshold; ``scores`` are those of all rows."""
        limit = float(rounded(threshold, self.model.coef, self.model.intercept))
        constant = sign_of(scores - limit)
        return replace(self, threshold=limit, constant=constant)


def fit_all(
    data: PreparedTable,
    conditions: Conditions,
    search: Search,
    *,
    folds: int,
    on_phase: Callable[[str], None],
    callback: Callback | None = None,
    on_plan: Callable[[str], None] = lambda words: None,
    on_step: ChoiceCallback | None = None,
    certificate: bool = False,
    hold: Hold | None = None,
) -> Fit:
    """Choose budget and C if they are open, then fit all rows.

    The time limit is for all of this. ``callback`` is for the fit of all rows,
    ``on_plan`` and ``on_step`` are for the choice. A hold begins as soon as there is a
    choice or, without one, when the search begins.
    """
    choice, chosen, limit = None, conditions.open_ones, search.time_limit
    support, has_ended = None, False
    preparation = data.prepare()
    if conditions.is_open:
        on_phase("choosing feature limit and C by cross-validation")
        found = choose(
            data, conditions, search, folds, hold=hold, callback=on_step,
            on_plan=on_plan,
        )  # fmt: skip
        on_phase("fitting all rows with what was compared")
        choice = found.on_all()
        conditions, support = choice.conditions, choice.support
        has_ended = choice.was_interrupted
        limit = 0.0 if has_ended else choice.time_left
    on_phase("searching and proving")
    X = preparation.transform(data.table)
    problem = conditions.problem(preparation, X, data.target.signs)
    options = replace(
        search.options, time_limit=limit, initial_support=support, callback=callback,
        certificate=certificate,
    )  # fmt: skip
    result, interrupted = run_interruptible(problem, options, hold)
    if has_ended and result.status is Status.TIME_LIMIT:
        # Not the user's limit.
        result = replace(result, status=Status.INTERRUPTED)
    result = conditions.refitted(problem, result)
    return Fit(
        preparation, result, conditions, choice, chosen, interrupted or has_ended
    )
