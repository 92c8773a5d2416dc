"""Cells are computed again after a change of the code of a development version."""

import ast

import pytest

from experiments import cells
from experiments.cells import COMPUTING, cell, revision, sources_digest
from experiments.store import ROOT

HERE = ROOT / "experiments"
# Modules that choose or display results; the others may be used by tasks.
SHOWING = ("command", "pages", "registry", "report", "charts", "study", "runner")


@pytest.fixture(autouse=True)
def fresh():
    revision.cache_clear()
    yield
    revision.cache_clear()


def key():
    revision.cache_clear()
    return cell("facts").spec(lambda name: name)["version"]


@pytest.fixture
def set_version(monkeypatch):
    """A function that sets the version of the package."""
    return lambda version: monkeypatch.setattr(
        cells, "package_version", lambda: version
    )


def test_changed_code_changes_the_key(tmp_path, monkeypatch, set_version):
    path = tmp_path / "kernels" / "bounds.py"
    path.parent.mkdir()
    path.write_text("x = 1\n")
    monkeypatch.setattr(cells, "PACKAGE", tmp_path)
    set_version("0.1.0.dev0")
    before = key()
    assert before.startswith("0.1.0.dev0 ")
    assert key() == before
    path.write_text("x = 2\n")
    after = key()
    assert after != before
    path.rename(path.with_name("bound.py"))
    assert key() not in (before, after)


def test_digests_are_those_of_files_and_folders(tmp_path):
    for name in ("a.py", "b/c.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x = 1\n")
    before = sources_digest(tmp_path / "a.py", tmp_path / "b")
    (tmp_path / "b" / "c.py").write_text("x = 2\n")
    assert sources_digest(tmp_path / "a.py", tmp_path / "b") != before


@pytest.mark.parametrize(
    ("version", "is_plain"),
    [
        ("0.1.0", True),
        ("1.2rc1", True),
        ("0.1.0.dev0", False),
        ("unknown", False),
        ("0.1.0+local", False),
    ],
)
def test_releases_are_identified_by_their_version(version, is_plain, set_version):
    set_version(version)
    assert (revision() == version) == is_plain


def test_tasks_do_not_use_code_that_displays():
    """It is not part of the keys of cells."""
    assert all((HERE / name).exists() for name in COMPUTING)
    modules = {
        (node.module or "").partition(".")[0]
        for path in (HERE / "tasks").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level == 2
    }
    assert modules
    assert not modules & set(SHOWING)
