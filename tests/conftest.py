"""What all tests need."""

import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c_is_heard():
    """Processes started in the background ignore SIGINT; some tests send it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
