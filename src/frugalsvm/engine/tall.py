"""TallEngine: dense data in memory with very many samples.

Most samples are far from the margin, and their dual variables are 0 or C. A part of
the samples, drawn at random, says roughly which these are: their dual variables are
left there, compiled code solves for the others, looks at the margins of *all* samples,
and those on the wrong side join. The part is solved in the same way, by a part of it.
So the work is that of a few passes over the data, and of interior points on a small
part of them; the answer is that for all samples whatever was drawn.
"""

from __future__ import annotations

import numpy as np

from ..kernels.data import Data
from ..kernels.intercept import intercept_of
from ..kernels.svm import MOST_SAMPLES
from .native import NativeEngine
from .perspective import perspective
from .protocol import RelaxationRequest, RelaxationResult, SupportSVM, WorkingSet
from .region import Region
from .subsampling import draw

# Samples from which on it is worth while.
MANY_SAMPLES = MOST_SAMPLES
# Part of the samples that is drawn, and how many of each class at least.
DRAWN_PART, LEAST_DRAWN = 0.15, 1000
# Relative gap to which it is solved: what is drawn is not more accurate than that.
DRAWN_TOL = 1e-4
# Margins are off by about sqrt(features / drawn samples). Samples are solved for if
# they are among this many times as large a part of all, next to the margin.
ACTIVE_RATE = 4.0
# ... unless that is more than this part of all.
MOST_ACTIVE = 0.6
# Features of the relaxation with a z above this count.
LEAST_Z = 1e-3
# An SVM that is less accurate is a point of the central path of all samples.
ROUGH_TOL = 0.05
# No finer gap is asked for: with so many samples bounds pay for rounding errors.
FINEST_TOL = 1e-8
# Rounds of an SVM at most.
MAX_ROUNDS = 30
# Whoever draws, draws the same.
SEED = 20

_NONE = np.empty(0, dtype=np.int64)


def native_engine(data: Data) -> NativeEngine:
    """The engine for dense data of any number of samples."""
    return (TallEngine if data.y.size >= MANY_SAMPLES else NativeEngine)(data)


class TallEngine(NativeEngine):
    """Answers for dense data in memory with very many samples.

    Parameters
    ----------
    data : Data
    """

    def solve(self, tasks: list[RelaxationRequest]) -> list[RelaxationResult]:
        """Solve relaxations; where nothing is known of the samples, draw some first."""
        return super().solve([self._begun(task) for task in tasks])

    def solve_svm(
        self,
        support: np.ndarray,
        *,
        tol: float = 1e-8,
        cutoff: float = np.inf,
        warm_w: np.ndarray | None = None,
    ) -> SupportSVM:
        """The SVM on a support; ends early once its value exceeds the cutoff.

        Samples that are drawn make a better start than ``warm_w``.
        """
        numbers = np.array(support, dtype=np.int64)
        if numbers.size and tol < ROUGH_TOL:
            found = self._part(numbers)._solve_all(tol, cutoff)
            if found is not None:
                return found
        return super().solve_svm(numbers, tol=tol, cutoff=cutoff, warm_w=warm_w)

    @property
    def _is_stopped(self) -> bool:
        return bool(self.data.stop[0])

    # --- some of the features, or of the samples -----------------------------------

    def _part(self, features: np.ndarray) -> TallEngine:
        """An engine for some features, numbered anew."""
        data = self.data
        rows, norms, costs = (a[features] for a in (data.A, data.norms, data.costs))
        for array in (rows, norms, costs):
            # As those of a problem are: kernels are compiled for either.
            array.setflags(write=False)
        return TallEngine(data._replace(A=rows, norms=norms, costs=costs))

    def _drawn(self) -> NativeEngine:
        """An engine for a part of the samples."""
        data = self.data
        size = int(DRAWN_PART * self.n_samples)
        rng = np.random.default_rng(SEED)
        samples, C = draw(data.y, data.C, size, rng, LEAST_DRAWN)
        y, A = data.y[samples], np.take(data.A, samples, axis=1)
        for array in (A, y, C):
            array.setflags(write=False)
        # The norms of all are upper bounds of those of some.
        return native_engine(data._replace(A=A, y=y, C=C))

    # --- where to begin ------------------------------------------------------------

    def _begun(self, task: RelaxationRequest) -> RelaxationRequest:
        if task.n_before or task.start.side.any():
            return task
        drawn = self._drawn()
        if drawn.n_samples > MOST_ACTIVE * self.n_samples:
            return task
        found = perspective(
            drawn, task.region, tol=DRAWN_TOL, should_stop=lambda: self._is_stopped
        )
        size = int(np.count_nonzero(found.z > LEAST_Z))
        scores = self._scores(found.w)
        margins = (scores + self._intercept(scores)) * self.data.y
        side = self._sides(margins, size + 1, drawn.n_samples)
        if side is None:
            return task
        return task._replace(start=task.start._replace(side=side))

    def _scores(self, w: np.ndarray) -> np.ndarray:
        """What all samples score with weights of all features."""
        return (w @ self.data.A) * self.data.y

    def _intercept(self, scores: np.ndarray) -> float:
        """The intercept that suits scores best."""
        data = self.data
        return float(intercept_of(scores, data.y, data.C)) if data.intercept else 0.0

    def _sides(
        self, margins: np.ndarray, n_weights: int, n_drawn: int
    ) -> np.ndarray | None:
        """Sides of the samples that are far from the margin; None if they are few.

        ``n_weights`` were fitted to ``n_drawn`` samples.
        """
        part = ACTIVE_RATE * np.sqrt(n_weights / n_drawn)
        if part > MOST_ACTIVE:
            return None
        distance = np.abs(margins - 1.0)
        count = int(part * self.n_samples)
        side = np.where(margins < 1.0, 1, -1).astype(np.int8)
        side[distance <= np.partition(distance, count)[count]] = 0
        return side

    # --- the SVM on all features -----------------------------------------------------

    def _solve_all(self, tol: float, cutoff: float) -> SupportSVM | None:
        """The SVM on all features; None if that needs all samples at once."""
        data, everything = self.data, np.arange(self.n_features)
        drawn = self._drawn()
        if drawn.n_samples > MOST_ACTIVE * self.n_samples:
            return None
        rough = drawn.solve_svm(everything, tol=DRAWN_TOL)
        margins = rough.w @ data.A + rough.b * data.y
        side = self._sides(margins, everything.size + 1, drawn.n_samples)
        if side is None:
            return None
        task = RelaxationRequest(
            Region(everything, _NONE, 0, np.inf), WorkingSet(_NONE, side), tol, tol,
            cutoff, MAX_ROUNDS, rough=False,
        )  # fmt: skip
        found = super().solve([task])[0]
        scores = self._scores(found.w)
        b = self._intercept(scores)
        losses = np.maximum(1.0 - (scores + b) * data.y, 0.0)
        primal = 0.5 * float(found.w @ found.w) + float(data.C @ losses)
        is_solved = primal - found.bound <= max(tol, FINEST_TOL) * abs(primal)
        if not (is_solved or found.bound > cutoff or self._is_stopped):
            return None
        return SupportSVM(found.w, b, found.alpha, primal, found.bound)
