"""DaskSource: features in blocks on the workers of a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from distributed import Client

from ..engine.source import Prices
from ..problem.sources.survey import Property
from . import block as on_worker
from .traffic import Traffic


class DaskSource:
    """A source whose blocks live on workers; see ``engine.source.Source``.

    dask recomputes lost blocks from the graph of X. Vectors are sent as tasks for the
    same reason.

    Parameters
    ----------
    client : Client
    blocks : list of Future
        Of :class:`~.block.Block`, side by side.
    n_samples : int
        Number of samples in use.
    widths : list of int
        Number of features in each block.
    traffic : Traffic
        Counts the messages.
    """

    def __init__(
        self,
        client: Client,
        blocks: list[Any],
        n_samples: int,
        widths: list[int],
        traffic: Traffic,
    ):
        self._client, self._blocks, self._traffic = client, blocks, traffic
        self._starts = np.cumsum([0, *widths])
        self.n_samples, self.n_features = n_samples, int(self._starts[-1])
        facts = self._ask(on_worker.facts_of, blocks)
        traffic.count(received_facts=sum(one.n_bytes for one in facts))
        self.n_entries = sum(one.n_entries for one in facts)
        # Of blocks: enough to detect and locate invalid values.
        self.low = np.array([one.low for one in facts])
        self.high = np.array([one.high for one in facts])
        self.norms = np.concatenate([one.norms for one in facts])
        self.varies = np.concatenate([one.varies for one in facts])
        self.shift = np.zeros(self.n_features)
        for start, one in zip(self._starts, facts, strict=False):
            self.shift[start + one.shifted] = one.shift

    def multiply(self, v: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """``sum_i v_i (x_ij - shift_j)`` for all features."""
        parts = self._ask(on_worker.multiply, self._blocks, self._send(v))
        self._traffic.count(
            products=1, received_prices=sum(part.nbytes for part in parts)
        )
        return np.concatenate(parts)

    def price(self, v: np.ndarray, most: int | None, above: float) -> Prices:
        """The absolute values of ``multiply(v)`` that matter."""
        parts = self._ask(
            on_worker.most_valuable, self._blocks, self._send(v), most=most, above=above
        )
        values = np.empty(self.n_features)
        known = np.zeros(self.n_features, dtype=bool)
        n_bytes = 0
        for start, end, (some, own, others) in zip(
            self._starts[:-1], self._starts[1:], parts, strict=True
        ):
            values[start:end] = others
            at = slice(start, end) if some is None else start + some
            values[at], known[at] = own, True
            n_bytes += own.nbytes + (0 if some is None else some.nbytes) + 8
        self._traffic.count(products=1, received_prices=n_bytes)
        return Prices(values, known)

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Some features without shifts, one row each."""
        rows = np.empty((features.size, self.n_samples))
        if features.size == 0:
            return rows
        owners = np.searchsorted(self._starts, features, side="right") - 1
        asked = np.unique(owners).tolist()
        places = [np.flatnonzero(owners == one) for one in asked]
        local = [
            features[at] - self._starts[one]
            for one, at in zip(asked, places, strict=True)
        ]
        found = self._ask(on_worker.columns_of, [self._blocks[t] for t in asked], local)
        n_bytes = 0
        for at, part in zip(places, found, strict=True):
            if isinstance(part, np.ndarray):
                n_bytes += part.nbytes
                rows[at] = part
            else:
                n_bytes += part.data.nbytes + part.indices.nbytes + part.indptr.nbytes
                rows[at] = part.toarray()
        self._traffic.count(
            gathers=1, features=features.size, received_features=n_bytes
        )
        return rows

    def first(self, is_such: Property) -> tuple[int, int, float]:
        """Row, column and value of the first entry of a kind, feature by feature."""
        t = int(np.flatnonzero(is_such(self.low) | is_such(self.high))[0])
        (found,) = self._ask(on_worker.first_of, [self._blocks[t]], [is_such])
        row, column, value = found
        return row, column + int(self._starts[t]), value

    def let_go(self) -> None:
        """Release the blocks on the workers."""
        self._blocks.clear()

    def _send(self, v: np.ndarray) -> list[Any]:
        """Send a vector to all blocks; workers pass it on to each other."""
        self._traffic.count(sent=v.nbytes * len(self._client.nthreads()))
        sent = self._client.submit(on_worker.same, v, pure=False)
        return [sent] * len(self._blocks)

    def _ask(
        self, function: Any, blocks: list[Any], *each: list[Any], **options: Any
    ) -> list[Any]:
        """Results of a function for some blocks, with one argument per block."""
        futures = self._client.map(function, blocks, *each, pure=False, **options)
        return self._client.gather(futures)
