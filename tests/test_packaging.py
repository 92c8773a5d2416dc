"""Promises about versions and files, compared with the package."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def version(text):
    return tuple(int(part) for part in text.split("."))


def minima():
    """The oldest versions that the package and its tests admit."""
    extras = PROJECT["project"]["optional-dependencies"]
    required = PROJECT["project"]["dependencies"] + extras["paper"] + extras["test"]
    required += extras["cli"] + extras["dask"]
    pairs = (re.fullmatch(r"([\w-]+)>=([\d.]+)", line) for line in required)
    return {pair[1]: version(pair[2]) for pair in pairs if pair}


def test_the_oldest_tested_versions_are_the_supported_ones():
    file = ROOT / ".github" / "oldest.txt"
    if not file.exists():
        pytest.skip("the settings of CI are not in the source archive")
    lines = (line for line in file.read_text().splitlines() if not line.startswith("#"))
    tested = {name: version(v) for name, v in (line.split("==") for line in lines)}
    assert tested.keys() == minima().keys()
    for name, least in minima().items():
        assert tested[name][: len(least)] == least, name


def test_the_source_archive_has_what_the_readme_refers_to():
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    readme = (ROOT / "README.md").read_text()
    linked = [name for name in re.findall(r"\]\(([^)]+)\)", readme) if ":" not in name]
    assert linked
    for name in [*linked, "Makefile"]:
        assert (ROOT / name).exists(), name
        assert name.split("/")[0] in included, name
