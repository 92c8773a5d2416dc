"""SearchParameters: how far searches look, and how they share their work.

Numbers that users may want to change are among the options of the methods instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.parameters import check_numbers
from ..kernels.smoothing import MOST_ROUGH, ROUGHNESS


@dataclass(frozen=True)
class EstimateParameters:
    """Parameters of the estimates of additions and exchanges."""

    # Relative gap of the rough solution: far enough from the boundary to be smooth.
    rough_tol: float = 0.2
    # Factor by which the barrier exceeds the one implied by the gap of that solution.
    smoothing: float = 4.0
    # Smallest relative gap assumed.
    min_gap: float = 1e-3
    # Samples whose theta is below this fraction of the largest do not move; they are
    # left out if fewer than the second fraction of the samples move.
    min_theta: float = 1e-6
    max_moving: float = 0.5
    # For exchanges: relative gap of the rough solution and of its barrier. It is the
    # second number times the samples per weight, at most the first: with few samples,
    # fine differences matter.
    max_roughness: float = MOST_ROUGH
    roughness_rate: float = ROUGHNESS
    # Number of features with the largest prices whose gains are estimated, and number
    # of them that may enter in an exchange.
    estimated: int = 400
    exchanged: int = 200
    # Number of twins that may enter in addition, for all features of a support
    # together, and the smallest absolute correlation of a twin.
    twins: int = 100
    min_correlation: float = 0.4

    def __post_init__(self) -> None:
        check_numbers(self, ("min_theta", "max_moving", "twins"))


@dataclass(frozen=True)
class TemperingParameters:
    """Parameters of tempering."""

    # Up to this many candidates, trees and descents are quicker.
    features_above: int = 50
    # Number of temperature levels, and acceptance rates of the coldest and the warmest
    # one. Temperatures between them form a geometric progression.
    n_levels: int = 8
    acceptance: tuple[float, float] = (0.01, 0.2)
    # Initial temperatures, as fractions of the objective, and their limits.
    first_temperatures: tuple[float, float] = (1e-3, 8e-3)
    temperature_limits: tuple[float, float] = (1e-4, 1.0)
    # Adaptation rates of the temperatures: at first, and later.
    adaptation: float = 0.5
    min_adaptation: float = 0.05
    # Exchanges that a chain tries between two swaps of states, and swaps in a run.
    tries: int = 200
    swaps: int = 30
    # Minimum work of the last round, as a fraction of the limit.
    min_last_round: float = 0.2
    # Number of features with the largest prices that may enter.
    width: int = 200
    # Relative accuracy of objectives computed by active-set steps.
    accuracy: float = 3e-5
    # Patience used by a round, its fraction of the work limit, and the minimum work in
    # SVMs for it to be worthwhile.
    cost: int = 40
    work_fraction: float = 0.05
    min_svms: int = 160
    # Rounds between two batches of restarts; none with less patience.
    rounds: int = 3
    min_patience: int = 80

    def __post_init__(self) -> None:
        check_numbers(self, ("features_above", "min_svms", "rounds", "min_patience"))


@dataclass(frozen=True)
class SearchParameters:
    """Parameters of searches, which problems carry: see ``Problem.with_parameters``."""

    # --- solutions -------------------------------------------------------------------

    # Accuracy of solves inside a search; final solutions are polished.
    svm_tol: float = 1e-6
    # An improvement below this fraction of the objective is noise.
    min_improvement: float = 1e-6

    # --- descents --------------------------------------------------------------------

    # Estimates are used if there are more than this many times as many features as are
    # tried.
    estimates_above_width: int = 5
    # With more candidates, supports are filled and descents begin by estimates.
    estimates_above: int = 100
    # Exchanges that a descent tries before a full neighbourhood search.
    n_exchanges: int = 40
    estimates: EstimateParameters = EstimateParameters()

    # --- restarts --------------------------------------------------------------------

    # Number of restarts in a batch, after which they share elite solutions.
    restart_batch: int = 4
    # Patience used by a restart that ends in a new optimum, and by any other.
    optimum_costs: tuple[int, int] = (1, 5)
    # Patience is reduced if less than this fraction of the objective can be gained.
    full_patience_gain: float = 0.01
    # Supports remembered across restarts.
    max_seen: int = 500_000
    tempering: TemperingParameters = TemperingParameters()

    # --- subsamples ------------------------------------------------------------------

    # Size of the subsample, and the minimum number of samples to use one.
    n_drawn: int = 20_000
    sampled_min_samples: int = 50_000
    # Number of supports solved on all samples at a time, and how much worse than the
    # best they may be on the subsample.
    n_refitted: int = 6
    refitted_within: float = 5e-3

    # --- shortlists ------------------------------------------------------------------

    # Maximum number of features in the list, and of bytes of their rows.
    max_listed: int = 2000
    max_listed_bytes: int = 2**26
    # For large budgets: features in the list per feature of the budget.
    listed_per_choice: int = 4
    # Up to this size a list is dense even if the data are sparse.
    max_dense_bytes: int = 2**24
    # Number of good solutions priced at a time.
    n_priced: int = 4
    # Maximum number of updates of the list.
    max_updates: int = 5

    # --- grids of budgets and C ------------------------------------------------------

    # Maximum number of rounds in which neighbours exchange solutions.
    exchange_rounds: int = 6
    # Relaxations are only rounded here; their bounds are not used.
    rounded_tol: float = 1e-2
    # Number of elite solutions that a cell takes from each previous cell, and number of
    # them that it offers to a neighbour in a round.
    n_taken: int = 6
    n_offered: int = 4
    # Starts that are worse than the best by more than this fraction get no descent.
    started_within: float = 0.02
    # A large support to truncate has this many features per feature of the budget, and
    # this many more.
    large_support: tuple[int, int] = (3, 20)

    def __post_init__(self) -> None:
        check_numbers(self, ZERO_ALLOWED)


# Parameters that may be zero: something is then never, or always, done.
ZERO_ALLOWED = (
    "min_improvement", "estimates_above", "max_seen", "sampled_min_samples",
    "n_refitted", "refitted_within", "max_dense_bytes", "max_updates",
    "exchange_rounds", "n_taken", "n_offered", "started_within",
)  # fmt: skip
DEFAULTS = SearchParameters()
