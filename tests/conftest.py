"""Fixtures for all tests."""

import os
import signal
import sys

import pytest

# Set by parallel test runners: the command line would wrap its lines.
os.environ.pop("COLUMNS", None)


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c_is_heard():
    """Processes started in the background ignore SIGINT; some tests send it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def uninstall(monkeypatch):
    """A function; from its call on, some packages seem not to be installed."""

    def remove(*packages):
        for name in packages:
            # Neither imported nor found.
            monkeypatch.setitem(sys.modules, name, None)

    return remove


@pytest.fixture
def set_width(monkeypatch):
    """A function that sets the width of the terminal."""
    return lambda columns: monkeypatch.setenv("COLUMNS", str(columns))


@pytest.fixture
def full_disk(monkeypatch):
    """Files can be opened, but what is written is not kept."""

    def full(_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)


@pytest.fixture
def ctrl_c_at(monkeypatch):
    """A function; from its call on, Ctrl-C is pressed when another one is called."""

    def press_at(owner, name):
        function = getattr(owner, name)

        def interrupted(*arguments, **options):
            signal.raise_signal(signal.SIGINT)
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, interrupted)

    return press_at


@pytest.fixture
def set_efforts(monkeypatch):
    """A function that gives efforts other limits."""
    from frugalsvm.run.stopping import EFFORTS

    def change(**efforts):
        for name, effort in efforts.items():
            monkeypatch.setitem(EFFORTS, name, effort)

    return change


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
