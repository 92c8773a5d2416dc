"""Imports point downwards: the layers of CONTRIBUTING.md use only those below them."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.mutation import TESTS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "frugalsvm"
# Entry points: they may import everything.
FRONT = ["__main__", "__init__"]
# The wing may import everything, too, but others load it on demand.
WING = "paper"
# What notebooks show is made by the report's room, which is loaded when it is shown.
NOTEBOOK = "from ..report import notebook"
# The module that lets rooms load their modules when a name is used.
LAZY = "_lazy"
# Layers that import only these from the package.
ALONE = {"checker": set(), "kernels": set(), "engine": {"kernels", LAZY}}
# Rooms that import from other rooms only names that their __init__ exports.
OUTSIDE = ("cli", "report", "tables", "export")
# Entries of the package's folder.
MOST_ENTRIES = 19
# Study and benchmarks, which nothing in the package imports.
EXPERIMENTS = ROOT / "experiments"
# What they import besides public names, and why.
PRIVATE = {
    "frugalsvm.problem.certificate": "files are written whole or not at all",
    "frugalsvm.solving.options": "a run that raises Ctrl-C",
    "frugalsvm.solving.solver": "a run that raises Ctrl-C",
    "frugalsvm.search.parameters": "a search with another sample",
    "frugalsvm.report.displays": "axes and colours of charts",
    "frugalsvm.distributed.dask_source": "the times of requests",
    "frugalsvm.cli.study": "columns of categories with other scales",
    "frugalsvm.tables": "columns of categories with other scales",
    "frugalsvm.tables.kinds": "columns of categories with other scales",
    "frugalsvm.tables.prepared_columns": "columns of categories with other scales",
}


def listed_layers() -> list[str]:
    """The layers in CONTRIBUTING.md, from top to bottom."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text.split("A room imports only rooms below it:")[1].split("\n### ")[0]
    lines = [line for line in section.splitlines() if line.startswith("    ")]
    return [line.split()[0].removesuffix("/") for line in lines]


LAYERS = [*FRONT, *listed_layers(), LAZY]


def sources() -> list[str]:
    """All files of the package, relative to it."""
    return sorted(str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py"))


def layer_of(file: str) -> str:
    return Path(file).parts[0].removesuffix(".py")


def layer_imports(file: str, text: str) -> Iterator[tuple[str, int, bool]]:
    """Other layers that a file imports: in which line, and whether in a function."""
    # The package and the folders in it that the file is in.
    here = ["frugalsvm", *Path(file).parts[:-1]]
    tree = ast.parse(text)
    inside = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = here[: len(here) + 1 - node.level] if node.level else []
            module = start + (node.module.split(".") if node.module else [])
            names = [[*module, alias.name] for alias in node.names]
        else:
            continue
        for name in names:
            # What is no layer is a name in the package's own __init__.
            layer = name[1] if name[1:2] and name[1] in LAYERS else "__init__"
            if name[0] == "frugalsvm" and layer != layer_of(file):
                yield layer, node.lineno, id(node) in inside


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
    """Imports that violate CONTRIBUTING.md."""
    own, excused = layer_of(file), excused_lines(text)
    wrong = []
    for layer, line, is_inside in layer_imports(file, text):
        if own in (WING, *FRONT):
            continue
        is_notebook = text.splitlines()[line - 1].strip() == NOTEBOOK
        if layer == WING or is_notebook:
            fits = is_inside and own not in ALONE
        else:
            is_below = LAYERS.index(layer) > LAYERS.index(own)
            fits = (is_below or line in excused) and layer in ALONE.get(own, LAYERS)
        if not fits:
            wrong.append(f"{file}:{line} imports {layer}")
    return wrong


def test_the_list_is_short_and_complete():
    assert sorted({layer_of(file) for file in sources()}) == sorted(LAYERS)
    assert len(listed_layers()) <= 15
    entries = [one.name for one in PACKAGE.iterdir() if one.name != "__pycache__"]
    assert len(entries) <= MOST_ENTRIES, sorted(entries)


def inner_imports(path: Path) -> Iterator[str]:
    """Names that a file imports from other rooms though these do not export them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or node.level != 2:
            continue
        module = import_module(f"frugalsvm.{node.module}")
        if node.module == LAZY:
            continue
        exported = getattr(module, "__all__", ()) if hasattr(module, "__path__") else ()
        for alias in node.names:
            if alias.name not in exported:
                yield f"{path.name}:{node.lineno} {node.module}.{alias.name}"


@pytest.mark.parametrize("room", OUTSIDE)
def test_rooms_import_what_others_export(room):
    files = sorted((PACKAGE / room).rglob("*.py"))
    assert [name for file in files for name in inner_imports(file)] == []


def test_a_room_exports_what_its_stub_says():
    for stub in PACKAGE.glob("*/__init__.pyi"):
        room = import_module(f"frugalsvm.{stub.parent.name}")
        for name in room.__all__:
            assert getattr(room, name) is not None
        assert dir(room) == sorted(room.__all__)


def test_tests_are_where_their_modules_are():
    """Except those of the project as a whole."""
    folders = {one.name for one in (ROOT / "tests").iterdir() if one.is_dir()}
    known = {*listed_layers(), "campaign", "experiments", "properties", "__pycache__"}
    assert folders - known == set()


def test_class_names_are_unique():
    places: dict[str, list[str]] = {}
    for file in sources():
        for node in ast.walk(ast.parse((PACKAGE / file).read_text())):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(file)
    assert {name: at for name, at in places.items() if len(at) > 1} == {}


FIT = """
import sys
import numpy as np
import frugalsvm
X = np.random.default_rng(0).normal(size=(40, 6))
frugalsvm.FrugalSVC(2, random_state=0).fit(X, X[:, 0] + 0.3 * X[:, 1] > 0)
print([name for name in sys.modules if name.startswith("frugalsvm.paper")])
"""


def test_a_default_fit_does_not_load_the_paper_package():
    done = subprocess.run(
        [sys.executable, "-c", FIT], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_point_downwards(layer):
    files = [file for file in sources() if layer_of(file) == layer]
    wrong = [
        objection
        for file in files
        for objection in objections(file, (PACKAGE / file).read_text())
    ]
    assert wrong == []


def imported_modules(path: Path) -> set[str]:
    """Modules that a file imports by their full names."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    names = {
        a.name for node in nodes if isinstance(node, ast.Import) for a in node.names
    }
    return names | {
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    }


