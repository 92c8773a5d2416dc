"""Clusters: rounds and bytes of fits whose data are in blocks on the workers.

Two worker processes on this machine; the workers make their blocks themselves. The work
of the client and the traffic, as n grows, allow estimates for a large cluster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from ..cells import Cell, cell
from ..experiment import Settings, benchmark, without
from ..store import Results, Row
from ..tables import Lines, columns

# Samples, features, features of a block.
SIZES = [
    (200, 10_000, 2_500),
    (200, 100_000, 12_500),
    (200, 1_000_000, 50_000),
    (1000, 100_000, 12_500),
]
QUICK = SIZES[:2]
B, C = 20, 0.1
N_RELEVANT = 20


def distributed(data: None, *, effort: str, m: int, n: int, width: int) -> Row:
    """Traffic and times of a fit by two workers, after a small one as a warm-up."""
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    from frugalsvm.distributed import DaskFrugalSVC

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        chunks = (m,), (width,) * (n // width)
        X = da.map_blocks(_block, m, chunks=chunks, dtype=np.float32)
        y = _labels(client.compute(X[:, :N_RELEVANT]).result())
        model = DaskFrugalSVC(B, C, client=client, effort=effort, random_state=0)
        model.fit(X[:, :2000], y)
        with _clocks() as seconds:
            cpu, started = time.process_time(), time.perf_counter()
            traffic = model.fit(X, y).traffic_
            wall, at_home = time.perf_counter() - started, time.process_time() - cpu
    sizes = {"sent": traffic.sent, "facts": traffic.received_facts}
    sizes |= {"prices": traffic.received_prices, "rows": traffic.received_features}
    row = {
        "effort": effort,
        "m": m,
        "n": f"{n:,}",
        "blocks": n // width,
        "products": traffic.products,
        "gathers": traffic.gathers,
        "features": traffic.features,
        **{name: f"{size / 1e6:.3g}" for name, size in sizes.items()},
        "make blocks": f"{sum(seconds['__init__']):.2f}",
        "a product": f"{np.median(seconds['multiply'] + seconds['price']):.3f}",
        "a gather": f"{np.median(seconds['columns']):.3f}",
        "CPU at home": f"{at_home:.2f}",
        "wall": f"{wall:.2f}",
    }
    return {"rows": [row]}


def _block(m: int, block_info: Any = None) -> np.ndarray:
    """The features of a block."""
    start, end = block_info[None]["array-location"][1]
    rng = np.random.default_rng([start, 7])
    return rng.standard_normal((m, end - start), dtype=np.float32)


def _labels(relevant: np.ndarray) -> np.ndarray:
    """Classes that depend on some features."""
    rng = np.random.default_rng(1)
    m, k = relevant.shape
    score = relevant @ rng.uniform(0.5, 1.0, k) + 0.5 * rng.normal(size=m)
    return np.where(score > 0, 1, -1)


@contextmanager
def _clocks() -> Iterator[dict[str, list[float]]]:
    """Time spent waiting for workers, by kind of request."""
    from frugalsvm.distributed.dask_source import DaskSource

    seconds: dict[str, list[float]] = {}

    def timed(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            started = time.perf_counter()
            try:
                return method(*args, **options)
            finally:
                seconds[name].append(time.perf_counter() - started)

        return call

    with ExitStack() as stack:
        for name in ("__init__", "multiply", "price", "columns"):
            seconds[name] = []
            call = timed(name, getattr(DaskSource, name))
            stack.enter_context(patch.object(DaskSource, name, call))
        yield seconds


def _plan(settings: Settings) -> list[Cell]:
    # With trees, whose nodes need the prices of all features, only the smaller ones.
    sizes = [("fast", size) for size in settings.pick(QUICK, SIZES)]
    return [
        cell("distributed", effort=effort, m=m, n=n, width=width)
        for effort, (m, n, width) in [*sizes, *(("normal", size) for size in QUICK)]
    ]


def traffic_table(results: Results) -> Lines:
    """Traffic between a client and its workers."""
    entries: dict[str, Any] = {}
    for name, value in results.rows[0].items():
        if name not in ("make blocks", "a product", "a gather", "wall"):
            kind = ":," if isinstance(value, int) else ""
            unit = " s" if name == "CPU at home" else ""
            entries[name] = f"{{{name}{kind}}}{unit}"
    return columns(results.rows, entries)


DISTRIBUTED = benchmark(
    "distributed",
    f"Fits with two workers, float32, B = {B}, C = {C}; bytes in MB, times in s",
    "Rounds and bytes, and the work of the client, as n grows.",
    _plan,
    [distributed],
    rows=partial(without, names=("width",)),
    figures={"distributed": traffic_table},
    sets=(),
)
