"""Entry point: all commands with the extra ``cli``, a few without it."""

from __future__ import annotations

import argparse
import ctypes
import io
import json
import os
import platform
import sys
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ..run import EFFORTS

if TYPE_CHECKING:
    from ..estimators import FrugalSVC

# Help and completion import this module: what loads Numba or scikit-learn, or needs the
# extra, is imported by the function that uses it.


def run_warmup() -> int:
    """Compile all kernels; the exit code is 1 if no cache folder is writable."""
    from .all_kernels import warmup

    print("Compiling kernels that are not in the cache ...", flush=True)
    result = warmup()
    print(
        f"{result.compiled} kernels compiled, {result.loaded} loaded, "
        f"{result.seconds:.1f} s."
    )
    for folder in result.folders:
        print(f"Cache: {folder}")
    return 0 if result.folders else 1


# --- The demo: a fit on a data set that scikit-learn ships ----------------------------

BUDGET = 5
FOLDS = 5


def run_demo(
    effort: str = "normal", seed: int = 0, verbose: bool = True
) -> dict[str, Any]:
    """Fit WDBC with five features; print the model and what is proved about it.

    Returns the main results by name.
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from ..checker import verify
    from ..estimators import FrugalSVC

    data = load_breast_cancer()
    # Positive decisions mean malignant.
    X, y = data.data, np.where(data.target == 0, "malignant", "benign")
    print(
        f"Wisconsin breast cancer: {X.shape[0]} tumours, {X.shape[1]} features.\n"
        f"Looking for the {BUDGET} features that best separate malignant from benign.\n"
        "The first run compiles the kernels once, which takes up to a minute.\n",
        flush=True,
    )
    started = time.perf_counter()
    clf = FrugalSVC(
        BUDGET,
        C=1.0,
        effort=effort,
        random_state=seed,
        verbose=int(verbose),
        certificate=True,
    )
    model = make_pipeline(StandardScaler(), clf)
    model.fit(X, y)
    training = model.score(X, y)
    print("\nCross-validating ...", flush=True)
    quiet = make_pipeline(
        StandardScaler(), FrugalSVC(BUDGET, C=1.0, effort=effort, random_state=seed)
    )
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    scores = cross_val_score(quiet, X, y, cv=folds)
    _print_model(clf, data.feature_names)
    print(f"\n{clf.result_}\n")
    print(f"training accuracy         {100 * training:.1f} %")
    print(
        f"cross-validated accuracy  {100 * scores.mean():.1f} % "
        f"(+/- {100 * scores.std():.1f}, {FOLDS} folds)"
    )
    print(
        f"\nProved: no linear SVM on {BUDGET} features has an objective below "
        f"{clf.lower_bound_:.4f}.\nThis one has {clf.objective_:.4f}; "
        f"{clf.result_.verdict.removeprefix('proved: ')}."
    )
    checked = verify(clf.result_.certificate, StandardScaler().fit_transform(X), y)
    print(f"Checked: {checked}.")
    print(f"Total {time.perf_counter() - started:.1f} s.")
    return {
        "features": [str(name) for name in data.feature_names[clf.get_support()]],
        "objective": clf.objective_,
        "lower_bound": clf.lower_bound_,
        "gap": clf.gap_,
        "status": clf.status_,
        "training_accuracy": training,
        "accuracy": float(scores.mean()),
        "accuracy_spread": float(scores.std()),
    }


def _print_model(clf: FrugalSVC, names: np.ndarray) -> None:
    print(f"\n{'feature':<26} {'weight':>9}   (standardised; + means malignant)")
    print("-" * 36)
    order = np.argsort(-np.abs(clf.coef_[0]))[: clf.get_support().sum()]
    for j in order:
        print(f"{names[j]:<26} {clf.coef_[0, j]:>+9.4f}")
    print(f"{'intercept':<26} {clf.intercept_[0]:>+9.4f}")


# --- Versions of this package and its dependencies ------------------------------------


def package_version() -> str:
    """The version of this package."""
    assert __package__ is not None
    return str(sys.modules[__package__.partition(".")[0]].__version__)


def versions() -> dict[str, str]:
    """Versions by name."""
    by_name = {"frugalsvm": package_version(), "Python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "numba", "pandas"):
        with suppress(PackageNotFoundError):
            by_name[name] = version(name)
    return by_name


# --- The commands ---------------------------------------------------------------------

INSTALL = "pip install 'frugalsvm[cli]'"
# Commands that need the extra.
WITH_TABLES = (
    "fit", "path", "alternatives", "predict", "explain", "scorecard", "export",
    "verify", "info",
)  # fmt: skip


def run(arguments: list[str]) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : list of str

    Returns
    -------
    int
        The exit code.
    """
    output = _mend_streams()
    if missing_packages():
        try:
            return _flushed(run_plain(arguments), output)
        except BrokenPipeError:
            # The reader has closed the output; flushing would fail again.
            return _flushed(1, output)
    import typer

    from .app import app
    from .session import INTERRUPTED

    _return_freed_memory()
    try:
        code = app(args=arguments, prog_name="frugalsvm", standalone_mode=False)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except typer.Abort:
        # Older versions of Typer raise this for Ctrl-C before a command has begun.
        code = INTERRUPTED
    except Exception as error:
        # Usage errors come from Typer or from Click.
        if not hasattr(error, "format_message"):
            raise
        code = _refused(error, "--json" in arguments)
    return _flushed(code if isinstance(code, int) else 0, output)


