"""ColumnBlocks: a dask array, prepared as a source."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np

from distributed import Client

from .block import make_block
from .dask_source import DaskSource
from .traffic import Traffic

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
        The last one that was created.
    """

    def __init__(self, X: Any, client: Client):
        check_dask_array(X)
        self.shape, self.dtype = X.shape, X.dtype
        self.traffic = Traffic()
        self.source: DaskSource | None = None
        self._client = client
        self._X = in_columns(X, sum(client.nthreads().values()))

    def as_source(self, kept: np.ndarray | None, shifts: bool) -> DaskSource:
        """Build the blocks on the workers; see ``sources.make_source``."""
        widths = self._X.chunks[1]
        chunks = self._X.to_delayed(optimize_graph=False).ravel()
        make = dask.delayed(make_block, pure=False)
        # Sent once, and not with every task.
        rows = None if kept is None else dask.delayed(kept)
        made = [
            make(chunk, (self.shape[0], width), rows, shifts)
            for chunk, width in zip(chunks, widths, strict=True)
            if width > 0
        ]
        n_samples = self.shape[0] if kept is None else kept.size
        self.source = DaskSource(
            self._client, self._client.compute(made), n_samples,
            [width for width in widths if width > 0], self.traffic,
        )  # fmt: skip
        return self.source

    def let_go(self) -> None:
        """Release the blocks on the workers; the source cannot be used afterwards."""
        if self.source is not None:
            self.source.let_go()


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
    check_type(X)


def check_type(X: Any) -> None:
    """Raise an error unless doubles represent all values of X exactly."""
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
