"""Code in the documentation runs: docstrings, README, and pages with code."""

import contextlib
import csv
import doctest
import importlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVC

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
README = (ROOT / "README.md").read_text("utf-8")
DOCS = ROOT / "docs"
EXAMPLE = ROOT / "examples" / "data" / "breast_cancer.csv"
# What is made by a build.
MADE = {"_build", "_generated", "gallery"}
# Pages by the names that links use, such as howto/proofs.
PAGES = {
    file.relative_to(DOCS).with_suffix("").as_posix(): file.read_text("utf-8")
    for file in DOCS.rglob("*.rst")
    if file.relative_to(DOCS).parts[0] not in MADE
}
# Lines of a printed result that depend on the machine.
VARYING = ("time", "work", "proved")


def modules_with_examples():
    """All modules with examples to run."""
    files = [f for f in SOURCE.rglob("*.py") if ">>> " in f.read_text("utf-8")]
    return sorted(".".join(f.relative_to(SOURCE).with_suffix("").parts) for f in files)


def fenced(text, language):
    """Blocks of code of a Markdown file."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [code for found, code in blocks if found == language]


def directives(text, language):
    """Blocks of code of a page, without their indentation."""
    pattern = rf"^\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)"
    blocks = re.findall(pattern, text, re.MULTILINE)
    return [re.sub(r"^   ", "", block, flags=re.MULTILINE) for block in blocks]


def run(code, names):
    """The output of some code."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "documentation", "exec"), names)
    return printed.getvalue()


def stable_lines(text):
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return [line for line in lines if line.split()[:1] not in [[v] for v in VARYING]]


@pytest.fixture
def elsewhere(tmp_path):
    with contextlib.chdir(tmp_path):
        yield tmp_path


@pytest.fixture
def table(elsewhere):
    """The example's table, in the folder that commands run in."""
    shutil.copy(EXAMPLE, elsewhere)
    return EXAMPLE.name


# --- docstrings and README -----------------------------------------------------------


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    outcome = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_the_table_of_the_examples_is_that_of_scikit_learn():
    found = load_breast_cancer()
    with open(EXAMPLE, newline="") as file:
        names, *rows = csv.reader(file)
    assert names == [*found.feature_names, "diagnosis"]
    assert [[float(cell) for cell in row[:-1]] for row in rows] == found.data.tolist()
    assert [row[-1] for row in rows] == found.target_names[found.target].tolist()


def test_there_are_examples_to_run():
    assert {
        "frugalsvm.estimators.frugal_svc",
        "frugalsvm.export.model",
    } <= set(modules_with_examples())


def test_the_readme_shows_the_actual_output(elsewhere):
    codes, outputs = fenced(README, "python"), fenced(README, "")
    assert len(codes) == 1
    assert any("verdict" in line for line in codes[0].splitlines())
    assert run(codes[0], {}).splitlines() == outputs[-1].splitlines()


def test_the_readme_is_short():
    # Bars of tables and marks of figures are no words.
    shown = re.sub(r"<!--.*?-->", "", README).split()
    assert sum(re.search(r"\w", word) is not None for word in shown) <= 900


def frugalsvm(*arguments):
    command = [sys.executable, "-m", "frugalsvm", *arguments]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def same_words(found, shown):
    """Whether a shown output is the found one, but for line breaks and ``...``."""
    rest = " ".join(found.split())
    for part in shown.split("..."):
        words = " ".join(part.split())
        if words not in rest:
            return False
        rest = rest[rest.index(words) + len(words) :]
    return True


def test_outputs_that_differ_are_found():
    assert same_words("a  b\nc d", "a b c")
    assert same_words("a b c d", "a b ... d")
    assert not same_words("a b c d", "a c")
    assert not same_words("a b c d", "d ... a")


# --- pages ---------------------------------------------------------------------------


def test_the_landing_page_shows_the_actual_output():
    code = directives(PAGES["index"], "python")[0]
    said = directives(PAGES["index"], "text")[0]
    assert stable_lines(run(code, {})) == stable_lines(said)


@pytest.mark.parametrize(
    "name", ["start/python", "howto/rare_classes", "howto/several_classes"]
)
@pytest.mark.filterwarnings("ignore::frugalsvm.ConstantModelWarning")
def test_pages_that_show_what_their_code_prints(name, elsewhere):
    codes = directives(PAGES[name], "python")
    outputs = directives(PAGES[name], "text")
    names = {}
    for code, said in zip(codes, outputs, strict=True):
        assert stable_lines(run(code, names)) == stable_lines(said)


