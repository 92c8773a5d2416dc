"""DaskSource: features in blocks on the workers of a cluster."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from typing import Any

import dask
import dask.array as da
import numpy as np

from distributed import Client

from ..engine.source import Prices
from ..problem.array_sources import Property
from . import block as on_worker
from .block import make_block

# --- Traffic: messages between a fit and the workers ----------------------------------


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


# --- DaskSource: features in blocks on the workers of a cluster -----------------------


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
        facts = self._ask(on_worker.Block.facts, blocks)
        traffic.count(received_facts=sum(block.n_bytes for block in facts))
        self.n_entries = sum(block.n_entries for block in facts)
        # One number per block is enough to detect and locate invalid values.
        self.low = np.array([block.low for block in facts])
        self.high = np.array([block.high for block in facts])
        self.norms = np.concatenate([block.norms for block in facts])
        self.varies = np.concatenate([block.varies for block in facts])
        self.shift = np.zeros(self.n_features)
        for start, block in zip(self._starts, facts, strict=False):
            self.shift[start + block.shifted] = block.shift

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
        is_exact = np.zeros(self.n_features, dtype=bool)
        n_bytes = 0
        for start, end, (features, prices, others) in zip(
            self._starts[:-1], self._starts[1:], parts, strict=True
        ):
            values[start:end] = others
            at = slice(start, end) if features is None else start + features
            values[at], is_exact[at] = prices, True
            n_bytes += prices.nbytes + (0 if features is None else features.nbytes) + 8
        self._traffic.count(products=1, received_prices=n_bytes)
        return Prices(values, is_exact)

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Columns of features without shifts, one row each."""
        rows = np.empty((features.size, self.n_samples))
        if features.size == 0:
            return rows
        owners = np.searchsorted(self._starts, features, side="right") - 1
        owning = np.unique(owners).tolist()
        positions = [np.flatnonzero(owners == t) for t in owning]
        local = [
            features[at] - self._starts[t]
            for t, at in zip(owning, positions, strict=True)
        ]
        blocks = [self._blocks[t] for t in owning]
        parts = self._ask(on_worker.Block.columns, blocks, local)
        n_bytes = 0
        for at, part in zip(positions, parts, strict=True):
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

    def first(self, is_kind: Property) -> tuple[int, int, float]:
        """Row, column and value of the first entry of a kind, feature by feature."""
        t = int(np.flatnonzero(is_kind(self.low) | is_kind(self.high))[0])
        ((row, column, value),) = self._ask(
            on_worker.first_of, [self._blocks[t]], [is_kind]
        )
        return row, column + int(self._starts[t]), value

    def release(self) -> None:
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


# --- ColumnBlocks: a dask array, prepared as a source ---------------------------------

# Target size in bytes of blocks, for arrays whose rows are in several chunks.
BLOCK_BYTES = 2**27


class ColumnBlocks:
    """A dask array in blocks of whole columns, as input of a problem.

    Parameters
    ----------
    X : dask array of shape (n_samples, n_features)
    client : Client

    Attributes
    ----------
    traffic : Traffic
    source : DaskSource or None
        The source created last.
    """

    def __init__(self, X: Any, client: Client):
        check_dask_array(X)
        self.shape, self.dtype = X.shape, X.dtype
        self.traffic = Traffic()
        self.source: DaskSource | None = None
        self._client = client
        self._X = in_columns(X, sum(client.nthreads().values()))

    def as_source(self, rows: np.ndarray | None, shifts: bool) -> DaskSource:
        """Build the blocks on the workers; see ``sources.make_source``."""
        widths = self._X.chunks[1]
        chunks = self._X.to_delayed(optimize_graph=False).ravel()
        make = dask.delayed(make_block, pure=False)
        # Sent once, and not with every task.
        sent_rows = None if rows is None else dask.delayed(rows)
        blocks = [
            make(chunk, (self.shape[0], width), sent_rows, shifts)
            for chunk, width in zip(chunks, widths, strict=True)
            if width > 0
        ]
        n_samples = self.shape[0] if rows is None else rows.size
        self.source = DaskSource(
            self._client,
            self._client.compute(blocks),
            n_samples,
            [width for width in widths if width > 0],
            self.traffic,
        )
        return self.source

    def release(self) -> None:
        """Release the blocks on the workers; the source cannot be used afterwards."""
        if self.source is not None:
            self.source.release()


def check_dask_array(X: Any) -> None:
    """Raise an error unless X is a dask array whose shape is known."""
    if hasattr(X, "to_dask_array"):
        raise TypeError(
            f"X must be a dask array, got {type(X).__name__}; "
            "X.to_dask_array(lengths=True) makes one."
        )
    if not isinstance(X, da.Array):
        raise TypeError(
            f"X must be a dask array, got {type(X).__name__}; "
            "dask.array.from_array(X, chunks=(-1, 10000)) makes one, and FrugalSVC "
            "fits data in memory."
        )
    if X.ndim != 2:
        raise ValueError(
            f"X must be a table with rows and columns, got {X.ndim} dimension(s)."
        )
    if np.isnan(X.shape).any():
        raise ValueError(
            f"X has chunks of unknown sizes (shape {X.shape}); call "
            "X.compute_chunk_sizes() first."
        )
    # Doubles have to represent all values exactly.
    if X.dtype.kind not in "fiub" or (X.dtype.kind == "f" and X.dtype.itemsize > 8):
        raise ValueError(
            f"X has the type {X.dtype}; give real numbers of at most double precision, "
            "such as X.astype(float)."
        )


def in_columns(X: Any, n_threads: int) -> Any:
    """The same array with all rows in one chunk."""
    if X.numblocks[0] <= 1:
        return X
    m, n = X.shape
    # At least one block per thread of the cluster, and no block too large.
    fitting = max(1, BLOCK_BYTES // (m * X.dtype.itemsize))
    width = min(fitting, -(-n // max(1, n_threads)))
    return X.rechunk({0: -1, 1: width})
