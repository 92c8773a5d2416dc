"""Traffic: messages between a fit and the workers."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields


@dataclass
class Traffic:
    """Messages to and from the workers, and the bytes of their arrays.

    The overhead of dask, a few hundred bytes per task, is not counted.

    Attributes
    ----------
    products : int
        Rounds in which all features were priced.
    gathers : int
        Rounds in which features were fetched.
    features : int
        Features that were fetched, repeats included.
    sent : int
        Bytes of the vectors that were sent, once for each worker.
    received_prices, received_features, received_facts : int
        Bytes received: prices, features, and initial statistics of all features (norms,
        shifts, which of them vary).
    """

    products: int = 0
    gathers: int = 0
    features: int = 0
    sent: int = 0
    received_prices: int = 0
    received_features: int = 0
    received_facts: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def count(self, **amounts: int) -> None:
        """Add to some of the counters; thread-safe."""
        with self._lock:
            for name, amount in amounts.items():
                setattr(self, name, getattr(self, name) + amount)

    @property
    def received(self) -> int:
        """All bytes received."""
        return self.received_prices + self.received_features + self.received_facts

    def __getstate__(self) -> dict[str, int]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__dict__.update(state)
        self.__post_init__()