def test_ten_minutes_on_the_command_line(table, set_width):
    pytest.importorskip("typer")
    set_width(100)
    n_commands = 0
    for block in directives(PAGES["start/command_line"], "console"):
        for part in block.split("$ ")[1:]:
            command, _, shown = part.replace("\\\n", " ").partition("\n")
            program, *arguments = command.split()
            assert program == "frugalsvm"
            assert same_words(frugalsvm(*arguments), shown), command
            n_commands += 1
    assert n_commands == 6


def test_the_report_from_python(elsewhere):
    found = load_breast_cancer()
    model = make_pipeline(StandardScaler(), FrugalSVC(2, random_state=0))
    names = {"pipeline": model.fit(found.data, found.target)}
    code = directives(PAGES["howto/report"], "python")[0]
    run(code, names | {"names": found.feature_names})
    page = Path("report.html").read_text("utf-8")
    assert "The model predicts “benign” or “malignant” from 2 of 30 features." in page


# Nothing but NumPy, the standard library and the checker can be imported.
ALONE = """
import sys

KNOWN = {*sys.stdlib_module_names, "numpy", "checker"}

class Guard:
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] not in KNOWN:
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Guard)
sys.path.insert(0, "")
import runpy
try:
    import frugalsvm
except ImportError:
    runpy.run_path(sys.argv[1], run_name="__main__")
"""


def audit(code):
    """The output of a script in a process that has only the checker and NumPy."""
    shutil.copytree(SOURCE / "frugalsvm" / "checker", "checker", dirs_exist_ok=True)
    Path("audit.py").write_text(code, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", ALONE, "audit.py"], capture_output=True, timeout=120,
        encoding="utf-8", check=False, env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_auditor_needs_the_checker_and_numpy(elsewhere):
    make, check, _ = directives(PAGES["howto/proofs"], "python")
    run(make, {})
    printed = audit(check)
    assert printed.startswith("proved: 44.25")
    for line in printed.splitlines()[1:]:
        assert line in PAGES["howto/proofs"]
    assert len(printed.splitlines()) == 3


def test_the_command_of_the_readme_and_an_audit_of_it(table):
    pytest.importorskip("typer")
    shown = fenced(README, "console")[0]
    assert EXAMPLE.relative_to(ROOT).as_posix() in shown
    rows = re.findall(r"^([a-z ]+?) +([+-][\d.]+) +([+-][\d.]+) ", shown, re.MULTILINE)
    assert len(rows) == 5
    found = frugalsvm(
        "fit", table, "--target", "diagnosis", "--max-features", "5", "--folds", "0",
        "--certificate", "proof.npz", "--quiet",
    )  # fmt: skip
    for name, weight, standardised in rows:
        line = next(line for line in found.splitlines() if line.startswith(name))
        assert weight in line
        assert standardised in line
    assert re.search(r"below (44\.\d+)\.", shown)[1] in found
    assert "44.2601" in found
    printed = audit(directives(PAGES["howto/proofs"], "python")[2]).splitlines()
    assert all(float(line.split()[-1]) < 1e-12 for line in printed[:2])
    assert printed[2].startswith("proved: 44.25")
    assert printed[3] in PAGES["howto/proofs"]
    assert printed[4] in PAGES["howto/proofs"]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_pages_refer_to_pages_that_exist(name):
    targets = re.findall(r":doc:`(?:[^`<]*<)?([^`>]+)>?`", PAGES[name])
    examples = {f"gallery/{file.stem}" for file in (ROOT / "examples").glob("*.py")}
    # From the root of the documentation, so that pages can be moved.
    known = {f"/{page}" for page in {*PAGES, *examples, "gallery/index"}}
    assert [target for target in targets if target not in known] == []


def test_every_page_can_be_reached():
    listed = {"index"}
    for name, text in PAGES.items():
        folder = PurePosixPath(name).parent
        for block in re.findall(r"^\.\. toctree::\n((?:   .*\n|\n)+)", text, re.M):
            entries = re.findall(r"^   ([\w/]+)$", block, re.M)
            listed |= {(folder / entry).as_posix() for entry in entries}
    assert set(PAGES) - listed == set()


def test_broken_links_are_found(tmp_path):
    spec = importlib.util.spec_from_file_location("links", DOCS / "links.py")
    links = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(links)
    (tmp_path / "a.html").write_text(
        "<h2 id='here'></h2><a href='#here'></a><a href='b.html#there'></a>"
        "<a href='b.html#nowhere'></a><a href='c.html'></a><a href='https://x.org'></a>"
    )
    (tmp_path / "b.html").write_text("<p id='there'></p><img src='gone.png'>")
    n_pages, dead = links.dead_links(tmp_path)
    assert n_pages == 2
    assert sorted(link for _, link in dead) == ["b.html#nowhere", "c.html", "gone.png"]
