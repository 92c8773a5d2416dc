"""Fixtures for data in blocks."""

import pytest

da = pytest.importorskip("dask.array")
