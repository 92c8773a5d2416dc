"""Selects the dask client, and fetches labels through it."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np

from distributed import Client, default_client

# Seconds to wait for the first worker.
PATIENCE = 30


def find_client(client: Client | None) -> Client:
    """The given client or dask's default, checked."""
    if client is None:
        try:
            client = default_client()
        except ValueError as error:
            raise ValueError(
                "there is no dask client; create one first, such as "
                "client = dask.distributed.Client(), or pass client."
            ) from error
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a dask.distributed.Client or None, got {client!r}."
        )
    if client.status != "running":
        raise ValueError(
            f"client is {client.status}; give one that is connected to a cluster."
        )
    if client.asynchronous:
        raise ValueError(
            "client is asynchronous, but a fit waits for its workers; create a client "
            "without asynchronous=True."
        )
    _await_worker(client)
    return client


def _await_worker(client: Client) -> None:
    """Raise an error if there are no workers, instead of waiting forever."""
    if client.nthreads():
        return
    # Adaptive clusters start workers on demand.
    try:
        client.submit(int, pure=False).result(timeout=PATIENCE)
    except TimeoutError as error:
        raise ValueError(
            f"the cluster has no workers, and none joined in {PATIENCE} s; start some, "
            "such as client.cluster.scale(2)."
        ) from error


def fetched(values: Any, client: Client) -> Any:
    """Labels or weights in local memory, computed if they are on the cluster."""
    if not dask.is_dask_collection(values):
        return values
    return np.asarray(client.compute(values).result())
