import pytest

from .miniature import write_all


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return write_all(tmp_path_factory.mktemp("data"))


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """No data set was downloaded before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
