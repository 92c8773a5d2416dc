"""Rounds and bytes of fits whose data are in blocks on the workers of a cluster.

Two worker processes on this machine; the workers make their blocks themselves. The work
of the client and the traffic, as n grows, allow estimates for a large cluster.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .results import Row
from .tables import Table

# Samples, features, features of a block.
SIZES = [
    (200, 10_000, 2_500),
    (200, 100_000, 12_500),
    (200, 1_000_000, 50_000),
    (1000, 100_000, 12_500),
]
QUICK = SIZES[:2]
COLUMNS = (
    "effort", "m", "n", "blocks", "products", "gathers", "features", "sent", "facts",
    "prices", "rows", "make blocks", "a product", "a gather", "CPU at home", "wall",
)  # fmt: skip
B, C = 20, 0.1
N_RELEVANT = 20


def run(quick: bool) -> list[Row]:
    from dask.distributed import Client, LocalCluster

    table = Table(
        f"Fits with two workers, float32, B = {B}, C = {C}; bytes in MB, times in s",
        COLUMNS, width=6,
    )  # fmt: skip
    rows: list[Row] = []

    def show(cells: list) -> None:
        table.row(cells)
        rows.append(dict(zip(COLUMNS, cells, strict=True)))

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        for size in QUICK if quick else SIZES:
            show(measure(client, "fast", *size))
        # With trees, whose nodes need the prices of all features.
        for size in QUICK:
            show(measure(client, "normal", *size))
    return rows


def measure(client, effort: str, m: int, n: int, width: int) -> list:
    """One fit, after a small one as a warm-up."""
    import dask.array as da

    from frugalsvm.distributed import DaskFrugalSVC

    chunks = (m,), (width,) * (n // width)
    X = da.map_blocks(made, m, chunks=chunks, dtype=np.float32)
    y = labels(client.compute(X[:, :N_RELEVANT]).result())
    model = DaskFrugalSVC(B, C, client=client, effort=effort, random_state=0)
    model.fit(X[:, :2000], y)
    with clocks() as seconds:
        used, started = time.process_time(), time.perf_counter()
        traffic = model.fit(X, y).traffic_
        wall, at_home = time.perf_counter() - started, time.process_time() - used
    sizes = (
        traffic.sent, traffic.received_facts, traffic.received_prices,
        traffic.received_features,
    )  # fmt: skip
    return [
        effort, m, f"{n:,}", n // width,
        traffic.products, traffic.gathers, traffic.features,
        *(f"{size / 1e6:.3g}" for size in sizes),
        f"{sum(seconds['__init__']):.2f}",
        f"{np.median(seconds['multiply'] + seconds['price']):.3f}",
        f"{np.median(seconds['columns']):.3f}",
        f"{at_home:.2f}", f"{wall:.2f}",
    ]  # fmt: skip


def made(m: int, block_info=None) -> np.ndarray:
    """The features of a block."""
    start, end = block_info[None]["array-location"][1]
    rng = np.random.default_rng([start, 7])
    return rng.standard_normal((m, end - start), dtype=np.float32)


def labels(relevant: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(1)
    m, k = relevant.shape
    score = relevant @ rng.uniform(0.5, 1.0, k) + 0.5 * rng.normal(size=m)
    return np.where(score > 0, 1, -1)


@contextmanager
def clocks() -> Iterator[dict[str, list[float]]]:
    """Time spent waiting for workers, by kind of request."""
    from frugalsvm.distributed.dask_source import DaskSource

    names = ("__init__", "multiply", "price", "columns")
    before = {name: getattr(DaskSource, name) for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}

    def timed(name):
        def call(*args, **options):
            started = time.perf_counter()
            try:
                return before[name](*args, **options)
            finally:
                seconds[name].append(time.perf_counter() - started)

        return call

    for name in names:
        setattr(DaskSource, name, timed(name))
    try:
        yield seconds
    finally:
        for name in names:
            setattr(DaskSource, name, before[name])
