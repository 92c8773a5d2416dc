"""What all tests need."""

import os
import signal

import pytest

# Set by those who run tests side by side: the command line would wrap its lines there.
os.environ.pop("COLUMNS", None)


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c_is_heard():
    """Processes started in the background ignore SIGINT; some tests send it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
