"""Output of a real run for the documentation, made again when the code has changed.

``builder-inited`` calls :func:`make`, which writes into ``docs/_generated``: the output
of the command line for the example's table, its report, and the budget path.
"""

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import frugalsvm
from frugalsvm import FrugalSVCCV, frugal_path
from frugalsvm.report import figures, path_of, scored_path_of

HERE = Path(__file__).parent
FOLDER = HERE / "_generated"
TABLE = HERE.parent / "examples" / "data" / "breast_cancer.csv"
COMMAND = [
    "frugalsvm", "fit", "breast_cancer.csv", "--target", "diagnosis",
    "--max-features", "5", "--report", "example-report.html", "--model", "model.json",
    "--certificate", "proof.npz",
]  # fmt: skip
VERIFY = ["frugalsvm", "verify", "proof.npz", "breast_cancer.csv"]
WIDTH = 64
# Lines of output that are longer are broken.
LONGEST = 96
# Lines of a verification that are shown.
N_VERIFIED = 10


def make(_app):
    """Write the files that pages include, unless they are newer than the package."""
    package = Path(frugalsvm.__file__).parent
    kinds = ("*.py", "*.html", "*.css")
    sources = [file for kind in kinds for file in package.rglob(kind)]
    newest = max(file.stat().st_mtime for file in [*sources, Path(__file__)])
    last = FOLDER / "budget_path.html"
    if last.exists() and last.stat().st_mtime > newest:
        return
    shutil.copy(TABLE, FOLDER)
    (FOLDER / "fit.txt").write_text(_shown(COMMAND), "utf-8")
    verified = _shown(VERIFY).splitlines()
    text = "\n".join([*verified[:N_VERIFIED], "..."])
    (FOLDER / "verify.txt").write_text(text, "utf-8")
    report = FOLDER / "example-report.html"
    report.replace(FOLDER / "extra" / report.name)
    last.write_text(_budget_path(), "utf-8")


def _shown(command):
    """A command and its output."""
    run = [sys.executable, "-m", "frugalsvm", *command[1:]]
    done = subprocess.run(
        run, cwd=FOLDER, check=False, capture_output=True, encoding="utf-8"
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    lines = [
        part
        for line in done.stdout.strip().splitlines()
        for part in textwrap.wrap(line, LONGEST, drop_whitespace=False) or [""]
    ]
    lines = [line.rstrip() for line in lines]
    return "\n".join([f"$ {_wrapped(command)}", *lines, ""])


def _wrapped(command):
    """A command on lines that fit a page."""
    lines, line = [], command[0]
    for k, word in enumerate(command[1:], 1):
        # A value stays with its option.
        follows = command[k - 1].startswith("--")
        if len(line) + len(word) > WIDTH and not follows:
            lines.append(line)
            line = f"      {word}"
        else:
            line += f" {word}"
    return " \\\n".join([*lines, line])


def _budget_path():
    """Scores, objectives and bounds along budgets, as figures in the page's style."""
    X, y = load_breast_cancer(return_X_y=True)
    budgets = [1, 2, 3, 4, 5, 6, 8, 10]
    model = FrugalSVCCV(
        budgets, [1.0], refit_C="same", scoring="accuracy", rule="one-se",
        random_state=0,
    ).fit(X, y)  # fmt: skip
    scores = scored_path_of(model.path_)
    scaled = StandardScaler().fit_transform(X)
    path = frugal_path(
        scaled, 2 * y - 1, max_features=budgets, method="auto", random_state=0
    )
    objectives = path_of(path, chosen=scores.chosen)
    pictures = {
        figures.score_path_figure(scores): "<b>Accuracy on unseen rows</b>, in five "
        "folds. Scores above the dashed line cannot be told apart from the best.",
        figures.objective_path_figure(objectives): "<b>Fit to all data.</b> Objective "
        "of the best model, and the bound below which no model can be: here they meet.",
    }
    return "".join(
        f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"
        for picture, caption in pictures.items()
    )
