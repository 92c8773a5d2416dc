"""Limits of reading that small files reach."""

import pytest

from frugalsvm.tables import source, text_table


@pytest.fixture
def small_chunks(monkeypatch):
    """Text is read in chunks of a few rows."""
    monkeypatch.setattr(text_table, "CELLS", 200)


@pytest.fixture
def little_unpacked(monkeypatch):
    """Files of more than 64 KiB are large, and may not unpack to far more."""
    monkeypatch.setattr(source, "LEAST_LIMIT", 2**16)
