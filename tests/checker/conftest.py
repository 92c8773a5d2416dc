"""Limits of the checker that small data reach."""

import pytest

from frugalsvm.checker import table


@pytest.fixture
def blockwise(monkeypatch):
    """A function; from its call on, tables are read in blocks of some entries."""

    def start(size=table.BLOCK):
        limits = {"WHOLE": 0, "WHOLE_DOUBLES": 0, "BLOCK": size}
        for name, entries in limits.items():
            monkeypatch.setattr(table, name, entries)

    return start
