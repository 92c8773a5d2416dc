"""The set K of the exact procedure: the binary features of the next iteration."""

from __future__ import annotations

import numpy as np

# A feature leaves K after this many consecutive semi-relaxed solutions without it.
LAST_ITERATIONS = 2


class BinarySet:
    """The set K and its updates: K+ joins, K- leaves, and no K is solved twice.

    A subset of an earlier K cannot raise the bound, since SR-DLMP(K) grows with K. If
    the paper's rule leads to such a set, nothing is dropped, and if that is not enough,
    more features join. So the procedure terminates, at the latest when K has all
    features.

    Parameters
    ----------
    K : array of int
        The first set.
    candidates : array of int
        Features that may join.
    """

    def __init__(self, K: np.ndarray, candidates: np.ndarray):
        self.candidates = candidates
        self.idle = {int(j): 0 for j in np.intersect1d(K, candidates)}
        self.visited: list[frozenset[int]] = []

    @property
    def features(self) -> np.ndarray:
        """K in increasing order."""
        return np.array(sorted(self.idle), dtype=np.int64)

    @property
    def is_everything(self) -> bool:
        """Whether SR-DLMP(K) is FS-SVM itself."""
        return len(self.idle) == self.candidates.size

    def update(self, u: np.ndarray, ranked: np.ndarray, s: int) -> None:
        """Exchange features after SR-DLMP(K) was solved.

        Parameters
        ----------
        u : ndarray of shape (n_features,)
            The u of the solution of SR-DLMP(K).
        ranked : ndarray of int
            All candidates by increasing u; decides ties.
        s : int
            Number of the least binary features that join.
        """
        self.visited.append(frozenset(self.idle))
        kept = {j: 0 if u[j] < 0.5 else t + 1 for j, t in self.idle.items()}
        joining = least_binary(u, ranked[~np.isin(ranked, self.features)])
        grown = kept | dict.fromkeys(joining[:s].tolist(), 0)
        following = {j: t for j, t in grown.items() if t < LAST_ITERATIONS}
        if self._was_visited(following):
            following = grown
        for start in range(s, joining.size, s):
            if not self._was_visited(following):
                break
            following |= dict.fromkeys(joining[start : start + s].tolist(), 0)
        self.idle = following

    def _was_visited(self, K: dict[int, int]) -> bool:
        return any(K.keys() <= earlier for earlier in self.visited)


def least_binary(u: np.ndarray, ranked: np.ndarray) -> np.ndarray:
    """Ranked features by ``u_j - u_j^2``, largest first; ties as ranked."""
    # Rounded like the ranking: differences below that are noise.
    fractionality = np.round(u[ranked] - u[ranked] ** 2, 6)
    return ranked[np.argsort(-fractionality, kind="stable")]
