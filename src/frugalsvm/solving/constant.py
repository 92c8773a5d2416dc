"""Constant models: those that predict one class for every training sample.

An objective may be proved best, and the model still be of no use: with few samples of
one class, or a small C, it can cost least to give them up. The weights that predict are
checked for this, and users are told before anything else, with a remedy.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem.solution import rounded
from ..run.words import counted, quote

if TYPE_CHECKING:
    # Estimators and commands need neither the solver nor Numba for messages.
    from ..problem.problem import Problem

# The C that a remedy names is larger by this factor.
MORE = 10.0


class ConstantModelWarning(UserWarning):
    """A fitted model predicts the same class for all of its training samples."""


def constant_sign(problem: Problem, coef: np.ndarray, intercept: Any) -> int | None:
    """The sign of all predictions for the samples of a problem; None if they differ.

    Also None for several machines: see ``never_predicted``.
    """
    if problem.n_machines > 1:
        return None
    scores = np.array([intercept])
    if coef.any():
        scores = problem.y * problem.margins(coef, float(intercept))
    return sign_of(rounded(scores, coef, intercept))


def never_predicted(
    problem: Problem, coef: np.ndarray, intercept: Any
) -> tuple[int, ...]:
    """The machines whose score is the largest for no sample; none if there is one."""
    if problem.n_machines == 1:
        return ()
    margins = problem.margins(coef, np.asarray(intercept))
    scores = (problem.y * margins).reshape(problem.n_machines, -1)
    predicted = np.unique(np.argmax(rounded(scores, coef, intercept), axis=0))
    return tuple(np.setdiff1d(np.arange(problem.n_machines), predicted).tolist())


def sign_of(scores: np.ndarray) -> int | None:
    """The sign of the class that rounded scores predict; None if they predict both."""
    positive = scores > 0
    if positive.all():
        return 1
    return None if positive.any() else -1


@dataclass(frozen=True)
class ConstantModel:
    """A model that predicts one class only, in words: its verdict and a remedy.

    Attributes
    ----------
    label, other : object
        The class that is predicted, and the one that never is.
    n_label, n_other : int
        Training samples of these classes.
    C : float
        The C of the weights.
    is_weighted : bool
        Whether the classes had weights.
    rows : str
        The noun for a sample.
    has_budget : bool
        Whether any feature may be used.
    name : str
        The parameter that holds the C of the weights.
    """

    label: Any
    other: Any
    n_label: int
    n_other: int
    C: float
    is_weighted: bool = False
    rows: str = "sample"
    has_budget: bool = True
    name: str = "C"

    @classmethod
    def of(
        cls,
        sign: int | None,
        positive: np.ndarray,
        classes: Any,
        C: float,
        is_weighted: bool,
        rows: str = "sample",
        has_budget: bool = True,
        name: str = "C",
    ) -> ConstantModel | None:
        """The constant model; None if ``sign`` is None, as both classes are predicted.

        ``positive`` says which training samples are of the second class.
        """
        if sign is None:
            return None
        k = int(sign > 0)
        n_second = int(np.count_nonzero(positive))
        counts = positive.size - n_second, n_second
        return cls(
            _plain(classes[k]), _plain(classes[1 - k]), counts[k], counts[1 - k],
            float(C), is_weighted, rows, has_budget, name,
        )  # fmt: skip

    @property
    def balanced(self) -> tuple[float, float]:
        """Balanced weights of the predicted class and of the other one."""
        total = self.n_label + self.n_other
        return total / (2 * self.n_label), total / (2 * self.n_other)

    @property
    def verdict(self) -> str:
        """The problem, as a sentence."""
        n = self.n_label + self.n_other
        all_rows = f"all {n:,} training {self.rows}s"
        text = f"constant model, of no use: it predicts {quote(self.label)} for "
        if self.n_other == 0:
            return text + all_rows
        are = "is" if self.n_other == 1 else "are"
        return f"{text}{all_rows}, though {self.n_other:,} {are} {quote(self.other)}"

    @property
    def remedy(self) -> str:
        """Advice for users of Python."""
        return self._remedy(
            "class_weight='balanced'",
            f"{self.name}={MORE * self.C:g} instead of {self.C:g}",
        )

    @property
    def command_line_remedy(self) -> str:
        """Advice for users of the command line."""
        return self._remedy(
            "--class-weight balanced", f"--C {MORE * self.C:g} instead of {self.C:g}"
        )

    def _remedy(self, weights: str, larger: str) -> str:
        if not self.has_budget:
            return "The budget allows no features: raise it."
        # Class weights are a remedy if the classes differ in size by a fifth.
        is_uneven = self.n_label >= 1.2 * self.n_other > 0
        if self.is_weighted or not is_uneven:
            return f"Try a larger C ({larger}), or more or other features."
        common, rare = self.balanced
        are = "is" if self.n_other == 1 else "are"
        label, other = quote(self.label), quote(self.other)
        return (
            f"Only {self.n_other:,} of "
            f"{counted(self.n_label + self.n_other, self.rows)} {are} {other}: try "
            f"{weights}, which counts each {other} {rare:.3g} times and each {label} "
            f"{common:.3g} times, or a larger C ({larger})."
        )

    @property
    def message(self) -> str:
        """Verdict and remedy for users of Python, with a hint for the command line."""
        text = f"{self.verdict}. {self.remedy}"
        if "class_weight" in text:
            text += " On the command line: --class-weight balanced."
        return text

    @property
    def command_line_message(self) -> str:
        """Verdict and remedy, for users of the command line."""
        return f"{self.verdict}. {self.command_line_remedy}"

    def warn(self, stacklevel: int) -> None:
        """Warn; ``stacklevel`` is relative to the caller."""
        warnings.warn(self.message, ConstantModelWarning, stacklevel=stacklevel + 1)


class NeverPredictedWarning(UserWarning):
    """A fitted model of several classes never predicts one of them in training."""


@dataclass(frozen=True)
class NeverPredicted:
    """A class that a model of several classes never predicts, in words.

    Attributes
    ----------
    label : object
    n_label, n_samples : int
        Training samples of that class, and of all.
    C : float
        The C of the weights.
    is_weighted : bool
        Whether the classes had weights.
    name : str
        The parameter that holds the C of the weights.
    """

    label: Any
    n_label: int
    n_samples: int
    C: float
    is_weighted: bool = False
    name: str = "C"

    @property
    def message(self) -> str:
        """The problem, and what may help."""
        larger = f"a larger C ({self.name}={MORE * self.C:g} instead of {self.C:g})"
        tries = [] if self.is_weighted else ["class_weight='balanced'"]
        are = "is" if self.n_label == 1 else "are"
        return (
            f"the model never predicts {quote(self.label)} for its {self.n_samples:,} "
            f"training samples, though {self.n_label:,} of them {are} of that class. "
            f"Try {', '.join([*tries, larger])} or a larger max_features."
        )

    def warn(self, stacklevel: int) -> None:
        """Warn; ``stacklevel`` is relative to the caller."""
        warnings.warn(self.message, NeverPredictedWarning, stacklevel=stacklevel + 1)


def _plain(label: Any) -> Any:
    """A label as a plain Python object, which prints as itself."""
    return label.item() if isinstance(label, np.generic) else label
