"""Cells are computed again after a change of the code of a development version."""

import ast

import pytest
from experiments.study.cells import cell
from experiments.study.revision import PACKAGE, SHOWING, revision, sources_digest

from experiments.study import revision as module


@pytest.fixture(autouse=True)
def fresh():
    revision.cache_clear()
    yield
    revision.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one folder that computes and one that displays."""
    for name in ("kernels/bounds.py", "cli/show.py", "paper/study/studies/table.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("x = 1\n")
    monkeypatch.setattr(module, "PACKAGE", tmp_path)
    return tmp_path


def key():
    revision.cache_clear()
    return cell("facts").spec(lambda name: name)["version"]


def test_changed_code_changes_the_key(package, monkeypatch):
    monkeypatch.setattr(module, "package_version", lambda: "0.1.0.dev0")
    before = key()
    assert before.startswith("0.1.0.dev0 ")
    assert key() == before
    (package / "kernels" / "bounds.py").write_text("x = 2\n")
    after = key()
    assert after != before
    (package / "kernels" / "bounds.py").rename(package / "kernels" / "bound.py")
    assert key() not in (before, after)


def test_display_code_does_not_change_the_key(package):
    before = sources_digest(package)
    for name in ("cli/show.py", "paper/study/studies/table.py"):
        (package / name).write_text("x = 2\n")
    assert sources_digest(package) == before


@pytest.mark.parametrize(
    ("version", "is_plain"),
    [("0.1.0", True), ("1.2rc1", True), ("0.1.0.dev0", False), ("unknown", False),
     ("0.1.0+local", False)],
)  # fmt: skip
def test_releases_are_identified_by_their_version(version, is_plain, monkeypatch):
    monkeypatch.setattr(module, "package_version", lambda: version)
    assert (revision() == version) == is_plain


def test_tasks_do_not_use_display_code():
    """tests/test_architecture.py forbids them to import display code."""
    assert all((PACKAGE / name).exists() for name in SHOWING)
    used = {
        node.module.partition(".")[0]
        for path in (PACKAGE / "paper" / "study" / "tasks").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level == 2
    }
    assert used == {"sources"}
