import pytest

from .miniature import write_all


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return write_all(tmp_path_factory.mktemp("data"))
