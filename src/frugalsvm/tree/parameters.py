"""TreeParameters: how trees branch, how accurately they relax, and when they search."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.parameters import check_numbers


@dataclass(frozen=True)
class TreeParameters:
    """Parameters of trees, which problems carry: see ``Problem.with_parameters``."""

    # --- nodes -----------------------------------------------------------------------

    # Relative gap to which relaxations are solved unless they may be pruned.
    node_tol: float = 2e-3
    # Maximum rounds on growing working sets; fewer give a weaker but valid bound.
    node_max_rounds: int = 3
    # Maximum rounds for a leaf, whose bound is final.
    leaf_max_rounds: int = 30
    # An open node stores its free features up to this many.
    max_stored_free: int = 200
    # The first open nodes, all of which are rounded.
    always_rounded: int = 100
    # Later, one in this many open nodes is rounded: an SVM costs as much as a node.
    round_period: int = 8
    # Nodes that a thread evaluates side by side, if there are other threads, or if the
    # tree lists supports.
    batch: int = 8

    # --- branching -------------------------------------------------------------------

    # Maximum number of features that a node keeps for branching.
    max_ranked: int = 12
    # Up to this many features, all are tried in the first nodes, comparing them pays,
    # and corrected estimates are better than averages everywhere.
    look_ahead_max_features: int = 100
    # A node is near the cutoff if its bound lacks at most this fraction of it.
    near_cutoff: float = 0.05
    # Features of such a node ranked by their z, and the maximum number of new ones
    # tried.
    near_ranked_by_z: int = 8
    near_max_tried: int = 2
    # How many features are tried at a node, and how often, if estimates are crude.
    crude_tries: int = 4
    # Smallest relative gain: products need positive factors.
    min_gain: float = 1e-6
    # Smallest distance of z from zero or one that gains are divided by.
    min_distance: float = 0.05
    # Limits of the ratios of actual to expected gains.
    gain_ratio_limits: tuple[float, float] = (0.05, 20.0)

    # --- dives -----------------------------------------------------------------------

    # Nodes between the starts of two dives.
    dive_period: int = 64
    # Maximum fraction of nodes in dives, which are long with many features.
    dive_fraction: float = 0.15

    # --- the swap search beside the tree ---------------------------------------------

    # Nodes before restarts of the swap search begin: easy trees finish earlier.
    search_after: int = 50
    # SVM solves of the swap search per cheap node.
    search_rate: float = 0.1
    # Candidates up to which a node is cheap.
    cheap_max_candidates: int = 50
    # The largest factor by which more expensive nodes raise the rate.
    max_rate_factor: int = 100
    # With more candidates the work on nodes is counted; with fewer the swap search
    # restarts without tempering, since counting takes time.
    counts_work_above: int = 100
    # Work limit of the swap search, as a fraction of the work on nodes.
    search_share: float = 0.25

    # --- whether more work pays ------------------------------------------------------

    # Work at the first check, independent of the limit: so a tree with a larger limit
    # goes at least as far as the same tree with a smaller one.
    first_check: float = 1.875e8
    # Fraction of the gap that the remaining work should be expected to close.
    min_payoff: float = 0.3
    # Consecutive checks that must expect less: bounds rise unevenly.
    bad_checks: int = 2

    # The last branchings that are remembered; half of them tell how many are left.
    max_known: int = 10_000
    # With fewer branchings than the first there is no estimate; with fewer than the
    # second it may be too large by the factor below.
    least_known: int = 8
    well_known: int = 30
    doubt: float = 1000.0

    # --- lists of near-optimal supports ----------------------------------------------

    # Accuracy of the SVMs on listed supports.
    listed_tol: float = 1e-10
    # A list is cut when it exceeds its limit by this factor.
    overlength: float = 1.25
    # An SVM that ends further above the cutoff was stopped early and is inconclusive.
    conclusive_above: float = 1e-6

    def __post_init__(self) -> None:
        check_numbers(self, ZERO_ALLOWED)


# Parameters that may be zero: something is then never, or always, done.
ZERO_ALLOWED = (
    "max_stored_free", "always_rounded", "look_ahead_max_features", "near_cutoff",
    "near_ranked_by_z", "near_max_tried", "dive_fraction", "search_after",
    "search_rate", "counts_work_above", "search_share", "min_payoff",
    "conclusive_above",
)  # fmt: skip
DEFAULTS = TreeParameters()