def _refused(error: Any, as_json: bool) -> int:
    """Print one line about invalid options; return the exit code."""
    from .session import plain, shortened

    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" or context is None:
        error.show()
        return error.exit_code
    message = shortened(plain(" ".join(error.format_message().split())))
    print(f"error: {message} ({context.command_path} --help)", file=sys.stderr)
    if as_json:
        print(json.dumps({"error": message, "exit_code": error.exit_code}))
    return error.exit_code


def missing_packages() -> list[str]:
    """Packages of the extra that are not installed."""
    names = ("jinja2", "pandas", "rich", "typer")
    return [name for name in names if find_spec(name) is None]


def run_plain(arguments: list[str]) -> int:
    """Run the commands that need only the package's own requirements."""
    if arguments[:1] and arguments[0] in WITH_TABLES:
        names = ", ".join(missing_packages())
        print(f"frugalsvm {arguments[0]} needs {names}: {INSTALL}", file=sys.stderr)
        return 1
    parser = argparse.ArgumentParser(
        prog="frugalsvm",
        description="Linear SVM classifiers on at most B features, with proved bounds.",
        epilog=f"{', '.join(WITH_TABLES)} need more packages: {INSTALL}",
    )
    parser.add_argument("--version", action="version", version=package_version())
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo", help="fit a model to a built-in data set and explain it"
    )
    demo.add_argument(
        "--effort", choices=EFFORTS, default="normal", help="how much work to do"
    )
    commands.add_parser("warmup", help="compile all kernels in advance and cache them")
    options = parser.parse_args(arguments)
    if options.command == "warmup":
        return run_warmup()
    run_demo(options.effort)
    return 0


class _StandardOutput(io.FileIO):
    """Standard output; it notices if it is closed before anything is written.

    Attributes
    ----------
    is_lost : bool
        Whether there was something to write, and not a byte could be.
    """

    def __init__(self) -> None:
        super().__init__(sys.stdout.fileno(), "wb", closefd=False)
        self.is_lost = False
        # It would close the file if it were collected.
        self._replaced = sys.stdout
        # The shell has closed it (>&-): its replacement discards everything.
        self._is_closed = sys.__stdout__ is None
        self._has_written = False

    def write(self, data: Any) -> int:
        """Write some bytes."""
        try:
            n = super().write(data)
        except BrokenPipeError:
            self.is_lost = self.is_lost or not self._has_written
            raise
        self._has_written = True
        self.is_lost = self.is_lost or self._is_closed
        return n


def _mend_streams() -> _StandardOutput | None:
    """Make the output streams accept all characters and write all bytes.

    Returns
    -------
    _StandardOutput or None
        Standard output, unless it is a terminal or was replaced.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Column names may have characters that the terminal cannot show.
            stream.reconfigure(errors="replace")
    if sys.stdout is not sys.__stdout__ and sys.__stdout__ is not None:
        return None
    # With PYTHONUNBUFFERED, a write to a pipe may be partial, losing the rest.
    is_bare = isinstance(sys.stdout.buffer, io.RawIOBase)
    if sys.stdout.isatty() and not is_bare:
        return None
    output = _StandardOutput()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(output),
        encoding=sys.stdout.encoding,
        errors="replace",
        line_buffering=is_bare,
    )
    return output


def _return_freed_memory() -> None:
    """Return the memory of large arrays to the system as soon as they are freed.

    By default, glibc keeps freed blocks of several megabytes, which can add up to the
    size of the table.
    """
    if sys.platform == "linux":
        # Option M_MMAP_THRESHOLD of malloc.h: blocks of a megabyte or more.
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(-3, 2**20)


def _flushed(code: int, output: _StandardOutput | None) -> int:
    """Flush the output; return the exit code, or 1 if some could not be written."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # Keep Python from trying to write the rest again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if code == 0 and not isinstance(error, BrokenPipeError):
            print(f"error: cannot write the output: {error}", file=sys.stderr)
        code = code or 1
    if output is not None and output.is_lost:
        print(
            "error: standard output is closed; nothing could be written to it",
            file=sys.stderr,
        )
        return code or 1
    return code
