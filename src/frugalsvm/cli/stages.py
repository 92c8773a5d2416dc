"""Stages: what is said while a model is checked, after the fit."""

from __future__ import annotations

from dataclasses import dataclass

from .deadline import Deadline
from .panel import Panel


@dataclass
class Stages:
    """What is said of the stages after the fit, and how long they may take.

    Attributes
    ----------
    panel : Panel
    deadline : Deadline
    fit_seconds : float
        What the fit took; the sections of the report are made to take no longer.
    folds_seconds : float
        An estimate of what all folds take.
    """

    panel: Panel
    deadline: Deadline
    fit_seconds: float
    folds_seconds: float
    _begun: float = 0.0

    def fold(self, k: int, n: int) -> None:
        """The folds that are left, as long as those before."""
        if self.deadline.is_over:
            return
        now, seconds = self.deadline.clock(), self.folds_seconds
        if k == 1:
            self._begun = now
        else:
            seconds = (now - self._begun) / (k - 1) * (n - k + 1)
        self.phase(f"cross-validating: fold {k} of {n}", seconds)

    def part_of_report(self, words: str) -> None:
        """A section of the report."""
        self.phase(words, self.fit_seconds / 2)

    def phase(self, words: str, seconds: float) -> None:
        """A stage that takes about some seconds, or the time that is left."""
        left = self.deadline.left
        self.panel.phase(words, seconds if left is None else min(seconds, left))
