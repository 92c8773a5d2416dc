"""Fixtures for all tests."""

import os
import signal

import pytest

# Set by parallel test runners: the command line would wrap its lines.
os.environ.pop("COLUMNS", None)


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c_is_heard():
    """Processes started in the background ignore SIGINT; some tests send it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def client():
    """A client of a cluster of two worker processes."""
    distributed = pytest.importorskip("dask.distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
