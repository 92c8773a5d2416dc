"""The list of a certificate: sets of features with their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .columns import PLAIN, FeatureColumns
from .reading import require
from .statement import is_increasing_within

# Maximum number of comparisons of sets with leaves: a constant, and more per node.
LOOKS, LOOKS_PER_NODE = 10**7, 2000


@dataclass(frozen=True)
class Alternatives:
    """The proof that a list of sets of features is complete.

    Attributes
    ----------
    supports : list of ndarrays of int
        The sets of features that are listed; some of their weights may be zero.
    objectives : ndarray of float
        Recomputed from their weights: the optimum of a set is at most this.
    threshold : float
        A choice of features whose objective is below this is one of ``supports``, or a
        subset of one (except for constant features, which make no difference).
    """

    supports: list[np.ndarray]
    objectives: np.ndarray
    threshold: float


class Listed:
    """The sets of features of a certificate; none if it proves only a bound."""

    def __init__(
        self,
        arrays: Mapping[str, np.ndarray],
        n_features: int,
        columns: FeatureColumns = PLAIN,
        n_machines: int = 1,
    ):
        self.supports: list[np.ndarray] = []
        self.coefs: list[np.ndarray] = []
        self.intercepts = np.empty((0, n_machines))
        self._keys: set[bytes] = set()
        self._holders: dict[int, set[int]] = {}
        self._looks = LOOKS
        if "threshold" not in arrays:
            return
        starts, features = arrays["listed_start"], arrays["listed_feature"]
        check_starts(starts, features.size, "listed_start")
        self.supports = np.split(features, starts[1:-1])[: starts.size - 1]
        self.intercepts = arrays["listed_intercept"].reshape(-1, n_machines)
        for number, support in enumerate(self.supports):
            require(
                is_increasing_within(support, n_features), "bad features in the list"
            )
            for feature in support.tolist():
                self._holders.setdefault(feature, set()).add(number)
        # All features are in range here.
        ends = np.concatenate([[0], np.cumsum(columns.count(features))])[starts]
        ends *= n_machines
        coef = arrays["listed_coef"]
        require(
            ends[-1] == coef.size,
            "listed_coef does not have one weight for each column of the listed "
            "features" + " and each class" * (n_machines > 1),
        )
        self.coefs = np.split(coef, ends[1:-1])[: starts.size - 1]
        self._keys = {support.tobytes() for support in self.supports}
        require(
            len(self._keys) == len(self.supports), "a set of features is listed twice"
        )

    def allow(self, n_nodes: int) -> None:
        """Set the work limit for all searches on behalf of a tree."""
        self._looks = LOOKS + LOOKS_PER_NODE * n_nodes

    def hold(self, features: Sequence[int]) -> bool:
        """Whether some features are found to be a subset of a listed set.

        A leaf is usually a listed set itself. Otherwise the sets with its rarest
        feature are searched, up to the work limit. A set that is not found can only
        weaken the proof.
        """
        # Features are 64-bit integers here and in the list.
        if np.sort(np.array(features, dtype=np.int64)).tobytes() in self._keys:
            return True
        if not features:
            return bool(self.supports)
        holders = [self._holders.get(feature, set()) for feature in features]
        rarest, *others = sorted(holders, key=len)
        common = rarest
        for other in others:
            self._looks -= len(common)
            if self._looks < 0:
                return False
            common = common & other
        return bool(common)


def check_starts(starts: np.ndarray, end: int, name: str) -> None:
    """Check the start positions of concatenated parts and the end of the last one."""
    require(
        # Compared, not subtracted: differences may overflow.
        starts[0] == 0 and starts[-1] == end and (starts[1:] >= starts[:-1]).all(),
        f"bad {name}",
    )
