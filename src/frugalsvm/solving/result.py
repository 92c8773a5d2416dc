"""Result: the solution of a run and its proved bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem.certificate import Certificate
from ..run.monitor import SINCE_BEST, relative_gap
from ..run.words import bound_words, gap_words

if TYPE_CHECKING:
    # Results are read without the compiler.
    from ..problem.problem import Problem


class Status(StrEnum):
    """How a run ended; unless it is ``optimal``, the gap exceeds the tolerance."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    TIME_LIMIT = "time limit"
    NODE_LIMIT = "node limit"
    MEMORY_LIMIT = "memory limit"
    INTERRUPTED = "interrupted"
    SOLVER_FAILED = "solver failed"


@dataclass(frozen=True, eq=False)
class Refit:
    """The SVM on the selected features with another C, and a bound of its optimum.

    Attributes
    ----------
    C : float
    coef : ndarray of shape (n_columns,) or (n_machines, n_columns)
    intercept : float or ndarray of shape (n_machines,)
    objective, lower_bound : float
        Objective and bound of that SVM, whose features are fixed.
    """

    C: float
    coef: np.ndarray
    intercept: Any
    objective: float
    lower_bound: float

    @property
    def gap(self) -> float:
        """Relative gap between objective and bound."""
        return relative_gap(self.objective, self.lower_bound)

    @property
    def verdict(self) -> str:
        """The proved quality of the weights, as a sentence."""
        return (
            f"computed with C = {self.C:g}: on these features, the objective is the "
            f"smallest for that C, to within {100 * self.gap:.2g} %"
        )


