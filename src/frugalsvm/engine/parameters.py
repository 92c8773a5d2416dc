"""EngineParameters: where engines switch between algorithms, and how accurate they are.

The parameters of compiled code are constants of its modules, since it is compiled with
them. Engines and compiled code share some of these constants.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, is_dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..kernels import svm, working_set


def check_numbers(parameters: Any, zero_allowed: Collection[str] = ()) -> None:
    """Raise ValueError unless the numbers of a dataclass are like its defaults.

    They must be positive, or at least zero if their names are in ``zero_allowed``, and
    integers where the default is an integer.
    """
    for name, value in vars(parameters).items():
        default = getattr(type(parameters), name)
        if not _is_like(value, default):
            raise ValueError(f"{name} must be like {default!r}, got {value!r}.")
        if is_dataclass(default):
            # A dataclass checks itself.
            continue
        if name in zero_allowed:
            if not np.all(np.greater_equal(value, 0)):
                raise ValueError(f"{name} must not be negative, got {value!r}.")
        elif not np.all(np.greater(value, 0)):
            raise ValueError(f"{name} must be positive, got {value!r}.")


def _is_like(value: Any, default: Any) -> bool:
    if is_dataclass(default):
        return type(value) is type(default)
    if isinstance(default, tuple):
        same = isinstance(value, tuple) and len(value) == len(default)
        return same and all(map(_is_like, value, default))
    return isinstance(value, Integral if isinstance(default, Integral) else Real)


@dataclass(frozen=True)
class BatchParameters:
    """Parameters of the engine that relaxes many nodes at a time by ADMM."""

    # Penalty of the margins as a multiple of the mean C; that of the weights is one.
    penalty: float = 0.1
    over_relaxation: float = 1.6
    # Steps from the state of a parent, and how often they are repeated unless the bound
    # exceeds the cutoff.
    steps: int = 20
    max_rounds: int = 2
    # Steps of the first state, and those from it if there is no parent.
    first_steps: int = 400
    new_steps: int = 60
    # Newton steps for the scale of z at the first step, with a parent and without.
    tries: int = 3
    first_tries: int = 40
    # Most regions that are relaxed side by side: their states should fit the cache.
    rows: int = 256
    # Open nodes of a tree at a time.
    open_nodes: int = 64
    # Regions from which features that none of them can use are dropped, and the
    # fraction of the features that must be left at most.
    min_rows_to_drop: int = 16
    drop_below: float = 0.75
    # Features whose z is smaller are not branched on.
    least_z: float = 1e-3
    # Most entries of its largest matrix, features times features and samples.
    max_entries: int = 2**26

    # --- the trial of ``engine="auto"`` ---------------------------------------------

    # Least number of features and of samples, and work on nodes before a trial.
    trial_size: int = 100
    trial_after: float = 2e8
    # Nodes of a trial, the least ratio of their work to that in a batch, and how much
    # smaller their bounds may be there, relatively.
    trial_nodes: int = 4
    trial_speedup: float = 10.0
    trial_loss: float = 0.05

    def __post_init__(self) -> None:
        check_numbers(self)


@dataclass(frozen=True)
class EngineParameters:
    """Parameters of engines, which problems carry: see ``Problem.with_parameters``."""

    # --- relaxations of dense data -------------------------------------------------

    # Up to this many free features are solved all at once, as in children.
    solved_at_once: int = working_set.ALL_FREE_UP_TO
    # Size of the first working set otherwise.
    first_working_set: int = 150
    # Rounds between two checks of the clock.
    rounds_at_a_time: int = 3

    # --- very many samples ---------------------------------------------------------

    # Samples from which a subsample predicts which of them matter.
    tall_min_samples: int = svm.MOST_SAMPLES
    # Size of the subsample as a fraction of all samples, and its minimum per class.
    subsample_fraction: float = 0.15
    subsample_min_per_class: int = 1000
    # Relative gap to which it is solved; a subsample is not more accurate than that.
    subsample_tol: float = 1e-4
    # Margins are off by about sqrt(features / subsample size). The samples closest to
    # the margin are solved for, up to this multiple of that fraction of all samples.
    active_rate: float = 4.0
    # ... unless that is more than this fraction of all samples.
    max_active: float = 0.6
    # Features of the relaxation with a larger z count.
    counted_z: float = 1e-3
    # SVMs with this tolerance or a larger one are on the central path of all samples.
    central_path_tol: float = 0.05
    # Smallest gap requested: with so many samples bounds include rounding errors.
    tall_min_tol: float = 1e-8
    # Maximum number of rounds of an SVM.
    tall_max_rounds: int = 30

    # --- column generation: rows in memory -----------------------------------------

    # Regions whose rows take at most this many bytes are fetched as a whole.
    whole_bytes: int = 2**24
    # Most rows of a working set, or this many per feature that may be chosen if that is
    # more, and their bytes. If that is too little, the bound is weaker.
    max_rows: int = 5000
    rows_per_choice: int = 4
    max_row_bytes: int = 2**30
    # Features in the first working set if rows are short, and their bytes if rows are
    # long.
    first_rows: int = 500
    first_row_bytes: int = 2**26
    # Minimum number of missing features that join at once, for short and for long rows.
    joining_short_rows: int = 200
    joining_long_rows: int = 20
    # Samples that a few features do not distinguish are merged, which takes a pass over
    # the rows, if there are this many samples and this fraction of them is merged.
    merging_min_samples: int = 1000
    merging_min_fraction: float = 0.2

    # --- column generation: rounds -------------------------------------------------

    # Features worth this fraction of their price stay in the working set of first
    # rounds.
    keep_above: float = 0.5
    # Rounds after which no more features are dropped, so that the rounds terminate.
    drop_rounds: int = working_set.DROP_ROUNDS
    # Children start from the features worth this fraction of their price.
    child_keep_above: float = working_set.NEARLY_FOR_CHILDREN
    # First rounds only have to find the right features.
    first_round_tol: float = working_set.ROUGH_TOL
    # The accuracy of later ones is a fraction of the previous gap ...
    fraction_of_gap: float = 0.1
    # ... and a continued request tightens it by this factor for each earlier round.
    continued_progress: float = 0.3
    # Samples are frozen below this relative gap.
    freeze_below_gap: float = 0.05
    # Fraction of the allowed gap that the working set may leave.
    inner_tol: float = working_set.INNER_TOL
    # Rounds of compiled code on a working set.
    inner_rounds: int = 30

    # --- many nodes at a time ------------------------------------------------------

    batch: BatchParameters = BatchParameters()

    def __post_init__(self) -> None:
        check_numbers(self, ZERO_ALLOWED)


# Zero means that something is never, or always done.
ZERO_ALLOWED = (
    "whole_bytes", "rows_per_choice", "merging_min_samples", "merging_min_fraction",
    "drop_rounds", "keep_above", "child_keep_above", "freeze_below_gap", "counted_z",
    "tall_min_samples",
)  # fmt: skip
DEFAULTS = EngineParameters()