def test_experiments_use_public_names():
    modules = set().union(*map(imported_modules, EXPERIMENTS.rglob("*.py")))
    of_package = {name for name in modules if name.partition(".")[0] == "frugalsvm"}
    public = {"frugalsvm", "frugalsvm.distributed"}
    private = {name for name in of_package - public if ".paper." not in name}
    assert private == set(PRIVATE)


def test_the_package_does_not_import_experiments():
    modules = set().union(*(imported_modules(PACKAGE / file) for file in sources()))
    assert not {name for name in modules if name.partition(".")[0] == "experiments"}


UPWARDS = """
if TYPE_CHECKING:
    from ..solving import solve{}
"""


@pytest.mark.parametrize(
    ("file", "text", "n_wrong"),
    [
        ("search/swap.py", "from ..problem import Problem", 0),
        ("search/swap.py", "from .restarts import fill", 0),
        ("search/swap.py", "import numpy as np", 0),
        ("search/swap.py", "from ..solving import solve", 1),
        ("search/swap.py", "from .. import solving, problem", 1),
        ("search/swap.py", "from .. import solve", 1),
        ("search/swap.py", "from frugalsvm import solving", 1),
        ("search/swap.py", "from frugalsvm.solving import solve", 1),
        ("search/swap.py", "import frugalsvm.solving as d, frugalsvm.cli.entry", 2),
        ("search/swap.py", "def f():\n    from ..solving import solve", 1),
        ("search/swap.py", UPWARDS.format(""), 1),
        ("search/swap.py", UPWARDS.format("  # in docstrings only"), 0),
        ("problem/problem.py", "from ..solving import solve", 1),
        ("problem/problem.py", "def f():\n    from ..paper import models", 0),
        ("problem/problem.py", "from ..paper import models", 1),
        ("paper/models/model.py", "from ...search.relaxations import relax", 0),
        ("kernels/bounds.py", "from ..checker import verify", 1),
        ("engine/native.py", "from ..checker import verify", 1),
        ("engine/native.py", "from ..kernels.data import Data", 0),
        ("checker/proof.py", UPWARDS.format("  # a type"), 1),
        ("solving/result.py", f"def f():\n    {NOTEBOOK}", 0),
        ("solving/result.py", NOTEBOOK, 1),
        ("solving/result.py", "def f():\n    from ..report import render", 1),
    ],
)
def test_imports_that_point_upwards_are_found(file, text, n_wrong):
    assert len(objections(file, text)) == n_wrong


def test_the_files_of_mutation_testing_exist():
    files = [file for some in TESTS.values() for file in some]
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_no_package_exports_a_name_of_its_modules():
    """Importing the module would put it in the place of the exported object."""
    for init in PACKAGE.rglob("__init__.py*"):
        modules = {path.stem for path in init.parent.glob("*.py")}
        exported = {
            alias.asname or alias.name
            for node in ast.parse(init.read_text()).body
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
            for alias in node.names
        }
        assert exported & modules == set(), init