@dataclass(frozen=True, repr=False)
class Result:
    """A solution of FS-SVM with a lower bound that proves how good it is.

    Attributes
    ----------
    objective : float
        Value of ``coef`` and ``intercept``, recomputed in the primal.
    lower_bound : float
        No feasible solution is better than this: computed from dual points (of the
        root, or of all leaves of the tree) with directed rounding.
    selected : ndarray of int
        The selected features, in increasing order: columns of X, or groups of them
        (``groups``) by number.
    coef : ndarray of shape (n_columns,) or (n_machines, n_columns)
        A weight for each column of X, in each of several machines.
    intercept : float or ndarray of shape (n_machines,)
    status : Status
        ``optimal`` means that the gap is at most the requested tolerance; with any
        other status it is not. ``feasible`` means that the run finished by itself,
        ``time limit`` and ``node limit`` that it reached a limit set by the user.
    method : str
        The method as chosen; ``parts`` if very many samples were searched in parts.
    seconds : float
    counters : dict
        Work done: SVM solves, restarts, interior-point iterations and the like.
    history : list of (seconds, objective, lower_bound)
        One entry per improvement of either.
    dual_point : ndarray of shape (n_samples,)
        The best single alpha, for the samples of positive weight, feasible in exact
        arithmetic. It proves ``lower_bound`` unless a tree proved more.
    reported_bound : float or None
        The bound claimed by a third-party solver, if one ran.
    certificate : Certificate or None
        Proof of ``lower_bound``, if requested.
    elites : list of ndarray of int
        Good supports found by the search, best first; ``solve(..., warm=result)``
        starts from them.
    message : str
        Why a third-party solver failed, if it did; objective and bound are from before
        the failure.
    refit : Refit or None
        The weights for another C, if they were asked for. Everything above belongs to
        the C that selected the features.
    constant : int or None
        -1 or +1 if the model predicts this class for all samples, so that it is of no
        use whatever is proved; None if it predicts both.
    never : tuple of int
        With several machines, those whose score is the largest for no sample, so that
        their class is never predicted.
    groups : ndarray of int of shape (n_columns,) or None
        The feature that each column belongs to; None if each column is a feature.
    """

    objective: float
    lower_bound: float
    selected: np.ndarray
    coef: np.ndarray
    intercept: Any
    status: Status
    method: str
    seconds: float
    counters: dict[str, int] = field(default_factory=dict)
    history: list[tuple[float, float, float]] = field(default_factory=list)
    dual_point: np.ndarray | None = None
    reported_bound: float | None = None
    certificate: Certificate | None = None
    message: str = ""
    elites: list[np.ndarray] = field(default_factory=list)
    refit: Refit | None = None
    constant: int | None = None
    never: tuple[int, ...] = ()
    groups: np.ndarray | None = None

    @property
    def n_features(self) -> int:
        """Number of features: columns of X, or groups of them."""
        if self.groups is None:
            return self.coef.shape[-1]
        return int(self.groups.max()) + 1

    @property
    def selected_columns(self) -> np.ndarray:
        """The columns of the selected features, in increasing order."""
        if self.groups is None:
            return self.selected
        return np.flatnonzero(np.isin(self.groups, self.selected))

    @property
    def gap(self) -> float:
        """Relative gap ``(objective - lower_bound) / objective``."""
        return relative_gap(self.objective, self.lower_bound)

    @property
    def chance_of_improvement(self) -> float | None:
        """Estimated probability that one more restart finds a better solution.

        After k restarts without success it is ``1 / (k + 2)``, by the rule of
        succession: treating restarts as independent trials with an unknown probability
        of success. It is 0 if the solution is proved optimal, and None if no search
        with restarts has run. It does not say how much better a solution might be.
        """
        if self.status is Status.OPTIMAL:
            return 0.0
        restarts = self.counters.get(SINCE_BEST)
        return None if restarts is None else 1.0 / (restarts + 2)

    @property
    def verdict(self) -> str:
        """The proved quality of the model, as a sentence.

        It begins with a warning if the model predicts one class only.
        """
        first = "" if self.constant is None else f"{self._constant_alert}; "
        if self.never:
            numbers = ", ".join(map(str, self.never))
            first = f"never predicts class {numbers} of {len(self.coef)}; "
        if self.status is Status.OPTIMAL:
            return (
                f"{first}proved: no choice of features is better by more than "
                f"{gap_words(self.gap)}"
            )
        text = f"{first}no better choice of features was found; "
        if math.isinf(self.gap):
            return f"{text}there is no bound, so that nothing is proved"
        return (
            f"{text}by the bound, one could be better by at most {gap_words(self.gap)}"
        )

    @property
    def _constant_alert(self) -> str:
        return (
            f"constant model, of no use: it predicts {self.constant:+d} for all samples"
        )

    def save_certificate(self, path: str | PathLike[str]) -> None:
        """Write the proof of ``lower_bound`` to a file for :func:`frugalsvm.verify`."""
        if self.certificate is None:
            raise ValueError(
                "this run kept no certificate; solve again with certificate=True."
            )
        self.certificate.save(path)

    def __repr__(self) -> str:
        first = "" if self.constant is None else f"constant model {self.constant:+d}, "
        return (
            f"Result({first}{self.status}, objective={self.objective:.6g}, "
            f"lower_bound={bound_words(self.lower_bound)}, gap={gap_words(self.gap)}, "
            f"features={self._size})"
        )

    @property
    def _size(self) -> str:
        return f"{self.selected.size} of {self.n_features}"

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self, names: Sequence[str] | None = None) -> str:
        """The notebook display: features with weights, the bound, the history.

        Parameters
        ----------
        names : sequence of str, default=None
            Names of all columns; their numbers by default.

        Returns
        -------
        str
        """
        return self._page(names)

    def _page(
        self,
        names: Sequence[str] | None = None,
        alert: str | None = None,
        classes: Sequence[str] | None = None,
    ) -> str:
        """The display with names of classes, and an alert for a model of no use."""
        from ..report import notebook

        n_columns = self.coef.shape[-1]
        if names is None:
            names = [f"x{j}" for j in range(n_columns)]
        elif len(names) != n_columns:
            raise ValueError(
                f"names has {len(names)} entries, but there are {n_columns} "
                f"{'features' if self.groups is None else 'columns'}; give one for "
                "each."
            )
        pairs = [
            ("status", f"{self.status} ({self.method}, {self.seconds:.2f} s)"),
            ("objective", f"{self.objective:.6g}"),
            ("lower bound", bound_words(self.lower_bound)),
            ("gap", gap_words(self.gap)),
        ]
        if self.refit is not None:
            pairs.append(("weights", self.refit.verdict))
        if self.message:
            pairs.append(("message", self.message))
        if alert is None and self.constant is not None:
            alert = self._constant_alert
        columns = self.selected_columns
        return notebook.box(
            f"{self._size} features",
            "" if alert is None else notebook.alert(alert),
            self._weights_table([str(names[j]) for j in columns], classes),
            notebook.facts([self._intercept(), *pairs]),
            notebook.sparkline(self.history),
        )

    def _weights_table(self, names: list[str], classes: Sequence[str] | None) -> str:
        """The selected columns with their weights, one column for each machine."""
        from ..report import notebook

        weights = self.coef[..., self.selected_columns]
        if weights.ndim == 1:
            return notebook.weights_table(names, weights.tolist())
        heads = map(str, range(len(weights))) if classes is None else classes
        return notebook.weights_by_class(names, list(heads), weights.T.tolist())

    def _intercept(self) -> tuple[str, str]:
        """The intercept, or those of several machines, as a fact."""
        values = np.ravel(self.intercept).tolist()
        name = "intercept" if len(values) == 1 else "intercepts"
        return name, ", ".join(f"{b:+.4g}" for b in values)

    def __str__(self) -> str:
        work = ", ".join(
            f"{value:,} {name}"
            for name, value in self.counters.items()
            if name != SINCE_BEST
        )
        lines = [
            ("status", f"{self.status} ({self.method})"),
            ("objective", f"{self.objective:.6g}"),
            ("lower bound", bound_words(self.lower_bound)),
            ("gap", gap_words(self.gap)),
            ("verdict", self.verdict),
            ("features", self._size),
            *([] if self.refit is None else [("weights", self.refit.verdict)]),
            ("time", f"{self.seconds:.2f} s"),
            ("work", work or "-"),
        ]
        if self.message:
            lines.append(("message", self.message))
        if self.constant is not None:
            # The verdict warns of it, so it comes first.
            lines.sort(key=lambda line: line[0] != "verdict")
        return "\n".join(_table_row(*line) for line in lines)


def by_machine(problem: Problem, coef: np.ndarray) -> np.ndarray:
    """Weights of all columns, one row for each of several machines."""
    return coef if problem.n_machines == 1 else coef.reshape(problem.n_machines, -1)


def _table_row(name: str, text: str) -> str:
    """A label with text beside it; sentences are wrapped."""
    lines = wrap(text, 76) if name in ("verdict", "weights") else [text]
    return f"{name:<12} " + f"\n{'':13}".join(lines)
