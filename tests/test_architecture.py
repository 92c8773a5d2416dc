"""Imports point downwards: the rooms of CONTRIBUTING.md use those below them only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutation import TESTS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "frugalsvm"
# The front doors: they may know everything.
FRONT = ["__main__", "__init__"]
# Rooms that know nothing of the package but these.
ALONE = {"checker": set(), "kernels": set(), "engine": {"kernels"}, "solvers": set()}


def listed_rooms() -> list[str]:
    """The rooms in "The house" of CONTRIBUTING.md, from top to bottom."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    house = text.split("## The house")[1].split("\n## ")[0]
    lines = [line for line in house.splitlines() if line.startswith("    ")]
    return [line.split()[0].removesuffix("/").removesuffix(".py") for line in lines]


ROOMS = FRONT + listed_rooms()


def sources() -> list[str]:
    """All files of the package, relative to it."""
    return sorted(str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py"))


def room_of(file: str) -> str:
    return Path(file).parts[0].removesuffix(".py")


def room_imports(file: str, text: str) -> Iterator[tuple[str, int]]:
    """Other rooms that a file imports anywhere, and in which lines."""
    # The package and the folders in it that the file is in.
    here = ["frugalsvm", *Path(file).parts[:-1]]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = here[: len(here) + 1 - node.level] if node.level else []
            module = start + (node.module.split(".") if node.module else [])
            names = [[*module, alias.name] for alias in node.names]
        else:
            continue
        for name in names:
            # What is no room is a name in the package's own __init__.
            room = name[1] if name[1:2] and name[1] in ROOMS else "__init__"
            if name[0] == "frugalsvm" and room != room_of(file):
                yield room, node.lineno


def excused_lines(text: str) -> set[int]:
    """Lines of imports for type checkers only that say why in a comment."""
    lines = text.splitlines()
    return {
        inner.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in node.body
        if "#" in lines[inner.lineno - 1]
    }


def objections(file: str, text: str) -> list[str]:
    """Imports that do not point downwards."""
    own, excused = room_of(file), excused_lines(text)
    wrong = []
    for room, line in room_imports(file, text):
        is_below = ROOMS.index(room) > ROOMS.index(own)
        if not (is_below or line in excused) or room not in ALONE.get(own, ROOMS):
            wrong.append(f"{file}:{line} imports {room}")
    return wrong


def test_every_room_is_in_the_list():
    assert sorted({room_of(file) for file in sources()}) == sorted(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_downwards(room):
    files = [file for file in sources() if room_of(file) == room]
    wrong = [
        objection
        for file in files
        for objection in objections(file, (PACKAGE / file).read_text())
    ]
    assert wrong == []


UPWARDS = """
if TYPE_CHECKING:
    from ..driver import solve{}
"""


@pytest.mark.parametrize(
    ("file", "text", "n_wrong"),
    [
        ("search/swap.py", "from ..problem import Problem", 0),
        ("search/swap.py", "from .restarts import fill", 0),
        ("search/swap.py", "import numpy as np", 0),
        ("search/swap.py", "from ..driver import solve", 1),
        ("search/swap.py", "from .. import driver, problem", 1),
        ("search/swap.py", "from .. import solve", 1),
        ("search/swap.py", "from frugalsvm import driver", 1),
        ("search/swap.py", "from frugalsvm.driver import solve", 1),
        ("search/swap.py", "import frugalsvm.driver as d, frugalsvm.cli.demo", 2),
        ("search/swap.py", "def f():\n    from ..driver import solve", 1),
        ("search/swap.py", UPWARDS.format(""), 1),
        ("search/swap.py", UPWARDS.format("  # in docstrings only"), 0),
        ("problem.py", "from .driver import solve", 1),
        ("models/model.py", "from ..relaxations import relax", 1),
        ("kernels/bounds.py", "from ..checker import verify", 1),
        ("engine/native.py", "from ..checker import verify", 1),
        ("engine/native.py", "from ..kernels.data import Data", 0),
        ("solvers/base.py", UPWARDS.format("  # a type"), 1),
    ],
)
def test_what_points_upwards_is_found(file, text, n_wrong):
    assert len(objections(file, text)) == n_wrong


def test_the_files_of_mutation_testing_exist():
    files = [file for some in TESTS.values() for file in some]
    assert [file for file in files if not (ROOT / file).is_file()] == []
