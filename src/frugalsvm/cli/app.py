"""The ``frugalsvm`` command and its subcommands."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import ExitStack, redirect_stdout
from dataclasses import asdict
from typing import Annotated, Any

import typer

from . import alternatives, export, fit, path, predict, verify
from . import options as opt
from .entry import package_version
from .session import Session, command

app = typer.Typer(
    name="frugalsvm",
    help="Linear classifiers that use only a few features of a table, with a proof of "
    "how good the choice of features is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(package_version())
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    pass


def demo(session: Session, effort: opt.Effort = "normal") -> None:
    """Fit a model to a built-in data set, and explain the result."""
    from .entry import run_demo
    from .parsing import check_search

    check_search(effort, None)
    with ExitStack() as stack:
        if session.json:
            nowhere = stack.enter_context(open(os.devnull, "w"))
            stack.enter_context(
                redirect_stdout(nowhere if session.quiet else sys.stderr)
            )
        content = run_demo(effort, session.seed, verbose=not session.quiet)
    session.print_json(content)


def warmup(session: Session) -> None:
    """Compile all kernels in advance and cache them, for images and clusters."""
    from .all_kernels import warmup as compile_all

    session.say("Compiling kernels that are not in the cache ...")
    result = compile_all()
    session.show(
        f"{result.compiled} kernels compiled, {result.loaded} loaded, "
        f"{result.seconds:.1f} s.",
        *(f"Cache: {folder}" for folder in result.folders),
    )
    session.print_json(asdict(result))
    if not result.folders:
        session.warn("nothing was cached: no cache folder is writable")
        raise typer.Exit(1)


def info(session: Session) -> None:
    """Show versions, available solvers, threads and the cache."""
    content = _environment()
    table = session.table("what", "value")
    for name, value in content.items():
        text = str(value)
        if isinstance(value, dict):
            text = ", ".join(f"{key} {item}" for key, item in value.items())
        elif isinstance(value, list):
            text = ", ".join(map(str, value)) or "none"
        table.add_row(name, text)
    session.show(table)
    session.print_json(content)


def _environment() -> dict[str, Any]:
    """All entries of ``info`` by name."""
    from ..paper.solvers import available_solvers
    from ..run import cache_folders
    from .entry import versions

    cores = usable_cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        usable_cores = len(os.sched_getaffinity(0))
    sizes = {str(folder): len(list(folder.glob("*.nbc"))) for folder in cache_folders()}
    caches = [f"{folder} ({n} kernels)" for folder, n in sizes.items() if n]
    return {
        "versions": versions(),
        "platform": platform.platform(),
        "solvers": ["native", *available_solvers()],
        "cores": cores,
        "cores for this process": usable_cores,
        "thread settings": {
            name: os.environ[name]
            for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
            if name in os.environ
        },
        "cache": caches or ["empty; run frugalsvm warmup to fill it"],
    }


for _name, _function, _examples, _summary in (
    ("fit", fit.fit, fit.EXAMPLES, "Fit a model to a table, with a proof."),
    (
        "path",
        path.path,
        path.EXAMPLES,
        "Show how accuracy depends on the number of features.",
    ),
    (
        "alternatives",
        alternatives.alternatives,
        alternatives.EXAMPLES,
        "List other choices of features that are about as good.",
    ),
    (
        "predict",
        predict.predict,
        predict.PREDICT_EXAMPLES,
        "Predict the classes of new rows.",
    ),
    (
        "explain",
        predict.explain,
        predict.EXPLAIN_EXAMPLES,
        "Show what each feature adds to a row's score.",
    ),
    (
        "scorecard",
        export.scorecard,
        export.SCORECARD_EXAMPLES,
        "Turn a model into a scorecard of integer points.",
    ),
    (
        "export",
        export.export,
        export.EXAMPLES,
        "Export a model as SQL, Python or ONNX.",
    ),
    ("verify", verify.verify, verify.EXAMPLES, "Check a proof against the table."),
    (
        "demo",
        demo,
        ("frugalsvm demo", "frugalsvm demo --effort fast"),
        "Fit a model to built-in data.",
    ),
    ("warmup", warmup, ("frugalsvm warmup",), "Compile all kernels in advance."),
    (
        "info",
        info,
        ("frugalsvm info", "frugalsvm info --json"),
        "Show versions, solvers, threads and the cache.",
    ),
):
    command(app, _name, examples=_examples, short_help=_summary)(_function)
